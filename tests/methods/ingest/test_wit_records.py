"""Records of a WIT shard: every line is part of one row or is one rejection."""

import csv
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.ingest import wit_records
from methods.ingest.wit import EDGES, MAX_LINE_BYTES, TRIMMED, Rejection, RowError, WitRow
from methods.ingest.wit_records import MAX_LINES, parse_records
from tests.methods.ingest.wit_lines import numbered, parse, record, row


@pytest.mark.parametrize("column", ["page_title", "context_section_description"])
def test_a_record_goes_on_inside_quotes_over_as_many_lines_as_it_may(column):
    filled = "." + "\n" * (MAX_LINES - 1)
    first, after = parse(record(**{column: filled}), record())
    expected = filled.strip(EDGES) if column in TRIMMED else filled
    assert getattr(first, column) == expected and first.line_number == 2
    assert after == replace(row(), line_number=2 + MAX_LINES)


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


def test_two_stray_quotes_do_not_make_a_row_of_what_stands_between_them():
    stray = record().replace(b"A nebula.", b'"A nebula.')
    assert [item.line_number for item in parse(stray, b"rubbish\n", stray)] == [2, 3, 4]


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
    assert (second.reason, second.line_number) == ("wrong_column_count", 3)


def test_lines_whose_numbers_do_not_follow_each_other_are_never_joined():
    """Others have been taken out from between them."""
    [(_, first), (_, second)] = numbered(record(section_title="a\nb"))
    assert [type(item) for item in parse_records([(2, first), (3, second)])] == [WitRow]
    assert [type(item) for item in parse_records([(2, first), (4, second)])] == [Rejection] * 2


def test_a_line_of_too_many_columns_is_not_searched_for_stray_quotes():
    too_wide = b"x" + b"\t" * 10_000 + b'a"b\t"o\n'
    first, after = parse(too_wide, record())
    assert isinstance(first, Rejection) and first.reason == "wrong_column_count"
    assert first.detail == "The line has more than 17 columns."
    assert after == replace(row(), line_number=3)


one_line = st.lists(
    st.sampled_from(['"', '""', "a", " ", "\0", "é", "\t", '"\t"']) | st.text(max_size=3),
    max_size=40,
).map(lambda parts: "".join(parts).replace("\n", "").replace("\r", ""))
few_fields = st.lists(st.text('"a \0', max_size=6), min_size=17, max_size=17).map("\t".join)


@given(one_line | few_fields)
def test_a_line_has_the_fields_that_csv_reads(line):
    """The oracle is Python's own reader; a line ends inside quotes if it goes on into the next one."""
    reader = csv.reader([line + "\n", "the next line"], delimiter="\t")
    read = next(reader)
    is_open = reader.line_num == 2
    try:
        fields = wit_records.split_fields(line.encode())
    except RowError as error:
        # A quote behind the last column is not looked for.
        is_unbalanced = is_open and len(read) <= 17
        assert error.reason == ("quote_unbalanced" if is_unbalanced else "wrong_column_count")
        assert is_open or len(read) != 17
    else:
        assert fields == read and not is_open


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
