! SPDX-License-Identifier: BSD-2-Clause
!> Vectors: life, access, arithmetic and what is printed of them.
#define HERE __FILE__, __LINE__
program test_vector
  use, intrinsic :: iso_c_binding
#ifdef CEEDLIKE_SINGLE
  use ceedlike_f32
#else
  use ceedlike
#endif
  use testing
  implicit none
  integer, parameter :: s = ceed_scalar

  call run("a_vector_knows_its_length", a_vector_knows_its_length)
  call run("a_negative_length_is_an_error", a_negative_length_is_an_error)
  call run("destroy_sets_null_and_is_safe_twice", destroy_sets_null_and_is_safe_twice)
  call run("a_reference_copy_is_the_same_object_and_outlives_the_first", &
           a_reference_copy_is_the_same_object_and_outlives_the_first)
  call run("assignment_copies_the_handle", assignment_copies_the_handle)
  call run("a_vector_gives_a_reference_of_its_context", a_vector_gives_a_reference_of_its_context)
  call run("null_vectors_are_errors", null_vectors_are_errors)
  call run("a_context_given_as_a_vector_is_an_error_that_says_so", &
           a_context_given_as_a_vector_is_an_error_that_says_so)
  call run("device_memory_of_a_host_context_is_an_error_that_says_so", &
           device_memory_of_a_host_context_is_an_error_that_says_so)
  call run("reading_a_vector_without_values_is_an_error", &
           reading_a_vector_without_values_is_an_error)
  call run("get_array_reads_and_writes", get_array_reads_and_writes)
  call run("one_writer_excludes_everybody", one_writer_excludes_everybody)
  call run("restoring_twice_is_an_error", restoring_twice_is_an_error)
  call run("restoring_another_array_is_an_error_and_keeps_the_access", &
           restoring_another_array_is_an_error_and_keeps_the_access)
  call run("a_vector_whose_array_is_out_is_not_destroyed", &
           a_vector_whose_array_is_out_is_not_destroyed)
  call run("taking_what_was_not_borrowed_is_an_error", taking_what_was_not_borrowed_is_an_error)
  call run("copy_gives_equal_vectors_with_memory_of_their_own", &
           copy_gives_equal_vectors_with_memory_of_their_own)
  call run("a_strided_copy_touches_its_range_only", a_strided_copy_touches_its_range_only)
  call run("setting_a_strided_range_touches_its_entries_only", &
           setting_a_strided_range_touches_its_entries_only)
  call run("the_state_grows_by_two_with_every_write", the_state_grows_by_two_with_every_write)
  call run("memory_comes_with_the_first_write", memory_comes_with_the_first_write)
  call run("norms_have_their_known_values", norms_have_their_known_values)
  call run("arithmetic_is_that_of_fortran", arithmetic_is_that_of_fortran)
  call run("view_prints_the_length_and_an_entry_a_line", view_prints_the_length_and_an_entry_a_line)
  call run("view_range_prints_its_entries_only", view_range_prints_its_entries_only)
  call run("views_into_units_that_cannot_be_written_to_are_errors", &
           views_into_units_that_cannot_be_written_to_are_errors)
  call finish

contains

  subroutine views_into_units_that_cannot_be_written_to_are_errors
    type(ceed_vector) :: x
    integer :: unit
    logical :: is_open

    x = iota(2)
    open (newunit=unit, status="scratch", form="unformatted")
    if (bad(HERE, ceed_vector_view(x, "%g", unit), ceed_error_incompatible)) return
    if (bad(HERE, says("is not open for formatted writing"))) return
    if (bad(HERE, ceed_vector_view(x, "%g", 77), ceed_error_incompatible)) return
    if (bad(HERE, ceed_view(ceed, 77), ceed_error_incompatible)) return
    inquire (77, opened=is_open)
    if (bad(HERE, .not. is_open)) return
    if (bad(HERE, ceed_vector_destroy(x))) return
  end subroutine

  subroutine a_vector_knows_its_length
    type(ceed_vector) :: x, y
    integer(ceed_size) :: length = -1

    if (bad(HERE, ceed_vector_create(ceed, 17, x))) return
    if (bad(HERE, ceed_vector_create(ceed, 18_ceed_size, y))) return
    if (bad(HERE, ceed_vector_get_length(x, length))) return
    if (bad(HERE, length == 17)) return
    if (bad(HERE, ceed_vector_get_length(y, length))) return
    if (bad(HERE, length == 18)) return
    if (bad(HERE, ceed_vector_destroy(x))) return
    if (bad(HERE, ceed_vector_destroy(y))) return
  end subroutine

  subroutine a_negative_length_is_an_error
    type(ceed_vector) :: x

    if (bad(HERE, ceed_vector_create(ceed, -1, x), ceed_error_dimension)) return
    if (bad(HERE, says("-1"))) return
    if (bad(HERE, .not. c_associated(x%handle))) return
  end subroutine

  subroutine destroy_sets_null_and_is_safe_twice
    type(ceed_vector) :: x

    x = iota(3)
    if (bad(HERE, ceed_vector_destroy(x))) return
    if (bad(HERE, .not. c_associated(x%handle))) return
    if (bad(HERE, ceed_vector_destroy(x))) return
  end subroutine

  subroutine a_reference_copy_is_the_same_object_and_outlives_the_first
    type(ceed_vector) :: x, y

    x = iota(2)
    if (bad(HERE, ceed_vector_reference_copy(x, y))) return
    if (bad(HERE, c_associated(x%handle, y%handle))) return
    if (bad(HERE, ceed_vector_destroy(x))) return
    if (bad(HERE, values_are(y, [1._s, 2._s]))) return
    if (bad(HERE, ceed_vector_destroy(y))) return
  end subroutine

  subroutine assignment_copies_the_handle
    type(ceed_vector) :: x, y

    x = iota(2)
    y = x
    if (bad(HERE, ceed_vector_set_value(y, 5._s))) return
    if (bad(HERE, values_are(x, [5._s, 5._s]))) return
    if (bad(HERE, ceed_vector_destroy(x))) return
  end subroutine

  subroutine a_vector_gives_a_reference_of_its_context
    type(ceed_vector) :: x
    type(ceed_context) :: given, lent

    x = iota(1)
    if (bad(HERE, ceed_vector_get_ceed(x, given))) return
    lent = ceed_vector_return_ceed(x)
    if (bad(HERE, c_associated(given%handle, ceed%handle))) return
    if (bad(HERE, c_associated(lent%handle, ceed%handle))) return
    if (bad(HERE, ceed_destroy(given))) return
    if (bad(HERE, ceed_vector_destroy(x))) return
  end subroutine

  subroutine null_vectors_are_errors
    type(ceed_vector) :: none, other
    real(s), pointer :: a(:)
    real(s), target :: u(1)
    real(s) :: norm
    type(c_ptr) :: tensor

    if (bad(HERE, ceed_vector_set_value(none, 1._s), ceed_error_incompatible)) return
    if (bad(HERE, says("The CeedVector handle is NULL"))) return
    if (bad(HERE, ceed_vector_get_array(none, ceed_mem_host, a), ceed_error_incompatible)) return
    u = 1
    if (bad(HERE, ceed_vector_set_array(none, ceed_mem_host, ceed_copy_values, u), &
            ceed_error_incompatible)) return
    if (bad(HERE, ceed_vector_norm(none, ceed_norm_1, norm), ceed_error_incompatible)) return
    if (bad(HERE, ceed_vector_reference_copy(none, other), ceed_error_incompatible)) return
    if (bad(HERE, ceed_vector_export(none, ceed_mem_host, ceed_export_read, [1], tensor), &
            ceed_error_incompatible)) return
    if (bad(HERE, ceed_vector_view(none, ""), ceed_error_incompatible)) return
  end subroutine

  subroutine a_context_given_as_a_vector_is_an_error_that_says_so
    if (bad(HERE, ceed_vector_set_value(ceed_vector(ceed%handle), 1._s), &
            ceed_error_incompatible)) return
    if (bad(HERE, says("is a Ceed"))) return
    if (bad(HERE, says("CeedVector"))) return
  end subroutine

  subroutine device_memory_of_a_host_context_is_an_error_that_says_so
    type(ceed_vector) :: x
    real(s), pointer :: a(:)

    x = iota(2)
    if (bad(HERE, ceed_vector_get_array(x, ceed_mem_device, a), ceed_error_backend)) return
    if (bad(HERE, says("device"))) return
    if (bad(HERE, ceed_vector_sync_array(x, ceed_mem_device), ceed_error_backend)) return
    if (bad(HERE, ceed_vector_sync_array(x, ceed_mem_host))) return
    if (bad(HERE, ceed_vector_destroy(x))) return
  end subroutine

  subroutine reading_a_vector_without_values_is_an_error
    type(ceed_vector) :: x
    real(s), pointer :: a(:)

    nullify (a)
    if (bad(HERE, ceed_vector_create(ceed, 3, x))) return
    if (bad(HERE, ceed_vector_get_array_read(x, ceed_mem_host, a), ceed_error_incomplete)) return
    if (bad(HERE, ceed_vector_get_array(x, ceed_mem_host, a), ceed_error_incomplete)) return
    if (bad(HERE, .not. associated(a))) return
    if (bad(HERE, ceed_vector_destroy(x))) return
  end subroutine

  subroutine get_array_reads_and_writes
    type(ceed_vector) :: x
    real(s), pointer :: a(:)

    x = iota(3)
    if (bad(HERE, ceed_vector_get_array(x, ceed_mem_host, a))) return
    if (bad(HERE, size(a) == 3 .and. lbound(a, 1) == 1)) return
    a = 2*a
    if (bad(HERE, ceed_vector_restore_array(x, a))) return
    if (bad(HERE, .not. associated(a))) return
    if (bad(HERE, values_are(x, [2._s, 4._s, 6._s]))) return
    if (bad(HERE, ceed_vector_destroy(x))) return
  end subroutine

  subroutine one_writer_excludes_everybody
    type(ceed_vector) :: x
    real(s), pointer :: a(:), b(:)

    x = iota(3)
    if (bad(HERE, ceed_vector_get_array(x, ceed_mem_host, a))) return
    if (bad(HERE, ceed_vector_get_array(x, ceed_mem_host, b), ceed_error_access)) return
    if (bad(HERE, ceed_vector_get_array_read(x, ceed_mem_host, b), ceed_error_access)) return
    if (bad(HERE, ceed_vector_restore_array(x, a))) return
    if (bad(HERE, ceed_vector_destroy(x))) return
  end subroutine

  subroutine restoring_twice_is_an_error
    type(ceed_vector) :: x
    real(s), pointer :: a(:)

    x = iota(3)
    if (bad(HERE, ceed_vector_get_array_read(x, ceed_mem_host, a))) return
    if (bad(HERE, ceed_vector_restore_array_read(x, a))) return
    if (bad(HERE, ceed_vector_restore_array_read(x, a), ceed_error_access)) return
    if (bad(HERE, ceed_vector_restore_array(x, a), ceed_error_access)) return
    if (bad(HERE, ceed_vector_destroy(x))) return
  end subroutine

  subroutine restoring_another_array_is_an_error_and_keeps_the_access
    type(ceed_vector) :: x
    real(s), pointer :: a(:), b(:)
    real(s), target :: other(3)

    x = iota(3)
    b => other
    if (bad(HERE, ceed_vector_get_array(x, ceed_mem_host, a))) return
    if (bad(HERE, ceed_vector_restore_array(x, b), ceed_error_incompatible)) return
    if (bad(HERE, associated(b, other))) return
    nullify (b)
    if (bad(HERE, ceed_vector_restore_array(x, b), ceed_error_incompatible)) return
    if (bad(HERE, ceed_vector_restore_array(x, a))) return
    if (bad(HERE, ceed_vector_destroy(x))) return
  end subroutine

  subroutine a_vector_whose_array_is_out_is_not_destroyed
    type(ceed_vector) :: x
    real(s), pointer :: a(:)

    x = iota(3)
    if (bad(HERE, ceed_vector_get_array(x, ceed_mem_host, a))) return
    if (bad(HERE, ceed_vector_destroy(x), ceed_error_access)) return
    if (bad(HERE, c_associated(x%handle))) return
    if (bad(HERE, ceed_vector_restore_array(x, a))) return
    if (bad(HERE, ceed_vector_destroy(x))) return
  end subroutine

  subroutine taking_what_was_not_borrowed_is_an_error
    type(ceed_vector) :: x

    x = iota(3)
    if (bad(HERE, ceed_vector_take_array(x, ceed_mem_host), ceed_error_access)) return
    if (bad(HERE, values_are(x, [1._s, 2._s, 3._s]))) return
    if (bad(HERE, ceed_vector_destroy(x))) return
  end subroutine

  subroutine copy_gives_equal_vectors_with_memory_of_their_own
    type(ceed_vector) :: x, y

    x = iota(3)
    if (bad(HERE, ceed_vector_create(ceed, 3, y))) return
    if (bad(HERE, ceed_vector_copy(x, y))) return
    if (bad(HERE, ceed_vector_set_value(x, 0._s))) return
    if (bad(HERE, values_are(y, [1._s, 2._s, 3._s]))) return
    if (bad(HERE, ceed_vector_destroy(x))) return
    if (bad(HERE, ceed_vector_destroy(y))) return
  end subroutine

  subroutine a_strided_copy_touches_its_range_only
    type(ceed_vector) :: x, y

    x = iota(5)
    if (bad(HERE, ceed_vector_create(ceed, 5, y))) return
    if (bad(HERE, ceed_vector_set_value(y, 0._s))) return
    if (bad(HERE, ceed_vector_copy_strided(x, 1_ceed_size, -1_ceed_size, 2_ceed_size, y))) return
    if (bad(HERE, values_are(y, [0._s, 2._s, 0._s, 4._s, 0._s]))) return
    if (bad(HERE, ceed_vector_destroy(x))) return
    if (bad(HERE, ceed_vector_destroy(y))) return
  end subroutine

  subroutine setting_a_strided_range_touches_its_entries_only
    type(ceed_vector) :: x

    x = iota(4)
    if (bad(HERE, ceed_vector_set_value_strided(x, 0_ceed_size, 3_ceed_size, 2_ceed_size, &
                                                9._s))) return
    if (bad(HERE, values_are(x, [9._s, 2._s, 9._s, 4._s]))) return
    if (bad(HERE, ceed_vector_destroy(x))) return
  end subroutine

  subroutine the_state_grows_by_two_with_every_write
    type(ceed_vector) :: x
    integer(c_int64_t) :: before = -1, after = -1

    x = iota(2)
    if (bad(HERE, ceed_vector_get_state(x, before))) return
    if (bad(HERE, ceed_vector_scale(x, 2._s))) return
    if (bad(HERE, ceed_vector_get_state(x, after))) return
    if (bad(HERE, after == before + 2)) return
    if (bad(HERE, ceed_vector_destroy(x))) return
  end subroutine

  subroutine memory_comes_with_the_first_write
    type(ceed_vector) :: x
    logical(c_bool) :: held(0:1), current(0:1)

    if (bad(HERE, ceed_vector_create(ceed, 2, x))) return
    if (bad(HERE, ceed_vector_get_mem_types(x, held, current))) return
    if (bad(HERE, count(held) == 0 .and. count(current) == 0)) return
    if (bad(HERE, ceed_vector_set_value(x, 1._s))) return
    if (bad(HERE, ceed_vector_get_mem_types(x, held, current))) return
    if (bad(HERE, logical(held(ceed_mem_host) .and. current(ceed_mem_host)))) return
    if (bad(HERE, count(held) == 1)) return
    if (bad(HERE, ceed_vector_destroy(x))) return
  end subroutine

  subroutine norms_have_their_known_values
    type(ceed_vector) :: x
    real(s), target :: a(2) = [3._s, -4._s]
    real(s) :: norm(3)

    x = iota(2)
    if (bad(HERE, ceed_vector_set_array(x, ceed_mem_host, ceed_copy_values, a))) return
    if (bad(HERE, ceed_vector_norm(x, ceed_norm_1, norm(1)))) return
    if (bad(HERE, ceed_vector_norm(x, ceed_norm_2, norm(2)))) return
    if (bad(HERE, ceed_vector_norm(x, ceed_norm_max, norm(3)))) return
    if (bad(HERE, all(norm == [7._s, 5._s, 4._s]))) return
    if (bad(HERE, ceed_vector_destroy(x))) return
  end subroutine

  subroutine arithmetic_is_that_of_fortran
    type(ceed_vector) :: x, y
    real(s) :: a(3) = [1, 2, 3], b(3) = [1, 2, 3]

    x = iota(3)
    y = iota(3)
    if (bad(HERE, ceed_vector_axpy(y, 2._s, x))) return
    b = 2*a + b
    if (bad(HERE, values_are(y, b))) return
    if (bad(HERE, ceed_vector_axpby(y, 3._s, -1._s, x))) return
    b = 3*a - b
    if (bad(HERE, values_are(y, b))) return
    if (bad(HERE, ceed_vector_pointwise_mult(y, x, x))) return
    b = a*a
    if (bad(HERE, values_are(y, b))) return
    if (bad(HERE, ceed_vector_filter(y, 1._s))) return
    b = merge(0._s, b, abs(b) <= 1)
    if (bad(HERE, values_are(y, b))) return
    if (bad(HERE, ceed_vector_reciprocal(x))) return
    if (bad(HERE, values_are(x, 1/a))) return
    if (bad(HERE, ceed_vector_destroy(x))) return
    if (bad(HERE, ceed_vector_destroy(y))) return
  end subroutine

  subroutine view_prints_the_length_and_an_entry_a_line
    type(ceed_vector) :: x
    character(40) :: line(4)
    integer :: unit

    x = iota(3)
    open (newunit=unit, status="scratch")
    if (bad(HERE, ceed_vector_view(x, "%.2f", unit))) return
    rewind (unit)
    read (unit, "(a)") line
    close (unit)
    if (bad(HERE, line(1) == "CeedVector length 3")) return
    if (bad(HERE, line(2) == "1.00" .and. line(4) == "3.00")) return
    if (bad(HERE, ceed_vector_destroy(x))) return
  end subroutine

  subroutine view_range_prints_its_entries_only
    type(ceed_vector) :: x
    character(40) :: line(3)
    integer :: unit

    x = iota(4)
    open (newunit=unit, status="scratch")
    if (bad(HERE, ceed_vector_view_range(x, 1_ceed_size, 4_ceed_size, 2, "", unit))) return
    rewind (unit)
    read (unit, "(a)") line
    close (unit)
    if (bad(HERE, line(2) == "2" .and. line(3) == "4")) return
    if (bad(HERE, ceed_vector_destroy(x))) return
  end subroutine
end program
