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
  public :: ceed_context, ceed_init, ceed_reference_copy, ceed_destroy
  public :: ceed_set_stream, ceed_get_stream, ceed_order_before, ceed_order_after
  public :: ceed_get_resource, ceed_is_deterministic, ceed_get_preferred_mem_type
  public :: ceed_mem_type_is_available, ceed_get_dlpack_device, ceed_view
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

  ! Boxes
  public :: ceed_box, ceed_ghost, ceed_box_text
  public :: ceed_box_set, ceed_box_get_lengths, ceed_box_get_size, ceed_box_is_empty
  public :: ceed_box_is_equal, ceed_box_contains, ceed_box_grow, ceed_box_shift
  public :: ceed_box_intersect, ceed_box_hull, ceed_box_refine, ceed_box_coarsen
  public :: ceed_box_convert, ceed_box_from_text, ceed_box_to_text

  ! Fabs
  public :: ceed_fab, ceed_order_xyzn, ceed_order_nzyx
  public :: ceed_region_whole, ceed_region_valid, ceed_region_interior
  public :: ceed_fab_create, ceed_fab_create_from_vector, ceed_fab_create_from_array
  public :: ceed_fab_create_from_dlpack, ceed_fab_create_from_dlpack_versioned
  public :: ceed_fab_reference_copy, ceed_fab_destroy, ceed_fab_resize, ceed_fab_replace
  public :: ceed_fab_get_generation, ceed_fab_get_box, ceed_fab_get_ghost, ceed_fab_get_region
  public :: ceed_fab_get_ghost_region, ceed_fab_get_num_components, ceed_fab_get_strides
  public :: ceed_fab_get_component_base, ceed_fab_set_component_base, ceed_fab_get_vector
  public :: ceed_fab_get_array, ceed_fab_get_array_read, ceed_fab_get_array_write
  public :: ceed_fab_restore_array, ceed_fab_restore_array_read, ceed_fab_take_array
  public :: ceed_fab_set_value, ceed_fab_copy, ceed_fab_export, ceed_fab_get_export_count
  public :: ceed_fab_to_dlpack, ceed_fab_get_dlpack_device, ceed_fab_get_mem_types
  public :: ceed_fab_view, ceed_fab_get_ceed, ceed_fab_return_ceed

  ! MultiFabs
  public :: ceed_multifab, ceed_cover_none, ceed_cover_ghost, ceed_cover_valid
  public :: ceed_multifab_create, ceed_multifab_reference_copy, ceed_multifab_destroy
  public :: ceed_multifab_redefine, ceed_multifab_get_generation
  public :: ceed_multifab_set_level, ceed_multifab_get_level, ceed_multifab_get_num_boxes
  public :: ceed_multifab_get_num_components, ceed_multifab_get_ghost, ceed_multifab_get_rank
  public :: ceed_multifab_get_box, ceed_multifab_get_owner, ceed_multifab_get_hull
  public :: ceed_multifab_get_num_local, ceed_multifab_get_local_index, ceed_multifab_get_fab
  public :: ceed_multifab_set_fab, ceed_multifab_set_value, ceed_multifab_fill_ghosts
  public :: ceed_multifab_copy, ceed_multifab_gather, ceed_multifab_view
  public :: ceed_multifab_get_ceed, ceed_multifab_return_ceed

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

  integer(c_int), parameter :: ceed_order_xyzn = 0, ceed_order_nzyx = 1
  integer(c_int), parameter :: ceed_region_whole = 0, ceed_region_valid = 1
  integer(c_int), parameter :: ceed_region_interior = 2
  integer(c_int), parameter :: ceed_cover_none = 0, ceed_cover_ghost = 1, ceed_cover_valid = 2
  integer(c_int), parameter :: ceed_box_text = 88

  type, bind(c) :: ceed_context
    type(c_ptr) :: handle = c_null_ptr
  end type

  type, bind(c) :: ceed_vector
    type(c_ptr) :: handle = c_null_ptr
  end type

  type, bind(c) :: ceed_fab
    type(c_ptr) :: handle = c_null_ptr
  end type

  type, bind(c) :: ceed_multifab
    type(c_ptr) :: handle = c_null_ptr
  end type

  !> A range of indices in 1 to 3 directions; one without directions is no box yet.
  type, bind(c) :: ceed_box
    integer(ceed_int) :: dim = 0
    integer(ceed_int) :: lo(3) = 0, hi(3) = 0       !< both inclusive
    integer(ceed_int) :: centring = 0               !< a bit for each direction, set for nodes
  end type

  !> How many layers there are around a box, on either side of each direction.
  type, bind(c) :: ceed_ghost
    integer(ceed_int) :: lo(3) = 0, hi(3) = 0
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

    integer(c_int) function ceed_get_stream(ceed, handle) &
        bind(c, name="CeedlikeGetStream"//SFX)
      import
      type(ceed_context), value :: ceed
      type(c_ptr), intent(inout) :: handle
    end function

    integer(c_int) function ceed_order_before(ceed, handle) &
        bind(c, name="CeedlikeOrderBefore"//SFX)
      import
      type(ceed_context), value :: ceed
      type(c_ptr), value :: handle
    end function

    integer(c_int) function ceed_order_after(ceed, handle) &
        bind(c, name="CeedlikeOrderAfter"//SFX)
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

    integer(c_int) function ceed_get_dlpack_device(ceed, mem_type, device_type, device_id) &
        bind(c, name="CeedlikeGetDLPackDevice"//SFX)
      import
      type(ceed_context), value :: ceed
      integer(c_int), value :: mem_type
      integer(c_int32_t), intent(inout) :: device_type, device_id
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

    type(c_ptr) function c_vector_return_ceed(vec) &
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
  ! Boxes
  ! ----------------------------------------------------------------------------------------------

  interface
    integer(c_int) function c_box_set(dim, lo, hi, centring, box) &
        bind(c, name="CeedlikeBoxSet"//SFX)
      import
      integer(ceed_int), value :: dim
      integer(ceed_int), intent(in) :: lo(*), hi(*)
      integer(ceed_int), value :: centring
      type(ceed_box), intent(inout) :: box
    end function

    integer(c_int) function ceed_box_get_lengths(box, lengths) &
        bind(c, name="CeedlikeBoxGetLengths"//SFX)
      import
      type(ceed_box), value :: box
      integer(ceed_size), intent(inout) :: lengths(3)
    end function

    integer(c_int) function ceed_box_get_size(box, size) bind(c, name="CeedlikeBoxGetSize"//SFX)
      import
      type(ceed_box), value :: box
      integer(ceed_size), intent(inout) :: size
    end function

    integer(c_int) function ceed_box_is_empty(box, is_empty) bind(c, name="CeedlikeBoxIsEmpty"//SFX)
      import
      type(ceed_box), value :: box
      logical(c_bool), intent(inout) :: is_empty
    end function

    integer(c_int) function ceed_box_is_equal(a, b, is_equal) &
        bind(c, name="CeedlikeBoxIsEqual"//SFX)
      import
      type(ceed_box), value :: a, b
      logical(c_bool), intent(inout) :: is_equal
    end function

    integer(c_int) function ceed_box_contains(box, inner, contains) &
        bind(c, name="CeedlikeBoxContains"//SFX)
      import
      type(ceed_box), value :: box, inner
      logical(c_bool), intent(inout) :: contains
    end function

    integer(c_int) function ceed_box_grow(box, widths, grown) bind(c, name="CeedlikeBoxGrow"//SFX)
      import
      type(ceed_box), value :: box
      type(ceed_ghost), value :: widths
      type(ceed_box), intent(inout) :: grown
    end function

    integer(c_int) function ceed_box_shift(box, by, shifted) bind(c, name="CeedlikeBoxShift"//SFX)
      import
      type(ceed_box), value :: box
      integer(ceed_int), intent(in) :: by(*)
      type(ceed_box), intent(inout) :: shifted
    end function

    integer(c_int) function ceed_box_intersect(a, b, both) bind(c, name="CeedlikeBoxIntersect"//SFX)
      import
      type(ceed_box), value :: a, b
      type(ceed_box), intent(inout) :: both
    end function

    integer(c_int) function ceed_box_hull(a, b, hull) bind(c, name="CeedlikeBoxHull"//SFX)
      import
      type(ceed_box), value :: a, b
      type(ceed_box), intent(inout) :: hull
    end function

    integer(c_int) function ceed_box_refine(box, ratio, fine) bind(c, name="CeedlikeBoxRefine"//SFX)
      import
      type(ceed_box), value :: box
      integer(ceed_int), intent(in) :: ratio(*)
      type(ceed_box), intent(inout) :: fine
    end function

    integer(c_int) function ceed_box_coarsen(box, ratio, coarse) &
        bind(c, name="CeedlikeBoxCoarsen"//SFX)
      import
      type(ceed_box), value :: box
      integer(ceed_int), intent(in) :: ratio(*)
      type(ceed_box), intent(inout) :: coarse
    end function

    integer(c_int) function ceed_box_convert(box, centring, converted) &
        bind(c, name="CeedlikeBoxConvert"//SFX)
      import
      type(ceed_box), value :: box
      integer(ceed_int), value :: centring
      type(ceed_box), intent(inout) :: converted
    end function

    integer(c_int) function c_box_from_text(text, box) bind(c, name="CeedlikeBoxFromText"//SFX)
      import
      character(kind=c_char), intent(in) :: text(*)
      type(ceed_box), intent(inout) :: box
    end function

    integer(c_int) function c_box_to_text(box, text, size) bind(c, name="CeedlikeBoxToText"//SFX)
      import
      type(ceed_box), value :: box
      character(kind=c_char), intent(inout) :: text(*)
      integer(c_size_t), value :: size
    end function
  end interface

  ! ----------------------------------------------------------------------------------------------
  ! Fabs
  ! ----------------------------------------------------------------------------------------------

  !> A fab of an array, with the array's own bounds: the indices of its first `dim` axes are those
  !> of the whole block, of which `ghost` layers are not valid. Its last axis, if there is one more,
  !> is the component, and its lower bound the number of the first one. The array is a target; its
  !> lower bounds are seen when the whole array is given.
  !>
  !> ceed_copy_values copies any array, a section with strides too. ceed_use_pointer borrows it,
  !> with positive strides: keep it alive and unmoved until the fab and its views have let go.
  interface ceed_fab_create_from_array
    module procedure fab_from_array_1, fab_from_array_2, fab_from_array_3, fab_from_array_4
  end interface

  !> Let `a` point to the entries with the bounds of the whole block, and those of the components,
  !> until ceed_fab_restore_array() or ceed_fab_restore_array_read(). It has an axis for each
  !> direction and one for the component, which a fab of one component may do without. On failure
  !> `a` is as it was.
  !>
  !> Fortran's pointers can't say that nothing may be written of what ceed_fab_get_array_read()
  !> lends: don't.
  interface ceed_fab_get_array
    module procedure fab_get_array_1, fab_get_array_2, fab_get_array_3, fab_get_array_4
  end interface

  interface ceed_fab_get_array_read
    module procedure fab_get_array_read_1, fab_get_array_read_2, fab_get_array_read_3
    module procedure fab_get_array_read_4
  end interface

  interface ceed_fab_get_array_write
    module procedure fab_get_array_write_1, fab_get_array_write_2, fab_get_array_write_3
    module procedure fab_get_array_write_4
  end interface

  !> Give the array back; `a` points nowhere afterwards.
  interface ceed_fab_restore_array
    module procedure fab_restore_array_1, fab_restore_array_2, fab_restore_array_3
    module procedure fab_restore_array_4
  end interface

  interface ceed_fab_restore_array_read
    module procedure fab_restore_array_read_1, fab_restore_array_read_2, fab_restore_array_read_3
    module procedure fab_restore_array_read_4
  end interface

  interface
    integer(c_int) function ceed_fab_create(ceed, box, ghost, num_comp, fab) &
        bind(c, name="CeedlikeFabCreate"//SFX)
      import
      type(ceed_context), value :: ceed
      type(ceed_box), value :: box
      type(ceed_ghost), value :: ghost
      integer(ceed_int), value :: num_comp
      type(ceed_fab), intent(inout) :: fab
    end function

    !> Without `strides` the entries are compact: give the other arguments by their names.
    integer(c_int) function ceed_fab_create_from_vector( &
        vec, offset, strides, box, ghost, num_comp, fab) &
        bind(c, name="CeedlikeFabCreateFromVector"//SFX)
      import
      type(ceed_vector), value :: vec
      integer(ceed_size), value :: offset
      integer(ceed_size), intent(in), optional :: strides(4)
      type(ceed_box), value :: box
      type(ceed_ghost), value :: ghost
      integer(ceed_int), value :: num_comp
      type(ceed_fab), intent(inout) :: fab
    end function

    integer(c_int) function c_fab_create_from_array( &
        ceed, box, ghost, num_comp, mem_type, copy_mode, strides, array, fab) &
        bind(c, name="CeedlikeFabCreateFromArray"//SFX)
      import
      type(ceed_context), value :: ceed
      type(ceed_box), value :: box
      type(ceed_ghost), value :: ghost
      integer(ceed_int), value :: num_comp
      integer(c_int), value :: mem_type, copy_mode
      integer(ceed_size), intent(in), optional :: strides(4)
      type(c_ptr), value :: array
      type(ceed_fab), intent(inout) :: fab
    end function

    integer(c_int) function ceed_fab_create_from_dlpack( &
        ceed, tensor, order, lo, centring, ghost, copy_mode, fab) &
        bind(c, name="CeedlikeFabCreateFromDLPack"//SFX)
      import
      type(ceed_context), value :: ceed
      type(c_ptr), value :: tensor
      integer(c_int), value :: order
      integer(ceed_int), intent(in) :: lo(*)
      integer(ceed_int), value :: centring
      type(ceed_ghost), value :: ghost
      integer(c_int), value :: copy_mode
      type(ceed_fab), intent(inout) :: fab
    end function

    integer(c_int) function ceed_fab_create_from_dlpack_versioned( &
        ceed, tensor, order, lo, centring, ghost, copy_mode, fab) &
        bind(c, name="CeedlikeFabCreateFromDLPackVersioned"//SFX)
      import
      type(ceed_context), value :: ceed
      type(c_ptr), value :: tensor
      integer(c_int), value :: order
      integer(ceed_int), intent(in) :: lo(*)
      integer(ceed_int), value :: centring
      type(ceed_ghost), value :: ghost
      integer(c_int), value :: copy_mode
      type(ceed_fab), intent(inout) :: fab
    end function

    integer(c_int) function ceed_fab_reference_copy(fab, fab_copy) &
        bind(c, name="CeedlikeFabReferenceCopy"//SFX)
      import
      type(ceed_fab), value :: fab
      type(ceed_fab), intent(inout) :: fab_copy
    end function

    integer(c_int) function c_fab_resize(fab, box, ghost, num_comp, keep_views) &
        bind(c, name="CeedlikeFabResize"//SFX)
      import
      type(ceed_fab), value :: fab
      type(ceed_box), value :: box
      type(ceed_ghost), value :: ghost
      integer(ceed_int), value :: num_comp
      logical(c_bool), value :: keep_views
    end function

    integer(c_int) function c_fab_replace(fab, by, keep_views) &
        bind(c, name="CeedlikeFabReplace"//SFX)
      import
      type(ceed_fab), value :: fab, by
      logical(c_bool), value :: keep_views
    end function

    integer(c_int) function ceed_fab_get_generation(fab, generation) &
        bind(c, name="CeedlikeFabGetGeneration"//SFX)
      import
      type(ceed_fab), value :: fab
      integer(c_int64_t), intent(inout) :: generation
    end function

    integer(c_int) function ceed_fab_get_box(fab, box) bind(c, name="CeedlikeFabGetBox"//SFX)
      import
      type(ceed_fab), value :: fab
      type(ceed_box), intent(inout) :: box
    end function

    integer(c_int) function ceed_fab_get_ghost(fab, ghost) bind(c, name="CeedlikeFabGetGhost"//SFX)
      import
      type(ceed_fab), value :: fab
      type(ceed_ghost), intent(inout) :: ghost
    end function

    integer(c_int) function ceed_fab_get_region(fab, region, box) &
        bind(c, name="CeedlikeFabGetRegion"//SFX)
      import
      type(ceed_fab), value :: fab
      integer(c_int), value :: region
      type(ceed_box), intent(inout) :: box
    end function

    integer(c_int) function ceed_fab_get_ghost_region(fab, side, box) &
        bind(c, name="CeedlikeFabGetGhostRegion"//SFX)
      import
      type(ceed_fab), value :: fab
      integer(ceed_int), intent(in) :: side(*)
      type(ceed_box), intent(inout) :: box
    end function

    integer(c_int) function ceed_fab_get_num_components(fab, num_comp) &
        bind(c, name="CeedlikeFabGetNumComponents"//SFX)
      import
      type(ceed_fab), value :: fab
      integer(ceed_int), intent(inout) :: num_comp
    end function

    integer(c_int) function ceed_fab_get_component_base(fab, base) &
        bind(c, name="CeedlikeFabGetComponentBase"//SFX)
      import
      type(ceed_fab), value :: fab
      integer(ceed_int), intent(inout) :: base
    end function

    integer(c_int) function ceed_fab_set_component_base(fab, base) &
        bind(c, name="CeedlikeFabSetComponentBase"//SFX)
      import
      type(ceed_fab), value :: fab
      integer(ceed_int), value :: base
    end function

    integer(c_int) function ceed_fab_get_strides(fab, strides) &
        bind(c, name="CeedlikeFabGetStrides"//SFX)
      import
      type(ceed_fab), value :: fab
      integer(ceed_size), intent(inout) :: strides(4)
    end function

    integer(c_int) function ceed_fab_get_vector(fab, vec) bind(c, name="CeedlikeFabGetVector"//SFX)
      import
      type(ceed_fab), value :: fab
      type(ceed_vector), intent(inout) :: vec
    end function

    integer(c_int) function c_fab_get_array(fab, mem_type, array) &
        bind(c, name="CeedlikeFabGetArray"//SFX)
      import
      type(ceed_fab), value :: fab
      integer(c_int), value :: mem_type
      type(c_ptr), intent(inout) :: array
    end function

    integer(c_int) function c_fab_get_array_read(fab, mem_type, array) &
        bind(c, name="CeedlikeFabGetArrayRead"//SFX)
      import
      type(ceed_fab), value :: fab
      integer(c_int), value :: mem_type
      type(c_ptr), intent(inout) :: array
    end function

    integer(c_int) function c_fab_get_array_write(fab, mem_type, array) &
        bind(c, name="CeedlikeFabGetArrayWrite"//SFX)
      import
      type(ceed_fab), value :: fab
      integer(c_int), value :: mem_type
      type(c_ptr), intent(inout) :: array
    end function

    integer(c_int) function c_fab_restore_array(fab, array) &
        bind(c, name="CeedlikeFabRestoreArray"//SFX)
      import
      type(ceed_fab), value :: fab
      type(c_ptr), intent(inout) :: array
    end function

    integer(c_int) function c_fab_restore_array_read(fab, array) &
        bind(c, name="CeedlikeFabRestoreArrayRead"//SFX)
      import
      type(ceed_fab), value :: fab
      type(c_ptr), intent(inout) :: array
    end function

    integer(c_int) function c_fab_take_array(fab, mem_type, array) &
        bind(c, name="CeedlikeFabTakeArray"//SFX)
      import
      type(ceed_fab), value :: fab
      integer(c_int), value :: mem_type
      type(c_ptr), intent(inout) :: array
    end function

    !> Without `region` it is the whole block: give the other arguments by their names.
    integer(c_int) function ceed_fab_set_value(fab, region, comp, num_comp, value) &
        bind(c, name="CeedlikeFabSetValue"//SFX)
      import
      type(ceed_fab), value :: fab
      type(ceed_box), intent(in), optional :: region
      integer(ceed_int), value :: comp, num_comp
      real(ceed_scalar), value :: value
    end function

    integer(c_int) function ceed_fab_copy(fab, region, comp, num_comp, fab_copy, copy_comp) &
        bind(c, name="CeedlikeFabCopy"//SFX)
      import
      type(ceed_fab), value :: fab
      type(ceed_box), intent(in), optional :: region
      integer(ceed_int), value :: comp, num_comp
      type(ceed_fab), value :: fab_copy
      integer(ceed_int), value :: copy_comp
    end function

    integer(c_int) function c_fab_export( &
        fab, mem_type, mode, region, comp, num_comp, order, tensor) &
        bind(c, name="CeedlikeFabExport"//SFX)
      import
      type(ceed_fab), value :: fab
      integer(c_int), value :: mem_type, mode
      type(ceed_box), intent(in), optional :: region
      integer(ceed_int), value :: comp, num_comp
      integer(c_int), value :: order
      type(c_ptr), intent(inout) :: tensor
    end function

    integer(c_int) function c_fab_to_dlpack( &
        fab, mem_type, region, comp, num_comp, order, tensor) &
        bind(c, name="CeedlikeFabToDLPack"//SFX)
      import
      type(ceed_fab), value :: fab
      integer(c_int), value :: mem_type
      type(ceed_box), intent(in), optional :: region
      integer(ceed_int), value :: comp, num_comp
      integer(c_int), value :: order
      type(c_ptr), intent(inout) :: tensor
    end function

    integer(c_int) function ceed_fab_get_export_count(fab, count) &
        bind(c, name="CeedlikeFabGetExportCount"//SFX)
      import
      type(ceed_fab), value :: fab
      integer(ceed_size), intent(inout) :: count
    end function

    integer(c_int) function ceed_fab_get_dlpack_device(fab, mem_type, device_type, device_id) &
        bind(c, name="CeedlikeFabGetDLPackDevice"//SFX)
      import
      type(ceed_fab), value :: fab
      integer(c_int), value :: mem_type
      integer(c_int32_t), intent(inout) :: device_type, device_id
    end function

    integer(c_int) function ceed_fab_get_mem_types(fab, holds, current) &
        bind(c, name="CeedlikeFabGetMemTypes"//SFX)
      import
      type(ceed_fab), value :: fab
      logical(c_bool), intent(inout) :: holds(0:1), current(0:1)
    end function

    integer(c_int) function c_fab_view(fab, stream) bind(c, name="CeedlikeFabView"//SFX)
      import
      type(ceed_fab), value :: fab
      type(c_ptr), value :: stream
    end function

    integer(c_int) function ceed_fab_get_ceed(fab, ceed) bind(c, name="CeedlikeFabGetCeed"//SFX)
      import
      type(ceed_fab), value :: fab
      type(ceed_context), intent(inout) :: ceed
    end function

    type(ceed_context) function ceed_fab_return_ceed(fab) bind(c, name="CeedlikeFabReturnCeed"//SFX)
      import
      type(ceed_fab), value :: fab
    end function

    integer(c_int) function ceed_fab_destroy(fab) bind(c, name="CeedlikeFabDestroy"//SFX)
      import
      type(ceed_fab), intent(inout) :: fab
    end function
  end interface

  ! ----------------------------------------------------------------------------------------------
  ! MultiFabs
  ! ----------------------------------------------------------------------------------------------

  interface
    integer(c_int) function c_multifab_create( &
        ceed, num_boxes, boxes, owners, rank, ghost, num_comp, mf) &
        bind(c, name="CeedlikeMultiFabCreate"//SFX)
      import
      type(ceed_context), value :: ceed
      integer(ceed_int), value :: num_boxes
      type(ceed_box), intent(in) :: boxes(*)
      integer(ceed_int), intent(in), optional :: owners(*)
      integer(ceed_int), value :: rank
      type(ceed_ghost), value :: ghost
      integer(ceed_int), value :: num_comp
      type(ceed_multifab), intent(inout) :: mf
    end function

    integer(c_int) function ceed_multifab_reference_copy(mf, mf_copy) &
        bind(c, name="CeedlikeMultiFabReferenceCopy"//SFX)
      import
      type(ceed_multifab), value :: mf
      type(ceed_multifab), intent(inout) :: mf_copy
    end function

    integer(c_int) function c_multifab_redefine( &
        mf, num_boxes, boxes, owners, rank, ghost, num_comp, keep_views) &
        bind(c, name="CeedlikeMultiFabRedefine"//SFX)
      import
      type(ceed_multifab), value :: mf
      integer(ceed_int), value :: num_boxes
      type(ceed_box), intent(in) :: boxes(*)
      integer(ceed_int), intent(in), optional :: owners(*)
      integer(ceed_int), value :: rank
      type(ceed_ghost), value :: ghost
      integer(ceed_int), value :: num_comp
      logical(c_bool), value :: keep_views
    end function

    integer(c_int) function ceed_multifab_get_generation(mf, generation) &
        bind(c, name="CeedlikeMultiFabGetGeneration"//SFX)
      import
      type(ceed_multifab), value :: mf
      integer(c_int64_t), intent(inout) :: generation
    end function

    integer(c_int) function ceed_multifab_set_level(mf, level, ratio) &
        bind(c, name="CeedlikeMultiFabSetLevel"//SFX)
      import
      type(ceed_multifab), value :: mf
      integer(ceed_int), value :: level
      integer(ceed_int), intent(in) :: ratio(3)
    end function

    integer(c_int) function ceed_multifab_get_level(mf, level, ratio) &
        bind(c, name="CeedlikeMultiFabGetLevel"//SFX)
      import
      type(ceed_multifab), value :: mf
      integer(ceed_int), intent(inout) :: level, ratio(3)
    end function

    integer(c_int) function ceed_multifab_get_num_boxes(mf, num_boxes) &
        bind(c, name="CeedlikeMultiFabGetNumBoxes"//SFX)
      import
      type(ceed_multifab), value :: mf
      integer(ceed_int), intent(inout) :: num_boxes
    end function

    integer(c_int) function ceed_multifab_get_num_components(mf, num_comp) &
        bind(c, name="CeedlikeMultiFabGetNumComponents"//SFX)
      import
      type(ceed_multifab), value :: mf
      integer(ceed_int), intent(inout) :: num_comp
    end function

    integer(c_int) function ceed_multifab_get_ghost(mf, ghost) &
        bind(c, name="CeedlikeMultiFabGetGhost"//SFX)
      import
      type(ceed_multifab), value :: mf
      type(ceed_ghost), intent(inout) :: ghost
    end function

    integer(c_int) function ceed_multifab_get_rank(mf, rank) &
        bind(c, name="CeedlikeMultiFabGetRank"//SFX)
      import
      type(ceed_multifab), value :: mf
      integer(ceed_int), intent(inout) :: rank
    end function

    !> Places in the list count from 0, as in C.
    integer(c_int) function ceed_multifab_get_box(mf, index, box) &
        bind(c, name="CeedlikeMultiFabGetBox"//SFX)
      import
      type(ceed_multifab), value :: mf
      integer(ceed_int), value :: index
      type(ceed_box), intent(inout) :: box
    end function

    integer(c_int) function ceed_multifab_get_owner(mf, index, owner) &
        bind(c, name="CeedlikeMultiFabGetOwner"//SFX)
      import
      type(ceed_multifab), value :: mf
      integer(ceed_int), value :: index
      integer(ceed_int), intent(inout) :: owner
    end function

    integer(c_int) function ceed_multifab_get_hull(mf, hull) &
        bind(c, name="CeedlikeMultiFabGetHull"//SFX)
      import
      type(ceed_multifab), value :: mf
      type(ceed_box), intent(inout) :: hull
    end function

    integer(c_int) function ceed_multifab_get_num_local(mf, num_local) &
        bind(c, name="CeedlikeMultiFabGetNumLocal"//SFX)
      import
      type(ceed_multifab), value :: mf
      integer(ceed_int), intent(inout) :: num_local
    end function

    integer(c_int) function ceed_multifab_get_local_index(mf, local, index) &
        bind(c, name="CeedlikeMultiFabGetLocalIndex"//SFX)
      import
      type(ceed_multifab), value :: mf
      integer(ceed_int), value :: local
      integer(ceed_int), intent(inout) :: index
    end function

    integer(c_int) function ceed_multifab_get_fab(mf, index, fab) &
        bind(c, name="CeedlikeMultiFabGetFab"//SFX)
      import
      type(ceed_multifab), value :: mf
      integer(ceed_int), value :: index
      type(ceed_fab), intent(inout) :: fab
    end function

    integer(c_int) function c_multifab_set_fab(mf, index, fab, keep_views) &
        bind(c, name="CeedlikeMultiFabSetFab"//SFX)
      import
      type(ceed_multifab), value :: mf
      integer(ceed_int), value :: index
      type(ceed_fab), value :: fab
      logical(c_bool), value :: keep_views
    end function

    integer(c_int) function ceed_multifab_set_value(mf, value) &
        bind(c, name="CeedlikeMultiFabSetValue"//SFX)
      import
      type(ceed_multifab), value :: mf
      real(ceed_scalar), value :: value
    end function

    integer(c_int) function ceed_multifab_fill_ghosts(mf, period) &
        bind(c, name="CeedlikeMultiFabFillGhosts"//SFX)
      import
      type(ceed_multifab), value :: mf
      integer(ceed_int), intent(in), optional :: period(*)
    end function

    integer(c_int) function ceed_multifab_copy(mf, mf_copy) &
        bind(c, name="CeedlikeMultiFabCopy"//SFX)
      import
      type(ceed_multifab), value :: mf, mf_copy
    end function

    integer(c_int) function c_multifab_gather(mf, with_ghosts, fill, fab, cover) &
        bind(c, name="CeedlikeMultiFabGather"//SFX)
      import
      type(ceed_multifab), value :: mf
      logical(c_bool), value :: with_ghosts
      real(ceed_scalar), value :: fill
      type(ceed_fab), value :: fab
      integer(c_int8_t), intent(inout), optional :: cover(*)
    end function

    integer(c_int) function c_multifab_view(mf, stream) bind(c, name="CeedlikeMultiFabView"//SFX)
      import
      type(ceed_multifab), value :: mf
      type(c_ptr), value :: stream
    end function

    integer(c_int) function ceed_multifab_get_ceed(mf, ceed) &
        bind(c, name="CeedlikeMultiFabGetCeed"//SFX)
      import
      type(ceed_multifab), value :: mf
      type(ceed_context), intent(inout) :: ceed
    end function

    type(ceed_context) function ceed_multifab_return_ceed(mf) &
        bind(c, name="CeedlikeMultiFabReturnCeed"//SFX)
      import
      type(ceed_multifab), value :: mf
    end function

    integer(c_int) function ceed_multifab_destroy(mf) bind(c, name="CeedlikeMultiFabDestroy"//SFX)
      import
      type(ceed_multifab), intent(inout) :: mf
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

  type(ceed_context) function ceed_vector_return_ceed(vec) result(ceed)
    type(ceed_vector), intent(in) :: vec

    ceed%handle = c_vector_return_ceed(vec)
  end function

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
  ! Boxes
  ! ----------------------------------------------------------------------------------------------

  !> A box of as many directions as there are bounds; of cells, unless `centring` is given.
  integer(c_int) function ceed_box_set(lo, hi, box, centring) result(code)
    integer(ceed_int), intent(in) :: lo(:), hi(:)
    type(ceed_box), intent(inout) :: box
    integer(ceed_int), intent(in), optional :: centring
    integer(ceed_int) :: nodes

    if (size(lo) /= size(hi)) then
      code = ceed_error(ceed_context(), ceed_error_dimension, "Bounds of different length")
      return
    end if
    nodes = 0
    if (present(centring)) nodes = centring
    code = c_box_set(size(lo, kind=ceed_int), lo, hi, nodes, box)
  end function

  integer(c_int) function ceed_box_from_text(text, box) result(code)
    character(*), intent(in) :: text
    type(ceed_box), intent(inout) :: box

    code = c_box_from_text(text//c_null_char, box)
  end function

  integer(c_int) function ceed_box_to_text(box, text) result(code)
    type(ceed_box), intent(in) :: box
    character(:), allocatable, intent(inout) :: text
    character(kind=c_char), target :: written(ceed_box_text)

    code = c_box_to_text(box, written, int(ceed_box_text, c_size_t))
    if (code == 0) text = text_at(c_loc(written))
  end function

  ! ----------------------------------------------------------------------------------------------
  ! Fabs
  ! ----------------------------------------------------------------------------------------------

  !> The fab of an array that lies so, over its memory or in new memory.
  integer(c_int) function fab_of_layout(ceed, layout, dim, ghost, copy_mode, fab) result(code)
    type(ceed_context), intent(in) :: ceed
    type(ceed_array_layout), intent(in) :: layout
    integer(ceed_int), intent(in) :: dim
    type(ceed_ghost), intent(in) :: ghost
    integer(c_int), intent(in) :: copy_mode
    type(ceed_fab), intent(inout) :: fab
    integer(ceed_int) :: num_comp
    type(ceed_box) :: box

    code = 0
    if (copy_mode == ceed_own_pointer) then
      code = ceed_error(ceed, ceed_error_unsupported, &
                        "Memory of Fortran can't be given away: use ceed_use_pointer")
    end if
    if (code == 0) code = check_dim(dim, layout)
    if (code /= 0) return
    box%dim = dim
    box%lo(:dim) = int(layout%lower(:dim), ceed_int)
    box%hi(:dim) = int(layout%lower(:dim) + layout%extent(:dim) - 1, ceed_int)
    code = ceed_box_grow(box, ceed_ghost(-ghost%lo, -ghost%hi), box)
    num_comp = 1
    if (layout%rank > dim) num_comp = int(layout%extent(layout%rank), ceed_int)
    if (code == 0 .and. copy_mode == ceed_copy_values) then
      code = ceed_fab_create(ceed, box, ghost, num_comp, fab)
    else if (code == 0) then
      code = fab_over_layout(ceed, layout, box, ghost, num_comp, copy_mode, fab)
    end if
    if (code == 0 .and. layout%rank > dim) then
      code = ceed_fab_set_component_base(fab, int(layout%lower(layout%rank), ceed_int))
    end if
  end function

  integer(c_int) function check_dim(dim, layout) result(code)
    integer(ceed_int), intent(in) :: dim
    type(ceed_array_layout), intent(in) :: layout

    code = 0
    if (dim < 1 .or. dim > 3 .or. layout%rank < dim .or. layout%rank > dim + 1) then
      code = ceed_error(ceed_context(), ceed_error_dimension, &
                        "An array of rank "//decimal(layout%rank + 0_ceed_size)//" in "// &
                        decimal(dim + 0_ceed_size)//" directions: it has an axis for each of 1 "// &
                        "to 3 directions, and one for components where there are several")
    else if (any(layout%lower < -huge(0_ceed_int) - 1_ceed_size .or. &
                 layout%lower + layout%extent > huge(0_ceed_int))) then
      code = ceed_error(ceed_context(), ceed_error_dimension, "Bounds that do not fit ceed_int")
    end if
  end function

  integer(c_int) function fab_over_layout(ceed, layout, box, ghost, num_comp, copy_mode, fab) &
      result(code)
    type(ceed_context), intent(in) :: ceed
    type(ceed_array_layout), intent(in) :: layout
    type(ceed_box), intent(in) :: box
    type(ceed_ghost), intent(in) :: ghost
    integer(ceed_int), intent(in) :: num_comp
    integer(c_int), intent(in) :: copy_mode
    type(ceed_fab), intent(inout) :: fab
    integer(ceed_size) :: strides(4)

    if (layout%contiguous) then
      code = c_fab_create_from_array(ceed, box, ghost, num_comp, ceed_mem_host, copy_mode, &
                                     array=layout%address, fab=fab)
      return
    end if
    if (any(modulo(layout%stride(:layout%rank), element_size) /= 0)) then
      code = ceed_error(ceed, ceed_error_incompatible, &
                        "The elements lie at no multiple of their size: use ceed_copy_values")
      return
    end if
    strides = 1
    strides(:box%dim) = layout%stride(:box%dim)/element_size
    if (layout%rank > box%dim) strides(4) = layout%stride(layout%rank)/element_size
    code = c_fab_create_from_array(ceed, box, ghost, num_comp, ceed_mem_host, copy_mode, &
                                   strides, layout%address, fab)
  end function

  !> How a fab's array lies, as a pointer of `rank` axes sees it.
  integer(c_int) function fab_layout(fab, rank, layout) result(code)
    type(ceed_fab), intent(in) :: fab
    integer, intent(in) :: rank
    type(ceed_array_layout), intent(out) :: layout
    integer(ceed_int) :: num_comp, base
    integer(ceed_size) :: strides(4), lengths(3)
    type(ceed_box) :: box

    code = ceed_fab_get_region(fab, ceed_region_whole, box)
    if (code == 0) code = ceed_box_get_lengths(box, lengths)
    if (code == 0) code = ceed_fab_get_num_components(fab, num_comp)
    if (code == 0) code = ceed_fab_get_component_base(fab, base)
    if (code == 0) code = ceed_fab_get_strides(fab, strides)
    if (code /= 0) return
    layout%rank = rank
    layout%lower(:3) = box%lo
    layout%extent(:3) = lengths
    layout%stride(:3) = strides(:3)
    layout%lower(box%dim + 1) = base
    layout%extent(box%dim + 1) = num_comp
    layout%stride(box%dim + 1) = strides(4)
    if (rank /= box%dim + 1 .and. (rank /= box%dim .or. num_comp /= 1)) then
      code = ceed_error(ceed_fab_return_ceed(fab), ceed_error_dimension, &
                        "A pointer of rank "//decimal(rank + 0_ceed_size)//" to a fab of "// &
                        decimal(box%dim + 0_ceed_size)//" directions and "// &
                        decimal(num_comp + 0_ceed_size)//" components")
    end if
  end function

  !> The shape of an array, of one axis more, that has a fab's entries where its first index is 1.
  integer(c_int) function parent_shape(fab, layout, parent) result(code)
    type(ceed_fab), intent(in) :: fab
    type(ceed_array_layout), intent(in) :: layout
    integer(ceed_size), intent(out) :: parent(5)
    integer(ceed_size) :: stride(4), next
    integer :: i, n

    n = layout%rank
    next = 1
    do i = 1, n
      stride(i) = stride_from(layout, i)
      if (stride(i) == 0) stride(i) = next
      next = stride(i)*max(layout%extent(i), 1_ceed_size)
    end do
    code = 0
    parent = 1
    parent(1) = stride(1)
    parent(n + 1) = layout%extent(n)
    do i = 2, n
      parent(i) = stride(i)/stride(i - 1)
      if (modulo(stride(i), stride(i - 1)) /= 0 .or. parent(i) < layout%extent(i - 1)) then
        code = ceed_error(ceed_fab_return_ceed(fab), ceed_error_incompatible, &
                          "The fab's entries do not lie as those of an array of Fortran's: "// &
                          "copy them into a fab of its own memory (ceed_fab_copy)")
        return
      end if
    end do
  end function

  !> The stride of an axis, or of the next one that has any, or 0: with one entry, any will do.
  pure integer(ceed_size) function stride_from(layout, axis) result(stride)
    type(ceed_array_layout), intent(in) :: layout
    integer, intent(in) :: axis
    integer :: i

    stride = 0
    do i = axis, layout%rank
      if (layout%extent(i) > 1) then
        stride = layout%stride(i)
        return
      end if
    end do
  end function

  !> Lend the entries of a fab, if a pointer of this rank can have them.
  integer(c_int) function lend_fab(get, fab, mem_type, rank, layout, parent) result(code)
    procedure(c_fab_get_array) :: get
    type(ceed_fab), intent(in) :: fab
    integer(c_int), intent(in) :: mem_type
    integer, intent(in) :: rank
    type(ceed_array_layout), intent(out) :: layout
    integer(ceed_size), intent(out) :: parent(5)

    code = fab_layout(fab, rank, layout)
    if (code == 0) code = parent_shape(fab, layout, parent)
    if (code == 0) code = get(fab, mem_type, layout%address)
    if (code == 0 .and. any(layout%extent(:rank) == 0)) layout%address = c_loc(nothing)
  end function

  subroutine point_1(layout, parent, a)
    type(ceed_array_layout), intent(in) :: layout
    integer(ceed_size), intent(in) :: parent(5)
    real(ceed_scalar), pointer, intent(inout) :: a(:)
    real(ceed_scalar), pointer :: p(:, :)

    call c_f_pointer(layout%address, p, parent(:2))
    a(layout%lower(1):) => p(1, :layout%extent(1))
  end subroutine

  subroutine point_2(layout, parent, a)
    type(ceed_array_layout), intent(in) :: layout
    integer(ceed_size), intent(in) :: parent(5)
    real(ceed_scalar), pointer, intent(inout) :: a(:, :)
    real(ceed_scalar), pointer :: p(:, :, :)

    call c_f_pointer(layout%address, p, parent(:3))
    a(layout%lower(1):, layout%lower(2):) => p(1, :layout%extent(1), :layout%extent(2))
  end subroutine

  subroutine point_3(layout, parent, a)
    type(ceed_array_layout), intent(in) :: layout
    integer(ceed_size), intent(in) :: parent(5)
    real(ceed_scalar), pointer, intent(inout) :: a(:, :, :)
    real(ceed_scalar), pointer :: p(:, :, :, :)

    call c_f_pointer(layout%address, p, parent(:4))
    a(layout%lower(1):, layout%lower(2):, layout%lower(3):) => &
      p(1, :layout%extent(1), :layout%extent(2), :layout%extent(3))
  end subroutine

  subroutine point_4(layout, parent, a)
    type(ceed_array_layout), intent(in) :: layout
    integer(ceed_size), intent(in) :: parent(5)
    real(ceed_scalar), pointer, intent(inout) :: a(:, :, :, :)
    real(ceed_scalar), pointer :: p(:, :, :, :, :)

    call c_f_pointer(layout%address, p, parent)
    a(layout%lower(1):, layout%lower(2):, layout%lower(3):, layout%lower(4):) => &
      p(1, :layout%extent(1), :layout%extent(2), :layout%extent(3), :layout%extent(4))
  end subroutine

  !> Let go of a borrowed array, with the current values in it. It is the caller's own, under the
  !> caller's own name.
  integer(c_int) function ceed_fab_take_array(fab, mem_type) result(code)
    type(ceed_fab), intent(in) :: fab
    integer(c_int), intent(in) :: mem_type
    type(c_ptr) :: address

    code = c_fab_take_array(fab, mem_type, address)
  end function

  !> The first index is the first axis, unless `order` says otherwise; without `region` it is the
  !> whole block, without `comp` all components.
  integer(c_int) function ceed_fab_export(fab, mem_type, mode, tensor, region, comp, num_comp, &
                                          order) result(code)
    type(ceed_fab), intent(in) :: fab
    integer(c_int), intent(in) :: mem_type, mode
    type(c_ptr), intent(inout) :: tensor
    type(ceed_box), intent(in), optional :: region
    integer(ceed_int), intent(in), optional :: comp, num_comp
    integer(c_int), intent(in), optional :: order
    integer(ceed_int) :: first, count

    code = components_of(fab, comp, num_comp, first, count)
    if (code == 0) code = c_fab_export(fab, mem_type, mode, region, first, count, &
                                       order_or_default(order), tensor)
  end function

  !> The same as a legacy tensor that shares the memory.
  integer(c_int) function ceed_fab_to_dlpack(fab, mem_type, tensor, region, comp, num_comp, order) &
      result(code)
    type(ceed_fab), intent(in) :: fab
    integer(c_int), intent(in) :: mem_type
    type(c_ptr), intent(inout) :: tensor
    type(ceed_box), intent(in), optional :: region
    integer(ceed_int), intent(in), optional :: comp, num_comp
    integer(c_int), intent(in), optional :: order
    integer(ceed_int) :: first, count

    code = components_of(fab, comp, num_comp, first, count)
    if (code == 0) code = c_fab_to_dlpack(fab, mem_type, region, first, count, &
                                          order_or_default(order), tensor)
  end function

  !> One component where only `comp` is given, all where none is.
  integer(c_int) function components_of(fab, comp, num_comp, first, count) result(code)
    type(ceed_fab), intent(in) :: fab
    integer(ceed_int), intent(in), optional :: comp, num_comp
    integer(ceed_int), intent(out) :: first, count

    code = ceed_fab_get_component_base(fab, first)
    if (code == 0) code = ceed_fab_get_num_components(fab, count)
    if (present(comp)) then
      first = comp
      count = 1
    end if
    if (present(num_comp)) count = num_comp
  end function

  integer(c_int) function order_or_default(order) result(axes)
    integer(c_int), intent(in), optional :: order

    axes = ceed_order_xyzn
    if (present(order)) axes = order
  end function

  !> It is an error that views live, unless `keep_views` is given and true.
  integer(c_int) function ceed_fab_resize(fab, box, ghost, num_comp, keep_views) result(code)
    type(ceed_fab), intent(in) :: fab
    type(ceed_box), intent(in) :: box
    type(ceed_ghost), intent(in) :: ghost
    integer(ceed_int), intent(in) :: num_comp
    logical, intent(in), optional :: keep_views

    code = c_fab_resize(fab, box, ghost, num_comp, is_true(keep_views))
  end function

  integer(c_int) function ceed_fab_replace(fab, by, keep_views) result(code)
    type(ceed_fab), intent(in) :: fab, by
    logical, intent(in), optional :: keep_views

    code = c_fab_replace(fab, by, is_true(keep_views))
  end function

  pure logical(c_bool) function is_true(given)
    logical, intent(in), optional :: given

    is_true = .false.
    if (present(given)) is_true = logical(given, c_bool)
  end function

  !> Print to a formatted unit, which is standard output unless it is given.
  integer(c_int) function ceed_fab_view(fab, unit) result(code)
    type(ceed_fab), intent(in) :: fab
    integer, intent(in), optional :: unit
    type(c_ptr) :: stream, buffer
    integer(c_size_t) :: size

    stream = open_memstream(buffer, size)
    code = c_fab_view(fab, stream)
    call print_stream(stream, buffer, size, unit, code)
  end function

  ! ----------------------------------------------------------------------------------------------
  ! MultiFabs
  ! ----------------------------------------------------------------------------------------------

  !> Without `owners` all boxes are this process's.
  integer(c_int) function ceed_multifab_create(ceed, boxes, ghost, num_comp, mf, owners, rank) &
      result(code)
    type(ceed_context), intent(in) :: ceed
    type(ceed_box), intent(in) :: boxes(:)
    type(ceed_ghost), intent(in) :: ghost
    integer(ceed_int), intent(in) :: num_comp
    type(ceed_multifab), intent(inout) :: mf
    integer(ceed_int), intent(in), optional :: owners(:), rank

    code = check_owners(boxes, owners)
    if (code /= 0) return
    code = c_multifab_create(ceed, size(boxes, kind=ceed_int), boxes, owners, rank_of(rank), &
                             ghost, num_comp, mf)
  end function

  !> It is an error that views live, unless `keep_views` is given and true.
  integer(c_int) function ceed_multifab_redefine(mf, boxes, ghost, num_comp, owners, rank, &
                                                 keep_views) result(code)
    type(ceed_multifab), intent(in) :: mf
    type(ceed_box), intent(in) :: boxes(:)
    type(ceed_ghost), intent(in) :: ghost
    integer(ceed_int), intent(in) :: num_comp
    integer(ceed_int), intent(in), optional :: owners(:), rank
    logical, intent(in), optional :: keep_views

    code = check_owners(boxes, owners)
    if (code /= 0) return
    code = c_multifab_redefine(mf, size(boxes, kind=ceed_int), boxes, owners, rank_of(rank), &
                               ghost, num_comp, is_true(keep_views))
  end function

  integer(c_int) function check_owners(boxes, owners) result(code)
    type(ceed_box), intent(in) :: boxes(:)
    integer(ceed_int), intent(in), optional :: owners(:)

    code = 0
    if (present(owners)) then
      if (size(owners) /= size(boxes)) then
        code = ceed_error(ceed_context(), ceed_error_dimension, &
                          "Boxes and owners of different number")
      end if
    end if
  end function

  pure integer(ceed_int) function rank_of(rank)
    integer(ceed_int), intent(in), optional :: rank

    rank_of = 0
    if (present(rank)) rank_of = rank
  end function

  integer(c_int) function ceed_multifab_set_fab(mf, index, fab, keep_views) result(code)
    type(ceed_multifab), intent(in) :: mf
    integer(ceed_int), intent(in) :: index
    type(ceed_fab), intent(in) :: fab
    logical, intent(in), optional :: keep_views

    code = c_multifab_set_fab(mf, index, fab, is_true(keep_views))
  end function

  !> `cover` has an element for each cell of the whole block of `fab`.
  integer(c_int) function ceed_multifab_gather(mf, with_ghosts, fill, fab, cover) result(code)
    type(ceed_multifab), intent(in) :: mf
    logical, intent(in) :: with_ghosts
    real(ceed_scalar), intent(in) :: fill
    type(ceed_fab), intent(in) :: fab
    integer(c_int8_t), intent(inout), optional :: cover(*)

    code = c_multifab_gather(mf, is_true(with_ghosts), fill, fab, cover)
  end function

  !> Print to a formatted unit, which is standard output unless it is given.
  integer(c_int) function ceed_multifab_view(mf, unit) result(code)
    type(ceed_multifab), intent(in) :: mf
    integer, intent(in), optional :: unit
    type(c_ptr) :: stream, buffer
    integer(c_size_t) :: size

    stream = open_memstream(buffer, size)
    code = c_multifab_view(mf, stream)
    call print_stream(stream, buffer, size, unit, code)
  end function

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
