"""The WIT row form: what lines become, and that every line is part of one row or is one rejection."""

import csv
import io
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.ingest import wit
from methods.ingest.wit import (
    COLUMNS,
    MAX_LINE_BYTES,
    MAX_LINES,
    Rejection,
    WitRow,
    caption,
    parse_records,
    require_header,
    typed_row,
)

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


def record(**changes: str) -> bytes:
    """A row as the csv writer makes it: one line, or several if a text has line feeds."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter="\t", lineterminator="\n")
    writer.writerow({**GOOD, **changes}.values())
    return buffer.getvalue().encode()


def numbered(content: bytes) -> list[tuple[int, bytes]]:
    """The lines of a shard after its header, with their numbers."""
    lines = content.split(b"\n")
    return list(enumerate([line + b"\n" for line in lines[:-1]] + [lines[-1]] * bool(lines[-1]), 2))


def parse(*parts: bytes) -> list[WitRow | Rejection]:
    return list(parse_records(numbered(b"".join(parts))))


def row(**changes: str) -> WitRow:
    [parsed] = parse(record(**changes))
    assert isinstance(parsed, WitRow), parsed
    return parsed


def rejection(raw: bytes) -> Rejection:
    """The rejection of the line `raw`, which costs neither the row before it nor the one after."""
    before, rejected, after = parse(record(), raw, record())
    assert before == row() and after == replace(row(), line_number=4)
    assert isinstance(rejected, Rejection) and rejected.line_number == 3
    assert rejected.detail.endswith(".")
    return rejected


# One line


def test_a_line_becomes_a_typed_row():
    parsed = row()
    assert parsed.line_number == 2
    assert (parsed.original_height, parsed.original_width) == (458, 460)
    assert parsed.is_main_image is True and parsed.attribution_passes_lang_id is False
    assert parsed.page_changed_recently is None and parsed.section_title is None
    assert parsed.context_page_description == "A nebula."


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_line_ends_are_no_part_of_the_last_field(end):
    [parsed] = parse(record(context_section_description="last").rstrip(b"\n") + end)
    assert parsed.context_section_description == "last"


def test_quotes_and_tabs_inside_quotes_are_read_as_csv_wrote_them():
    said = 'They "pride themselves"\tupon it, and say ""so""'
    assert row(context_page_description=said).context_page_description == said


def test_numbers_may_have_leading_zeros_and_truth_any_case():
    parsed = row(original_height="007", is_main_image="TRUE", page_changed_recently="False")
    assert parsed.original_height == 7
    assert parsed.is_main_image is True and parsed.page_changed_recently is False


@pytest.mark.parametrize("blank", ["", " ", "\t \v\f", "\r", "\n"])
def test_a_field_of_nothing_but_blanks_is_empty(blank):
    assert row(section_title=blank).section_title is None
    assert row(original_height=blank).original_height is None


@pytest.mark.parametrize("text", ["\u00a0", "\u2003", "\x1c", "\x00", "\ufeff"])
def test_other_characters_that_show_nothing_are_text(text):
    assert row(section_title=text).section_title == text


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (record().replace(b"Veil", b"V\xe9il"), "not_utf8"),
        (b"\n", "wrong_column_count"),
        (b"en\thttps://example.org\n", "wrong_column_count"),
        (record().rstrip(b"\n") + b"\textra\n", "wrong_column_count"),
        (record(original_height="458.0"), "bad_integer"),
        (record(original_width="-1"), "bad_integer"),
        (record(original_width="+7"), "bad_integer"),
        (record(original_width="1e3"), "bad_integer"),
        (record(original_width="1_000"), "bad_integer"),
        (record(original_width="٣"), "bad_integer"),
        (record(original_width="9" * 30), "bad_integer"),
        (record(is_main_image="yes"), "bad_boolean"),
        (record(is_main_image="1"), "bad_boolean"),
        (record(page_title=" "), "missing_required"),
        (record(language=""), "missing_required"),
        (record(image_url=""), "missing_required"),
        (record(image_url="ftp://example.org/a.png"), "bad_url"),
        (record(image_url="javascript:alert(1)"), "bad_url"),
        (record(page_url="https:///no-host"), "bad_url"),
        (record(page_url="http://[broken"), "bad_url"),
        (record(page_url="http://example.org:port/"), "bad_url"),
        (record(page_url="http://example.org:65536/"), "bad_url"),
        (record(image_url="https://example.org/a b.png"), "bad_url"),
        (record(image_url="https://example.org/a\u00a0b.png"), "bad_url"),
        (record().replace(b"A nebula.", b'"A nebula.'), "quote_unbalanced"),
        (record().replace(b"A nebula.", b'"A" nebula.'), "quote_unbalanced"),
        (record().replace(b"A nebula.", b'A 5" nebula.'), "quote_unbalanced"),
        (record(context_page_description="x" * MAX_LINE_BYTES), "too_long"),
    ],
)
def test_a_bad_line_is_refused_for_its_reason_and_alone(raw, reason):
    assert rejection(raw).reason == reason


@pytest.mark.parametrize(
    "url", ["HTTPS://Example.org", "http://example.org:80/é", "https://[::1]/", "http://é.org?x"]
)
def test_an_address_need_not_be_plain(url):
    assert row(image_url=url).image_url == url


def test_a_detail_names_the_column():
    assert "original_height" in rejection(record(original_height="tall")).detail
    assert "context_page_description" in rejection(record().replace(b"A neb", b'"A neb')).detail


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_an_excerpt_is_the_line_without_its_end(end):
    [rejected] = parse(b"one\rtwo" + end)
    assert rejected.excerpt == "one\\rtwo"


def test_an_excerpt_is_short_and_printable():
    excerpt = rejection(b"\x1b[31m\x00\xff" + "é".encode() * 5000 + b"\n").excerpt
    assert len(excerpt) == 200 and excerpt.isprintable()
    assert excerpt.startswith("\\x1b[31m\\x00\\xffé")


@pytest.mark.parametrize("n_beyond", [0, 1])
def test_the_limit_of_a_line_is_its_bytes_without_its_end(n_beyond):
    n_free = MAX_LINE_BYTES - len(record(context_page_description="")) + 1
    raw = record(context_page_description="x" * (n_free + n_beyond)).replace(b"\n", b"\r\n")
    [parsed] = parse(raw)
    assert isinstance(parsed, Rejection if n_beyond else WitRow)


def test_a_million_quotes_are_refused_in_one_pass():
    assert rejection(b'"' * (MAX_LINE_BYTES - 1) + b"\n").reason == "quote_unbalanced"


def test_a_long_field_is_a_row():
    """Longer than the csv module's own limit of 131072 characters."""
    parsed = row(context_page_description='"' + "x" * 200_000)
    assert len(parsed.context_page_description) == 200_001


# Several lines


@pytest.mark.parametrize(
    "text", ["one\ntwo", "one\ntwo\nthree\n", '\n"said"\n\tand done', "\n" * (MAX_LINES - 1)]
)
@pytest.mark.parametrize("column", ["page_title", "context_section_description"])
def test_a_record_goes_on_inside_quotes(column, text):
    filled = "." + text
    first, after = parse(record(**{column: filled}), record())
    assert getattr(first, column) == filled and first.line_number == 2
    assert after == replace(row(), line_number=3 + text.count("\n"))


def test_several_fields_of_a_record_may_go_on():
    texts = {"section_title": "a\nb", "page_title": "c\nd", "context_section_description": "e\nf"}
    assert row(**texts) == replace(row(), **texts)


def test_windows_line_ends_inside_a_record_become_line_feeds():
    content = record(section_title="a\nb\n\nc", context_section_description="last")
    [parsed] = parse(content.replace(b"\n", b"\r\n"))
    assert parsed.section_title == "a\nb\n\nc" and parsed.context_section_description == "last"


def test_the_last_field_ends_alike_in_one_line_and_in_several():
    """One carriage return belongs to the line end, a second does not."""
    one, several = parse(
        record(context_section_description="x\r\r"),
        record(section_title="a\nb", context_section_description="x\r\r"),
    )
    assert one.context_section_description == several.context_section_description == "x\r"


@pytest.mark.parametrize("n_after", [1, 2, 3])
def test_a_stray_quote_costs_its_own_line_and_no_good_row(n_after):
    stray = record().replace(b"A nebula.", b'"A nebula.')
    first, *rows = parse(stray, record() * n_after)
    assert isinstance(first, Rejection) and first.reason == "quote_unbalanced"
    assert rows == [replace(row(), line_number=3 + number) for number in range(n_after)]


def test_a_stray_quote_before_a_record_of_several_lines_costs_its_own_line_only():
    stray = record().replace(b"A nebula.", b'"A nebula.')
    first, second = parse(stray, record(section_title="a\nb\nc"))
    assert isinstance(first, Rejection)
    assert second == replace(row(), line_number=3, section_title="a\nb\nc")


def test_two_stray_quotes_do_not_make_a_row_of_what_stands_between_them():
    stray = record().replace(b"A nebula.", b'"A nebula.')
    assert [item.line_number for item in parse(stray, b"rubbish\n", stray)] == [2, 3, 4]


def test_a_following_line_that_is_a_row_by_itself_is_never_swallowed():
    """Even where it stands inside the quotes of a whole record."""
    inside = record(page_title="Inside")
    content = record(section_title="a\n@\nb").replace(b"@\n", inside)
    first, second, third = parse(content)
    assert isinstance(first, Rejection) and isinstance(third, Rejection)
    assert second == replace(row(), line_number=3, page_title="Inside")


def test_a_field_over_too_many_lines_is_refused_line_by_line():
    last = MAX_LINES + 3
    *refused, after = parse(record(section_title="." + "\n" * MAX_LINES), record())
    assert [item.line_number for item in refused] == list(range(2, last))
    assert {type(item) for item in refused} == {Rejection}
    assert after == replace(row(), line_number=last)


def test_a_record_of_too_many_bytes_is_refused_line_by_line():
    half = "x" * (MAX_LINE_BYTES // 2)
    first, second, after = parse(record(section_title=f"{half}\n{half}"), record())
    assert isinstance(first, Rejection) and isinstance(second, Rejection)
    assert after == replace(row(), line_number=4)


def test_a_record_that_is_no_row_when_whole_is_refused_line_by_line():
    first, second = parse(record(section_title="a\nb", original_height="tall"))
    assert (first.reason, first.line_number) == ("quote_unbalanced", 2)
    assert (second.reason, second.line_number) == ("quote_unbalanced", 3)


def test_lines_whose_numbers_do_not_follow_each_other_are_never_joined():
    """Others have been taken out from between them."""
    [(_, first), (_, second)] = numbered(record(section_title="a\nb"))
    assert [type(item) for item in parse_records([(2, first), (3, second)])] == [WitRow]
    assert [type(item) for item in parse_records([(2, first), (4, second)])] == [Rejection] * 2


@given(st.lists(st.sampled_from([b'"', b'x"y', b'""', b"", b'\t"', b'"\t', b"x"])))
def test_no_line_is_read_more_than_four_times(lines):
    """By itself, as one that follows, as a record's last, as its first: stray quotes cost no more."""
    n_bytes = 0
    fields = wit._fields

    def counted(line: bytes) -> list[str]:
        nonlocal n_bytes
        n_bytes += len(line)
        return fields(line)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wit, "_fields", counted)
        content = b"".join(line + b"\n" for line in lines * 40)
        assert len(parse(content)) == 40 * len(lines)
    assert n_bytes <= 4 * len(content)


# Laws

raw_lines = st.one_of(
    st.binary().map(lambda raw: raw.replace(b"\n", b"")),
    st.lists(st.sampled_from([b'"', b"\t", b"a", b"\r", b"\x00", b"\xff"])).map(b"".join),
    st.sampled_from(record(section_title="a\nb\nc", page_title="d\n").split(b"\n")),
    st.sampled_from([record()[:-1], record().replace(b"A neb", b'"A neb')[:-1]]),
)


@given(st.lists(raw_lines, max_size=12))
def test_every_line_is_part_of_one_row_or_is_one_rejection(lines):
    content = b"".join(line + b"\n" for line in lines)
    items = parse(content)
    starts = [item.line_number for item in items]
    assert starts == sorted(set(starts)) and starts[:1] == [2] * bool(lines)
    ends = [*starts[1:], len(lines) + 2]
    for item, start, end in zip(items, starts, ends, strict=bool(items)):
        of_item = list(enumerate([line + b"\n" for line in lines[start - 2 : end - 2]], start))
        if isinstance(item, Rejection):
            assert end == start + 1
        else:
            assert list(parse_records(of_item)) == [item]


@given(st.lists(raw_lines, max_size=12))
def test_what_is_a_row_by_itself_is_that_row_whatever_stands_around_it(lines):
    items = set(parse(b"".join(line + b"\n" for line in lines)))
    for number, line in enumerate(lines, 2):
        [alone] = parse_records([(number, line + b"\n")])
        assert isinstance(alone, Rejection) or alone in items


texts = st.lists(
    st.one_of(
        st.sampled_from(['"', '""', "\n", "\t", "\r", "\r\n", " ", "a"]),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=3),
    ),
    max_size=8,
).map("".join)
FREE = ("section_title", "caption_reference_description", "context_section_description")
some_texts = st.fixed_dictionaries({name: texts for name in FREE})


@given(st.lists(some_texts, max_size=6))
def test_rows_come_back_as_csv_wrote_them(rows):
    """But for line ends: CR LF inside a text is read as LF, and at the end of a line is none of it.

    No text here has a line that is a row by itself, and none goes beyond the limits.
    """
    for texts_of_row in rows:
        last = FREE[-1]
        texts_of_row[last] = texts_of_row[last].rstrip("\r")
    items = parse(*(record(**texts_of_row) for texts_of_row in rows))
    expected = []
    number = 2
    for texts_of_row in rows:
        read = {name: text.replace("\r\n", "\n") for name, text in texts_of_row.items()}
        filled = {name: text if text.strip(wit.BLANK) else None for name, text in read.items()}
        expected.append(replace(row(), line_number=number, **filled))
        number += 1 + sum(text.count("\n") for text in texts_of_row.values())
    assert items == expected


# The header


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_the_header_may_have_a_byte_order_mark_and_windows_line_ends(mark, end):
    require_header(mark + HEADER.rstrip(b"\n") + end)


@pytest.mark.parametrize(
    "line",
    [b"", b"\n", record(), b"language,page_url\n", HEADER.replace(b"language", b"lang"), b"\xff\n"],
)
def test_another_first_line_is_refused_and_says_what_is_needed(line):
    with pytest.raises(ValueError, match=r"not WIT's header: .*17 columns beginning with 'lang"):
        require_header(line)


# Values typed elsewhere


def test_values_typed_elsewhere_are_held_to_the_same_rules():
    values = GOOD | {"original_height": 458, "is_main_image": True, "section_title": None}
    assert typed_row(2, values) == row()
    refused = typed_row(7, values | {"image_url": None})
    assert isinstance(refused, Rejection)
    assert (refused.line_number, refused.reason) == (7, "missing_required")
    assert refused.excerpt.startswith("en\\thttps://en.wikipedia.org/wiki/NGC_6960\\t\\tNGC 6960")
    assert typed_row(2, values | {"original_width": 4.5}).reason == "bad_integer"


def test_values_that_are_missing_are_empty_and_others_are_left_out():
    needed = {name: GOOD[name] for name in ("language", "page_url", "image_url", "page_title")}
    parsed = typed_row(2, needed | {"embedding": [0.5]})
    assert isinstance(parsed, WitRow) and parsed.original_height is None


def test_a_value_that_no_line_could_hold_is_refused():
    """Half of a surrogate pair comes out of JSON that was cut in the middle of a character."""
    refused = typed_row(2, GOOD | {"context_page_description": "cut \ud83d"})
    assert refused.reason == "not_utf8"
    assert typed_row(2, {"language": "\ud83d"}).excerpt.startswith("\\xed\\xa0\\xbd")


@given(st.fixed_dictionaries({name: texts for name in FREE}))
def test_a_text_typed_elsewhere_is_kept_as_it_is(read):
    parsed = typed_row(2, GOOD | read)
    for name, text in read.items():
        assert getattr(parsed, name) == (text if text.strip(wit.BLANK) else None)


# Captions


def test_caption_prefers_reference_then_alt_text_then_attribution():
    none = {"caption_reference_description": "", "caption_alt_text_description": ""}
    assert caption(row()) == "Western Veil"
    assert caption(row(caption_reference_description=" ")) == "A glowing arc"
    assert caption(row(**none)) == "Supernova remnant. Credit: J. A. M."
    assert caption(row(**none, caption_attribution_description="Deutsch: Rest")) == "Deutsch: Rest"
    assert caption(row(**none, caption_attribution_description="English: ")) is None
    assert caption(row(**none, caption_attribution_description="")) is None
