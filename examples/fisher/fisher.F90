! SPDX-License-Identifier: BSD-2-Clause
!> Fisher's equation u_t = u_xx + s(u), whose source term s is a function of Python.
!>
!> For s = u (1 - u) a front of the exact form (1 + exp((x - 5 t/sqrt(6))/sqrt(6)))**(-2) travels
!> without changing (Ablowitz and Zeppetella, 1979). The program follows it on two grids, and the
!> error must fall with the square of their step.
program fisher
  use ceedlike
  use parallel
  implicit none
  integer, parameter :: s = ceed_scalar
  real(s), parameter :: x_left = -20, x_right = 20, time = 1
  type(ceed_context) :: ceed
  real(s) :: coarse, fine, order
  integer :: rank, ranks

  call begin(rank, ranks)
  call check(ceed_init("/cpu/self", ceed))
  coarse = error_of(200)
  fine = error_of(400)
  order = log(coarse/fine)/log(2._s)
  if (rank == 0) print "(2(a, es8.1), a, f4.1, 2a)", "errors ", coarse, " and ", fine, ", order ", &
    order, ": ", trim(merge("good ", "WRONG", abs(order - 2) < 0.1))
  call check(ceed_destroy(ceed))
  call finish(abs(order - 2) < 0.1)

contains

  !> The error at the end, on a grid of so many cells, which the processes share out.
  real(s) function error_of(cells) result(error)
    integer, intent(in) :: cells
    type(ceed_vector) :: field, source
    real(s), pointer :: u(:), growth(:)
    real(s) :: h, dt, t
    integer :: i, n, first, step, steps

    h = (x_right - x_left)/cells
    steps = ceiling(time/(0.4_s*h**2))
    dt = time/steps
    first = rank*(cells - 1)/ranks                 ! the inner nodes are 1, ..., cells - 1
    n = (rank + 1)*(cells - 1)/ranks - first
    associate (x => [(x_left + (first + i)*h, i=0, n + 1)])
      call check(ceed_vector_create(ceed, n + 2, field))
      call check(ceed_vector_create(ceed, n + 2, source))
      call check(ceed_vector_get_array_write(field, ceed_mem_host, u, [0], [n + 1]))
      u = front(x, 0._s)
      call check(ceed_vector_restore_array(field, u))
      do step = 1, steps
        t = step*dt
        call check(ceed_python_call(ceed, "growth:logistic", [field], [source]))
        call check(ceed_vector_get_array(field, ceed_mem_host, u, [0], [n + 1]))
        call check(ceed_vector_get_array_read(source, ceed_mem_host, growth, [0], [n + 1]))
        u(1:n) = u(1:n) + dt*((u(:n - 1) - 2*u(1:n) + u(2:))/h**2 + growth(1:n))
        u([0, n + 1]) = front(x([1, n + 2]), t)    ! at the ends of the row these are exact
        call exchange(u, n)
        call check(ceed_vector_restore_array_read(source, growth))
        call check(ceed_vector_restore_array(field, u))
      end do
      call check(ceed_vector_get_array_read(field, ceed_mem_host, u))
      error = largest(maxval(abs(u - front(x, time))))
      call check(ceed_vector_restore_array_read(field, u))
    end associate
    call check(ceed_vector_destroy(field))
    call check(ceed_vector_destroy(source))
  end function

  elemental real(s) function front(x, t)
    real(s), intent(in) :: x, t

    front = (1 + exp((x - 5*t/sqrt(6._s))/sqrt(6._s)))**(-2)
  end function

  subroutine check(code)
    integer, intent(in) :: code

    if (code == 0) return
    print "(a)", ceed_error_message()
    call finish(.false.)
  end subroutine
end program
