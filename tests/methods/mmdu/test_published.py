"""MMDU's published forms: what another project's loader finds, what is read back, what is refused."""

import base64
import json
import re
import tracemalloc
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.evaluation.items import Turn
from methods.evaluation.published import PublishedError, PublishedItem
from methods.evaluation.published_tables import list_of_texts
from methods.invisible_characters import visible_text
from methods.mmdu.published import (
    MOST_TEXT,
    mmdu_record,
    read_published,
    tsv_lines,
    write_published,
)
from methods.prompts.messages import IMAGE_HERE
from methods.release import image_positions
from tests.methods.refusals import clause_of

FIRST, SECOND = "Image1: <ImageHere>, Image2: <ImageHere>. Compare them.", "And <image-2>?"
OLDER = "<image-1> is “älter”."
PICTURES = ("images/a.jpg", "images/b.png")
BRIDGES = PublishedItem(
    "d1",
    (Turn(1, FIRST, (1, 2), {"answer": OLDER}), Turn(2, SECOND, (), {"answer": "Newer."})),
    PICTURES,
)


def said(*values: str) -> list[dict[str, str]]:
    who = ("user", "assistant")
    return [{"from": who[n % 2], "value": text} for n, text in enumerate(values)]


RECORD = {"id": "d1", "image": [*PICTURES], "conversations": said(FIRST, OLDER, SECOND, "Newer.")}


def read(name: str, text: str) -> list[PublishedItem]:
    return list(read_published(name, text.splitlines(keepends=True)))


def read_records(*records: object) -> list[PublishedItem]:
    return read("benchmark.json", json.dumps(records))


def bytes_of(path: str) -> bytes:
    """Stands for the picture under a path."""
    return b"picture " + path.encode()


def written(name: str, items: Sequence[PublishedItem]) -> str:
    return "".join(write_published(items, bytes_of)[name])


def test_a_dialogue_in_mmdus_form() -> None:
    assert mmdu_record(BRIDGES) == RECORD
    assert list(mmdu_record(BRIDGES)) == ["id", "image", "conversations"]
    assert read_records(RECORD) == [BRIDGES]
    (item,) = read_records({**RECORD, "id": 3})
    assert item.item_id == "3"


def test_what_else_a_record_says_in_a_text_or_a_number_is_a_label_and_comes_back() -> None:
    record = {**RECORD, "set": "bridges", "seed": 7, "tags": ["old"], "note": "", "answer": "x"}
    (item,) = read_records(record)
    # A list is no label, an empty text says nothing, and `answer` is a column of the other form.
    assert item.labels == {"set": "bridges", "seed": "7"}
    assert mmdu_record(item) == {**RECORD, "set": "bridges", "seed": "7"}


def test_a_row_has_lists_of_texts_and_the_images_inside() -> None:
    header, row = written("mmdu.tsv", [BRIDGES]).splitlines()
    assert header == '"index"\t"question"\t"answer"\t"image"'
    encoded = [base64.b64encode(bytes_of(path)).decode() for path in PICTURES]
    lists = ([FIRST, SECOND], [OLDER, "Newer."], encoded)
    assert row.split("\t") == ['"d1"', *(f'"{each!r}"' for each in lists)]
    # Columns of labels stand in the order of their names.
    labelled = replace(BRIDGES, labels=dict.fromkeys("zyxwvu", "old"))
    header, _ = written("mmdu.tsv", [labelled]).splitlines()
    assert "".join(name[1] for name in header.split("\t") if len(name) == 3) == "uvwxyz"


def test_paths_may_stand_for_images_and_lists_be_long():
    # A column without a name is the row number of a table and no label.
    text = "\tindex\tquestion\timage_path\n7\t4\t['<ImageHere>?', 'Why?']\t['a/b.jpg']\n"
    assert read("MMDU.TSV", text) == [
        PublishedItem("4", (Turn(1, "<ImageHere>?", (1,)), Turn(2, "Why?")), ("a/b.jpg",))
    ]
    # A list of almost a million characters is read.
    question = IMAGE_HERE + "a" * (MOST_TEXT - 20)
    (item,) = read("mmdu.tsv", row(question=repr([question])))
    assert item.turns[0].question == question


TEXTS = st.lists(
    st.just(IMAGE_HERE)
    | st.sampled_from([*"\"'\n\t\\\0\ufeff\u2028字,", "\r\n", "[]"])
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
    max_size=6,
).map("".join)
QUESTIONS = TEXTS.filter(visible_text)
IDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8).filter(
    lambda item_id: not re.match(r"\s*-?[0-9]+[.e]", item_id)
)
"""An id of a table that is written like a float is read as one."""
NAMES = st.sampled_from(["topic", "set", "länge"])


@st.composite
def items(draw: st.DrawFn) -> PublishedItem:
    questions = draw(st.lists(QUESTIONS, min_size=1, max_size=4))
    answers = draw(st.lists(TEXTS, min_size=len(questions), max_size=len(questions)))
    turns = tuple(
        Turn(number, question, entering, {"answer": answer} if answer else {})
        for number, (question, entering, answer) in enumerate(
            zip(questions, image_positions(questions), answers, strict=True), start=1
        )
    )
    n_images = sum(len(turn.image_positions) for turn in turns)
    paths = draw(st.lists(IDS, min_size=n_images, max_size=n_images))
    labels = draw(st.dictionaries(NAMES, IDS, max_size=2))
    return PublishedItem(draw(IDS), turns, tuple(paths), labels=labels)


RELEASES = st.lists(items(), min_size=1, max_size=3, unique_by=lambda item: item.item_id)


@given(RELEASES)
def test_what_was_written_is_read_as_it_was_in_both_forms(released: list[PublishedItem]) -> None:
    text = written("dialogues.json", released)
    again = read("dialogues.json", text)
    assert again == released
    assert [mmdu_record(item) for item in again] == json.loads(text)
    # A table has the images themselves.
    text = written("mmdu.tsv", released)
    again = read("mmdu.tsv", text)
    assert again == [
        replace(item, images=tuple(bytes_of(str(path)) for path in item.images))
        for item in released
    ]
    assert "".join(tsv_lines(again, bytes_of)) == text


def changed(**of: object) -> list[object]:
    """A good record, and one that is changed."""
    return [RECORD, {**RECORD, "id": "d2", **of}]


def talk(*values: str) -> list[object]:
    return changed(image=[], conversations=said(*values))


D2 = "record 2 ('d2')"
NO_LIST = "its image is not a list of texts"
SURROGATE = "has a text with half a character (a lone surrogate)"
JSON_REFUSED = [
    ("[" * 200_000, "it is not valid JSON"),
    ("[]", "it has no records"),
    ("[7]", "record 1 is not a mapping"),
    *((changed(id=wrong), "record 2 has no id") for wrong in ("", True, ["x"])),
    (
        [{**RECORD, "id": "ü\n" + "x" * 500, "image": []}],
        f"record 1 ('\\xfc\\n{'x' * 78}') has 2 <ImageHere> for 0 images",
    ),
    (changed(image=["a.jpg"]), f"{D2} has 2 <ImageHere> for 1 images"),
    (changed(image=["a.jpg", None]), f"{D2}: {NO_LIST}"),
    (changed(conversations=None), f"{D2} has no list of conversations"),
    (changed(conversations=[{"from": "user"}]), f"{D2}: message 1 has no text"),
    (
        changed(conversations=said(FIRST, OLDER, SECOND)[1:]),
        f"{D2}: the user is to speak in message 1",
    ),
    (changed(conversations=said(FIRST)[:1] * 2), f"{D2}: the assistant is to speak in message 2"),
    (
        changed(conversations=said(FIRST, OLDER, SECOND)),
        f"{D2}: the last question has no message of the assistant",
    ),
    (talk(" \n", "A"), f"{D2}: question 1 is empty"),
    (talk("\u2800", "A"), f"{D2}: question 1 is empty"),
    (talk("Q \ud800", "A"), f"{D2} {SURROGATE}"),
]


@pytest.mark.parametrize(("content", "why"), JSON_REFUSED, ids=[why for _, why in JSON_REFUSED])
def test_a_wrong_record_of_the_json_is_named_with_what_is_wrong(content: object, why: str) -> None:
    text = content if isinstance(content, str) else json.dumps(content)
    assert clause_of(read, "benchmark.json", text) == why


def row(**of: str | None) -> str:
    """A TSV of one row; a column of None is not there."""
    cells = {"index": "1", "question": "['<ImageHere>?']", "answer": "['A']", "image": "['YQ==']"}
    there = {name: cell for name, cell in (cells | of).items() if cell is not None}
    return "\t".join(there) + "\n" + "\t".join(there.values()) + "\n"


LIST = "record 1 ('1'): its question is not a list of at most 10,000 texts"
LONG = "record 1 ('1') has more than 1,000,000 characters in its column"
TSV_REFUSED = [
    ("index\tindex\tquestion\timage\n", "two of its columns have the same name"),
    ("index\tquestion\timage\n1\t['Q']\n", "record 1 has 2 columns instead of 3"),
    (row() + row().partition("\n")[2], "two records have the id '1'"),
    (row(answer="['A', 'B']"), "record 1 ('1') has 2 answers to 1 questions"),
    (row(question="[]", answer="[]", image="[]"), "record 1 ('1') has no turns"),
    *((row(question=cell), LIST) for cell in ("What?", "{'a': 1}", "[1]", "['\0']", "[" * 5000)),
    (row(question="__import__('os').system('touch /tmp/evaluated')"), LIST),
    (row(question="-" * 100_000 + "1"), LIST),
    (row(question="['a' 'b']"), LIST),
    (row(question=repr(["?"] * 10_000)), "record 1 ('1') has 1 answers to 10000 questions"),
    (row(question=repr(["?"] * 10_001)), LIST),
    (row(question="['" + "a" * MOST_TEXT + "']"), f"{LONG} question"),
    (row(question="['\\ud800 <ImageHere>']"), f"record 1 ('1') {SURROGATE}"),
]


@pytest.mark.parametrize(
    ("text", "why"), TSV_REFUSED, ids=[f"{n} {why}" for n, (_, why) in enumerate(TSV_REFUSED)]
)
def test_a_wrong_row_of_the_tsv_is_named_with_what_is_wrong(text: str, why: str) -> None:
    assert clause_of(read, "mmdu.tsv", text) == why


@pytest.mark.parametrize("part", ["1,", "1+", "'a',", "'a'"])
def test_a_cell_of_many_values_is_refused_before_it_is_parsed(part: str) -> None:
    cell = f"[{part * 50_000}1]"
    tracemalloc.start()
    try:
        with pytest.raises(PublishedError, match="image is not a list of at most 10,000 texts"):
            list_of_texts("record 1", "image", cell)
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()
