# SPDX-License-Identifier: BSD-2-Clause
"""MultiFabs: boxes that leave holes, ghost layers, gathering, batches, pictures."""

import contextlib
import itertools
import threading

import numpy as np
import pytest
from fields import expected
from plotfiles import L_SHAPE

import pyceedlike
from pyceedlike import Box, MultiFab

SCALARS = ("float64", "float32")
KINDS = [(dim, ncomp) for dim in (1, 2, 3) for ncomp in (1, 3)]
GHOST = ((1, 2), (2, 1), (1, 1))


@pytest.fixture(params=KINDS, ids=lambda kind: f"{kind[0]}-D, {kind[1]}")
def mf(request):
    """An L-shaped field: valid cells tell their place, ghosts are NaN."""
    dim, ncomp = request.param
    boxes = [Box(*box) for box in L_SHAPE[dim]]
    mf = pyceedlike.Ceed().MultiFab(boxes, ncomp, GHOST[:dim])
    mf.set_value(np.nan)
    for fab in mf:
        fab.to_numpy("valid")[...] = expected(fab.box, ncomp)
    return mf


def part_of(inner, outer):
    """Return where a box lies in an array over another one."""
    axes = zip(inner.lo, inner.hi, outer.lo, strict=True)
    return tuple(slice(a - c, b - c + 1) for a, b, c in axes)


def domain(boxes, ncomp, hull, fill):
    """Return the model: the values of all valid cells in one array, and which these are."""
    values = np.full((*hull.shape, ncomp), fill)
    inside = np.zeros(hull.shape, bool)
    for box in boxes:
        values[part_of(box, hull)] = expected(box, ncomp)
        inside[part_of(box, hull)] = True
    return values, inside


# --- A list of boxes -------------------------------------------------------------------------


def test_a_multifab_has_its_boxes(mf):
    assert mf.boxes == [fab.box for fab in mf]
    assert len(mf) == 3
    assert mf.local == [0, 1, 2]
    assert mf.owners == [0, 0, 0]
    assert mf.ghost == GHOST[: mf.boxes[0].dim]
    assert [fab.ghost for fab in mf] == [mf.ghost] * 3
    assert [fab.handle for fab in mf] == [mf[i].handle for i in range(3)]
    assert list(mf) == [mf[0], mf[1], mf[2]]
    assert mf[1] in mf
    assert mf[-1].handle == mf[2].handle
    with pytest.raises(TypeError, match="not reversible"):
        reversed(mf)
    with pytest.raises(IndexError, match="box 3 of 3"):
        mf[3]


def test_owners_say_whose_a_box_is():
    boxes = [Box([i], [i]) for i in range(4)]
    mf = pyceedlike.Ceed().MultiFab(boxes, owners=[1, 0, 1, 2], rank=1)
    assert (mf.local, mf.owners, mf.rank) == ([0, 2], [1, 0, 1, 2], 1)
    assert [fab.box for fab in mf] == [boxes[0], boxes[2]]
    with pytest.raises(pyceedlike.CeedAccessError, match="2"):
        mf[3]
    with pytest.raises(ValueError, match="2 owners for 4 boxes"):
        pyceedlike.Ceed().MultiFab(boxes, owners=[0, 1])


def test_loops_nest_and_end_early(mf):
    seen = []
    for fab in mf:
        for other in mf:
            seen.append((fab.handle, other.handle))
            if other.handle == fab.handle:
                break
    handles = [fab.handle for fab in mf]
    assert seen == [(a, b) for i, a in enumerate(handles) for b in handles[: i + 1]]


def test_threads_have_loops_of_their_own(mf):
    boxes = []
    threads = [threading.Thread(target=lambda: boxes.append([f.box for f in mf])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert boxes == [mf.boxes] * 4


def test_a_handle_is_the_same_multifab(mf):
    again = MultiFab.from_handle(mf.handle)
    assert again.handle == mf.handle
    assert again.boxes == mf.boxes
    assert again.ceed == mf.ceed
    with pytest.raises(pyceedlike.CeedIncompatibleError):
        MultiFab.from_handle(mf[0].handle)


def test_single_precision_is_one_of_its_own():
    mf = pyceedlike.Ceed(scalar="float32").MultiFab([Box([0], [3])])
    mf.set_value(1.5)
    assert MultiFab.from_handle(mf.handle).scalar == mf[0].scalar == "float32"
    assert mf.to_numpy()[0].dtype == "float32"


def test_levels_have_a_number_and_a_ratio():
    mf = pyceedlike.Ceed().MultiFab([Box([0], [3])])
    assert (mf.level, mf.ratio) == (0, (1, 1, 1))
    mf.set_level(2, [4, 2, 1])
    assert (mf.level, mf.ratio) == (2, (4, 2, 1))
    assert repr(mf) == "<pyceedlike.MultiFab of 1 box, 1 float64, level 2>"


def test_no_boxes_have_no_ghosts_to_fill():
    pyceedlike.Ceed().MultiFab([]).fill_ghosts(period=8)


def test_a_multifab_without_boxes_is_empty():
    mf = pyceedlike.Ceed().MultiFab([])
    assert (len(mf), mf.boxes, list(mf), mf.to_numpy(), mf.batch()) == (0, [], [], [], {})
    with pytest.raises(pyceedlike.CeedIncompleteError):
        _ = mf.hull


# --- Ghosts and gathering --------------------------------------------------------------------


@pytest.mark.parametrize("with_ghosts", [False, True])
def test_gather_takes_valid_cells_first_and_leaves_holes(mf, with_ghosts):
    fab, cover = mf.gather(fill=-1.0, with_ghosts=with_ghosts)
    wanted, inside = domain(mf.boxes, mf.ncomp, mf.hull, -1.0)
    assert fab.box == mf.hull
    assert np.array_equal(cover == 2, inside)
    assert np.array_equal(fab.to_numpy()[inside], wanted[inside])
    ghosts = np.zeros(mf.hull.shape, bool)
    for f in mf:
        ghosts[part_of(f.whole & mf.hull, mf.hull)] = True
    ghosts &= ~inside & with_ghosts
    assert np.array_equal(cover == 1, ghosts)
    assert np.isnan(fab.to_numpy()[ghosts]).all()
    holes = ~inside & ~ghosts
    assert holes.any() or with_ghosts
    assert (fab.to_numpy()[holes] == -1.0).all()


def test_gather_has_no_stale_ghost_inside(mf):
    fab, cover = mf.gather(with_ghosts=True)
    assert not np.isnan(fab.to_numpy()[cover == 2]).any()


def test_gather_has_any_box(mf):
    box = mf.hull.grow(2)
    fab, cover = mf.gather(box, fill=0.0)
    wanted, inside = domain(mf.boxes, mf.ncomp, box, 0.0)
    assert np.array_equal(fab.to_numpy(), wanted)
    assert np.array_equal(cover == 2, inside)


def test_ghosts_are_those_of_the_neighbours(mf):
    mf.fill_ghosts()
    for fab in mf:
        wanted, inside = domain(mf.boxes, mf.ncomp, fab.whole.hull(mf.hull), np.nan)
        part = part_of(fab.whole, fab.whole.hull(mf.hull))
        assert np.array_equal(fab.to_numpy(), wanted[part], equal_nan=True)
        assert inside[part].any()


def test_ghosts_are_those_of_periodic_images(mf):
    period = [n + 1 for n in mf.hull.shape]
    mf.fill_ghosts(period)
    cells = {}
    for box in mf.boxes:
        ranges = [range(a, b + 1) for a, b in zip(box.lo, box.hi, strict=True)]
        for index in itertools.product(*ranges):
            cells[tuple(i % p for i, p in zip(index, period, strict=True))] = index
    for fab in mf:
        ranges = [range(a, b + 1) for a, b in zip(fab.whole.lo, fab.whole.hi, strict=True)]
        for index in itertools.product(*ranges):
            origin = cells.get(tuple(i % p for i, p in zip(index, period, strict=True)))
            if origin is None:
                assert np.isnan(fab.at[index]).all()
            else:
                assert (
                    fab.at[index].tolist()
                    == expected(Box(origin, origin), mf.ncomp).ravel().tolist()
                )


def test_threads_that_fill_at_once_are_refused_or_right():
    boxes = [Box([4 * i, 0], [4 * i + 3, 3]) for i in range(50)]
    mf = pyceedlike.Ceed().MultiFab(boxes, ghost=1)
    mf.set_value(-1.0)
    for fab in mf:
        fab.to_numpy("valid")[...] = expected(fab.box, 1)
    periods = [None, [200, 0], [201, 4], [200, 4]]

    def fill(period):
        for _ in range(50):
            with contextlib.suppress(pyceedlike.CeedAccessError):
                mf.fill_ghosts(period)

    threads = [threading.Thread(target=fill, args=[period]) for period in periods]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    mf.fill_ghosts([200, 4])
    assert mf[0].at[-1, -1, 0] == expected(Box([199, 3], [199, 3]), 1).item()
    assert mf[49].at[200, 4, 0] == expected(Box([0, 0], [0, 0]), 1).item()


def test_what_has_no_values_is_an_error():
    mf = pyceedlike.Ceed().MultiFab([Box([0], [3])])
    for use in (mf.gather, mf.fill_ghosts, mf.to_numpy):
        with pytest.raises((pyceedlike.CeedIncompleteError, BufferError), match="no values"):
            use()


# --- Batches ---------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["nzyx", "xyzn"])
def test_a_batch_has_one_compact_array_for_each_shape(mf, order):
    batches = mf.batch(order=order)
    assert set(batches) == {box.shape for box in mf.boxes}
    for shape, tensor in batches.items():
        boxes = [box for box in mf.boxes if box.shape == shape]
        assert tensor.flags.c_contiguous
        wanted = np.stack([expected(box, mf.ncomp) for box in boxes])
        if order == "nzyx":
            wanted = wanted.transpose(0, *range(wanted.ndim - 1, 0, -1))
        assert np.array_equal(tensor, wanted)


def test_a_batch_has_as_many_ghosts_as_asked_for(mf):
    mf.fill_ghosts()
    for shape, tensor in mf.batch(ghost=1).items():
        fabs = [fab for fab in mf if fab.box.shape == shape]
        for block, fab in zip(tensor, fabs, strict=True):
            wanted = fab.to_numpy(fab.box.grow(1), order="nzyx")
            assert np.array_equal(block, wanted, equal_nan=True)
    with pytest.raises(pyceedlike.CeedDimensionError, match="is not inside of"):
        mf.batch(ghost=3)


@pytest.mark.parametrize("order", ["nzyx", "xyzn"])
@pytest.mark.parametrize("ghost", [0, 1])
def test_scatter_writes_the_valid_cells_only(mf, ghost, order):
    batches = mf.batch(ghost=ghost, order=order)
    mf.scatter({shape: 2 * tensor for shape, tensor in batches.items()}, ghost=ghost, order=order)
    for fab in mf:
        assert np.array_equal(fab.to_numpy("valid"), 2 * expected(fab.box, mf.ncomp))
        outside = np.ones(fab.whole.shape, bool)
        outside[part_of(fab.box, fab.whole)] = False
        assert np.isnan(fab.to_numpy()[outside]).all()


def lines_of(array):
    """Return a MultiFab over the lines of an array."""
    boxes = [Box([4 * i], [4 * i + n - 1]) for i, n in enumerate(map(len, array))]
    mf = pyceedlike.Ceed().MultiFab(boxes)
    for i, line in enumerate(array):
        fab = pyceedlike.Fab.from_dlpack(line[None], lo=boxes[i].lo, order="nzyx", ceed=mf.ceed)
        mf.set_fab(i, fab)
    return mf


def test_scatter_takes_arrays_that_lie_in_the_blocks():
    base = np.arange(8.0).reshape(2, 4)
    mf = lines_of(base)
    mf.scatter({(4,): base[::-1, None]})
    assert base.tolist() == [[4, 5, 6, 7], [0, 1, 2, 3]]


def test_scatter_writes_nothing_where_one_array_does_not_fit():
    lines = [np.zeros(2), np.zeros(3)]
    mf = lines_of(lines)
    with pytest.raises(pyceedlike.CeedDimensionError):
        mf.scatter({(2,): np.ones((1, 1, 2)), (3,): np.ones((1, 1, 4))})
    assert not any(line.any() for line in lines)
    lines[1].flags.writeable = False
    mf = lines_of(lines)
    with pytest.raises(pyceedlike.CeedAccessError, match="read-only"):
        mf.scatter({(2,): np.ones((1, 1, 2)), (3,): np.ones((1, 1, 3))})
    assert not any(line.any() for line in lines)


@pytest.mark.parametrize(
    "call",
    [
        lambda mf: mf.set_fab(0, mf),
        lambda mf: mf.copy_from(mf[0]),
        lambda mf: mf.redefine([([0], [1])]),
        lambda mf: mf.gather((0, 1)),
        lambda mf: mf.scatter(np.ones((1, 1, 2))),
        lambda mf: mf.ceed.Fab((8, 8)),
        lambda mf: mf[0].resize((8, 8)),
        lambda mf: mf[0].copy_from(np.ones(2)),
        lambda mf: mf[0].at([1.0, 2.0]),
        lambda mf: pyceedlike.Fab.from_vector(np.ones(2), Box([0], [1])),
        lambda mf: pyceedlike.Fab.from_vector(mf[0].vector(), (0, 1)),
        lambda mf: pyceedlike.MultiFab.from_amrex(np.ones(2)),
    ],
)
def test_objects_of_other_kinds_are_errors(call):
    with pytest.raises(TypeError, match="is wanted here, not"):
        call(pyceedlike.Ceed().MultiFab([Box([0], [1])]))


def test_a_fab_of_another_precision_is_an_error():
    double, single = (
        pyceedlike.Ceed(scalar=scalar).MultiFab([Box([0], [1])]) for scalar in SCALARS
    )
    with pytest.raises(pyceedlike.CeedIncompatibleError):
        double.set_fab(0, single[0])


def test_components_can_be_batched_alone():
    mf = pyceedlike.Ceed().MultiFab([Box([0, 0], [1, 2])], ncomp=3)
    mf.set_value(0.0)
    (tensor,) = mf.batch(components=slice(1, 3)).values()
    assert tensor.shape == (1, 2, 3, 2)
    mf.scatter({(2, 3): tensor + 1}, components=slice(1, 3))
    assert [array[..., i].max() for array in mf.to_numpy() for i in range(3)] == [0, 1, 1]


@pytest.mark.parametrize(
    ("tensors", "text"),
    [
        ({(2, 3): np.zeros((1, 1, 2, 3))}, r"the tensor of shape \(2, 3\) is \(1, 1, 2, 3\)"),
        ({(2, 3): np.zeros((2, 1, 3, 2))}, "for 1 blocks"),
        (
            {(9, 9): np.zeros((1, 1, 9, 9))},
            r"no block here has the shape \(9, 9\): there are \(2, 3\)",
        ),
    ],
)
def test_tensors_of_other_shapes_are_errors(tensors, text):
    mf = pyceedlike.Ceed().MultiFab([Box([0, 0], [1, 2])])
    mf.set_value(0.0)
    with pytest.raises(pyceedlike.CeedDimensionError, match=text):
        mf.scatter(tensors)


def test_tensors_of_another_type_are_errors():
    mf = pyceedlike.Ceed().MultiFab([Box([0, 0], [1, 2])])
    mf.set_value(0.0)
    with pytest.raises(pyceedlike.CeedIncompatibleError, match="float32, float64 is wanted"):
        mf.scatter({(2, 3): np.zeros((1, 1, 3, 2), "float32")})


def test_a_convolution_on_batches_is_that_on_the_domain(mf):
    torch = pytest.importorskip("torch")
    dim, ncomp = mf.hull.dim, mf.ncomp
    convolve = getattr(torch.nn.functional, f"conv{dim}d")
    mf.set_value(0.0)
    random = np.random.default_rng(7)
    for fab in mf:
        fab.to_numpy("valid")[...] = random.standard_normal((*fab.box.shape, ncomp))
    kernel = torch.from_numpy(random.standard_normal((ncomp, ncomp) + (3,) * dim))
    gathered, cover = mf.gather(mf.hull.grow(1), fill=0.0)
    image = torch.from_numpy(gathered.to_numpy(order="nzyx"))[None]
    wanted = convolve(image, kernel)[0].numpy().T
    mf.fill_ghosts()
    mf.scatter(
        {
            shape: convolve(torch.from_numpy(tensor), kernel)
            for shape, tensor in mf.batch(ghost=1).items()
        }
    )
    result, _ = mf.gather(fill=0.0)
    inside = (cover == 2)[(slice(1, -1),) * dim]
    assert not inside.all()
    assert np.allclose(result.to_numpy()[inside], wanted[inside], rtol=1e-13, atol=1e-13)


# --- Pictures --------------------------------------------------------------------------------


@pytest.fixture
def axes():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    figure, axes = pyplot.subplots()
    yield axes
    pyplot.close(figure)


def test_a_picture_has_the_cells_where_they_are(axes):
    boxes = [Box(*box) for box in L_SHAPE[2]]
    mf = pyceedlike.Ceed().MultiFab(boxes, 3)
    for fab in mf:
        fab.set_value(0.0)
        fab.to_numpy()[...] = expected(fab.box, 3)
    colours = mf.plot(1, axes=axes, cell_size=0.5, origin=[10, 0])
    assert colours.get_clim() == (
        min(expected(box, 3)[..., 1].min() for box in boxes),
        max(expected(box, 3)[..., 1].max() for box in boxes),
    )
    for mesh, box in zip(axes.collections, boxes, strict=True):
        assert np.array_equal(mesh.get_array().reshape(box.shape[::-1]), expected(box, 3)[..., 1].T)
        corners = mesh.get_coordinates()
        assert corners[0, 0].tolist() == [10 + box.lo[0] / 2, box.lo[1] / 2]
        assert corners[-1, -1].tolist() == [10 + (box.hi[0] + 1) / 2, (box.hi[1] + 1) / 2]
    assert [patch.get_width() for patch in axes.patches] == [box.shape[0] / 2 for box in boxes]


@pytest.mark.parametrize("normal", ["x", "y", "z"])
def test_a_picture_of_three_directions_is_a_slice(axes, normal):
    boxes = [Box(*box) for box in L_SHAPE[3]]
    mf = pyceedlike.Ceed().MultiFab(boxes)
    for fab in mf:
        fab.set_value(0.0)
        fab.to_numpy()[...] = expected(fab.box, 1)
    direction = "xyz".index(normal)
    index = boxes[1].lo[direction]
    mf.plot(axes=axes, normal=normal, index=index, outlines=False)
    met = [box for box in boxes if box.lo[direction] <= index <= box.hi[direction]]
    assert len(axes.patches) == 0
    for mesh, box in zip(axes.collections, met, strict=True):
        wanted = np.take(expected(box, 1)[..., 0], index - box.lo[direction], direction).T
        assert np.array_equal(mesh.get_array().reshape(wanted.shape), wanted)


def test_levels_have_outlines_of_their_own_colours(axes):
    colours = []
    for level in (0, 1):
        mf = pyceedlike.Ceed().MultiFab([Box([0, 0], [1, 1])])
        mf.set_value(1.0)
        mf.set_level(level)
        mf.plot(axes=axes)
        colours.append(axes.patches[-1].get_edgecolor())
    assert colours[0] != colours[1]


def test_a_picture_of_one_direction_has_steps(axes):
    mf = pyceedlike.Ceed().MultiFab([Box([2], [4])])
    mf.set_value(1.5)
    mf.plot(axes=axes)
    (steps,) = axes.patches
    assert steps.get_data().edges.tolist() == [2, 3, 4, 5]
    assert steps.get_data().values.tolist() == [1.5] * 3


def test_nodes_are_drawn_around_their_place(axes):
    mf = pyceedlike.Ceed().MultiFab([Box([0, 0], [2, 1], [1, 0])])
    mf.set_value(1.5)
    mf.plot(axes=axes)
    assert axes.collections[0].get_coordinates()[0, 0].tolist() == [-0.5, 0]


@pytest.mark.parametrize(
    ("style", "error", "text"),
    [
        ({"normal": "t"}, ValueError, "normal must be 'x', 'y' or 'z', not 't'"),
        ({"cell_size": [1, 2, 3]}, ValueError, "cell_size is a number for each of 2 directions"),
        ({"hatch": "/"}, TypeError, "hatch: what is set are vmin, vmax, norm and cmap"),
    ],
)
def test_what_a_picture_has_not_is_an_error(axes, style, error, text):
    mf = pyceedlike.Ceed().MultiFab([Box([0, 0], [2, 1])])
    mf.set_value(1.5)
    with pytest.raises(error, match=text):
        mf.plot(axes=axes, **style)


@pytest.mark.parametrize("index", [-1, 4])
def test_a_slice_outside_of_the_boxes_is_an_error(axes, index):
    mf = pyceedlike.Ceed().MultiFab([Box([0, 0, 0], [2, 1, 3])])
    mf.set_value(1.5)
    with pytest.raises(
        pyceedlike.CeedDimensionError, match=rf"index {index} .* z, which is 0\.\.3"
    ):
        mf.plot(axes=axes, index=index)
