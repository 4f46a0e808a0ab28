# SPDX-License-Identifier: BSD-2-Clause
"""The code that README.md, docs/ and the docstrings show runs, and does what they say.

The Python blocks of a page run in order, in one namespace and one fresh process. In a block with
`>>>` everything shown is compared; elsewhere a comment behind a line that prints is what the line
must print. C and Fortran blocks are programs. The lines of a block under `<!-- lines of FILE -->`
stand in that file, in that order. A block that names a library or a file that is not here is
skipped.
"""

import contextlib
import doctest
import functools
import importlib
import importlib.util
import io
import json
import os
import pathlib
import pkgutil
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import traceback
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "benchmarks/README.md")),
    *sorted((ROOT / "docs").glob("*.md")),
]
PARTNERS = ("jax", "torch", "cupy", "tvm_ffi", "tensorflow", "pyarrow", "numba", "mpi4py")
PARTNERS += ("libceed", "meshio", "scipy", "petsc4py")
PARTNERS += ("matplotlib", "xarray")
FILES = ("flame",)  # what blocks read in the folder that they run in
FENCE = re.compile(r"^(?:<!-- lines of (\S+) -->\n)?```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
GENERATED = {"c-api.md", "python-api.md"}  # by scripts/reference.py, for the site
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Block(NamedTuple):
    """A fenced block of a page."""

    page: pathlib.Path
    line: int
    language: str
    source: str  # the file that its lines are taken from, or nothing
    code: str


def blocks(page):
    text = page.read_text()
    for match in FENCE.finditer(text):
        source, language, code = match.groups()
        yield Block(page, text.count("\n", 0, match.start(3)) + 1, language, source, code)


# ---- in the process of a page: results as JSON, one [status, text] a block -----------------------


class Checker(doctest.OutputChecker):
    """Compares, but an exception is shown without the private module that defines it."""

    def check_output(self, want, got, optionflags):
        return super().check_output(
            want, re.sub(r"^pyceedlike\._\w+\.", "pyceedlike.", got), optionflags
        )


def partners_of(code):
    return [p for p in PARTNERS if re.search(rf"(?:\b|_){p}\b", code)]


def run_doctest(test):
    said = []
    runner = doctest.DocTestRunner(Checker(), optionflags=OPTIONS)
    runner.run(test, out=said.append, clear_globs=False)
    return ["failed", "".join(said)] if said else ["passed", ""]


def run_program(block, namespace):
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(block.code, f"{block.page}:{block.line}", "exec"), namespace)
    except Exception:
        return ["failed", traceback.format_exc()]
    expected = re.findall(r"^ *print\(.*\)  # (.*)$", block.code, re.MULTILINE)
    if expected and expected != printed.getvalue().splitlines():
        return ["failed", f"expected {expected}, printed {printed.getvalue().splitlines()}"]
    return ["passed", ""]


def run_block(block, namespace):
    missing = [p for p in partners_of(block.code) if not importlib.util.find_spec(p)]
    missing += [name for name in FILES if name in block.code and not os.path.exists(name)]
    if missing:
        return ["skipped", f"not here: {', '.join(missing)}"]
    if ">>>" not in block.code:
        return run_program(block, namespace)
    test = doctest.DocTestParser().get_doctest(
        block.code, {}, block.page.name, str(block.page), block.line - 1
    )
    test.globs = namespace
    return run_doctest(test)


def run_page(page):
    namespace = {"__name__": "__main__"}
    return [
        run_block(b, namespace) for b in blocks(page) if b.language == "python" and not b.source
    ]


def run_docstrings(name):
    import numpy as np

    import pyceedlike

    module = importlib.import_module(name)
    results = []
    for test in doctest.DocTestFinder().find(module, name):
        test.globs |= {"np": np, "pyceedlike": pyceedlike}
        partners = partners_of(test.docstring)
        if test.examples and all(map(importlib.util.find_spec, partners)):
            test.globs |= {p: importlib.import_module(p) for p in partners}
            results.append([test.name, *run_doctest(test)])
    return results


if __name__ == "__main__":
    what = sys.argv[1]
    found = run_page(pathlib.Path(what)) if what.endswith(".md") else run_docstrings(what)
    print("\n" + json.dumps(found))
    sys.exit()


# ---- in pytest -----------------------------------------------------------------------------------

import pytest  # noqa: E402
from plotfiles import FLAME  # noqa: E402
from programs import fortran, package_flags, run  # noqa: E402

pyceedlike = pytest.importorskip("pyceedlike")


@functools.cache
def in_fresh_process(what):
    with tempfile.TemporaryDirectory() as folder:
        if FLAME.exists():
            pathlib.Path(folder, "flame").symlink_to(FLAME)
        run = subprocess.run(
            [sys.executable, __file__, str(what)],
            env={**os.environ, "XDG_CACHE_HOME": folder, "MPLBACKEND": "agg"},
            cwd=folder,
            capture_output=True, text=True, timeout=300,
        )  # fmt: skip
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout.splitlines()[-1])


def name_of(block):
    return f"{block.page.name}:{block.line}"


def shown(language):
    return [b for page in PAGES for b in blocks(page) if b.language == language and not b.source]


def compile_flags():
    """Return what compiles and links a program against the headers and library of the package."""
    package = pathlib.Path(pyceedlike.__file__).parent
    lib = package / "lib"
    return [f"-I{package / 'include/ceedlike'}", str(lib / "libceedlike.so.0"), f"-Wl,-rpath,{lib}"]


@pytest.mark.parametrize("block", shown("python"), ids=name_of)
def test_python_block_does_what_the_page_says(block):
    position = [b.line for b in blocks(block.page) if b.language == "python" and not b.source]
    status, text = in_fresh_process(block.page)[position.index(block.line)]
    if status == "skipped":
        pytest.skip(text)
    assert status == "passed", text


@pytest.mark.parametrize("block", shown("c"), ids=name_of)
def test_c_block_compiles_and_prints_what_the_page_says(block, tmp_path):
    compiler = shlex.split(os.environ.get("CC", "cc"))
    if not shutil.which(compiler[0]):
        pytest.skip(f"{compiler[0]} is not installed")
    program = tmp_path / "program"
    program.with_suffix(".c").write_text(block.code)
    warnings = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    source = str(program.with_suffix(".c"))
    built = subprocess.run(
        [*compiler, *warnings, source, *compile_flags(), "-o", str(program)],
        capture_output=True, text=True,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    run = subprocess.run([str(program)], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    expected = re.findall(r"^ *printf\(.*;  // (.*)$", block.code, re.MULTILINE)
    assert run.stdout.splitlines() == expected


@pytest.mark.parametrize("block", shown("fortran"), ids=name_of)
def test_fortran_block_compiles_and_prints_what_the_page_says(block, tmp_path):
    source = tmp_path / "program.F90"
    source.write_text(block.code)
    flags = ["-std=f2018", "-Wall", "-Werror", "-J", tmp_path, *package_flags("--fortran")]
    libs = package_flags("--libs")
    run(*fortran(), *flags, source, "-o", tmp_path / "program", *libs)
    expected = re.findall(r"^ *print .*  ! (.*)$", block.code, re.MULTILINE)
    assert [line.strip() for line in run(tmp_path / "program").splitlines()] == expected


QUOTES = [b for page in PAGES for b in blocks(page) if b.source]


@pytest.mark.parametrize("block", QUOTES, ids=name_of)
def test_quoted_lines_stand_in_the_file(block):
    lines = iter((ROOT / block.source).read_text().splitlines())
    for line in block.code.splitlines():
        if line.strip() not in ("", "...", "// ...", "# ..."):
            assert any(line.strip() == there.strip() for there in lines), line


MODULES = [
    "pyceedlike",
    *(m.name for m in pkgutil.walk_packages(pyceedlike.__path__, "pyceedlike.")
      if not m.name.endswith("__main__")),
]  # fmt: skip


@pytest.mark.parametrize("module", MODULES)
def test_docstring_examples_do_what_they_say(module):
    for name, status, text in in_fresh_process(module):
        assert status == "passed", f"{name}\n{text}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists(), target


def test_the_reference_describes_everything_that_is_public(tmp_path):
    script = ROOT / "scripts" / "reference.py"
    subprocess.run([sys.executable, str(script), str(tmp_path)], check=True)
    c, python = ((tmp_path / name).read_text() for name in sorted(GENERATED))
    header = (ROOT / "include" / "ceedlike.h").read_text()
    functions = re.findall(r"^int (Ceed\w+)\(", header, re.MULTILINE)
    assert [f for f in functions if f"`{f}`" not in c] == []
    members = [n for n in dir(pyceedlike.Vector) if not n.startswith("_")]
    assert [n for n in members if f"### `{n}" not in python] == []
    assert [n for n in pyceedlike.__all__ if f"`{n}" not in python and n[0] != "_"] == []
