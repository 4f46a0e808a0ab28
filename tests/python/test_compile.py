# SPDX-License-Identifier: BSD-2-Clause
"""C code that users run without Python: headers of point functions, the cache, the examples."""

import functools
import importlib.util
import os
import pathlib
import re
import shlex
import shutil
import sys

import numpy as np
import pytest
from helpers import ROOT
from programs import EXAMPLES, fortran, need, package_flags, run

import pyceedlike
from pyceedlike import Data, Grad, compiled, native

jax = pytest.importorskip("jax", reason="JAX is not installed")
jnp = jax.numpy

CONVENTIONS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
SCALED = """
CEED_QFUNCTION(scaled)(void *ctx, CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) out[0][i] = in[0][i] * 3;
  return 0;
}
"""
TABLES = np.random.default_rng(2).standard_normal((12, 9))


@native.qfunction(Grad(3, 3), Data(), dv=Grad(3, 3), state=Data(4))
def everything(du, w, *, mu=1.5, default=(1.0, 2.0), order=3, flag=True):
    """A bit of all that there is: a loop, a table, casts, limits, names that C has for itself."""
    f = jnp.eye(3) + du
    stress = mu * jnp.log(jnp.abs(jnp.linalg.det(f))) * native.inv(f).T
    x = jnp.tanh(TABLES @ du.reshape(9))
    y = jax.lax.fori_loop(0, 5, lambda i, y: jnp.where(y > jnp.inf, jnp.nan, y * 0.5 + i), x[0])
    state = jnp.array([y, jnp.floor(y), jnp.minimum(x[1], default[1]), order * flag])
    return w * stress + x[:9].reshape(3, 3), state


@pytest.fixture(scope="module")
def header(tmp_path_factory):
    """The header of a function and of its Jacobian, in a folder of its own."""
    from pyceedlike.native.source import write

    path = tmp_path_factory.mktemp("header") / "law.h"
    write([everything, everything.jvp()], path, with_fortran=True)
    return path


def wheel():
    """Return the folder of PyPI's libceed, or skip."""
    spec = importlib.util.find_spec("libceed")
    if not spec:
        pytest.skip("PyPI's libceed is not installed")
    return pathlib.Path(spec.origin).parent


def our_flags():
    (include,) = package_flags("--cflags")
    return [include, f"{include}/compat"]


@pytest.mark.parametrize(
    "compiler",
    ["gcc -x c -std=c99", "g++ -x c++ -std=c++11", "clang -x c -std=c99", "clang++ -x c++"],
)
@pytest.mark.parametrize("is_ours", [True, False], ids=["ceedlike", "libceed"])
def test_the_header_is_accepted(header, compiler, is_ours, tmp_path):
    command = shlex.split(compiler)
    need(command[0])
    flags = our_flags() if is_ours else [f"-I{wheel() / 'include'}"]
    for create in ([], ["-DCEED_CREATE="]):
        quiet = [] if create else ["-Wno-unused-function", "-Wno-pragma-once-outside-header"]
        run(*command, *CONVENTIONS, *quiet, *flags, *create, "-c", header, "-o", tmp_path / "law.o")


def test_the_fortran_module_is_accepted(header, tmp_path):
    module = header.with_suffix(".F90")
    run(
        *fortran(),
        "-std=f2018",
        *CONVENTIONS,
        "-c",
        module,
        "-J",
        tmp_path,
        "-o",
        tmp_path / "law.o",
    )


def test_the_header_uses_only_libceeds_names_for_qfunctions(header):
    text = re.sub(
        r"#ifndef CEED_RUNNING_JIT_PASS.*?#endif\n(?=\n|$)", "", header.read_text(), flags=re.S
    )
    assert "#include" not in text
    used = set(re.findall(r"\bCeed\w+", text))
    assert used <= {"CeedInt", "CeedScalar", "CeedPragmaSIMD"}


DEVICE = """
#define CEED_RUNNING_JIT_PASS 1
typedef int CeedInt;
typedef double CeedScalar;
#define CEED_QFUNCTION(name) inline __device__ int name
#define CeedPragmaSIMD
%s
extern "C" __global__ void kernel(void *ctx, int Q, const double *const *in, double *const *out) {
  everything(ctx, Q, in, out);
  everything_jvp(ctx, Q, in, out);
}
"""
NVRTC = """
int nvrtcCreateProgram(void **, const char *, const char *, int, const char **, const char **);
int nvrtcCompileProgram(void *, int, const char **);
int nvrtcGetProgramLogSize(void *, size_t *);
int nvrtcGetProgramLog(void *, char *);
int nvrtcGetPTXSize(void *, size_t *);
int nvrtcGetPTX(void *, char *);
int nvrtcDestroyProgram(void **);
"""


def test_cudas_run_time_compiler_accepts_the_header(header):
    package = (
        importlib.util.find_spec("nvidia.cuda_nvrtc")
        if importlib.util.find_spec("nvidia")
        else None
    )
    if not package:
        pytest.skip("PyPI's nvidia-cuda-nvrtc-cu12 is not installed")
    import cffi

    ffi = cffi.FFI()
    ffi.cdef(NVRTC)
    (folder,) = package.submodule_search_locations
    lib = ffi.dlopen(str(next(pathlib.Path(folder, "lib").glob("libnvrtc.so*"))))
    program, size = ffi.new("void **"), ffi.new("size_t *")
    source = (DEVICE % header.read_text()).encode()
    assert lib.nvrtcCreateProgram(program, source, b"law.cu", 0, ffi.NULL, ffi.NULL) == 0
    options = [ffi.new("char[]", o) for o in (b"--gpu-architecture=compute_80", b"--std=c++11")]
    code = lib.nvrtcCompileProgram(program[0], len(options), ffi.new("const char *[]", options))
    lib.nvrtcGetProgramLogSize(program[0], size)
    log = ffi.new("char[]", size[0])
    lib.nvrtcGetProgramLog(program[0], log)
    assert code == 0, ffi.string(log).decode()
    lib.nvrtcGetPTXSize(program[0], size)
    ptx = ffi.new("char[]", size[0])
    lib.nvrtcGetPTX(program[0], ptx)
    lib.nvrtcDestroyProgram(program)
    assert b".entry kernel" in ffi.string(ptx)


# A program for any library with libCEED's API: the outputs of a QFunction for the inputs it reads.
APPLY = """
#include <ceed.h>
#include <stdio.h>
#include <stdlib.h>
#include "law.h"

static CeedVector Make(Ceed ceed, CeedSize n, int is_input) {
  CeedVector v;
  CeedScalar *x;
  CeedVectorCreate(ceed, n, &v);
  CeedVectorGetArrayWrite(v, CEED_MEM_HOST, &x);
  for (CeedSize i = 0; i < n; i++) {
    double number = 0;
    if (is_input && scanf("%lf", &number) != 1) exit(2);
    x[i] = number;
  }
  CeedVectorRestoreArray(v, &x);
  return v;
}

int main(int argc, char **argv) {
  const int is_tangent = argc > 2, sizes_in[2][3] = {{9, 1, 0}, {9, 9, 1}};
  const int sizes_out[2] = {9, 4}, num_in = is_tangent ? 3 : 2;
  const CeedInt Q = 40;
  Ceed ceed;
  CeedQFunction qf;
  CeedVector in[16] = {NULL}, out[16] = {NULL};

  if (argc < 2 || CeedInit(argv[1], &ceed)) return 1;
  if (is_tangent ? everything_jvp_create(ceed, &qf) : everything_create(ceed, &qf)) return 1;
  for (int k = 0; k < num_in; k++) in[k] = Make(ceed, (CeedSize)sizes_in[is_tangent][k] * Q, 1);
  for (int k = 0; k < 2; k++) out[k] = Make(ceed, (CeedSize)sizes_out[k] * Q, 0);
  if (CeedQFunctionApply(qf, Q, in, out)) return 1;
  for (int k = 0; k < 2; k++) {
    const CeedScalar *x;
    CeedVectorGetArrayRead(out[k], CEED_MEM_HOST, &x);
    for (CeedInt i = 0; i < sizes_out[k] * Q; i++) printf("%.17g\\n", (double)x[i]);
    CeedVectorRestoreArrayRead(out[k], &x);
    CeedVectorDestroy(&out[k]);
  }
  for (int k = 0; k < num_in; k++) CeedVectorDestroy(&in[k]);
  CeedQFunctionDestroy(&qf);
  CeedDestroy(&ceed);
  return 0;
}
"""


def build_apply(header, folder, flags):
    source = folder / "apply.c"
    source.write_text(APPLY)
    command = [*need("cc"), "-std=c99", "-O1", f"-I{header.parent}", source, *flags, "-lm"]
    run(*command, "-o", folder / "apply")
    return folder / "apply"


@pytest.fixture(scope="module")
def libceeds_program(header, tmp_path_factory):
    library = wheel() / "lib" / "libceed.so"
    flags = [f"-I{wheel() / 'include'}", library, f"-Wl,-rpath,{library.parent}"]
    return build_apply(header, tmp_path_factory.mktemp("libceed"), flags)


@functools.cache
def inputs_and_outputs(is_tangent):
    """Return random inputs of 40 points, as the program reads them, and what JAX makes of them."""
    point, random = everything.jvp() if is_tangent else everything, np.random.default_rng(7)
    inputs = [0.3 * random.standard_normal((*f.shape, 40)) for f in point.inputs.values()]
    with jax.enable_x64(True):
        function = jax.vmap(lambda *x: point.results(*x, **point.context), -1, -1)
        outputs = jax.jit(function)(*inputs)
    text = "\n".join(repr(float(v)) for x in inputs for v in x.ravel())
    return text, np.concatenate([np.ravel(x) for x in outputs])


def check_apply(program, resource):
    for arguments in ([], ["tangent"]):
        text, expected = inputs_and_outputs(bool(arguments))
        found = np.array(run(program, resource, *arguments, input=text).split(), float)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("backend", ["ref/serial", "opt/blocked", "avx/blocked"])
def test_libceed_computes_what_jax_computes(libceeds_program, backend):
    check_apply(libceeds_program, f"/cpu/self/{backend}")


def test_our_library_computes_what_jax_computes(header, tmp_path):
    flags = [*our_flags(), *package_flags("--libs")]
    check_apply(build_apply(header, tmp_path, flags), "/cpu/self")


# ---- The command ---------------------------------------------------------------------------------

LAWS = """
from pyceedlike import Data, native

@native.qfunction(Data(2), v=Data())
def product(u, *, k=2.0):
    return k * u[0] * u[1]
"""


def compile_law(folder, *arguments, **options):
    (folder / "laws.py").write_text(LAWS)
    return run(
        sys.executable, "-P", "-m", "pyceedlike", "compile", *arguments, cwd=folder, **options
    )


def test_the_command_writes_what_c_source_says(tmp_path):
    compile_law(tmp_path, "laws:product", "-o", "law.h", "--jvp", "--vjp", "--of", "u", "--fortran")
    text = (tmp_path / "law.h").read_text()
    for name in ("product", "product_jvp", "product_vjp"):
        assert f"CEED_QFUNCTION({name})" in text
        assert f'name="{name}_create"' in (tmp_path / "law.F90").read_text()


def test_the_command_takes_expressions(tmp_path):
    compile_law(tmp_path, "laws:product.gradient(g='u').named('pair')", "-o", "pair.h")
    assert "CEED_QFUNCTION(pair)" in (tmp_path / "pair.h").read_text()
    assert not (tmp_path / "pair.F90").exists()


@pytest.mark.parametrize(
    "wrong", ["laws:nothing", "nowhere:product", "laws", "laws:native", "math:sin"]
)
def test_the_command_says_what_is_wrong(wrong, tmp_path, capfd):
    from pyceedlike.__main__ import main

    with pytest.raises(SystemExit):
        main(["compile", wrong, "-o", str(tmp_path / "law.h")])
    assert wrong in capfd.readouterr().err
    assert not (tmp_path / "law.h").exists()


# ---- The cache -----------------------------------------------------------------------------------


@pytest.fixture
def cache(monkeypatch, tmp_path):
    need(shlex.split(os.environ.get("CC", "cc"))[0])
    monkeypatch.setenv("CEEDLIKE_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def scaled_by(ceed, code=SCALED):
    qf = ceed.QFunction(1, code, "test:scaled")
    qf.add_input("u", 1, pyceedlike.EVAL_NONE)
    qf.add_output("v", 1, pyceedlike.EVAL_NONE)
    u, v = ceed.Vector(1), ceed.Vector(1)
    u.set_value(2.0)
    qf.apply(1, [u], [v])
    return v.to_numpy()[0]


def test_code_is_compiled_once(cache, monkeypatch):
    ceed = pyceedlike.Ceed()
    assert scaled_by(ceed) == 6
    (made,) = cache.iterdir()
    monkeypatch.setattr(compiled, "_run", lambda *_: pytest.fail("compiled again"))
    assert scaled_by(ceed) == 6
    assert [*cache.iterdir()] == [made]


def test_another_source_precision_or_flag_is_another_library(cache, monkeypatch):
    scaled_by(pyceedlike.Ceed())
    scaled_by(pyceedlike.Ceed(), SCALED.replace("3", "4"))
    scaled_by(pyceedlike.Ceed(scalar="float32"))
    monkeypatch.setenv("CC", f"{os.environ.get('CC', 'cc')} -DANYTHING")
    scaled_by(pyceedlike.Ceed())
    assert len([*cache.iterdir()]) == 4


def test_another_compiler_version_is_another_library(cache, monkeypatch):
    scaled_by(pyceedlike.Ceed())
    monkeypatch.setattr(compiled, "_version", lambda compiler: "another")
    scaled_by(pyceedlike.Ceed())
    assert len([*cache.iterdir()]) == 2


def test_another_processor_is_another_library_unless_the_target_is_named(cache, monkeypatch):
    scaled_by(pyceedlike.Ceed())
    monkeypatch.setattr(compiled, "_processor", lambda: "another")
    scaled_by(pyceedlike.Ceed())
    assert len([*cache.iterdir()]) == 2
    if os.uname().machine == "x86_64":
        monkeypatch.setenv("CC", f"{os.environ.get('CC', 'cc')} -march=x86-64")
        scaled_by(pyceedlike.Ceed())
        monkeypatch.setattr(compiled, "_processor", lambda: "a third")
        scaled_by(pyceedlike.Ceed())
        assert len([*cache.iterdir()]) == 3


def test_what_was_compiled_ahead_of_time_needs_no_compiler(cache, monkeypatch):
    scaled_by(pyceedlike.Ceed())
    monkeypatch.setattr(compiled, "_version", lambda compiler: None)
    assert scaled_by(pyceedlike.Ceed()) == 6
    with pytest.raises(
        pyceedlike.CeedUnsupportedError, match=r"install one.*CC.*CEEDLIKE_CACHE_DIR"
    ):
        scaled_by(pyceedlike.Ceed(), SCALED.replace("3", "4"))


def test_a_cache_that_cannot_be_written_is_a_warning_with_the_remedy(monkeypatch, tmp_path):
    need(shlex.split(os.environ.get("CC", "cc"))[0])
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CEEDLIKE_CACHE_DIR", str(tmp_path / "file" / "cache"))
    with pytest.warns(RuntimeWarning, match="let CEEDLIKE_CACHE_DIR name a folder"):
        assert scaled_by(pyceedlike.Ceed()) == 6


@pytest.mark.parametrize("command", ["env {} -O1", ""])
def test_cc_may_be_of_several_words_or_none(cache, monkeypatch, command):
    need("cc")
    monkeypatch.setenv("CC", command.format(os.environ.get("CC", "cc")))
    assert scaled_by(pyceedlike.Ceed()) == 6


def test_cc_that_is_no_command_is_refused(cache, monkeypatch):
    monkeypatch.setenv("CC", "gcc 'x")
    with pytest.raises(pyceedlike.CeedIncompatibleError, match=r"CC=.* is no command"):
        scaled_by(pyceedlike.Ceed())


def test_a_library_that_was_cut_short_is_made_anew(cache, monkeypatch):
    code = SCALED.replace("scaled", "cut")
    folder = functools.partial(compiled._library, code, "cut", "float64")
    path, _ = folder()
    path.write_bytes(path.read_bytes()[:100])
    address, _ = compiled.compile_function(code, "cut", "float64")
    assert address
    assert folder()[0].stat().st_size > 100


def test_a_relative_cache_is_one(cache, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CEEDLIKE_CACHE_DIR", ".")
    assert scaled_by(pyceedlike.Ceed()) == 6


def test_a_user_without_a_home_is_warned(cache, monkeypatch):
    def nobody():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("CEEDLIKE_CACHE_DIR")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(pathlib.Path, "home", nobody)
    with pytest.warns(RuntimeWarning, match="let CEEDLIKE_CACHE_DIR name a folder"):
        assert scaled_by(pyceedlike.Ceed()) == 6


@pytest.mark.parametrize("name", ["gamma", "out", "y0"])
def test_names_that_c_has_for_itself_are_compiled(name):
    def function(u, *, linux=2.0, M_PI=3.0, NULL=1.0, table0=1.0):
        return (TABLES @ (linux * M_PI * NULL * table0 * u * jnp.ones(9))).sum()

    ceed = pyceedlike.Ceed()
    qf = native.qfunction(Data(), v=Data(), name=name)(function).qfunction(ceed)
    u, v = ceed.Vector(1), ceed.Vector(1)
    u.set_value(2.0)
    qf.apply(1, [u], [v])
    np.testing.assert_allclose(v.to_numpy(), 12 * TABLES.sum(), rtol=1e-12)


def test_two_threads_may_read_the_context_of_native_code():
    qf = native.qfunction(Data(), v=Data())(lambda u, *, k=2.0: k * u).qfunction(
        ceed := pyceedlike.Ceed()
    )
    u, v = ceed.Vector(1), ceed.Vector(1)
    u.set_value(2.0)
    context, data = qf.context, qf._library.ffi.new("void **")
    context._call("GetDataRead", pyceedlike.MEM_HOST, data)  # as an operator of another thread does
    qf.apply(1, [u], [v])
    context._call("RestoreDataRead", data)
    assert v.to_numpy()[0] == 4


def test_a_failed_compilation_leaves_nothing_behind(cache):
    with pytest.raises(pyceedlike.CeedIncompatibleError, match="does not compile"):
        scaled_by(pyceedlike.Ceed(), SCALED.replace("return 0", "return zero"))
    assert [*cache.iterdir()] == []


# ---- The examples --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def solvers(tmp_path_factory):
    """Build the solvers of examples/hyperelastic."""
    need("make", "cc", *fortran()[:1])
    folder = tmp_path_factory.mktemp("solvers") / "hyperelastic"
    shutil.copytree(EXAMPLES / "hyperelastic", folder)
    run("make", "-C", folder, f"PYTHON={sys.executable}", "CFLAGS=-O1", "FFLAGS=-O1")
    return folder


@pytest.mark.parametrize("name", ["solid", "solid_fortran"])
def test_a_solver_finds_the_exact_displacement_without_python(solvers, name):
    printed = run("/usr/bin/env", "-i", "PATH=/usr/bin", solvers / name)
    assert float(printed.split()[-1]) < 1e-10
    if shutil.which("ldd"):
        assert "libpython" not in run("ldd", solvers / name)


def test_a_fortran_program_has_the_stress_of_the_network(solvers):
    spec = importlib.util.spec_from_file_location("laws", ROOT / "examples/hyperelastic/laws.py")
    laws = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(laws)
    printed = run("/usr/bin/env", "-i", "PATH=/usr/bin", solvers / "network_fortran")
    found = np.array(printed.split(), float).reshape(2, 3, 3)
    # The program's first index is the fastest: its array (3, 3) is the transpose of ours.
    du = np.stack([np.zeros((3, 3)), 0.01 * np.arange(1, 10).reshape(3, 3)])
    with jax.enable_x64(True):
        expected = [np.asarray(laws.network(x)) for x in du]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)
