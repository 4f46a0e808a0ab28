# SPDX-License-Identifier: BSD-2-Clause
"""Print what pyproject.toml asks for, one requirement a line.

`build` prints what it takes to build and import the package, any other word the extra so named.
"""

import pathlib
import sys
import tomllib

PYPROJECT = pathlib.Path(__file__).resolve().parent.parent / "pyproject.toml"


def requirements(name: str) -> list[str]:
    """Return the requirements of one group."""
    pyproject = tomllib.loads(PYPROJECT.read_text())
    if name == "build":
        return pyproject["build-system"]["requires"] + pyproject["project"]["dependencies"]
    return pyproject["project"]["optional-dependencies"][name]


if __name__ == "__main__":
    print(*[line for name in sys.argv[1:] for line in requirements(name)], sep="\n")
