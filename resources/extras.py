"""The extras: packages in `extras/` that add to the core, which goes on without them.

What belongs here: what an extra may add, and finding those that there are. Its folders `sql/` and
`templates/` have the form of the core's; modules are named, and imported when they are wanted.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path

from resources.home import REPO_ROOT

ROOT = REPO_ROOT / "extras"


@dataclass(frozen=True)
class Extra:
    """What one package adds: names of modules, none where it adds nothing of the kind.

    - `commands`: `COMMANDS`, groups of `vlm-loom` -> their further commands
    - `review_formats`: formats of review in files -> their modules, with `write_items(items, kind,
      round, out, images)`, which gives a sentence, and `read_records(path)`
    """

    commands: str | None = None
    review_formats: Mapping[str, str] = field(default_factory=dict)


@cache
def extras() -> tuple[Extra, ...]:
    """Every extra, by the names of their folders: the `EXTRA` of each."""
    names = sorted(path.parent.name for path in ROOT.glob("*/__init__.py"))
    return tuple(import_module(f"{ROOT.name}.{name}").EXTRA for name in names)


def folders(name: str) -> list[Path]:
    """The folders of this name that extras have."""
    return sorted(ROOT.glob(f"*/{name}"))
