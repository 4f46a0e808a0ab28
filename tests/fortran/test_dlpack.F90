! SPDX-License-Identifier: BSD-2-Clause
!> Tensors from vectors and arrays, and vectors from tensors, without any Python.
#define HERE __FILE__, __LINE__
program test_dlpack
  use, intrinsic :: iso_c_binding
#ifdef CEEDLIKE_SINGLE
  use ceedlike_f32
#else
  use ceedlike
#endif
  use testing
  implicit none
  integer, parameter :: s = ceed_scalar
  integer(c_int64_t), parameter :: read_only = 1, is_copied = 2

  call run("the_structs_have_the_sizes_of_dlpack", the_structs_have_the_sizes_of_dlpack)
  call run("a_versioned_tensor_says_what_the_vector_is", a_versioned_tensor_says_what_the_vector_is)
  call run("a_legacy_tensor_says_what_the_vector_is", a_legacy_tensor_says_what_the_vector_is)
  call run("without_strides_the_first_index_is_the_fastest", &
           without_strides_the_first_index_is_the_fastest)
  call run("given_strides_are_kept", given_strides_are_kept)
  call run("shapes_that_reach_outside_are_errors", shapes_that_reach_outside_are_errors)
  call run("a_lease_forbids_to_write", a_lease_forbids_to_write)
  call run("a_copy_is_private_and_says_so", a_copy_is_private_and_says_so)
  call run("exported_memory_outlives_the_vector", exported_memory_outlives_the_vector)
  call run("adopting_shares_the_memory", adopting_shares_the_memory)
  call run("a_vector_is_created_with_the_tensors_number_of_entries", &
           a_vector_is_created_with_the_tensors_number_of_entries)
  call run("another_number_of_entries_is_an_error_with_both", &
           another_number_of_entries_is_an_error_with_both)
  call run("another_precision_is_an_error_that_names_both", &
           another_precision_is_an_error_that_names_both)
  call run("a_wrapped_array_is_a_tensor_in_c_order", a_wrapped_array_is_a_tensor_in_c_order)
  call run("a_section_is_not_wrapped", a_section_is_not_wrapped)
  call run("a_spec_is_matched_or_says_what_differs", a_spec_is_matched_or_says_what_differs)
  call run("deleting_sets_null_and_is_safe_twice", deleting_sets_null_and_is_safe_twice)
  call run("view_tells_what_a_tensor_says", view_tells_what_a_tensor_says)
  call finish

contains

  function tensor_at(address) result(tensor)
    type(c_ptr), intent(in) :: address
    type(dl_managed_tensor_versioned), pointer :: managed
    type(dl_tensor), pointer :: tensor

    call c_f_pointer(address, managed)
    tensor => managed%tensor
  end function

  function axes(address, tensor) result(numbers)
    type(c_ptr), intent(in) :: address
    type(dl_tensor), intent(in) :: tensor
    integer(c_int64_t), pointer :: numbers(:)

    call c_f_pointer(address, numbers, [tensor%ndim])
  end function

  subroutine the_structs_have_the_sizes_of_dlpack
    type(dl_tensor) :: tensor
    type(dl_managed_tensor) :: legacy
    type(dl_managed_tensor_versioned) :: versioned

    if (bad(HERE, c_sizeof(tensor) == 48)) return
    if (bad(HERE, c_sizeof(legacy) == 64)) return
    if (bad(HERE, c_sizeof(versioned) == 80)) return
  end subroutine

  subroutine a_versioned_tensor_says_what_the_vector_is
    type(ceed_vector) :: x
    type(c_ptr) :: address
    type(dl_managed_tensor_versioned), pointer :: managed
    integer(c_int32_t) :: device_type, device_id
    integer(c_int) :: mem_type

    x = iota(3)
    if (bad(HERE, ceed_vector_to_dlpack_versioned(ceed, x, ceed_mem_host, address))) return
    call c_f_pointer(address, managed)
    if (bad(HERE, managed%version%major == 1 .and. managed%flags == 0)) return
    if (bad(HERE, managed%tensor%ndim == 1 .and. managed%tensor%dtype%code == 2)) return
    if (bad(HERE, managed%tensor%dtype%bits == storage_size(1._s))) return
    if (bad(HERE, all(axes(managed%tensor%shape, managed%tensor) == 3))) return
    if (bad(HERE, ceed_vector_get_dlpack_device(x, ceed_mem_host, device_type, device_id))) return
    if (bad(HERE, managed%tensor%device%device_type == device_type .and. device_type == 1)) return
    if (bad(HERE, ceed_dlpack_get_mem_type_versioned(address, mem_type))) return
    if (bad(HERE, mem_type == ceed_mem_host)) return
    if (bad(HERE, ceed_dlpack_delete_versioned(address))) return
    if (bad(HERE, ceed_vector_destroy(x))) return
  end subroutine

  subroutine a_legacy_tensor_says_what_the_vector_is
    type(ceed_vector) :: x
    type(c_ptr) :: address
    type(dl_managed_tensor), pointer :: managed
    integer(c_int) :: mem_type
    real(s), pointer :: a(:)

    x = iota(3)
    if (bad(HERE, ceed_vector_to_dlpack(ceed, x, ceed_mem_host, address))) return
    call c_f_pointer(address, managed)
    if (bad(HERE, managed%tensor%ndim == 1 .and. managed%tensor%dtype%code == 2)) return
    call c_f_pointer(managed%tensor%data, a, [3])
    if (bad(HERE, all(a == [1, 2, 3]))) return
    if (bad(HERE, ceed_dlpack_get_mem_type(address, mem_type))) return
    if (bad(HERE, mem_type == ceed_mem_host)) return
    if (bad(HERE, ceed_dlpack_delete(address))) return
    if (bad(HERE, ceed_vector_destroy(x))) return
  end subroutine

  subroutine without_strides_the_first_index_is_the_fastest
    type(ceed_vector) :: x
    type(c_ptr) :: address
    type(dl_tensor), pointer :: tensor

    x = iota(24)
    if (bad(HERE, ceed_vector_export(x, ceed_mem_host, ceed_export_shared, [2, 3, 4], &
                                     address))) return
    tensor => tensor_at(address)
    if (bad(HERE, all(axes(tensor%shape, tensor) == [2, 3, 4]))) return
    if (bad(HERE, all(axes(tensor%strides, tensor) == [1, 2, 6]))) return
    if (bad(HERE, ceed_dlpack_delete_versioned(address))) return
    if (bad(HERE, ceed_vector_destroy(x))) return
  end subroutine

  subroutine given_strides_are_kept
    type(ceed_vector) :: x
    type(c_ptr) :: address
    type(dl_tensor), pointer :: tensor

    x = iota(6)
    if (bad(HERE, ceed_vector_export(x, ceed_mem_host, ceed_export_shared, [2, 3], address, &
                                     strides=[3, 1]))) return
    tensor => tensor_at(address)
    if (bad(HERE, all(axes(tensor%strides, tensor) == [3, 1]))) return
    if (bad(HERE, ceed_dlpack_delete_versioned(address))) return
    if (bad(HERE, ceed_vector_export(x, ceed_mem_host, ceed_export_shared, [2, 3], address, &
                                     strides=[3]), ceed_error_dimension)) return
    if (bad(HERE, ceed_vector_destroy(x))) return
  end subroutine

  subroutine shapes_that_reach_outside_are_errors
    type(ceed_vector) :: x
    type(c_ptr) :: address

    address = c_null_ptr
    x = iota(6)
    if (bad(HERE, ceed_vector_export(x, ceed_mem_host, ceed_export_shared, [2, 4], address), &
            ceed_error_dimension)) return
    if (bad(HERE, .not. c_associated(address))) return
    if (bad(HERE, ceed_vector_destroy(x))) return
  end subroutine

  subroutine a_lease_forbids_to_write
    type(ceed_vector) :: x
    type(c_ptr) :: address
    integer(ceed_size) :: count = -1

    x = iota(2)
    if (bad(HERE, ceed_vector_export(x, ceed_mem_host, ceed_export_read, [2], address))) return
    if (bad(HERE, ceed_vector_get_export_count(x, count))) return
    if (bad(HERE, count == 1)) return
    if (bad(HERE, ceed_vector_scale(x, 2._s), ceed_error_access)) return
    if (bad(HERE, ceed_dlpack_delete_versioned(address))) return
    if (bad(HERE, ceed_vector_scale(x, 2._s))) return
    if (bad(HERE, ceed_vector_destroy(x))) return
  end subroutine

  subroutine a_copy_is_private_and_says_so
    type(ceed_vector) :: x
    type(c_ptr) :: address
    type(dl_managed_tensor_versioned), pointer :: managed
    real(s), pointer :: a(:)

    x = iota(2)
    if (bad(HERE, ceed_vector_export(x, ceed_mem_host, ceed_export_copy, [2], address))) return
    call c_f_pointer(address, managed)
    call c_f_pointer(managed%tensor%data, a, [2])
    if (bad(HERE, iand(managed%flags, is_copied) /= 0)) return
    if (bad(HERE, ceed_vector_set_value(x, 0._s))) return
    if (bad(HERE, all(a == [1, 2]))) return
    if (bad(HERE, ceed_dlpack_delete_versioned(address))) return
    if (bad(HERE, ceed_vector_destroy(x))) return
  end subroutine

  subroutine exported_memory_outlives_the_vector
    type(ceed_vector) :: x
    type(c_ptr) :: address
    type(dl_tensor), pointer :: tensor
    real(s), pointer :: a(:)

    x = iota(3)
    if (bad(HERE, ceed_vector_to_dlpack_versioned(ceed, x, ceed_mem_host, address))) return
    if (bad(HERE, ceed_vector_destroy(x))) return
    tensor => tensor_at(address)
    call c_f_pointer(tensor%data, a, [3])
    if (bad(HERE, all(a == [1, 2, 3]))) return
    if (bad(HERE, ceed_dlpack_delete_versioned(address))) return
  end subroutine

  subroutine adopting_shares_the_memory
    type(ceed_vector) :: x, y
    type(c_ptr) :: address

    x = iota(3)
    y = iota(3)
    if (bad(HERE, ceed_vector_to_dlpack(ceed_context(), x, ceed_mem_host, address))) return
    if (bad(HERE, ceed_vector_take_from_dlpack(ceed_context(), y, address, &
                                               ceed_use_pointer))) return
    if (bad(HERE, ceed_vector_set_value(y, 8._s))) return
    if (bad(HERE, values_are(x, [8._s, 8._s, 8._s]))) return
    if (bad(HERE, ceed_vector_destroy(x))) return
    if (bad(HERE, values_are(y, [8._s, 8._s, 8._s]))) return
    if (bad(HERE, ceed_vector_destroy(y))) return
  end subroutine

  subroutine a_vector_is_created_with_the_tensors_number_of_entries
    type(ceed_vector) :: x, y, z
    type(c_ptr) :: address

    x = iota(6)
    if (bad(HERE, ceed_vector_to_dlpack(ceed, x, ceed_mem_host, address))) return
    if (bad(HERE, ceed_vector_create_from_dlpack(ceed, address, ceed_own_pointer, y))) return
    if (bad(HERE, values_are(y, [1._s, 2._s, 3._s, 4._s, 5._s, 6._s]))) return
    if (bad(HERE, ceed_vector_export(x, ceed_mem_host, ceed_export_shared, [2, 3], address))) return
    if (bad(HERE, ceed_vector_create_from_dlpack_versioned(ceed, address, ceed_copy_values, &
                                                           z))) return
    ! Taking flattens in C order, the last axis fastest, whatever the order of the memory.
    if (bad(HERE, values_are(z, [1._s, 3._s, 5._s, 2._s, 4._s, 6._s]))) return
    if (bad(HERE, ceed_vector_destroy(x))) return
    if (bad(HERE, ceed_vector_destroy(y))) return
    if (bad(HERE, ceed_vector_destroy(z))) return
  end subroutine

  subroutine another_number_of_entries_is_an_error_with_both
    type(ceed_vector) :: x, y
    type(c_ptr) :: address

    x = iota(4)
    y = iota(3)
    if (bad(HERE, ceed_vector_to_dlpack_versioned(ceed, x, ceed_mem_host, address))) return
    if (bad(HERE, ceed_vector_take_from_dlpack_versioned(ceed, y, address, ceed_copy_values), &
            ceed_error_dimension)) return
    if (bad(HERE, says("4"))) return
    if (bad(HERE, says("3"))) return
    if (bad(HERE, ceed_dlpack_delete_versioned(address))) return
    if (bad(HERE, ceed_vector_destroy(x))) return
    if (bad(HERE, ceed_vector_destroy(y))) return
  end subroutine

  subroutine another_precision_is_an_error_that_names_both
    type(ceed_vector) :: x, y
    type(c_ptr) :: address
    type(dl_tensor), pointer :: tensor

    x = iota(2)
    y = iota(2)
    if (bad(HERE, ceed_vector_to_dlpack_versioned(ceed, x, ceed_mem_host, address))) return
    tensor => tensor_at(address)
    tensor%dtype%bits = 96 - storage_size(1._s)
    if (bad(HERE, ceed_vector_take_from_dlpack_versioned(ceed, y, address, ceed_copy_values), &
            ceed_error_incompatible)) return
    if (bad(HERE, says("float32"))) return
    if (bad(HERE, says("float64"))) return
    if (bad(HERE, ceed_dlpack_delete_versioned(address))) return
    if (bad(HERE, ceed_vector_destroy(x))) return
    if (bad(HERE, ceed_vector_destroy(y))) return
  end subroutine

  subroutine a_wrapped_array_is_a_tensor_in_c_order
    real(s), target :: u(0:1, 3, 4)
    type(c_ptr) :: address
    type(dl_managed_tensor_versioned), pointer :: managed

    u = 1
    if (bad(HERE, ceed_dlpack_wrap(u, ceed_mem_host, .true., address))) return
    call c_f_pointer(address, managed)
    if (bad(HERE, all(axes(managed%tensor%shape, managed%tensor) == [4, 3, 2]))) return
    if (bad(HERE, c_associated(managed%tensor%data, c_loc(u)))) return
    if (bad(HERE, iand(managed%flags, read_only) /= 0)) return
    if (bad(HERE, ceed_dlpack_delete_versioned(address))) return
  end subroutine

  subroutine a_section_is_not_wrapped
    real(s), target :: u(4)
    type(c_ptr) :: address

    if (bad(HERE, ceed_dlpack_wrap(u(1:3:2), ceed_mem_host, .false., address), &
            ceed_error_incompatible)) return
    if (bad(HERE, says("contiguous"))) return
  end subroutine

  subroutine a_spec_is_matched_or_says_what_differs
    real(s), target :: u(2, 3)
    integer(c_int64_t), target :: wanted(2) = [3, -1]
    type(c_ptr) :: address

    u = 0
    if (bad(HERE, ceed_dlpack_wrap(u, ceed_mem_host, .true., address))) return
    if (bad(HERE, ceed_dlpack_check(address, .true., ceed_dlpack_spec()))) return
    if (bad(HERE, ceed_dlpack_check(address, .true., ceed_dlpack_spec( &
      code=2, bits=storage_size(1._s), ndim=2, shape=c_loc(wanted), contiguous=.true._c_bool)))) &
      return
    if (bad(HERE, ceed_dlpack_check(address, .true., ceed_dlpack_spec(ndim=3)), &
            ceed_error_dimension)) return
    if (bad(HERE, ceed_dlpack_check(address, .true., ceed_dlpack_spec(code=0)), &
            ceed_error_incompatible)) return
    if (bad(HERE, ceed_dlpack_check(address, .true., &
            ceed_dlpack_spec(writable=.true._c_bool)), ceed_error_access)) return
    if (bad(HERE, ceed_dlpack_delete_versioned(address))) return
  end subroutine

  subroutine deleting_sets_null_and_is_safe_twice
    type(ceed_vector) :: x
    type(c_ptr) :: address
    integer(ceed_size) :: count = -1

    x = iota(2)
    if (bad(HERE, ceed_vector_to_dlpack(ceed, x, ceed_mem_host, address))) return
    if (bad(HERE, ceed_dlpack_delete(address))) return
    if (bad(HERE, .not. c_associated(address))) return
    if (bad(HERE, ceed_dlpack_delete(address))) return
    if (bad(HERE, ceed_dlpack_delete_versioned(address))) return
    if (bad(HERE, ceed_vector_get_export_count(x, count))) return
    if (bad(HERE, count == 0)) return
    if (bad(HERE, ceed_vector_destroy(x))) return
  end subroutine

  subroutine view_tells_what_a_tensor_says
    real(s), target :: u(2, 3)
    type(c_ptr) :: versioned, legacy
    type(ceed_vector) :: x
    character(200) :: line
    integer :: unit, status
    logical :: shape_is_told, length_is_told

    x = iota(7)
    open (newunit=unit, status="scratch")
    if (bad(HERE, ceed_dlpack_wrap(u, ceed_mem_host, .false., versioned))) return
    if (bad(HERE, ceed_vector_to_dlpack(ceed, x, ceed_mem_host, legacy))) return
    if (bad(HERE, ceed_dlpack_view_versioned(versioned, unit))) return
    if (bad(HERE, ceed_dlpack_view(legacy, unit))) return
    rewind (unit)
    shape_is_told = .false.
    length_is_told = .false.
    do
      read (unit, "(a)", iostat=status) line
      if (status /= 0) exit
      shape_is_told = shape_is_told .or. index(line, "3, 2") > 0
      length_is_told = length_is_told .or. index(line, "7") > 0
    end do
    close (unit)
    if (bad(HERE, shape_is_told .and. length_is_told)) return
    if (bad(HERE, ceed_dlpack_delete_versioned(versioned))) return
    if (bad(HERE, ceed_dlpack_delete(legacy))) return
    if (bad(HERE, ceed_vector_destroy(x))) return
  end subroutine
end program
