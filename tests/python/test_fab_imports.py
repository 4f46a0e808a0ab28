# SPDX-License-Identifier: BSD-2-Clause
"""Memory of other libraries as fabs, with lower bounds."""

import numpy as np
import pytest
from fields import (
    GHOST,
    expected,
    incoming,
    numbered,
)
from helpers import run_well

import pyceedlike
from pyceedlike import Box, Fab

SOURCES = {
    "C order": lambda a: a.copy(order="C"),
    "Fortran order": lambda a: a.copy(order="F"),
    "every second": lambda a: np.repeat(np.repeat(a, 2, 0), 2, -1)[::2, ..., ::2],
    "other axes first": lambda a: np.moveaxis(np.moveaxis(a, 0, -1).copy(), -1, 0),
}
COPIED = {
    "reversed": lambda a: a[::-1].copy()[::-1],
    "list": lambda a: a.tolist(),
}


@pytest.mark.parametrize("source", SOURCES)
def test_memory_with_positive_strides_is_adopted(source, kind):
    values, lo, ghost = incoming(kind)
    array = SOURCES[source](values)
    fab = Fab.from_dlpack(array, lo=lo, ghost=ghost)
    assert fab.exchange.shared
    assert (fab.scalar, fab.ncomp, fab.ghost) == (kind[2], kind[1], ghost)
    assert fab.whole == Box(lo, [i + n - 1 for i, n in zip(lo, values.shape, strict=False)])
    assert np.array_equal(fab.to_numpy(), values)
    assert np.shares_memory(fab.to_numpy(), array)
    fab.at[fab.box.hi] = 99.0
    corner = [i - j for i, j in zip(fab.box.hi, lo, strict=True)]
    assert (array[tuple(corner)] == 99.0).all()


@pytest.mark.parametrize("source", COPIED)
def test_other_memory_is_copied_and_says_so(source, kind):
    values, lo, ghost = incoming(kind)
    array = COPIED[source](values)
    ceed = pyceedlike.Ceed(scalar=kind[2])
    fab = Fab.from_dlpack(array, lo=lo, ghost=ghost, ceed=ceed)
    assert not fab.exchange.shared
    assert fab.exchange.reason.startswith("values copied: ")
    assert np.array_equal(fab.to_numpy(), values)
    with pytest.raises(pyceedlike.CeedCopyError, match="copy=False"):
        Fab.from_dlpack(array, lo=lo, ceed=ceed, copy=False)


def test_a_broadcast_array_is_copied_or_refused(kind):
    values, lo, _ = incoming(kind)
    array = np.broadcast_to(values[:1], values.shape)
    fab = Fab.from_dlpack(array, lo=lo)
    assert not fab.exchange.shared
    assert np.array_equal(fab.to_numpy(), array)
    with pytest.raises(pyceedlike.CeedCopyError, match="share memory"):
        Fab.from_dlpack(array, lo=lo, copy=False)


@pytest.mark.parametrize("dtype", [">f8", "i8", "c16", "f2", "?"])
def test_other_types_are_errors(kind, dtype):
    values, lo, ghost = incoming(kind)
    with pytest.raises((BufferError, TypeError)):
        Fab.from_dlpack(values.astype(dtype), lo=lo, ghost=ghost)


def test_another_precision_is_an_error_that_names_both(kind):
    values, lo, ghost = incoming(kind)
    (other,) = {"float32", "float64"} - {kind[2]}
    with pytest.raises(BufferError, match=rf"{kind[2]}.*{other}"):
        Fab.from_dlpack(values, lo=lo, ghost=ghost, ceed=pyceedlike.Ceed(scalar=other))


def test_read_only_memory_stays_so(kind):
    array, lo, ghost = incoming(kind)
    array.flags.writeable = False
    fab = Fab.from_dlpack(array, lo=lo, ghost=ghost)
    assert fab.exchange.shared
    with pytest.raises(pyceedlike.CeedAccessError):
        fab.set_value(1.0)
    assert Fab.from_dlpack(array, lo=lo, writable=True).exchange.shared is False


def test_reversed_memory_ends_no_interpreter():
    run_well("""
import itertools, numpy as np, pyceedlike
try:
    import torch
except ImportError:
    torch = None
for dim, ncomp in itertools.product((1, 2, 3), (1, 3)):
    shape = (*(4, 3, 5)[:dim], ncomp)
    values = np.arange(float(np.prod(shape))).reshape(shape)
    for axis in range(dim + 1):
        x = np.flip(values, axis)
        lo, ghost = [-2, 0, 3], [(1, 0), (1, 1), (0, 2)]
        fab = pyceedlike.Fab.from_dlpack(x, lo=lo[:dim], ghost=ghost[:dim])
        assert np.array_equal(fab.to_numpy(), x)
        if torch:
            assert np.array_equal(torch.from_dlpack(fab).numpy(), x)
            assert torch.from_dlpack(fab.view("valid")).numpy().size == fab.box.size * ncomp
""")


@pytest.mark.parametrize("order", ["xyzn", "nzyx"])
def test_memory_goes_out_and_comes_back_with_its_bounds(fab, order):
    dim = fab.box.dim
    again = Fab.from_dlpack(
        fab.view(order=order), lo=fab.whole.lo, ghost=GHOST[:dim], order=order, copy=False
    )
    assert (again.box, again.ghost, again.ncomp) == (fab.box, fab.ghost, fab.ncomp)
    assert again.strides == fab.strides
    fab.at[again.box.lo] = 42.0
    assert (again.at[fab.box.lo] == 42.0).all()


def test_a_jax_array_comes_in_read_only(jax):
    x = jax.numpy.arange(8.0).reshape(4, 2)
    fab = Fab.from_dlpack(x, lo=[-2])
    assert fab.exchange.shared
    assert fab.at[-2].tolist() == [0.0, 1.0]
    with pytest.raises(pyceedlike.CeedAccessError):
        fab.set_value(0.0)


def test_nodes_come_in_as_such():
    fab = Fab.from_dlpack(np.zeros((3, 4, 1)), lo=[0, 0], centring=[1, 0])
    assert fab.box == Box([0, 0], [2, 3], [1, 0])


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"lo": [0]}, r"the source has 3 axes; lo has the length 1, which makes 2"),
        ({"lo": [0, 0, 0]}, r"makes 4 axes with that of the components: x\[\.\.\., None\] adds"),
        ({"lo": [0, 0], "ghost": 2}, "is less than empty in y"),
        ({"lo": [0, 0], "ghost": -1}, "-1"),
        ({"lo": [0, 2**31 - 1]}, "3 indices of y from 2147483647 on"),
    ],
)
def test_bounds_that_do_not_fit_are_errors(arguments, text):
    with pytest.raises(pyceedlike.CeedDimensionError, match=text):
        Fab.from_dlpack(np.zeros((4, 3, 2)), **arguments)


@pytest.mark.parametrize("nx", [-1, 0, 1, 50])
@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("ncomp", [1, 3])
def test_bounds_are_fortrans(dim, ncomp, nx):
    """U(-2:nx+2, -1:1, 0:4) has the bounds -2 and nx+2 and nx+5 elements in x."""
    array = np.zeros((*(nx + 5, 3, 5)[:dim], ncomp), order="F")
    fab = Fab.from_dlpack(array, lo=[-2, -1, 0][:dim], ghost=[2, (1, 0), (0, 3)][:dim])
    assert fab.whole == Box([-2, -1, 0][:dim], [nx + 2, 1, 4][:dim])
    assert fab.box == Box([0, 0, 0][:dim], [nx, 1, 1][:dim])
    assert fab.to_numpy().shape == array.shape
    assert fab.exchange.shared


@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("ncomp", [1, 3])
def test_openpmd_writes_what_the_fab_holds(tmp_path, dim, ncomp):
    io = pytest.importorskip("openpmd_api")
    fab = numbered((dim, ncomp, "float64"))
    shape = list(fab.whole.shape[::-1])
    path = str(tmp_path / "field.json")
    series = io.Series(path, io.Access.create)
    mesh = series.write_iterations()[0].meshes["u"]
    mesh.axis_labels = list("zyx"[-dim:])
    record = mesh[io.Mesh_Record_Component.SCALAR]
    record.reset_dataset(io.Dataset(np.dtype("float64"), shape))
    record.store_chunk(fab.to_numpy(order="nzyx")[-1])
    series.close()
    series = io.Series(path, io.Access.read_only)
    record = series.iterations[0].meshes["u"][io.Mesh_Record_Component.SCALAR]
    chunk = record.load_chunk()
    series.flush()
    assert np.array_equal(chunk, expected(fab.whole, ncomp)[..., -1].T)
