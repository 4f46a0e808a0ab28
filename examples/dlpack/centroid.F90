! SPDX-License-Identifier: BSD-2-Clause
!> The library of centroid.h in Fortran. The last axis of the tensor is the first of the array.
module centroid_of_points
  use, intrinsic :: iso_c_binding
  use ceedlike
  implicit none
  private

contains

  integer(c_int) function centroid(points, versioned, mean) bind(c, name="Centroid") result(code)
    type(c_ptr), value :: points
    logical(c_bool), value :: versioned
    real(c_double), intent(inout) :: mean(3)
    integer(c_int64_t), target :: shape(2)
    real(c_double), pointer :: xyz(:, :)

    shape = [-1, 3]
    code = ceed_dlpack_check(points, logical(versioned), ceed_dlpack_spec( &
      code=2, bits=64, lanes=1, ndim=2, shape=c_loc(shape), contiguous=.true._c_bool, alignment=8))
    if (code /= ceed_error_success) return
    call look(points, logical(versioned), xyz)
    if (size(xyz) == 0) then
      code = ceed_error(ceed_context(), ceed_error_dimension, "there are no points")
    else
      mean = sum(xyz, dim=2)/size(xyz, dim=2)
    end if
  end function

  !> The entries of a tensor in C order, as an array.
  subroutine look(points, versioned, xyz)
    type(c_ptr), intent(in) :: points
    logical, intent(in) :: versioned
    real(c_double), pointer, intent(out) :: xyz(:, :)
    type(dl_managed_tensor), pointer :: legacy
    type(dl_managed_tensor_versioned), pointer :: managed
    type(dl_tensor), pointer :: tensor
    integer(c_int64_t), pointer :: shape(:)
    integer(c_intptr_t) :: address

    if (versioned) then
      call c_f_pointer(points, managed)
      tensor => managed%tensor
    else
      call c_f_pointer(points, legacy)
      tensor => legacy%tensor
    end if
    call c_f_pointer(tensor%shape, shape, [tensor%ndim])
    address = transfer(tensor%data, address) + tensor%byte_offset
    call c_f_pointer(transfer(address, c_null_ptr), xyz, shape(2:1:-1))
  end subroutine
end module
