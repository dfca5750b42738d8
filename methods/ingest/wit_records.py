"""TSV parser for WIT shards: splits lines into records and fields by the quoting rules of CSV."""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

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
"""The most lines of a record. Without it, an unclosed quote would take in the rest of the shard."""
OPEN_QUOTE = "quote_unbalanced"
"""The rejection reason of a line that ends inside quotes."""

# One field and its end. Possessive quantifiers, so that a line of a million quotes costs one pass.
_FIELD = re.compile(r'(?:"((?:[^"]++|"")*+)"([^\t]*+)|((?!")[^\t]*+))(\t|\Z)')


def parse_records(lines: Iterable[tuple[int, bytes]]) -> Iterator[WitRow | Rejection]:
    """Parse numbered lines, each with or without its line end (LF or CR LF).

    Quoting follows Python's csv: a quotation mark opens a quoted field only at the beginning of the
    field, and text after the closing mark belongs to the field. Each line is a record, unless it ends
    inside quotation marks. Then it is joined with the following lines up to the closing mark, if
    together they form a valid row without text after closing marks. Otherwise the quotation mark is
    stray, and only its line is rejected. So every line is part of one row or is one rejection. Only
    consecutive lines are joined, and never a line that is a row by itself.

    Args:
        lines: The numbers and bytes of lines.

    Yields:
        Rows and rejections.
    """
    ahead = _Lookahead(lines)
    for line in ahead:
        parsed = line.parsed
        if isinstance(parsed, Rejection) and parsed.reason == OPEN_QUOTE:
            yield _continued(line, ahead) or parsed
        else:
            yield parsed


class _Line(NamedTuple):
    """A numbered line, and the result of parsing it by itself."""

    number: int
    content: bytes
    parsed: WitRow | Rejection


class _Lookahead:
    """An iterator over lines with lookahead: peeked lines are not consumed.

    Each line is parsed only once, even if many stray quotes look ahead at it.
    """

    def __init__(self, lines: Iterable[tuple[int, bytes]]) -> None:
        self._rest = iter(lines)
        self._seen: deque[_Line] = deque()

    def __iter__(self) -> Iterator[_Line]:
        while (line := self.peek(0)) is not None:
            self._seen.popleft()
            yield line

    def peek(self, offset: int) -> _Line | None:
        """Return the line `offset` lines ahead; None after the last line."""
        while len(self._seen) <= offset:
            line = next(self._rest, None)
            if line is None:
                return None
            self._seen.append(_Line(*line, _parsed(*line)))
        return self._seen[offset]

    def skip(self, n_lines: int) -> None:
        """Consume the next `n_lines` lines, which were peeked before."""
        for _ in range(n_lines):
            self._seen.popleft()


def _continued(line: _Line, ahead: _Lookahead) -> WitRow | None:
    """Join a line with following lines to a row. Returns None, and consumes no line, if that fails."""
    joined = [_without_end(line.content)]
    size = len(line.content)
    for offset in range(MAX_LINES - 1):
        following = ahead.peek(offset)
        if following is None or following.number != line.number + offset + 1:
            return None
        size += len(following.content)
        if size > MAX_LINE_BYTES or isinstance(following.parsed, WitRow):
            return None
        # Inside a field quotes come in pairs, so the first line with an odd number ends the field.
        if following.content.count(b'"') % 2:
            record = b"\n".join([*joined, following.content])
            parsed = _parsed(line.number, record, strict=True)
            if isinstance(parsed, Rejection):
                return None
            ahead.skip(offset + 1)
            return parsed
        joined.append(_without_end(following.content))
    return None


def _parsed(number: int, record: bytes, strict: bool = False) -> WitRow | Rejection:
    try:
        return row_of_fields(number, split_fields(record, strict))
    except RowError as error:
        return Rejection(number, error.reason, error.detail, excerpt(_without_end(record)))


def _without_end(line: bytes) -> bytes:
    return line.removesuffix(b"\n").removesuffix(b"\r")


def split_fields(record: bytes, strict: bool = False) -> list[str]:
    """Split a record into its 17 raw fields, unquoted. Raises RowError.

    With `strict`, text after a closing quotation mark is an error.
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
    """Split at tabs outside quotes. (csv.reader would continue a stray quote in the next line.)"""
    if '"' not in text:
        return text.split("\t")
    fields: list[str] = []
    position = 0
    for name in COLUMNS:
        match = _FIELD.match(text, position)
        if match is None or (strict and match[2]):
            raise RowError(OPEN_QUOTE, f"A double quote that begins {name} is not closed.")
        quoted, behind, plain, end = match.groups()
        fields.append(plain if quoted is None else quoted.replace('""', '"') + behind)
        if not end:
            return fields
        position = match.end()
    raise RowError("wrong_column_count", f"The line has more than {len(COLUMNS)} columns.")
