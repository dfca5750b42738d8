"""An item's content as a flat list of named texts, and back.

Spreadsheets have a cell for each text, and Label Studio has a text box.
"""

import copy
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from methods.quality.outcome import line_of
from methods.review import KINDS, QueueItem

Path = tuple[str | int, ...]

_NOT_TEXT = {"image_ids", "categories", "dimensions", "lowest", "highest"}
"""Keys of a content whose values are not texts to read."""
_OF_A_TURN = ("question", "answer")
_WHOLE_NUMBER = re.compile(r"\s*-?\d{1,9}\s*")


@dataclass(frozen=True)
class ItemText:
    """One text of a content; `name` is its path, such as `turns.2.answer`."""

    name: str
    text: str
    editable: bool


def item_texts(kind: str, content: Mapping[str, Any]) -> list[ItemText]:
    """List the texts of an item's content in reading order.

    Args:
        kind: The kind of the item.
        content: The content.

    Returns:
        The texts with their names; a value of None becomes an empty text.
    """
    return [
        ItemText(_name(path), "" if value is None else str(value), path[0] in KINDS[kind].editable)
        for path, value in _leaves(kind, content)
    ]


def with_changed_texts(
    kind: str, content: Mapping[str, Any], changes: Mapping[str, str]
) -> dict[str, Any]:
    """Return a copy of a content with some texts changed.

    Args:
        kind: The kind of item.
        content: The content.
        changes: The new texts by name; the text of a score becomes a number.

    Raises:
        ValueError: The content has no text of this name, or the text may not be changed.
    """
    paths = {_name(path): (path, value) for path, value in _leaves(kind, content)}
    changed = copy.deepcopy(dict(content))
    for name, text in changes.items():
        if name not in paths:
            raise ValueError(f"the item has no text {name[:80]!r}.")
        path, value = paths[name]
        if path[0] not in KINDS[kind].editable:
            raise ValueError(f"{name} may not be changed.")
        *parents, last = path
        part: Any = changed
        for step in parents:
            part = part[step]
        part[last] = _typed(path, text, value)
    return changed


def context_texts(item: QueueItem) -> list[tuple[str, str]]:
    """Return (label, text) of each entry of the item's context. Lists and notes of checks become texts
    with one line per element."""
    return [
        (key.replace("_", " "), _lines(value))
        for key, value in (item.get("context") or {}).items()
        if value
    ]


def _lines(value: Any) -> str:
    if isinstance(value, dict):
        return "\n".join(line_of(note) for note in value.values())
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value)


def _leaves(kind: str, content: Mapping[str, Any]) -> Iterator[tuple[Path, Any]]:
    keys = [key for key in KINDS[kind].keys if key in content and key not in _NOT_TEXT]
    leaves = [leaf for key in keys for leaf in _below((key,), content[key])]
    if kind == "translation":
        # Each translated text follows its source text.
        order = list(content["source"])
        leaves.sort(key=lambda leaf: order.index(leaf[0][1]) if len(leaf[0]) > 1 else -1)
    yield from leaves


def _below(path: Path, value: Any) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, dict):
        wanted = _OF_A_TURN if path[0] == "turns" else value
        for key in wanted:
            yield from _below((*path, key), value[key])
    elif isinstance(value, list):
        for index, element in enumerate(value):
            yield from _below((*path, index), element)
    else:
        yield path, value


def _name(path: Path) -> str:
    """Format a path as a name, with indexes from 1."""
    return ".".join(str(step + 1) if isinstance(step, int) else step for step in path)


def _typed(path: Path, text: str, before: Any) -> str | int | None:
    if path[0] == "scores" and _WHOLE_NUMBER.fullmatch(text):
        return int(text)
    # A value of None was exported as an empty text.
    return None if before is None and not text else text
