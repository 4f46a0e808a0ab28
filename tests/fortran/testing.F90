! SPDX-License-Identifier: BSD-2-Clause
!> The test frame: named behaviours, TAP on standard output, the exit code for everybody else.
module testing
  use, intrinsic :: iso_c_binding, only: c_int, c_null_ptr
  use, intrinsic :: iso_fortran_env, only: error_unit, output_unit
#ifdef CEEDLIKE_SINGLE
  use ceedlike_f32
#else
  use ceedlike
#endif
  implicit none
  private
  public :: ceed, bad, run, finish, iota, values_are, says

  abstract interface
    subroutine behaviour
    end subroutine
  end interface

  !> Whether something is not as it should be; it is then told where, and the behaviour has failed.
  interface bad
    module procedure not_true, not_ok, not_code
  end interface

  type(ceed_context) :: ceed         !< of the behaviour that runs
  logical :: failed
  integer :: number = 0, failures = 0

contains

  !> Run a behaviour, unless the program was given the name of another.
  subroutine run(name, body)
    character(*), intent(in) :: name
    procedure(behaviour) :: body
    character(200) :: wanted
    integer :: i

    call get_command_argument(1, wanted)
    if (wanted /= "" .and. wanted /= name) return
    number = number + 1
    failed = ceed_reset_error_message() /= 0
    if (ceed_init("/cpu/self", ceed) /= 0) failed = .true.
    if (.not. failed) call body()
    if (ceed_destroy(ceed) /= 0) failed = .true.
    if (failed) failures = failures + 1
    write (output_unit, "(a, i0, *(a))") merge("not ok ", "ok     ", failed), number, " - ", &
      (merge(" ", name(i:i), name(i:i) == "_"), i=1, len(name))
    flush (output_unit)
  end subroutine

  subroutine finish
    write (output_unit, "(a, i0)") "1..", number
    if (failures > 0 .or. number == 0) stop 1
  end subroutine

  logical function not_true(file, line, condition)
    character(*), intent(in) :: file
    integer, intent(in) :: line
    logical, intent(in) :: condition

    not_true = .not. condition
    if (not_true) call tell(file, line, "false")
  end function

  logical function not_ok(file, line, code)
    character(*), intent(in) :: file
    integer, intent(in) :: line
    integer(c_int), intent(in) :: code

    not_ok = code /= 0
    if (not_ok) call tell(file, line, ceed_error_message())
  end function

  !> The call fails with this code, and says why.
  logical function not_code(file, line, code, expected)
    character(*), intent(in) :: file
    integer, intent(in) :: line
    integer(c_int), intent(in) :: code, expected
    character(12) :: given

    write (given, "(i0)") code
    not_code = code /= expected
    if (says("No error message stored")) not_code = .true.
    if (not_code) call tell(file, line, "code "//trim(given)//": "//ceed_error_message())
  end function

  subroutine tell(file, line, what)
    character(*), intent(in) :: file, what
    integer, intent(in) :: line

    failed = .true.
    write (error_unit, "(3a, i0, 2a)") "# ", file, ":", line, ": ", what
  end subroutine

  !> Whether the text of the last error holds these words.
  logical function says(words)
    character(*), intent(in) :: words

    says = index(ceed_error_message(), words) > 0
  end function

  !> A vector of 1, 2, ..., length.
  type(ceed_vector) function iota(length)
    integer, intent(in) :: length
    real(ceed_scalar), pointer :: a(:)
    integer :: i

    if (ceed_vector_create(ceed, length, iota) /= 0) return
    if (ceed_vector_get_array_write(iota, ceed_mem_host, a) /= 0) return
    a = [(i, i=1, length)]
    if (ceed_vector_restore_array(iota, a) /= 0) return
  end function

  logical function values_are(vec, expected)
    type(ceed_vector), intent(in) :: vec
    real(ceed_scalar), intent(in) :: expected(:)
    real(ceed_scalar), pointer :: a(:)

    values_are = .false.
    if (ceed_vector_get_array_read(vec, ceed_mem_host, a) /= 0) return
    if (size(a) == size(expected)) values_are = all(a == expected)
    if (ceed_vector_restore_array_read(vec, a) /= 0) values_are = .false.
  end function
end module
