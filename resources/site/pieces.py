"""The data of the sample browser, split into files ("pieces") that the page loads on demand.

A piece is a script, since a page that is opened from a folder may load scripts and nothing else; it
calls `loom.put` with its name and its value.
"""

import json
from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from methods.search_words import words_of

PIECE_CHARACTERS = 128_000
"""Characters of a piece with items, about 10 ms to load and read."""
WORDS_CHARACTERS = 64_000
"""Characters of a piece with words and the items that have them."""


def compact_json(value: Any) -> str:
    """JSON without spaces. Raises ValueError for infinite numbers and NaN."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def write_piece(folder: Path, name: str, value: Any) -> int:
    """Write a value as a script `<name>.js`.

    Args:
        folder: The folder of the scripts.
        name: The name.
        value: The value, as JSON.

    Returns:
        The number of bytes.
    """
    return _write(folder, name, compact_json(value))


class ItemPieces:
    """Values of items that come one after the other, in files `<name>/<k>.js` of some
    `PIECE_CHARACTERS`.
    """

    def __init__(self, folder: Path, name: str = "items") -> None:
        self.firsts: list[int] = []
        """The number of the first item of each file."""
        self.n_bytes = 0
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
        """Write what is not yet written."""
        if self._waiting:
            name = f"{self._name}/{len(self.firsts) - 1}"
            self.n_bytes += _write(self._folder, name, f"[{','.join(self._waiting)}]")
        self._waiting, self._size = [], 0


class WordIndexPieces:
    """The index of words: which items contain a word, in files `<name>/<k>.js` of about
    `WORDS_CHARACTERS`, sorted by word.
    """

    def __init__(self, name: str = "words") -> None:
        self._name = name
        self._items: dict[str, array[int]] = {}

    def add(self, number: int, texts: Iterable[str | None]) -> None:
        """Add the texts of an item. Numbers must be in order.

        Args:
            number: The number of the item.
            texts: Its texts.
        """
        for word in words_of("\n".join(text for text in texts if text)):
            numbers = self._items.get(word)
            if numbers is None:
                numbers = self._items[word] = array("I")
            numbers.append(number)

    def write(self, folder: Path) -> tuple[list[str], int]:
        """Write all pieces. Returns the first word of each file, and the bytes of all."""
        firsts, n_bytes = [], 0
        for place, words in enumerate(self._files()):
            firsts.append(words[0][0] if place else "")
            value = ",".join(f"{compact_json(word)}:[{numbers}]" for word, numbers in words)
            n_bytes += _write(folder, f"{self._name}/{place}", f"{{{value}}}")
        return firsts, n_bytes

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
    """The first number, then the difference of each to the one before."""
    before = 0
    parts = []
    for number in numbers:
        parts.append(str(number - before))
        before = number
    return ",".join(parts)


def script_of(name: str, text: str) -> bytes:
    """The script that puts a value, given as JSON, under a name.

    The JSON is in a string: a browser reads that faster than a literal, and a key `__proto__` stays an
    ordinary key.
    """
    quoted = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"loom.put({json.dumps(name)},JSON.parse('{quoted}'));\n".encode()


def _write(folder: Path, name: str, text: str) -> int:
    path = folder / f"{name}.js"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.write_bytes(script_of(name, text))
