# SPDX-License-Identifier: BSD-2-Clause
"""Plotfiles of AMReX: all forms, what is broken, and real ones."""

import os
import re
import shutil
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from helpers import run_well
from hypothesis import given, settings
from hypothesis import strategies as st
from plotfiles import FLAME, L_SHAPE, Writer, values_over

import pyceedlike
from pyceedlike.interop import plotfile
from pyceedlike.interop.plotfile import PlotfileError

VERSIONS = (1, 2, 3, 4)
REALS = ("<f8", ">f8", "<f4", ">f4")
GHOSTS = {
    "none": [(0, 0), (0, 0), (0, 0)],
    "unequal": [(1, 1), (0, 0), (2, 2)],
    "one-sided": [(0, 2), (1, 0), (0, 0)],
}


def writer(folder, dim=2, **options):
    fine = [(tuple(2 * a for a in lo), tuple(2 * b for b in hi)) for lo, hi in L_SHAPE[dim]]
    return Writer(folder / "plt00000", [L_SHAPE[dim], fine[:1]], **options)


def check_level(level, boxes, number, ghost, ncomp):
    assert [fab.box for fab in level] == [pyceedlike.Box(*box) for box in boxes]
    for fab in level:
        whole = fab.box.grow(ghost)
        assert fab.whole == whole
        wanted = values_over(whole.lo, whole.hi, ncomp, number)
        assert np.array_equal(fab.to_numpy(order="nzyx"), wanted.astype(fab.scalar))


# --- All forms -------------------------------------------------------------------------------


@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("version", VERSIONS)
def test_every_form_is_read(tmp_path, version, real, dim):
    file = writer(tmp_path, dim, version=version, real=real)
    plot = plotfile.open(file.write())
    assert len(plot.levels) == 2
    for number, level in enumerate(plot.levels):
        assert level.scalar == {"8": "float64", "4": "float32"}[real[2]]
        assert (level.level, level.ratio[:dim]) == (number, (2 if number else 1,) * dim)
        check_level(level, file.levels[number], number, 0, file.ncomp)


@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("ncomp", [1, 3])
@pytest.mark.parametrize("ghost", GHOSTS)
def test_ghost_layers_come_from_the_blocks(tmp_path, ghost, ncomp, dim):
    layers = GHOSTS[ghost][:dim]
    file = writer(tmp_path, dim, ghost=layers, ncomp=ncomp)
    file.told = [0] * dim
    (level, _) = plotfile.open(file.write()).levels
    check_level(level, file.levels[0], 0, layers, file.ncomp)
    assert all(fab.to_numpy("valid").size for fab in level)


@pytest.mark.parametrize("version", [2, 3, 4])
def test_ghost_layers_come_from_the_index_where_blocks_tell_none(tmp_path, version):
    file = writer(tmp_path, 3, ghost=GHOSTS["unequal"], version=version)
    check_level(
        plotfile.open(file.write()).levels[0], file.levels[0], 0, GHOSTS["unequal"], file.ncomp
    )


def test_the_header_is_told(tmp_path):
    plot = plotfile.open(writer(tmp_path).write())
    assert plot.version == "HyperCLaw-V1.1"
    assert plot.fields == ["field (0)", "field (1)"]
    assert (plot.dim, plot.time, plot.coordinates) == (2, 0.25, "cartesian")
    assert (plot.prob_lo, plot.prob_hi, plot.ratios) == ([0, 0], [1, 1], [2])
    assert plot.domains == [pyceedlike.Box([-9, -9], [99, 99])] * 2
    assert (plot.steps, plot.cell_sizes) == ([7, 7], [[0.5, 0.5]] * 2)
    assert "2 fields on 2 levels" in repr(plot)


def test_one_level_has_no_ratios(tmp_path):
    file = Writer(tmp_path / "one", [L_SHAPE[1]])
    plot = plotfile.open(file.write())
    assert plot.ratios == []
    check_level(plot.levels[0], file.levels[0], 0, 0, file.ncomp)


@pytest.mark.parametrize("version", [1, 3])
def test_extrema_are_told(tmp_path, version):
    file = writer(tmp_path, version=version)
    low, high = plotfile.open(file.write()).levels[0].extrema()
    for i, box in enumerate(file.levels[0]):
        data = values_over(*box, file.ncomp).reshape(file.ncomp, -1)
        assert (low[i], high[i]) == (data.min(1).tolist(), data.max(1).tolist())


@pytest.mark.parametrize("version", [2, 4])
def test_extrema_that_are_not_there_are_none(tmp_path, version):
    assert plotfile.open(writer(tmp_path, version=version).write()).levels[0].extrema() is None


@pytest.mark.parametrize("numbers", [[1], [1, 2], [2, 0], [0, 2, 1]])
@pytest.mark.parametrize("version", [1, 2])
def test_fields_can_be_chosen(tmp_path, version, numbers):
    file = writer(tmp_path, ncomp=3, version=version)
    plot = plotfile.open(file.write(), fields=[f"field ({i})" for i in numbers])
    for fab, box in zip(plot.levels[0], file.levels[0], strict=True):
        assert np.array_equal(fab.to_numpy(order="nzyx"), values_over(*box, 3)[numbers])


def test_a_field_that_is_not_there_is_an_error(tmp_path):
    path = writer(tmp_path).write()
    with pytest.raises(
        pyceedlike.CeedIncompatibleError, match=r"no field 'heat': its fields are field \(0\)"
    ):
        plotfile.open(path, fields=["heat"])
    with pytest.raises(
        pyceedlike.CeedIncompatibleError, match=r"no field 'heat': its fields are field \(0\)"
    ):
        plotfile.open(path).plot("heat")
    with pytest.raises(pyceedlike.CeedIncompatibleError, match="no field is chosen"):
        plotfile.open(path, fields=[])


def test_a_name_is_that_of_one_field(tmp_path):
    assert plotfile.open(writer(tmp_path).write(), fields="field (1)").fields == ["field (1)"]


@pytest.mark.parametrize("dim", [2, 3])
def test_a_picture_has_all_levels_in_the_same_colours(tmp_path, dim):
    pytest.importorskip("matplotlib").use("agg")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    file = writer(tmp_path, dim)
    plot = plotfile.open(file.write())
    figure, axes = pyplot.subplots()
    colours = plot.plot("field (1)", axes=axes, cmap="magma", index=2 if dim == 3 else None)
    meshes = axes.collections
    assert len(meshes) == 4
    assert {id(mesh.norm) for mesh in meshes} == {id(colours.norm)}
    assert {mesh.cmap.name for mesh in meshes} == {"magma"}
    lowest = [9 * 0.5 - 0.5 * 4, 9 * 0.5 - 0.5 * 2]  # prob_lo is 0, and the domain begins at -9
    assert meshes[0].get_coordinates()[0, 0].tolist() == lowest
    everything = [fab.to_numpy("valid", 1) for level in plot.levels for fab in level]
    low, high = colours.get_clim()
    assert min(map(np.min, everything)) <= low < high <= max(map(np.max, everything))
    pyplot.close(figure)


# --- Reading late ----------------------------------------------------------------------------


def test_blocks_are_read_when_they_are_asked_for(tmp_path):
    file = writer(tmp_path)
    path = file.write()
    level = plotfile.open(path).levels[0]
    (path / "Level_0" / "Cell_D_00001").unlink()  # that of the third block
    wanted = values_over(*file.levels[0][0], file.ncomp)
    assert np.array_equal(level[0].to_numpy(order="nzyx"), wanted)
    with pytest.raises(PlotfileError, match=r"Cell_H:\d+: .*No such file"):
        level[2].to_numpy()


def test_a_block_is_the_same_fab_each_time(tmp_path):
    level = plotfile.open(writer(tmp_path).write()).levels[0]
    level[0].set_value(3.0)
    assert (level[0].to_numpy() == 3.0).all()
    assert (level.read(0).to_numpy() != 3.0).all()


def test_a_mapped_block_can_be_written_and_the_file_stays(tmp_path):
    path = writer(tmp_path, version=2).write()
    data = path / "Level_0" / "Cell_D_00000"
    before = data.read_bytes()
    fab = plotfile.open(path).levels[0].read(0)
    assert fab.exchange.shared
    fab.set_value(3.0)
    assert data.read_bytes() == before


@pytest.mark.parametrize("version", VERSIONS)
def test_each_reading_is_a_fab_of_its_own(tmp_path, version):
    file = writer(tmp_path, version=version)
    level = plotfile.open(file.write()).levels[0]
    first = level.read(0)
    first.set_value(9.0)
    level[0].set_value(8.0)
    wanted = values_over(*file.levels[0][0], file.ncomp)
    assert np.array_equal(level.read(0).to_numpy(order="nzyx"), wanted)
    assert (first.to_numpy() == 9.0).all()


def test_a_fab_that_is_set_takes_the_place_of_the_files(tmp_path):
    level = plotfile.open(writer(tmp_path).write()).levels[0]
    mine = level.ceed.Fab(level.boxes[0], ncomp=level.ncomp)
    mine.set_value(5.0)
    level.set_fab(0, mine)
    assert level[0].handle == mine.handle
    assert (level.gather()[0].to_numpy(level.boxes[0]) == 5.0).all()


def test_a_redefined_level_has_nothing_of_the_file(tmp_path):
    level = plotfile.open(writer(tmp_path).write()).levels[0]
    boxes = [*level.boxes, pyceedlike.Box([5, 5], [6, 6])]
    for others in (level.boxes, boxes):
        level.redefine(others, ncomp=2)
        assert len(list(level)) == len(others)
        with pytest.raises(pyceedlike.CeedExportError, match="no values yet"):
            level[0].to_numpy()
        level.set_value(1.0)
        assert (level[-1].to_numpy() == 1.0).all()


def test_threads_that_ask_for_a_block_get_the_same_fab(tmp_path, monkeypatch):
    level = plotfile.open(writer(tmp_path).write()).levels[0]
    read = level.read

    def read_slowly(index):
        time.sleep(0.05)
        return read(index)

    monkeypatch.setattr(level, "read", read_slowly)
    with ThreadPoolExecutor(4) as pool:
        handles = set(pool.map(lambda _: level[0].handle, range(4)))
    assert handles == {level[0].handle}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_copy_stays_when_the_file_is_cut_off(tmp_path, version):
    file = writer(tmp_path, version=version)
    path = file.write()
    fab = plotfile.open(path, copy=True).levels[0][0]
    (path / "Level_0" / "Cell_D_00000").write_bytes(b"")
    wanted = values_over(*file.levels[0][0], file.ncomp)
    assert np.array_equal(fab.to_numpy(order="nzyx"), wanted)


def test_the_whole_level_is_there_for_what_needs_it(tmp_path):
    file = writer(tmp_path)
    level = plotfile.open(file.write()).levels[0]
    gathered, cover = level.gather()
    hull = gathered.box
    wanted = values_over(hull.lo, hull.hi, file.ncomp).T
    inside = cover == 2
    assert np.array_equal(gathered.to_numpy()[inside], wanted[inside])
    assert inside.sum() == sum(fab.box.size for fab in level)


# --- Broken files ----------------------------------------------------------------------------


def read_all(path):
    for level in plotfile.open(path).levels:
        level.extrema()
        level.gather()


def fault_of(path):
    """Return what the error says that reading ends with, or None."""
    try:
        read_all(path)
    except PlotfileError as error:
        return str(error)
    return None


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", ["Header", "Level_0/Cell_H"])
@pytest.mark.parametrize("text", ["?", "-7", "3 x", "99999999999999999999", "nan"])
def test_a_line_of_nonsense_is_an_error_with_its_place(tmp_path, version, name, text):
    path = writer(tmp_path, version=version).write()
    good = (path / name).read_text().split("\n")
    for number, line in enumerate(good[:-1], 1):
        if line.strip() in ("", text) or (name == "Header" and number in (1, 3, 4)):
            continue
        (path / name).write_text("\n".join([*good[: number - 1], text, *good[number:]]))
        message = fault_of(path)
        if message is None:
            float(text)  # it was a number where any number can be
        else:
            assert re.match(rf"{re.escape(str(path))}/\S+?:(\d+| byte \d+): ", message)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", ["Header", "Level_0/Cell_H"])
def test_a_text_that_ends_early_is_an_error_with_its_place(tmp_path, version, name):
    path = writer(tmp_path, version=version).write()
    good = (path / name).read_text().rstrip("\n").split("\n")
    for count in range(len(good) - 1):
        (path / name).write_text("\n".join(good[:count]))
        with pytest.raises(PlotfileError, match=rf"{name}:\d+: "):
            read_all(path)


@pytest.mark.parametrize("version", [1, 2])
def test_data_that_end_early_are_an_error_with_the_byte(tmp_path, version):
    path = writer(tmp_path, version=version).write()
    data = path / "Level_0" / "Cell_D_00000"
    size = data.stat().st_size
    data.write_bytes(data.read_bytes()[:-1])
    level = plotfile.open(path).levels[0]
    text = rf"Cell_D_00000: byte \d+: .* goes on to byte {size}, and the file ends at {size - 1}"
    level[0]
    with pytest.raises(PlotfileError, match=text):
        level[1]


def replace_in_data(path, old, new):
    data = path / "Level_0" / "Cell_D_00000"
    changed = data.read_bytes().replace(old, new, 1)
    assert changed != data.read_bytes()
    data.write_bytes(changed)


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        (b"((-4,-2) ", b"((-3,-2) ", "which does not contain its box"),
        (b"((-4,-2) ", b"((-4,x2) ", "has no box"),
        (b"((-4,-2) ", b"((-4,-9999999999) ", "has no box"),
        (b" (0,0)) 2", b" (0,0)) 3", "has 3 fields, not 2"),
        (b" (0,0)) 2", b" (1,0)) 2", "does not contain"),
        (b"64 11 52", b"64 11 51", "no head of a block of IEEE floats or doubles"),
        (b"(8 7 6 5 4 3 2 1)", b"(4 3 2 1 8 7 6 5)", "no head of a block"),
        (b"FAB ((8", b"FAB: ((8", "no head of a block"),
        (b"FAB ", b"\xff\xfe\x00 ", "no head of a block"),
        (b"-2) (-1,1)", b"-2) (2147483647,2147483647)", "byte"),
    ],
)
def test_a_broken_block_is_an_error_with_the_byte(tmp_path, old, new, text):
    path = writer(tmp_path).write()
    replace_in_data(path, old, new)
    with pytest.raises(PlotfileError, match=rf"Cell_D_00000: byte \d+: .*{text}"):
        plotfile.open(path).levels[0][0]


def test_an_offset_past_the_file_is_an_error(tmp_path):
    path = writer(tmp_path).write()
    index = path / "Level_0" / "Cell_H"
    index.write_text(index.read_text().replace("Cell_D_00000 0", "Cell_D_00000 99999999"))
    with pytest.raises(PlotfileError, match="Cell_D_00000: byte 99999999: ''"):
        plotfile.open(path).levels[0][0]


def test_a_block_of_another_precision_is_an_error(tmp_path):
    path = writer(tmp_path, real="<f8").write()
    (tmp_path / "single").mkdir()
    single = writer(tmp_path / "single", real="<f4").write()
    name = "Level_0/Cell_D_00001"
    shutil.copy(single / name, path / name)
    with pytest.raises(PlotfileError, match=r"byte .*the block holds float32, the level float64"):
        plotfile.open(path).levels[0][2]


DIGITS = "9" * 5000  # more than Python makes a number of


@pytest.mark.parametrize(
    ("version", "old", "new"),
    [
        (1, r"Cell_D_00000 0", f"Cell_D_00000 {DIGITS}"),
        (1, r"Cell_D_00000 0", f"Cell_D_00000 {'9' * 40}"),
        (1, r"\(3 0\n", f"({DIGITS} 0\n"),
        (2, r"\(64 ", f"({DIGITS} "),
        (1, r"\(0,-2\) \(2,1\)", f"(0,-2) ({2**30},{2**30})"),
        (1, r"\n2\n0\n", "\n2\n1073741823\n"),
        (1, r"Cell_D_00000 0", "../Level_0/Cell_D_00000 0"),
        (1, r"Cell_D_00000 0", "/Cell_D_00000 0"),
        (1, r"Cell_D_00000 0", "pipe 0"),
        (2, r"Cell_D_00000 0", "pipe 0"),
    ],
)
def test_an_index_of_the_impossible_is_an_error_with_its_place(tmp_path, version, old, new):
    path = writer(tmp_path, version=version).write()
    os.mkfifo(path / "Level_0" / "pipe")
    index = path / "Level_0" / "Cell_H"
    text, count = re.subn(old, new, index.read_text(), count=1)
    assert count == 1
    index.write_text(text)
    assert fault_of(path).startswith(str(index))


def test_a_level_outside_of_the_folder_is_an_error(tmp_path):
    path = writer(tmp_path).write()
    header = path / "Header"
    header.write_text(header.read_text().replace("Level_0/Cell", "../plt00000/Level_0/Cell"))
    assert "outside" in fault_of(path)


def test_a_folder_without_a_header_is_no_plotfile(tmp_path):
    with pytest.raises(FileNotFoundError, match="Header"):
        plotfile.open(tmp_path)


def test_a_level_without_its_index_is_an_error(tmp_path):
    path = writer(tmp_path).write()
    (path / "Level_1" / "Cell_H").unlink()
    with pytest.raises(
        PlotfileError, match=r"Header:\d+: the level can't be read: .*Level_1/Cell_H"
    ):
        _ = plotfile.open(path).levels


@pytest.fixture(scope="module")
def good_files(tmp_path_factory):
    """Files of all versions."""
    folder = tmp_path_factory.mktemp("good")
    for version in VERSIONS:
        (folder / str(version)).mkdir()
        writer(folder / str(version), version=version).write()
    return folder


@settings(max_examples=100, deadline=None)
@given(
    version=st.sampled_from(VERSIONS),
    name=st.sampled_from(["Header", "Level_0/Cell_H", "Level_0/Cell_D_00000"]),
    place=st.floats(0, 1, exclude_max=True),
    cut=st.integers(0, 3),
    insert=st.binary(max_size=3) | st.text("0123456789-,()", max_size=12).map(str.encode),
)
def test_whatever_is_broken_is_an_error_of_the_file(good_files, version, name, place, cut, insert):
    path = good_files / str(version) / "plt00000"
    good = (path / name).read_bytes()
    begin = int(place * min(len(good), 400))
    (path / name).write_bytes(good[:begin] + insert + good[begin + cut :])
    try:
        message = fault_of(path)
    finally:
        (path / name).write_bytes(good)
    assert message is None or message.startswith(str(path))


# --- Real files ------------------------------------------------------------------------------


@pytest.mark.skipif(not FLAME.is_dir(), reason=f"no {FLAME}: `make data` fetches it")
def test_every_block_of_a_real_flame_has_the_extrema_that_its_index_tells():
    plot = plotfile.open(FLAME)
    checked = 0
    for level in plot.levels:
        for index, (low, high) in enumerate(zip(*level.extrema(), strict=True)):
            block = level.read(index).to_numpy("valid").reshape(-1, len(plot.fields))
            assert block.min(0).tolist() == low
            assert block.max(0).tolist() == high
            checked += 1
    assert checked == 463


@pytest.mark.skipif(not FLAME.is_dir(), reason=f"no {FLAME}: `make data` fetches it")
def test_the_levels_of_a_real_flame_lie_inside_each_other():
    plot = plotfile.open(FLAME, fields=["temp"])
    assert [len(level) for level in plot.levels] == [128, 137, 198]
    coarse, middle, fine = plot.levels
    for inner, outer in ((middle, coarse), (fine, middle)):
        covered = outer.gather()[1]
        lo = outer.hull.lo
        for box in inner.boxes:
            under = box.coarsen(2)
            part = tuple(
                slice(a - c, b - c + 1) for a, b, c in zip(under.lo, under.hi, lo, strict=True)
            )
            assert (covered[part] == 2).all()


WRITE = """
import numpy as np
import amrex.space3d as amr
amr.initialize([])
domain = amr.Box(amr.IntVect(-6, -4, 2), amr.IntVect(5, 3, 9))
boxes = amr.BoxArray(domain)
boxes.max_size(4)
mf = amr.MultiFab(boxes, amr.DistributionMapping(boxes), 2, amr.IntVect(1, 0, 2))
for block in mf:
    low = list(block.fabbox().small_end)
    array = mf.array(block).to_numpy()
    i, j, k, n = (np.arange(m) + lo for m, lo in zip(array.shape, [*low, 0]))
    grid = np.meshgrid(i, j, k, n, indexing="ij")
    array[...] = grid[0] + 31 * grid[1] + 997 * grid[2] + 40000 * grid[3] + 0.5
real = amr.RealBox(0, 0, 0, 1, 1, 1)
geometry = amr.Geometry(domain, real, amr.CoordSys.CoordType.cartesian, [0, 0, 0])
names = amr.Vector_string(["a", "b (c)"])
amr.write_single_level_plotfile(FOLDER, mf, names, geometry, 0.5, 3)
"""


def test_a_file_of_pyamrex_is_read_with_its_negative_bounds(tmp_path):
    pytest.importorskip("amrex.space3d", reason="pyAMReX comes with impactx-noacc")
    folder = tmp_path / "plt"
    run_well(f"FOLDER = {str(folder)!r}\n{WRITE}")
    plot = plotfile.open(folder)
    assert plot.fields == ["a", "b (c)"]
    assert (plot.time, plot.steps) == (0.5, [3])
    (level,) = plot.levels
    assert level.hull == pyceedlike.Box([-6, -4, 2], [5, 3, 9])
    assert len(level) == 12
    for fab in level:
        box = fab.box
        assert np.array_equal(fab.to_numpy("valid", order="nzyx"), values_over(box.lo, box.hi, 2))
