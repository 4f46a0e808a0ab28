# SPDX-License-Identifier: BSD-2-Clause
"""The commands of the package: `python -m pyceedlike --cflags --libs`."""

import argparse

from . import buildflags


def main(arguments: list[str] | None = None) -> None:
    """Print what was asked for."""
    parser = argparse.ArgumentParser("python -m pyceedlike", description=__doc__)
    buildflags.add_options(parser)
    print(buildflags.answer(parser.parse_args(arguments)) or parser.error("nothing is asked for"))


if __name__ == "__main__":
    main()
