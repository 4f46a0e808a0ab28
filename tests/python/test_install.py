# SPDX-License-Identifier: BSD-2-Clause
"""The library is installed, and found by pkg-config, by CMake and by the package's own paths."""

import importlib.util
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import pytest
from helpers import ROOT
from programs import ENVIRONMENT, EXAMPLES, WARNINGS, fortran, need, package_flags, run

from pyceedlike import buildflags

GOOD = "sum 1000000, expected 1000000: good\n"
SOURCES = ["Makefile", "csrc", "include", "fortran", "cmake", "scripts"]
CPP = ["c++11", "c++14", "c++17", "c++20"]


def make(*arguments, **options):
    need("make", "cc")
    if not (ROOT / "csrc").exists():
        pytest.skip("the sources of the project are not here")
    return run("make", "-j2", "CFLAGS=-O0 -g", *arguments, **{"cwd": ROOT, **options})


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A prefix with everything that `make install` installs."""
    folder = tmp_path_factory.mktemp("installed")
    make("install", f"BUILD={folder / 'build'}", f"PREFIX={folder / 'a prefix'}", "STATIC=1")
    return folder / "a prefix"


@pytest.fixture
def pkg_config(installed):
    """A function that asks pkg-config for words, or for a variable."""
    need("pkg-config")
    environment = ENVIRONMENT | {"PKG_CONFIG_PATH": str(installed / "lib/pkgconfig")}

    def ask(*question):
        if question[0].startswith("--variable"):
            return [run("pkg-config", *question, env=environment).strip()]
        return shlex.split(run("pkg-config", *question, env=environment))

    return ask


@pytest.fixture
def axpy(tmp_path):
    """A copy of the example, outside the checkout."""
    return pathlib.Path(shutil.copytree(EXAMPLES / "axpy", tmp_path / "axpy"))


def cmake_builds(axpy, where):
    need("cmake", "c++", "make")
    with_fortran = f"-DFORTRAN={'ON' if shutil.which('gfortran') else 'OFF'}"
    run("cmake", "-S", axpy, "-B", axpy / "build", where, with_fortran)
    run("cmake", "--build", axpy / "build")
    printed = run("ctest", "--output-on-failure", cwd=axpy / "build")
    assert "100% tests passed" in printed
    return axpy / "build"


# ---- What lies where -----------------------------------------------------------------------------


def test_install_puts_files_where_it_is_told(tmp_path):
    build, stage = f"BUILD={tmp_path / 'build'}", tmp_path / "stage"
    paths = [f"DESTDIR={stage}", "PREFIX=/opt/x", "LIBDIR=/opt/x/lib/multi", build]
    make("install", *paths)
    files = {str(f.relative_to(stage)) for f in stage.rglob("*") if not f.is_dir()}
    lib, include = "opt/x/lib/multi", "opt/x/include/ceedlike"
    assert {
        *(f"{lib}/lib{n}.so{end}" for n in ("ceedlike", "ceedlike_f32") for end in ("", ".0")),
        *(f"{lib}/pkgconfig/{name}.pc" for name in ("ceedlike", "ceedlike_f32")),
        f"{lib}/cmake/ceedlike/ceedlike-config.cmake",
        f"{lib}/cmake/ceedlike/ceedlike-config-version.cmake",
        *(f"{include}/{name}" for name in ("ceedlike.h", "ceedlike_names.h", "ceedlike.F90")),
        *(f"{include}/compat/{name}" for name in ("ceed.h", "ceed/ceed.h")),
    } <= files
    assert not [name for name in files if name.endswith(".a")]
    assert str(stage) not in (stage / lib / "pkgconfig/ceedlike.pc").read_text()
    make("uninstall", *paths)
    assert not [f for f in stage.rglob("*") if not f.is_dir()]


def test_the_package_ships_the_same_files(installed):
    if (buildflags.PACKAGE / "prefix").exists():
        pytest.skip("the package was built against an installed library")
    for folder in ("include/ceedlike", "lib/cmake/ceedlike"):
        for file in (installed / folder).rglob("*"):
            if file.is_file():
                same = buildflags.PACKAGE / file.relative_to(installed)
                assert same.read_bytes() == file.read_bytes(), same


def test_the_library_has_a_soname(installed):
    need("readelf")
    for name in ("libceedlike.so", "libceedlike_f32.so"):
        assert f"soname: [{name}.0]" in run("readelf", "-d", installed / "lib" / name)


def test_the_archive_shows_the_names_of_the_interface_only(installed):
    need("nm")
    for name, suffix in (("libceedlike.a", "_f64"), ("libceedlike_f32.a", "_f32")):
        lines = run("nm", "-g", "--defined-only", installed / "lib" / name).splitlines()
        names = [line.split()[2] for line in lines if len(line.split()) == 3]
        assert len(names) > 50
        assert all(re.fullmatch(rf"(Ceedlike|CEEDLIKE_)\w+{suffix}", name) for name in names)


def test_builds_in_different_folders_are_the_same(tmp_path):
    libraries = []
    for name in ("one", "the/other"):
        folder = tmp_path / name
        for source in SOURCES:
            if (ROOT / source).is_dir():
                shutil.copytree(ROOT / source, folder / source)
            else:
                folder.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / source, folder)
        make("lib", cwd=folder, env=ENVIRONMENT | {"SOURCE_DATE_EPOCH": "1700000000"})
        libraries.append([f.read_bytes() for f in sorted((folder / "build/lib").glob("*.so.0"))])
    assert len(libraries[0]) == 2
    assert libraries[0] == libraries[1]


# ---- Programs against the installed tree ---------------------------------------------------------


@pytest.mark.parametrize("library", ["ceedlike", "ceedlike_f32"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_a_c_program_builds_by_pkg_config(compiler, library, installed, pkg_config, axpy):
    need(compiler)
    flags = ["-std=c99", "-Wpedantic", *WARNINGS, *pkg_config("--cflags", library)]
    libs = [*pkg_config("--libs", library), f"-Wl,-rpath,{installed / 'lib'}"]
    run(compiler, *flags, axpy / "axpy.c", "-o", axpy / "program", *libs)
    assert run(axpy / "program") == GOOD


@pytest.mark.parametrize("standard", CPP)
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_a_cpp_program_builds_by_pkg_config(compiler, standard, installed, pkg_config, axpy):
    need(compiler)
    flags = [f"-std={standard}", "-Wpedantic", *WARNINGS, *pkg_config("--cflags", "ceedlike")]
    libs = [*pkg_config("--libs", "ceedlike"), f"-Wl,-rpath,{installed / 'lib'}"]
    run(compiler, *flags, axpy / "axpy.cpp", "-o", axpy / "program", *libs)
    assert run(axpy / "program") == GOOD


@pytest.mark.parametrize("library", ["ceedlike", "ceedlike_f32"])
def test_a_fortran_program_builds_by_pkg_config(library, installed, pkg_config, axpy):
    sources = [*pkg_config("--variable=fortran", library), axpy / "axpy.F90"]
    flags = ["-std=f2018", *WARNINGS, *pkg_config("--cflags", library), "-J", axpy]
    libs = [*pkg_config("--libs", library), f"-Wl,-rpath,{installed / 'lib'}"]
    run(*fortran(), *flags, *sources, "-o", axpy / "program", *libs)
    assert run(axpy / "program") == GOOD


def test_a_program_for_libceed_builds_by_pkg_config(installed, pkg_config, tmp_path):
    program = tmp_path / "program.c"
    program.write_text(
        "#include <ceed.h>\n"
        "int main(void) {\n"
        "  Ceed ceed;\n"
        '  CeedInit("/cpu/self", &ceed);\n'
        "  return CeedDestroy(&ceed);\n"
        "}\n"
    )
    compat = f"-I{pkg_config('--variable=compat', 'ceedlike')[0]}"
    libs = [*pkg_config("--libs", "ceedlike"), f"-Wl,-rpath,{installed / 'lib'}"]
    run(*need("cc"), compat, program, "-o", tmp_path / "program", *libs)
    run(tmp_path / "program")


def test_a_program_links_the_archive(installed, pkg_config, axpy):
    flags = pkg_config("--cflags", "ceedlike")
    private = [word for word in pkg_config("--static", "--libs", "ceedlike") if word[:2] != "-L"]
    archive = installed / "lib/libceedlike.a"
    libs = [archive, *(word for word in private if word != "-lceedlike")]
    run(*need("cc"), *flags, axpy / "axpy.c", "-o", axpy / "program", *libs)
    assert run(axpy / "program") == GOOD
    assert "libceedlike" not in run(*need("ldd"), axpy / "program")


def test_programs_build_by_cmake(installed, axpy):
    cmake_builds(axpy, f"-DCMAKE_PREFIX_PATH={installed}")


def test_cmake_finds_the_headers_beside_any_libdir(tmp_path, axpy):
    build, prefix = tmp_path / "build", tmp_path / "prefix"
    make("install", f"BUILD={build}", f"PREFIX={prefix}", f"LIBDIR={prefix}/lib/x86_64-linux-gnu")
    cmake_builds(axpy, f"-Dceedlike_DIR={prefix}/lib/x86_64-linux-gnu/cmake/ceedlike")


def test_cmake_may_look_twice(installed, tmp_path):
    need("cmake")
    (tmp_path / "part").mkdir()
    find = "find_package(ceedlike REQUIRED)\n"
    lines = "cmake_minimum_required(VERSION 3.18)\nproject(p LANGUAGES C)\nadd_subdirectory(part)\n"
    (tmp_path / "CMakeLists.txt").write_text(lines + find)
    (tmp_path / "part/CMakeLists.txt").write_text(2 * find)
    run("cmake", "-S", tmp_path, "-B", tmp_path / "b", f"-DCMAKE_PREFIX_PATH={installed}")


@pytest.mark.parametrize(("wanted", "fits"), [("0.13", True), ("0.12", False), ("1.0", False)])
def test_cmake_accepts_versions_of_the_same_series(wanted, fits, installed, tmp_path):
    need("cmake")
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.18)\nproject(p LANGUAGES C)\n"
        f"find_package(ceedlike {wanted} REQUIRED)\n"
    )
    command = ["cmake", "-S", tmp_path, "-B", tmp_path, f"-DCMAKE_PREFIX_PATH={installed}"]
    done = subprocess.run(command, capture_output=True, env=ENVIRONMENT, check=False)
    assert (done.returncode == 0) is fits


def test_the_makefile_of_the_example_builds(installed, axpy):
    need("make", "pkg-config", "c++")
    environment = ENVIRONMENT | {"PKG_CONFIG_PATH": str(installed / "lib/pkgconfig")}
    names = ["axpy_c", "axpy_cpp", *(["axpy_fortran"] if shutil.which("gfortran") else [])]
    run("make", *names, cwd=axpy, env=environment)
    assert [run(axpy / name) for name in names] == [GOOD] * len(names)


# ---- Programs against the package ----------------------------------------------------------------


@pytest.mark.parametrize("scalar", ["float64", "float32"])
def test_programs_build_by_the_paths_of_the_package(scalar, axpy):
    cflags = package_flags("--cflags", "--scalar", scalar)
    libs = package_flags("--libs", "--scalar", scalar)
    run(*need("cc"), *cflags, axpy / "axpy.c", "-o", axpy / "in_c", *libs)
    assert run(axpy / "in_c") == GOOD
    run(*need("c++"), *cflags, axpy / "axpy.cpp", "-o", axpy / "in_cpp", *libs)
    assert run(axpy / "in_cpp") == GOOD


@pytest.mark.parametrize("scalar", ["float64", "float32"])
def test_a_fortran_program_builds_by_the_paths_of_the_package(scalar, axpy):
    cflags = package_flags("--cflags", "--scalar", scalar)
    sources = [*package_flags("--fortran"), axpy / "axpy.F90"]
    libs = package_flags("--libs", "--scalar", scalar)
    run(*fortran(), *cflags, *sources, "-J", axpy, "-o", axpy / "program", *libs)
    assert run(axpy / "program") == GOOD


def test_programs_build_by_cmake_with_the_package(axpy):
    cmake_builds(axpy, f"-Dceedlike_DIR={package_flags('--cmake-dir')[0]}")


def test_the_python_program_does_the_same(axpy):
    assert run(sys.executable, "-P", axpy / "axpy.py") == GOOD


def test_the_prefix_holds_headers_and_libraries():
    prefix = pathlib.Path(package_flags("--prefix")[0])
    assert (prefix / "include/ceedlike/ceedlike.h").exists()
    assert list(prefix.rglob("libceedlike.so.0"))


def test_the_modules_look_for_the_library_beside_them_first():
    need("readelf")
    if (buildflags.PACKAGE / "prefix").exists():
        pytest.skip("the package was built against an installed library")
    for module in buildflags.PACKAGE.glob("_*.so"):
        folders = re.search(r"runpath: \[(.*)\]", run("readelf", "-d", module))[1]
        assert folders.split(":")[0] == "$ORIGIN/lib"


def test_asking_for_nothing_is_an_error():
    command = [sys.executable, "-P", "-m", "pyceedlike"]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, check=False)
    assert done.returncode == 2
    assert "nothing is asked for" in done.stderr


def test_paths_with_blanks_are_quoted(monkeypatch):
    monkeypatch.setattr(buildflags, "PACKAGE", pathlib.Path("/opt/my programs"))
    assert buildflags.cflags() == "'-I/opt/my programs/include/ceedlike'"
    assert buildflags.fortran() == "'/opt/my programs/include/ceedlike/ceedlike.F90'"


# ---- The package against an installed library ----------------------------------------------------


def build_package(folder, prefix):
    """Build the package in a copy of the sources; return what setup.py said, and its code."""
    if not (ROOT / "setup.py").exists() or not importlib.util.find_spec("setuptools"):
        pytest.skip("the sources of the package, or setuptools, are not here")
    files = [*SOURCES, "setup.py", "ffibuilder.py", "pyproject.toml", "README.md", "pyceedlike"]
    for name in files:
        ignored = shutil.ignore_patterns("*.so", "*.so.*", "lib", "include", "__pycache__")
        if name == "pyceedlike":
            shutil.copytree(ROOT / name, folder / name, ignore=ignored)
        elif (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name)
        else:
            shutil.copy(ROOT / name, folder)
    command = [sys.executable, "setup.py", "build", "--build-lib", "built"]
    environment = ENVIRONMENT | {"CEEDLIKE_DIR": str(prefix)}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_the_package_builds_against_an_installed_library(installed, python_headers, tmp_path):
    done = build_package(tmp_path, installed)
    assert done.returncode == 0, done.stdout + done.stderr
    built = tmp_path / "built" / "pyceedlike"
    assert not list(built.rglob("libceedlike*"))
    program = (
        "import pyceedlike; from pyceedlike import buildflags\n"
        "v = pyceedlike.Ceed().Vector(4); v.set_value(1.0)\n"
        "print(pyceedlike.__file__, buildflags.prefix(), v.norm(), sep='\\n')\n"
        "maps = [l.split(maxsplit=5) for l in open('/proc/self/maps')]\n"
        "print(next(m[5].rstrip() for m in maps if m[5:] and 'libceedlike.so' in m[5]))\n"
    )
    environment = ENVIRONMENT | {"PYTHONPATH": str(built.parent)}
    printed = run(sys.executable, "-P", "-c", program, env=environment).splitlines()
    assert printed == [
        str(built / "__init__.py"), str(installed), "2.0", str(installed / "lib/libceedlike.so.0"),
    ]  # fmt: skip


def test_a_prefix_without_a_library_is_an_error_that_says_so(python_headers, tmp_path):
    (tmp_path / "empty").mkdir()
    done = build_package(tmp_path, tmp_path / "empty")
    assert done.returncode != 0
    assert "CEEDLIKE_DIR: no libceedlike.so.0 in" in done.stderr


# ---- Beside an official dlpack.h -----------------------------------------------------------------


def dlpack_folders():
    """Return the folders that hold an official dlpack/dlpack.h, by version."""
    found = {}
    candidates = [pathlib.Path("/usr/include")]
    if (spec := importlib.util.find_spec("tvm_ffi")) and spec.origin:
        candidates.append(pathlib.Path(spec.origin).parent / "include")
    for folder in candidates:
        header = folder / "dlpack" / "dlpack.h"
        if header.exists():
            text = header.read_text()
            major = re.search(r"define DLPACK_MAJOR_VERSION (\d+)", text)
            found["1" if major else "0"] = folder
    return found


@pytest.mark.parametrize("major", ["0", "1"])
@pytest.mark.parametrize("compiler", ["gcc -std=c99", "clang -std=c11", "g++ -std=c++11"])
@pytest.mark.parametrize("order", ["ours first", "ours last"])
def test_the_header_stands_beside_an_official_dlpack_header(major, compiler, order, tmp_path):
    folder = dlpack_folders().get(major) or pytest.skip(f"no dlpack.h of version {major} is here")
    command = compiler.split()
    need(command[0])
    lines = ["#include <ceedlike.h>", "#include <dlpack/dlpack.h>"]
    if order == "ours last":
        lines.reverse()
    tensor = "DLManagedTensor" if major == "0" else "DLManagedTensorVersioned"
    function = "CeedVectorToDLPack" + ("" if major == "0" else "Versioned")
    lines += [
        "int64_t First(CeedVector vec);",
        "int64_t First(CeedVector vec) {",
        f"  {tensor} *tensor;",
        "  int64_t length;",
        f"  if ({function}(NULL, vec, CEED_MEM_HOST, &tensor)) return -1;",
        "  length = tensor->dl_tensor.shape[0];",
        "  tensor->deleter(tensor);",
        "  return length;",
        "}",
    ]
    suffix = "cpp" if "++" in command[0] else "c"
    source = tmp_path / f"both.{suffix}"
    source.write_text("\n".join(lines) + "\n")
    flags = ["-Wpedantic", *WARNINGS, *package_flags("--cflags"), "-isystem", str(folder)]
    run(*command, *flags, "-c", source, "-o", os.devnull)
