# SPDX-License-Identifier: BSD-2-Clause
"""The context: resources, precision, quadrature rules; and the module's own names."""

import gc

import numpy as np
import pytest

import pyceedlike
from pyceedlike import Ceed


@pytest.mark.parametrize("resource", ["/cpu/self", "/cpu/self/ref/serial", "/cpu/self/opt/blocked"])
def test_resources_by_name(scalar, resource):
    assert Ceed(resource, scalar=scalar).get_resource().startswith(resource)


def test_the_fastest_backend_is_the_default():
    assert Ceed().get_resource() == Ceed("/cpu/self").get_resource() == "/cpu/self/opt/blocked"


@pytest.mark.parametrize("resource", ["/cpu/self:option=1", "/cpu/self/ref/serial:x"])
def test_what_follows_a_colon_is_an_option(resource):
    assert Ceed(resource).get_resource().startswith(resource.partition(":")[0])


@pytest.mark.parametrize("resource", ["/gpu/none", "/cpu/self/nothing", "nonsense", "cpu/self"])
def test_an_unknown_resource_lists_those_there_are(resource):
    with pytest.raises(pyceedlike.CeedUnsupportedError) as error:
        Ceed(resource)
    for known in (resource, "/cpu/self/ref/serial", "/cpu/self/opt/blocked"):
        assert known in str(error.value)


@pytest.mark.parametrize("scalar", ["float16", "double", "", None, 64])
def test_an_unknown_precision_is_refused(scalar):
    with pytest.raises((ValueError, TypeError, pyceedlike.CeedError)):
        Ceed("/cpu/self", scalar=scalar)


def test_a_resource_that_is_no_text_is_refused():
    with pytest.raises((TypeError, AttributeError)):
        Ceed(3)


def test_scalar_names_the_precision(scalar):
    assert Ceed(scalar=scalar).scalar == scalar
    assert Ceed().scalar == "float64"


def test_host_resources_prefer_host_memory(ceed):
    assert ceed.get_preferred_memtype() == pyceedlike.MEM_HOST


def test_host_resources_are_deterministic(ceed):
    assert ceed.is_deterministic() is True


def test_handle_is_an_address(ceed):
    assert isinstance(ceed.handle, int)
    assert ceed.handle
    assert ceed.handle != Ceed(scalar=ceed.scalar).handle


def test_repr_tells_resource_and_precision(ceed, scalar):
    assert ceed.get_resource() in repr(ceed)
    assert scalar in repr(ceed)


def test_str_tells_resource_and_memory(ceed):
    assert ceed.get_resource() in str(ceed)
    assert "host" in str(ceed).lower()


@pytest.mark.parametrize("n", [0, 1, 17])
def test_vector_has_its_length(ceed, n):
    assert len(ceed.Vector(n)) == n


@pytest.mark.parametrize("n", [-1, -(2**63), 2**62, 2**63 - 1])
def test_vector_of_an_impossible_length(ceed, n):
    with pytest.raises((ValueError, MemoryError, OverflowError)):
        ceed.Vector(n).set_value(1)


@pytest.mark.parametrize("n", [2**63, 2**64, -(2**64), 10**30])
def test_vector_of_a_length_beyond_integers(ceed, n):
    with pytest.raises((ValueError, OverflowError)):
        ceed.Vector(n)


@pytest.mark.parametrize("n", ["3", None, 2.5, [3]])
def test_vector_of_a_length_that_is_no_integer(ceed, n):
    with pytest.raises(TypeError):
        ceed.Vector(n)


def test_vector_takes_numpy_integers(ceed):
    assert len(ceed.Vector(np.int32(5))) == 5


def test_a_vector_keeps_its_context(ceed, scalar):
    vector = Ceed(scalar=scalar).Vector(3)
    gc.collect()
    vector.set_value(2)
    assert vector.norm(pyceedlike.NORM_1) == 6
    assert vector.ceed.scalar == scalar


@pytest.mark.parametrize("q", range(1, 21))
def test_gauss_quadrature_is_the_gauss_legendre_rule(ceed, scalar, q):
    points, weights = ceed.gauss_quadrature(q)
    expected_points, expected_weights = np.polynomial.legendre.leggauss(q)
    tolerance = 50 * np.finfo(scalar).eps
    assert points.dtype == weights.dtype == scalar
    np.testing.assert_allclose(points, expected_points, atol=tolerance)
    np.testing.assert_allclose(weights, expected_weights, atol=tolerance)


@pytest.mark.parametrize("q", range(2, 15))
def test_lobatto_quadrature_is_exact_to_its_degree(ceed, scalar, q):
    points, weights = ceed.lobatto_quadrature(q)
    tolerance = 100 * float(np.finfo(scalar).eps)
    for degree in range(2 * q - 2):
        exact = 0 if degree % 2 else 2 / (degree + 1)
        assert np.dot(weights, points**degree) == pytest.approx(exact, abs=tolerance)


@pytest.mark.parametrize("q", range(2, 15))
def test_lobatto_quadrature_has_the_ends(ceed, q):
    points, weights = ceed.lobatto_quadrature(q)
    assert (points[0], points[-1]) == (-1, 1)
    assert (np.diff(points) > 0).all()
    assert (weights > 0).all()
    np.testing.assert_allclose(points, -points[::-1], atol=1e-6)


def test_lobatto_quadrature_of_four_points(ceed, scalar):
    points, weights = ceed.lobatto_quadrature(4)  # Abramowitz and Stegun, table 25.6
    tolerance = 10 * np.finfo(scalar).eps
    inner = np.sqrt(1 / 5)
    np.testing.assert_allclose(points, [-1, -inner, inner, 1], atol=tolerance)
    np.testing.assert_allclose(weights, [1 / 6, 5 / 6, 5 / 6, 1 / 6], atol=tolerance)


@pytest.mark.parametrize("q", [0, -1, -(2**31)])
def test_quadrature_needs_points(ceed, q):
    with pytest.raises(pyceedlike.CeedError):
        ceed.gauss_quadrature(q)
    with pytest.raises(pyceedlike.CeedError):
        ceed.lobatto_quadrature(q)


def test_lobatto_quadrature_needs_two_points(ceed):
    with pytest.raises(pyceedlike.CeedError):
        ceed.lobatto_quadrature(1)


# --- The module ------------------------------------------------------------------------------

# fmt: off
PARENTS = {
    "CeedError": (Exception,),
    "CeedDimensionError": (ValueError,),
    "CeedIncompleteError": (RuntimeError,),
    "CeedIncompatibleError": (BufferError, ValueError),
    "CeedAccessError": (BufferError,),
    "CeedBackendError": (NotImplementedError,),
    "CeedUnsupportedError": (NotImplementedError,),
    "CeedMemoryError": (MemoryError,),
    "CeedCopyError": (BufferError, ValueError),
    "CeedExportError": (BufferError,),
}
# fmt: on


@pytest.mark.parametrize("name", PARENTS)
def test_errors_have_the_nearest_built_in_type(name):
    error = getattr(pyceedlike, name)
    assert issubclass(error, pyceedlike.CeedError)
    assert all(issubclass(error, parent) for parent in PARENTS[name])


def test_constants_have_the_values_of_the_c_header():
    module = pyceedlike
    assert (module.MEM_HOST, module.MEM_DEVICE) == (0, 1)
    assert (module.COPY_VALUES, module.USE_POINTER, module.OWN_POINTER) == (0, 1, 2)
    assert (module.NORM_1, module.NORM_2, module.NORM_MAX) == (0, 1, 2)


def test_the_public_names_exist():
    for name in pyceedlike.__all__:
        assert hasattr(pyceedlike, name)
    public = {"Ceed", "Vector", "Exchange", "from_dlpack", "describe", "CeedError"}
    assert public <= set(pyceedlike.__all__)


def test_version_is_a_release():
    numbers = pyceedlike.__version__.split(".")
    assert len(numbers) >= 3
    assert all(number.isdigit() for number in numbers[:3])
