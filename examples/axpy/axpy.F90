! SPDX-License-Identifier: BSD-2-Clause
!> y = 2 x + y in memory of the program, with x = 0, 1, ..., n - 1 and y = 1. The sum of the result
!> is n (n - 1) + n = n^2.
program axpy
  use, intrinsic :: iso_c_binding, only: c_int
#ifdef CEEDLIKE_SINGLE
  use ceedlike_f32
#else
  use ceedlike
#endif
  implicit none
  integer, parameter :: n = 1000
  real(ceed_scalar), target :: values(n)
  real(ceed_scalar) :: total
  logical :: good

  values = 1
  call run
  good = nint(total) == n*n .and. nint(values(n)) == 2*n - 1
  print "(a, i0, a, i0, 2a)", "sum ", nint(total), ", expected ", n*n, ": ", &
    trim(merge("good ", "WRONG", good))
  if (.not. good) stop 1

contains

  subroutine run
    type(ceed_context) :: ceed
    type(ceed_vector) :: x, y
    real(ceed_scalar), pointer :: a(:)
    integer :: i

    call check(ceed_init("/cpu/self", ceed))
    call check(ceed_vector_create(ceed, n, x))
    call check(ceed_vector_get_array_write(x, ceed_mem_host, a))
    a = [(i, i=0, n - 1)]
    call check(ceed_vector_restore_array(x, a))

    call check(ceed_vector_create(ceed, n, y))
    call check(ceed_vector_set_array(y, ceed_mem_host, ceed_use_pointer, values))
    call check(ceed_vector_axpy(y, 2._ceed_scalar, x))
    call check(ceed_vector_norm(y, ceed_norm_1, total))
    call check(ceed_vector_destroy(x))
    call check(ceed_vector_destroy(y))
    call check(ceed_destroy(ceed))
  end subroutine

  subroutine check(code)
    integer(c_int), intent(in) :: code

    if (code == ceed_error_success) return
    print "(a)", ceed_error_message()
    stop 1
  end subroutine
end program
