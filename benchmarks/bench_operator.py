# SPDX-License-Identifier: BSD-2-Clause
"""Mass and diffusion on hexahedra, orders 1 to 8: million unknowns a second, ours and libCEED's.

Both libraries run the same C program, operator.c, on one thread; the wheel of libCEED is measured
where it is installed (`pip install libceed==0.12.0`).
"""

import argparse
import importlib.util
import pathlib
import subprocess
import tempfile

SOURCE = pathlib.Path(__file__).with_name("operator.c")
ORDERS = range(1, 9)


def package(name: str) -> pathlib.Path | None:
    """Return the folder of an installed package without importing it, or None."""
    spec = importlib.util.find_spec(name)
    return pathlib.Path(spec.origin).parent if spec and spec.origin else None


def compile_for(library: pathlib.Path, include: pathlib.Path, output: pathlib.Path) -> pathlib.Path:
    """Compile the program against one library and return where it is."""
    command = ["cc", "-std=c99", "-O2", str(SOURCE), "-o", str(output), f"-I{include}"]
    command += [str(library), f"-Wl,-rpath,{library.parent}", "-lm"]
    subprocess.run(command, check=True)
    return output


def rates(program: pathlib.Path, resource: str, physics: str, unknowns: float) -> list[float]:
    """Return the million unknowns a second for each order."""
    command = [str(program), resource, physics, str(unknowns)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [float(line.split()[1]) for line in done.stdout.splitlines()]


def main() -> None:
    """Print a line for each library and physics."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--unknowns", type=float, default=1.5e6)
    unknowns = parser.parse_args().unknowns
    ours, theirs = package("pyceedlike"), package("libceed")
    with tempfile.TemporaryDirectory() as folder:
        here = pathlib.Path(folder)
        include = ours / "include" / "ceedlike" / "compat"
        program = compile_for(ours / "lib" / "libceedlike.so.0", include, here / "ours")
        rows = [("libceedlike", program, "/cpu/self/opt/blocked")]
        if theirs:
            library = theirs / "lib" / "libceed.so"
            program = compile_for(library, theirs / "include", here / "libceed")
            backends = ("/cpu/self/opt/blocked", "/cpu/self/avx/blocked")
            rows += [("libCEED's wheel", program, backend) for backend in backends]
        print(f"{'million unknowns a second':54}", *(f"p={p:<5}" for p in ORDERS))
        for physics in ("mass", "diffusion"):
            for name, program, resource in rows:
                values = rates(program, resource, physics, unknowns)
                print(f"{physics:10} {name:16} {resource:26}", *(f"{v:7.2f}" for v in values))


if __name__ == "__main__":
    main()
