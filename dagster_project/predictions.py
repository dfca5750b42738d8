"""Commands on predictions that were made elsewhere: import a file of them, remove it again.

What belongs here: arguments. Both are jobs, so that the UI shows them (`prediction_jobs.py`).
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from dagster_project.one_op import run_one_op
from methods.errors import UserError
from resources.command_line import CommandParser, require_said
from resources.stores import bring_home_up_to_date

NEXT = "Run the job evaluate next"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; 0 when it was done, 2 when it could not be."""
    arguments = _parser().parse_args(argv)
    try:
        bring_home_up_to_date()
        return int(arguments.command(arguments))
    except (OSError, UserError) as error:
        print(error, file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = CommandParser(prog="python -m dagster_project.predictions", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="command")
    imported = commands.add_parser("import", help="take a file of predictions on a release")
    imported.add_argument("--file", default="", help=".xlsx, .tsv, .csv, .jsonl or .json")
    imported.set_defaults(command=_import)
    removed = commands.add_parser("remove", help="take the predictions of a model out again")
    removed.set_defaults(command=_remove)
    for command in (imported, removed):
        command.add_argument("--release", default="", help="id, name, or how an id begins")
        command.add_argument("--model", default="", help="who made the predictions")
    return parser


def _import(arguments: argparse.Namespace) -> int:
    require_said(
        {
            "RELEASE=name": arguments.release,
            "FILE=path": arguments.file,
            "MODEL=name": arguments.model,
        }
    )
    config = {
        # A run may be started anywhere.
        "file": str(Path(arguments.file).resolve()),
        **{name: getattr(arguments, name) for name in ("release", "model")},
    }
    result = run_one_op("import_predictions", "take_predictions", config)
    if result is None:
        return 2
    print(f"{result.output_for_node('take_predictions')} {NEXT}, which scores them.")
    return 0


def _remove(arguments: argparse.Namespace) -> int:
    require_said({"RELEASE=name": arguments.release, "MODEL=name": arguments.model})
    config = {name: getattr(arguments, name) for name in ("release", "model")}
    result = run_one_op("remove_predictions", "drop_predictions", config)
    if result is None:
        return 2
    release_id = result.output_for_node("drop_predictions")
    print(
        f"{arguments.model} has no predictions on {release_id} any more. {NEXT}: scores and reports "
        "are made without them."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
