! SPDX-License-Identifier: BSD-2-Clause
!> A network that was written in JAX, at two points of a Fortran program.
program stress
  use, intrinsic :: iso_c_binding, only: c_double, c_int
  use network, only: network_at
  implicit none
  integer(c_int), parameter :: points = 2
  real(c_double) :: du(points, 3, 3), sigma(points, 3, 3)
  integer :: i

  du(1, :, :) = 0
  du(2, :, :) = reshape([(0.01_c_double * i, i=1, 9)], [3, 3])
  if (network_at(points, du, sigma) /= 0) error stop
  print '(9es25.16)', (sigma(i, :, :), i=1, points)
end program
