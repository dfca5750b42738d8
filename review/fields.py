"""The texts of an item one by one, each under a name, and an item put together again from them.

Files and forms outside the app have a cell or a box for each text. What belongs here: which texts an
item has, and a content with some of them changed. What does not: whether the changed content may
stand (`Kind.check` in `methods/review/kinds.py`).
"""

import copy
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from methods.review import KINDS, QueueItem

Path = tuple[str | int, ...]

_NOT_TEXT = {"image_ids", "categories", "dimensions", "lowest", "highest"}
"""Keys that say what a text may be or what it is about, and are no text to read."""
_OF_A_TURN = ("question", "answer")
_WHOLE_NUMBER = re.compile(r"\s*-?\d{1,9}\s*")


@dataclass(frozen=True)
class Field:
    """One text: `name` is its place, such as `turns.2.answer`; None becomes the empty text."""

    name: str
    text: str
    editable: bool


def fields_of(kind: str, content: Mapping[str, Any]) -> list[Field]:
    """The texts of a content in reading order, with those that are still empty."""
    return [
        Field(_name(path), "" if value is None else str(value), path[0] in KINDS[kind].editable)
        for path, value in _leaves(kind, content)
    ]


def with_changes(
    kind: str, content: Mapping[str, Any], changes: Mapping[str, str]
) -> dict[str, Any]:
    """The content with these texts under their names; a score becomes a number, where it is one.

    Raises ValueError for a name that the content does not have or that may not be changed.
    """
    places = {_name(path): (path, value) for path, value in _leaves(kind, content)}
    changed = copy.deepcopy(dict(content))
    for name, text in changes.items():
        if name not in places:
            raise ValueError(f"the item has no part {name[:80]!r}.")
        path, value = places[name]
        if path[0] not in KINDS[kind].editable:
            raise ValueError(f"{name} may be read and not changed.")
        *parents, last = path
        part: Any = changed
        for step in parents:
            part = part[step]
        part[last] = _typed(path, text, value)
    return changed


def help_of(item: QueueItem) -> list[tuple[str, str]]:
    """(label, text) of what helps to decide and is not decided on; lists one entry a line."""
    return [
        (
            key.replace("_", " "),
            "\n".join(map(str, value)) if isinstance(value, list) else str(value),
        )
        for key, value in (item.get("context") or {}).items()
        if value
    ]


def _leaves(kind: str, content: Mapping[str, Any]) -> Iterator[tuple[Path, Any]]:
    keys = [key for key in KINDS[kind].keys if key in content and key not in _NOT_TEXT]
    leaves = [leaf for key in keys for leaf in _below((key,), content[key])]
    if kind == "translation":
        # A translation is read beside what it translates.
        order = list(content["source"])
        leaves.sort(key=lambda leaf: order.index(leaf[0][1]) if len(leaf[0]) > 1 else -1)
    yield from leaves


def _below(path: Path, value: Any) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, dict):
        wanted = _OF_A_TURN if path[0] == "turns" else value
        for key in wanted:
            yield from _below((*path, key), value[key])
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _below((*path, index), each)
    else:
        yield path, value


def _name(path: Path) -> str:
    """People count from 1."""
    return ".".join(str(step + 1) if isinstance(step, int) else step for step in path)


def _typed(path: Path, text: str, before: Any) -> str | int | None:
    if path[0] == "scores" and _WHOLE_NUMBER.fullmatch(text):
        return int(text)
    # What had no text and was given none still has none.
    return None if before is None and not text else text
