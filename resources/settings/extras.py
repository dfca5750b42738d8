"""Plug-ins: packages in `extras/` that add assets, commands and formats to the core."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path

from resources.files.home import REPO_ROOT

ROOT = REPO_ROOT / "extras"


@dataclass(frozen=True)
class ExtraPackage:
    """The plug-in points of one extra; a field is None or empty if the extra does not use it.

    Attributes:
        definitions: A module with `ASSETS` and `CHECKS`.
        read_by: Table of a core asset -> tables of the extra that this asset depends on.
        report_section: A module with `SECTION` (`resources/reports/report_extras.py`).
        commands: A module with `COMMANDS`: groups of `vlm-loom` -> further commands.
        review_formats: Review file formats -> their modules, with `write_items(items, kind, round, out,
            images)`, which returns a sentence, and `read_records(path)`.
    """

    definitions: str | None = None
    read_by: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    report_section: str | None = None
    commands: str | None = None
    review_formats: Mapping[str, str] = field(default_factory=dict)


@cache
def extras() -> tuple[ExtraPackage, ...]:
    """Import all extras, sorted by the names of their folders, and return the `EXTRA` of each."""
    names = sorted(path.parent.name for path in ROOT.glob("*/__init__.py"))
    return tuple(import_module(f"{ROOT.name}.{name}").EXTRA for name in names)


def tables_before(table: str) -> list[str]:
    """Return the tables of extras that the asset of a core table depends on, to be made before it."""
    return [name for extra in extras() for name in extra.read_by.get(table, ())]


def folders(name: str) -> list[Path]:
    """Return the folders of this name in all extras."""
    return sorted(ROOT.glob(f"*/{name}"))
