# SPDX-License-Identifier: BSD-2-Clause
"""The commands of the package: `python -m pyceedlike doctor`, `compile`, `--cflags`."""

import argparse
import json
import pathlib
import sys

from . import __version__, buildflags


def main(arguments: list[str] | None = None) -> None:
    """Run a command of the package, or print the flags that are asked for."""
    parser = argparse.ArgumentParser("python -m pyceedlike", description=__doc__)
    parser.add_argument("--version", action="version", version=__version__)
    buildflags.add_options(parser)
    commands = parser.add_subparsers(dest="command")
    doctor_help = "hand memory to every array library that is installed, and say what happened"
    doctor = commands.add_parser("doctor", help=doctor_help, description=doctor_help)
    doctor.add_argument("--json", action="store_true", help="answer in JSON")
    doctor.add_argument(
        "object",
        nargs="?",
        metavar="module:expression",
        help="hand over what the expression gives in the module, instead of vectors; the module is "
        "imported and the expression evaluated, so that both can do anything",
    )
    compile_help = "write the C header of a point function, for programs without Python"
    compiling = commands.add_parser("compile", help=compile_help, description=compile_help)
    compiling.add_argument("function", metavar="module:expression", help="the point function")
    compiling.add_argument("--jvp", action="store_true", help="the action of its Jacobian, too")
    compiling.add_argument("--vjp", action="store_true", help="that of the transpose, too")
    compiling.add_argument("--of", metavar="NAME,...", help="what to differentiate in")
    compiling.add_argument("--fortran", action="store_true", help="a Fortran module beside it")
    compiling.add_argument("-o", "--output", type=pathlib.Path, required=True, metavar="LAW.h")
    options = parser.parse_args(arguments)
    if options.command == "doctor":
        examine(doctor, options.object, options.json)
    elif options.command == "compile":
        write_header(compiling, options)
    else:
        print(buildflags.answer(options) or parser.error("nothing is asked for"))


def write_header(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Write the header of a point function, and with it the derivatives that are asked for."""
    from . import CeedError
    from .doctor import find
    from .native import PointFunction
    from .native.source import write

    sys.path.insert(0, "")  # modules of the folder at hand, as for python -m
    of = options.of.split(",") if options.of else None
    try:
        functions = [find(options.function)]
        if not isinstance(functions[0], PointFunction):
            raise TypeError(
                "it is no point function, which pyceedlike.native.qfunction() makes, but "
                f"{type(functions[0]).__name__}"
            )
        functions += [functions[0].jvp(of)] if options.jvp else []
        functions += [functions[0].vjp(of)] if options.vjp else []
        write(functions, options.output, with_fortran=options.fortran)
    except (
        CeedError,
        ImportError,
        AttributeError,
        NameError,
        OSError,
        TypeError,
        ValueError,
    ) as error:
        parser.error(f"{options.function}: {error}")


def examine(parser: argparse.ArgumentParser, name: str | None, as_json: bool) -> None:
    """Print what the doctor finds out, of vectors or of the object of this name."""
    from . import doctor

    if name:
        try:
            x = doctor.find(name)
        except Exception as error:
            parser.error(f"{name} can't be had: {type(error).__name__}: {error}")
        found, text = doctor.report_on(x, name), doctor.text_of_object
    else:
        found, text = doctor.report(), doctor.text_of
    print(json.dumps(found, indent=2) if as_json else text(found))


if __name__ == "__main__":
    main()
