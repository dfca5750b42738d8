"""The plain rows among the lines of a WIT shard, read column by column.

What belongs here: splitting, unquoting and typing the lines that are plainly rows, a block at a time,
with Arrow's functions. All other lines are for `methods/ingest/wit_records.py`, which has the rules: it
accepts every line that is accepted here, with the same values.
"""

from itertools import accumulate, groupby

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
_MOST_DIGITS = 9
_TRUTHS = ["true", "false", None]
"""No array of Arrow's: to make one on import would import pandas."""
_ADDRESS = r"\Ahttps?://[A-Za-z0-9.-]+(:[0-9]{1,4})?(/[!->@-~]*)?\z"
"""Without a query, which may hold a secret."""

_KINDS = {
    **dict.fromkeys(TRIMMED, "title"),
    **dict.fromkeys(URLS, "address"),
    **dict.fromkeys(INTEGERS, "size"),
    **dict.fromkeys(BOOLEANS, "truth"),
}
_GROUPS = [
    (kind, tuple(names)) for kind, names in groupby(COLUMNS, lambda name: _KINDS.get(name, "text"))
]
"""Columns of one kind that stand side by side: they are looked at together, as each call of Arrow takes
and gives back the interpreter's lock."""


def plain_rows(lines: pa.RecordBatch) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """The plain rows, as `line_number` and COLUMNS, and the others of the lines as they are.

    `lines` are as `line_batches` yields them.
    """
    places, fields = _fields(_without_end(lines["text"]))
    begins = accumulate((len(names) * len(places) for _, names in _GROUPS), initial=0)
    groups = [
        _cleaned(kind, fields.slice(begin, len(names) * len(places)))
        for (kind, names), begin in zip(_GROUPS, begins, strict=False)
    ]
    plain = np.ones(len(places), bool)
    for (kind, names), values in zip(_GROUPS, groups, strict=True):
        plain &= _are_plain(kind, values).reshape(len(names), -1).all(axis=0)
        for place in [names.index(name) for name in REQUIRED if name in names]:
            plain &= np.asarray(values.slice(place * len(plain), len(plain)).is_valid())
    if not plain.all():
        groups = [
            values.filter(pa.array(np.tile(plain, len(names))))
            for (_, names), values in zip(_GROUPS, groups, strict=True)
        ]
        places = places[plain]
    columns = {"line_number": lines["number"].take(pa.array(places))}
    for (kind, names), values in zip(_GROUPS, groups, strict=True):
        typed = _typed(kind, values)
        for place, name in enumerate(names):
            columns[name] = typed.slice(place * len(places), len(places))
    others = np.delete(np.arange(len(lines)), places)
    return pa.RecordBatch.from_pydict(columns), lines.take(pa.array(others))


def _without_end(texts: pa.StringArray) -> pa.StringArray:
    """Lines without LF or CR LF."""
    texts = pc.utf8_rtrim(texts, "\n")
    ended = pc.ends_with(texts, "\r")
    if not pc.any(ended).as_py():
        return texts
    return pc.if_else(ended, pc.utf8_slice_codeunits(texts, 0, -1), texts)


def _fields(texts: pa.StringArray) -> tuple[np.ndarray, pa.StringArray]:
    """The places of the lines that split plainly, and their fields, column after column.

    The fields are unquoted, and NULL if blank.
    """
    lists = pc.split_pattern(texts, "\t")
    fields, unclosed = _unquoted(lists.values)
    begins = np.asarray(lists.offsets)
    whole = np.diff(begins) == len(COLUMNS)
    whole &= np.asarray(pc.fill_null(pc.binary_length(texts), 0)) < MAX_LINE_BYTES
    whole[np.searchsorted(begins, unclosed, "right") - 1] = False
    places = np.flatnonzero(whole)
    chosen = np.add.outer(np.arange(len(COLUMNS), dtype=np.int32), begins[places])
    return places, fields.take(pa.array(chosen.ravel()))


def _unquoted(fields: pa.StringArray) -> tuple[pa.StringArray, np.ndarray]:
    """The fields' texts, NULL if blank, and the places of those with quotes that are not closed."""
    _, offsets, content = fields.buffers()
    bounds = np.frombuffer(offsets, np.int32, len(fields) + 1)
    odd = bounds[:-1] == bounds[1:]
    # Most fields need no look: only blank characters, '!' and '"' sort before '#'.
    if not odd.all():
        odd |= np.frombuffer(content, np.uint8).take(bounds[:-1], mode="clip") < ord("#")
    found = fields.filter(pa.array(odd))
    closed = pc.match_substring_regex(found, _QUOTED)
    inner = pc.replace_substring(pc.utf8_slice_codeunits(found, 1, -1), '""', '"')
    unclosed = pc.and_not(pc.starts_with(found, '"'), closed)
    texts = _filled(pc.if_else(closed, inner, found))
    return pc.replace_with_mask(fields, pa.array(odd), texts), np.flatnonzero(odd)[unclosed]


def _filled(texts: pa.StringArray) -> pa.StringArray:
    """The texts, NULL if blank."""
    return pc.if_else(pc.equal(pc.utf8_trim(texts, BLANK), ""), None, texts)


def _cleaned(kind: str, texts: pa.StringArray) -> pa.StringArray:
    """What is looked at in fields of this kind."""
    if kind == "title":
        return _filled(pc.utf8_trim(texts, EDGES))
    return pc.ascii_lower(texts) if kind == "truth" else texts


def _are_plain(kind: str, texts: pa.StringArray) -> np.ndarray:
    """Whether the fields have plain values of this kind."""
    if kind == "address":
        return np.asarray(pc.fill_null(pc.match_substring_regex(texts, _ADDRESS), False))
    if kind == "size":
        few = pc.less_equal(pc.binary_length(texts), _MOST_DIGITS)
        return np.asarray(pc.fill_null(pc.and_(pc.ascii_is_decimal(texts), few), True))
    if kind == "truth":
        return np.asarray(pc.is_in(texts, pa.array(_TRUTHS)))
    return np.ones(len(texts), bool)


def _typed(kind: str, texts: pa.StringArray) -> pa.Array:
    """The fields' values. Sizes are pixels, and NULL if none: such a size is not known."""
    if kind == "size":
        sizes = texts.cast(pa.int64())
        return pc.if_else(pc.equal(sizes, 0), None, sizes)
    return pc.equal(texts, "true") if kind == "truth" else texts
