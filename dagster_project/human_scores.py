"""The command on scores that people gave elsewhere: import a file of them.

What belongs here: arguments. It is a job, so that the UI shows it (`human_score_jobs.py`).
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from dagster_project.one_op import run_one_op
from methods.errors import UserError
from resources.command_line import CommandParser
from resources.stores import bring_home_up_to_date

NEXT = "Run the job evaluate next, which compares judges with them."


def main(argv: Sequence[str] | None = None) -> int:
    """Import a file; 0 when it was done, 2 when it could not be."""
    parser = CommandParser(prog="python -m dagster_project.human_scores", description=__doc__)
    parser.add_argument("--release", default="", help="id, name, or how an id begins")
    parser.add_argument("--file", default="", help=".csv, .tsv, .jsonl, .json or .xlsx")
    arguments = parser.parse_args(argv)
    try:
        bring_home_up_to_date()
        if not arguments.release or not arguments.file:
            raise UserError("Say on which release and from which file: RELEASE=<name> FILE=<path>.")
        # A run may be started anywhere.
        config = {
            "release": arguments.release,
            "file": str(Path(arguments.file).resolve()),
        }
        result = run_one_op("import_scores", "take_scores", config)
    except (OSError, UserError) as error:
        print(error, file=sys.stderr)
        return 2
    if result is None:
        return 2
    print(f"{result.output_for_node('take_scores')} {NEXT}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
