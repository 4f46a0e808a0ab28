! SPDX-License-Identifier: BSD-2-Clause
!> The Fortran interface of libceedlike: ceedlike.h in Fortran's words, without a C shim.
!>
!> Compile this file with your own compiler and link libceedlike: it is the module `ceedlike`, in
!> double precision. With -DCEEDLIKE_SINGLE it is the module `ceedlike_f32` over libceedlike_f32.
!>
!> Every function returns a code, 0 for success; on failure nothing has changed and the text is
!> ceed_error_message(). What a function does, who owns what and which errors there are stands in
!> ceedlike.h under the same name; here stands only what is Fortran's own. A handle is a value that
!> may be assigned; only the *_destroy functions release what it stands for.
#ifdef CEEDLIKE_SINGLE
#define SFX "_f32"
module ceedlike_f32
#else
#define SFX "_f64"
module ceedlike
#endif
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: output_unit
  implicit none
  private

  ! Kinds and values
  public :: ceed_scalar, ceed_int, ceed_size
  public :: ceed_error_success, ceed_error_minor, ceed_error_dimension, ceed_error_incomplete
  public :: ceed_error_incompatible, ceed_error_access, ceed_error_major, ceed_error_backend
  public :: ceed_error_unsupported
  public :: ceed_scalar_fp32, ceed_scalar_fp64
  public :: ceed_mem_host, ceed_mem_device
  public :: ceed_copy_values, ceed_use_pointer, ceed_own_pointer
  public :: ceed_norm_1, ceed_norm_2, ceed_norm_max
  public :: ceed_export_shared, ceed_export_read, ceed_export_write, ceed_export_pin
  public :: ceed_export_copy

  ! Contexts and errors
  public :: ceed_context, ceed_init, ceed_set_stream, ceed_reference_copy, ceed_destroy
  public :: ceed_get_resource, ceed_is_deterministic, ceed_get_preferred_mem_type
  public :: ceed_mem_type_is_available, ceed_view
  public :: ceed_error, ceed_error_message, ceed_reset_error_message
  public :: ceed_get_version, ceed_get_git_version, ceed_get_build_configuration
  public :: ceed_get_scalar_type, ceed_gauss_quadrature, ceed_lobatto_quadrature

  ! Arrays
  public :: ceed_array_layout, ceed_array_get_layout

  ! Vectors: life, entries, queries, arithmetic
  public :: ceed_vector, ceed_vector_create, ceed_vector_reference_copy, ceed_vector_destroy
  public :: ceed_vector_copy, ceed_vector_copy_strided
  public :: ceed_vector_set_array, ceed_vector_set_value, ceed_vector_set_value_strided
  public :: ceed_vector_sync_array, ceed_vector_take_array
  public :: ceed_vector_get_array, ceed_vector_get_array_read, ceed_vector_get_array_write
  public :: ceed_vector_restore_array, ceed_vector_restore_array_read
  public :: ceed_vector_get_ceed, ceed_vector_return_ceed, ceed_vector_get_length
  public :: ceed_vector_get_state, ceed_vector_get_mem_types, ceed_vector_get_export_count
  public :: ceed_vector_norm, ceed_vector_scale, ceed_vector_filter, ceed_vector_axpy
  public :: ceed_vector_axpby, ceed_vector_pointwise_mult, ceed_vector_reciprocal
  public :: ceed_vector_view, ceed_vector_view_range

  ! DLPack
  public :: dl_device, dl_data_type, dl_tensor, dl_managed_tensor
  public :: dl_pack_version, dl_managed_tensor_versioned
  public :: ceed_vector_to_dlpack, ceed_vector_to_dlpack_versioned, ceed_vector_export
  public :: ceed_vector_take_from_dlpack, ceed_vector_take_from_dlpack_versioned
  public :: ceed_vector_create_from_dlpack, ceed_vector_create_from_dlpack_versioned
  public :: ceed_vector_get_dlpack_device, ceed_dlpack_wrap
  public :: ceed_dlpack_get_mem_type, ceed_dlpack_get_mem_type_versioned
  public :: ceed_dlpack_view, ceed_dlpack_view_versioned
  public :: ceed_dlpack_spec, ceed_dlpack_check
  public :: ceed_dlpack_delete, ceed_dlpack_delete_versioned

  ! Python
  public :: ceed_python_call

#ifdef CEEDLIKE_SINGLE
  integer, parameter :: ceed_scalar = c_float
#else
  integer, parameter :: ceed_scalar = c_double
#endif
  integer, parameter :: ceed_int = c_int32_t
  integer, parameter :: ceed_size = c_ptrdiff_t
  integer(ceed_size), parameter :: element_size = storage_size(1._ceed_scalar)/8

  integer(c_int), parameter :: ceed_error_success = 0
  integer(c_int), parameter :: ceed_error_minor = 1
  integer(c_int), parameter :: ceed_error_dimension = 2
  integer(c_int), parameter :: ceed_error_incomplete = 3
  integer(c_int), parameter :: ceed_error_incompatible = 4
  integer(c_int), parameter :: ceed_error_access = 5
  integer(c_int), parameter :: ceed_error_major = -1
  integer(c_int), parameter :: ceed_error_backend = -2
  integer(c_int), parameter :: ceed_error_unsupported = -3

  integer(c_int), parameter :: ceed_scalar_fp32 = 0, ceed_scalar_fp64 = 1
  integer(c_int), parameter :: ceed_mem_host = 0, ceed_mem_device = 1
  integer(c_int), parameter :: ceed_copy_values = 0, ceed_use_pointer = 1, ceed_own_pointer = 2
  integer(c_int), parameter :: ceed_norm_1 = 0, ceed_norm_2 = 1, ceed_norm_max = 2
  integer(c_int), parameter :: ceed_export_shared = 0, ceed_export_read = 1, ceed_export_write = 2
  integer(c_int), parameter :: ceed_export_pin = 3, ceed_export_copy = 4

  type, bind(c) :: ceed_context
    type(c_ptr) :: handle = c_null_ptr
  end type

  type, bind(c) :: ceed_vector
    type(c_ptr) :: handle = c_null_ptr
  end type

  !> How an array of at most 7 axes lies in memory.
  type :: ceed_array_layout
    type(c_ptr) :: address = c_null_ptr             !< of the first element; null without elements
    integer :: rank = 0
    integer(ceed_size) :: lower(7) = 1, extent(7) = 0
    integer(ceed_size) :: stride(7) = element_size  !< in bytes
    logical :: contiguous = .true.
  end type

  ! The structs of dlpack.h (DLPack 1.3). C's unsigned integers are signed ones of the same size.
  type, bind(c) :: dl_device
    integer(c_int) :: device_type = 1
    integer(c_int32_t) :: device_id = 0
  end type

  type, bind(c) :: dl_data_type
    integer(c_int8_t) :: code = 0, bits = 0
    integer(c_int16_t) :: lanes = 1
  end type

  type, bind(c) :: dl_tensor
    type(c_ptr) :: data = c_null_ptr
    type(dl_device) :: device
    integer(c_int32_t) :: ndim = 0
    type(dl_data_type) :: dtype
    type(c_ptr) :: shape = c_null_ptr, strides = c_null_ptr   !< of c_int64_t; the first axis first
    integer(c_int64_t) :: byte_offset = 0
  end type

  type, bind(c) :: dl_managed_tensor
    type(dl_tensor) :: tensor
    type(c_ptr) :: manager_ctx = c_null_ptr
    type(c_funptr) :: deleter = c_null_funptr
  end type

  type, bind(c) :: dl_pack_version
    integer(c_int32_t) :: major = 1, minor = 3
  end type

  type, bind(c) :: dl_managed_tensor_versioned
    type(dl_pack_version) :: version
    type(c_ptr) :: manager_ctx = c_null_ptr
    type(c_funptr) :: deleter = c_null_funptr
    integer(c_int64_t) :: flags = 0
    type(dl_tensor) :: tensor
  end type

  !> What a function wants of a tensor; name what is to differ from "any", as in
  !> ceed_dlpack_spec(code=2, bits=64).
  type, bind(c) :: ceed_dlpack_spec
    integer(c_int32_t) :: code = -1, bits = -1, lanes = -1, device_type = -1, ndim = -1
    type(c_ptr) :: shape = c_null_ptr               !< ndim lengths of c_int64_t, each -1 for any
    logical(c_bool) :: contiguous = .false., writable = .false.
    integer(c_size_t) :: alignment = 0
  end type

  real(ceed_scalar), target :: nothing(1)           !< what pointers to no entries point into

  ! ----------------------------------------------------------------------------------------------
  ! Contexts
  ! ----------------------------------------------------------------------------------------------

  interface
    integer(c_int) function ceed_set_stream(ceed, handle) &
        bind(c, name="CeedlikeSetStream"//SFX)
      import
      type(ceed_context), value :: ceed
      type(c_ptr), value :: handle
    end function

    integer(c_int) function ceed_reference_copy(ceed, ceed_copy) &
        bind(c, name="CeedlikeReferenceCopy"//SFX)
      import
      type(ceed_context), value :: ceed
      type(ceed_context), intent(inout) :: ceed_copy
    end function

    integer(c_int) function ceed_destroy(ceed) bind(c, name="CeedlikeDestroy"//SFX)
      import
      type(ceed_context), intent(inout) :: ceed
    end function

    integer(c_int) function ceed_is_deterministic(ceed, is_deterministic) &
        bind(c, name="CeedlikeIsDeterministic"//SFX)
      import
      type(ceed_context), value :: ceed
      logical(c_bool), intent(inout) :: is_deterministic
    end function

    integer(c_int) function ceed_get_preferred_mem_type(ceed, mem_type) &
        bind(c, name="CeedlikeGetPreferredMemType"//SFX)
      import
      type(ceed_context), value :: ceed
      integer(c_int), intent(inout) :: mem_type
    end function

    integer(c_int) function ceed_mem_type_is_available(ceed, mem_type, is_available) &
        bind(c, name="CeedlikeMemTypeIsAvailable"//SFX)
      import
      type(ceed_context), value :: ceed
      integer(c_int), value :: mem_type
      logical(c_bool), intent(inout) :: is_available
    end function

    integer(c_int) function ceed_get_version(major, minor, patch, release) &
        bind(c, name="CeedlikeGetVersion"//SFX)
      import
      integer(c_int), intent(inout) :: major, minor, patch
      logical(c_bool), intent(inout) :: release
    end function

    integer(c_int) function ceed_get_scalar_type(scalar_type) &
        bind(c, name="CeedlikeGetScalarType"//SFX)
      import
      integer(c_int), intent(inout) :: scalar_type
    end function

    !> The arrays have room for `q` numbers each.
    integer(c_int) function ceed_gauss_quadrature(q, q_ref_1d, q_weight_1d) &
        bind(c, name="CeedlikeGaussQuadrature"//SFX)
      import
      integer(ceed_int), value :: q
      real(ceed_scalar), intent(inout) :: q_ref_1d(*), q_weight_1d(*)
    end function

    integer(c_int) function ceed_lobatto_quadrature(q, q_ref_1d, q_weight_1d) &
        bind(c, name="CeedlikeLobattoQuadrature"//SFX)
      import
      integer(ceed_int), value :: q
      real(ceed_scalar), intent(inout) :: q_ref_1d(*), q_weight_1d(*)
    end function

    integer(c_int) function c_init(resource, ceed) bind(c, name="CeedlikeInit"//SFX)
      import
      character(kind=c_char), intent(in) :: resource(*)
      type(ceed_context), intent(inout) :: ceed
    end function

    integer(c_int) function c_get_resource(ceed, resource) &
        bind(c, name="CeedlikeGetResource"//SFX)
      import
      type(ceed_context), value :: ceed
      type(c_ptr), intent(inout) :: resource
    end function

    integer(c_int) function c_report_error(ceed, err_code, err_msg) &
        bind(c, name="CeedlikeReportError"//SFX)
      import
      type(ceed_context), value :: ceed
      integer(c_int), value :: err_code
      character(kind=c_char), intent(in) :: err_msg(*)
    end function

    integer(c_int) function c_get_error_message(ceed, err_msg) &
        bind(c, name="CeedlikeGetErrorMessage"//SFX)
      import
      type(ceed_context), value :: ceed
      type(c_ptr), intent(inout) :: err_msg
    end function

    integer(c_int) function c_reset_error_message(ceed, err_msg) &
        bind(c, name="CeedlikeResetErrorMessage"//SFX)
      import
      type(ceed_context), value :: ceed
      type(c_ptr), value :: err_msg
    end function

    integer(c_int) function c_get_git_version(git_version) &
        bind(c, name="CeedlikeGetGitVersion"//SFX)
      import
      type(c_ptr), intent(inout) :: git_version
    end function

    integer(c_int) function c_get_build_configuration(build_config) &
        bind(c, name="CeedlikeGetBuildConfiguration"//SFX)
      import
      type(c_ptr), intent(inout) :: build_config
    end function
  end interface

  ! ----------------------------------------------------------------------------------------------
  ! Vectors
  ! ----------------------------------------------------------------------------------------------

  !> A length may be of kind ceed_size or of 32 bits.
  interface ceed_vector_create
    integer(c_int) function c_vector_create(ceed, len, vec) &
        bind(c, name="CeedlikeVectorCreate"//SFX)
      import
      type(ceed_context), value :: ceed
      integer(ceed_size), value :: len
      type(ceed_vector), intent(inout) :: vec
    end function
    module procedure vector_create_short
  end interface

  !> How an array of 1 to 7 axes lies in memory. The caller's array is a pointer or a target; its
  !> lower bounds are seen when the whole array is given.
  !>
  !> A component of an array of types, and %re and %im of a complex array, must be given by a
  !> pointer (`p => c%im`): given directly, gfortran passes the address of another component.
  interface ceed_array_get_layout
    module procedure get_layout_1, get_layout_2, get_layout_3, get_layout_4, get_layout_5
    module procedure get_layout_6, get_layout_7
  end interface

  !> Set the entries from an array of 1 to 7 axes, the first index fastest.
  !>
  !> ceed_copy_values copies any array, a section with strides too. ceed_use_pointer borrows a
  !> contiguous array and keeps its address, which is why the array must be a target: keep it alive
  !> and unmoved until the vector has let go. Memory of Fortran can't be given away by
  !> ceed_own_pointer.
  interface ceed_vector_set_array
    module procedure set_array_1, set_array_2, set_array_3, set_array_4, set_array_5, set_array_6
    module procedure set_array_7
  end interface

  !> Let `a` point to the entries, until ceed_vector_restore_array() or
  !> ceed_vector_restore_array_read(). A pointer of one axis begins at 1; with `lower` and `upper`
  !> one of 1 to 7 axes has the bounds of the declaration a(lower(1):upper(1), ...), which must hold
  !> all entries, the first index fastest. On failure `a` is as it was.
  !>
  !> Fortran's pointers can't say that nothing may be written of what
  !> ceed_vector_get_array_read() lends: don't.
  interface ceed_vector_get_array
    module procedure get_array_whole, get_array_1, get_array_2, get_array_3, get_array_4
    module procedure get_array_5, get_array_6, get_array_7
  end interface

  interface ceed_vector_get_array_read
    module procedure get_array_read_whole, get_array_read_1, get_array_read_2, get_array_read_3
    module procedure get_array_read_4, get_array_read_5, get_array_read_6, get_array_read_7
  end interface

  interface ceed_vector_get_array_write
    module procedure get_array_write_whole, get_array_write_1, get_array_write_2
    module procedure get_array_write_3, get_array_write_4, get_array_write_5, get_array_write_6
    module procedure get_array_write_7
  end interface

  !> Give the array back; `a` points nowhere afterwards.
  interface ceed_vector_restore_array
    module procedure restore_array_1, restore_array_2, restore_array_3, restore_array_4
    module procedure restore_array_5, restore_array_6, restore_array_7
  end interface

  interface ceed_vector_restore_array_read
    module procedure restore_array_read_1, restore_array_read_2, restore_array_read_3
    module procedure restore_array_read_4, restore_array_read_5, restore_array_read_6
    module procedure restore_array_read_7
  end interface

  !> Wrap a contiguous array. Its axes are turned round, since the tensor is in C order: the tensor
  !> of a(2, 3, 4) has the shape [4, 3, 2].
  interface ceed_dlpack_wrap
    module procedure wrap_1, wrap_2, wrap_3, wrap_4, wrap_5, wrap_6, wrap_7
  end interface

  interface
    integer(c_int) function ceed_vector_reference_copy(vec, vec_copy) &
        bind(c, name="CeedlikeVectorReferenceCopy"//SFX)
      import
      type(ceed_vector), value :: vec
      type(ceed_vector), intent(inout) :: vec_copy
    end function

    integer(c_int) function ceed_vector_destroy(vec) bind(c, name="CeedlikeVectorDestroy"//SFX)
      import
      type(ceed_vector), intent(inout) :: vec
    end function

    integer(c_int) function ceed_vector_copy(vec, vec_copy) &
        bind(c, name="CeedlikeVectorCopy"//SFX)
      import
      type(ceed_vector), value :: vec, vec_copy
    end function

    !> `start` and `stop` count from 0, as in C.
    integer(c_int) function ceed_vector_copy_strided(vec, start, stop, step, vec_copy) &
        bind(c, name="CeedlikeVectorCopyStrided"//SFX)
      import
      type(ceed_vector), value :: vec, vec_copy
      integer(ceed_size), value :: start, stop, step
    end function

    integer(c_int) function ceed_vector_set_value(vec, value) &
        bind(c, name="CeedlikeVectorSetValue"//SFX)
      import
      type(ceed_vector), value :: vec
      real(ceed_scalar), value :: value
    end function

    integer(c_int) function ceed_vector_set_value_strided(vec, start, stop, step, value) &
        bind(c, name="CeedlikeVectorSetValueStrided"//SFX)
      import
      type(ceed_vector), value :: vec
      integer(ceed_size), value :: start, stop, step
      real(ceed_scalar), value :: value
    end function

    integer(c_int) function ceed_vector_sync_array(vec, mem_type) &
        bind(c, name="CeedlikeVectorSyncArray"//SFX)
      import
      type(ceed_vector), value :: vec
      integer(c_int), value :: mem_type
    end function

    integer(c_int) function ceed_vector_get_ceed(vec, ceed) &
        bind(c, name="CeedlikeVectorGetCeed"//SFX)
      import
      type(ceed_vector), value :: vec
      type(ceed_context), intent(inout) :: ceed
    end function

    type(ceed_context) function ceed_vector_return_ceed(vec) &
        bind(c, name="CeedlikeVectorReturnCeed"//SFX)
      import
      type(ceed_vector), value :: vec
    end function

    integer(c_int) function ceed_vector_get_length(vec, length) &
        bind(c, name="CeedlikeVectorGetLength"//SFX)
      import
      type(ceed_vector), value :: vec
      integer(ceed_size), intent(inout) :: length
    end function

    integer(c_int) function ceed_vector_get_state(vec, state) &
        bind(c, name="CeedlikeVectorGetState"//SFX)
      import
      type(ceed_vector), value :: vec
      integer(c_int64_t), intent(inout) :: state
    end function

    integer(c_int) function ceed_vector_get_mem_types(vec, holds, current) &
        bind(c, name="CeedlikeVectorGetMemTypes"//SFX)
      import
      type(ceed_vector), value :: vec
      logical(c_bool), intent(inout) :: holds(0:1), current(0:1)
    end function

    integer(c_int) function ceed_vector_get_export_count(vec, count) &
        bind(c, name="CeedlikeVectorGetExportCount"//SFX)
      import
      type(ceed_vector), value :: vec
      integer(ceed_size), intent(inout) :: count
    end function

    integer(c_int) function ceed_vector_norm(vec, norm_type, norm) &
        bind(c, name="CeedlikeVectorNorm"//SFX)
      import
      type(ceed_vector), value :: vec
      integer(c_int), value :: norm_type
      real(ceed_scalar), intent(inout) :: norm
    end function

    integer(c_int) function ceed_vector_scale(x, alpha) bind(c, name="CeedlikeVectorScale"//SFX)
      import
      type(ceed_vector), value :: x
      real(ceed_scalar), value :: alpha
    end function

    integer(c_int) function ceed_vector_filter(x, threshold) &
        bind(c, name="CeedlikeVectorFilter"//SFX)
      import
      type(ceed_vector), value :: x
      real(ceed_scalar), value :: threshold
    end function

    integer(c_int) function ceed_vector_axpy(y, alpha, x) bind(c, name="CeedlikeVectorAXPY"//SFX)
      import
      type(ceed_vector), value :: y, x
      real(ceed_scalar), value :: alpha
    end function

    integer(c_int) function ceed_vector_axpby(y, alpha, beta, x) &
        bind(c, name="CeedlikeVectorAXPBY"//SFX)
      import
      type(ceed_vector), value :: y, x
      real(ceed_scalar), value :: alpha, beta
    end function

    integer(c_int) function ceed_vector_pointwise_mult(w, x, y) &
        bind(c, name="CeedlikeVectorPointwiseMult"//SFX)
      import
      type(ceed_vector), value :: w, x, y
    end function

    integer(c_int) function ceed_vector_reciprocal(vec) &
        bind(c, name="CeedlikeVectorReciprocal"//SFX)
      import
      type(ceed_vector), value :: vec
    end function

    integer(c_int) function c_vector_set_array(vec, mem_type, copy_mode, array) &
        bind(c, name="CeedlikeVectorSetArray"//SFX)
      import
      type(ceed_vector), value :: vec
      integer(c_int), value :: mem_type, copy_mode
      type(c_ptr), value :: array
    end function

    integer(c_int) function c_vector_take_array(vec, mem_type, array) &
        bind(c, name="CeedlikeVectorTakeArray"//SFX)
      import
      type(ceed_vector), value :: vec
      integer(c_int), value :: mem_type
      type(c_ptr), intent(inout), optional :: array
    end function

    integer(c_int) function c_vector_get_array(vec, mem_type, array) &
        bind(c, name="CeedlikeVectorGetArray"//SFX)
      import
      type(ceed_vector), value :: vec
      integer(c_int), value :: mem_type
      type(c_ptr), intent(inout) :: array
    end function

    integer(c_int) function c_vector_get_array_read(vec, mem_type, array) &
        bind(c, name="CeedlikeVectorGetArrayRead"//SFX)
      import
      type(ceed_vector), value :: vec
      integer(c_int), value :: mem_type
      type(c_ptr), intent(inout) :: array
    end function

    integer(c_int) function c_vector_get_array_write(vec, mem_type, array) &
        bind(c, name="CeedlikeVectorGetArrayWrite"//SFX)
      import
      type(ceed_vector), value :: vec
      integer(c_int), value :: mem_type
      type(c_ptr), intent(inout) :: array
    end function

    integer(c_int) function c_vector_restore_array(vec, array) &
        bind(c, name="CeedlikeVectorRestoreArray"//SFX)
      import
      type(ceed_vector), value :: vec
      type(c_ptr), intent(inout) :: array
    end function

    integer(c_int) function c_vector_restore_array_read(vec, array) &
        bind(c, name="CeedlikeVectorRestoreArrayRead"//SFX)
      import
      type(ceed_vector), value :: vec
      type(c_ptr), intent(inout) :: array
    end function

    integer(c_int) function c_vector_view_range(vec, start, stop, step, fp_fmt, stream) &
        bind(c, name="CeedlikeVectorViewRange"//SFX)
      import
      type(ceed_vector), value :: vec
      integer(ceed_size), value :: start, stop
      integer(ceed_int), value :: step
      character(kind=c_char), intent(in) :: fp_fmt(*)
      type(c_ptr), value :: stream
    end function
  end interface

  ! ----------------------------------------------------------------------------------------------
  ! DLPack. A `tensor` is the address of a dl_managed_tensor, or of a dl_managed_tensor_versioned
  ! where the name says so: c_f_pointer looks inside.
  ! ----------------------------------------------------------------------------------------------

  abstract interface
    subroutine dl_deleter(tensor) bind(c)
      import
      type(c_ptr), value :: tensor
    end subroutine
  end interface

  interface
    integer(c_int) function ceed_vector_to_dlpack(ceed, vec, mem_type, tensor) &
        bind(c, name="CeedlikeVectorToDLPack"//SFX)
      import
      type(ceed_context), value :: ceed
      type(ceed_vector), value :: vec
      integer(c_int), value :: mem_type
      type(c_ptr), intent(inout) :: tensor
    end function

    integer(c_int) function ceed_vector_to_dlpack_versioned(ceed, vec, mem_type, tensor) &
        bind(c, name="CeedlikeVectorToDLPackVersioned"//SFX)
      import
      type(ceed_context), value :: ceed
      type(ceed_vector), value :: vec
      integer(c_int), value :: mem_type
      type(c_ptr), intent(inout) :: tensor
    end function

    integer(c_int) function ceed_vector_take_from_dlpack(ceed, vec, tensor, copy_mode) &
        bind(c, name="CeedlikeVectorTakeFromDLPack"//SFX)
      import
      type(ceed_context), value :: ceed
      type(ceed_vector), value :: vec
      type(c_ptr), value :: tensor
      integer(c_int), value :: copy_mode
    end function

    integer(c_int) function ceed_vector_take_from_dlpack_versioned(ceed, vec, tensor, copy_mode) &
        bind(c, name="CeedlikeVectorTakeFromDLPackVersioned"//SFX)
      import
      type(ceed_context), value :: ceed
      type(ceed_vector), value :: vec
      type(c_ptr), value :: tensor
      integer(c_int), value :: copy_mode
    end function

    integer(c_int) function ceed_vector_create_from_dlpack(ceed, tensor, copy_mode, vec) &
        bind(c, name="CeedlikeVectorCreateFromDLPack"//SFX)
      import
      type(ceed_context), value :: ceed
      type(c_ptr), value :: tensor
      integer(c_int), value :: copy_mode
      type(ceed_vector), intent(inout) :: vec
    end function

    integer(c_int) function ceed_vector_create_from_dlpack_versioned( &
        ceed, tensor, copy_mode, vec) bind(c, name="CeedlikeVectorCreateFromDLPackVersioned"//SFX)
      import
      type(ceed_context), value :: ceed
      type(c_ptr), value :: tensor
      integer(c_int), value :: copy_mode
      type(ceed_vector), intent(inout) :: vec
    end function

    integer(c_int) function ceed_vector_get_dlpack_device(vec, mem_type, device_type, device_id) &
        bind(c, name="CeedlikeVectorGetDLPackDevice"//SFX)
      import
      type(ceed_vector), value :: vec
      integer(c_int), value :: mem_type
      integer(c_int32_t), intent(inout) :: device_type, device_id
    end function

    integer(c_int) function ceed_dlpack_get_mem_type(tensor, mem_type) &
        bind(c, name="CeedlikeDLPackGetMemType"//SFX)
      import
      type(c_ptr), value :: tensor
      integer(c_int), intent(inout) :: mem_type
    end function

    integer(c_int) function ceed_dlpack_get_mem_type_versioned(tensor, mem_type) &
        bind(c, name="CeedlikeDLPackGetMemTypeVersioned"//SFX)
      import
      type(c_ptr), value :: tensor
      integer(c_int), intent(inout) :: mem_type
    end function

    integer(c_int) function c_dlpack_check(tensor, versioned, spec) &
        bind(c, name="CeedlikeDLPackCheck"//SFX)
      import
      type(c_ptr), value :: tensor
      logical(c_bool), value :: versioned
      type(ceed_dlpack_spec), intent(in) :: spec
    end function

    integer(c_int) function c_vector_export(vec, mem_type, mode, ndim, shape, strides, tensor) &
        bind(c, name="CeedlikeVectorExport"//SFX)
      import
      type(ceed_vector), value :: vec
      integer(c_int), value :: mem_type, mode
      integer(ceed_int), value :: ndim
      integer(c_int64_t), intent(in) :: shape(*), strides(*)
      type(c_ptr), intent(inout) :: tensor
    end function

    integer(c_int) function c_dlpack_wrap(data, mem_type, ndim, shape, read_only, tensor) &
        bind(c, name="CeedlikeDLPackWrap"//SFX)
      import
      type(c_ptr), value :: data
      integer(c_int), value :: mem_type
      integer(ceed_int), value :: ndim
      integer(c_int64_t), intent(in) :: shape(*)
      logical(c_bool), value :: read_only
      type(c_ptr), intent(inout) :: tensor
    end function
  end interface

  ! ----------------------------------------------------------------------------------------------
  ! Python
  ! ----------------------------------------------------------------------------------------------

  interface
    integer(c_int) function c_python_call( &
        ceed, function, num_inputs, inputs, num_outputs, outputs) &
        bind(c, name="CeedlikePythonCall"//SFX)
      import
      type(ceed_context), value :: ceed
      character(kind=c_char), intent(in) :: function(*)
      integer(ceed_int), value :: num_inputs, num_outputs
      type(ceed_vector), intent(in) :: inputs(*), outputs(*)
    end function
  end interface

  !> Prints an object, as its handle, to a stream of C.
  abstract interface
    integer(c_int) function c_print(object, stream) bind(c)
      import
      type(c_ptr), value :: object, stream
    end function
  end interface

  procedure(c_print), bind(c, name="CeedlikeView"//SFX) :: c_view
  procedure(c_print), bind(c, name="CeedlikeDLPackView"//SFX) :: c_dlpack_view
  procedure(c_print), bind(c, name="CeedlikeDLPackViewVersioned"//SFX) :: c_dlpack_view_versioned

#include "ceedlike_fem.inc"

  ! What the C library has for us: a stream that writes into memory, and its end.
  interface
    type(c_ptr) function open_memstream(buffer, size) bind(c)
      import
      type(c_ptr), intent(inout) :: buffer
      integer(c_size_t), intent(inout) :: size
    end function

    integer(c_int) function fclose(stream) bind(c)
      import
      type(c_ptr), value :: stream
    end function

    subroutine c_free(pointer) bind(c, name="free")
      import
      type(c_ptr), value :: pointer
    end subroutine

    integer(c_size_t) function strlen(text) bind(c)
      import
      type(c_ptr), value :: text
    end function
  end interface

contains

  ! ----------------------------------------------------------------------------------------------
  ! Contexts, errors and texts
  ! ----------------------------------------------------------------------------------------------

  !> Trailing blanks of `resource` do not count.
  integer(c_int) function ceed_init(resource, ceed) result(code)
    character(*), intent(in) :: resource
    type(ceed_context), intent(inout) :: ceed

    code = c_init(trim(resource)//c_null_char, ceed)
  end function

  integer(c_int) function ceed_get_resource(ceed, resource) result(code)
    type(ceed_context), intent(in) :: ceed
    character(:), allocatable, intent(inout) :: resource
    type(c_ptr) :: text

    code = c_get_resource(ceed, text)
    if (code == 0) resource = text_at(text)
  end function

  integer(c_int) function ceed_get_git_version(git_version) result(code)
    character(:), allocatable, intent(inout) :: git_version
    type(c_ptr) :: text

    code = c_get_git_version(text)
    if (code == 0) git_version = text_at(text)
  end function

  integer(c_int) function ceed_get_build_configuration(build_config) result(code)
    character(:), allocatable, intent(inout) :: build_config
    type(c_ptr) :: text

    code = c_get_build_configuration(text)
    if (code == 0) build_config = text_at(text)
  end function

  !> Report an error of your own, as CeedError() does; the code is returned.
  integer(c_int) function ceed_error(ceed, err_code, text) result(code)
    type(ceed_context), intent(in) :: ceed
    integer(c_int), intent(in) :: err_code
    character(*), intent(in) :: text

    code = c_report_error(ceed, err_code, text//c_null_char)
  end function

  !> The text of the last error in this thread, as a copy.
  function ceed_error_message() result(message)
    character(:), allocatable :: message
    type(c_ptr) :: text

    message = ""
    if (c_get_error_message(ceed_context(), text) == 0) message = text_at(text)
  end function

  integer(c_int) function ceed_reset_error_message() result(code)
    code = c_reset_error_message(ceed_context(), c_null_ptr)
  end function

  !> Print to a formatted unit, which is standard output unless it is given.
  integer(c_int) function ceed_view(ceed, unit) result(code)
    type(ceed_context), intent(in) :: ceed
    integer, intent(in), optional :: unit

    code = view(c_view, ceed%handle, unit)
  end function

  function text_at(address) result(text)
    type(c_ptr), intent(in) :: address
    character(:), allocatable :: text

    text = text_of(address, strlen(address))
  end function

  function text_of(address, length) result(text)
    type(c_ptr), intent(in) :: address
    integer(c_size_t), intent(in) :: length
    character(length) :: text
    character(kind=c_char), pointer :: characters(:)
    integer(c_size_t) :: i

    call c_f_pointer(address, characters, [length])
    do i = 1, length
      text(i:i) = characters(i)
    end do
  end function

  !> Print an object to a formatted unit, as a function of C does to a stream.
  integer(c_int) function view(print, object, unit) result(code)
    procedure(c_print) :: print
    type(c_ptr), intent(in) :: object
    integer, intent(in), optional :: unit
    type(c_ptr) :: stream, buffer
    integer(c_size_t) :: size

    stream = open_memstream(buffer, size)
    code = print(object, stream)
    call print_stream(stream, buffer, size, unit, code)
  end function

  !> Close a memory stream and print what was written to it, unless there is an error already.
  subroutine print_stream(stream, buffer, size, unit, code)
    type(c_ptr), intent(in) :: stream
    type(c_ptr), intent(inout) :: buffer           ! both are written by fclose
    integer(c_size_t), intent(inout) :: size
    integer, intent(in), optional :: unit
    integer(c_int), intent(inout) :: code
    integer :: closed, where

    if (.not. c_associated(stream)) return
    where = output_unit
    if (present(unit)) where = unit
    closed = fclose(stream)
    if (closed == 0 .and. code == 0) code = print_text(text_of(buffer, size), where)
    call c_free(buffer)
  end subroutine

  integer(c_int) function print_text(text, unit) result(code)
    character(*), intent(in) :: text
    integer, intent(in) :: unit
    integer :: begin, length, status
    logical :: is_open

    inquire (unit=unit, opened=is_open, iostat=status)
    if (.not. is_open) status = 1
    begin = 1
    do while (begin <= len(text) .and. status == 0)
      length = index(text(begin:)//new_line(text), new_line(text))
      write (unit, "(a)", iostat=status) text(begin:begin + length - 2)
      begin = begin + length
    end do
    code = 0
    if (status /= 0) code = ceed_error(ceed_context(), ceed_error_incompatible, &
                                       "The unit "//decimal(unit + 0_ceed_size)// &
                                       " is not open for formatted writing")
  end function

  ! ----------------------------------------------------------------------------------------------
  ! Arrays with bounds
  ! ----------------------------------------------------------------------------------------------

  !> Whether the elements follow each other, the first index fastest. As in DLPack, the stride of an
  !> axis with one element means nothing.
  pure logical function is_dense(layout)
    type(ceed_array_layout), intent(in) :: layout
    integer(ceed_size) :: dense
    integer :: i

    dense = element_size
    is_dense = .true.
    do i = 1, layout%rank
      if (layout%extent(i) > 1 .and. layout%stride(i) /= dense) is_dense = .false.
      dense = dense*layout%extent(i)
    end do
  end function

  pure integer(ceed_size) function address_of(pointer)
    type(c_ptr), intent(in) :: pointer

    address_of = transfer(pointer, address_of)
  end function

  !> Whether an array of these extents has `length` elements, found without overflow.
  pure logical function holds(extent, length)
    integer(ceed_size), intent(in) :: extent(:), length
    integer(ceed_size) :: count
    integer :: i

    if (any(extent <= 0)) then
      holds = length == 0
      return
    end if
    holds = .false.
    count = 1
    do i = 1, size(extent)
      if (count > length/extent(i)) return
      count = count*extent(i)
    end do
    holds = count == length
  end function

  pure function decimal(number) result(text)
    integer(ceed_size), intent(in) :: number
    character(:), allocatable :: text
    character(24) :: digits

    write (digits, "(i0)") number
    text = trim(digits)
  end function

  ! ----------------------------------------------------------------------------------------------
  ! Vectors
  ! ----------------------------------------------------------------------------------------------

  integer(c_int) function vector_create_short(ceed, len, vec) result(code)
    type(ceed_context), intent(in) :: ceed
    integer(c_int32_t), intent(in) :: len
    type(ceed_vector), intent(inout) :: vec

    code = c_vector_create(ceed, int(len, ceed_size), vec)
  end function

  !> Whether a vector can be set from an array that lies so in memory.
  integer(c_int) function check_array(vec, mem_type, copy_mode, layout) result(code)
    type(ceed_vector), intent(in) :: vec
    integer(c_int), intent(in) :: mem_type, copy_mode
    type(ceed_array_layout), intent(in) :: layout
    integer(ceed_size) :: length
    integer(c_int32_t) :: device_type, device_id

    code = ceed_vector_get_length(vec, length)
    if (code == 0) code = ceed_vector_get_dlpack_device(vec, mem_type, device_type, device_id)
    if (code /= 0) return
    associate (ceed => ceed_vector_return_ceed(vec), extent => layout%extent(:layout%rank))
      if (copy_mode == ceed_own_pointer) then
        code = ceed_error(ceed, ceed_error_incompatible, &
                          "The memory of a Fortran array can't be given away: lend it with "// &
                          "ceed_use_pointer, or copy it")
      else if (.not. holds(extent, length)) then
        code = ceed_error(ceed, ceed_error_dimension, "The array has "// &
                          decimal(product(extent))//" entries, the vector has "//decimal(length))
      else if (.not. layout%contiguous .and. copy_mode /= ceed_copy_values) then
        code = ceed_error(ceed, ceed_error_incompatible, "The array is not contiguous: it "// &
                          "can't be lent, copy it with ceed_copy_values")
      else if (.not. layout%contiguous .and. mem_type /= ceed_mem_host) then
        code = ceed_error(ceed, ceed_error_unsupported, "An array that is not contiguous can "// &
                          "only be copied from host memory")
      end if
    end associate
  end function

  !> Lend the entries on one axis, if an array of these bounds can hold them.
  integer(c_int) function lend(get, vec, mem_type, lower, upper, entries) result(code)
    procedure(c_vector_get_array) :: get
    type(ceed_vector), intent(in) :: vec
    integer(c_int), intent(in) :: mem_type
    integer, intent(in), optional :: lower(:), upper(:)
    real(ceed_scalar), pointer, intent(out) :: entries(:)
    integer(ceed_size) :: length
    type(c_ptr) :: address

    entries => nothing(:0)
    code = ceed_vector_get_length(vec, length)
    if (code == 0 .and. present(lower)) code = check_bounds(length, lower, upper)
    if (code == 0) code = get(vec, mem_type, address)
    if (code == 0 .and. length > 0) call c_f_pointer(address, entries, [length])
  end function

  integer(c_int) function check_bounds(length, lower, upper) result(code)
    integer(ceed_size), intent(in) :: length
    integer, intent(in) :: lower(:), upper(:)

    code = 0
    if (.not. holds(upper - int(lower, ceed_size) + 1, length)) then
      code = ceed_error(ceed_context(), ceed_error_dimension, &
                        "An array of the given bounds does not have the "//decimal(length)// &
                        " entries of the vector")
    end if
  end function

  integer(c_int) function get_array_whole(vec, mem_type, a) result(code)
    type(ceed_vector), intent(in) :: vec
    integer(c_int), intent(in) :: mem_type
    real(ceed_scalar), pointer, intent(inout) :: a(:)
    real(ceed_scalar), pointer :: entries(:)

    code = lend(c_vector_get_array, vec, mem_type, entries=entries)
    if (code == 0) a => entries
  end function

  integer(c_int) function get_array_read_whole(vec, mem_type, a) result(code)
    type(ceed_vector), intent(in) :: vec
    integer(c_int), intent(in) :: mem_type
    real(ceed_scalar), pointer, intent(inout) :: a(:)
    real(ceed_scalar), pointer :: entries(:)

    code = lend(c_vector_get_array_read, vec, mem_type, entries=entries)
    if (code == 0) a => entries
  end function

  integer(c_int) function get_array_write_whole(vec, mem_type, a) result(code)
    type(ceed_vector), intent(in) :: vec
    integer(c_int), intent(in) :: mem_type
    real(ceed_scalar), pointer, intent(inout) :: a(:)
    real(ceed_scalar), pointer :: entries(:)

    code = lend(c_vector_get_array_write, vec, mem_type, entries=entries)
    if (code == 0) a => entries
  end function

  ! The same for every rank.
#define ITSELF(x) x
#define NAME(x) ITSELF(x)ITSELF(_)RANK

#define RANK 1
#define COLONS :
#define INDEX k(1)
#define BOUNDS l(1):u(1)
#include "ceedlike_rank.inc"
#undef RANK
#undef COLONS
#undef INDEX
#undef BOUNDS
#define RANK 2
#define COLONS :, :
#define INDEX k(1), k(2)
#define BOUNDS l(1):u(1), l(2):u(2)
#include "ceedlike_rank.inc"
#undef RANK
#undef COLONS
#undef INDEX
#undef BOUNDS
#define RANK 3
#define COLONS :, :, :
#define INDEX k(1), k(2), k(3)
#define BOUNDS l(1):u(1), l(2):u(2), l(3):u(3)
#include "ceedlike_rank.inc"
#undef RANK
#undef COLONS
#undef INDEX
#undef BOUNDS
#define RANK 4
#define COLONS :, :, :, :
#define INDEX k(1), k(2), k(3), k(4)
#define BOUNDS l(1):u(1), l(2):u(2), l(3):u(3), l(4):u(4)
#include "ceedlike_rank.inc"
#undef RANK
#undef COLONS
#undef INDEX
#undef BOUNDS
#define RANK 5
#define COLONS :, :, :, :, :
#define INDEX k(1), k(2), k(3), k(4), k(5)
#define BOUNDS l(1):u(1), l(2):u(2), l(3):u(3), l(4):u(4), l(5):u(5)
#include "ceedlike_rank.inc"
#undef RANK
#undef COLONS
#undef INDEX
#undef BOUNDS
#define RANK 6
#define COLONS :, :, :, :, :, :
#define INDEX k(1), k(2), k(3), k(4), k(5), k(6)
#define BOUNDS l(1):u(1), l(2):u(2), l(3):u(3), l(4):u(4), l(5):u(5), l(6):u(6)
#include "ceedlike_rank.inc"
#undef RANK
#undef COLONS
#undef INDEX
#undef BOUNDS
#define RANK 7
#define COLONS :, :, :, :, :, :, :
#define INDEX k(1), k(2), k(3), k(4), k(5), k(6), k(7)
#define BOUNDS l(1):u(1), l(2):u(2), l(3):u(3), l(4):u(4), l(5):u(5), l(6):u(6), l(7):u(7)
#include "ceedlike_rank.inc"

  !> Let go of a borrowed array, with the current values in it. It is the caller's own, under the
  !> caller's own name.
  integer(c_int) function ceed_vector_take_array(vec, mem_type) result(code)
    type(ceed_vector), intent(in) :: vec
    integer(c_int), intent(in) :: mem_type
    type(c_ptr) :: address

    code = c_vector_take_array(vec, mem_type, address)
  end function

  !> Print to a formatted unit, which is standard output unless it is given. `fp_fmt` is C's, "%g"
  !> where it is empty.
  integer(c_int) function ceed_vector_view(vec, fp_fmt, unit) result(code)
    type(ceed_vector), intent(in) :: vec
    character(*), intent(in) :: fp_fmt
    integer, intent(in), optional :: unit

    code = ceed_vector_view_range(vec, 0_ceed_size, -1_ceed_size, 1_ceed_int, fp_fmt, unit)
  end function

  integer(c_int) function ceed_vector_view_range(vec, start, stop, step, fp_fmt, unit) result(code)
    type(ceed_vector), intent(in) :: vec
    integer(ceed_size), intent(in) :: start, stop
    integer(ceed_int), intent(in) :: step
    character(*), intent(in) :: fp_fmt
    integer, intent(in), optional :: unit
    character(:), allocatable :: format
    type(c_ptr) :: stream, buffer
    integer(c_size_t) :: size

    format = "%g"
    if (len(fp_fmt) > 0) format = fp_fmt
    stream = open_memstream(buffer, size)
    code = c_vector_view_range(vec, start, stop, step, format//c_null_char, stream)
    call print_stream(stream, buffer, size, unit, code)
  end function

  ! ----------------------------------------------------------------------------------------------
  ! DLPack
  ! ----------------------------------------------------------------------------------------------

  !> Without `strides` the first index is the fastest, as in Fortran: a tensor of shape [2, 3, 4] is
  !> a(2, 3, 4), and in Python a[i, j, k] is a(i + 1, j + 1, k + 1).
  integer(c_int) function ceed_vector_export(vec, mem_type, mode, shape, tensor, strides) &
      result(code)
    type(ceed_vector), intent(in) :: vec
    integer(c_int), intent(in) :: mem_type, mode
    integer, intent(in) :: shape(:)
    type(c_ptr), intent(inout) :: tensor
    integer, intent(in), optional :: strides(:)
    integer(c_int64_t) :: steps(size(shape))
    integer :: i

    if (present(strides)) then
      if (size(strides) /= size(shape)) then
        code = ceed_error(ceed_vector_return_ceed(vec), ceed_error_dimension, &
                          "A shape and strides of different length")
        return
      end if
      steps = strides
    else
      do i = 1, size(shape)
        steps(i) = product(int(shape(:i - 1), c_int64_t))
      end do
    end if
    code = c_vector_export(vec, mem_type, mode, size(shape, kind=ceed_int), &
                           int(shape, c_int64_t), steps, tensor)
  end function

  integer(c_int) function wrap_layout(layout, mem_type, read_only, tensor) result(code)
    type(ceed_array_layout), intent(in) :: layout
    integer(c_int), intent(in) :: mem_type
    logical, intent(in) :: read_only
    type(c_ptr), intent(inout) :: tensor
    integer :: n

    n = layout%rank
    if (layout%contiguous) then
      code = c_dlpack_wrap(layout%address, mem_type, int(n, ceed_int), &
                           int(layout%extent(n:1:-1), c_int64_t), &
                           logical(read_only, c_bool), tensor)
    else
      code = ceed_error(ceed_context(), ceed_error_incompatible, &
                        "Only a contiguous array can be wrapped: copy the section first")
    end if
  end function

  integer(c_int) function ceed_dlpack_check(tensor, versioned, spec) result(code)
    type(c_ptr), intent(in) :: tensor
    logical, intent(in) :: versioned
    type(ceed_dlpack_spec), intent(in) :: spec

    code = c_dlpack_check(tensor, logical(versioned, c_bool), spec)
  end function

  integer(c_int) function ceed_dlpack_view(tensor, unit) result(code)
    type(c_ptr), intent(in) :: tensor
    integer, intent(in), optional :: unit

    code = view(c_dlpack_view, tensor, unit)
  end function

  integer(c_int) function ceed_dlpack_view_versioned(tensor, unit) result(code)
    type(c_ptr), intent(in) :: tensor
    integer, intent(in), optional :: unit

    code = view(c_dlpack_view_versioned, tensor, unit)
  end function

  !> Call the deleter of a legacy tensor and set `tensor` to null; null is accepted, twice is safe.
  integer(c_int) function ceed_dlpack_delete(tensor) result(code)
    type(c_ptr), intent(inout) :: tensor
    type(dl_managed_tensor), pointer :: managed

    code = 0
    if (.not. c_associated(tensor)) return
    call c_f_pointer(tensor, managed)
    call delete(managed%deleter, tensor)
  end function

  integer(c_int) function ceed_dlpack_delete_versioned(tensor) result(code)
    type(c_ptr), intent(inout) :: tensor
    type(dl_managed_tensor_versioned), pointer :: managed

    code = 0
    if (.not. c_associated(tensor)) return
    call c_f_pointer(tensor, managed)
    call delete(managed%deleter, tensor)
  end function

  subroutine delete(address, tensor)
    type(c_funptr), value :: address                ! by value: it lies in what is deleted
    type(c_ptr), intent(inout) :: tensor
    procedure(dl_deleter), pointer :: deleter

    if (c_associated(address)) then
      call c_f_procpointer(address, deleter)
      call deleter(tensor)
    end if
    tensor = c_null_ptr
  end subroutine

  ! ----------------------------------------------------------------------------------------------
  ! Python
  ! ----------------------------------------------------------------------------------------------

  !> Call "module:function" of Python. The arrays there have one axis, the first index fastest:
  !> u.reshape(shape, order="F") shows one with the axes that it has here.
  integer(c_int) function ceed_python_call(ceed, function, inputs, outputs) result(code)
    type(ceed_context), intent(in) :: ceed
    character(*), intent(in) :: function
    type(ceed_vector), intent(in) :: inputs(:), outputs(:)

    code = c_python_call(ceed, trim(function)//c_null_char, size(inputs, kind=ceed_int), inputs, &
                         size(outputs, kind=ceed_int), outputs)
  end function

#include "ceedlike_fem_procedures.inc"
end module
