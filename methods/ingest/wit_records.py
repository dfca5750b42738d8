"""Splitting the lines of a WIT shard into records and fields, by the quoting rules of csv."""

import re
from collections import deque
from collections.abc import Iterable, Iterator

from methods.ingest.wit import (
    COLUMNS,
    MAX_LINE_BYTES,
    Rejection,
    RowError,
    WitRow,
    decode_line,
    excerpt,
    row_of_fields,
)

MAX_LINES = 100
"""A record of more lines is rejected: an unclosed quote would take in the rest of the shard."""
OPEN_QUOTE = "quote_unbalanced"
"""The reason of a line that ends inside quotes."""

# One field and its end. Possessive, so that a line of a million quotes costs one pass.
_FIELD = re.compile(r'(?:"((?:[^"]++|"")*+)"([^\t]*+)|((?!")[^\t]*+))(\t|\Z)')


def parse_records(lines: Iterable[tuple[int, bytes]]) -> Iterator[WitRow | Rejection]:
    """Read numbered lines, each with or without its line end (LF or CR LF).

    Quoting is that of Python's csv: quotes mean something at the beginning of a field alone, and what
    follows the quotes that close a field belongs to its text. A line is a record, unless it ends
    inside quotes: then the following lines, up to the one that closes the quotes, belong to the record
    if together they are a row and each field ends with its quotes. If they are not, the quote is stray,
    and only its own line is rejected. So every line is part of one row or is one rejection. Only lines
    with consecutive numbers are joined, and no line that is a row by itself.
    """
    ahead = _Lookahead(lines)
    for number, line in ahead:
        try:
            yield row_of_fields(number, split_fields(line))
        except RowError as error:
            row = _continued(number, line, ahead) if error.reason == OPEN_QUOTE else None
            shown = excerpt(_without_end(line))
            yield row or Rejection(number, error.reason, error.detail, shown)


class _Lookahead:
    """Numbered lines in order, with lookahead: a line that was only looked at is returned again."""

    def __init__(self, lines: Iterable[tuple[int, bytes]]) -> None:
        self._rest = iter(lines)
        self._seen: deque[tuple[int, bytes]] = deque()

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        while (line := self.peek(0)) is not None:
            self._seen.popleft()
            yield line

    def peek(self, offset: int) -> tuple[int, bytes] | None:
        """The line `offset` lines ahead; None beyond the last."""
        while len(self._seen) <= offset:
            line = next(self._rest, None)
            if line is None:
                return None
            self._seen.append(line)
        return self._seen[offset]

    def skip(self, n_lines: int) -> None:
        """Drop the next lines, which were looked at."""
        for _ in range(n_lines):
            self._seen.popleft()


def _continued(number: int, line: bytes, ahead: _Lookahead) -> WitRow | None:
    """The row of this line and some following ones; if there is none, no line is consumed."""
    joined = [_without_end(line)]
    size = len(line)
    for offset in range(MAX_LINES - 1):
        following = ahead.peek(offset)
        if following is None or following[0] != number + offset + 1:
            return None
        size += len(following[1])
        if size > MAX_LINE_BYTES or _row_or_none(*following):
            return None
        # Inside a field quotes come in pairs, so the first odd number of them ends it.
        if following[1].count(b'"') % 2:
            row = _row_or_none(number, b"\n".join([*joined, following[1]]), strict=True)
            if row:
                ahead.skip(offset + 1)
            return row
        joined.append(_without_end(following[1]))
    return None


def _row_or_none(number: int, record: bytes, strict: bool = False) -> WitRow | None:
    try:
        return row_of_fields(number, split_fields(record, strict))
    except RowError:
        return None


def _without_end(line: bytes) -> bytes:
    return line.removesuffix(b"\n").removesuffix(b"\r")


def split_fields(record: bytes, strict: bool = False) -> list[str]:
    """The 17 raw fields of a record, unquoted; `strict`: nothing may follow closing quotes.

    Raises RowError.
    """
    record = _without_end(record)
    if len(record) > MAX_LINE_BYTES:
        raise RowError("too_long", f"The line is longer than {MAX_LINE_BYTES} bytes.")
    fields = _split(decode_line(record), strict)
    if len(fields) != len(COLUMNS):
        detail = f"The line has {len(fields)} columns, not {len(COLUMNS)}."
        raise RowError("wrong_column_count", detail)
    return fields


def _split(text: str, strict: bool) -> list[str]:
    """Split at tabs outside quotes; csv.reader would continue a stray quote in the next line."""
    if '"' not in text:
        return text.split("\t")
    fields: list[str] = []
    position = 0
    while True:
        match = _FIELD.match(text, position)
        if match is None or (strict and match[2]):
            name = COLUMNS[len(fields)] if len(fields) < len(COLUMNS) else "a further column"
            detail = f"A double quote that begins {name} is not closed."
            raise RowError(OPEN_QUOTE, detail)
        quoted, behind, plain, end = match.groups()
        fields.append(plain if quoted is None else quoted.replace('""', '"') + behind)
        if not end:
            return fields
        position = match.end()
