! SPDX-License-Identifier: BSD-2-Clause
!> Operators: what they are made of, and QFunctions and routines that are written in Fortran.
#define HERE __FILE__, __LINE__
module physics
  use, intrinsic :: iso_c_binding
#ifdef CEEDLIKE_SINGLE
  use ceedlike_f32
#else
  use ceedlike
#endif
  implicit none
  integer, parameter :: s = ceed_scalar

  type, bind(c) :: material
    real(c_double) :: conductivity
    integer(c_int32_t) :: power
    logical(c_bool) :: is_broken
  end type

  integer :: ended = 0

contains

  !> conductivity u**power, times the weight of the point
  integer(c_int) function source(ctx, q, in, out) bind(c)
    type(c_ptr), value :: ctx
    integer(ceed_int), value :: q
    type(c_ptr), intent(in) :: in(*), out(*)
    type(material), pointer :: m
    real(s), pointer :: u(:), weight(:), v(:)

    call c_f_pointer(ctx, m)
    call c_f_pointer(in(1), u, [q])
    call c_f_pointer(in(2), weight, [q])
    call c_f_pointer(out(1), v, [q])
    source = 0
    if (m%is_broken) source = ceed_error(ceed_context(), 42, "the material is broken")
    if (source == 0) v = real(m%conductivity, s)*u**m%power*weight
  end function

  !> The sum of two components, and their difference.
  integer(c_int) function mix(ctx, q, in, out) bind(c)
    type(c_ptr), value :: ctx
    integer(ceed_int), value :: q
    type(c_ptr), intent(in) :: in(*), out(*)
    real(s), pointer :: u(:, :), v(:, :)

    mix = merge(0, 1, c_associated(ctx) .eqv. .false.)
    call c_f_pointer(in(1), u, [q, 2])
    call c_f_pointer(out(1), v, [q, 2])
    v(:, 1) = u(:, 1) + u(:, 2)
    v(:, 2) = u(:, 1) - u(:, 2)
  end function

  !> Both inputs, added.
  integer(c_int) function add(ctx, q, in, out) bind(c)
    type(c_ptr), value :: ctx
    integer(ceed_int), value :: q
    type(ceed_vector), intent(in) :: in(*), out(*)

    add = merge(1, 0, c_associated(ctx) .or. q /= 3)
    if (add == 0) add = ceed_vector_copy(in(1), out(1))
    if (add == 0) add = ceed_vector_axpy(out(1), 1._s, in(2))
  end function

  !> out(i) = in(i + 1) - in(i), one entry shorter
  integer(c_int) function difference(ctx, in, out) bind(c)
    type(c_ptr), value :: ctx
    type(ceed_vector), value :: in, out
    real(s), pointer :: u(:), v(:), factor

    call c_f_pointer(ctx, factor)
    difference = ceed_vector_get_array_read(in, ceed_mem_host, u)
    if (difference == 0) difference = ceed_vector_get_array_write(out, ceed_mem_host, v)
    if (difference /= 0) return
    v = factor*(u(2:) - u(:size(u) - 1))
    difference = ceed_vector_restore_array_read(in, u)
    if (difference == 0) difference = ceed_vector_restore_array(out, v)
  end function

  integer(c_int) function transposed(ctx, in, out) bind(c)
    type(c_ptr), value :: ctx
    type(ceed_vector), value :: in, out
    real(s), pointer :: u(:), v(:), factor

    call c_f_pointer(ctx, factor)
    transposed = ceed_vector_get_array_read(in, ceed_mem_host, u)
    if (transposed == 0) transposed = ceed_vector_get_array_write(out, ceed_mem_host, v)
    if (transposed /= 0) return
    v = factor*([0._s, u] - [u, 0._s])
    transposed = ceed_vector_restore_array_read(in, u)
    if (transposed == 0) transposed = ceed_vector_restore_array(out, v)
  end function

  integer(c_int) function let_go(data) bind(c)
    type(c_ptr), value :: data

    if (c_associated(data)) ended = ended + 1
    let_go = 0
  end function
end module

program test_fem
  use physics
  use testing
  implicit none

  call run("stand_ins_differ_from_each_other", stand_ins_differ_from_each_other)
  call run("offsets_are_read_as_they_were_given", offsets_are_read_as_they_were_given)
  call run("offsets_of_fortran_are_not_borrowed", offsets_of_fortran_are_not_borrowed)
  call run("a_restriction_gathers_and_its_transpose_adds", &
           a_restriction_gathers_and_its_transpose_adds)
  call run("a_basis_shows_its_matrices", a_basis_shows_its_matrices)
  call run("mass_of_ones_is_the_volume", mass_of_ones_is_the_volume)
  call run("poisson_of_a_coordinate_has_the_volume_as_energy", &
           poisson_of_a_coordinate_has_the_volume_as_energy)
  call run("a_qfunction_of_fortran_integrates", a_qfunction_of_fortran_integrates)
  call run("its_context_is_set_by_name", its_context_is_set_by_name)
  call run("its_error_reaches_the_caller_with_its_text", &
           its_error_reaches_the_caller_with_its_text)
  call run("a_qfunction_sees_its_components_as_columns", a_qfunction_sees_its_components_as_columns)
  call run("a_routine_on_vectors_is_a_qfunction", a_routine_on_vectors_is_a_qfunction)
  call run("data_of_a_context_are_let_go_of_once", data_of_a_context_are_let_go_of_once)
  call run("a_routine_of_fortran_is_an_operator", a_routine_of_fortran_is_an_operator)
  call run("a_composite_operator_is_the_sum_of_its_parts", &
           a_composite_operator_is_the_sum_of_its_parts)
  call run("the_assembled_matrix_is_the_operator", the_assembled_matrix_is_the_operator)
  call run("fields_are_found_by_name", fields_are_found_by_name)
  call run("null_handles_are_errors", null_handles_are_errors)
  call run("views_print_what_there_is", views_print_what_there_is)
  call finish

contains

  ! ----------------------------------------------------------------------------------------------
  ! A line of elements on [0, 1], with two nodes each
  ! ----------------------------------------------------------------------------------------------

  logical function made_line(n, nodes, points, basis)
    integer, intent(in) :: n
    type(ceed_elem_restriction), intent(inout) :: nodes, points
    type(ceed_basis), intent(inout) :: basis
    integer :: i

    made_line = .false.
    if (bad(HERE, ceed_elem_restriction_create( &
                  ceed, n, 2, 1, 1, n + 1_ceed_size, ceed_mem_host, ceed_copy_values, &
                  [(i, i + 1, i=0, n - 1)], nodes))) return
    if (bad(HERE, ceed_elem_restriction_create_strided( &
                  ceed, n, 2, 1, 2_ceed_size*n, ceed_strides_backend, points))) return
    if (bad(HERE, ceed_basis_create_tensor_h1_lagrange( &
                  ceed, 1, 1, 2, 2, ceed_gauss, basis))) return
    made_line = .true.
  end function

  !> An operator of two QFunctions of the gallery, such as Mass1DBuild and MassApply.
  logical function made_operator(what, field, eval_mode, nodes, points, basis, op)
    character(*), intent(in) :: what, field
    integer(c_int), intent(in) :: eval_mode
    type(ceed_elem_restriction), intent(in) :: nodes, points
    type(ceed_basis), intent(in) :: basis
    type(ceed_operator), intent(inout) :: op
    type(ceed_operator) :: build
    type(ceed_qfunction) :: qf
    type(ceed_vector) :: x, qdata
    character(:), allocatable :: apply

    made_operator = .false.
    apply = what//"Apply"
    if (eval_mode == ceed_eval_grad) apply = what//"1DApply"
    if (.not. made_coordinates(nodes, x)) return
    if (bad(HERE, ceed_elem_restriction_create_vector(points, lvec=qdata))) return
    if (bad(HERE, ceed_qfunction_create_interior_by_name(ceed, what//"1DBuild", qf))) return
    if (bad(HERE, ceed_operator_create(ceed, qf, ceed_qfunction_none(), ceed_qfunction_none(), &
                                       build))) return
    if (bad(HERE, ceed_operator_set_field(build, "dx", nodes, basis, ceed_vector_active()))) return
    if (bad(HERE, ceed_operator_set_field(build, "weights", ceed_elemrestriction_none(), basis, &
                                          ceed_vector_none()))) return
    if (bad(HERE, ceed_operator_set_field(build, "qdata", points, ceed_basis_none(), &
                                          ceed_vector_active()))) return
    if (bad(HERE, ceed_operator_apply(build, x, qdata))) return
    if (bad(HERE, ceed_operator_destroy(build))) return
    if (bad(HERE, ceed_qfunction_destroy(qf))) return

    if (bad(HERE, ceed_qfunction_create_interior_by_name(ceed, apply, qf))) return
    if (bad(HERE, ceed_operator_create(ceed, qf, ceed_qfunction_none(), ceed_qfunction_none(), &
                                       op))) return
    if (bad(HERE, ceed_operator_set_field(op, field//"u", nodes, basis, &
                                          ceed_vector_active()))) return
    if (bad(HERE, ceed_operator_set_field(op, "qdata", points, ceed_basis_none(), qdata))) return
    if (bad(HERE, ceed_operator_set_field(op, field//"v", nodes, basis, &
                                          ceed_vector_active()))) return
    if (bad(HERE, ceed_qfunction_destroy(qf))) return
    if (bad(HERE, ceed_vector_destroy(qdata))) return
    if (bad(HERE, ceed_vector_destroy(x))) return
    made_operator = .true.
  end function

  !> x**2, so that the elements differ in size
  logical function made_coordinates(nodes, x)
    type(ceed_elem_restriction), intent(in) :: nodes
    type(ceed_vector), intent(inout) :: x
    real(s), pointer :: a(:)
    integer :: i

    made_coordinates = .false.
    if (bad(HERE, ceed_elem_restriction_create_vector(nodes, lvec=x))) return
    if (bad(HERE, ceed_vector_get_array_write(x, ceed_mem_host, a))) return
    a = [((real(i, s)/(size(a) - 1))**2, i=0, size(a) - 1)]
    if (bad(HERE, ceed_vector_restore_array(x, a))) return
    made_coordinates = .true.
  end function

  logical function sums_to(vec, expected)
    type(ceed_vector), intent(in) :: vec
    real(s), intent(in) :: expected
    real(s), pointer :: a(:)

    sums_to = .false.
    if (bad(HERE, ceed_vector_get_array_read(vec, ceed_mem_host, a))) return
    sums_to = abs(sum(a) - expected) <= 100*epsilon(expected)*max(1._s, abs(expected))
    if (bad(HERE, ceed_vector_restore_array_read(vec, a))) sums_to = .false.
  end function

  subroutine destroy_line(nodes, points, basis)
    type(ceed_elem_restriction), intent(inout) :: nodes, points
    type(ceed_basis), intent(inout) :: basis

    if (bad(HERE, ceed_elem_restriction_destroy(nodes))) return
    if (bad(HERE, ceed_elem_restriction_destroy(points))) return
    if (bad(HERE, ceed_basis_destroy(basis))) return
  end subroutine

  ! ----------------------------------------------------------------------------------------------
  ! Behaviours
  ! ----------------------------------------------------------------------------------------------

  subroutine stand_ins_differ_from_each_other
    type(ceed_vector) :: active, none

    active = ceed_vector_active()
    none = ceed_vector_none()
    if (bad(HERE, c_associated(active%handle))) return
    if (bad(HERE, c_associated(none%handle))) return
    if (bad(HERE, .not. c_associated(active%handle, none%handle))) return
  end subroutine

  subroutine offsets_are_read_as_they_were_given
    type(ceed_elem_restriction) :: rstr
    integer(ceed_int), pointer :: offsets(:, :)
    integer(ceed_int) :: given(2, 3), num_elem
    integer(ceed_size) :: l_size

    given = reshape([0, 1, 1, 2, 2, 3], shape(given))
    if (bad(HERE, ceed_elem_restriction_create( &
                  ceed, 3, 2, 1, 1, 4_ceed_size, ceed_mem_host, ceed_copy_values, given, &
                  rstr))) return
    if (bad(HERE, ceed_elem_restriction_get_num_elements(rstr, num_elem))) return
    if (bad(HERE, ceed_elem_restriction_get_l_vector_size(rstr, l_size))) return
    if (bad(HERE, num_elem == 3 .and. l_size == 4)) return
    if (bad(HERE, ceed_elem_restriction_get_offsets(rstr, ceed_mem_host, offsets))) return
    if (bad(HERE, all(shape(offsets) == shape(given)) .and. all(offsets == given))) return
    if (bad(HERE, ceed_elem_restriction_restore_offsets(rstr, offsets))) return
    if (bad(HERE, .not. associated(offsets))) return
    if (bad(HERE, ceed_elem_restriction_destroy(rstr))) return
  end subroutine

  subroutine offsets_of_fortran_are_not_borrowed
    type(ceed_elem_restriction) :: rstr
    integer(c_int) :: copy_mode

    do copy_mode = ceed_use_pointer, ceed_own_pointer
      if (bad(HERE, ceed_elem_restriction_create( &
                    ceed, 1, 2, 1, 1, 2_ceed_size, ceed_mem_host, copy_mode, [0, 1], rstr), &
              ceed_error_incompatible)) return
      if (bad(HERE, says("ceed_copy_values"))) return
    end do
    if (bad(HERE, ceed_elem_restriction_create( &
                  ceed, 1, 2, 1, 1, 2_ceed_size, ceed_mem_host, ceed_copy_values, [0, 2], rstr), &
            ceed_error_dimension)) return
  end subroutine

  subroutine a_restriction_gathers_and_its_transpose_adds
    type(ceed_elem_restriction) :: nodes, points
    type(ceed_basis) :: basis
    type(ceed_vector) :: l, e

    if (.not. made_line(3, nodes, points, basis)) return
    if (bad(HERE, ceed_elem_restriction_create_vector(nodes, evec=e))) return
    l = iota(4)
    if (bad(HERE, ceed_elem_restriction_apply(nodes, ceed_notranspose, l, e))) return
    if (bad(HERE, values_are(e, [1, 2, 2, 3, 3, 4]*1._s))) return
    if (bad(HERE, ceed_vector_set_value(l, 0._s))) return
    if (bad(HERE, ceed_elem_restriction_apply(nodes, ceed_transpose, e, l))) return
    if (bad(HERE, values_are(l, [1, 4, 6, 4]*1._s))) return
    if (bad(HERE, ceed_elem_restriction_get_multiplicity(nodes, l))) return
    if (bad(HERE, values_are(l, [1, 2, 2, 1]*1._s))) return
    if (bad(HERE, ceed_vector_destroy(l))) return
    if (bad(HERE, ceed_vector_destroy(e))) return
    call destroy_line(nodes, points, basis)
  end subroutine

  !> At every point the functions of the nodes sum to 1, and their derivatives to 0.
  subroutine a_basis_shows_its_matrices
    type(ceed_basis) :: basis
    real(s), pointer :: interp(:, :), grad(:, :, :), interp_1d(:, :), grad_1d(:, :)
    real(s), pointer :: weights(:)
    type(c_ptr) :: address
    integer(ceed_int) :: topology

    if (bad(HERE, ceed_basis_create_tensor_h1_lagrange( &
                  ceed, 2, 1, 3, 4, ceed_gauss, basis))) return
    if (bad(HERE, ceed_basis_get_topology(basis, topology))) return
    if (bad(HERE, topology == ceed_topology_quad)) return
    if (bad(HERE, ceed_basis_get_interp_1d(basis, interp_1d))) return
    if (bad(HERE, ceed_basis_get_grad_1d(basis, grad_1d))) return
    if (bad(HERE, ceed_basis_get_interp(basis, interp))) return
    if (bad(HERE, ceed_basis_get_grad(basis, grad))) return
    if (bad(HERE, all(shape(interp_1d) == [3, 4]) .and. all(shape(grad_1d) == [3, 4]))) return
    if (bad(HERE, all(shape(interp) == [9, 16]) .and. all(shape(grad) == [9, 16, 2]))) return
    if (bad(HERE, all(abs(sum(interp_1d, 1) - 1) < 10*epsilon(1._s)))) return
    if (bad(HERE, all(abs(sum(grad_1d, 1)) < 10*epsilon(1._s)))) return
    if (bad(HERE, all(abs(sum(interp, 1) - 1) < 10*epsilon(1._s)))) return
    if (bad(HERE, all(abs(sum(grad, 1)) < 20*epsilon(1._s)))) return
    if (bad(HERE, ceed_basis_get_q_weights(basis, address))) return
    call c_f_pointer(address, weights, [4])
    if (bad(HERE, abs(sum(weights) - 2) < 10*epsilon(1._s))) return
    if (bad(HERE, ceed_basis_destroy(basis))) return
  end subroutine

  subroutine mass_of_ones_is_the_volume
    type(ceed_elem_restriction) :: nodes, points
    type(ceed_basis) :: basis
    type(ceed_operator) :: op
    type(ceed_vector) :: u, v

    if (.not. made_line(5, nodes, points, basis)) return
    if (.not. made_operator("Mass", "", ceed_eval_interp, nodes, points, basis, op)) return
    if (bad(HERE, ceed_elem_restriction_create_vector(nodes, lvec=u))) return
    if (bad(HERE, ceed_elem_restriction_create_vector(nodes, lvec=v))) return
    if (bad(HERE, ceed_vector_set_value(u, 1._s))) return
    if (bad(HERE, ceed_operator_apply(op, u, v))) return
    if (bad(HERE, sums_to(v, 1._s))) return
    if (bad(HERE, ceed_operator_apply_add(op, u, v))) return
    if (bad(HERE, sums_to(v, 2._s))) return
    if (bad(HERE, ceed_vector_destroy(u))) return
    if (bad(HERE, ceed_vector_destroy(v))) return
    if (bad(HERE, ceed_operator_destroy(op))) return
    call destroy_line(nodes, points, basis)
  end subroutine

  subroutine poisson_of_a_coordinate_has_the_volume_as_energy
    type(ceed_elem_restriction) :: nodes, points
    type(ceed_basis) :: basis
    type(ceed_operator) :: op
    type(ceed_vector) :: x, v

    if (.not. made_line(5, nodes, points, basis)) return
    if (.not. made_operator("Poisson", "d", ceed_eval_grad, nodes, points, basis, op)) return
    if (.not. made_coordinates(nodes, x)) return
    if (bad(HERE, ceed_elem_restriction_create_vector(nodes, lvec=v))) return
    if (bad(HERE, ceed_operator_apply(op, x, v))) return
    if (bad(HERE, ceed_vector_pointwise_mult(v, x, v))) return
    if (bad(HERE, sums_to(v, 1._s))) return
    if (bad(HERE, ceed_vector_destroy(x))) return
    if (bad(HERE, ceed_vector_destroy(v))) return
    if (bad(HERE, ceed_operator_destroy(op))) return
    call destroy_line(nodes, points, basis)
  end subroutine

  !> The operator of `source` on elements of size 2, on which no coordinates are needed.
  logical function made_source(m, nodes, basis, op, copy_mode)
    type(material), target, intent(in) :: m
    type(ceed_elem_restriction), intent(in) :: nodes
    type(ceed_basis), intent(in) :: basis
    type(ceed_operator), intent(inout) :: op
    integer(c_int), intent(in) :: copy_mode
    type(ceed_qfunction_context) :: context
    type(ceed_qfunction) :: qf

    made_source = .false.
    if (bad(HERE, ceed_qfunction_context_create(ceed, context))) return
    if (bad(HERE, ceed_qfunction_context_set_data(context, ceed_mem_host, copy_mode, &
                                                  c_sizeof(m), c_loc(m)))) return
    if (bad(HERE, ceed_qfunction_context_register_double( &
                  context, "conductivity", 0_c_size_t, 1_c_size_t, "of the material"))) return
    if (bad(HERE, ceed_qfunction_context_register_int32( &
                  context, "power", 8_c_size_t, 1_c_size_t, ""))) return
    if (bad(HERE, ceed_qfunction_context_register_boolean( &
                  context, "is broken", 12_c_size_t, 1_c_size_t, ""))) return
    if (bad(HERE, ceed_qfunction_create_interior(ceed, 1, source, __FILE__//":source", qf))) &
      return
    if (bad(HERE, ceed_qfunction_add_input(qf, "u", 1, ceed_eval_interp))) return
    if (bad(HERE, ceed_qfunction_add_input(qf, "weight", 1, ceed_eval_weight))) return
    if (bad(HERE, ceed_qfunction_add_output(qf, "v", 1, ceed_eval_interp))) return
    if (bad(HERE, ceed_qfunction_set_context(qf, context))) return
    if (bad(HERE, ceed_qfunction_set_context_writable(qf, .false.))) return
    if (bad(HERE, ceed_operator_create(ceed, qf, ceed_qfunction_none(), ceed_qfunction_none(), &
                                       op))) return
    if (bad(HERE, ceed_operator_set_field(op, "u", nodes, basis, ceed_vector_active()))) return
    if (bad(HERE, ceed_operator_set_field(op, "weight", ceed_elemrestriction_none(), basis, &
                                          ceed_vector_none()))) return
    if (bad(HERE, ceed_operator_set_field(op, "v", nodes, basis, ceed_vector_active()))) return
    if (bad(HERE, ceed_qfunction_destroy(qf))) return
    if (bad(HERE, ceed_qfunction_context_destroy(context))) return
    made_source = .true.
  end function

  !> 3 elements of size 2: the integral of 5 u**2 for u = 2 is 5*4*6.
  subroutine a_qfunction_of_fortran_integrates
    type(ceed_elem_restriction) :: nodes, points
    type(ceed_basis) :: basis
    type(ceed_operator) :: op
    type(ceed_vector) :: u, v
    type(material), target :: m

    if (.not. made_line(3, nodes, points, basis)) return
    m = material(5, 2, .false.)
    if (.not. made_source(m, nodes, basis, op, ceed_use_pointer)) return
    u = iota(4)
    v = iota(4)
    if (bad(HERE, ceed_vector_set_value(u, 2._s))) return
    if (bad(HERE, ceed_operator_apply(op, u, v))) return
    if (bad(HERE, sums_to(v, 120._s))) return
    m%power = 3                                    ! the context is this variable
    if (bad(HERE, ceed_operator_apply(op, u, v))) return
    if (bad(HERE, sums_to(v, 240._s))) return
    if (bad(HERE, ceed_vector_destroy(u))) return
    if (bad(HERE, ceed_vector_destroy(v))) return
    if (bad(HERE, ceed_operator_destroy(op))) return
    call destroy_line(nodes, points, basis)
  end subroutine

  subroutine its_context_is_set_by_name
    type(ceed_elem_restriction) :: nodes, points
    type(ceed_basis) :: basis
    type(ceed_operator) :: op
    type(ceed_vector) :: u, v
    type(ceed_context_field_label) :: label, none
    character(:), allocatable :: name, description
    integer(c_size_t) :: offset, num_values
    integer(c_int) :: field_type
    real(c_double), pointer :: values(:)

    if (.not. made_line(3, nodes, points, basis)) return
    if (.not. made_source(material(5, 1, .false.), nodes, basis, op, ceed_copy_values)) return
    u = iota(4)
    v = iota(4)
    if (bad(HERE, ceed_vector_set_value(u, 2._s))) return
    if (bad(HERE, ceed_operator_get_context_field_label(op, "power", label))) return
    if (bad(HERE, ceed_operator_set_context_int32(op, label, [2]))) return
    if (bad(HERE, ceed_operator_get_context_field_label(op, "conductivity", label))) return
    if (bad(HERE, ceed_operator_set_context_double(op, label, [1._c_double]))) return
    if (bad(HERE, ceed_operator_apply(op, u, v))) return
    if (bad(HERE, sums_to(v, 24._s))) return
    if (bad(HERE, ceed_operator_get_context_double_read(op, label, values))) return
    if (bad(HERE, size(values) == 1 .and. all(values == 1))) return
    if (bad(HERE, ceed_operator_restore_context_double_read(op, label, values))) return
    if (bad(HERE, ceed_context_field_label_get_description( &
                  label, name, offset, num_values, description, field_type))) return
    if (bad(HERE, name == "conductivity" .and. description == "of the material")) return
    if (bad(HERE, offset == 0 .and. num_values == 1)) return
    if (bad(HERE, field_type == ceed_context_field_double)) return
    if (bad(HERE, ceed_operator_get_context_field_label(op, "no such", none))) return
    if (bad(HERE, .not. c_associated(none%handle))) return
    if (bad(HERE, ceed_vector_destroy(u))) return
    if (bad(HERE, ceed_vector_destroy(v))) return
    if (bad(HERE, ceed_operator_destroy(op))) return
    call destroy_line(nodes, points, basis)
  end subroutine

  subroutine its_error_reaches_the_caller_with_its_text
    type(ceed_elem_restriction) :: nodes, points
    type(ceed_basis) :: basis
    type(ceed_operator) :: op
    type(ceed_vector) :: u, v

    if (.not. made_line(3, nodes, points, basis)) return
    if (.not. made_source(material(1, 1, .true.), nodes, basis, op, ceed_copy_values)) return
    u = iota(4)
    v = iota(4)
    if (bad(HERE, ceed_operator_apply(op, u, v), 42)) return
    if (bad(HERE, says("the material is broken"))) return
    if (bad(HERE, ceed_vector_set_value(u, 1._s))) return
    if (bad(HERE, ceed_vector_set_value(v, 1._s))) return
    if (bad(HERE, ceed_vector_destroy(u))) return
    if (bad(HERE, ceed_vector_destroy(v))) return
    if (bad(HERE, ceed_operator_destroy(op))) return
    call destroy_line(nodes, points, basis)
  end subroutine

  subroutine a_qfunction_sees_its_components_as_columns
    type(ceed_qfunction) :: qf
    type(ceed_vector) :: u(1), v(1)

    if (bad(HERE, ceed_qfunction_create_interior(ceed, 1, mix, "mix", qf))) return
    if (bad(HERE, ceed_qfunction_add_input(qf, "u", 2, ceed_eval_none))) return
    if (bad(HERE, ceed_qfunction_add_output(qf, "v", 2, ceed_eval_none))) return
    u(1) = iota(6)
    v(1) = iota(6)
    if (bad(HERE, ceed_qfunction_apply(qf, 3, u, v))) return
    if (bad(HERE, values_are(v(1), [5, 7, 9, -3, -3, -3]*1._s))) return
    if (bad(HERE, ceed_vector_destroy(u(1)))) return
    if (bad(HERE, ceed_vector_destroy(v(1)))) return
    if (bad(HERE, ceed_qfunction_destroy(qf))) return
  end subroutine

  subroutine a_routine_on_vectors_is_a_qfunction
    type(ceed_qfunction) :: qf
    type(ceed_vector) :: u(2), v(1)

    if (bad(HERE, ceed_qfunction_create_shell(ceed, add, "add", qf))) return
    if (bad(HERE, ceed_qfunction_add_input(qf, "u", 1, ceed_eval_none))) return
    if (bad(HERE, ceed_qfunction_add_input(qf, "w", 1, ceed_eval_none))) return
    if (bad(HERE, ceed_qfunction_add_output(qf, "v", 1, ceed_eval_none))) return
    u = [iota(3), iota(3)]
    v(1) = iota(3)
    if (bad(HERE, ceed_qfunction_apply(qf, 3, u, v))) return
    if (bad(HERE, values_are(v(1), [2, 4, 6]*1._s))) return
    if (bad(HERE, ceed_vector_destroy(u(1)))) return
    if (bad(HERE, ceed_vector_destroy(u(2)))) return
    if (bad(HERE, ceed_vector_destroy(v(1)))) return
    if (bad(HERE, ceed_qfunction_destroy(qf))) return
  end subroutine

  subroutine data_of_a_context_are_let_go_of_once
    type(ceed_qfunction_context) :: context
    type(material), target :: m
    type(material), pointer :: seen
    type(c_ptr) :: data
    integer :: before

    before = ended
    m = material(3, 1, .false.)
    if (bad(HERE, ceed_qfunction_context_create(ceed, context))) return
    if (bad(HERE, ceed_qfunction_context_set_data( &
                  context, ceed_mem_host, ceed_use_pointer, c_sizeof(m), c_loc(m)))) return
    if (bad(HERE, ceed_qfunction_context_set_data_destroy(context, ceed_mem_host, let_go))) return
    if (bad(HERE, ceed_qfunction_context_get_data_read(context, ceed_mem_host, data))) return
    call c_f_pointer(data, seen)
    if (bad(HERE, seen%conductivity == 3)) return
    if (bad(HERE, ceed_qfunction_context_restore_data_read(context, data))) return
    if (bad(HERE, ceed_qfunction_context_destroy(context))) return
    if (bad(HERE, ended == before + 1)) return
  end subroutine

  subroutine a_routine_of_fortran_is_an_operator
    type(ceed_operator) :: op, one_way
    type(ceed_vector) :: x, y, z
    real(s), target :: factor

    factor = 10
    x = iota(4)
    y = iota(3)
    if (bad(HERE, ceed_operator_create_shell( &
                  ceed, 4_ceed_size, 3_ceed_size, difference, transposed, c_loc(factor), &
                  op))) return
    if (bad(HERE, ceed_operator_apply(op, x, y))) return
    if (bad(HERE, values_are(y, [10, 10, 10]*1._s))) return
    z = iota(4)
    if (bad(HERE, ceed_operator_apply_transpose(op, y, z))) return
    if (bad(HERE, values_are(z, [-100, 0, 0, 100]*1._s))) return
    if (bad(HERE, ceed_operator_create_shell( &
                  ceed, 4_ceed_size, 3_ceed_size, difference, ctx=c_loc(factor), &
                  op=one_way))) return
    if (bad(HERE, ceed_operator_apply_transpose(one_way, y, z), ceed_error_unsupported)) return
    if (bad(HERE, ceed_operator_destroy(op))) return
    if (bad(HERE, ceed_operator_destroy(one_way))) return
    if (bad(HERE, ceed_vector_destroy(x))) return
    if (bad(HERE, ceed_vector_destroy(y))) return
    if (bad(HERE, ceed_vector_destroy(z))) return
  end subroutine

  subroutine a_composite_operator_is_the_sum_of_its_parts
    type(ceed_operator) :: part, other, whole, found
    type(ceed_operator), pointer :: parts(:)
    type(ceed_vector) :: x, y
    character(:), allocatable :: name
    real(s), target :: factors(2)
    logical(c_bool) :: is_sequential

    factors = [10, 1]
    if (bad(HERE, ceed_operator_create_shell( &
                  ceed, 3_ceed_size, 2_ceed_size, difference, ctx=c_loc(factors(1)), &
                  op=part))) return
    if (bad(HERE, ceed_operator_create_shell( &
                  ceed, 3_ceed_size, 2_ceed_size, difference, ctx=c_loc(factors(2)), &
                  op=other))) return
    if (bad(HERE, ceed_operator_set_name(part, "difference "))) return
    if (bad(HERE, ceed_operator_create_composite(ceed, whole))) return
    if (bad(HERE, ceed_operator_composite_add_sub(whole, part))) return
    if (bad(HERE, ceed_operator_composite_add_sub(whole, other))) return
    if (bad(HERE, ceed_operator_composite_get_sub_list(whole, parts))) return
    if (bad(HERE, size(parts) == 2)) return
    if (bad(HERE, ceed_operator_get_name(parts(1), name))) return
    if (bad(HERE, name == "difference" .and. len(name) == 10)) return
    if (bad(HERE, ceed_operator_composite_get_sub_by_name(whole, "difference", found))) return
    if (bad(HERE, c_associated(found%handle, part%handle))) return
    if (bad(HERE, ceed_operator_composite_set_sequential(whole, .true.))) return
    if (bad(HERE, ceed_operator_composite_is_sequential(whole, is_sequential))) return
    if (bad(HERE, logical(is_sequential))) return
    x = iota(3)
    y = iota(2)
    if (bad(HERE, ceed_operator_apply(whole, x, y))) return
    if (bad(HERE, values_are(y, [11, 11]*1._s))) return
    if (bad(HERE, ceed_operator_destroy(part))) return
    if (bad(HERE, ceed_operator_destroy(other))) return
    if (bad(HERE, ceed_operator_destroy(whole))) return
    if (bad(HERE, ceed_vector_destroy(x))) return
    if (bad(HERE, ceed_vector_destroy(y))) return
  end subroutine

  !> Summed by places, the entries applied to (1, 2, 3, 4) give what the operator does.
  subroutine the_assembled_matrix_is_the_operator
    type(ceed_elem_restriction) :: nodes, points
    type(ceed_basis) :: basis
    type(ceed_operator) :: op
    type(ceed_vector) :: u, v, entries
    integer(ceed_int), allocatable :: rows(:), cols(:)
    real(s), pointer :: a(:), y(:)
    real(s) :: expected(4)
    integer :: i

    if (.not. made_line(3, nodes, points, basis)) return
    if (.not. made_operator("Mass", "", ceed_eval_interp, nodes, points, basis, op)) return
    if (bad(HERE, ceed_operator_linear_assemble_symbolic(op, rows, cols))) return
    if (bad(HERE, size(rows) == 12 .and. size(cols) == 12)) return
    if (bad(HERE, ceed_vector_create(ceed, 12, entries))) return
    if (bad(HERE, ceed_operator_linear_assemble(op, entries))) return
    u = iota(4)
    v = iota(4)
    if (bad(HERE, ceed_operator_apply(op, u, v))) return
    if (bad(HERE, ceed_vector_get_array_read(entries, ceed_mem_host, a))) return
    expected = 0
    do i = 1, 12
      expected(rows(i) + 1) = expected(rows(i) + 1) + a(i)*(cols(i) + 1)
    end do
    if (bad(HERE, ceed_vector_restore_array_read(entries, a))) return
    if (bad(HERE, ceed_vector_get_array_read(v, ceed_mem_host, y))) return
    if (bad(HERE, all(abs(y - expected) < 10*epsilon(1._s)))) return
    if (bad(HERE, ceed_vector_restore_array_read(v, y))) return
    if (bad(HERE, ceed_vector_destroy(u))) return
    if (bad(HERE, ceed_vector_destroy(v))) return
    if (bad(HERE, ceed_vector_destroy(entries))) return
    if (bad(HERE, ceed_operator_destroy(op))) return
    call destroy_line(nodes, points, basis)
  end subroutine

  subroutine fields_are_found_by_name
    type(ceed_elem_restriction) :: nodes, points
    type(ceed_basis) :: basis, found
    type(ceed_context) :: lent
    type(ceed_operator) :: op
    type(ceed_operator_field) :: field
    type(ceed_operator_field), pointer :: inputs(:), outputs(:)
    type(ceed_qfunction) :: qf
    type(ceed_qfunction_field), pointer :: qf_inputs(:), qf_outputs(:)
    character(:), allocatable :: name
    integer(c_int) :: eval_mode

    if (.not. made_line(3, nodes, points, basis)) return
    if (.not. made_operator("Mass", "", ceed_eval_interp, nodes, points, basis, op)) return
    if (bad(HERE, ceed_operator_get_fields(op, inputs, outputs))) return
    if (bad(HERE, size(inputs) == 2 .and. size(outputs) == 1)) return
    if (bad(HERE, ceed_operator_field_get_name(inputs(2), name))) return
    if (bad(HERE, name == "qdata")) return
    if (bad(HERE, ceed_operator_get_field_by_name(op, "v", field))) return
    if (bad(HERE, ceed_operator_field_get_basis(field, found))) return
    if (bad(HERE, c_associated(found%handle, basis%handle))) return
    lent = ceed_basis_return_ceed(found)
    if (bad(HERE, c_associated(lent%handle, ceed%handle))) return
    if (bad(HERE, ceed_basis_destroy(found))) return
    if (bad(HERE, ceed_operator_destroy(op))) return

    if (bad(HERE, ceed_qfunction_create_interior_by_name(ceed, "Poisson1DApply", qf))) return
    if (bad(HERE, ceed_qfunction_get_fields(qf, qf_inputs, qf_outputs))) return
    if (bad(HERE, ceed_qfunction_field_get_name(qf_outputs(1), name))) return
    if (bad(HERE, name == "dv")) return
    if (bad(HERE, ceed_qfunction_field_get_eval_mode(qf_inputs(1), eval_mode))) return
    if (bad(HERE, eval_mode == ceed_eval_grad)) return
    if (bad(HERE, ceed_qfunction_destroy(qf))) return
    call destroy_line(nodes, points, basis)
  end subroutine

  subroutine null_handles_are_errors
    type(ceed_elem_restriction) :: rstr
    type(ceed_basis) :: basis
    type(ceed_qfunction_context) :: context
    type(ceed_qfunction) :: qf
    type(ceed_operator) :: op
    type(ceed_vector) :: x
    real(s), pointer :: matrix(:, :)
    integer(ceed_int), pointer :: offsets(:, :)
    character(:), allocatable :: name

    if (bad(HERE, ceed_elem_restriction_view(rstr), ceed_error_incompatible)) return
    if (bad(HERE, ceed_elem_restriction_get_offsets(rstr, ceed_mem_host, offsets), &
            ceed_error_incompatible)) return
    if (bad(HERE, ceed_basis_get_interp(basis, matrix), ceed_error_incompatible)) return
    if (bad(HERE, ceed_qfunction_context_view(context), ceed_error_incompatible)) return
    if (bad(HERE, ceed_qfunction_add_input(qf, "u", 1, ceed_eval_none), &
            ceed_error_incompatible)) return
    if (bad(HERE, ceed_operator_get_name(op, name), ceed_error_incompatible)) return
    if (bad(HERE, ceed_operator_apply(op, x, x), ceed_error_incompatible)) return
    if (bad(HERE, ceed_elem_restriction_destroy(rstr))) return
    if (bad(HERE, ceed_basis_destroy(basis))) return
    if (bad(HERE, ceed_qfunction_context_destroy(context))) return
    if (bad(HERE, ceed_qfunction_destroy(qf))) return
    if (bad(HERE, ceed_operator_destroy(op))) return
  end subroutine

  subroutine views_print_what_there_is
    type(ceed_elem_restriction) :: nodes, points
    type(ceed_basis) :: basis
    type(ceed_operator) :: op
    type(ceed_qfunction) :: qf
    character(200) :: line
    integer :: unit, lines

    if (.not. made_line(3, nodes, points, basis)) return
    if (.not. made_operator("Mass", "", ceed_eval_interp, nodes, points, basis, op)) return
    open (newunit=unit, status="scratch", action="readwrite")
    if (bad(HERE, ceed_operator_view_terse(op, unit))) return
    if (bad(HERE, ceed_operator_view(op, unit))) return
    if (bad(HERE, ceed_elem_restriction_view(nodes, unit))) return
    if (bad(HERE, ceed_basis_view(basis, unit))) return
    if (bad(HERE, ceed_qfunction_create_interior_by_name(ceed, "MassApply", qf))) return
    if (bad(HERE, ceed_qfunction_view(qf, unit))) return
    rewind (unit)
    lines = 0
    do
      read (unit, "(a)", end=1) line
      lines = lines + 1
      if (lines > 1) cycle
      if (bad(HERE, index(line, "CeedOperator") > 0)) return
    end do
1   close (unit)
    if (bad(HERE, lines > 10)) return
    if (bad(HERE, ceed_qfunction_destroy(qf))) return
    if (bad(HERE, ceed_operator_destroy(op))) return
    call destroy_line(nodes, points, basis)
  end subroutine
end program
