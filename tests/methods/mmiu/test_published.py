"""MMIU's published forms: records and tables with several images, read, written, refused."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from methods.choice.lettered import LETTERS, with_hint
from methods.evaluation.items import Turn
from methods.evaluation.published import PublishedItem
from methods.mmiu.published import read_published, write_published
from tests.methods.refusals import clause_of

OPTIONS = "A: the first image\nB: the second image"
RECORD = {
    "task": "forensic_detection_blink",
    "visual_input_component": "natural image and synthetic image",
    "source": "blink",
    "options": OPTIONS,
    "question": "Which image is a photograph?",
    "context": f"You are a judge.\nSelect from the following choices.\n{OPTIONS}\n",
    "input_image_path": ["./fd/0_0.jpg", "./fd/0_1.jpg"],
    "output": "B",
}
LABELS = {
    "task": "forensic-detection",
    "relation": "low-level semantic",
    "subset": "forensic_detection_blink",
    "images": "few (2-5)",
    "visual_input_component": "natural image and synthetic image",
    "source": "blink",
}
PHOTOGRAPH = PublishedItem(
    "forensic_detection_blink-1",
    (
        Turn(
            1,
            "Image1: <ImageHere>, Image2: <ImageHere>\nContext: You are a judge.\nSelect from the "
            "following choices.\nQuestion: Which image is a photograph?",
            (1, 2),
            {"key": "B"},
        ),
    ),
    ("./fd/0_0.jpg", "./fd/0_1.jpg"),
    ("the first image", "the second image"),
    labels=LABELS,
)


def read(text: str, name: str = "all.json") -> list[PublishedItem]:
    return list(read_published(name, text.splitlines(keepends=True)))


def read_records(*records: object) -> list[PublishedItem]:
    return read(json.dumps(records))


def bytes_of(path: str) -> bytes:
    return b"picture " * 10 + path.encode()


def written(name: str, items: Sequence[PublishedItem]) -> str:
    return "".join(write_published(items, bytes_of)[name])


def test_choices_stand_in_options_alone_and_an_output_may_be_held_out():
    (item,) = read_records({**RECORD, "context": "You are a judge."})
    assert "Context: You are a judge.\nQuestion: Which" in item.turns[0].question
    (bare,) = read_records({**RECORD, "context": OPTIONS})
    assert bare.turns[0].question.endswith("<ImageHere>\nWhich image is a photograph?")
    # Up to ten choices and one that goes on in the next line.
    options = "\n".join(f"{letter}: {letter.lower()} 1\n  and more" for letter in LETTERS)
    (item,) = read_records({**RECORD, "options": options, "output": " j "})
    assert len(item.choices) == 10 and item.choices[9] == "j 1\n  and more"
    assert item.turns[0].references == {"key": "J"}
    # An output that is null is held out.
    (item,) = read_records({**RECORD, "output": None})
    assert item.turns[0].references == {}
    assert json.loads(written("mmiu.json", [item]))[0]["output"] is None


def test_a_record_is_read_and_written_in_the_authors_form() -> None:
    assert read_records(RECORD) == [PHOTOGRAPH]
    (record,) = json.loads(written("mmiu.json", [PHOTOGRAPH]))
    assert record == {**RECORD, "context": RECORD["context"].rstrip()}


def test_a_table_may_have_options_output_and_paths() -> None:
    header = "index\ttask\tquestion\tcontext\toptions\toutput\timage_path\n"
    row = f"5\tmevis\tWhich?\tLook.\t\"{OPTIONS}\"\tA\t['a.jpg', 'b.jpg']\n"
    (item,) = read(header + row, "mmiu.tsv")
    assert (item.item_id, item.images) == ("5", ("a.jpg", "b.jpg"))
    assert item.turns[0].references == {"key": "A"}
    assert item.labels["relation"] == "continuous temporal"


ODD = ['a "b"\t字', "A. None", "'c'", "Context: d", "\\n", "é"]
"""Choices, each on one line."""
OTHERS = [
    PublishedItem(
        "b1",
        (Turn(1, with_hint('Look\nat "B. it".', "A\tB: x\nC: y", "Context", 1), (1,)),),
        ("0.jpg",),
        tuple(ODD),
        labels={"task": "sheep", "subset": "sheep", "images": "one", "länge": "\t\n"},
    ),
    replace(PHOTOGRAPH, item_id="a", labels={**LABELS, "source": 'x"\ty'}, choices=tuple(ODD[:2])),
]


def test_what_was_written_is_read_as_it_was_in_both_forms() -> None:
    released = [PHOTOGRAPH, *OTHERS]
    assert read(written("mmiu.json", released)) == released
    assert read(written("mmiu.tsv", released), "mmiu.tsv") == [
        replace(item, images=tuple(bytes_of(str(path)) for path in item.images))
        for item in released
    ]


REFUSED = [
    ({"options": ""}, "record 1 has 0 choices instead of 2 to 10"),
    ({"options": "A: x\nB:\nC: y"}, "record 1: its choice B is empty"),
    ({"options": "(A) x\n(B) y"}, "record 1: its options do not begin with 'A:'"),
    ({"input_image_path": "a.jpg"}, "record 1: its input_image_path is not a list of texts"),
    ({"source": "\ud800"}, "record 1 has a text with half a character (a lone surrogate)"),
]


@pytest.mark.parametrize(("changed", "why"), REFUSED)
def test_what_is_refused(changed: dict[str, object], why: str) -> None:
    assert clause_of(read_records, {**RECORD, **changed}) == why
    assert clause_of(read, "[7]") == "record 1 is not a mapping"
