# SPDX-License-Identifier: BSD-2-Clause
"""The order of the house: layers, names, symbols, and what is shipped."""

import ast
import inspect
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from helpers import HERE, ROOT, package_file, run_well

import pyceedlike
from pyceedlike import _lib

LIBRARIES = {"float64": ("libceedlike.so.0", "_f64"), "float32": ("libceedlike_f32.so.0", "_f32")}
LAYERS = [
    *("_exchange", "_ceedlike_f64", "_ceedlike_f32"),
    *(
        "_lib",
        "ceed",
        "_object",
        "sources",
        "vector",
        "box",
        "index",
        "fab_view",
        "fab_arrays",
        "fab",
        "multifab",
        "buildflags",
        "compiled",
        "context",
        "callback",
        "qfunction",
        "dlpack",
        "fem",
        "lagrange",
        "mesh",
        "space",
    ),
    "native",
    *("embedding", "partners", "explain", "doctor"),
]
NATIVE = [
    *("ir", "expressions", "printer", "trace", "elementwise", "tensor", "control", "matrices"),
    *("values", "source", "build", "point", "derivatives", "state"),
]
PARTNERS = {"numpy", "jax", "jaxlib", "torch", "tvm_ffi", "cupy", "numba", "scipy", "ml_dtypes"}
PARTNERS |= {"tensorflow", "pyarrow", "mpi4py", "dpnp", "meshio"}


def package_modules():
    """Return the Python files of the installed package, by module name without the package's."""
    folder = package_file(".").resolve()
    files = [f for f in sorted(folder.rglob("*.py")) if "include" not in f.parts]
    return {".".join(f.relative_to(folder).with_suffix("").parts): f for f in files}


def first_imports(module, path):
    """Return what a module imports when it is imported: names of ours, and names of others."""
    ours, others = set(), set()

    def visit(node):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            return
        if isinstance(node, ast.Import):
            others.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            others.add(node.module.partition(".")[0])
        elif isinstance(node, ast.ImportFrom):
            package = module.split(".")[: -node.level] if module else []
            names = [node.module] if node.module else [alias.name for alias in node.names]
            ours.update(".".join([*package, name]) for name in names)
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(ast.parse(path.read_text()))
    return ours, others


def project_files():
    """Return the files that belong to the project."""
    if not (ROOT / "include" / "ceedlike.h").exists():
        pytest.skip("the sources of the project are not here")
    git = shutil.which("git")
    if git and (ROOT / ".git").exists():
        done = subprocess.run(
            [
                *(git, "-c", "safe.directory=*", "-C", str(ROOT)),
                *("ls-files", "-z", "--cached", "--others", "--exclude-standard"),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == 0:
            return [ROOT / n for n in done.stdout.split("\0") if n and (ROOT / n).is_file()]
    skipped = {"build", "dist", ".git", ".venv", "lib", "__pycache__", "PKG-INFO"}
    files = [f for f in ROOT.rglob("*") if f.is_file()]
    return [f for f in files if not skipped & set(f.relative_to(ROOT).parts)]


def texts():
    """Return the text of each file of the project that is text."""
    for path in project_files():
        try:
            yield path.relative_to(ROOT), path.read_text()
        except UnicodeDecodeError:
            continue


# --- Layers ----------------------------------------------------------------------------------


def test_modules_import_only_what_stands_above_them():
    for module, path in package_modules().items():
        if module in {"__init__", "__main__"} or module.startswith(("interop", "native")):
            continue
        assert module in LAYERS, f"{module} has no place in the layers yet"
        for imported in first_imports(module, path)[0]:
            assert LAYERS.index(imported) < LAYERS.index(module), f"{module} imports {imported}"


def test_modules_of_native_import_only_what_stands_above_them():
    for module, path in package_modules().items():
        package, _, name = module.partition(".")
        ours = [m.partition(".") for m in first_imports(module, path)[0]]
        for imported in (m for p, _, m in ours if p == package == "native" and m):
            if name != "__init__":
                assert NATIVE.index(imported) < NATIVE.index(name), f"{module} imports {imported}"


def test_no_module_imports_an_array_library_when_it_is_imported():
    for module, path in package_modules().items():
        allowed = {"numpy"} if module.startswith("native.") else set()  # it is asked for by name
        foreign = (first_imports(module, path)[1] & PARTNERS) - allowed
        assert not foreign, f"{module} imports {foreign}"


def test_importing_the_package_imports_no_array_library():
    output = run_well("import sys, pyceedlike; print(*sys.modules)")
    assert not PARTNERS & {name.partition(".")[0] for name in output.split()}


@pytest.mark.skipif(bool(list(ROOT.glob("pyceedlike/_exchange*.so"))), reason="built in place")
def test_the_source_folder_says_that_it_is_not_the_package():
    run = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); import pyceedlike"],
        capture_output=True, text=True, cwd="/",
    )  # fmt: skip
    assert "is not built: start Python in another folder" in run.stderr


def test_working_with_vectors_imports_no_array_library():
    output = run_well("""
import sys, pyceedlike
for scalar in "float64", "float32":
    v = pyceedlike.Ceed(scalar=scalar).Vector(3)
    v.set_value(2)
    v.scale(3)
    v.axpy(1, v)
    assert v.norm(pyceedlike.NORM_1) == 36
    v.view(), repr(v), memoryview(v).tolist(), v.__dlpack__(), v.__array_interface__
    pyceedlike.from_dlpack(v)
    pyceedlike.describe(v)
print(*sys.modules)
""")
    assert not PARTNERS & {name.partition(".")[0] for name in output.split()}


def test_python_h_is_included_by_the_extension_alone():
    places = [p for p, text in texts() if re.search(r"#\s*include\s*<Python\.h>", text)]
    places = [str(p) for p in places if p.parts[0] != "tests"]
    assert places
    assert [p for p in places if not re.fullmatch(r"pyceedlike/_\w+\.[ch]", p)] == []


def test_the_c_library_includes_only_its_own_headers_and_the_systems():
    system = {
        "assert",
        "ctype",
        "dlfcn",
        "errno",
        "sched",
        "float",
        "inttypes",
        "limits",
        "math",
        "pthread",
    }
    system |= {"stdarg", "stdbool", "stddef", "stdint", "stdio", "stdlib", "string", "immintrin"}
    system |= {"sys/mman", "time", "unistd"}
    for path, text in texts():
        if path.parts[0] in {"csrc", "include"}:
            found = set(re.findall(r"#\s*include\s*<([\w/]+)\.h>", text))
            assert found <= system | {"ceed/ceed", "ceed/types", "ceed/backend"}, str(path)


def test_the_package_uses_no_ctypes():
    for module, path in package_modules().items():
        assert "ctypes" not in path.read_text(), module


# --- Symbols ---------------------------------------------------------------------------------


def nm(path):
    """Return the symbols that a library shows."""
    if not shutil.which("nm"):
        pytest.skip("no nm on this machine")
    done = subprocess.run(
        ["nm", "-D", "--defined-only", str(path)], capture_output=True, text=True, check=True
    )
    return {line.split()[-1].partition("@")[0] for line in done.stdout.splitlines()}


def region():
    """Return the part of the public header that cffi reads."""
    text = package_file("include/ceedlike/ceedlike.h").read_text()
    return text.partition("/* cffi: begin */")[2].partition("/* cffi: end */")[0]


def functions_of_the_header():
    text = re.sub(r"//[^\n]*", "", region())
    return set(re.findall(r"^\w[\w \*]*?\b(Ceed\w+)\(", text, re.MULTILINE))


@pytest.mark.parametrize("scalar", LIBRARIES)
def test_the_libraries_show_only_names_of_ours(scalar):
    name, suffix = LIBRARIES[scalar]
    symbols = nm(package_file("lib") / name)
    assert symbols
    for symbol in symbols:
        assert symbol.startswith(("Ceedlike", "CEEDLIKE_"))
        assert symbol.endswith(suffix)


@pytest.mark.parametrize("scalar", LIBRARIES)
def test_every_function_of_the_header_is_there(scalar):
    name, suffix = LIBRARIES[scalar]
    expected = {f"Ceedlike{function[4:]}{suffix}" for function in functions_of_the_header()}
    assert len(expected) > 50
    assert expected <= nm(package_file("lib") / name)


@pytest.mark.parametrize("name", ["_exchange", "_ceedlike_f64", "_ceedlike_f32"])
def test_the_modules_show_only_their_start(name):
    (path,) = package_file(".").glob(f"{name}*.so")
    shown = {symbol for symbol in nm(path) if not symbol.startswith("_cffi")}
    assert shown <= {f"PyInit_{name}", "_init", "_fini"}


@pytest.mark.parametrize("scalar", LIBRARIES)
def test_the_libraries_need_only_the_system(scalar):
    if not shutil.which("readelf"):
        pytest.skip("no readelf on this machine")
    path = package_file("lib") / LIBRARIES[scalar][0]
    done = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True)
    needed = {name.partition(".")[0] for name in re.findall(r"NEEDED.*\[(.*)\]", done.stdout)}
    loader = {name for name in needed if name.startswith("ld-linux")}
    assert needed - loader <= {"libc", "libm", "libdl", "libpthread"}
    assert "NODELETE" in done.stdout


@pytest.mark.parametrize("module", ["_ceedlike_f64", "_ceedlike_f32"])
def test_cffi_reads_the_region_of_the_header(module):
    assert functions_of_the_header() <= set(dir(sys.modules[f"pyceedlike.{module}"].lib))


def test_the_types_of_c_are_known_before_they_are_used():
    text = "".join(path.read_text() for path in package_modules().values())
    used = set(re.findall(r'(?<!libceed\.)ffi\.(?:new|cast|from_buffer)\("([^"]+)"', text))
    used |= {
        f"{kind} *" for kind in re.findall(r'(?:library|self)\._?(?:get|new)\("([^"]+)", ', text)
    }
    assert {"CeedMultiFab", "bool *"} <= used <= {*_lib.TYPES}


def test_the_region_is_plain_declarations():
    text = re.sub(r"//[^\n]*", "", region())
    for word in ("#", "__attribute__", "va_list", 'extern "C"'):
        assert word not in text


def test_the_linker_names_are_generated_from_the_header():
    script = ROOT / "scripts" / "names.py"
    if not script.exists():
        pytest.skip("the sources of the project are not here")
    done = subprocess.run(
        [sys.executable, str(script), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


# --- What is shipped -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "py.typed",
        "lib/libceedlike.so.0",
        "lib/libceedlike_f32.so.0",
        "include/ceedlike/ceedlike.h",
        "include/ceedlike/ceedlike_names.h",
        "include/ceedlike/ceedlike.F90",
        "lib/cmake/ceedlike/ceedlike-config.cmake",
    ],
)
def test_the_package_holds(name):
    assert package_file(name).is_file()


def test_the_version_is_that_of_the_header():
    text = package_file("include/ceedlike/ceedlike.h").read_text()
    numbers = re.findall(r"#define CEED_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text)
    assert pyceedlike.__version__.startswith(".".join(numbers))


CLASSES = [
    thing for thing in map(vars(pyceedlike).get, pyceedlike.__all__)
    if inspect.isclass(thing) and not issubclass(thing, Exception)
]  # fmt: skip


def public_names():
    """Return (owner, name) of everything public that can be called or read."""
    for owner in CLASSES:
        builtin = set(dir(tuple)) if issubclass(owner, tuple) else set()
        for name in dir(owner):
            if not name.startswith("_") and name not in builtin:
                yield owner.__name__, name
    for name in pyceedlike.__all__:
        yield "pyceedlike", name


def used_names(tree):
    """Return the names that Python code takes from objects and modules, also by getattr()."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.ImportFrom) and node.module == "pyceedlike":
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from re.findall(r"^\w+$|(?<=\.)[A-Za-z_]\w*", node.value)


def test_every_public_name_is_used_by_a_test():
    own = pathlib.Path(__file__).name
    files = [f for f in HERE.glob("*.py") if f.name != own]
    used = {name for f in files for name in used_names(ast.parse(f.read_text()))}
    assert [f"{owner}.{name}" for owner, name in public_names() if name not in used] == []


@pytest.mark.parametrize("owner", [*CLASSES, pyceedlike], ids=lambda owner: owner.__name__)
def test_everything_public_has_a_docstring(owner):
    names = owner.__all__ if inspect.ismodule(owner) else dir(owner)
    for name in names:
        thing = getattr(owner, name)
        if not name.startswith("_") and not isinstance(thing, (int, str, tuple)):
            assert inspect.getdoc(thing), name


@pytest.mark.parametrize("owner", CLASSES, ids=lambda owner: owner.__name__)
def test_public_methods_have_type_hints(owner):
    for name, function in inspect.getmembers(owner, inspect.isfunction):
        if name.startswith("_"):
            continue
        signature = inspect.signature(function)
        assert signature.return_annotation is not inspect.Signature.empty, name
        for parameter in list(signature.parameters.values())[1:]:
            assert parameter.annotation is not inspect.Parameter.empty, f"{name}({parameter})"


def test_no_file_names_a_path_of_one_machine():
    folders = ["work", "root", "home", "Users"]
    pattern = re.compile(r"(?<![\w.$}/-])/(?:" + "|".join(folders) + r")/\w")
    named = [
        f"{path}:{number}: {line.strip()}"
        for path, text in texts()
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]
    assert named == []


def test_every_source_has_its_licence_line():
    suffixes = {".c", ".h", ".py", ".sh", ".F90"}
    missing = [
        str(path)
        for path, text in texts()
        if path.suffix in suffixes and text.strip() and "SPDX-License-Identifier: BSD-2" not in text
    ]
    assert missing == []
