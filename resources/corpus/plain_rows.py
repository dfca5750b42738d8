"""The plain rows among the lines of a WIT shard, read column by column.

What belongs here: splitting, unquoting and typing the lines that are plainly rows, a block at a time,
with Arrow's functions. All other lines are for `methods/ingest/wit_records.py`, which has the rules: it
accepts every line that is accepted here, with the same values.
"""

from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from methods.ingest.wit import (
    BLANK,
    BOOLEANS,
    COLUMNS,
    EDGES,
    INTEGERS,
    MAX_LINE_BYTES,
    REQUIRED,
    TRIMMED,
    URLS,
)

_QUOTED = r'\A"(?:[^"]|"")*"\z'
"""Quotes around a whole field, those inside it doubled."""
_NUMBER = r"\A[0-9]{1,9}\z"
_BOOLEAN = r"\A(?:true|false)\z"
_ADDRESS = r"\Ahttps?://[A-Za-z0-9.-]+(:[0-9]{1,4})?(/[!->@-~]*)?\z"
"""Without a query, which may hold a secret."""

Columns = dict[str, pa.Array]


def plain_rows(lines: pa.RecordBatch) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """The plain rows, as `line_number` and COLUMNS, and the others of the lines as they are.

    `lines` are as `line_batches` yields them.
    """
    places, columns = _fields(_without_end(lines["text"]))
    for name in TRIMMED:
        columns[name] = _filled(pc.utf8_trim(columns[name], EDGES))
    columns |= {name: pc.ascii_lower(columns[name]) for name in BOOLEANS}
    plain = _are_plain(columns)
    if not plain.all():
        places = places[plain]
        columns = {name: column.filter(pa.array(plain)) for name, column in columns.items()}
    columns |= {name: _sizes(columns[name]) for name in INTEGERS}
    columns |= {name: pc.equal(columns[name], "true") for name in BOOLEANS}
    rows = pa.RecordBatch.from_pydict({"line_number": lines["number"].take(places), **columns})
    return rows, lines.take(np.delete(np.arange(len(lines)), places))


def _without_end(texts: pa.StringArray) -> pa.StringArray:
    """Lines without LF or CR LF."""
    texts = pc.utf8_rtrim(texts, "\n")
    ended = pc.ends_with(texts, "\r")
    if not pc.any(ended).as_py():
        return texts
    return pc.if_else(ended, pc.utf8_slice_codeunits(texts, 0, -1), texts)


def _fields(texts: pa.StringArray) -> tuple[np.ndarray, Columns]:
    """The places of the lines that split plainly, and their fields, unquoted, NULL if blank."""
    lists = pc.split_pattern(texts, "\t")
    fields, unclosed = _unquoted(lists.values)
    begins = np.asarray(lists.offsets)
    whole = np.diff(begins) == len(COLUMNS)
    whole &= np.asarray(pc.fill_null(pc.binary_length(texts), 0)) < MAX_LINE_BYTES
    whole[np.searchsorted(begins, unclosed, "right") - 1] = False
    places = np.flatnonzero(whole)
    first = begins[places]
    return places, {name: fields.take(first + place) for place, name in enumerate(COLUMNS)}


def _unquoted(fields: pa.StringArray) -> tuple[pa.StringArray, np.ndarray]:
    """The fields' texts, NULL if blank, and the places of those with quotes that are not closed."""
    _, offsets, content = fields.buffers()
    begins = np.frombuffer(offsets, np.int32, len(fields) + 1)
    odd = begins[:-1] == begins[1:]
    # Most fields need no look: only blank characters, '!' and '"' sort before '#'.
    odd[~odd] = np.frombuffer(content or b"", np.uint8)[begins[:-1][~odd]] < ord("#")
    found = fields.filter(pa.array(odd))
    closed = pc.match_substring_regex(found, _QUOTED)
    inner = pc.replace_substring(pc.utf8_slice_codeunits(found, 1, -1), '""', '"')
    unclosed = pc.and_not(pc.starts_with(found, '"'), closed)
    texts = _filled(pc.if_else(closed, inner, found))
    return pc.replace_with_mask(fields, pa.array(odd), texts), np.flatnonzero(odd)[unclosed]


def _filled(texts: pa.StringArray) -> pa.StringArray:
    """The texts, NULL if blank."""
    return pc.if_else(pc.equal(pc.utf8_trim(texts, BLANK), ""), None, texts)


def _sizes(numbers: pa.StringArray) -> pa.Int64Array:
    """Pixels, NULL if none: such a size is not known."""
    sizes = numbers.cast(pa.int64())
    return pc.if_else(pc.equal(sizes, 0), None, sizes)


def _are_plain(columns: Columns) -> np.ndarray:
    """Whether a row's required and typed fields have plain values."""
    filled = [pc.is_valid(columns[name]) for name in REQUIRED]
    addresses = [pc.match_substring_regex(columns[name], _ADDRESS) for name in URLS]
    typed = [
        *(pc.match_substring_regex(columns[name], _NUMBER) for name in INTEGERS),
        *(pc.match_substring_regex(columns[name], _BOOLEAN) for name in BOOLEANS),
    ]
    checks = [*filled, *addresses, *(pc.fill_null(check, True) for check in typed)]
    return np.asarray(pc.fill_null(reduce(pc.and_, checks), False))
