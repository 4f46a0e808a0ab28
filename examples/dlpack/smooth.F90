! SPDX-License-Identifier: BSD-2-Clause
!> A tensor goes to a library that knows only dlpack.h, and one comes back. The mean of a sine and
!> its neighbours h apart is the same sine, (1 + 2 cos h) / 3 times as high.
program smooth
  use, intrinsic :: iso_c_binding
  use ceedlike
  implicit none

  interface
    type(c_ptr) function filter_smooth(field) bind(c, name="FilterSmooth")
      import
      type(c_ptr), value :: field
    end function
  end interface

  integer, parameter :: n = 101
  real(ceed_scalar), parameter :: h = acos(-1._ceed_scalar)/(n - 1)
  type(ceed_context) :: ceed
  type(ceed_vector) :: u, smoothed
  type(c_ptr) :: field, result
  real(ceed_scalar), pointer :: a(:)
  real(ceed_scalar), target :: sine(n)
  logical :: good
  integer :: i

  sine = [(sin(i*h), i=0, n - 1)]
  call check(ceed_init("/cpu/self", ceed))
  call check(ceed_vector_create(ceed, n, u))
  call check(ceed_vector_set_array(u, ceed_mem_host, ceed_copy_values, sine))
  call check(ceed_vector_to_dlpack(ceed, u, ceed_mem_host, field))
  call check(ceed_vector_destroy(u))  ! the filter still reads its memory, and that is fine

  result = filter_smooth(field)
  if (.not. c_associated(result)) stop "the filter refused the field"
  call check(ceed_vector_create_from_dlpack(ceed, result, ceed_own_pointer, smoothed))
  call check(ceed_vector_get_array_read(smoothed, ceed_mem_host, a))
  good = maxval(abs(a - (1 + 2*cos(h))/3*sine)) < 1e-15_ceed_scalar
  call check(ceed_vector_restore_array_read(smoothed, a))
  call check(ceed_vector_destroy(smoothed))
  call check(ceed_destroy(ceed))
  print "(2a)", "smoothed sine: ", trim(merge("good ", "WRONG", good))
  if (.not. good) stop 1

contains

  subroutine check(code)
    integer(c_int), intent(in) :: code

    if (code == ceed_error_success) return
    print "(a)", ceed_error_message()
    stop 1
  end subroutine
end program
