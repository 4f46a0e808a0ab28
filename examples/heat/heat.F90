! SPDX-License-Identifier: BSD-2-Clause
!> The solver of heat.h in Fortran, on fields u(0:n+1, 0:n+1) whose outer layer is the edge.
!>
!> Alternating directions (Peaceman and Rachford): each half step is implicit along one axis, where
!> it solves a tridiagonal system a line, and explicit along the other.
module heat
  use, intrinsic :: iso_c_binding
  use ceedlike
  implicit none
  private

  type :: solver
    integer :: n
    real(ceed_scalar) :: half_dt, q                !< q is kappa dt / 2 h^2
    real(ceed_scalar), allocatable :: pivot(:)     !< of the elimination, the same for all lines
    real(ceed_scalar), allocatable :: half(:, :)   !< the field between the half steps
  end type

  character(kind=c_char), target, save :: message(1025)

contains

  integer(c_int) function heat_create(ceed, n, kappa, dt, heat) bind(c, name="HeatCreate") &
      result(code)
    type(ceed_context), value :: ceed
    integer(ceed_int), value :: n
    real(c_double), value :: kappa, dt
    type(c_ptr), intent(inout) :: heat
    type(solver), pointer :: h
    integer :: k, status

    code = ceed_error_success
    if (.not. (n > 0 .and. kappa > 0 .and. dt > 0)) then
      code = ceed_error(ceed, ceed_error_dimension, &
                        "HeatCreate: n, kappa and dt must be positive")
      return
    end if
    allocate (h)
    allocate (h%pivot(0:n), h%half(0:n + 1, 0:n + 1), source=0._ceed_scalar, stat=status)
    if (status /= 0) then
      deallocate (h)
      code = ceed_error(ceed, ceed_error_major, "HeatCreate: out of memory")
      return
    end if
    h%n = n
    h%half_dt = dt/2
    h%q = kappa*dt/2*(n + 1._ceed_scalar)**2
    do k = 1, n
      h%pivot(k) = 1/(1 + 2*h%q - h%q**2*h%pivot(k - 1))
    end do
    heat = c_loc(h)
  end function

  integer(c_int) function heat_ghosts() bind(c, name="HeatGhosts")
    heat_ghosts = 1
  end function

  integer(c_int) function heat_step(heat, source, temperature, num_steps) &
      bind(c, name="HeatStep") result(code)
    type(c_ptr), value :: heat
    type(ceed_vector), value :: source, temperature
    integer(ceed_int), value :: num_steps
    type(solver), pointer :: h
    real(ceed_scalar), pointer :: s(:, :), u(:, :)
    integer :: step, restored

    call c_f_pointer(heat, h)
    associate (first => [0, 0], last => [h%n + 1, h%n + 1])
      code = ceed_vector_get_array_read(source, ceed_mem_host, s, first, last)
      if (code /= ceed_error_success) return
      code = ceed_vector_get_array(temperature, ceed_mem_host, u, first, last)
    end associate
    if (code == ceed_error_success) then
      call cool_edge(u, h%n)
      do step = 1, num_steps
        call half_step_along_x(h, u, s, h%half)
        call half_step_along_y(h, h%half, s, u)
      end do
      code = ceed_vector_restore_array(temperature, u)
    end if
    restored = ceed_vector_restore_array_read(source, s)
    if (code == ceed_error_success) code = restored
  end function

  subroutine cool_edge(u, n)
    integer, intent(in) :: n
    real(ceed_scalar), intent(inout) :: u(0:n + 1, 0:n + 1)

    u(0, :) = 0
    u(n + 1, :) = 0
    u(:, 0) = 0
    u(:, n + 1) = 0
  end subroutine

  subroutine half_step_along_x(h, u, s, out)
    type(solver), intent(in) :: h
    real(ceed_scalar), intent(in) :: u(0:h%n + 1, 0:h%n + 1), s(0:h%n + 1, 0:h%n + 1)
    real(ceed_scalar), intent(inout) :: out(0:h%n + 1, 0:h%n + 1)
    integer :: i, j

    do j = 1, h%n
      do i = 1, h%n
        out(i, j) = (u(i, j) + h%q*(u(i, j - 1) - 2*u(i, j) + u(i, j + 1)) + h%half_dt*s(i, j) &
                     + h%q*out(i - 1, j))*h%pivot(i)
      end do
      do i = h%n - 1, 1, -1
        out(i, j) = out(i, j) + h%q*h%pivot(i)*out(i + 1, j)
      end do
    end do
  end subroutine

  subroutine half_step_along_y(h, u, s, out)
    type(solver), intent(in) :: h
    real(ceed_scalar), intent(in) :: u(0:h%n + 1, 0:h%n + 1), s(0:h%n + 1, 0:h%n + 1)
    real(ceed_scalar), intent(inout) :: out(0:h%n + 1, 0:h%n + 1)
    integer :: i, j

    do j = 1, h%n
      do i = 1, h%n
        out(i, j) = (u(i, j) + h%q*(u(i - 1, j) - 2*u(i, j) + u(i + 1, j)) + h%half_dt*s(i, j) &
                     + h%q*out(i, j - 1))*h%pivot(j)
      end do
    end do
    do j = h%n - 1, 1, -1
      out(1:h%n, j) = out(1:h%n, j) + h%q*h%pivot(j)*out(1:h%n, j + 1)
    end do
  end subroutine

  integer(c_int) function heat_address(vec, address) bind(c, name="HeatAddress") result(code)
    type(ceed_vector), value :: vec
    integer(c_intptr_t), intent(inout) :: address
    real(ceed_scalar), pointer :: a(:)

    code = ceed_vector_get_array_read(vec, ceed_mem_host, a)
    if (code /= ceed_error_success) return
    address = transfer(c_loc(a), address)
    code = ceed_vector_restore_array_read(vec, a)
  end function

  type(c_ptr) function heat_error() bind(c, name="HeatError")
    character(:), allocatable :: text
    integer :: i

    text = ceed_error_message()
    do i = 1, len(text)
      message(i) = text(i:i)
    end do
    message(len(text) + 1) = c_null_char
    heat_error = c_loc(message)
  end function

  integer(c_int) function heat_destroy(heat) bind(c, name="HeatDestroy")
    type(c_ptr), intent(inout) :: heat
    type(solver), pointer :: h

    heat_destroy = ceed_error_success
    if (.not. c_associated(heat)) return
    call c_f_pointer(heat, h)
    deallocate (h)
    heat = c_null_ptr
  end function
end module
