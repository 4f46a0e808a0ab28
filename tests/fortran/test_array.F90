! SPDX-License-Identifier: BSD-2-Clause
!> Arrays with bounds: what is seen of them, and how they go into vectors and come out.
#define HERE __FILE__, __LINE__
module arrays
#ifdef CEEDLIKE_SINGLE
  use ceedlike_f32
#else
  use ceedlike
#endif
  implicit none

  type :: field
    real(ceed_scalar), allocatable :: u(:, :, :)
  end type

  type :: part
    real(ceed_scalar) :: a
    integer :: i
    real(ceed_scalar) :: b
  end type

contains

  function through_assumed_shape(x) result(layout)
    real(ceed_scalar), target, intent(in) :: x(:, :, :)
    type(ceed_array_layout) :: layout

    if (ceed_array_get_layout(x, layout) /= 0) layout%rank = -1
  end function

  function through_stated_bounds(x) result(layout)
    real(ceed_scalar), target, intent(in) :: x(-2:, -1:, 1:)
    type(ceed_array_layout) :: layout

    if (ceed_array_get_layout(x, layout) /= 0) layout%rank = -1
  end function

  function through_explicit_shape(n, ng, x) result(layout)
    integer, intent(in) :: n, ng
    real(ceed_scalar), target, intent(in) :: x(-ng:n + ng, -ng:n + ng)
    type(ceed_array_layout) :: layout

    if (ceed_array_get_layout(x, layout) /= 0) layout%rank = -1
  end function

  !> 1, 2, 3, ... in the order of the elements of u(2, 3, 4)
  subroutine count_up(u)
    real(ceed_scalar), intent(out) :: u(2, 3, 4)
    integer :: i

    u = reshape([(real(i, ceed_scalar), i=1, 24)], shape(u))
  end subroutine
end module

#define COPIED(a, e) copied(ceed_vector_set_array(fresh_vector(size(e)), 0, 0, a), e)
program test_array
  use, intrinsic :: iso_c_binding
  use arrays
  use testing
  implicit none
  integer, parameter :: bytes = storage_size(1._ceed_scalar)/8
  type(ceed_vector) :: fresh                        !< the last that fresh_vector() made

  call run("a_whole_array_shows_its_lower_bounds", a_whole_array_shows_its_lower_bounds)
  call run("a_remapped_pointer_shows_its_lower_bounds", a_remapped_pointer_shows_its_lower_bounds)
  call run("a_component_shows_its_lower_bounds", a_component_shows_its_lower_bounds)
  call run("a_section_begins_at_one_and_shows_its_strides", &
           a_section_begins_at_one_and_shows_its_strides)
  call run("a_reversed_section_has_negative_strides", a_reversed_section_has_negative_strides)
  call run("an_assumed_shape_has_lost_its_bounds", an_assumed_shape_has_lost_its_bounds)
  call run("bounds_that_are_stated_again_are_seen", bounds_that_are_stated_again_are_seen)
  call run("an_array_without_elements_shows_its_shape", an_array_without_elements_shows_its_shape)
  call run("a_pointer_to_a_component_shows_its_strides", &
           a_pointer_to_a_component_shows_its_strides)
  call run("a_pointer_to_a_component_is_copied_where_it_lies", &
           a_pointer_to_a_component_is_copied_where_it_lies)
  call run("a_pointer_to_a_component_is_not_borrowed", a_pointer_to_a_component_is_not_borrowed)
  call run("a_section_of_memory_that_there_is_not_is_an_error", &
           a_section_of_memory_that_there_is_not_is_an_error)
  call run("a_null_pointer_is_an_error", a_null_pointer_is_an_error)
  call run("arrays_of_every_rank_are_copied", arrays_of_every_rank_are_copied)
  call run("the_first_index_is_the_fastest", the_first_index_is_the_fastest)
  call run("sections_are_copied_element_by_element", sections_are_copied_element_by_element)
  call run("sections_are_not_borrowed", sections_are_not_borrowed)
  call run("use_pointer_works_in_place_and_frees_nothing", &
           use_pointer_works_in_place_and_frees_nothing)
  call run("a_contiguous_section_is_borrowed", a_contiguous_section_is_borrowed)
  call run("a_section_of_one_element_is_borrowed", a_section_of_one_element_is_borrowed)
  call run("the_memory_of_an_array_is_not_given_away", the_memory_of_an_array_is_not_given_away)
  call run("an_array_of_another_size_is_an_error_with_both", &
           an_array_of_another_size_is_an_error_with_both)
  call run("entries_are_lent_with_bounds", entries_are_lent_with_bounds)
  call run("entries_are_lent_on_every_number_of_axes", entries_are_lent_on_every_number_of_axes)
  call run("bounds_that_do_not_fit_are_errors", bounds_that_do_not_fit_are_errors)
  call run("length_zero_works_everywhere", length_zero_works_everywhere)
  call finish

contains

  subroutine a_whole_array_shows_its_lower_bounds
    real(ceed_scalar), target :: u(-2:5, 0:2, 7:8)
    type(ceed_array_layout) :: l

    if (bad(HERE, ceed_array_get_layout(u, l))) return
    if (bad(HERE, l%rank == 3 .and. all(l%lower(:3) == [-2, 0, 7]))) return
    if (bad(HERE, all(l%extent(:3) == [8, 3, 2]))) return
    if (bad(HERE, all(l%stride(:3) == bytes*[1, 8, 24]) .and. l%contiguous)) return
    if (bad(HERE, c_associated(l%address, c_loc(u(-2, 0, 7))))) return
  end subroutine

  subroutine a_remapped_pointer_shows_its_lower_bounds
    real(ceed_scalar), target :: flat(12)
    real(ceed_scalar), pointer :: u(:, :)
    type(ceed_array_layout) :: l

    u(-1:1, 0:3) => flat
    if (bad(HERE, ceed_array_get_layout(u, l))) return
    if (bad(HERE, all(l%lower(:2) == [-1, 0]) .and. all(l%extent(:2) == [3, 4]))) return
    if (bad(HERE, c_associated(l%address, c_loc(flat)))) return
  end subroutine

  subroutine a_component_shows_its_lower_bounds
    type(field), target :: f
    type(ceed_array_layout) :: l

    allocate (f%u(-3:0, 2, 0:1))
    if (bad(HERE, ceed_array_get_layout(f%u, l))) return
    if (bad(HERE, all(l%lower(:3) == [-3, 1, 0]) .and. all(l%extent(:3) == [4, 2, 2]))) return
  end subroutine

  subroutine a_section_begins_at_one_and_shows_its_strides
    real(ceed_scalar), target :: u(-2:5, 0:5)
    type(ceed_array_layout) :: l

    if (bad(HERE, ceed_array_get_layout(u(0:3, 1:5:2), l))) return
    if (bad(HERE, all(l%lower(:2) == 1) .and. all(l%extent(:2) == [4, 3]))) return
    if (bad(HERE, all(l%stride(:2) == bytes*[1, 16]) .and. .not. l%contiguous)) return
    if (bad(HERE, c_associated(l%address, c_loc(u(0, 1))))) return
  end subroutine

  subroutine a_reversed_section_has_negative_strides
    real(ceed_scalar), target :: u(4)
    type(ceed_array_layout) :: l

    if (bad(HERE, ceed_array_get_layout(u(4:1:-1), l))) return
    if (bad(HERE, l%stride(1) == -bytes .and. .not. l%contiguous)) return
    if (bad(HERE, c_associated(l%address, c_loc(u(4))))) return
  end subroutine

  subroutine an_assumed_shape_has_lost_its_bounds
    real(ceed_scalar), target :: u(-2:5, 0:2, 7:8)
    type(ceed_array_layout) :: l

    l = through_assumed_shape(u)
    if (bad(HERE, all(l%lower(:3) == 1) .and. all(l%extent(:3) == [8, 3, 2]))) return
    if (bad(HERE, c_associated(l%address, c_loc(u(-2, 0, 7))))) return
  end subroutine

  subroutine bounds_that_are_stated_again_are_seen
    real(ceed_scalar), target :: u(8, 3, 2), v(7, 7)
    type(ceed_array_layout) :: l

    l = through_stated_bounds(u)
    if (bad(HERE, all(l%lower(:3) == [-2, -1, 1]) .and. all(l%extent(:3) == [8, 3, 2]))) return
    l = through_explicit_shape(4, 1, v)
    if (bad(HERE, all(l%lower(:2) == -1) .and. all(l%extent(:2) == 7))) return
  end subroutine

  subroutine an_array_without_elements_shows_its_shape
    real(ceed_scalar), target :: u(3, 0)
    type(ceed_array_layout) :: l

    if (bad(HERE, ceed_array_get_layout(u, l))) return
    if (bad(HERE, l%rank == 2 .and. all(l%extent(:2) == [3, 0]) .and. l%contiguous)) return
    if (bad(HERE, .not. c_associated(l%address))) return
  end subroutine

  subroutine a_pointer_to_a_component_shows_its_strides
    complex(ceed_scalar), target :: c(2, 3)
    type(part), target :: parts(4)
    real(ceed_scalar), pointer :: p(:, :), q(:)
    type(ceed_array_layout) :: l

    p => c%im
    if (bad(HERE, ceed_array_get_layout(p, l))) return
    if (bad(HERE, all(l%stride(:2) == bytes*[2, 4]) .and. .not. l%contiguous)) return
    q => parts(2:)%b
    if (bad(HERE, ceed_array_get_layout(q, l))) return
    if (bad(HERE, l%stride(1) == storage_size(parts)/8 .and. .not. l%contiguous)) return
    if (bad(HERE, c_associated(l%address, c_loc(parts(2)%b)))) return
  end subroutine

  subroutine a_pointer_to_a_component_is_copied_where_it_lies
    complex(ceed_scalar), target :: c(2, 3)
    type(part), target :: parts(4)
    real(ceed_scalar), pointer :: p(:, :), q(:)
    real(ceed_scalar) :: expected(6)
    integer :: i

    c = reshape([(cmplx(i, 10*i, ceed_scalar), i=1, 6)], shape(c))
    parts = [(part(-i, 7, 100*i), i=1, 4)]
    p => c%im
    q => parts%b
    expected = [(10*i, i=1, 6)]
    if (bad(HERE, COPIED(p, expected))) return
    expected = [(100*i, i=1, 6)]
    if (bad(HERE, COPIED(q, expected(:4)))) return
  end subroutine

  subroutine a_pointer_to_a_component_is_not_borrowed
    complex(ceed_scalar), target :: c(4)
    real(ceed_scalar), pointer :: p(:)
    type(ceed_vector) :: x

    p => c%re
    x = iota(4)
    if (bad(HERE, ceed_vector_set_array(x, ceed_mem_host, ceed_use_pointer, p), &
            ceed_error_incompatible)) return
    if (bad(HERE, says("copy it with ceed_copy_values"))) return
    if (bad(HERE, ceed_vector_destroy(x))) return
  end subroutine

  subroutine a_section_of_memory_that_there_is_not_is_an_error
    real(ceed_scalar), target :: u(8)
    type(ceed_vector) :: x

    u = 7
    x = iota(4)
    if (bad(HERE, ceed_vector_set_array(x, ceed_mem_device, ceed_copy_values, u(::2)), &
            ceed_error_backend)) return
    if (bad(HERE, ceed_vector_set_array(x, 99, ceed_copy_values, u(::2)), &
            ceed_error_incompatible)) return
    if (bad(HERE, says("99 is no memory type"))) return
    if (bad(HERE, values_are(x, [1, 2, 3, 4]*1._ceed_scalar))) return
    if (bad(HERE, ceed_vector_destroy(x))) return
  end subroutine

  subroutine a_null_pointer_is_an_error
    real(ceed_scalar), pointer :: a(:) => null()
    type(ceed_array_layout) :: l

    if (bad(HERE, ceed_array_get_layout(a, l), ceed_error_incompatible)) return
    if (bad(HERE, says("null"))) return
  end subroutine

  subroutine arrays_of_every_rank_are_copied
    real(ceed_scalar), target :: a(64), b(8, 8), c(4, 4, 4), d(2, 8, 2, 2), e(2, 2, 4, 2, 2)
    real(ceed_scalar), target :: f(2, 2, 2, 2, 2, 2), g(2, 1, 4, 2, 2, 1, 2)
    integer :: i

    a = [(i*i, i=1, 64)]
    b = reshape(a, shape(b))
    c = reshape(a, shape(c))
    d = reshape(a, shape(d))
    e = reshape(a, shape(e))
    f = reshape(a, shape(f))
    g = reshape(a, shape(g))
    if (bad(HERE, COPIED(a, a))) return
    if (bad(HERE, COPIED(b, a))) return
    if (bad(HERE, COPIED(c, a))) return
    if (bad(HERE, COPIED(d, a))) return
    if (bad(HERE, COPIED(e, a))) return
    if (bad(HERE, COPIED(f, a))) return
    if (bad(HERE, COPIED(g, a))) return
  end subroutine

  !> A vector to set from an array.
  type(ceed_vector) function fresh_vector(length)
    integer, intent(in) :: length

    fresh = iota(length)
    fresh_vector = fresh
  end function

  !> Whether setting that vector has succeeded and it holds these values.
  logical function copied(code, expected)
    integer(c_int), intent(in) :: code
    real(ceed_scalar), intent(in) :: expected(:)

    copied = code == 0
    if (.not. values_are(fresh, expected)) copied = .false.
    if (ceed_vector_destroy(fresh) /= 0) copied = .false.
  end function

  subroutine the_first_index_is_the_fastest
    real(ceed_scalar), target :: u(2, 3, 4)
    real(ceed_scalar), pointer :: a(:)
    type(ceed_vector) :: x
    integer :: i, j, k

    call count_up(u)
    x = iota(24)
    if (bad(HERE, ceed_vector_set_array(x, ceed_mem_host, ceed_use_pointer, u))) return
    if (bad(HERE, ceed_vector_get_array_read(x, ceed_mem_host, a))) return
    do k = 1, 4
      do j = 1, 3
        do i = 1, 2
          if (bad(HERE, a(i + 2*(j - 1) + 6*(k - 1)) == u(i, j, k))) return
        end do
      end do
    end do
    if (bad(HERE, ceed_vector_restore_array_read(x, a))) return
    if (bad(HERE, ceed_vector_destroy(x))) return
  end subroutine

  subroutine sections_are_copied_element_by_element
    real(ceed_scalar), target :: a(64), u(4, 4, 4), v(-1:6, 2, 2, 2), w(2, 2, 2, 2, 2, 2)
    real(ceed_scalar), target :: t(2, 2, 2, 2, 2, 2, 1), s(8, 8), r(2, 2, 2, 4, 2)
    integer :: i

    a = [(i*i, i=1, 64)]
    u = reshape(a, shape(u))
    v = reshape(a, shape(v))
    w = reshape(a, shape(w))
    t = reshape(a, shape(t))
    s = reshape(a, shape(s))
    r = reshape(a, shape(r))
    if (bad(HERE, COPIED(a(2:64:3), a(2:64:3)))) return
    if (bad(HERE, COPIED(a(64:1:-1), a(64:1:-1)))) return
    if (bad(HERE, COPIED(s(3, :), s(3, :)))) return
    if (bad(HERE, COPIED(s(8:1:-2, 2:7), pack(s(8:1:-2, 2:7), .true.)))) return
    if (bad(HERE, COPIED(u(2:3, 2:3, 2:3), pack(u(2:3, 2:3, 2:3), .true.)))) return
    if (bad(HERE, COPIED(v(0:5, 2:1:-1, :, 2:2), pack(v(0:5, 2:1:-1, :, 2:2), .true.)))) return
    if (bad(HERE, COPIED(r(:, 1:1, :, 4:1:-1, :), pack(r(:, 1:1, :, 4:1:-1, :), .true.)))) return
    if (bad(HERE, COPIED(w(2:2, :, :, :, :, :), pack(w(2:2, :, :, :, :, :), .true.)))) return
    if (bad(HERE, COPIED(t(:, :, 1:1, :, :, :, :), pack(t(:, :, 1:1, :, :, :, :), .true.)))) return
  end subroutine

  subroutine sections_are_not_borrowed
    real(ceed_scalar), target :: u(4)
    type(ceed_vector) :: x

    x = iota(2)
    u = 7
    if (bad(HERE, ceed_vector_set_array(x, ceed_mem_host, ceed_use_pointer, u(1:3:2)), &
            ceed_error_incompatible)) return
    if (bad(HERE, ceed_vector_set_array(x, ceed_mem_host, ceed_use_pointer, u(2:1:-1)), &
            ceed_error_incompatible)) return
    if (bad(HERE, values_are(x, [1._ceed_scalar, 2._ceed_scalar]))) return
    if (bad(HERE, ceed_vector_destroy(x))) return
  end subroutine

  subroutine use_pointer_works_in_place_and_frees_nothing
    real(ceed_scalar), target :: u(0:1, 2, -1:0)
    type(ceed_vector) :: x

    u = 2
    x = iota(8)
    if (bad(HERE, ceed_vector_set_array(x, ceed_mem_host, ceed_use_pointer, u))) return
    if (bad(HERE, ceed_vector_scale(x, 3._ceed_scalar))) return
    if (bad(HERE, all(u == 6))) return
    if (bad(HERE, ceed_vector_take_array(x, ceed_mem_host))) return
    if (bad(HERE, ceed_vector_set_value(x, 1._ceed_scalar))) return
    if (bad(HERE, all(u == 6))) return
    if (bad(HERE, ceed_vector_destroy(x))) return
  end subroutine

  subroutine a_contiguous_section_is_borrowed
    real(ceed_scalar), target :: u(3, 4)
    type(ceed_vector) :: x

    u = 1
    x = iota(6)
    if (bad(HERE, ceed_vector_set_array(x, ceed_mem_host, ceed_use_pointer, u(:, 2:3)))) return
    if (bad(HERE, ceed_vector_set_value(x, 5._ceed_scalar))) return
    if (bad(HERE, all(u(:, 2:3) == 5) .and. all(u(:, 1) == 1) .and. all(u(:, 4) == 1))) return
    if (bad(HERE, ceed_vector_destroy(x))) return
  end subroutine

  subroutine a_section_of_one_element_is_borrowed
    real(ceed_scalar), target :: u(3, 4)
    type(ceed_vector) :: x

    u = 1
    x = iota(1)
    if (bad(HERE, ceed_vector_set_array(x, ceed_mem_host, ceed_use_pointer, u(2:3:2, 4:3:-2)))) &
      return
    if (bad(HERE, ceed_vector_set_value(x, 5._ceed_scalar))) return
    if (bad(HERE, u(2, 4) == 5 .and. count(u == 1) == 11)) return
    if (bad(HERE, ceed_vector_take_array(x, ceed_mem_host))) return
    if (bad(HERE, ceed_vector_destroy(x))) return
  end subroutine

  subroutine the_memory_of_an_array_is_not_given_away
    real(ceed_scalar), pointer :: a(:)
    type(ceed_vector) :: x

    allocate (a(2), source=3._ceed_scalar)
    x = iota(2)
    if (bad(HERE, ceed_vector_set_array(x, ceed_mem_host, ceed_own_pointer, a), &
            ceed_error_incompatible)) return
    if (bad(HERE, ceed_vector_destroy(x))) return
    if (bad(HERE, all(a == 3))) return
    deallocate (a)
  end subroutine

  subroutine an_array_of_another_size_is_an_error_with_both
    real(ceed_scalar), target :: u(2, 2)
    type(ceed_vector) :: x
    integer(c_int) :: copy_mode

    u = 7
    x = iota(3)
    do copy_mode = ceed_copy_values, ceed_use_pointer
      if (bad(HERE, ceed_vector_set_array(x, ceed_mem_host, copy_mode, u), &
              ceed_error_dimension)) return
      if (bad(HERE, says("4"))) return
      if (bad(HERE, says("3"))) return
    end do
    if (bad(HERE, values_are(x, [1._ceed_scalar, 2._ceed_scalar, 3._ceed_scalar]))) return
    if (bad(HERE, ceed_vector_destroy(x))) return
  end subroutine

  subroutine entries_are_lent_with_bounds
    real(ceed_scalar), pointer :: a(:), u(:, :)
    type(ceed_vector) :: x

    x = iota(12)
    if (bad(HERE, ceed_vector_get_array(x, ceed_mem_host, u, [0, -1], [3, 1]))) return
    if (bad(HERE, all(lbound(u) == [0, -1]) .and. all(ubound(u) == [3, 1]))) return
    if (bad(HERE, u(0, -1) == 1 .and. u(1, -1) == 2 .and. u(0, 0) == 5)) return
    u(3, 1) = 99
    if (bad(HERE, ceed_vector_restore_array(x, u))) return
    if (bad(HERE, .not. associated(u))) return
    if (bad(HERE, ceed_vector_get_array_read(x, ceed_mem_host, a, [0], [11]))) return
    if (bad(HERE, lbound(a, 1) == 0 .and. ubound(a, 1) == 11 .and. a(11) == 99)) return
    if (bad(HERE, ceed_vector_restore_array_read(x, a))) return
    if (bad(HERE, ceed_vector_destroy(x))) return
  end subroutine

  subroutine entries_are_lent_on_every_number_of_axes
    real(ceed_scalar), pointer :: c(:, :, :), d(:, :, :, :), e(:, :, :, :, :)
    real(ceed_scalar), pointer :: f(:, :, :, :, :, :), g(:, :, :, :, :, :, :)
    type(ceed_vector) :: x
    integer, parameter :: two(7) = 2, one(7) = 1, three(7) = 3

    x = iota(128)
    if (bad(HERE, ceed_vector_get_array(x, ceed_mem_host, g, one, two))) return
    if (bad(HERE, g(2, 1, 1, 1, 1, 1, 1) == 2 .and. g(1, 1, 1, 1, 1, 1, 2) == 65)) return
    if (bad(HERE, ceed_vector_restore_array(x, g))) return
    if (bad(HERE, ceed_vector_get_array(x, ceed_mem_host, f, one(:6), [two(:5), 4]))) return
    if (bad(HERE, f(1, 1, 1, 1, 1, 4) == 97)) return
    if (bad(HERE, ceed_vector_restore_array(x, f))) return
    if (bad(HERE, ceed_vector_get_array(x, ceed_mem_host, e, one(:5), [two(:4), 8]))) return
    if (bad(HERE, e(1, 1, 1, 2, 8) == 121)) return
    if (bad(HERE, ceed_vector_restore_array(x, e))) return
    if (bad(HERE, ceed_vector_get_array(x, ceed_mem_host, d, two(:4), [three(:3), 17]))) return
    if (bad(HERE, d(2, 2, 3, 17) == 125)) return
    if (bad(HERE, ceed_vector_restore_array(x, d))) return
    if (bad(HERE, ceed_vector_get_array_write(x, ceed_mem_host, c, one(:3), [4, 4, 8]))) return
    c = 1
    if (bad(HERE, ceed_vector_restore_array(x, c))) return
    if (bad(HERE, ceed_vector_destroy(x))) return
  end subroutine

  subroutine bounds_that_do_not_fit_are_errors
    real(ceed_scalar), pointer :: a(:), u(:, :)
    type(ceed_vector) :: x
    integer, parameter :: most = huge(1)

    x = iota(6)
    nullify (a, u)
    if (bad(HERE, ceed_vector_get_array(x, ceed_mem_host, u, [1, 1], [2, 2]), &
            ceed_error_dimension)) return
    if (bad(HERE, says("6 entries"))) return
    if (bad(HERE, ceed_vector_get_array(x, ceed_mem_host, u, [1, 1], [most, most]), &
            ceed_error_dimension)) return
    if (bad(HERE, ceed_vector_get_array(x, ceed_mem_host, u, [4, 5], [1, 1]), &
            ceed_error_dimension)) return
    if (bad(HERE, ceed_vector_get_array(x, ceed_mem_host, a, [1], [5]), &
            ceed_error_dimension)) return
    if (bad(HERE, .not. associated(a) .and. .not. associated(u))) return
    if (bad(HERE, ceed_vector_get_array(x, ceed_mem_host, u, [1, 1], [2, 3]))) return
    if (bad(HERE, ceed_vector_restore_array(x, u))) return
    if (bad(HERE, ceed_vector_destroy(x))) return
  end subroutine

  subroutine length_zero_works_everywhere
    real(ceed_scalar), target :: none(3, 0)
    real(ceed_scalar), pointer :: a(:), u(:, :)
    real(ceed_scalar) :: norm = -1
    type(ceed_vector) :: x

    if (bad(HERE, ceed_vector_create(ceed, 0, x))) return
    if (bad(HERE, ceed_vector_set_array(x, ceed_mem_host, ceed_copy_values, none))) return
    if (bad(HERE, ceed_vector_set_array(x, ceed_mem_host, ceed_use_pointer, none))) return
    if (bad(HERE, ceed_vector_get_array(x, ceed_mem_host, a))) return
    if (bad(HERE, size(a) == 0)) return
    if (bad(HERE, ceed_vector_restore_array(x, a))) return
    if (bad(HERE, ceed_vector_get_array_read(x, ceed_mem_host, u, [1, 5], [3, 4]))) return
    if (bad(HERE, all(shape(u) == [3, 0]))) return
    if (bad(HERE, ceed_vector_restore_array_read(x, u))) return
    if (bad(HERE, ceed_vector_norm(x, ceed_norm_2, norm))) return
    if (bad(HERE, norm == 0)) return
    if (bad(HERE, ceed_vector_destroy(x))) return
  end subroutine
end program
