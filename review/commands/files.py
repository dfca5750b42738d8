"""`export` and `import`: the review round trip by file, from a shell.

What belongs here: arguments, and where the queue and the events are. The round trip itself is
`review/rounds.py`, the files are `review/jsonl.py`, `review/spreadsheet.py` and
`review/label_studio/files.py`.
"""

import argparse
import sys
from pathlib import Path

from methods.errors import UserError
from methods.review import KINDS, ROUNDS, QueueItem, queue_item
from resources.home import home, images_path, review_path
from resources.images.store import ImageStore
from resources.review.store import ReviewStore
from resources.warehouse import Warehouse
from review.jsonl import read_jsonl, write_jsonl
from review.label_studio.files import read_tasks, write_tasks
from review.rounds import ImportResult, awaiting, take_in
from review.spreadsheet import read_csv, write_csv

WRITE = {"jsonl": write_jsonl, "csv": write_csv}
READ = {"jsonl": read_jsonl, "csv": read_csv, "label-studio": read_tasks}


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `export` and `import`."""
    export = commands.add_parser("export", help="write what awaits a decision to a file")
    export.add_argument("--out", type=Path, required=True, help="file to write; must not exist")
    export.add_argument("--kind", choices=list(KINDS), help="items of this kind only")
    export.add_argument("--round", type=int, choices=ROUNDS, default=1)
    export.add_argument("--reviewer", help="only what this person may decide")
    export.add_argument(
        "--early", action="store_true", help="round 2: also what round 1 has not decided yet"
    )
    _add_format(export)
    export.set_defaults(command=_export)

    read = commands.add_parser("import", help="store the decisions of a file that came back")
    read.add_argument("file", type=Path)
    read.add_argument("--reviewer", required=True, help="the name the decisions stand under")
    read.add_argument("--round", type=int, choices=ROUNDS, required=True)
    _add_format(read)
    read.set_defaults(command=_import)


def read_queue() -> list[QueueItem]:
    """The items that the project's assets put before people. Raises FileNotFoundError when nothing was
    built yet."""
    path = home() / "warehouse.duckdb"
    if not path.exists():
        raise FileNotFoundError(f"There is no warehouse at {path}: materialize review/queue first.")
    warehouse = Warehouse(path)
    return [
        queue_item(row)
        for query in ("review/queue", "evaluate/score_queue")
        for row in warehouse.read(query).to_pylist()
    ]


def report(result: ImportResult) -> int:
    """Print what an import did; returns the exit code."""
    for problem in result.problems:
        print(problem, file=sys.stderr)
    print(
        f"{result.added} decisions added, {result.known} known already, "
        f"{result.untouched} left open, {len(result.problems)} at fault"
    )
    return 1 if result.problems else 0


def _with_paths(item: QueueItem) -> QueueItem:
    """The item with where its pictures lie. Raises ImageNotStored."""
    store = ImageStore(images_path())
    return {**item, "image_paths": [str(store.path(each)) for each in item["image_ids"]]}


def _add_format(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--format",
        choices=list(READ),
        default="jsonl",
        help="csv opens in a spreadsheet; label-studio is for one that cannot be reached from here",
    )


def _export(arguments: argparse.Namespace) -> int:
    round, out = arguments.round, arguments.out
    if arguments.format == "label-studio" and arguments.kind is None:
        raise UserError("Label Studio has one form a project: name the kind with --kind.")
    items = [item for item in read_queue() if arguments.kind in (None, item["kind"])]
    items = [_with_paths(item) for item in items]
    store = ReviewStore(review_path())
    given = awaiting(items, store, round, arguments.reviewer, arguments.early)
    if arguments.format == "label-studio":
        form = write_tasks(given, arguments.kind, round, out, ImageStore(images_path()))
        print(f"The form of the project is {form}.")
    else:
        WRITE[arguments.format](given, round, out)
    print(f"{len(given)} of {len(items)} items await round {round}: {out}")
    return 0


def _import(arguments: argparse.Namespace) -> int:
    result = take_in(
        read_queue(),
        ReviewStore(review_path()),
        READ[arguments.format](arguments.file),
        arguments.reviewer,
        arguments.round,
    )
    return report(result)
