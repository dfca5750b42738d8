"""The data of the sample browser, split into files ("pieces") that the page loads on demand.

A piece is a script that calls `loom.put` with its name and its value. Browsers let an HTML page that is
opened from a folder (`file://`) load scripts, but no other data.
"""

import json
from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from methods.search_words import words_of

PIECE_CHARACTERS = 128_000
"""Approximate size of a piece with items, in characters; it loads and parses in about 10 ms."""
WORDS_CHARACTERS = 64_000
"""Approximate size of a piece of the word index, in characters."""


def compact_json(value: Any) -> str:
    """Format a value as JSON without spaces. Raises ValueError for infinite numbers and NaN."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def write_piece(folder: Path, name: str, value: Any) -> None:
    """Write a value as a script `<name>.js`.

    Args:
        folder: The folder of the scripts.
        name: The name.
        value: The value, as JSON.
    """
    _write(folder, name, compact_json(value))


class ItemPieces:
    """Writes the values of consecutive items to files `<name>/<k>.js` of about `PIECE_CHARACTERS`."""

    def __init__(self, folder: Path, name: str = "items") -> None:
        self.firsts: list[int] = []
        """The index of the first item of each file."""
        self._folder, self._name = folder, name
        self._waiting: list[str] = []
        self._size = self._number = 0

    def add(self, item: Any) -> None:
        """Add an item, and write the piece if it is full."""
        text = compact_json(item)
        if self._waiting and self._size + len(text) > PIECE_CHARACTERS:
            self.close()
        if not self._waiting:
            self.firsts.append(self._number)
        self._waiting.append(text)
        self._size += len(text)
        self._number += 1

    def close(self) -> None:
        """Write the items that are not written yet."""
        if self._waiting:
            name = f"{self._name}/{len(self.firsts) - 1}"
            _write(self._folder, name, f"[{','.join(self._waiting)}]")
        self._waiting, self._size = [], 0


class WordIndexPieces:
    """The word index of the search: word -> indexes of the items that contain it.

    It is written to files `<name>/<k>.js` of about `WORDS_CHARACTERS`, sorted by word.
    """

    def __init__(self, name: str = "words") -> None:
        self._name = name
        self._items: dict[str, array[int]] = {}

    def add(self, number: int, texts: Iterable[str | None]) -> None:
        """Add the texts of an item. Items must be added in ascending order.

        Args:
            number: The index of the item.
            texts: Its texts.
        """
        for word in words_of("\n".join(text for text in texts if text)):
            numbers = self._items.get(word)
            if numbers is None:
                numbers = self._items[word] = array("I")
            numbers.append(number)

    def write(self, folder: Path) -> list[str]:
        """Write all pieces; return the first word of each file."""
        firsts = []
        for place, words in enumerate(self._files()):
            firsts.append(words[0][0] if place else "")
            value = ",".join(f"{compact_json(word)}:[{numbers}]" for word, numbers in words)
            _write(folder, f"{self._name}/{place}", f"{{{value}}}")
        return firsts

    def _files(self) -> Iterator[Sequence[tuple[str, str]]]:
        waiting: list[tuple[str, str]] = []
        size = 0
        # Sort by UTF-16 code units, as JavaScript compares texts.
        for word in sorted(self._items, key=lambda word: word.encode("utf-16-be")):
            numbers = _differences(self._items[word])
            if waiting and size + len(numbers) > WORDS_CHARACTERS:
                yield waiting
                waiting, size = [], 0
            waiting.append((word, numbers))
            size += len(word) + len(numbers)
        if waiting:
            yield waiting


def _differences(numbers: Sequence[int]) -> str:
    """Delta-encode numbers: the first number, then the difference of each to the previous one."""
    before = 0
    parts = []
    for number in numbers:
        parts.append(str(number - before))
        before = number
    return ",".join(parts)


def script_of(name: str, text: str) -> bytes:
    """Make the script that stores a JSON value under a name in the browser.

    The JSON is in a string: browsers parse it faster than a literal, and a key `__proto__` stays an
    ordinary key.
    """
    quoted = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"loom.put({json.dumps(name)},JSON.parse('{quoted}'));\n".encode()


def _write(folder: Path, name: str, text: str) -> None:
    path = folder / f"{name}.js"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(script_of(name, text))
