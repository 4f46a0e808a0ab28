! SPDX-License-Identifier: BSD-2-Clause
!> What a Python process calls in a Fortran library: vectors go both ways as their handles.
module handles
  use, intrinsic :: iso_c_binding
  use ceedlike
  implicit none
  private

  integer, parameter :: nx = 2, ny = 3, nz = 4
  real(ceed_scalar), target, save :: u(0:nx - 1, -1:ny - 2, nz)

contains

  !> 100 i + 10 j + k, with i, j and k counted from 0.
  subroutine fill(a)
    real(ceed_scalar), intent(out) :: a(0:, 0:, 0:)
    integer :: i, j, k

    do concurrent(i=0:size(a, 1) - 1, j=0:size(a, 2) - 1, k=0:size(a, 3) - 1)
      a(i, j, k) = 100*i + 10*j + k
    end do
  end subroutine

  !> A vector on an array of this module, and where the array lies.
  integer(c_int) function lend_field(ceed, vec, address) bind(c) result(code)
    type(ceed_context), value :: ceed
    type(ceed_vector), intent(inout) :: vec
    integer(c_intptr_t), intent(out) :: address

    call fill(u)
    address = transfer(c_loc(u), address)
    code = ceed_vector_create(ceed, size(u), vec)
    if (code == 0) code = ceed_vector_set_array(vec, ceed_mem_host, ceed_use_pointer, u)
  end function

  !> The same array as a tensor, its first index the first axis.
  integer(c_int) function export_field(vec, tensor) bind(c) result(code)
    type(ceed_vector), value :: vec
    type(c_ptr), intent(inout) :: tensor

    code = ceed_vector_export(vec, ceed_mem_host, ceed_export_shared, shape(u), tensor)
  end function

  !> What the module itself sees in its array.
  real(ceed_scalar) function entry(i, j, k) bind(c)
    integer(c_int), value :: i, j, k

    entry = u(i, j - 1, k + 1)
  end function

  !> Fill a vector of Python's, seen as (nx, ny, nz).
  integer(c_int) function fill_vector(vec) bind(c) result(code)
    type(ceed_vector), value :: vec
    real(ceed_scalar), pointer :: a(:, :, :)

    code = ceed_vector_get_array_write(vec, ceed_mem_host, a, [1, 1, 1], [nx, ny, nz])
    if (code /= 0) return
    call fill(a)
    code = ceed_vector_restore_array(vec, a)
  end function

  integer(c_int) function keep(vec, kept) bind(c) result(code)
    type(ceed_vector), value :: vec
    type(ceed_vector), intent(inout) :: kept

    code = ceed_vector_reference_copy(vec, kept)
  end function

  integer(c_int) function let_go(vec) bind(c) result(code)
    type(ceed_vector), intent(inout) :: vec

    code = ceed_vector_destroy(vec)
  end function
end module
