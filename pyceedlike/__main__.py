# SPDX-License-Identifier: BSD-2-Clause
"""The commands of the package: `python -m pyceedlike doctor`, `python -m pyceedlike --cflags`."""

import argparse
import json

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
    options = parser.parse_args(arguments)
    if options.command == "doctor":
        examine(doctor, options.object, options.json)
    else:
        print(buildflags.answer(options) or parser.error("nothing is asked for"))


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
