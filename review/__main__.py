"""`python -m review export|import`: the review round trip from a shell.

What belongs here: arguments, where the queue and the events are, and exit codes (0 done, 1 some
lines at fault, 2 nothing could be done). The round trip itself is `review/jsonl.py`.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from methods.review import EDITABLE, POLICIES, ROUNDS, QueueItem
from resources.home import home, images_path, review_path
from resources.image_store import ImageStore
from resources.review_store import ReviewStore
from resources.warehouse import Warehouse, WarehouseError
from review.jsonl import export_items, import_decisions


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    arguments = _parser().parse_args(argv)
    try:
        return arguments.command(arguments)
    except FileExistsError as error:
        problem = f"{error.filename} is there already and may be filled in: give another name."
    except (OSError, WarehouseError) as error:
        problem = str(error)
    print(problem, file=sys.stderr)
    return 2


def read_queue() -> list[QueueItem]:
    """The items of `review.queue`. Raises FileNotFoundError when nothing was built yet."""
    path = home() / "warehouse.duckdb"
    if not path.exists():
        raise FileNotFoundError(f"There is no warehouse at {path}: materialize review/queue first.")
    rows = Warehouse(path).read("review/queue").to_pylist()
    return [_item(row) for row in rows]


def _item(row: dict[str, Any]) -> QueueItem:
    store = ImageStore(images_path())
    return QueueItem(
        item_id=row["item_id"],
        kind=row["kind"],
        content=json.loads(row["content"]),
        content_hash=row["content_hash"],
        image_ids=row["image_ids"],
        image_paths=[str(store.path(image_id)) for image_id in row["image_ids"]],
    )


def _export(arguments: argparse.Namespace) -> int:
    items = [item for item in read_queue() if arguments.kind in (None, item["kind"])]
    n_items = export_items(
        items, ReviewStore(review_path()), arguments.round, arguments.out, arguments.policy
    )
    print(f"{n_items} of {len(items)} items await round {arguments.round}: {arguments.out}")
    return 0


def _import(arguments: argparse.Namespace) -> int:
    store = ReviewStore(review_path())
    result = import_decisions(
        read_queue(), store, arguments.file, arguments.reviewer, arguments.round
    )
    for problem in result.problems:
        print(problem, file=sys.stderr)
    print(
        f"{result.added} decisions added, {result.known} known already, "
        f"{result.untouched} lines left open, {len(result.problems)} lines at fault"
    )
    return 1 if result.problems else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m review", description="Review by JSONL file.")
    commands = parser.add_subparsers(required=True)

    export = commands.add_parser("export", help="write what awaits a decision to a file")
    export.add_argument("--out", type=Path, required=True, help="file to write; must not exist")
    export.add_argument("--kind", choices=list(EDITABLE), help="items of this kind only")
    export.add_argument("--round", type=int, choices=ROUNDS, default=1)
    export.add_argument(
        "--policy",
        choices=POLICIES,
        default="require",
        help="require: round 2 exports what round 1 decided; accept: also what it left alone",
    )
    export.set_defaults(command=_export)

    read = commands.add_parser("import", help="store the decisions of a file that came back")
    read.add_argument("file", type=Path)
    read.add_argument("--reviewer", required=True, help="the name the decisions stand under")
    read.add_argument("--round", type=int, choices=ROUNDS, required=True)
    read.set_defaults(command=_import)
    return parser


if __name__ == "__main__":
    sys.exit(main())
