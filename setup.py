# SPDX-License-Identifier: BSD-2-Clause
"""Build the package: `make lib`, then the extension modules that link with its result.

setuptools builds no shared library, so `build_ext` runs make and carries the libraries, the public
headers, the Fortran module and the CMake files into the package; what describes the project stands
in pyproject.toml. With CEEDLIKE_DIR, the prefix of an installed library, the package is built
against that one and holds its path instead.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

os.chdir(pathlib.Path(__file__).resolve().parent)
sys.path.insert(0, ".")
import ffibuilder  # noqa: E402

LIBRARIES = ("libceedlike.so.0", "libceedlike_f32.so.0")

# As in the Makefile: an error in a checkout, never in a release.
WARNINGS = ["-Wall", "-Wextra", *(["-Werror"] if os.environ.get("WERROR") else [])]


def version(include: str = "include") -> str:
    """Return the version, which is written in ceedlike.h and nowhere else."""
    header = pathlib.Path(include, "ceedlike.h").read_text()
    numbers = dict(re.findall(r"^#define CEED_VERSION_(\w+) (\d+)$", header, re.MULTILINE))
    return "{MAJOR}.{MINOR}.{PATCH}".format(**numbers)


def shipped() -> dict[str, str]:
    """Return what the package holds besides its modules: the path in it, and the path here."""
    if ffibuilder.installed():
        return {"pyceedlike/prefix": "build/prefix"}
    files = {f"pyceedlike/lib/{name}": f"build/lib/{name}" for name in LIBRARIES}
    for header in sorted(pathlib.Path("include").rglob("*.h")):
        files[f"pyceedlike/include/ceedlike/{header.relative_to('include')}"] = str(header)
    for name in sorted(os.listdir("fortran")):
        files[f"pyceedlike/include/ceedlike/{name}"] = f"fortran/{name}"
    for name in sorted(os.listdir("cmake")):
        files[f"pyceedlike/lib/cmake/ceedlike/{name}"] = f"build/cmake/{name}"
    return files


def make_shipped() -> None:
    """Make those of these files that don't stand in the sources."""
    pathlib.Path("build/cmake").mkdir(parents=True, exist_ok=True)
    if prefix := ffibuilder.installed():
        if version(f"{prefix}/include/ceedlike") != version():
            sys.exit(f"CEEDLIKE_DIR: {prefix} holds another version; {version()} is wanted")
        pathlib.Path("build/prefix").write_text(f"{prefix}\n")
        return
    # What a make above us says of its jobs and its sanitizers is not meant for this build.
    environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS")}
    command = ["make", f"-j{os.cpu_count()}", "lib", "BUILD=build", "SAN="]
    if subprocess.run(command, env=environment).returncode:
        sys.exit("pyceedlike: `make lib` failed; its messages stand above")
    for file in pathlib.Path("cmake").iterdir():
        text = file.read_text().replace("@INCLUDE@", "../../../include/ceedlike")
        pathlib.Path("build/cmake", file.name).write_text(text.replace("@VERSION@", version()))


def require() -> None:
    """Stop with one line when the machine cannot build the package."""
    compiler = os.environ.get("CC", "cc").split()[0]
    headers = pathlib.Path(sysconfig.get_path("include"), "Python.h")
    if sys.platform != "linux":
        sys.exit(f"pyceedlike runs on Linux; this is {sys.platform}")
    for program, package in ((compiler, "gcc libc6-dev"), ("make", "make")):
        if not shutil.which(program):
            sys.exit(f"pyceedlike needs {program} to build (Debian, Ubuntu: apt install {package})")
    if not headers.exists():
        package = "python{}.{}-dev".format(*sys.version_info)
        sys.exit(f"pyceedlike needs {headers} to build (Debian, Ubuntu: apt install {package})")


class BuildExt(build_ext):
    """Build the shared libraries first, and put them and the headers beside the modules."""

    def run(self) -> None:
        """Run make, copy, then build the modules."""
        require()
        make_shipped()
        root = pathlib.Path("." if self.inplace else self.build_lib)
        for target, source in shipped().items():
            (root / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, root / target)
        super().run()

    def build_extensions(self) -> None:
        """Link so that our libraries' folders come before those that Python was linked with."""
        folders = ffibuilder.link()["runtime_library_dirs"]
        self.compiler.linker_so[1:1] = [f"-Wl,-rpath,{folder}" for folder in folders]
        super().build_extensions()

    def get_outputs(self) -> list[str]:
        """Return the files of a wheel that come from here."""
        return super().get_outputs() + [os.path.join(self.build_lib, path) for path in shipped()]

    def get_output_mapping(self) -> dict[str, str]:
        """Return where an editable install finds each of them in the source tree."""
        mapping = dict(super().get_output_mapping())
        if self.inplace:
            mapping.update({os.path.join(self.build_lib, path): path for path in shipped()})
        return mapping


# One wheel for every Python, but for those without the GIL, which have no stable ABI.
STABLE = not sysconfig.get_config_var("Py_GIL_DISABLED")

exchange = Extension(
    "pyceedlike._exchange",
    sorted(map(str, pathlib.Path("pyceedlike").glob("_*.c"))),
    depends=[*map(str, pathlib.Path().glob("[cip]*/*.h"))],
    define_macros=[("Py_LIMITED_API", "0x030B0000")] if STABLE else [],
    py_limited_api=STABLE,
    extra_compile_args=["-std=c99", "-O3", *WARNINGS, "-fvisibility=hidden", "-fno-plt"],
    extra_link_args=[f"-l:{name}" for name in LIBRARIES],
    **ffibuilder.link(),
)

setup(
    version=version(),
    ext_modules=[exchange],
    cffi_modules=["ffibuilder.py:ffi_f64", "ffibuilder.py:ffi_f32"],
    cmdclass={"build_ext": BuildExt},
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if STABLE else {},
)
