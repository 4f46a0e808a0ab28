# SPDX-License-Identifier: BSD-2-Clause
"""The benchmarks run and cover what they say; what they find is no test's business."""

import importlib.util
import json
import os
import subprocess
import sys

import pytest
from helpers import ROOT

FOLDER = ROOT / "benchmarks"
SMALL = ["--rounds", "2", "--sample-us", "20", "--largest", "1000"]


def results_of(name, folder):
    """Run a benchmark on next to nothing; return what it printed and wrote."""
    if not FOLDER.exists():
        pytest.skip("the sources of the project are not here")
    pytest.importorskip("numpy")
    target = folder / "results.json"
    path = filter(None, [os.environ.get("PYTHONPATH")])
    done = subprocess.run(
        [sys.executable, str(FOLDER / name), *SMALL, "--json", str(target)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(FOLDER), *path])},
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout, json.loads(target.read_text())


def test_the_handoff_benchmark_covers_every_pair(tmp_path):
    printed, results = results_of("bench_handoff.py", tmp_path)
    installed = [m for m in ("numpy", "jax", "torch", "tvm_ffi") if importlib.util.find_spec(m)]
    names = ["pyceedlike", *installed]
    pairs = {tuple(case["key"][1:]) for case in results["cases"] if case["key"][0] == "pair"}
    assert pairs == {(giver, reader) for giver in names for reader in names}
    assert all(case["ns"] > 0 for case in results["cases"] if not case["error"])
    assert "`np.from_dlpack(v)`" in printed


def test_the_handoff_benchmark_sees_that_ours_shares_with_everybody(tmp_path):
    cases = results_of("bench_handoff.py", tmp_path)[1]["cases"]
    ours = [c for c in cases if c["key"][0] == "pair" and "pyceedlike" in c["key"]]
    assert [c["key"] for c in ours if c["note"] or c["error"]] == []


def test_the_vector_benchmark_covers_both_precisions_and_all_operations(tmp_path):
    printed, results = results_of("bench_vector.py", tmp_path)
    keys = {tuple(case["key"][:2]) for case in results["cases"]}
    operations = {"1-norm", "2-norm", "max-norm", "set", "copy", "scale", "axpy", "pointwise"}
    assert keys == {(o, s) for o in operations for s in ("float64", "float32")}
    assert all(not case["error"] for case in results["cases"])
    assert ("an import" in printed) == bool(results["bytes"])


def test_the_fields_benchmark_makes_views_of_all_blocks(tmp_path):
    printed, results = results_of("bench_fields.py", tmp_path)
    keys = {tuple(case["key"]) for case in results["cases"]}
    assert {(what, "pyceedlike") for what in ("whole", "valid", "ghosts")} <= keys
    assert all(not case["error"] for case in results["cases"])
    assert "Microseconds for each of 1,000 blocks" in printed


def test_the_qfunction_benchmark_covers_every_engine(tmp_path):
    printed, results = results_of("bench_qfunction.py", tmp_path)
    installed = [m for m in ("numba", "numpy", "jax") if importlib.util.find_spec(m)]
    cases = {tuple(case["key"]) for case in results["cases"]}
    assert cases >= {
        (name, engine, n, what)
        for name in ("mass", "neo-Hookean")
        for engine in ("c", *installed)
        for n in (64, 1000)
        for what in ("alone", "operator")
    }
    assert all(case["ns"] > 0 for case in results["cases"])
    assert "nanoseconds a point" in printed


def test_the_operator_benchmark_covers_every_order(tmp_path):
    printed, results = results_of("bench_operator.py", tmp_path)
    assert {(row["physics"], row["library"]) for row in results["rates"]} >= {
        ("mass", "libceedlike"),
        ("diffusion", "libceedlike"),
    }
    assert all(len(row["rates"]) == 8 and min(row["rates"]) > 0 for row in results["rates"])
    assert results["copy"] > 0
    assert "p=8" in printed


def test_what_is_allocated_does_not_depend_on_the_length(tmp_path):
    sizes = results_of("bench_vector.py", tmp_path)[1]["bytes"]
    if not sizes:
        pytest.skip("this C library does not tell what it has given out")
    assert all(first == 0 for first in sizes["one of the first four exports"])
    assert all(each < 256 for each in sizes["an export while four live"])
    assert all(each < 1024 for each in sizes["an import"] + sizes["a vector without memory"])


def test_the_benchmark_of_jax_covers_every_route_and_order(tmp_path):
    pytest.importorskip("jax", reason="JAX is not installed")
    printed, results = results_of("bench_jax.py", tmp_path)
    keys = {tuple(case["key"]) for case in results["cases"] if not case["error"]}
    assert len(keys) == 2 * 6 * 5 + 3 * 2 + 4
    assert "time of compiled JAX / C" in printed
