"""The WIT row form: what is a row of WIT, and why something else is none.

What belongs here: the 17 columns, how a record is split and typed, which one is refused and why, and
which of a row's three captions stands for it. What does not: how a shard's bytes become lines
(`resources/corpus/lines.py`), the quick way for the lines that are plain
(`sql/ingest/staging/wit_lines.sql`, which takes no line that is refused here), and anything about the
image behind the URL (`methods/ingest/image_check.py`).

Source: Srinivasan et al., "WIT: Wikipedia-based Image Text Dataset", SIGIR 2021.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

COLUMNS = (
    "language",
    "page_url",
    "image_url",
    "page_title",
    "section_title",
    "hierarchical_section_title",
    "caption_reference_description",
    "caption_attribution_description",
    "caption_alt_text_description",
    "mime_type",
    "original_height",
    "original_width",
    "is_main_image",
    "attribution_passes_lang_id",
    "page_changed_recently",
    "context_page_description",
    "context_section_description",
)
"""The columns of a WIT shard, in the order of its header line."""

MAX_LINE_BYTES = 1_000_000
"""A longer line is refused unread: no page's texts come near it, a lost line break does."""

MAX_LINES = 100
"""A record of more lines is refused: a quote that nobody closed would swallow the shard."""

BLANK = " \t\n\r\v\f"
"""A field of nothing but these is empty."""

EXCERPT_LENGTH = 200

_REQUIRED = ("language", "page_url", "image_url", "page_title")
_URLS = ("page_url", "image_url")
_INTEGERS = ("original_height", "original_width")
_BOOLEANS = ("is_main_image", "attribution_passes_lang_id", "page_changed_recently")
_BOOLEAN_OF = {"true": True, "false": False}

# Nine digits always fit a database INTEGER; int() alone would also take "1_000" and " 7 ".
_INTEGER = re.compile(r"[0-9]{1,9}")
_URL_FORBIDDEN = re.compile(r"[\s\x00-\x1f\x7f]")

# One field and what ends it. Possessive, so that a line of a million quotes costs one pass.
_FIELD = re.compile(r'(?:"((?:[^"]++|"")*+)"|([^"\t]*+))(\t|\Z)')
_OPEN_FIELD = re.compile(r'"(?:[^"]++|"")*+\Z')

_BOM = b"\xef\xbb\xbf"
_LANGUAGE_TAG = "English:"


@dataclass(frozen=True, slots=True)
class WitRow:
    """One row of WIT. An empty (or blank) field is None; `line_number` is 1 for the header line."""

    line_number: int
    language: str
    page_url: str
    image_url: str
    page_title: str
    section_title: str | None
    hierarchical_section_title: str | None
    caption_reference_description: str | None
    caption_attribution_description: str | None
    caption_alt_text_description: str | None
    mime_type: str | None
    original_height: int | None
    original_width: int | None
    is_main_image: bool | None
    attribution_passes_lang_id: bool | None
    page_changed_recently: bool | None
    context_page_description: str | None
    context_section_description: str | None


@dataclass(frozen=True, slots=True)
class Rejection:
    """A line that is no row.

    `reason` is one of not_utf8, wrong_column_count, bad_integer, bad_boolean, missing_required,
    bad_url, quote_unbalanced, too_long; `detail` is one sentence for a person; `excerpt` is the
    line's first 200 characters with everything unprintable written as an escape.
    """

    line_number: int
    reason: str
    detail: str
    excerpt: str


def require_header(line: bytes) -> None:
    """Raise ValueError if a shard's first line is not WIT's header."""
    names = line.removeprefix(_BOM).rstrip(b"\r\n").decode("utf-8", "replace").split("\t")
    if tuple(names) != COLUMNS:
        raise ValueError(
            f"The first line is not WIT's header: it has {len(names)} columns beginning with "
            f"{names[0][:40]!r}, where the {len(COLUMNS)} columns beginning with "
            f"{COLUMNS[0]!r} are needed, in WIT's order and separated by tabs."
        )


def parse_records(lines: Iterable[tuple[int, bytes]]) -> Iterator[WitRow | Rejection]:
    """Read numbered lines, each with or without its line end (LF or CR LF).

    Quoting is that of Python's csv with QUOTE_MINIMAL. A line is a record, unless it ends inside
    quotes: then the lines up to the one that closes them belong to it, if together they are a row.
    If they are none, because the quote is a stray one, it costs its own line and no other. So every
    line is part of one row or is one rejection. Only lines whose numbers follow each other are put
    together, and none that is a row by itself.
    """
    ahead = _Ahead(lines)
    for number, line in ahead:
        try:
            yield _typed(number, _fields(line))
        except _Refused as refused:
            row = _continued(number, line, ahead) if refused.inside_quotes else None
            shown = excerpt(_without_end(line))
            yield row or Rejection(number, refused.reason, refused.detail, shown)


def typed_row(number: int, values: Mapping[str, object]) -> WitRow | Rejection:
    """A row of values that were typed elsewhere, held to the same rules; a missing one is empty."""
    texts = ["" if values.get(name) is None else str(values[name]) for name in COLUMNS]
    line = "\t".join(texts).encode("utf-8", "surrogatepass")
    try:
        _decoded(line)
        return _typed(number, texts)
    except _Refused as refused:
        return Rejection(number, refused.reason, refused.detail, excerpt(line))


def caption(row: WitRow) -> str | None:
    """The caption that stands for the image: reference, else alt text, else attribution, else None.

    The reference is written under the image on this page, the alt text for who cannot see it, the
    attribution for the file wherever it is used; the last may open with a language tag, which is
    no part of what it says.
    """
    attribution = (row.caption_attribution_description or "").strip()
    candidates = (
        row.caption_reference_description or "",
        row.caption_alt_text_description or "",
        attribution.removeprefix(_LANGUAGE_TAG),
    )
    return next((text.strip() for text in candidates if text.strip()), None)


class _Refused(Exception):
    """Why a record is no row; `inside_quotes` if it ends before its last field's quotes do."""

    def __init__(self, reason: str, detail: str, inside_quotes: bool = False) -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail
        self.inside_quotes = inside_quotes


class _Ahead:
    """Numbered lines in order; what was only looked at comes again."""

    def __init__(self, lines: Iterable[tuple[int, bytes]]) -> None:
        self._rest = iter(lines)
        self._seen: deque[tuple[int, bytes]] = deque()

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        while (line := self.look(0)) is not None:
            self._seen.popleft()
            yield line

    def look(self, place: int) -> tuple[int, bytes] | None:
        """The line that comes in so many lines' time, None beyond the last."""
        while len(self._seen) <= place:
            line = next(self._rest, None)
            if line is None:
                return None
            self._seen.append(line)
        return self._seen[place]

    def skip(self, n_lines: int) -> None:
        """Leave out the next lines, which were looked at."""
        for _ in range(n_lines):
            self._seen.popleft()


def _continued(number: int, line: bytes, ahead: _Ahead) -> WitRow | None:
    """The row that the line and some after it make, or None, and then none of those is used up."""
    before = [_without_end(line)]
    size = len(line)
    for place in range(MAX_LINES - 1):
        following = ahead.look(place)
        if following is None or following[0] != number + place + 1:
            return None
        size += len(following[1])
        if size > MAX_LINE_BYTES or _row_or_none(*following):
            return None
        # Inside a field quotes come in pairs, so the first odd number of them ends it.
        if following[1].count(b'"') % 2:
            row = _row_or_none(number, b"\n".join([*before, following[1]]))
            if row:
                ahead.skip(place + 1)
            return row
        before.append(_without_end(following[1]))
    return None


def _row_or_none(number: int, record: bytes) -> WitRow | None:
    try:
        return _typed(number, _fields(record))
    except _Refused:
        return None


def _without_end(line: bytes) -> bytes:
    return line.removesuffix(b"\n").removesuffix(b"\r")


def _fields(record: bytes) -> list[str]:
    """The 17 raw fields of a record, unquoted."""
    record = _without_end(record)
    if len(record) > MAX_LINE_BYTES:
        raise _Refused("too_long", f"The line is longer than {MAX_LINE_BYTES} bytes.")
    fields = _split(_decoded(record))
    if len(fields) != len(COLUMNS):
        detail = f"The line has {len(fields)} columns, not {len(COLUMNS)}."
        raise _Refused("wrong_column_count", detail)
    return fields


def _decoded(record: bytes) -> str:
    try:
        return record.decode("utf-8")
    except UnicodeDecodeError as error:
        detail = f"The line is not UTF-8 text: byte {error.start + 1} cannot be read."
        raise _Refused("not_utf8", detail) from None


def _split(text: str) -> list[str]:
    """Split at tabs outside quotes; csv.reader would read a stray quote on into the next line."""
    if '"' not in text:
        return text.split("\t")
    fields: list[str] = []
    position = 0
    while True:
        match = _FIELD.match(text, position)
        if match is None:
            name = COLUMNS[len(fields)] if len(fields) < len(COLUMNS) else "a further column"
            detail = f"A double quote in {name} is not closed, or not doubled inside its quotes."
            inside_quotes = _OPEN_FIELD.match(text, position) is not None
            raise _Refused("quote_unbalanced", detail, inside_quotes)
        quoted, plain, end = match.groups()
        fields.append(plain if quoted is None else quoted.replace('""', '"'))
        if not end:
            return fields
        position = match.end()


def _typed(number: int, fields: list[str]) -> WitRow:
    raw = dict(zip(COLUMNS, fields, strict=True))
    values: dict[str, str | int | bool | None] = {
        name: text if text.strip(BLANK) else None for name, text in raw.items()
    }
    for name in _REQUIRED:
        if values[name] is None:
            raise _Refused("missing_required", f"The column {name} is empty.")
    for name in _URLS:
        if not _is_web_address(raw[name]):
            raise _Refused("bad_url", f"The {name} is not an http or https address.")
    for name in _INTEGERS:
        if values[name] is not None:
            if not _INTEGER.fullmatch(raw[name]):
                detail = f"The {name} {raw[name][:40]!r} is not a whole number of pixels."
                raise _Refused("bad_integer", detail)
            values[name] = int(raw[name])
    for name in _BOOLEANS:
        if values[name] is not None:
            if raw[name].lower() not in _BOOLEAN_OF:
                detail = f"The {name} {raw[name][:40]!r} is neither true nor false."
                raise _Refused("bad_boolean", detail)
            values[name] = _BOOLEAN_OF[raw[name].lower()]
    return WitRow(line_number=number, **values)  # type: ignore[arg-type]


def _is_web_address(text: str) -> bool:
    if _URL_FORBIDDEN.search(text):
        return False
    try:
        parts = urlsplit(text)
        parts.port  # noqa: B018 - reading it is what checks it
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def excerpt(line: bytes) -> str:
    """The first 200 characters, everything unprintable written as an escape."""
    # Four bytes a character at most, so this much always holds the first 200 characters.
    text = line[: 4 * EXCERPT_LENGTH].decode("utf-8", "backslashreplace")[:EXCERPT_LENGTH]
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return shown[:EXCERPT_LENGTH]
