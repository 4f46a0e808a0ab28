# SPDX-License-Identifier: BSD-2-Clause
"""What this machine shares with whom: memory is handed to each library and back, and looked at.

Each library is tried in a process of its own, so that one that ends it, or hangs, is a row too.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

from . import _exchange
from ._lib import LIBRARIES, NORM_1, CeedError, CeedUnsupportedError, __version__
from .ceed import Ceed
from .dlpack import describe, from_dlpack
from .explain import MANNERS, NoTensor, check_numbers, explain, first_line, tensor_of
from .partners import PARTNERS, Partner

ENTRIES = 100_000  # of what is handed over
REPEATS = 50  # of each that is timed
PATIENCE = 120.0  # seconds for a library to be imported and tried

Row = dict[str, Any]

LEGEND = f"""\
shared, copied: by comparing addresses; none: the library has no such arrays; time: of one hand-over
of {ENTRIES} entries, the median of {REPEATS}.
read-only, from a vector: kept; lost, as the library would write to the memory; copied; refused.
read-only, into a vector: kept; assumed, as nothing says that it may be written; none to keep."""

# --- This machine and this build --------------------------------------------------------------


def _text_of(scalar: str, function: str) -> str:
    library = LIBRARIES[scalar]
    text = library.get("const char *", getattr(library.lib, function))
    return library.ffi.string(text).decode(errors="replace")


def _cpu() -> str:
    try:
        with open("/proc/cpuinfo") as lines:
            names = [line.partition(":")[2].strip() for line in lines if "model name" in line]
    except OSError:
        names = []
    return names[0] if names else platform.processor() or "unknown processor"


def machine() -> Row:
    """Return what the hand-overs depend on: machine, Python and our build."""
    return {
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "processor": _cpu(),
        "processors": len(os.sched_getaffinity(0)),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "pyceedlike": __version__,
        "package": os.path.dirname(_exchange.__file__),
        "revision": _text_of("float64", "CeedGetGitVersion"),
        "build": {s: _text_of(s, "CeedGetBuildConfiguration").splitlines() for s in LIBRARIES},
    }


def resources() -> list[Row]:
    """Return every resource, with its devices, and for each precision whether a vector works."""
    return [
        {
            "resource": name,
            "device": device,
            **{scalar: _try_resource(name, scalar) for scalar in LIBRARIES},
        }
        for resource in _resource_names()
        for name, device in _devices_of(resource)
    ]


def _devices_of(resource: str) -> list[tuple[str, str]]:
    """Return the name of the resource for each of its devices, and what the device is called."""
    devices: list[tuple[str, str]] = []
    with contextlib.suppress(CeedError):  # there are no more, or none that can be reached
        while found := re.search(
            r"Device: \d+, (.*)", str(Ceed(name := f"{resource}:device_id={len(devices)}"))
        ):
            devices.append((name, found[1]))
    return devices or [(resource, "")]


def _resource_names() -> list[str]:
    try:
        Ceed("no resource is called so")
    except CeedUnsupportedError as error:  # which lists those that there are
        return str(error).rpartition("there are ")[2].split(", ")
    return []


def _try_resource(name: str, scalar: str) -> str:
    try:
        vector = Ceed(name, scalar).Vector(2)
        vector.set_value(2.0)
        vector.scale(2.0)
        return "works" if vector.norm(NORM_1) == 8.0 else "gives wrong numbers"
    except CeedError as error:
        return str(error)


# --- Handing over -----------------------------------------------------------------------------


def _address(vector: Any) -> int:
    return tensor_of(vector, MANNERS["numpy"]).address


def _median(hand_over: Callable[[], Any]) -> float:
    """Return the median time of a hand-over in microseconds; letting go is not measured."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter_ns()
        taken = hand_over()
        times.append((time.perf_counter_ns() - start) / 1000)
        del taken
    return statistics.median(times)


def _vector(scalar: str) -> Any:
    vector = Ceed(scalar=scalar).Vector(ENTRIES)
    vector.set_value(1.0)
    return vector


def _give(partner: Partner, module: Any, x: Any, address: int) -> tuple[str, bool | None, str]:
    """Return what a library makes of x: the outcome, whether it would write, and its complaint."""
    try:
        taken = partner.take(module, x)
        shared = partner.address(taken) == address
        return "shared" if shared else "copied", partner.writable(taken), ""
    except Exception as error:
        return "fails", None, first_line(error)


def _tell(row: Row, outcome: str, why: str) -> None:
    """Keep the first reason, but that of memory that is not shared before all others."""
    if not row["why"] or (outcome != "shared" and row["float64"] == "shared"):
        row["why"] = why


def _read_only_there(partner: Partner, module: Any, vector: Any) -> str:
    locked = from_dlpack(memoryview(vector).toreadonly())
    outcome, writable, _ = _give(partner, module, locked, _address(vector))
    if outcome == "shared":
        return "lost" if writable else "kept"
    return "copied" if outcome == "copied" else "refused"


def _why(module: str, x: Any, outcome: str) -> str:
    if module not in MANNERS:
        return ""
    said = explain(x, module)
    agrees = said.outcome == {"shared": "share", "copied": "copy", "fails": "fail"}[outcome]
    return said.reason if agrees else f"unforeseen: explain() says {said.outcome}, {said.reason}"


def _from_vector(key: str, partner: Partner, module: Any) -> Row:
    row: Row = {"call": partner.call, "why": ""}
    for scalar in LIBRARIES:
        vector = _vector(scalar)
        row[scalar], _, complaint = _give(partner, module, vector, _address(vector))
        _tell(row, row[scalar], complaint or _why(key, vector, row[scalar]))
        if row[scalar] != "fails" and "microseconds" not in row:
            row["microseconds"] = _median(lambda v=vector: partner.take(module, v))
            row["read_only"] = _read_only_there(partner, module, vector)
    return row


def _lock(x: Any) -> None:
    with contextlib.suppress(AttributeError, ValueError):  # it has no such thing, or is so already
        x.flags.writeable = False


def _read_only_here(partner: Partner, x: Any) -> str:
    _lock(x)
    writable = partner.writable(x)
    locked = tensor_of(from_dlpack(x), MANNERS["numpy"]).read_only
    if writable:
        return "assumed" if locked else "none"
    return "kept" if locked else "lost"


def _take(partner: Partner, x: Any, scalar: str) -> tuple[str, str]:
    """Return what a vector makes of a library's array."""
    vector = from_dlpack(x)
    if vector.scalar != scalar:
        return "none", f"{partner.name} has no {scalar} as it is configured"
    shared = _address(vector) == partner.address(x)
    return "shared" if shared else "copied", vector.exchange.reason


def _make(partner: Partner, module: Any, scalar: str) -> Any:
    import numpy

    return partner.make(module, numpy.ones(ENTRIES, scalar))


def _into_vector(partner: Partner, module: Any) -> Row:
    row: Row = {"source": partner.name, "why": ""}
    for scalar in LIBRARIES:
        try:
            x = _make(partner, module, scalar)
            row[scalar], why = _take(partner, x, scalar)
        except Exception as error:  # no array of its own can be made, or none be taken
            row[scalar], why = "fails", first_line(error)
        _tell(row, row[scalar], why)
        if row[scalar] in ("shared", "copied") and "microseconds" not in row:
            row["microseconds"] = _median(lambda x=x: from_dlpack(x))
            row["read_only"] = _read_only_here(partner, x)
    return row


# --- One library, in a process of its own -----------------------------------------------------


def probe(key: str) -> Row:
    """Return what happens with a library in this process."""
    partner = PARTNERS[key]
    try:
        module = partner.load()
    except Exception as error:
        return {"status": f"fails to import: {first_line(error)}"}
    row: Row = {"status": "works", "version": _version(key)}
    row["from_vector"] = _from_vector(key, partner, module)
    if partner.make:
        row["into_vector"] = _into_vector(partner, module)
    return row


def _version(key: str) -> str:
    return str(getattr(sys.modules[key], "__version__", "unknown version"))


def answer(key: str, file: int) -> None:
    """Write what happens with a library in this process to an open file."""
    with os.fdopen(file, "w") as out:
        json.dump(probe(key), out)


def _probe_apart(key: str) -> Row:
    safe = ["-P"] if sys.flags.safe_path else []
    with tempfile.TemporaryFile("w+") as file:  # the library may print what it likes
        code = f"from pyceedlike.doctor import answer; answer({key!r}, {file.fileno()})"
        try:
            done = subprocess.run(
                [sys.executable, *safe, "-c", code],
                pass_fds=[file.fileno()],
                capture_output=True,
                timeout=PATIENCE,
            )
        except subprocess.TimeoutExpired:
            return {"status": f"did not answer in {PATIENCE:g} s"}
        file.seek(0)
        told = file.read()
    if done.returncode or not told:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        return {"status": f"ends the program with {done.returncode}: {''.join(last)}"}
    return json.loads(told)


def libraries() -> Iterator[Row]:
    """Yield what happens with each library that we know of."""
    for key, partner in PARTNERS.items():
        absent = importlib.util.find_spec(key) is None
        row = {"status": "absent"} if absent else _probe_apart(key)
        yield {"library": partner.name, "module": key, **row}


# --- The user's own object --------------------------------------------------------------------


def find(name: str) -> Any:
    """Return what an expression gives in a module, both named as in "module:expression"."""
    module, _, expression = name.partition(":")
    if not module or not expression:
        raise ValueError(f"{name!r} is not of the form module:expression")
    return eval(expression, vars(importlib.import_module(module)))


def _address_of(x: Any) -> int | None:
    try:
        return tensor_of(x, MANNERS["pyceedlike"]).address
    except NoTensor:
        return None  # values without memory


def _into_ours(x: Any) -> Row:
    vector = from_dlpack(x)
    shared = _address(vector) == _address_of(x)
    read_only = tensor_of(vector, MANNERS["numpy"]).read_only
    return {
        "found": "shared" if shared else "copied",
        "writable": not read_only,
        "microseconds": _median(lambda: from_dlpack(x)),
    }


def _into_theirs(x: Any, to: str) -> Row:
    if importlib.util.find_spec(to) is None:
        return {"found": "absent"}
    partner = PARTNERS[to]
    try:
        module = partner.load()
    except Exception as error:
        return {"found": f"fails to import: {first_line(error)}"}
    found, writable, complaint = _give(partner, module, x, _address_of(x))
    if found == "fails":
        return {"found": found, "complaint": complaint}
    time_ = _median(lambda: partner.take(module, x))
    return {"found": found, "writable": writable, "microseconds": time_}


def _try(x: Any, to: str) -> Row:
    try:
        return _into_ours(x) if to == "pyceedlike" else _into_theirs(x, to)
    except Exception as error:  # one that is not as it was when it was explained
        return {"found": "fails", "complaint": first_line(error)}


def hand_over(x: Any) -> list[Row]:
    """Return what each library makes of x; what explain() says will fail is not tried."""
    rows = []
    for to in MANNERS:
        said = explain(x, to)
        row: Row = {"library": to, **said._asdict(), "found": "not tried"}
        if said.outcome != "fail":
            row |= _try(x, to)
        rows.append(row)
    return rows


def _describe(x: Any) -> str:
    try:
        check_numbers(x)
        return describe(x)
    except NoTensor as verdict:
        return verdict.args[1]
    except (Exception, SystemExit) as error:
        return first_line(error)


# --- The report -------------------------------------------------------------------------------


def _table(titles: list[str], rows: list[list[str]]) -> str:
    lines = [titles, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(titles))]
    padded = (
        "  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)) for line in lines
    )
    return "\n".join(line.rstrip() for line in padded)


def _time(row: Row) -> str:
    return f"{row['microseconds']:.1f} us" if "microseconds" in row else ""


def _machine_text(row: Row) -> str:
    build = row["build"]["float64"]
    return "\n".join(
        [
            f"pyceedlike {row['pyceedlike']}, revision {row['revision']}, in {row['package']}",
            *(f"  {line}" for line in build if not line.startswith("CeedScalar")),
            f"{row['python']} on {row['system']}",
            f"  {row['processors']} of {row['processor']}",
        ]
    )


def _resources_text(rows: list[Row]) -> str:
    return _table(["resource", *LIBRARIES, "device"], [_resource_cells(row) for row in rows])


def _resource_cells(row: Row) -> list[str]:
    """Return the cells of a resource; why it doesn't work at all is said once, at the end."""
    said = [row[scalar] for scalar in LIBRARIES]
    if "works" not in said and len(set(said)) == 1:
        return [row["resource"], *("no" for _ in said), said[0]]
    return [row["resource"], *said, row["device"]]


def _libraries_text(rows: list[Row]) -> str:
    cells = [
        [row["library"], row.get("version", row["status"]), PARTNERS[row["module"]].call]
        for row in rows
    ]
    return _table(["library", "version", "takes an array by"], cells)


def _direction_text(title: str, direction: str, rows: list[Row]) -> str:
    tried = [(row["library"], row[direction]) for row in rows if direction in row]
    cells = [
        [
            library,
            *(row[scalar] for scalar in LIBRARIES),
            row.get("read_only", ""),
            _time(row),
            row["why"],
        ]
        for library, row in tried
    ]
    return _table([title, *LIBRARIES, "read-only", "time", "why"], cells)


def text_of(report: Row) -> str:
    """Return what report() found, for a person."""
    rows = report["libraries"]
    return "\n\n".join(
        [
            _machine_text(report["machine"]),
            _resources_text(report["resources"]),
            _libraries_text(rows),
            _direction_text("from a vector to", "from_vector", rows),
            _direction_text("into a vector from", "into_vector", rows),
            LEGEND,
        ]
    )


def text_of_object(report: Row) -> str:
    """Return what report_on() found, for a person."""
    cells = [
        [
            row["library"],
            row["outcome"],
            row["found"],
            "" if "writable" not in row else "yes" if row["writable"] else "no",
            _time(row),
            "; ".join(filter(None, [row.get("complaint"), row["reason"], row["change"]])),
        ]
        for row in report["taken"]
    ]
    titles = ["library", "foreseen", "found", "writable", "time", "why, and what to change"]
    return f"{report['object']}: {report['type']}\n{report['tensor']}\n{_table(titles, cells)}"


def report() -> Row:
    """Return what happens with vectors and every library."""
    return {"machine": machine(), "resources": resources(), "libraries": list(libraries())}


def report_on(x: Any, name: str) -> Row:
    """Return what happens with an object of the user's."""
    kind = f"{type(x).__module__}.{type(x).__qualname__}"
    return {"object": name, "type": kind, "tensor": _describe(x), "taken": hand_over(x)}
