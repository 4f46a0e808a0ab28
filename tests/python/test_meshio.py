# SPDX-License-Identifier: BSD-2-Clause
"""Meshes of files: what Gmsh writes, what meshio reads, and what is refused."""

import numpy as np
import pytest

import pyceedlike
from pyceedlike import Mesh

meshio = pytest.importorskip("meshio", reason="meshio is not installed")
try:
    import gmsh
except (ImportError, OSError):  # OSError: libraries of windows that Gmsh is linked with
    gmsh = None

needs_gmsh = pytest.mark.skipif(
    "gmsh is None", reason="Gmsh is not installed, or lacks libraries as libGLU"
)

KINDS = {"line": 1, "triangle": 2, "quad": 2, "tet": 3, "hex": 3}


def write(path, kind, order, version=4.1):
    """Mesh the unit line, square or cube with Gmsh; x = 0 is called inlet, the inside steel."""
    dim = KINDS[kind]
    gmsh.initialize(interruptible=False)
    try:
        for name, value in {
            "General.Terminal": 0,
            "Mesh.MeshSizeMax": 0.5,
            "Mesh.MshFileVersion": version,
            "Mesh.RecombineAll": int(kind == "quad"),
            "Mesh.SubdivisionAlgorithm": {"quad": 1, "hex": 2}.get(kind, 0),
        }.items():
            gmsh.option.setNumber(name, value)
        if dim == 1:
            ends = [gmsh.model.occ.addPoint(x, 0, 0) for x in (0, 1)]
            gmsh.model.occ.addLine(*ends)
        elif dim == 2:
            gmsh.model.occ.addRectangle(0, 0, 0, 1, 1)
        else:
            gmsh.model.occ.addBox(0, 0, 0, 1, 1, 1)
        gmsh.model.occ.synchronize()
        inlet = gmsh.model.getEntitiesInBoundingBox(-0.1, -0.1, -0.1, 0.1, 1.1, 1.1, dim - 1)
        gmsh.model.addPhysicalGroup(dim - 1, [tag for _, tag in inlet], name="inlet")
        gmsh.model.addPhysicalGroup(dim, [1], name="steel")
        gmsh.model.mesh.generate(dim)
        gmsh.model.mesh.setOrder(order)
        gmsh.write(str(path))
    finally:
        gmsh.finalize()
    return path


@needs_gmsh
@pytest.mark.parametrize("version", [2.2, 4.1])
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_a_mesh_of_gmsh_has_its_nodes_where_the_order_says(tmp_path, kind, order, version):
    mesh = Mesh.read(write(tmp_path / "box.msh", kind, order, version))
    assert (mesh.cell.name, mesh.order, mesh.dim) == (kind, order, KINDS[kind])
    corners = mesh.nodes[mesh.corners]
    shapes = mesh.cell.weights(order) / mesh.cell.weights(order).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(mesh.nodes[mesh.elements], shapes @ corners, atol=1e-12)
    space = mesh.space(pyceedlike.Ceed(), 2)
    assert space.geometry.dV.vector.to_numpy().sum() == pytest.approx(1)


@needs_gmsh
@pytest.mark.parametrize("version", [2.2, 4.1])
@pytest.mark.parametrize("kind", KINDS)
def test_physical_groups_of_gmsh_keep_their_names(tmp_path, kind, version):
    mesh = Mesh.read(write(tmp_path / "box.msh", kind, 2, version))
    np.testing.assert_array_equal(mesh.regions["steel"], np.arange(len(mesh.elements)))
    for order in (1, 2, 3):
        space = mesh.space(pyceedlike.Ceed(), order)
        inlet = np.flatnonzero(abs(space.nodes[:, 0]) < 1e-12)
        np.testing.assert_array_equal(space.boundary("inlet"), inlet)


POINTS = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 0, 0], [2, 1, 0], [9, 9, 0]]
QUADS = [[0, 1, 2, 3], [1, 4, 5, 2]]


@pytest.mark.parametrize(
    ("name", "written_as"),
    [("q.vtk", "vtk"), ("q.vtu", "vtu"), ("q.inp", "abaqus"), ("q.msh", "gmsh")],
)
def test_a_file_of_any_format_is_read(tmp_path, name, written_as):
    path = tmp_path / name
    meshio.write(path, meshio.Mesh(POINTS[:6], [("quad", QUADS)]), written_as)
    mesh = Mesh.read(path)
    np.testing.assert_array_equal(mesh.elements, [[0, 1, 3, 2], [1, 4, 2, 5]])
    np.testing.assert_array_equal(mesh.nodes, np.array(POINTS)[:6, :2])


def test_nodes_of_no_element_are_left_out():
    mesh = Mesh.from_meshio(meshio.Mesh(POINTS, [("vertex", [[6]]), ("quad", QUADS[1:])]))
    np.testing.assert_array_equal(mesh.nodes, [[1, 0], [1, 1], [2, 0], [2, 1]])
    np.testing.assert_array_equal(mesh.elements, [[0, 2, 1, 3]])


@pytest.mark.parametrize("node", [-1, 4])
def test_a_node_that_is_none_is_named(node):
    square = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]])
    with pytest.raises(pyceedlike.CeedDimensionError, match=f"node {node}, of 4"):
        Mesh.from_meshio(meshio.Mesh(square, [("triangle", [[0, 1, 2], [0, 2, node]])]))


def test_blocks_of_one_kind_are_one_mesh():
    cells = [("quad", QUADS[:1]), ("line", [[0, 3]]), ("quad", QUADS[1:])]
    sets = {"right": [[], [], [0]], "left": [[], [0], []], "both": [[0], [], [0]]}
    mesh = Mesh.from_meshio(meshio.Mesh(POINTS, cells, cell_sets=sets))
    assert mesh.regions["right"].tolist() == [1]
    assert mesh.regions["both"].tolist() == [0, 1]
    assert mesh.boundaries["left"].tolist() == [[0, 0]]


@pytest.mark.parametrize(
    ("cells", "text"),
    [
        ([("quad", QUADS), ("triangle", [[0, 1, 2]])], "quad and triangle; a Mesh has one"),
        (
            [("triangle", [[0, 1, 2]]), ("triangle6", [[0, 1, 4, 2, 5, 3]])],
            "triangle and triangle6",
        ),
        ([("quad8", [[0, 1, 2, 3, 4, 5, 6, 0]])], "quad8 cells; elements are line, "),
        ([("wedge", [[0, 1, 2, 3, 4, 5]])], "wedge cells"),
        ([("vertex", [[0]])], "no elements"),
        ([], "no elements"),
        ([("quad", np.zeros((0, 4), int))], "no elements"),
        ([("quad", [[0, 3, 2, 1]])], "element 0 is inverted"),
    ],
)
def test_cells_that_are_no_elements_are_named(cells, text):
    with pytest.raises(pyceedlike.CeedIncompatibleError, match=text):
        Mesh.from_meshio(meshio.Mesh(POINTS, cells))


def test_lines_that_are_left_of_a_surface_are_refused_with_the_remedy():
    square = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
    lines = meshio.Mesh(square, {"line": [[0, 1], [1, 2], [2, 3], [3, 0]]})
    with pytest.raises(pyceedlike.CeedIncompatibleError, match=r"along y.* put the surface in one"):
        Mesh.from_meshio(lines)


def test_a_path_in_the_place_of_a_mesh_is_refused_with_the_remedy():
    with pytest.raises(TypeError, match=r"not str: Mesh\.read\(path\) reads a file"):
        Mesh.from_meshio("square.msh")


def test_surfaces_in_space_are_refused():
    points = np.array(POINTS, float)
    points[5, 2] = 1
    with pytest.raises(pyceedlike.CeedIncompatibleError, match="nodes vary along z"):
        Mesh.from_meshio(meshio.Mesh(points, [("quad", QUADS)]))


def test_a_side_that_is_none_is_named():
    mesh = meshio.Mesh(POINTS, [("quad", QUADS), ("line", [[0, 2]])], cell_sets={"wall": [[], [0]]})
    with pytest.raises(pyceedlike.CeedDimensionError, match=r"'wall' .* no side"):
        Mesh.from_meshio(mesh)


def test_a_file_that_is_not_there_is_not_found(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nothing\.msh"):
        Mesh.read(tmp_path / "nothing.msh")


@pytest.mark.parametrize("name", ["broken.msh", "broken.vtu", "broken.vtk", "broken.txt", "broken"])
@pytest.mark.parametrize("content", [b"", b"$MeshFormat\n4.1 0 8\n$Nodes", b"\xff" * 100])
def test_a_file_that_is_no_mesh_is_named(tmp_path, capfd, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(pyceedlike.CeedIncompatibleError, match=f"meshio can't read .*{name}"):
        Mesh.read(path)
    assert capfd.readouterr() == ("", "")
