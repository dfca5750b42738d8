"""The WIT row form: one line of a WIT shard becomes a typed row or a rejection with its reason.

What belongs here: the 17 columns, how a line is split and typed, which line is refused and why, and
which of a row's three captions stands for it. What does not: where shards lie and how they are
opened (`resources/wit_source.py`), and anything about the image behind the URL
(`methods/image_check.py`).

Source: Srinivasan et al., "WIT: Wikipedia-based Image Text Dataset", SIGIR 2021.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass
from urllib.parse import urlsplit

from methods.ids import content_id

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

    @property
    def row_id(self) -> str:
        """Id of the 17 values: the same row has it in whatever shard and line it stands."""
        return content_id(*astuple(self)[1:])


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


def parse_lines(lines: Iterable[bytes]) -> Iterator[WitRow | Rejection]:
    """Read a shard's lines, the header first: one row or one rejection for each line after it.

    `lines` are raw lines, with or without their line end (LF or CR LF); one line is one row, and
    quoting is that of Python's csv with QUOTE_MINIMAL inside the line. A quote that is not closed
    in its own line, or stands where such a writer would have quoted the field, costs that line and
    no other.
    Raises ValueError, when the first item is asked for, if the header is not WIT's.
    """
    numbered = enumerate(lines, start=1)
    _, header = next(numbered, (1, b""))
    _require_header(header)
    for number, line in numbered:
        yield _parse_line(number, line)


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
    """Why a line is no row: (reason, detail)."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail


def _require_header(line: bytes) -> None:
    names = line.removeprefix(_BOM).rstrip(b"\r\n").decode("utf-8", "replace").split("\t")
    if tuple(names) != COLUMNS:
        raise ValueError(
            f"The first line is not WIT's header: it has {len(names)} columns beginning with "
            f"{names[0][:40]!r}, where the {len(COLUMNS)} columns beginning with "
            f"{COLUMNS[0]!r} are needed, in WIT's order and separated by tabs."
        )


def _parse_line(number: int, line: bytes) -> WitRow | Rejection:
    try:
        return _typed(number, _fields(line))
    except _Refused as refused:
        return Rejection(number, refused.reason, refused.detail, _excerpt(line))


def _fields(line: bytes) -> list[str]:
    """The 17 raw fields of a line, unquoted."""
    line = line.removesuffix(b"\n").removesuffix(b"\r")
    if len(line) > MAX_LINE_BYTES:
        raise _Refused("too_long", f"The line is longer than {MAX_LINE_BYTES} bytes.")
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        detail = f"The line is not UTF-8 text: byte {error.start + 1} cannot be read."
        raise _Refused("not_utf8", detail) from None
    fields = _split(text)
    if len(fields) != len(COLUMNS):
        detail = f"The line has {len(fields)} columns, not {len(COLUMNS)}."
        raise _Refused("wrong_column_count", detail)
    return fields


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
            raise _Refused("quote_unbalanced", detail)
        quoted, plain, end = match.groups()
        fields.append(plain if quoted is None else quoted.replace('""', '"'))
        if not end:
            return fields
        position = match.end()


def _typed(number: int, fields: list[str]) -> WitRow:
    raw = dict(zip(COLUMNS, fields, strict=True))
    values: dict[str, str | int | bool | None] = {
        name: text if text.strip() else None for name, text in raw.items()
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


def _excerpt(line: bytes) -> str:
    # Four bytes a character at most, so this much always holds the first 200 characters.
    text = line[: 4 * EXCERPT_LENGTH].decode("utf-8", "backslashreplace")[:EXCERPT_LENGTH]
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return shown[:EXCERPT_LENGTH]
