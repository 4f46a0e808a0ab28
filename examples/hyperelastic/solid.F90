! SPDX-License-Identifier: BSD-2-Clause
!> The cube of solid.c in a solver of its own, which has its own elements, and from JAX only what
!> happens at a point: the module `elasticity` was made by `python -m pyceedlike compile`.
program solid
  use, intrinsic :: iso_c_binding, only: c_double, c_int
  use elasticity, only: elasticity_at, elasticity_jvp_at
  implicit none
  integer, parameter :: dp = c_double, n = 6, line = n + 1, nodes = line**3, points = 8 * n**3
  real(dp), parameter :: stretch(3, 3) = reshape([5, 0, 1, 2, -3, 0, 0, 1, 3], [3, 3]) / 100.0_dp
  real(dp) :: slope(3, 8, 8), x(nodes, 3), u(nodes, 3), r(nodes, 3), du(nodes, 3)
  real(dp) :: qdata(points, 10), stiffness(points), residual, error
  real(dp), dimension(points, 3, 3) :: direction, du_at, dv
  integer :: corner(8, n**3), step
  logical :: is_inside(nodes, 3)

  call make_mesh()
  call make_geometry()
  stiffness = 1
  u = matmul(x, transpose(stretch))
  where (is_inside) u = 0
  do step = 0, 20
    call forces(u, r)
    residual = norm2(r)
    print '(a, i0, a, es8.2)', 'step ', step, ': residual ', residual
    if (.not. residual > 1e-11_dp) exit
    call solve_linear(r, du)
    u = u - du
  end do
  error = maxval(abs(u - matmul(x, transpose(stretch))))
  print '(i0, a, es7.1)', 3 * nodes, ' unknowns, error ', error
  if (.not. (residual < 1e-11_dp .and. error < 1e-10_dp)) error stop

contains

  subroutine make_mesh()
    integer :: i, j, k, e, a, at(3), node

    do k = 0, n; do j = 0, n; do i = 0, n
      node = 1 + i + line * (j + line * k)
      x(node, :) = real([i, j, k], dp) / n
      is_inside(node, :) = all([i, j, k] > 0 .and. [i, j, k] < n)
    end do; end do; end do
    do e = 0, n**3 - 1
      do a = 0, 7
        at = [mod(e, n), mod(e / n, n), e / n**2] + [mod(a, 2), mod(a / 2, 2), a / 4]
        corner(a + 1, e + 1) = 1 + at(1) + line * (at(2) + line * at(3))
      end do
    end do
  end subroutine

  !> Derivatives of the trilinear functions at the Gauss points, and the data of all points.
  subroutine make_geometry()
    real(dp) :: at(3), side(3), factor(3)
    integer :: q, a, d

    do q = 0, 7
      at = (2 * [mod(q, 2), mod(q / 2, 2), q / 4] - 1) / sqrt(3.0_dp)
      do a = 0, 7
        side = 2 * [mod(a, 2), mod(a / 2, 2), a / 4] - 1
        factor = (1 + side * at) / 2
        do d = 1, 3
          slope(d, a + 1, q + 1) = side(d) / 2 * product(factor) / factor(d)
        end do
      end do
    end do
    qdata = 0
    do d = 1, 9, 4
      qdata(:, d) = 2 * n
    end do
    qdata(:, 10) = 1 / real(2 * n, dp)**3
  end subroutine

  subroutine gradients(v, slopes)
    real(dp), intent(in) :: v(nodes, 3)
    real(dp), intent(out) :: slopes(points, 3, 3)
    integer :: e, q

    do e = 1, n**3
      do q = 1, 8
        slopes(8 * (e - 1) + q, :, :) = transpose(matmul(slope(:, :, q), v(corner(:, e), :)))
      end do
    end do
  end subroutine

  !> The sum of dv over the points, for the nodes inside.
  subroutine add_up(v)
    real(dp), intent(out) :: v(nodes, 3)
    integer :: e, q

    v = 0
    do e = 1, n**3
      do q = 1, 8
        v(corner(:, e), :) = v(corner(:, e), :) &
          + matmul(transpose(slope(:, :, q)), transpose(dv(8 * (e - 1) + q, :, :)))
      end do
    end do
    where (.not. is_inside) v = 0
  end subroutine

  subroutine forces(v, f)
    real(dp), intent(in) :: v(nodes, 3)
    real(dp), intent(out) :: f(nodes, 3)

    call gradients(v, du_at)
    if (elasticity_at(int(points, c_int), du_at, qdata, stiffness, dv) /= 0) error stop
    call add_up(f)
  end subroutine

  subroutine tangent(v, f)
    real(dp), intent(in) :: v(nodes, 3)
    real(dp), intent(out) :: f(nodes, 3)

    call gradients(v, direction)
    if (elasticity_jvp_at(int(points, c_int), direction, du_at, qdata, stiffness, dv) /= 0) error stop
    call add_up(f)
  end subroutine

  !> v = J^-1 b by conjugate gradients.
  subroutine solve_linear(b, v)
    real(dp), intent(in) :: b(nodes, 3)
    real(dp), intent(out) :: v(nodes, 3)
    real(dp) :: rest(nodes, 3), p(nodes, 3), Ap(nodes, 3), rr, before, alpha
    integer :: k

    v = 0
    rest = b
    p = b
    rr = sum(rest**2)
    before = rr
    do k = 1, 1000
      if (rr <= 1e-20_dp * sum(b**2)) exit
      call tangent(p, Ap)
      alpha = rr / sum(p * Ap)
      v = v + alpha * p
      rest = rest - alpha * Ap
      before = rr
      rr = sum(rest**2)
      p = rest + rr / before * p
    end do
  end subroutine
end program
