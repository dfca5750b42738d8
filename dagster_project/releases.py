"""Commands on releases: list, show, compare, pin, unpin, import, clean or retire them.

What belongs here: arguments, and the sentences of what was done. What a release is shown by is
`release_texts.py`, a comparison `methods/release_diff_text.py`; pinning and importing are jobs, so that
the UI shows them (`release_jobs.py`).
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from assets.evaluate.release_diff import compared, meant, write_page
from assets.release.in_force import cards_of, release_meant
from assets.release.published import LEFT_OUT
from dagster_project.one_op import run_one_op
from dagster_project.release_texts import listed, shown
from methods.benchmarks import BENCHMARKS
from methods.errors import UserError
from methods.release_card import card_of, settings_of
from resources import home
from resources.command_line import CommandParser
from resources.images.store import ImageStore
from resources.llm.registry import active_profile, load_registry
from resources.stores import bring_home_up_to_date
from resources.warehouse import Warehouse


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
    parser = CommandParser(prog="python -m dagster_project.releases", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="command")

    every = commands.add_parser("list", help="every release, * before those in force")
    every.set_defaults(command=lambda _: _print(listed(_warehouse())))

    one = commands.add_parser("show", help="the card of a release, and the scores on it")
    one.add_argument("id")
    one.set_defaults(command=lambda arguments: _print(shown(_warehouse(), arguments.id)))

    two = commands.add_parser(
        "diff", help="what differs from one release to another, or from its parent to one"
    )
    two.add_argument("a", nargs="?", default="")
    two.add_argument("b", nargs="?", default="")
    two.set_defaults(command=_diff)

    pin = commands.add_parser("pin", help="put a release in force, whatever is frozen later")
    pin.add_argument("id")
    pin.set_defaults(command=_pin)

    unpin = commands.add_parser("unpin", help="let newer releases of a name come into force again")
    unpin.add_argument("name")
    unpin.set_defaults(command=_unpin)

    retired = commands.add_parser("retire", help="take the imported release of a name out of force")
    retired.add_argument("name")
    retired.set_defaults(command=_retire)

    cleaned = commands.add_parser(
        "clean", help="make of an imported release one without the items that people rejected"
    )
    cleaned.add_argument("id")
    cleaned.set_defaults(command=_clean)

    published = commands.add_parser("import", help="read a published file of a benchmark")
    published.add_argument("--benchmark", default="", help="such as mmdu")
    published.add_argument("--file", help="the file, of a form that the benchmark is published in")
    published.add_argument("--images", help="folder of the pictures it names; the file's own")
    published.add_argument(
        "--name", default="", help="of the release; made of the others if not given"
    )
    published.add_argument("--split", default="")
    published.add_argument("--language", default="")
    published.set_defaults(command=_import)
    return parser


def _pin(arguments: argparse.Namespace) -> int:
    warehouse = _warehouse()
    release_id = release_meant(warehouse, arguments.id)
    (card,) = cards_of(warehouse, [release_id])
    said = f"{release_id} is in force and pinned for {card['name']}."
    return _said(run_one_op("pin_release", "pin", {"release_id": release_id}), said)


def _diff(arguments: argparse.Namespace) -> int:
    warehouse = _warehouse()
    of = compared(warehouse, BENCHMARKS, *meant(warehouse, arguments.a, arguments.b))
    store = ImageStore(home.images_path())
    page = write_page(warehouse, store, load_registry().profile(active_profile()), BENCHMARKS, of)
    return _print(f"{of.markdown}\nThe same with texts and pictures: {home.home() / page}\n")


def _unpin(arguments: argparse.Namespace) -> int:
    said = (
        f"{arguments.name} is not pinned any more. Its release in force stays until release/releases "
        "is materialized."
    )
    return _said(run_one_op("unpin_release", "unpin", {"name": arguments.name}), said)


def _retire(arguments: argparse.Namespace) -> int:
    said = (
        f"No release of {arguments.name} is in force any more, and nothing is asked on one; answers "
        'and scores stay. CMD="pin ID" puts one in force again.'
    )
    return _said(run_one_op("retire_release", "retire", {"name": arguments.name}), said)


def _clean(arguments: argparse.Namespace) -> int:
    result = run_one_op("clean_release", "clean", {"release": arguments.id})
    if result is None:
        return 2
    (card,) = cards_of(_warehouse(), [result.output_for_node("clean")])
    said = f"Release {card['release_id']} has {card['n_items']} items; both releases are in force."
    return _said(result, said)


def _import(arguments: argparse.Namespace) -> int:
    if not arguments.file:
        raise UserError("There is nothing to import: say BENCHMARK=name FILE=path.")
    config = {
        **{name: getattr(arguments, name) for name in ("benchmark", "name", "split", "language")},
        # A run may be started anywhere.
        "file": str(Path(arguments.file).resolve()),
        "images": str(Path(arguments.images).resolve()) if arguments.images else "",
    }
    result = run_one_op("import_release", "import_published", config)
    if result is None:
        return 2
    warehouse = _warehouse()
    (card,) = cards_of(warehouse, [result.output_for_node("import_published")])
    state = "in force" if card["in_force"] else f"not in force: another of {card['name']} is pinned"
    return _said(
        result,
        f"Release {card['release_id']} is imported and {state}: {card['n_items']} items, "
        f"{card['n_turns']} turns, {card['n_images']} images{_unreferenced(warehouse, card)}."
        f"{_left_out(card)}",
    )


def _left_out(card: Mapping[str, Any]) -> str:
    """What the import left out, in a sentence."""
    said = settings_of(card_of(card)).get(f"release.releases.{LEFT_OUT}")
    return f" Left out: {said}." if said else ""


def _unreferenced(warehouse: Warehouse, card: Mapping[str, Any]) -> str:
    """How many turns of a release have nothing to be judged by, in words."""
    where = {"release_id": card["release_id"]}
    references = warehouse.read("release/references_of", where).to_pylist()
    judged = {(row["item_id"], row["turn"]) for row in references}
    turns = warehouse.read("release/turns_of", where).to_pylist()
    asked = {(row["item_id"], row["turn"]) for row in turns if row["given"] is None}
    missing = len(asked - judged)
    return f"; {missing} of {len(asked)} have no answer to be scored by" if missing else ""


def _said(result: object, text: str) -> int:
    """Print `text` if there is a result; what the command returns."""
    if result is None:
        return 2
    print(text)
    return 0


def _print(text: str) -> int:
    print(text, end="")
    return 0


def _warehouse() -> Warehouse:
    return Warehouse(home.warehouse_path())


if __name__ == "__main__":
    sys.exit(main())
