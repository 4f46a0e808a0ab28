# SPDX-License-Identifier: BSD-2-Clause
"""companion/ceed-dlpack.c, compiled against an installed libCEED."""

import os
import pathlib
import shlex
import shutil
import subprocess

import pytest
from helpers import ROOT

CC = shlex.split(os.environ.get("CC", "cc"))
BACKENDS = ["ref/serial", "opt/blocked", "avx/blocked"]
MEMCHECK = ("valgrind", "-q", "--leak-check=full", "--error-exitcode=9")
RUNNERS = {"": (), "valgrind": MEMCHECK}


@pytest.fixture(scope="module")
def installed():
    """Return the folder of an installed libCEED, which holds include/ and lib/."""
    libceed = pytest.importorskip("libceed", reason="libceed (0.12.0) is not installed")
    if not (ROOT / "companion").is_dir() or not shutil.which(CC[0]):
        pytest.skip("needs the sources of the project and a C compiler")
    return pathlib.Path(libceed.__file__).parent


def build(installed, program, source, flags=(), companion=(ROOT / "companion/ceed-dlpack.c",)):
    """Compile a program with the companion in it, as a user would."""
    folders = [ROOT / "companion", ROOT / "csrc", installed / "include"]
    lib = installed / "lib"
    subprocess.run(
        [
            *(*CC, "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-g", *flags),
            *(f"-I{folder}" for folder in folders),
            *(*map(str, [source, *companion]), "-o", str(program)),
            *(f"-L{lib}", "-l:libceed.so", f"-Wl,-rpath,{lib}", "-lm"),
        ],
        check=True,
    )
    return str(program)


@pytest.fixture(scope="module")
def program(installed, tmp_path_factory):
    folder = tmp_path_factory.mktemp("companion")
    return build(installed, folder / "test", ROOT / "tests/companion/test_ceed_dlpack.c")


@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_the_companion_does_what_its_header_says(program, backend, runner):
    if runner and not shutil.which(runner):
        pytest.skip(f"{runner} is not installed")
    done = subprocess.run(
        [*RUNNERS[runner], program, f"/cpu/self/{backend}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


ONE_EXPORT = """
#include <stdio.h>
#include "ceed-dlpack.h"
int main(void) {
  struct DLManagedTensor *dl = NULL;
  const CeedScalar *array;
  const char *text;
  CeedVector vec;
  Ceed ceed;
  if (CeedInit("/cpu/self/ref/serial", &ceed)) return 1;
  CeedSetErrorHandler(ceed, CeedErrorStore);
  if (CeedVectorCreate(ceed, 3, &vec) || CeedVectorSetValue(vec, 1)) return 1;
  printf("%d %d ", CeedVectorToDLPack(ceed, vec, CEED_MEM_HOST, &dl), dl != NULL);
  CeedGetErrorMessage(ceed, &text);
  puts(text);
  if (CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &array)) return 1; /* nothing holds it */
  CeedVectorRestoreArrayRead(vec, &array);
  CeedVectorDestroy(&vec);
  CeedDestroy(&ceed);
  return 0;
}
"""


def test_a_program_of_the_other_precision_is_refused(installed, tmp_path):
    """libCEED chooses its precision when it is built; a header of the other one lies."""
    include = tmp_path / "include"
    shutil.copytree(installed / "include", include)
    shutil.copy(include / "ceed/ceed-f32.h", include / "ceed/ceed-f64.h")
    source = tmp_path / "single.c"
    source.write_text(ONE_EXPORT)
    program = build(installed, tmp_path / "single", source, flags=[f"-I{include}"])
    said = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    assert said.startswith("4 0 ")
    assert "compiled for float32" in said
    assert "computes in float64" in said


def test_without_memory_an_export_is_an_error_and_holds_nothing(installed, tmp_path):
    source = tmp_path / "poor.c"
    none = "#include <stdlib.h>\n#define calloc(n, size) NULL\n"
    source.write_text(f'{none}#include "{ROOT}/companion/ceed-dlpack.c"\n{ONE_EXPORT}')
    program = build(installed, tmp_path / "poor", source, companion=[])
    said = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    assert said.startswith("-1 0 ")
    assert "memory" in said
