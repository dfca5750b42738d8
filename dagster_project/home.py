"""Commands on a home: back it up, restore it, mend its ledger, import a release, clean it.

What belongs here: arguments, and what is printed. What each does is `resources/home_backup.py`,
`resources/llm/ledger/check.py`, `resources/llm/ledger/salvage.py`,
`resources/reports/release_import.py` and `resources/home_cleaning.py`.
"""

import argparse
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from methods.errors import UserError
from resources import home
from resources.command_line import CommandParser
from resources.home_backup import back_up, restore
from resources.home_cleaning import clean, require_unused
from resources.images.store import ImageStore
from resources.llm.ledger.check import Findings, check_all
from resources.llm.ledger.salvage import salvage
from resources.reports.release_import import import_release
from resources.stores import bring_home_up_to_date
from resources.warehouse import Warehouse


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; 0 when it was done, 2 when it could not be."""
    arguments = _parser().parse_args(argv)
    try:
        arguments.command(arguments)
    except (OSError, UserError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = CommandParser(prog="python -m dagster_project.home", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="command")

    backup = commands.add_parser("backup", help="copy the home while it is in use")
    backup.add_argument("--to", type=Path, help="a new folder; by default backups/<time> beside it")
    backup.set_defaults(command=_backup)

    again = commands.add_parser("restore", help="make a backup the home")
    again.add_argument("--from", dest="source")
    again.add_argument("--overwrite", nargs="?", const="yes", help="put an earlier home aside")
    again.set_defaults(command=_restore)

    release = commands.add_parser("import-release", help="read a release's folder into the tables")
    release.add_argument("--from", dest="source")
    release.set_defaults(command=_import_release)

    check = commands.add_parser("ledger-check", help="read every page and row of the ledger")
    check.set_defaults(command=_check_ledger)

    salvaging = commands.add_parser("ledger-salvage", help="a new ledger of what can be read")
    salvaging.set_defaults(command=_salvage_ledger)

    cleaning = commands.add_parser("clean", help="remove what can be made again")
    cleaning.add_argument("--all", nargs="?", const="yes", help="remove the whole home")
    cleaning.set_defaults(command=_clean)
    return parser


def _backup(arguments: argparse.Namespace) -> None:
    folder = home.home()
    default = folder.parent / "backups" / f"{datetime.now():%Y%m%d-%H%M%S}"
    target = (arguments.to or default).resolve()
    n_files = back_up(folder, target)
    print(f"Backed up {folder}: {n_files} files in {target}")


def _restore(arguments: argparse.Namespace) -> None:
    folder = home.home()
    source = _source(arguments)
    earlier = restore(source, folder, overwrite=says_yes("OVERWRITE", arguments.overwrite))
    print(f"Restored {folder} from {source}")
    if earlier:
        print(f"The earlier home is {earlier}: remove it when you do not need it.")


def _import_release(arguments: argparse.Namespace) -> None:
    source = _source(arguments)
    bring_home_up_to_date()
    warehouse, images = Warehouse(home.warehouse_path()), ImageStore(home.images_path())
    release_id = import_release(source, home.releases_path(), warehouse, images)
    in_force = {row["release_id"] for row in warehouse.read("release/current").to_pylist()}
    state = "in force" if release_id in in_force else "not in force: another of its name is"
    print(f"Release {release_id} is in {home.home()}, {state}.")


def _check_ledger(_arguments: argparse.Namespace) -> None:
    path, findings = home.ledger_path(), _findings()
    counted = f"{findings.n_calls} calls and {findings.n_charges} charges"
    if findings.wrong:
        for each in findings.wrong:
            print(each)
        raise UserError(
            f"{path} is damaged (SQLite can read {counted}): make ledger-salvage makes a new ledger of "
            "what can be read, make restore puts a backup back."
        )
    print(f"{path} is sound: {counted}.")


def _salvage_ledger(_arguments: argparse.Namespace) -> None:
    path, findings = home.ledger_path(), _findings()
    if not findings.wrong:
        print(f"{path} is sound: there is nothing to salvage.")
        return
    done = salvage(path)
    rows = ", ".join(f"{number} {name}" for name, number in done.rows.items())
    missing = " and ".join(f"{number} {name}" for name, number in done.missing.items())
    print(f"{path} is a new ledger of what could be read: {rows}.")
    print(
        f"Missing between those that were read: {missing}. What came after them cannot be counted."
    )
    print(f"The damaged file is {done.aside}: remove it when you do not need it.")


def _findings() -> Findings:
    require_unused(home.home())
    return check_all(home.ledger_path())


def _clean(arguments: argparse.Namespace) -> None:
    removed, kept = clean(home.home(), everything=says_yes("ALL", arguments.all))
    print(f"Removed from {home.home()}: {', '.join(removed) or 'nothing'}.")
    if kept:
        print(f"Kept, as it cannot be made again: {', '.join(kept)} (ALL=yes removes it, too).")


def _source(arguments: argparse.Namespace) -> Path:
    if not arguments.source:
        raise UserError("There is nothing to read from: say FROM=folder.")
    return Path(arguments.source).resolve()


def says_yes(setting: str, value: str | None) -> bool:
    """Whether a setting of make says yes, which it need not have. Raises UserError."""
    if value is None:
        return False
    if value.lower() not in ("yes", "true", "1"):
        raise UserError(f"{setting}={value} is not understood: say {setting}=yes, or leave it out.")
    return True


if __name__ == "__main__":
    sys.exit(main())
