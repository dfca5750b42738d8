"""WIT rows: types, reasons to reject a row, the header, captions."""

import re
import sys
import unicodedata
from dataclasses import replace

import duckdb
import pyarrow as pa
import pytest

from methods.ingest import wit
from tests.methods.ingest.wit_lines import GOOD, HEADER, parse, record, rejection, row


def test_numbers_may_have_leading_zeros_and_truth_any_case_and_blanks_are_empty():
    parsed = row(original_height="007", is_main_image="TRUE", page_changed_recently="False")
    assert parsed.original_height == 7
    assert row(original_width="000").original_width is None, "a size of no pixels is not known"
    assert parsed.is_main_image is True and parsed.page_changed_recently is False
    for blank in ("", " ", "\t \v\f", "\r", "\n"):
        parsed = row(section_title=blank, original_height=blank)
        assert parsed.section_title is parsed.original_height is None
    # An address is kept without its secrets.
    assert row(page_url="https://me:pass@example.org/a").page_url == "https://example.org/a"


@pytest.mark.parametrize("column", ["language", "page_title", "hierarchical_section_title"])
@pytest.mark.parametrize("edge", [" ", "\0", "\0 \0\t", "\u00a0", "\u3000", "\ufeff"])
def test_blanks_and_nuls_around_a_title_go(column, edge):
    assert getattr(row(**{column: f"{edge}o w\0l{edge}"}), column) == "o w\0l"
    assert rejection(record(page_title=edge)).reason == "missing_required"
    assert row(section_title=edge).section_title is None


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (record().replace(b"Veil", b"V\xe9il"), "not_utf8"),
        (record().rstrip(b"\n") + b"\textra\n", "wrong_column_count"),
        (record(original_height="458.0"), "bad_integer"),
        (record(original_width="1_000"), "bad_integer"),
        (record(original_width="٣"), "bad_integer"),
        (record(is_main_image="yes"), "bad_boolean"),
        (record(image_url=""), "missing_required"),
        (record(image_url="ftp://example.org/a.png"), "bad_url"),
        (record(page_url="https:///no-host"), "bad_url"),
        (record(page_url="http://example.org:port/"), "bad_url"),
        (record(image_url="https://example.org/a b.png"), "bad_url"),
        (record(image_url=f"https://{'ü' * 254}/a.png"), "bad_url"),
        (record().replace(b"A nebula.", b'"A nebula.'), "quote_unbalanced"),
        (record(context_page_description="x" * wit.MAX_LINE_BYTES), "too_long"),
    ],
)
def test_a_bad_line_is_refused_for_its_reason_and_alone(raw, reason):
    assert rejection(raw).reason == reason


def test_an_excerpt_is_short_and_printable():
    [rejected] = parse(b"one\rtwo\r\n")
    assert rejected.excerpt == "one\\rtwo"
    excerpt = rejection(b"\x1b[31m\x00\xff" + "é".encode() * 5000 + b"\n").excerpt
    assert len(excerpt) == 200 and excerpt.isprintable()
    assert excerpt.startswith("\\x1b[31m\\x00\\xffé")


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_the_header_may_have_a_byte_order_mark_and_windows_line_ends(mark, end):
    wit.require_header(mark + HEADER.rstrip(b"\n") + end)
    # And quotes around every name, as a writer of CSV may put them.
    wit.require_header(mark + b"\t".join(b'"%s"' % name.encode() for name in wit.COLUMNS) + end)


@pytest.mark.parametrize(
    "line",
    [b"", b"\n", record(), b"language,page_url\n", HEADER.replace(b"language", b"lang"), b"\xff\n"],
)
def test_another_first_line_is_refused_and_says_what_is_needed(line):
    with pytest.raises(ValueError, match=r"not WIT's header: .*17 columns beginning with 'lang"):
        wit.require_header(line)


def test_values_typed_elsewhere_are_held_to_the_same_rules():
    values = GOOD | {"original_height": 458, "is_main_image": True, "section_title": None}
    assert wit.typed_row(2, values) == row()
    refused = wit.typed_row(7, values | {"image_url": None})
    assert isinstance(refused, wit.Rejection)
    assert (refused.line_number, refused.reason) == (7, "missing_required")
    assert refused.excerpt.startswith("en\\thttps://en.wikipedia.org/wiki/NGC_6960\\t\\tNGC 6960")
    assert wit.typed_row(2, values | {"original_width": 4.5}).reason == "bad_integer"
    # Half of a surrogate pair comes out of JSON that was cut in the middle of a character.
    refused = wit.typed_row(2, GOOD | {"context_page_description": "cut \ud83d"})
    assert refused.reason == "not_utf8"
    assert wit.typed_row(2, {"language": "\ud83d"}).excerpt.startswith("\\xed\\xa0\\xbd")


def test_caption_prefers_reference_then_alt_text_then_attribution():
    none = {"caption_reference_description": "", "caption_alt_text_description": ""}
    assert wit.caption(row()) == "Western Veil"
    assert wit.caption(row(caption_reference_description=" ")) == "A glowing arc"
    assert wit.caption(row(**none)) == "Supernova remnant. Credit: J. A. M."
    assert (
        wit.caption(row(**none, caption_attribution_description="Deutsch: Rest")) == "Deutsch: Rest"
    )
    assert wit.caption(row(**none, caption_attribution_description="English: ")) is None
    assert wit.caption(row(**none, caption_attribution_description="")) is None


def test_a_credit_line_is_no_caption_and_a_text_that_says_more_is_one():
    credit_lines = [
        *("© 2019 Ada Byron", "Copyright 2020 NASA/JPL", "Photo by Ada Byron", "Credit: ESO"),
        *("CC BY-SA 4.0", "Image courtesy of the museum", "Licensed under the GFDL."),
        "(c) Ada Byron, all rights reserved",
    ]
    for text in credit_lines:
        assert wit.caption(row(caption_reference_description=text)) == "A glowing arc"
        assert re.search(wit.CREDIT, text)
    scene = "A lighthouse on a rocky shore, seen from the sea in the evening."
    for text in (
        *("Copyright law being debated in Brussels", "Credits roll over a city at night"),
        f"© 2019 Ada Byron. {scene} {scene}",
    ):
        assert wit.caption(row(caption_reference_description=text)) == text


@pytest.mark.parametrize(
    "text", ["\u200b", " \u200b\u2060\ufeff ", "\u00ad\u200e", "\u2800\u3164", "\ufe0f"]
)
def test_a_caption_of_invisible_characters_is_none(text):
    assert wit.caption(row(caption_reference_description=text)) == "A glowing arc"
    nothing = {name: "" for name in wit.COLUMNS if name.startswith("caption")}
    for name in nothing:
        assert wit.caption(row(**{**nothing, name: text})) is None
    assert wit.caption(row(caption_reference_description=f"{text}An owl")).endswith("An owl")


def test_sql_and_python_agree_on_which_characters_are_seen():
    """All that Python's Unicode has, and one that is not assigned; DuckDB's Unicode is a later one.

    Of the many without upper and lower case, and of those for private use, every hundredth.
    """
    every = list(map(chr, range(1, sys.maxunicode + 1)))
    many = [one for one in every if unicodedata.category(one) in ("Lo", "Co")]
    given = [one for one in every if unicodedata.category(one) not in ("Cn", "Cs", "Lo", "Co")]
    given += [*many[::100], "\u0378"]
    with duckdb.connect() as connection:
        connection.register("given", pa.table({"character": given}))
        found = connection.execute(
            "SELECT character FROM given WHERE regexp_matches(character, $seen)", {"seen": wit.SEEN}
        )
        in_sql = {character for (character,) in found.fetchall()}
    nothing = {name: "" for name in wit.COLUMNS if name.startswith("caption")}
    parsed = row(**nothing)
    in_python = {
        character
        for character in given
        if wit.caption(replace(parsed, caption_reference_description=character)) is not None
    }
    # The mark alone is a credit line.
    assert in_sql - {"©"} == in_python and "\u0378" in in_sql
