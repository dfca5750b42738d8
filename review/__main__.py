"""`python -m review`: the commands of review.

What belongs here: the list of commands, and the exit codes: 0 for success, 1 when some records were at
fault, 2 when nothing could be done. The commands are in `review/commands/`, one module each.
"""

import argparse
import sys
from collections.abc import Sequence

from methods.errors import UserError
from resources.command_line import CommandParser
from resources.stores import bring_home_up_to_date
from review.commands import accounts, demo, files, label_studio, serve

COMMANDS = (serve, demo, accounts, files, label_studio)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    arguments = _parser().parse_args(argv)
    try:
        bring_home_up_to_date()
        return arguments.command(arguments)
    except FileExistsError as error:
        problem = f"{error.filename} exists already and may have been filled in: give another name."
    except (OSError, UserError) as error:
        problem = str(error)
    print(problem, file=sys.stderr)
    return 2


def _parser() -> argparse.ArgumentParser:
    parser = CommandParser(prog="python -m review", description="Human review of the queued items.")
    commands = parser.add_subparsers(required=True, metavar="command")
    for command in COMMANDS:
        command.add_to(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
