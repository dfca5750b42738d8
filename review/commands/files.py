"""`export` and `import`: review in files.

What belongs here: arguments, and where the queue and the events are. What is exported and imported is
`review/import_export.py`; the formats are `review/jsonl.py`, `review/spreadsheet.py` and
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
from review.import_export import ImportResult, import_records, items_to_export
from review.jsonl import read_jsonl, write_jsonl
from review.label_studio.files import read_tasks, write_tasks
from review.spreadsheet import read_csv, write_csv

WRITE = {"jsonl": write_jsonl, "csv": write_csv}
READ = {"jsonl": read_jsonl, "csv": read_csv, "label-studio": read_tasks}


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `export` and `import`."""
    export = commands.add_parser("export", help="write the items that need a decision to a file")
    export.add_argument(
        "--out", type=Path, required=True, help="the file to write; it must not exist"
    )
    export.add_argument("--kind", choices=list(KINDS), help="only items of this kind")
    export.add_argument("--round", type=int, choices=ROUNDS, default=1)
    export.add_argument("--reviewer", help="only items that this person may decide")
    export.add_argument(
        "--early", action="store_true", help="round 2: also items whose round 1 is open"
    )
    _add_format(export)
    export.set_defaults(command=_export)

    read = commands.add_parser("import", help="store the decisions of a filled-in file")
    read.add_argument("file", type=Path)
    read.add_argument("--reviewer", required=True, help="the name on the decisions")
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
        for query in (
            "review/queue",
            "evaluate/score_queue",
            "evaluate/extraction_queue",
            "evaluate/item_queue",
        )
        for row in warehouse.read(query).to_pylist()
    ]


def report(result: ImportResult) -> int:
    """Print the result of an import; returns the exit code."""
    for problem in result.problems:
        print(problem, file=sys.stderr)
    print(
        f"{result.added} decisions added, {result.known} known already, "
        f"{result.left_open} left open, {len(result.problems)} at fault"
    )
    return 1 if result.problems else 0


def _with_paths(item: QueueItem) -> QueueItem:
    """The item with the paths of its images. Raises ImageNotStored."""
    store = ImageStore(images_path())
    return {**item, "image_paths": [str(store.path(each)) for each in item["image_ids"]]}


def _add_format(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--format",
        choices=list(READ),
        default="jsonl",
        help="csv is for spreadsheets; label-studio for a server that cannot be reached from here",
    )


def _export(arguments: argparse.Namespace) -> int:
    round, out = arguments.round, arguments.out
    if arguments.format == "label-studio" and arguments.kind is None:
        raise UserError(
            "A Label Studio project has one labelling config: name the kind with --kind."
        )
    items = [item for item in read_queue() if arguments.kind in (None, item["kind"])]
    items = [_with_paths(item) for item in items]
    store = ReviewStore(review_path())
    exported = items_to_export(items, store, round, arguments.reviewer, arguments.early)
    if arguments.format == "label-studio":
        images = ImageStore(images_path())
        config = write_tasks(exported, arguments.kind, round, out, images)
        print(f"The labelling config of the project is {config}.")
    else:
        WRITE[arguments.format](exported, round, out)
    print(f"{len(exported)} of {len(items)} items need a decision in round {round}: {out}")
    return 0


def _import(arguments: argparse.Namespace) -> int:
    result = import_records(
        read_queue(),
        ReviewStore(review_path()),
        READ[arguments.format](arguments.file),
        arguments.reviewer,
        arguments.round,
    )
    return report(result)
