"""The rows of a WIT shard: the 17 columns, their types, and the reasons to reject a row.

Source: Srinivasan et al., "WIT: Wikipedia-based Image Text Dataset", SIGIR 2021.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from methods.web_address import cut_secrets, is_web_address, without_secrets

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
"""A longer line is rejected without parsing it. The texts of one Wikipedia page are shorter; a missing
line break can make such a line."""

MOST_TIMES = 20
"""Rows that repeat a text may have this many times the characters of their input. An image or a
Wikipedia page with up to this many rows is always within the limit."""

FREE_CHARACTERS = 5_000_000
"""A page or a file of which the rows have up to this many characters is always taken."""

BLANK = " \t\n\r\v\f"
"""A field of only these characters is empty."""

EDGES = BLANK + "\0\u00a0\u3000\ufeff"
"""Characters that are stripped from both ends of titles and languages: blanks, NUL, wide and
non-breaking spaces, the byte order mark."""

EXCERPT_LENGTH = 200

REQUIRED = ("language", "page_url", "image_url", "page_title")
URLS = ("page_url", "image_url")
TRIMMED = ("language", "page_title", "section_title", "hierarchical_section_title")
"""Columns from which `EDGES` are stripped at both ends."""
INTEGERS = ("original_height", "original_width")
BOOLEANS = ("is_main_image", "attribution_passes_lang_id", "page_changed_recently")
_BOOLEAN_OF = {"true": True, "false": False}

# Nine digits always fit a database INTEGER; int() alone would also take "1_000" and " 7 ".
_INTEGER = re.compile(r"[0-9]{1,9}")
_URL_FORBIDDEN = re.compile(r"[\s\x00-\x1f\x7f]")

_BLANK_LETTERS = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0" + "".join(
    map(chr, range(0xFE00, 0xFE10))
)
"""Invisible letters, marks and symbols: fillers, the empty Braille cell, variation selectors."""

_BOM = b"\xef\xbb\xbf"
_LANGUAGE_TAG = "English:"
SEEN = rf"[^\s\pZ\pC{_BLANK_LETTERS}]"
"""A visible character, as an RE2 regular expression for SQL. `_is_seen` is the same test in Python."""
CREDIT = (
    r"(?is)^\s*(?:©|\(c\)\s|copyright\s*(?:©|\(c\)|by\b|\d{4})"
    r"|(?:(?:photo|image|picture)\s+)?credits?\s*:|courtesy of\b|licen[cs]ed under\b|cc[ -]by\b"
    r"|(?:photo|photograph|image|picture)\s+(?:by|courtesy of)\b)[^\n]{0,60}$"
)
"""A credit line: a short text that only names the author or licence of an image, for Python and RE2. A
longer text may also describe the image."""
_IS_CREDIT = re.compile(CREDIT)


@dataclass(frozen=True, slots=True)
class WitRow:
    """One row of WIT. Empty and blank fields are None; titles are stripped.

    The header line has the `line_number` 1.
    """

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
    """A line that was rejected.

    `reason` is one of not_utf8, wrong_column_count, bad_integer, bad_boolean, missing_required,
    bad_url, quote_unbalanced, too_long, unequal_lists, no_page; `detail` is one sentence for a person;
    `excerpt` is the first 200 characters of the line with unprintable characters escaped.
    """

    line_number: int
    reason: str
    detail: str
    excerpt: str


class RowError(Exception):
    """A record is not a valid row: `reason` is a short code, `detail` one sentence for a person."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail


def require_header(line: bytes) -> None:
    """Raise ValueError if a shard's first line is not WIT's header."""
    text = line.removeprefix(_BOM).rstrip(b"\r\n").decode("utf-8", "replace")
    # A CSV writer may quote every field, the column names, too.
    names = [name.removeprefix('"').removesuffix('"') for name in text.split("\t")]
    if tuple(names) != COLUMNS:
        raise ValueError(
            f"The first line is not WIT's header: it has {len(names)} columns beginning with "
            f"{names[0][:40]!r}, where the {len(COLUMNS)} columns beginning with "
            f"{COLUMNS[0]!r} are needed, in WIT's order and separated by tabs."
        )


def typed_row(number: int, values: Mapping[str, object]) -> WitRow | Rejection:
    """Make a row of values that already have types, by the same rules as for a line of text.

    Args:
        number: The number of the line.
        values: The values by column; a missing value is empty.
    """
    texts = ["" if values.get(name) is None else str(values[name]) for name in COLUMNS]
    line = "\t".join(texts).encode("utf-8", "surrogatepass")
    try:
        decode_line(line)
        return row_of_fields(number, texts)
    except RowError as error:
        return Rejection(number, error.reason, error.detail, excerpt(line))


def repeats_too_much(
    repeated: Mapping[str, object], others: Sequence[Mapping[str, object]], n_free: int = 0
) -> bool:
    """Whether rows that all repeat the same values would have over MOST_TIMES the characters of their
    input. A record of kilobytes could make gigabytes of rows.

    Args:
        repeated: The values that each row repeats.
        others: The other values of each row.
        n_free: Rows of up to this many characters are never too large.
    """
    if len(others) <= MOST_TIMES:
        return False  # Each row has at most all characters of the input.
    n_repeated, lengths = _n_characters(repeated), [_n_characters(values) for values in others]
    n_input = n_repeated + sum(lengths)
    return outgrows(n_input + (len(lengths) - 1) * n_repeated, n_input, n_free)


def outgrows(n_characters: int, n_input: int, n_free: int = 0) -> bool:
    """Whether rows have over MOST_TIMES the characters of their input.

    Args:
        n_characters: The characters of the rows.
        n_input: The characters of the input.
        n_free: Rows of up to this many characters are never too large.
    """
    return n_characters > max(n_free, MOST_TIMES * n_input)


def _n_characters(values: Mapping[str, object]) -> int:
    """The length of the values as `typed_row` writes them: a column may have another type than text."""
    return sum(len(str(value)) for value in values.values() if value is not None)


def caption(row: WitRow) -> str | None:
    """Return the caption of the image: reference, else alt text, else attribution, else None.

    The reference is the caption under the image on this Wikipedia page, the alt text describes the
    image, and the attribution belongs to the image file on all pages. The tag "English:" at the
    beginning of the attribution is removed. Texts of invisible characters are ignored, and so are texts
    that are only a credit line, which many unrelated images share.
    """
    attribution = (row.caption_attribution_description or "").strip()
    candidates = (
        row.caption_reference_description or "",
        row.caption_alt_text_description or "",
        attribution.removeprefix(_LANGUAGE_TAG),
    )
    return next(
        (
            text.strip()
            for text in candidates
            if any(map(_is_seen, text)) and not _IS_CREDIT.match(text.strip())
        ),
        None,
    )


def _is_seen(character: str) -> bool:
    # Invisible: spaces, line ends, format characters (such as U+200B), control characters. Unassigned
    # characters count as visible: a later Unicode version may assign them, for example to an emoji.
    category = unicodedata.category(character)
    return (category == "Cn" or category[0] not in "ZC") and character not in _BLANK_LETTERS


def decode_line(record: bytes) -> str:
    """Decode a line. Raises RowError if it is not UTF-8."""
    try:
        return record.decode("utf-8")
    except UnicodeDecodeError as error:
        detail = f"The line is not UTF-8 text: byte {error.start + 1} cannot be read."
        raise RowError("not_utf8", detail) from None


def row_of_fields(number: int, fields: list[str]) -> WitRow:
    """Make a row from the 17 raw fields of a record.

    Args:
        number: The number of the line.
        fields: The fields in the order of `COLUMNS`.

    Raises:
        RowError: A field is missing or not valid.
    """
    raw = dict(zip(COLUMNS, fields, strict=True))
    for name in TRIMMED:
        raw[name] = raw[name].strip(EDGES)
    values: dict[str, str | int | bool | None] = {
        name: text if text.strip(BLANK) else None for name, text in raw.items()
    }
    for name in REQUIRED:
        if values[name] is None:
            raise RowError("missing_required", f"The column {name} is empty.")
    for name in URLS:
        if _URL_FORBIDDEN.search(raw[name]) or not is_web_address(raw[name]):
            raise RowError("bad_url", f"The {name} is not an http or https address.")
        # Rows are stored and displayed, so passwords and keys in an address are removed.
        values[name] = without_secrets(raw[name])
    for name in INTEGERS:
        if values[name] is not None:
            if not _INTEGER.fullmatch(raw[name]):
                detail = f"The {name} {raw[name][:40]!r} is not a whole number of pixels."
                raise RowError("bad_integer", detail)
            # A size of 0 means unknown; the size is measured from the file later.
            values[name] = int(raw[name]) or None
    for name in BOOLEANS:
        if values[name] is not None:
            if raw[name].lower() not in _BOOLEAN_OF:
                detail = f"The {name} {raw[name][:40]!r} is neither true nor false."
                raise RowError("bad_boolean", detail)
            values[name] = _BOOLEAN_OF[raw[name].lower()]
    # Each value was checked above to be of its column's type.
    return WitRow(line_number=number, **values)  # type: ignore[arg-type]


def excerpt(line: bytes) -> str:
    """Return the first 200 characters, unprintable ones escaped, without secrets in addresses."""
    # A character has at most four bytes. Twice as many are read, because secrets are removed.
    text = line[: 8 * EXCERPT_LENGTH].decode("utf-8", "backslashreplace")
    text = cut_secrets(text)[:EXCERPT_LENGTH]
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return shown[:EXCERPT_LENGTH]


COLUMNS_READ = (
    "image_url",
    "mime_type",
    "original_height",
    "original_width",
    "caption_attribution_description",
    "wit_features",
)
"""The columns of a Parquet record that are read. The others hold the image, its embedding and a
metadata URL."""

_OF_IMAGE = COLUMNS_READ[:-1]
_JOINT = "[SEP]"


def rows_of_record(
    record: Mapping[str, Any], numbers: Iterator[int]
) -> Iterator[WitRow | Rejection]:
    """Make a row for each Wikipedia page of a record of `wikimedia/wit_base`, which is one image.

    `wit_features` is a mapping from WIT's columns to lists of equal length, or a list of mappings. If
    the lists differ in length, the whole record is rejected (`unequal_lists`), as is a record without
    pages (`no_page`), and one whose rows would have over MOST_TIMES its characters (`too_long`). A page
    whose texts have more than MAX_LINE_BYTES characters is rejected (`too_long`).

    Args:
        record: The record.
        numbers: The line numbers of the rows, consumed one by one.

    Yields:
        The rows and rejections.
    """
    features = record.get("wit_features")
    if isinstance(features, Mapping):
        lengths = {len(values) for values in features.values() if values is not None}
        if len(lengths) > 1:
            detail = f"The lists of wit_features have {sorted(lengths)} values."
            yield _refused(record, numbers, "unequal_lists", detail)
            return
        features = [
            {name: values[place] for name, values in features.items() if values is not None}
            for place in range(max(lengths, default=0))
        ]
    if not features:
        detail = "The record names no page that shows the image."
        yield _refused(record, numbers, "no_page", detail)
        return
    image = {name: record.get(name) for name in _OF_IMAGE}
    pages = [page or {} for page in features]
    if repeats_too_much(image, pages):
        detail = (
            f"The rows of its {len(pages):,} pages, which all repeat the texts of the image, have "
            f"over {MOST_TIMES} times the characters of the record: shorten the texts of the image."
        )
        yield _refused(record, numbers, "too_long", detail)
        return
    for page in pages:
        values = {**{name: page.get(name) for name in COLUMNS if name not in image}, **image}
        values["caption_reference_description"] = _reference(page)
        if _n_characters(values) > MAX_LINE_BYTES:
            detail = f"The texts of the page have more than {MAX_LINE_BYTES:,} characters."
            yield _refused(record, numbers, "too_long", detail)
            continue
        yield typed_row(next(numbers), values)


def _refused(
    record: Mapping[str, Any], numbers: Iterator[int], reason: str, detail: str
) -> Rejection:
    shown = excerpt(str(record.get("image_url")).encode())
    return Rejection(next(numbers), reason, detail, shown)


def _reference(page: Mapping[str, Any]) -> str | None:
    """The reference caption. Some records have it only joined to the title of the Wikipedia page."""
    alone = page.get("caption_reference_description") or ""
    _, joint, together = (page.get("caption_title_and_reference_description") or "").partition(
        _JOINT
    )
    return alone if alone.strip() or not joint else together.strip()
