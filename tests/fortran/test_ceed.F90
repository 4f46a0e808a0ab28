! SPDX-License-Identifier: BSD-2-Clause
!> Contexts, errors, texts and rules.
#define HERE __FILE__, __LINE__
program test_ceed
  use, intrinsic :: iso_c_binding
#ifdef CEEDLIKE_SINGLE
  use ceedlike_f32
#else
  use ceedlike
#endif
  use testing
  implicit none

  call run("resources_are_found_by_their_whole_name", resources_are_found_by_their_whole_name)
  call run("an_unknown_resource_is_an_error_that_lists_those_there_are", &
           an_unknown_resource_is_an_error_that_lists_those_there_are)
  call run("a_host_context_prefers_host_memory", a_host_context_prefers_host_memory)
  call run("host_memory_is_the_hosts_in_dlpack", host_memory_is_the_hosts_in_dlpack)
  call run("a_host_context_has_no_streams", a_host_context_has_no_streams)
  call run("view_prints_resource_precision_and_memory", view_prints_resource_precision_and_memory)
  call run("destroy_sets_null_and_is_safe_twice", destroy_sets_null_and_is_safe_twice)
  call run("a_reference_copy_is_the_same_object_and_outlives_the_first", &
           a_reference_copy_is_the_same_object_and_outlives_the_first)
  call run("null_contexts_are_errors", null_contexts_are_errors)
  call run("without_an_error_there_is_no_message", without_an_error_there_is_no_message)
  call run("programs_report_errors_of_their_own", programs_report_errors_of_their_own)
  call run("the_loaded_version_is_told", the_loaded_version_is_told)
  call run("the_library_tells_how_it_was_built", the_library_tells_how_it_was_built)
  call run("the_library_has_the_precision_of_the_module", &
           the_library_has_the_precision_of_the_module)
  call run("gauss_rules_have_their_known_values", gauss_rules_have_their_known_values)
  call run("lobatto_rules_have_their_known_values", lobatto_rules_have_their_known_values)
  call finish

contains

  subroutine resources_are_found_by_their_whole_name
    type(ceed_context) :: other
    character(:), allocatable :: name

    if (bad(HERE, ceed_init("/cpu/self/ref/serial   ", other))) return
    if (bad(HERE, ceed_get_resource(other, name))) return
    if (bad(HERE, name == "/cpu/self/ref/serial" .and. len(name) == 20)) return
    if (bad(HERE, ceed_destroy(other))) return
  end subroutine

  subroutine an_unknown_resource_is_an_error_that_lists_those_there_are
    type(ceed_context) :: other

    if (bad(HERE, ceed_init("/abacus", other), ceed_error_unsupported)) return
    if (bad(HERE, says("/abacus"))) return
    if (bad(HERE, says("/cpu/self/ref/serial"))) return
    if (bad(HERE, .not. c_associated(other%handle))) return
  end subroutine

  subroutine a_host_context_prefers_host_memory
    integer(c_int) :: mem_type = -1
    logical(c_bool) :: host = .false., device = .true., is_deterministic = .false.

    if (bad(HERE, ceed_get_preferred_mem_type(ceed, mem_type))) return
    if (bad(HERE, ceed_mem_type_is_available(ceed, ceed_mem_host, host))) return
    if (bad(HERE, ceed_mem_type_is_available(ceed, ceed_mem_device, device))) return
    if (bad(HERE, ceed_is_deterministic(ceed, is_deterministic))) return
    if (bad(HERE, mem_type == ceed_mem_host .and. host .and. .not. device)) return
    if (bad(HERE, logical(is_deterministic))) return
  end subroutine

  subroutine host_memory_is_the_hosts_in_dlpack
    integer(c_int32_t) :: device_type = -1, device_id = -1

    if (bad(HERE, ceed_get_dlpack_device(ceed, ceed_mem_host, device_type, device_id))) return
    if (bad(HERE, device_type == 1 .and. device_id == 0)) return
    if (bad(HERE, ceed_get_dlpack_device(ceed, ceed_mem_device, device_type, device_id), &
            ceed_error_backend)) return
  end subroutine

  subroutine a_host_context_has_no_streams
    type(c_ptr) :: stream = c_null_ptr

    if (bad(HERE, ceed_set_stream(ceed, c_null_ptr), ceed_error_unsupported)) return
    if (bad(HERE, ceed_get_stream(ceed, stream), ceed_error_unsupported)) return
    if (bad(HERE, ceed_order_before(ceed, c_null_ptr), ceed_error_unsupported)) return
    if (bad(HERE, ceed_order_after(ceed, c_null_ptr), ceed_error_unsupported)) return
  end subroutine

  subroutine view_prints_resource_precision_and_memory
    character(80) :: line(5)
    integer :: unit

    open (newunit=unit, status="scratch")
    if (bad(HERE, ceed_view(ceed, unit))) return
    rewind (unit)
    read (unit, "(a)") line
    close (unit)
    if (bad(HERE, line(1) == "Ceed" .and. index(line(2), "/cpu/self") > 0)) return
    if (bad(HERE, index(line(4), "host") > 0)) return
    if (bad(HERE, ceed_view(ceed_context(), unit), ceed_error_incompatible)) return
  end subroutine

  subroutine destroy_sets_null_and_is_safe_twice
    type(ceed_context) :: other

    if (bad(HERE, ceed_init("/cpu/self", other))) return
    if (bad(HERE, ceed_destroy(other))) return
    if (bad(HERE, .not. c_associated(other%handle))) return
    if (bad(HERE, ceed_destroy(other))) return
  end subroutine

  subroutine a_reference_copy_is_the_same_object_and_outlives_the_first
    type(ceed_context) :: first, second
    character(:), allocatable :: name

    if (bad(HERE, ceed_init("/cpu/self", first))) return
    if (bad(HERE, ceed_reference_copy(first, second))) return
    if (bad(HERE, c_associated(first%handle, second%handle))) return
    if (bad(HERE, ceed_destroy(first))) return
    if (bad(HERE, ceed_get_resource(second, name))) return
    if (bad(HERE, ceed_destroy(second))) return
  end subroutine

  subroutine null_contexts_are_errors
    type(ceed_context) :: none, other
    type(ceed_vector) :: x
    character(:), allocatable :: name

    if (bad(HERE, ceed_get_resource(none, name), ceed_error_incompatible)) return
    if (bad(HERE, says("The Ceed handle is NULL"))) return
    if (bad(HERE, .not. allocated(name))) return
    if (bad(HERE, ceed_reference_copy(none, other), ceed_error_incompatible)) return
    if (bad(HERE, ceed_vector_create(none, 3, x), ceed_error_incompatible)) return
  end subroutine

  subroutine without_an_error_there_is_no_message
    if (bad(HERE, ceed_error_message() == "No error message stored")) return
  end subroutine

  subroutine programs_report_errors_of_their_own
    if (bad(HERE, ceed_error(ceed, ceed_error_minor, "100% of %s"), ceed_error_minor)) return
    if (bad(HERE, ceed_error_message() == "100% of %s")) return
    if (bad(HERE, ceed_error(ceed_context(), ceed_error_access, "mine"), ceed_error_access)) return
    if (bad(HERE, len(ceed_error_message()) == 4)) return
  end subroutine

  subroutine the_loaded_version_is_told
    integer(c_int) :: major = -1, minor = -1, patch = -1
    logical(c_bool) :: release

    if (bad(HERE, ceed_get_version(major, minor, patch, release))) return
    if (bad(HERE, major >= 0 .and. minor >= 0 .and. patch >= 0)) return
  end subroutine

  subroutine the_library_tells_how_it_was_built
    character(:), allocatable :: revision, build

    if (bad(HERE, ceed_get_git_version(revision))) return
    if (bad(HERE, ceed_get_build_configuration(build))) return
    if (bad(HERE, len(revision) > 0 .and. index(build, "CeedScalar") > 0)) return
  end subroutine

  subroutine the_library_has_the_precision_of_the_module
    integer(c_int) :: scalar_type = -1

    if (bad(HERE, ceed_get_scalar_type(scalar_type))) return
    if (bad(HERE, scalar_type == merge(ceed_scalar_fp64, ceed_scalar_fp32, &
                                       ceed_scalar == c_double))) return
  end subroutine

  subroutine gauss_rules_have_their_known_values
    real(ceed_scalar) :: x(2), w(2)

    if (bad(HERE, ceed_gauss_quadrature(2, x, w))) return
    if (bad(HERE, all(abs(x - [-1, 1]/sqrt(3._ceed_scalar)) <= 2*epsilon(x)))) return
    if (bad(HERE, all(abs(w - 1) <= 2*epsilon(w)))) return
  end subroutine

  subroutine lobatto_rules_have_their_known_values
    real(ceed_scalar) :: x(3), w(3)

    if (bad(HERE, ceed_lobatto_quadrature(3, x, w))) return
    if (bad(HERE, all(abs(x - [-1, 0, 1]) <= 2*epsilon(x)))) return
    if (bad(HERE, all(abs(w - [1, 4, 1]/3._ceed_scalar) <= 4*epsilon(w)))) return
    if (bad(HERE, ceed_lobatto_quadrature(1, x, w) /= 0)) return
  end subroutine
end program
