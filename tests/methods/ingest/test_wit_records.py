"""Records of WIT: lines of a shard and records of wit_base become rows or rejections."""

import csv
from dataclasses import replace
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.ingest import wit, wit_records
from methods.ingest.wit import Rejection, WitRow
from methods.ingest.wit_records import MAX_LINES, parse_records
from tests.methods.ingest.wit_lines import numbered, parse, record, row


@pytest.mark.parametrize("column", ["page_title", "context_section_description"])
def test_a_record_goes_on_inside_quotes_over_as_many_lines_as_it_may(column):
    filled = "." + "\n" * (MAX_LINES - 1)
    first, after = parse(record(**{column: filled}), record())
    expected = filled.strip(wit.EDGES) if column in wit.TRIMMED else filled
    assert getattr(first, column) == expected and first.line_number == 2
    assert after == replace(row(), line_number=2 + MAX_LINES)


def test_two_stray_quotes_do_not_make_a_row_of_what_stands_between_them():
    stray = record().replace(b"A nebula.", b'"A nebula.')
    assert [item.line_number for item in parse(stray, b"rubbish\n", stray)] == [2, 3, 4]
    # A row between them stays a row.
    opened, row_between, closed = parse(record()[:-1] + b'"x\n', record(), b'x"\n')
    assert isinstance(opened, Rejection) and isinstance(closed, Rejection)
    assert row_between == replace(row(), line_number=3)


@pytest.mark.parametrize(
    "title",
    ["." + "\n" * MAX_LINES, "\n".join(["x" * (wit.MAX_LINE_BYTES // 2)] * 2)],
    ids=["lines", "bytes"],
)
def test_a_record_of_too_many_lines_or_bytes_is_refused_line_by_line(title):
    last = 3 + title.count("\n")
    *refused, after = parse(record(section_title=title), record())
    assert [item.line_number for item in refused] == list(range(2, last))
    assert {type(item) for item in refused} == {wit.Rejection}
    assert after == replace(row(), line_number=last)


def test_lines_whose_numbers_do_not_follow_each_other_are_never_joined():
    """Others have been taken out from between them."""
    [(_, first), (_, second)] = numbered(record(section_title="a\nb"))
    assert [type(item) for item in parse_records([(2, first), (3, second)])] == [wit.WitRow]
    assert [type(item) for item in parse_records([(2, first), (4, second)])] == [wit.Rejection] * 2


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
    except wit.RowError as error:
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
        if isinstance(item, wit.Rejection):
            assert end == start + 1
        else:
            assert list(parse_records(of_item)) == [item]


OWL = {
    "language": "en",
    "page_url": "https://en.wikipedia.org/wiki/Owl",
    "page_title": "Owl",
    "section_title": "Food",
    "hierarchical_section_title": "Owl / Food",
    "caption_reference_description": "An owl eats",
    "caption_title_and_reference_description": "Owl [SEP] An owl eats",
    "caption_alt_text_description": None,
    "is_main_image": "true",
    "attribution_passes_lang_id": "True",
    "page_changed_recently": "false",
    "context_page_description": "Owls fly.",
    "context_section_description": "They eat.",
}
EULE = OWL | {
    "language": "de",
    "page_url": "https://de.wikipedia.org/wiki/Eulen",
    "page_title": "Eulen",
    "caption_reference_description": None,
    "caption_title_and_reference_description": "Eulen [SEP] Eine Eule frisst ",
}
IMAGE = {
    "image_url": "https://upload.wikimedia.org/wikipedia/commons/a/ab/Owl.jpg",
    "mime_type": "image/jpeg",
    "original_height": 300,
    "original_width": 400,
    "caption_attribution_description": "English: An owl",
}


def lists(*pages: dict[str, str | None]) -> dict[str, list[str | None]]:
    """Pages as the published files have them: a list for each column."""
    return {name: [page[name] for page in pages] for name in OWL}


def base_record(features: object, **changes: object) -> dict[str, object]:
    return {**IMAGE, "wit_features": features, **changes}


def only(features: object, **changes: object) -> wit.WitRow | wit.Rejection:
    [item] = wit.rows_of_record(base_record(features, **changes), count(1))
    return item


@pytest.mark.parametrize("features", [lists(OWL, EULE), [OWL, EULE]], ids=["lists", "mappings"])
def test_each_page_of_an_image_is_a_row_with_the_image_s_own_values(features):
    owl, eule = wit.rows_of_record(base_record(features), count(5))
    assert (owl.line_number, owl.language, owl.page_title) == (5, "en", "Owl")
    assert (eule.line_number, eule.language, eule.page_title) == (6, "de", "Eulen")
    for each in (owl, eule):
        assert each.image_url == IMAGE["image_url"] and each.mime_type == "image/jpeg"
        assert (each.original_height, each.original_width) == (300, 400)
        assert each.caption_attribution_description == "English: An owl"
        assert each.is_main_image is True and each.attribution_passes_lang_id is True
        assert each.page_changed_recently is False
        assert each.context_section_description == "They eat."


def test_the_caption_may_be_given_only_together_with_the_title():
    for alone, together, caption in (
        ("An owl eats", "Owl [SEP] Another", "An owl eats"),
        (" ", "Owl [SEP] An owl eats", "An owl eats"),
        (None, "Owl [SEP] one [SEP] two", "one [SEP] two"),
        (None, "Owl", None),
    ):
        captions = {"caption_reference_description": alone}
        captions |= {"caption_title_and_reference_description": together}
        assert only([OWL | captions]).caption_reference_description == caption


def test_a_column_that_is_missing_is_empty_and_a_page_that_is_too_long_costs_no_other():
    features = {name: values for name, values in lists(OWL).items() if "caption" not in name}
    row = only(features | {"section_title": None}, mime_type=None)
    assert isinstance(row, WitRow)
    assert row.caption_reference_description is row.section_title is row.mime_type is None
    long = OWL | {"context_page_description": "x" * wit.MAX_LINE_BYTES}
    refused, after = wit.rows_of_record(base_record([long, OWL]), count(1))
    assert refused.reason == "too_long" and (after.line_number, after.page_title) == (2, "Owl")


UNEQUAL = lists(OWL, EULE) | {"page_title": ["Owl"]}


@pytest.mark.parametrize(
    ("features", "reason"),
    [
        *((none, "no_page") for none in (None, [], {}, lists(), {"language": None})),
        (UNEQUAL, "unequal_lists"),
    ],
)
def test_an_image_without_a_page_or_with_lists_of_unequal_length_is_one_rejection(features, reason):
    rejected = only(features)
    assert isinstance(rejected, Rejection)
    assert (rejected.reason, rejected.excerpt) == (reason, IMAGE["image_url"])
    assert features is not UNEQUAL or rejected.detail.endswith("wit_features have [1, 2] values.")


@pytest.mark.parametrize(
    "text",
    ["English: an owl " * 100, b"\x00" * 400, ["English: an owl"] * 100],
    ids=["text", "bytes", "list"],
)
def test_a_record_whose_pages_all_repeat_a_long_text_is_one_rejection(text):
    """20 pages have 20 times the characters of the record at most; 1,000 further pages, more."""
    within, beyond = (
        list(
            wit.rows_of_record(
                base_record([OWL] * 20 + [{}] * n, caption_attribution_description=text), count(1)
            )
        )
        for n in (0, 1_000)
    )
    assert len(within) == 20 and all(isinstance(row, WitRow) for row in within)
    (rejected,) = beyond
    assert (rejected.reason, rejected.excerpt) == ("too_long", IMAGE["image_url"])
    assert rejected.detail == (
        "The rows of its 1,020 pages, which all repeat the texts of the image, have over 20 times "
        "the characters of the record: shorten the texts of the image."
    )
