"""The WIT row form: what a line becomes, and that every line becomes exactly one thing."""

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from methods.wit import COLUMNS, MAX_LINE_BYTES, Rejection, WitRow, caption, parse_lines

HEADER = "\t".join(COLUMNS).encode() + b"\n"
GOOD = {
    "language": "en",
    "page_url": "https://en.wikipedia.org/wiki/NGC_6960",
    "image_url": "https://upload.example.org/wit/dso_n6960.png",
    "page_title": "NGC 6960",
    "section_title": "",
    "hierarchical_section_title": "NGC 6960",
    "caption_reference_description": "Western Veil",
    "caption_attribution_description": "English: Supernova remnant. Credit: J. A. M.",
    "caption_alt_text_description": "A glowing arc",
    "mime_type": "image/png",
    "original_height": "458",
    "original_width": "460",
    "is_main_image": "true",
    "attribution_passes_lang_id": "false",
    "page_changed_recently": "",
    "context_page_description": "A nebula.",
    "context_section_description": "",
}


def line(**changes: str) -> bytes:
    """A row's line as the csv writer makes it."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter="\t", lineterminator="\n")
    writer.writerow({**GOOD, **changes}.values())
    return buffer.getvalue().encode()


def parse(*lines: bytes) -> list[WitRow | Rejection]:
    return list(parse_lines([HEADER, *lines]))


def row(**changes: str) -> WitRow:
    [parsed] = parse(line(**changes))
    assert isinstance(parsed, WitRow), parsed
    return parsed


def rejection(raw: bytes) -> Rejection:
    """The rejection of `raw`, which costs neither the row before it nor the one after."""
    before, rejected, after = parse(line(), raw, line())
    assert isinstance(before, WitRow) and isinstance(after, WitRow)
    assert isinstance(rejected, Rejection) and rejected.line_number == 3
    assert rejected.detail.endswith(".")
    return rejected


def test_a_line_becomes_a_typed_row():
    parsed = row()
    assert parsed.line_number == 2
    assert (parsed.original_height, parsed.original_width) == (458, 460)
    assert parsed.is_main_image is True and parsed.attribution_passes_lang_id is False
    assert parsed.page_changed_recently is None and parsed.section_title is None
    assert parsed.context_page_description == "A nebula."


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_line_ends_are_no_part_of_the_last_field(end):
    [parsed] = parse(line(context_section_description="last").rstrip(b"\n") + end)
    assert parsed.context_section_description == "last"


def test_quotes_and_tabs_inside_quotes_are_read_as_csv_wrote_them():
    said = 'They "pride themselves"\tupon it, and say ""so""'
    assert row(context_page_description=said).context_page_description == said


def test_a_row_has_one_id_wherever_it_stands():
    first, second, other = parse(line(), line(), line(page_title="NGC 6992"))
    assert first.row_id == second.row_id and len(first.row_id) == 20
    assert other.row_id != first.row_id


def test_an_empty_value_and_a_missing_one_differ_from_text_in_the_id():
    assert row(section_title="").row_id != row(section_title="None").row_id


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (line().replace(b"Veil", b"V\xe9il"), "not_utf8"),
        (b"\n", "wrong_column_count"),
        (b"en\thttps://example.org\n", "wrong_column_count"),
        (line().rstrip(b"\n") + b"\textra\n", "wrong_column_count"),
        (line(original_height="458.0"), "bad_integer"),
        (line(original_width="-1"), "bad_integer"),
        (line(original_width="1_000"), "bad_integer"),
        (line(original_width="9" * 30), "bad_integer"),
        (line(is_main_image="yes"), "bad_boolean"),
        (line(page_title=" "), "missing_required"),
        (line(language=""), "missing_required"),
        (line(image_url=""), "missing_required"),
        (line(image_url="ftp://example.org/a.png"), "bad_url"),
        (line(image_url="javascript:alert(1)"), "bad_url"),
        (line(page_url="https:///no-host"), "bad_url"),
        (line(page_url="http://[broken"), "bad_url"),
        (line(page_url="http://example.org:port/"), "bad_url"),
        (line(image_url="https://example.org/a b.png"), "bad_url"),
        (line().replace(b"A nebula.", b'"A nebula.'), "quote_unbalanced"),
        (line().replace(b"A nebula.", b'"A" nebula.'), "quote_unbalanced"),
        (line().replace(b"A nebula.", b'A 5" nebula.'), "quote_unbalanced"),
        (line(context_page_description="x" * MAX_LINE_BYTES), "too_long"),
    ],
)
def test_a_bad_line_is_refused_for_its_reason_and_alone(raw, reason):
    assert rejection(raw).reason == reason


def test_a_detail_names_the_column():
    assert "original_height" in rejection(line(original_height="tall")).detail
    assert "context_page_description" in rejection(line().replace(b"A neb", b'"A neb')).detail


def test_an_excerpt_is_short_and_printable():
    excerpt = rejection(b"\x1b[31m\x00\xff" + "é".encode() * 5000).excerpt
    assert len(excerpt) == 200 and excerpt.isprintable()
    assert excerpt.startswith("\\x1b[31m\\x00\\xffé")


def test_a_million_quotes_are_refused_in_one_pass():
    assert rejection(b'"' * (MAX_LINE_BYTES - 1) + b"\n").reason == "quote_unbalanced"


def test_a_long_field_is_a_row():
    """Longer than the csv module's own limit of 131072 characters."""
    assert (
        len(row(context_page_description='"' + "x" * 200_000).context_page_description) == 200_001
    )


@pytest.mark.parametrize(
    "lines", [[], [b""], [line()], [b"language,page_url\n"], [HEADER.replace(b"language", b"lang")]]
)
def test_a_file_without_the_header_is_refused_whole(lines):
    with pytest.raises(ValueError, match="not WIT's header"):
        list(parse_lines(lines))


def test_a_byte_order_mark_and_windows_line_ends_are_read():
    header = b"\xef\xbb\xbf" + HEADER.replace(b"\n", b"\r\n")
    assert len(list(parse_lines([header, line()]))) == 1


def test_caption_prefers_reference_then_alt_text_then_attribution():
    none = {"caption_reference_description": "", "caption_alt_text_description": ""}
    assert caption(row()) == "Western Veil"
    assert caption(row(caption_reference_description=" ")) == "A glowing arc"
    assert caption(row(**none)) == "Supernova remnant. Credit: J. A. M."
    assert caption(row(**none, caption_attribution_description="Deutsch: Rest")) == "Deutsch: Rest"
    assert caption(row(**none, caption_attribution_description="English: ")) is None
    assert caption(row(**none, caption_attribution_description="")) is None


raw_lines = st.one_of(
    st.binary(),
    st.lists(st.sampled_from([b'"', b"\t", b"a", b"\r", b"\x00", b"\xff"])).map(b"".join),
    st.just(line()),
)


@settings(deadline=None)
@given(st.lists(raw_lines))
def test_any_bytes_give_one_result_a_line_and_raise_nothing(lines):
    results = list(parse_lines([HEADER, *lines]))
    assert [result.line_number for result in results] == list(range(2, len(lines) + 2))
    for raw, result in zip(lines, results, strict=True):
        assert isinstance(result, WitRow) == (raw == line())


texts = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]))


@settings(max_examples=50, deadline=None)
@given(texts, texts)
def test_any_text_comes_back_as_it_was_written(text, other):
    """But for the end of the last column, where a carriage return belongs to the line end."""
    parsed = row(caption_reference_description=text, context_page_description=other)
    assert parsed.caption_reference_description == (text if text.strip() else None)
    assert parsed.context_page_description == (other if other.strip() else None)
