"""Wrong choices that a model writes: what is taken, and what is refused by name."""

import json
from dataclasses import replace

import pytest

from methods.mmiu.converting import distractors_data, read_distractors
from methods.mmiu.metadata import Sample, TaskInfo
from methods.prompts.parsing import ParseError

TITLE = Sample(
    TaskInfo("multiple-image-captioning", "Find the title.", "images", "text"),
    *("s", ("a", "b"), "Find the title.", "Which title fits?", "natural image", "Lighthouses"),
    also_right=("Buildings", "Towers"),
)


def reply(*distractors: object) -> str:
    return json.dumps({"distractors": distractors})


def test_the_prompt_is_told_how_many_and_what_is_right_too() -> None:
    assert distractors_data(TITLE) == {
        "n_distractors": 3,
        "context": "Find the title.",
        "question": "Which title fits?",
        "answer": "Lighthouses",
        "also_right": "Buildings\nTowers",
    }
    yes_no = replace(TITLE, task=replace(TITLE.task, name="spot-the-similarity"))
    assert distractors_data(yes_no)["n_distractors"] == 1


def test_wrong_choices_are_read_on_one_line_and_without_letters() -> None:
    found = ("Windmills", "Water towers", "Bridges")
    assert read_distractors(TITLE, reply(*found)) == found
    assert read_distractors(TITLE, reply("A. Windmills", "B. Water\ntowers", "C. Bridges")) == found
    assert read_distractors(TITLE, f"```json\n{reply(*found)}\n```") == found


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("Windmills, bridges, lakes", "not_json"),
        ('{"wrong": []}', "not_json"),
        (reply("Windmills", 7, "Lakes"), "wrong_fields"),
        (reply("Windmills", "\ud800", "Lakes"), "not_unicode"),
        (reply("Windmills", "Lakes"), "too_few_choices"),
        (reply("Windmills", "Lakes", "Kites", "Maps"), "too_many_choices"),
        (reply("Windmills", "Lakes", " "), "empty_choice"),
        (reply("Windmills", "Lakes", "the lighthouses."), "answer_among_distractors"),
        (reply("Windmills", "Lakes", "A lakes"), "repeated_choice"),
        (reply("Windmills", "Lakes", "towers"), "also_right"),
        (reply("A. Windmills", "Lakes", "Kites"), "lettered_choice"),
    ],
)
def test_a_reply_that_is_not_sound_is_refused_by_name(said: str, reason: str) -> None:
    with pytest.raises(ParseError) as caught:
        read_distractors(TITLE, said)
    assert caught.value.reason == reason and caught.value.detail.endswith(".")
