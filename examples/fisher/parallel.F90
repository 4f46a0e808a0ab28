! SPDX-License-Identifier: BSD-2-Clause
!> The processes of a run, in a row; one alone unless it is compiled with -DWITH_MPI.
module parallel
#ifdef WITH_MPI
  use mpi_f08
#endif
  use ceedlike, only: ceed_scalar
  implicit none
  private
  public :: begin, finish, exchange, largest

  integer, parameter :: s = ceed_scalar
#ifdef WITH_MPI
  integer :: left, right
#endif

contains

  subroutine begin(rank, ranks)
    integer, intent(out) :: rank, ranks

#ifdef WITH_MPI
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    left = merge(rank - 1, MPI_PROC_NULL, rank > 0)
    right = merge(rank + 1, MPI_PROC_NULL, rank < ranks - 1)
#else
    rank = 0
    ranks = 1
#endif
  end subroutine

  !> Fill the ghosts u(0) and u(n + 1) from the neighbours; at the ends of the row they stay.
  subroutine exchange(u, n)
    integer, intent(in) :: n
    real(s), intent(inout) :: u(0:n + 1)

#ifdef WITH_MPI
    call MPI_Sendrecv(u(n), 1, MPI_DOUBLE_PRECISION, right, 0, &
                      u(0), 1, MPI_DOUBLE_PRECISION, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Sendrecv(u(1), 1, MPI_DOUBLE_PRECISION, left, 1, &
                      u(n + 1), 1, MPI_DOUBLE_PRECISION, right, 1, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE)
#else
    associate (unused => u)
    end associate
#endif
  end subroutine

  !> The largest of the numbers that all processes give.
  real(s) function largest(number)
    real(s), intent(in) :: number

#ifdef WITH_MPI
    call MPI_Allreduce(number, largest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD)
#else
    largest = number
#endif
  end function

  !> End all processes, well or badly.
  subroutine finish(good)
    logical, intent(in) :: good

#ifdef WITH_MPI
    if (.not. good) call MPI_Abort(MPI_COMM_WORLD, 1)
    call MPI_Finalize()
#endif
    if (.not. good) stop 1
  end subroutine
end module
