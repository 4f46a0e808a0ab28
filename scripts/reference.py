# SPDX-License-Identifier: BSD-2-Clause
"""Write the pages c-api.md and python-api.md, from the header and from the docstrings, to a folder.

The C page needs the header alone; the Python page is of the package that is imported.
"""

import argparse
import inspect
import pathlib
import re
from collections.abc import Iterator
from typing import Any

HEADER = pathlib.Path(__file__).resolve().parent.parent / "include" / "ceedlike.h"
RULE = "// " + "-" * 96
LABEL = re.compile(r"^(Ownership|Errors|Threads): +", re.MULTILINE)

# ---- The header ----------------------------------------------------------------------------------


def names_of(code: str) -> list[str]:
    """Return what a piece of the header declares."""
    code = re.sub(r"//[^\n]*", "", code)
    if names := re.findall(r"^(?:int|Ceed|static inline \w+) (Ceed\w+)\(", code, re.MULTILINE):
        return names
    found = re.search(r"\} (\w+);", code) or re.search(r"\(\*(\w+)\)|^extern .*?(CEED_\w+);", code)
    if found:
        return [next(filter(None, found.groups()))]
    return re.findall(r"^#define (CEED_\w+)", code, re.MULTILINE)[:1]


def comment(lines: list[str]) -> str:
    """Return the text of comment lines, a paragraph for each of Ownership, Errors and Threads."""
    text = "\n".join(re.sub(r"^//+ ?", "", line) for line in lines)
    return re.sub(r"\n +", "\n", LABEL.sub(r"\n**\1:** ", text)).strip()


def piece(paragraph: str) -> str:
    """Return one documented declaration, or a group of them, in Markdown."""
    lines = paragraph.splitlines()
    documented = [line for line in lines if line.startswith("///")]
    code = "\n".join(line for line in lines if not line.startswith("///"))
    heading = ", ".join(f"`{name}`" for name in names_of(code))
    parts = [f"### {heading}" if heading else "", comment(documented)]
    return "\n\n".join([*filter(None, parts), f"```c\n{code}\n```"])


def section(lines: list[str]) -> str:
    """Return the heading of a section, and what stands under it."""
    title, _, rest = comment(lines).partition(": ")
    if not rest:
        return f"## {title}"
    return f"## {title}\n\n{rest[0].upper() + rest[1:]}"


def c_pieces(header: str) -> Iterator[str]:
    """Give the pieces of the page, in the order of the header."""
    intro, _, body = header.partition("#ifndef CEEDLIKE_H")
    yield "# C reference"
    yield comment([line for line in intro.splitlines() if line.startswith("///")])
    for paragraph in re.split(r"\n\n+", body):
        lines = paragraph.splitlines()
        if lines[0] == RULE:
            yield section(lines[1:-1])
        elif lines[0].startswith("///") or "typedef" in paragraph:
            yield piece(paragraph)


# ---- The package ---------------------------------------------------------------------------------


def fenced(docstring: str) -> str:
    """Return a docstring with its examples in fences."""
    paragraphs = re.split(r"\n\n+", docstring)
    shown = [f"```python\n{p}\n```" if p.startswith(">>>") else p for p in paragraphs]
    return re.sub(r"  # doctest: [^\n]*", "", "\n\n".join(shown))


def signature(name: str, thing: Any) -> str:
    """Return how something is called, without the types, which the text names."""
    try:
        parameters = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return f"{name}()"
    plain = [p.replace(annotation=p.empty) for p in parameters if p.name not in ("self", "cls")]
    return name + str(inspect.Signature(plain))


def members(cls: type) -> Iterator[tuple[str, Any]]:
    """Give the public members of a class, those of its C base too; a tuple's docstring has all."""
    for base in [] if issubclass(cls, tuple) else reversed(cls.__mro__[:-1]):
        for name in vars(base):
            if not name.startswith("_"):
                yield name, inspect.getattr_static(cls, name)


def entry(level: int, name: str, thing: Any) -> str:
    """Return a heading, and what the docstring says."""
    bound = getattr(thing, "__func__", thing)  # of a class method
    call = signature(name, bound) if callable(bound) else name
    return f"{'#' * level} `{call}`\n\n{fenced(inspect.getdoc(thing) or '')}"


def python_pieces(package: Any) -> Iterator[str]:
    """Give the pieces of the page: classes and functions, then errors, then constants."""
    public = {name: getattr(package, name) for name in package.__all__}
    errors = {n: t for n, t in public.items() if inspect.isclass(t) and issubclass(t, Exception)}
    yield "# Python reference"
    yield fenced(inspect.getdoc(package))
    for name, thing in public.items():
        if inspect.isclass(thing) and name not in errors:
            yield entry(2, name, thing)
            yield from (entry(3, n, member) for n, member in members(thing))
    yield from (entry(2, n, thing) for n, thing in public.items() if inspect.isroutine(thing))
    yield "## Errors"
    for name, thing in errors.items():
        bases = ", ".join(f"`{base.__name__}`" for base in thing.__bases__)
        yield f"- `{name}` ({bases}): {' '.join((inspect.getdoc(thing) or '').split())}"
    yield "## Constants"
    constants = {n: thing for n, thing in public.items() if not callable(thing) and n[0] != "_"}
    numbers = {n: f" = {thing!r}" for n, thing in constants.items() if isinstance(thing, int)}
    yield "\n".join(f"- `{name}`{numbers.get(name, '')}" for name in constants)


def main() -> None:
    """Write both pages."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder

    import pyceedlike

    (folder / "c-api.md").write_text("\n\n".join(c_pieces(HEADER.read_text())) + "\n")
    (folder / "python-api.md").write_text("\n\n".join(python_pieces(pyceedlike)) + "\n")


if __name__ == "__main__":
    main()
