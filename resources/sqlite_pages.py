"""The rows that stand on the pages of a SQLite file, read without SQLite: it refuses a damaged file.

Every page of a table says by itself which rows it holds, so a damaged page costs its own rows and those
whose texts run over it, whatever else is damaged: the header, an index, the pages above. What belongs
here: SQLite's file format (sqlite.org/fileformat2.html), as far as rows need it, and the log beside the
file. Which rows are a store's is its owner's to say.
"""

import mmap
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

MAGIC = b"SQLite format 3\0"
USUAL_PAGE_SIZE = 4096
"""Of a file whose header is lost and that has no log: what SQLite takes since 2016."""
_PAGE_SIZES = frozenset(2**power for power in range(9, 17))
_TABLE_LEAF, _INDEX_LEAF, _INDEX_INTERIOR = 0x0D, 0x0A, 0x02
_NUMBERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
"""Bytes of an integer, by its type in a record."""
_LOG_HEADER, _FRAME_HEADER = 32, 24

Value = None | int | float | str | bytes


class Row(NamedTuple):
    """A row as it stands on a page: `rowid` is None on the pages of an index or a table without one."""

    page: int
    rowid: int | None
    values: tuple[Value, ...]


class DamagedRow(Exception):
    """A row that cannot be read whole."""


class Pages:
    """The pages of a file as its last commit left them, with what stands in its log (`-wal`)."""

    def __init__(self, path: Path):
        self._content = _mapped(path)
        header = bytes(self._content[:100])
        log = path.with_name(f"{path.name}-wal")
        logged = log.read_bytes() if log.exists() else b""
        self.size = _page_size(header, logged)
        self._logged = dict(_logged_pages(logged, self.size))
        self.header = self.page(1)[:100]
        self.count = max([-(-len(self._content) // self.size), *self._logged])

    def page(self, number: int) -> bytes:
        """A page by its number from 1; filled up with zeros where the file was cut off."""
        if number in self._logged:
            return self._logged[number]
        start = (number - 1) * self.size
        return bytes(self._content[start : start + self.size]).ljust(self.size, b"\0")

    @property
    def has_header(self) -> bool:
        """Whether the header can be read; without it the version is unknown."""
        return self.header.startswith(MAGIC)

    @property
    def version(self) -> int:
        """The `user_version` of the header."""
        return int.from_bytes(self.header[60:64])

    def rows(self) -> Iterator[Row | None]:
        """Every row of every page in use; None for one that cannot be read whole."""
        unused = self._unused()
        for number in range(1, self.count + 1):
            if number not in unused:
                yield from self._rows_of(number)

    def _rows_of(self, number: int) -> Iterator[Row | None]:
        page = self.page(number)
        start = 100 if number == 1 else 0
        kind = page[start]
        if kind not in (_TABLE_LEAF, _INDEX_LEAF, _INDEX_INTERIOR):
            return
        n_cells = int.from_bytes(page[start + 3 : start + 5])
        places = start + (12 if kind == _INDEX_INTERIOR else 8)
        if places + 2 * n_cells > self.size:
            yield None
            return
        for (place,) in struct.iter_unpack(">H", page[places : places + 2 * n_cells]):
            try:
                if place < places + 2 * n_cells:
                    raise DamagedRow
                yield self._row(number, page, place, kind)
            except (DamagedRow, IndexError, ValueError, struct.error):
                yield None

    def _row(self, number: int, page: bytes, at: int, kind: int) -> Row:
        rowid = None
        if kind == _INDEX_INTERIOR:
            at += 4
        length, at = _varint(page, at)
        if kind == _TABLE_LEAF:
            rowid, at = _varint(page, at)
            rowid -= (rowid >> 63) << 64
        return Row(number, rowid, _values(self._payload(page, at, length, kind)))

    def _payload(self, page: bytes, at: int, length: int, kind: int) -> bytes:
        """A row's bytes: those on its page, then those on the pages it runs over to."""
        if length > self.count * self.size:
            raise DamagedRow
        most = self.size - 35 if kind == _TABLE_LEAF else (self.size - 12) * 64 // 255 - 23
        here = length
        if length > most:
            least = (self.size - 12) * 32 // 255 - 23
            here = least + (length - least) % (self.size - 4)
            here = here if here <= most else least
        end = at + here + (4 if here < length else 0)
        if end > self.size:
            raise DamagedRow
        parts, missing = [page[at : at + here]], length - here
        following = int.from_bytes(page[at + here : end])
        while missing:
            if not 1 < following <= self.count:
                raise DamagedRow
            over = self.page(following)
            parts.append(over[4 : 4 + min(missing, self.size - 4)])
            missing -= len(parts[-1])
            following = int.from_bytes(over[:4])
            if not missing and following:
                raise DamagedRow
        return b"".join(parts)

    def _unused(self) -> set[int]:
        """Pages that hold what was deleted, as far as their list can be read."""
        unused: set[int] = set()
        trunk = int.from_bytes(self.header[32:36]) if self.has_header else 0
        while 1 < trunk <= self.count and trunk not in unused:
            unused.add(trunk)
            page = self.page(trunk)
            trunk, n_leaves = struct.unpack(">II", page[:8])
            if n_leaves > self.size // 4 - 2:
                break
            leaves = struct.unpack(f">{n_leaves}I", page[8 : 8 + 4 * n_leaves])
            unused.update(leaf for leaf in leaves if 1 < leaf <= self.count)
        return unused


def _mapped(path: Path) -> memoryview:
    if not path.stat().st_size:
        return memoryview(b"")
    with path.open("rb") as file:
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def _page_size(header: bytes, logged: bytes) -> int:
    size = int.from_bytes(header[16:18]) if header.startswith(MAGIC) else 0
    sizes = [65536 if size == 1 else size, int.from_bytes(logged[8:12]), USUAL_PAGE_SIZE]
    return next(size for size in sizes if size in _PAGE_SIZES)


def _logged_pages(logged: bytes, size: int) -> Iterator[tuple[int, bytes]]:
    """The pages of a log's whole commits, in their order: later ones stand for earlier ones."""
    if len(logged) < _LOG_HEADER:
        return
    magic, _, page_size, _, *salt = struct.unpack(">IIIIII", logged[:24])
    if magic & ~1 != 0x377F0682 or page_size != size:
        return
    order = ">" if magic & 1 else "<"
    sums = _checksum(order, logged[:24], (0, 0))
    if sums != struct.unpack(">II", logged[24:32]):
        return
    commit: list[tuple[int, bytes]] = []
    step = _FRAME_HEADER + size
    for start in range(_LOG_HEADER, len(logged) - step + 1, step):
        number, ends, *frame_salt = struct.unpack(">IIII", logged[start : start + 16])
        content = logged[start + _FRAME_HEADER : start + step]
        sums = _checksum(order, logged[start : start + 8] + content, sums)
        stated = struct.unpack(">II", logged[start + 16 : start + 24])
        if frame_salt != salt or sums != stated:
            return
        commit.append((number, content))
        if ends:
            yield from commit
            commit = []


def _checksum(order: str, content: bytes, sums: tuple[int, int]) -> tuple[int, int]:
    first, second = sums
    for one, two in struct.iter_unpack(f"{order}II", content):
        first = (first + one + second) & 0xFFFFFFFF
        second = (second + two + first) & 0xFFFFFFFF
    return first, second


def _varint(content: bytes, at: int) -> tuple[int, int]:
    """A number of 1 to 9 bytes, and where what follows begins."""
    value = 0
    for place in range(at, at + 8):
        value = value << 7 | content[place] & 0x7F
        if content[place] < 0x80:
            return value, place + 1
    return value << 8 | content[at + 8], at + 9


def _values(payload: bytes) -> tuple[Value, ...]:
    """The values of a record, which fill it to its last byte."""
    head, at = _varint(payload, 0)
    types = []
    while at < head:
        kind, at = _varint(payload, at)
        types.append(kind)
    if at != head:
        raise DamagedRow
    values: list[Value] = []
    for kind in types:
        size = _NUMBERS.get(kind, 8 if kind == 7 else max(0, kind - 12) // 2)
        content, at = payload[at : at + size], at + size
        if len(content) != size or kind in (10, 11):
            raise DamagedRow
        values.append(_value(kind, content))
    if at != len(payload):
        raise DamagedRow
    return tuple(values)


def _value(kind: int, content: bytes) -> Value:
    if kind == 0:
        return None
    if kind in _NUMBERS:
        return int.from_bytes(content, signed=True)
    if kind == 7:
        number: float = struct.unpack(">d", content)[0]
        return number
    if kind in (8, 9):
        return kind - 8
    return content.decode() if kind % 2 else content
