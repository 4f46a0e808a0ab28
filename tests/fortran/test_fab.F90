! SPDX-License-Identifier: BSD-2-Clause
!> Fabs of arrays with their bounds, and arrays of fabs with theirs.
#define HERE __FILE__, __LINE__
module fields
#ifdef CEEDLIKE_SINGLE
  use ceedlike_f32
#else
  use ceedlike
#endif
  implicit none

  type(ceed_ghost), parameter :: none = ceed_ghost([0, 0, 0], [0, 0, 0])

  type :: state
    real(ceed_scalar), allocatable :: u(:, :)
  end type

  type :: point
    real(ceed_scalar) :: x, y
  end type

  !> A fab that borrows what it is given.
  interface fab_of
    module procedure fab_of_1, fab_of_2
  end interface

contains

  !> The bounds of the whole block, as a text.
  function bounds(fab) result(text)
    type(ceed_fab), intent(in) :: fab
    character(:), allocatable :: text
    type(ceed_box) :: box

    text = ""
    if (ceed_fab_get_region(fab, ceed_region_whole, box) /= 0) return
    if (ceed_box_to_text(box, text) /= 0) text = ""
  end function

  function fab_of_1(ceed, a, dim) result(fab)
    type(ceed_context), intent(in) :: ceed
    real(ceed_scalar), pointer, intent(in) :: a(:)
    integer, intent(in) :: dim
    type(ceed_fab) :: fab

    if (ceed_fab_create_from_array(ceed, a, dim, none, ceed_use_pointer, fab) /= 0) fab = ceed_fab()
  end function

  function fab_of_2(ceed, a, dim) result(fab)
    type(ceed_context), intent(in) :: ceed
    real(ceed_scalar), pointer, intent(in) :: a(:, :)
    integer, intent(in) :: dim
    type(ceed_fab) :: fab

    if (ceed_fab_create_from_array(ceed, a, dim, none, ceed_use_pointer, fab) /= 0) fab = ceed_fab()
  end function

  !> The bounds of a fab that goes.
  function bounds_of(fab) result(text)
    type(ceed_fab), intent(in) :: fab
    character(:), allocatable :: text
    type(ceed_fab) :: last

    last = fab
    text = bounds(last)
    if (ceed_fab_destroy(last) /= 0) text = ""
  end function

  function through_assumed_shape(ceed, x) result(text)
    type(ceed_context), intent(in) :: ceed
    real(ceed_scalar), target, intent(in) :: x(:, :)
    character(:), allocatable :: text

    text = bounds_of(fab_of(ceed, x, 2))
  end function

  function through_explicit_shape(ceed, n, ng, x) result(text)
    type(ceed_context), intent(in) :: ceed
    integer, intent(in) :: n, ng
    real(ceed_scalar), target, intent(in) :: x(-ng:n + ng)
    character(:), allocatable :: text

    text = bounds_of(fab_of(ceed, x, 1))
  end function
end module

program test_fab
  use, intrinsic :: iso_c_binding
  use fields
  use testing
  implicit none

  call run("a_fab_keeps_the_bounds_of_an_array", a_fab_keeps_the_bounds_of_an_array)
  call run("a_field_of_any_number_of_cells_keeps_its_bounds", &
           a_field_of_any_number_of_cells_keeps_its_bounds)
  call run("a_field_of_three_directions_keeps_its_bounds", &
           a_field_of_three_directions_keeps_its_bounds)
  call run("bounds_are_those_that_the_language_shows", bounds_are_those_that_the_language_shows)
  call run("the_last_axis_is_the_component_and_its_base", &
           the_last_axis_is_the_component_and_its_base)
  call run("a_section_is_borrowed_with_its_strides", a_section_is_borrowed_with_its_strides)
  call run("a_component_of_every_element_is_borrowed", a_component_of_every_element_is_borrowed)
  call run("a_reversed_section_is_copied_and_not_borrowed", &
           a_reversed_section_is_copied_and_not_borrowed)
  call run("an_array_that_is_no_fab_is_an_error", an_array_that_is_no_fab_is_an_error)
  call run("entries_are_lent_with_their_own_bounds", entries_are_lent_with_their_own_bounds)
  call run("entries_are_lent_in_every_number_of_directions", &
           entries_are_lent_in_every_number_of_directions)
  call run("strided_entries_are_lent_with_their_bounds", strided_entries_are_lent_with_their_bounds)
  call run("a_pointer_of_another_rank_is_an_error", a_pointer_of_another_rank_is_an_error)
  call run("a_fab_without_cells_is_lent", a_fab_without_cells_is_lent)
  call run("views_are_of_the_array", views_are_of_the_array)
  call run("regions_and_values", regions_and_values)
  call run("an_array_is_given_back_when_no_view_lives", an_array_is_given_back_when_no_view_lives)
  call run("a_fab_is_resized_and_replaced", a_fab_is_resized_and_replaced)
  call run("boxes_are_computed_with", boxes_are_computed_with)
  call run("boxes_are_text", boxes_are_text)
  call run("ghosts_are_filled", ghosts_are_filled)
  call run("a_multifab_is_gathered", a_multifab_is_gathered)
  call run("a_multifab_is_redefined", a_multifab_is_redefined)
  call run("fabs_are_printed", fabs_are_printed)
  call finish

contains

  subroutine a_fab_keeps_the_bounds_of_an_array
    real(ceed_scalar), target :: u(-2:5, 0:3, 3)
    real(ceed_scalar), pointer :: a(:, :, :)
    type(ceed_ghost) :: ghost
    type(ceed_box) :: box
    type(ceed_fab) :: fab

    u = 0
    ghost = ceed_ghost([2, 1, 0], [1, 0, 0])
    if (bad(HERE, ceed_fab_create_from_array(ceed, u, 2, ghost, ceed_use_pointer, fab))) return
    if (bad(HERE, bounds(fab) == "((-2,0) (5,3) (0,0))")) return
    if (bad(HERE, ceed_fab_get_box(fab, box))) return
    if (bad(HERE, all(box%lo == [0, 1, 0]) .and. all(box%hi == [4, 3, 0]))) return
    if (bad(HERE, ceed_fab_get_array(fab, ceed_mem_host, a))) return
    if (bad(HERE, associated(a, u))) return
    if (bad(HERE, all(lbound(a) == lbound(u)) .and. all(ubound(a) == ubound(u)))) return
    a(-2, 3, 3) = 7
    if (bad(HERE, ceed_fab_restore_array(fab, a))) return
    if (bad(HERE, .not. associated(a))) return
    if (bad(HERE, u(-2, 3, 3) == 7)) return
    if (bad(HERE, ceed_fab_destroy(fab))) return
  end subroutine

  subroutine a_field_of_any_number_of_cells_keeps_its_bounds
    integer, parameter :: cells(4) = [-1, 0, 1, 50]
    real(ceed_scalar), allocatable, target :: u(:)
    real(ceed_scalar), pointer :: a(:)
    type(ceed_fab) :: fab
    integer :: i

    do i = 1, size(cells)
      allocate (u(-2:cells(i) + 2))
      u = cells(i)
      if (bad(HERE, ceed_fab_create_from_array(ceed, u, 1, ceed_ghost([2, 0, 0], [2, 0, 0]), &
                                               ceed_use_pointer, fab))) return
      if (bad(HERE, ceed_fab_get_array_read(fab, ceed_mem_host, a))) return
      if (bad(HERE, lbound(a, 1) == lbound(u, 1) .and. size(a) == size(u))) return
      if (bad(HERE, all(a == cells(i)))) return
      if (bad(HERE, ceed_fab_restore_array_read(fab, a))) return
      if (bad(HERE, ceed_fab_destroy(fab))) return
      deallocate (u)
    end do
  end subroutine

  subroutine a_field_of_three_directions_keeps_its_bounds
    integer, parameter :: cells(4) = [-1, 0, 1, 50]
    real(ceed_scalar), allocatable, target :: u(:, :, :, :), v(:, :, :)
    real(ceed_scalar), pointer :: a(:, :, :, :), b(:, :, :)
    type(ceed_ghost) :: ghost
    type(ceed_fab) :: fab
    integer :: i

    ghost = ceed_ghost([2, 1, 0], [2, 0, 3])
    do i = 1, size(cells)
      allocate (u(-2:cells(i) + 2, -1:1, 0:4, 3), v(-2:cells(i) + 2, -1:1, 1))
      u = cells(i)
      v = cells(i)
      if (bad(HERE, ceed_fab_create_from_array(ceed, u, 3, ghost, ceed_use_pointer, fab))) return
      if (bad(HERE, ceed_fab_get_array_read(fab, ceed_mem_host, a))) return
      if (bad(HERE, all(lbound(a) == lbound(u)) .and. all(shape(a) == shape(u)))) return
      if (bad(HERE, ceed_fab_restore_array_read(fab, a))) return
      if (bad(HERE, ceed_fab_destroy(fab))) return
      if (bad(HERE, ceed_fab_create_from_array(ceed, v, 2, ghost, ceed_use_pointer, fab))) return
      if (bad(HERE, ceed_fab_get_array_read(fab, ceed_mem_host, b))) return
      if (bad(HERE, all(lbound(b) == lbound(v)) .and. all(shape(b) == shape(v)))) return
      if (bad(HERE, ceed_fab_restore_array_read(fab, b))) return
      if (bad(HERE, ceed_fab_destroy(fab))) return
      deallocate (u, v)
    end do
  end subroutine

  subroutine bounds_are_those_that_the_language_shows
    real(ceed_scalar), target :: u(-2:5, 0:3), flat(12)
    real(ceed_scalar), pointer :: p(:, :)
    type(state), target :: s

    u = 0
    flat = 0
    if (bad(HERE, bounds_of(fab_of(ceed, u, 2)) == "((-2,0) (5,3) (0,0))")) return
    if (bad(HERE, bounds_of(fab_of(ceed, u(0:3, 1:2), 2)) == "((1,1) (4,2) (0,0))")) return
    if (bad(HERE, through_assumed_shape(ceed, u) == "((1,1) (8,4) (0,0))")) return
    if (bad(HERE, through_explicit_shape(ceed, 7, 2, flat) == "((-2) (9) (0))")) return
    p(-1:1, 0:3) => flat
    if (bad(HERE, bounds_of(fab_of(ceed, p, 2)) == "((-1,0) (1,3) (0,0))")) return
    allocate (s%u(-3:0, 2), source=0._ceed_scalar)
    if (bad(HERE, bounds_of(fab_of(ceed, s%u, 2)) == "((-3,1) (0,2) (0,0))")) return
  end subroutine

  subroutine the_last_axis_is_the_component_and_its_base
    real(ceed_scalar), target :: u(4, 0:2)
    real(ceed_scalar), pointer :: a(:, :)
    integer(ceed_int) :: base, num_comp
    type(ceed_fab) :: fab
    integer :: i

    u = reshape([(real(i, ceed_scalar), i=1, 12)], shape(u))
    if (bad(HERE, ceed_fab_create_from_array(ceed, u, 1, none, ceed_copy_values, fab))) return
    if (bad(HERE, ceed_fab_get_component_base(fab, base))) return
    if (bad(HERE, ceed_fab_get_num_components(fab, num_comp))) return
    if (bad(HERE, base == 0 .and. num_comp == 3)) return
    if (bad(HERE, ceed_fab_get_array_read(fab, ceed_mem_host, a))) return
    if (bad(HERE, all(lbound(a) == [1, 0]) .and. all(a == u))) return
    if (bad(HERE, .not. associated(a, u))) return
    if (bad(HERE, ceed_fab_restore_array_read(fab, a))) return
    if (bad(HERE, ceed_fab_set_component_base(fab, 1))) return
    if (bad(HERE, ceed_fab_get_array_read(fab, ceed_mem_host, a))) return
    if (bad(HERE, lbound(a, 2) == 1)) return
    if (bad(HERE, ceed_fab_restore_array_read(fab, a))) return
    if (bad(HERE, ceed_fab_destroy(fab))) return
  end subroutine

  subroutine a_section_is_borrowed_with_its_strides
    real(ceed_scalar), target :: u(-2:5, 0:5)
    integer(ceed_size) :: strides(4)
    type(ceed_fab) :: fab
    integer :: i

    u = reshape([(real(i, ceed_scalar), i=1, 48)], shape(u))
    fab = fab_of(ceed, u(0:3, 1:5:2), 2)
    if (bad(HERE, ceed_fab_get_strides(fab, strides))) return
    if (bad(HERE, all(strides(:2) == [1, 16]))) return
    if (bad(HERE, ceed_fab_set_value(fab, comp=0, num_comp=1, value=-1._ceed_scalar))) return
    if (bad(HERE, all(u(0:3, 1:5:2) == -1) .and. count(u == -1) == 12)) return
    if (bad(HERE, ceed_fab_destroy(fab))) return
  end subroutine

  subroutine a_component_of_every_element_is_borrowed
    type(point), target :: p(-1:2)
    real(ceed_scalar), pointer :: y(:)
    type(ceed_fab) :: fab
    integer :: i

    p = [(point(real(i, ceed_scalar), 0), i=1, 4)]
    y => p%y
    fab = fab_of(ceed, y, 1)
    if (bad(HERE, ceed_fab_set_value(fab, comp=0, num_comp=1, value=5._ceed_scalar))) return
    if (bad(HERE, all(p%y == 5) .and. all(p%x == [1, 2, 3, 4]))) return
    if (bad(HERE, ceed_fab_destroy(fab))) return
  end subroutine

  subroutine a_reversed_section_is_copied_and_not_borrowed
    real(ceed_scalar), target :: u(4) = [1, 2, 3, 4]
    real(ceed_scalar), pointer :: a(:)
    type(ceed_fab) :: fab

    if (bad(HERE, ceed_fab_create_from_array(ceed, u(4:1:-1), 1, none, ceed_use_pointer, fab), &
            ceed_error_incompatible)) return
    if (bad(HERE, says("not positive"))) return
    if (bad(HERE, ceed_fab_create_from_array(ceed, u(4:1:-1), 1, none, ceed_copy_values, fab))) &
      return
    if (bad(HERE, ceed_fab_get_array_read(fab, ceed_mem_host, a))) return
    if (bad(HERE, all(a == [4, 3, 2, 1]))) return
    if (bad(HERE, ceed_fab_restore_array_read(fab, a))) return
    if (bad(HERE, ceed_fab_destroy(fab))) return
  end subroutine

  subroutine an_array_that_is_no_fab_is_an_error
    real(ceed_scalar), target :: u(2, 2, 2, 2), far(1)
    real(ceed_scalar), pointer :: nowhere(:) => null(), p(:)
    type(ceed_fab) :: fab

    u = 0
    far = 0
    if (bad(HERE, ceed_fab_create_from_array(ceed, u, 2, none, ceed_use_pointer, fab), &
            ceed_error_dimension)) return
    if (bad(HERE, says("rank 4 in 2 directions"))) return
    if (bad(HERE, ceed_fab_create_from_array(ceed, u, 4, none, ceed_use_pointer, fab), &
            ceed_error_dimension)) return
    if (bad(HERE, ceed_fab_create_from_array(ceed, u(:, 1, 1, 1), 2, none, ceed_use_pointer, fab), &
            ceed_error_dimension)) return
    if (bad(HERE, ceed_fab_create_from_array(ceed, u, 3, none, ceed_own_pointer, fab), &
            ceed_error_unsupported)) return
    if (bad(HERE, ceed_fab_create_from_array(ceed, nowhere, 1, none, ceed_use_pointer, fab), &
            ceed_error_incompatible)) return
    if (bad(HERE, ceed_fab_create_from_array(ceed, u, 3, ceed_ghost([2, 0, 0], [1, 0, 0]), &
                                             ceed_use_pointer, fab), ceed_error_dimension)) return
    p(huge(1):) => far
    if (bad(HERE, ceed_fab_create_from_array(ceed, p, 1, none, ceed_use_pointer, fab), &
            ceed_error_dimension)) return
    if (bad(HERE, says("do not fit"))) return
    if (bad(HERE, .not. c_associated(fab%handle))) return
  end subroutine

  subroutine entries_are_lent_with_their_own_bounds
    real(ceed_scalar), pointer :: a(:, :, :), b(:, :)
    integer :: i, j, n
    type(ceed_fab) :: fab
    type(ceed_box) :: box

    if (bad(HERE, ceed_box_set([-1, 2], [3, 4], box))) return
    if (bad(HERE, ceed_fab_create(ceed, box, ceed_ghost([1, 0, 0], [0, 2, 0]), 2, fab))) return
    if (bad(HERE, ceed_fab_get_array_write(fab, ceed_mem_host, a))) return
    if (bad(HERE, all(lbound(a) == [-2, 2, 0]) .and. all(ubound(a) == [3, 6, 1]))) return
    do concurrent(i=-2:3, j=2:6, n=0:1)
      a(i, j, n) = i + 10*j + 100*n
    end do
    if (bad(HERE, ceed_fab_restore_array(fab, a))) return
    if (bad(HERE, ceed_fab_get_array_read(fab, ceed_mem_host, a))) return
    if (bad(HERE, a(-2, 6, 1) == 158)) return
    if (bad(HERE, ceed_fab_restore_array_read(fab, a))) return
    if (bad(HERE, ceed_fab_get_array(fab, ceed_mem_host, b), ceed_error_dimension)) return
    if (bad(HERE, ceed_fab_destroy(fab))) return
  end subroutine

  subroutine entries_are_lent_in_every_number_of_directions
    real(ceed_scalar), pointer :: a1(:), a2(:, :), a3(:, :, :), a4(:, :, :, :)
    type(ceed_fab) :: fab
    type(ceed_box) :: box

    if (bad(HERE, ceed_box_set([-1], [3], box))) return
    if (bad(HERE, ceed_fab_create(ceed, box, none, 1, fab))) return
    if (bad(HERE, ceed_fab_get_array_write(fab, ceed_mem_host, a1))) return
    if (bad(HERE, lbound(a1, 1) == -1 .and. size(a1) == 5)) return
    a1 = 1
    if (bad(HERE, ceed_fab_restore_array(fab, a1))) return
    if (bad(HERE, ceed_fab_get_array(fab, ceed_mem_host, a2))) return
    if (bad(HERE, all(shape(a2) == [5, 1]))) return
    if (bad(HERE, ceed_fab_restore_array(fab, a2))) return
    if (bad(HERE, ceed_box_set([-1, 0, 2], [3, 1, 4], box))) return
    if (bad(HERE, ceed_fab_resize(fab, box, none, 1))) return
    if (bad(HERE, ceed_fab_get_array_write(fab, ceed_mem_host, a3))) return
    if (bad(HERE, all(lbound(a3) == [-1, 0, 2]) .and. all(shape(a3) == [5, 2, 3]))) return
    if (bad(HERE, ceed_fab_restore_array(fab, a3))) return
    if (bad(HERE, ceed_fab_resize(fab, box, none, 3))) return
    if (bad(HERE, ceed_fab_get_array_write(fab, ceed_mem_host, a4))) return
    if (bad(HERE, all(lbound(a4) == [-1, 0, 2, 0]) .and. all(shape(a4) == [5, 2, 3, 3]))) return
    if (bad(HERE, ceed_fab_restore_array(fab, a4))) return
    if (bad(HERE, ceed_fab_destroy(fab))) return
  end subroutine

  !> u(2:8:2, ::3) seen through a fab: the same elements, at the same addresses.
  subroutine strided_entries_are_lent_with_their_bounds
    real(ceed_scalar), target :: u(8, 6), v(3, 4)
    real(ceed_scalar), pointer :: a(:, :), b(:, :)
    type(ceed_fab) :: fab

    u = 0
    v = 0
    fab = fab_of(ceed, u(2:8:2, ::3), 2)
    if (bad(HERE, ceed_fab_get_array(fab, ceed_mem_host, a))) return
    if (bad(HERE, associated(a, u(2:8:2, ::3)))) return
    a(4, 2) = 9
    if (bad(HERE, ceed_fab_restore_array(fab, a))) return
    if (bad(HERE, u(8, 4) == 9 .and. count(u == 9) == 1)) return
    if (bad(HERE, ceed_fab_destroy(fab))) return
    fab = fab_of(ceed, u(3:3, ::3), 2)
    if (bad(HERE, ceed_fab_get_array(fab, ceed_mem_host, a))) return
    if (bad(HERE, all(shape(a) == [1, 2]) .and. c_associated(c_loc(a(1, 2)), c_loc(u(3, 4))))) return
    if (bad(HERE, ceed_fab_restore_array(fab, a))) return
    if (bad(HERE, ceed_fab_destroy(fab))) return
    fab = fab_of(ceed, v(:, ::2), 1)                ! the second axis is the component
    if (bad(HERE, ceed_fab_get_array(fab, ceed_mem_host, b))) return
    if (bad(HERE, associated(b, v(:, ::2)))) return
    if (bad(HERE, ceed_fab_restore_array(fab, b))) return
    if (bad(HERE, ceed_fab_destroy(fab))) return
  end subroutine

  subroutine a_pointer_of_another_rank_is_an_error
    real(ceed_scalar), target :: u(3, 4), aos(8)
    real(ceed_scalar), pointer :: a(:), b(:, :), c(:, :, :, :)
    type(ceed_vector) :: x
    type(ceed_fab) :: fab
    type(ceed_box) :: box

    u = 0
    aos = 0
    fab = fab_of(ceed, u, 2)
    if (bad(HERE, ceed_fab_get_array(fab, ceed_mem_host, a), ceed_error_dimension)) return
    if (bad(HERE, says("rank 1"))) return
    if (bad(HERE, ceed_fab_get_array_read(fab, ceed_mem_host, c), ceed_error_dimension)) return
    if (bad(HERE, ceed_fab_destroy(fab))) return
    x = iota(8)
    if (bad(HERE, ceed_box_set([1], [4], box))) return
    if (bad(HERE, ceed_fab_create_from_vector(x, 0_ceed_size, [2, 8, 8, 1]*1_ceed_size, box, none, &
                                              2, fab))) return
    if (bad(HERE, ceed_fab_get_array(fab, ceed_mem_host, b), ceed_error_incompatible)) return
    if (bad(HERE, says("ceed_fab_copy"))) return
    if (bad(HERE, ceed_fab_destroy(fab))) return
    if (bad(HERE, ceed_vector_destroy(x))) return
  end subroutine

  subroutine a_fab_without_cells_is_lent
    real(ceed_scalar), target :: u(0, 3)
    real(ceed_scalar), pointer :: a(:, :)
    type(ceed_fab) :: fab

    fab = fab_of(ceed, u, 2)
    if (bad(HERE, ceed_fab_get_array(fab, ceed_mem_host, a))) return
    if (bad(HERE, all(shape(a) == [0, 3]))) return
    if (bad(HERE, ceed_fab_restore_array(fab, a))) return
    if (bad(HERE, ceed_fab_destroy(fab))) return
  end subroutine

  subroutine views_are_of_the_array
    real(ceed_scalar), target :: u(-2:5, 0:3, 3)
    type(dl_managed_tensor_versioned), pointer :: managed
    type(dl_managed_tensor), pointer :: legacy
    integer(c_int64_t), pointer :: numbers(:)
    integer(ceed_size) :: count
    type(c_ptr) :: tensor
    type(ceed_box) :: box
    type(ceed_fab) :: fab

    u = 0
    if (bad(HERE, ceed_fab_create_from_array(ceed, u, 2, none, ceed_use_pointer, fab))) return
    if (bad(HERE, ceed_box_set([0, 1], [2, 3], box))) return
    if (bad(HERE, ceed_fab_export(fab, ceed_mem_host, ceed_export_shared, tensor, box, comp=2))) return
    call c_f_pointer(tensor, managed)
    if (bad(HERE, c_associated(managed%tensor%data, c_loc(u(0, 1, 2))))) return
    call c_f_pointer(managed%tensor%shape, numbers, [3])
    if (bad(HERE, all(numbers == [3, 3, 1]))) return
    call c_f_pointer(managed%tensor%strides, numbers, [3])
    if (bad(HERE, all(numbers(:2) == [1, 8]))) return
    if (bad(HERE, ceed_fab_get_export_count(fab, count))) return
    if (bad(HERE, count == 1)) return
    if (bad(HERE, ceed_dlpack_delete_versioned(tensor))) return
    if (bad(HERE, ceed_fab_export(fab, ceed_mem_host, ceed_export_read, tensor, &
                                  order=ceed_order_nzyx))) return
    call c_f_pointer(tensor, managed)
    call c_f_pointer(managed%tensor%shape, numbers, [3])
    if (bad(HERE, all(numbers == [3, 4, 8]))) return
    if (bad(HERE, ceed_dlpack_delete_versioned(tensor))) return
    if (bad(HERE, ceed_fab_export(fab, ceed_mem_host, ceed_export_shared, tensor, comp=0), &
            ceed_error_dimension)) return
    if (bad(HERE, ceed_fab_to_dlpack(fab, ceed_mem_host, tensor, box, comp=2))) return
    call c_f_pointer(tensor, legacy)
    if (bad(HERE, c_associated(legacy%tensor%data, c_loc(u(0, 1, 2))))) return
    if (bad(HERE, ceed_dlpack_delete(tensor))) return
    if (bad(HERE, ceed_fab_destroy(fab))) return
  end subroutine

  subroutine regions_and_values
    real(ceed_scalar), target :: u(0:4, 0:3)
    type(ceed_box) :: box
    type(ceed_fab) :: fab, other

    u = 0
    if (bad(HERE, ceed_fab_create_from_array(ceed, u, 2, ceed_ghost([1, 1, 0], [1, 0, 0]), &
                                             ceed_use_pointer, fab))) return
    if (bad(HERE, ceed_fab_get_region(fab, ceed_region_valid, box))) return
    if (bad(HERE, ceed_fab_set_value(fab, box, 0, 1, 2._ceed_scalar))) return
    if (bad(HERE, all(u(1:3, 1:3) == 2) .and. count(u == 2) == 9)) return
    if (bad(HERE, ceed_fab_get_ghost_region(fab, [1, -1], box))) return
    if (bad(HERE, ceed_fab_set_value(fab, box, 0, 1, 3._ceed_scalar))) return
    if (bad(HERE, u(4, 0) == 3 .and. count(u == 3) == 1)) return
    if (bad(HERE, ceed_fab_create(ceed, box, none, 1, other))) return
    if (bad(HERE, ceed_fab_copy(fab, comp=0, num_comp=1, fab_copy=other, copy_comp=0))) return
    if (bad(HERE, ceed_fab_destroy(other))) return
    if (bad(HERE, ceed_fab_destroy(fab))) return
  end subroutine

  subroutine an_array_is_given_back_when_no_view_lives
    real(ceed_scalar), target :: u(-2:2)
    type(c_ptr) :: tensor
    type(ceed_fab) :: fab

    u = 4
    fab = fab_of(ceed, u, 1)
    if (bad(HERE, ceed_fab_export(fab, ceed_mem_host, ceed_export_shared, tensor))) return
    if (bad(HERE, ceed_fab_take_array(fab, ceed_mem_host), ceed_error_access)) return
    if (bad(HERE, says("1 writable view lives"))) return
    if (bad(HERE, ceed_dlpack_delete_versioned(tensor))) return
    if (bad(HERE, ceed_fab_take_array(fab, ceed_mem_host))) return
    if (bad(HERE, ceed_fab_destroy(fab))) return
  end subroutine

  subroutine a_fab_is_resized_and_replaced
    real(ceed_scalar), target :: u(3), v(0:6)
    integer(c_int64_t) :: before, after
    type(c_ptr) :: tensor
    type(ceed_box) :: box
    type(ceed_fab) :: fab, by

    u = 1
    v = 2
    fab = fab_of(ceed, u, 1)
    by = fab_of(ceed, v, 1)
    if (bad(HERE, ceed_fab_get_generation(fab, before))) return
    if (bad(HERE, ceed_fab_export(fab, ceed_mem_host, ceed_export_shared, tensor))) return
    if (bad(HERE, ceed_fab_replace(fab, by), ceed_error_access)) return
    if (bad(HERE, ceed_fab_replace(fab, by, keep_views=.true.))) return
    if (bad(HERE, ceed_dlpack_delete_versioned(tensor))) return
    if (bad(HERE, ceed_fab_get_generation(fab, after))) return
    if (bad(HERE, after /= before)) return
    if (bad(HERE, bounds(fab) == "((0) (6) (0))")) return
    if (bad(HERE, ceed_box_set([5], [9], box))) return
    if (bad(HERE, ceed_fab_resize(fab, box, none, 2))) return
    if (bad(HERE, bounds(fab) == "((5) (9) (0))")) return
    if (bad(HERE, ceed_fab_destroy(fab))) return
    if (bad(HERE, ceed_fab_destroy(by))) return
  end subroutine

  subroutine boxes_are_computed_with
    integer(ceed_size) :: lengths(3), count
    logical(c_bool) :: yes
    type(ceed_box) :: box, other

    if (bad(HERE, ceed_box_set([-2, -1], [5, 3], box))) return
    if (bad(HERE, ceed_box_get_lengths(box, lengths))) return
    if (bad(HERE, all(lengths == [8, 5, 1]))) return
    if (bad(HERE, ceed_box_get_size(box, count))) return
    if (bad(HERE, count == 40)) return
    if (bad(HERE, ceed_box_grow(box, ceed_ghost([1, 0, 0], [0, 2, 0]), other))) return
    if (bad(HERE, ceed_box_contains(other, box, yes))) return
    if (bad(HERE, logical(yes))) return
    if (bad(HERE, ceed_box_intersect(other, box, other))) return
    if (bad(HERE, ceed_box_is_equal(other, box, yes))) return
    if (bad(HERE, logical(yes))) return
    if (bad(HERE, ceed_box_shift(box, [10, 0], other))) return
    if (bad(HERE, ceed_box_hull(box, other, other))) return
    if (bad(HERE, all(other%hi == [15, 3, 0]))) return
    if (bad(HERE, ceed_box_refine(box, [2, 2], other))) return
    if (bad(HERE, ceed_box_coarsen(other, [2, 2], other))) return
    if (bad(HERE, all(other%lo == box%lo) .and. all(other%hi == box%hi))) return
    if (bad(HERE, ceed_box_convert(box, 1, other))) return
    if (bad(HERE, all(other%hi == [6, 3, 0]) .and. other%centring == 1)) return
    if (bad(HERE, ceed_box_is_empty(box, yes))) return
    if (bad(HERE, .not. logical(yes))) return
    if (bad(HERE, ceed_box_set([1], [1, 2], box), ceed_error_dimension)) return
    if (bad(HERE, ceed_box_get_size(ceed_box(), count), ceed_error_incompatible)) return
  end subroutine

  subroutine boxes_are_text
    character(:), allocatable :: text
    type(ceed_box) :: box

    if (bad(HERE, ceed_box_set([-2, -1, 0], [5, 3, 8], box, centring=2))) return
    if (bad(HERE, ceed_box_to_text(box, text))) return
    if (bad(HERE, text == "((-2,-1,0) (5,3,8) (0,1,0))")) return
    if (bad(HERE, ceed_box_from_text("((-7) (7) (1))", box))) return
    if (bad(HERE, box%dim == 1 .and. box%lo(1) == -7 .and. box%centring == 1)) return
    if (bad(HERE, ceed_box_from_text("(7)", box), ceed_error_incompatible)) return
  end subroutine

  subroutine two_boxes(mf)
    type(ceed_multifab), intent(inout) :: mf
    type(ceed_box) :: boxes(2)

    if (bad(HERE, ceed_box_set([-3], [0], boxes(1)))) return
    if (bad(HERE, ceed_box_set([1], [2], boxes(2)))) return
    if (bad(HERE, ceed_multifab_create(ceed, boxes, ceed_ghost([1, 0, 0], [2, 0, 0]), 1, mf))) return
  end subroutine

  !> The entries of a fab of a MultiFab.
  function entries(mf, index) result(a)
    type(ceed_multifab), intent(in) :: mf
    integer, intent(in) :: index
    real(ceed_scalar), allocatable :: a(:)
    real(ceed_scalar), pointer :: p(:)
    type(ceed_fab) :: fab

    allocate (a(0))
    if (bad(HERE, ceed_multifab_get_fab(mf, index, fab))) return
    if (bad(HERE, ceed_fab_get_array_read(fab, ceed_mem_host, p))) return
    a = p
    if (bad(HERE, ceed_fab_restore_array_read(fab, p))) return
    if (bad(HERE, ceed_fab_destroy(fab))) return
  end function

  subroutine ghosts_are_filled
    real(ceed_scalar), target :: u(0:4)
    type(ceed_multifab) :: mf
    type(ceed_fab) :: fab

    call two_boxes(mf)
    if (bad(HERE, ceed_multifab_set_value(mf, 1._ceed_scalar))) return
    u = [0, 5, 6, 0, 0]
    if (bad(HERE, ceed_fab_create_from_array(ceed, u, 1, ceed_ghost([1, 0, 0], [2, 0, 0]), &
                                             ceed_use_pointer, fab))) return
    if (bad(HERE, ceed_multifab_set_fab(mf, 1, fab))) return
    if (bad(HERE, ceed_fab_destroy(fab))) return
    if (bad(HERE, ceed_multifab_fill_ghosts(mf))) return
    if (bad(HERE, all(u == [1, 5, 6, 0, 0]))) return
    if (bad(HERE, ceed_multifab_fill_ghosts(mf, [6]))) return
    if (bad(HERE, all(u == [1, 5, 6, 1, 1]))) return
    if (bad(HERE, all(entries(mf, 0) == [6, 1, 1, 1, 1, 5, 6]))) return
    if (bad(HERE, ceed_multifab_destroy(mf))) return
  end subroutine

  subroutine a_multifab_is_gathered
    real(ceed_scalar), pointer :: a(:)
    integer(c_int8_t) :: cover(-5:5)
    type(ceed_multifab) :: mf
    type(ceed_box) :: box
    type(ceed_fab) :: fab

    call two_boxes(mf)
    if (bad(HERE, ceed_multifab_set_value(mf, 3._ceed_scalar))) return
    if (bad(HERE, ceed_multifab_get_hull(mf, box))) return
    if (bad(HERE, box%lo(1) == -3 .and. box%hi(1) == 2)) return
    if (bad(HERE, ceed_box_set([-5], [5], box))) return
    if (bad(HERE, ceed_fab_create(ceed, box, none, 1, fab))) return
    if (bad(HERE, ceed_multifab_gather(mf, .true., 0._ceed_scalar, fab, cover))) return
    if (bad(HERE, cover(-5) == ceed_cover_none .and. cover(-4) == ceed_cover_ghost)) return
    if (bad(HERE, all(cover(-3:2) == ceed_cover_valid) .and. all(cover(3:4) == 1))) return
    if (bad(HERE, ceed_fab_get_array_read(fab, ceed_mem_host, a))) return
    if (bad(HERE, all(a(-4:4) == 3) .and. a(-5) == 0 .and. a(5) == 0)) return
    if (bad(HERE, ceed_fab_restore_array_read(fab, a))) return
    if (bad(HERE, ceed_multifab_gather(mf, .false., 0._ceed_scalar, fab))) return
    if (bad(HERE, ceed_fab_destroy(fab))) return
    if (bad(HERE, ceed_multifab_destroy(mf))) return
  end subroutine

  subroutine a_multifab_is_redefined
    integer(ceed_int) :: number, level, ratio(3)
    integer(c_int64_t) :: generation
    type(ceed_multifab) :: mf, other
    type(ceed_box) :: boxes(3)
    type(ceed_ghost) :: ghost
    type(ceed_fab) :: fab
    integer :: i

    call two_boxes(mf)
    do i = 1, 3
      if (bad(HERE, ceed_box_set([10*i], [10*i + 1], boxes(i)))) return
    end do
    if (bad(HERE, ceed_multifab_redefine(mf, boxes, none, 2, owners=[0, 4, 4], rank=4))) return
    if (bad(HERE, ceed_multifab_get_num_boxes(mf, number))) return
    if (bad(HERE, number == 3)) return
    if (bad(HERE, ceed_multifab_get_num_local(mf, number))) return
    if (bad(HERE, number == 2)) return
    if (bad(HERE, ceed_multifab_get_local_index(mf, 0, number))) return
    if (bad(HERE, number == 1)) return
    if (bad(HERE, ceed_multifab_get_owner(mf, 0, number))) return
    if (bad(HERE, number == 0)) return
    if (bad(HERE, ceed_multifab_get_rank(mf, number))) return
    if (bad(HERE, number == 4)) return
    if (bad(HERE, ceed_multifab_get_num_components(mf, number))) return
    if (bad(HERE, number == 2)) return
    if (bad(HERE, ceed_multifab_get_ghost(mf, ghost))) return
    if (bad(HERE, all(ghost%lo == 0))) return
    if (bad(HERE, ceed_multifab_get_generation(mf, generation))) return
    if (bad(HERE, generation == 1)) return
    if (bad(HERE, ceed_multifab_get_fab(mf, 0, fab), ceed_error_access)) return
    if (bad(HERE, ceed_multifab_set_level(mf, 2, [2, 2, 2]))) return
    if (bad(HERE, ceed_multifab_get_level(mf, level, ratio))) return
    if (bad(HERE, level == 2 .and. all(ratio == 2))) return
    if (bad(HERE, ceed_multifab_get_box(mf, 2, boxes(1)))) return
    if (bad(HERE, boxes(1)%lo(1) == 30)) return
    if (bad(HERE, ceed_multifab_redefine(mf, boxes, none, 2, owners=[0]), ceed_error_dimension)) return
    if (bad(HERE, ceed_multifab_create(ceed, boxes(2:3), none, 2, other))) return
    if (bad(HERE, ceed_multifab_set_value(other, 1._ceed_scalar))) return
    if (bad(HERE, ceed_multifab_copy(mf, other), ceed_error_incomplete)) return
    if (bad(HERE, ceed_multifab_destroy(other))) return
    if (bad(HERE, ceed_multifab_destroy(mf))) return
  end subroutine

  subroutine fabs_are_printed
    real(ceed_scalar), target :: u(-2:2)
    character(80) :: line
    integer :: unit
    type(ceed_multifab) :: mf
    type(ceed_fab) :: fab

    u = 0
    fab = fab_of(ceed, u, 1)
    call two_boxes(mf)
    open (newunit=unit, status="scratch")
    if (bad(HERE, ceed_fab_view(fab, unit))) return
    if (bad(HERE, ceed_multifab_view(mf, unit))) return
    rewind (unit)
    read (unit, "(a)") line
    close (unit)
    if (bad(HERE, line == "CeedFab ((-2) (2) (0))")) return
    if (bad(HERE, ceed_fab_destroy(fab))) return
    if (bad(HERE, ceed_multifab_destroy(mf))) return
  end subroutine
end program
