"""Metadata as Table A.4 has it, and wrong choices, by rule, worked by hand, or written by a model."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.mmiu.converting import (
    choose_samples,
    form_of,
    near_numbers,
    other_of_two,
    other_orders,
    read_distractors,
    sample_id,
    wrong_choices,
)
from methods.mmiu.metadata import MetadataFault, Sample, TaskInfo, read_metadata
from tests.methods.refusals import reason_of

INFO = {
    "TaskName": "point-tracking",
    "TaskDescription": "Follow a point.",
    "Input Format": "images",
    "Output Format": "Number",
}
SAMPLE = {
    "Source": "TAP-Vid",
    "Input": {
        "Input Image": ["a.jpg", "b.jpg"],
        "Input Context": "",
        "Question": "How far did it move?",
        "Visual Component": "natural image",
    },
    "Output": "12 px",
}


def told(*samples: object, name: str = "x.json", **info: object) -> str:
    with pytest.raises(MetadataFault) as caught:
        read_metadata(name, json.dumps({"Task Info": {**INFO, **info}, "Samples": list(samples)}))
    return str(caught.value)


def changed(**changes: object) -> dict[str, Any]:
    asked = {key: changes.pop(key) for key in list(changes) if key in SAMPLE["Input"]}
    return {**SAMPLE, **changes, "Input": {**SAMPLE["Input"], **asked}}


def test_a_task_with_its_samples_is_read_from_json_and_json_lines() -> None:
    one = {"Task Info": INFO, "Samples": [SAMPLE]}
    read = Sample(
        TaskInfo("point-tracking", "Follow a point.", "number"),
        *("TAP-Vid", ("a.jpg", "b.jpg"), "", "How far did it move?", "12 px"),
    )
    assert read_metadata("x.json", json.dumps(one)) == [read]
    assert read_metadata("x.json", json.dumps([one, one])) == [read, read]
    lines = f"{json.dumps(one)}\n\n{json.dumps(one)}\n"
    assert read_metadata("x.JSONL", lines) == [read, read]
    # Inside a JSON string, no character ends a line.
    question = "How\x85far\u2028did it move?"
    other_task = {**one, "Samples": [changed(Question=question)]}
    line = json.dumps(other_task, ensure_ascii=False)
    (sample,) = read_metadata("x.jsonl", f"{line}\r\n")
    assert sample.question == question


def test_names_numbers_and_one_image_are_read_as_they_are_spelt():
    info = {**INFO, "TaskName": "Meme Vedio Understanding"}
    (sample,) = read_metadata("x.json", json.dumps({"Task Info": info, "Samples": [SAMPLE]}))
    assert sample.task.name == "meme-video-understanding"
    # Numbers and truth are taken as texts and one image as a list.
    for output, text in ((3, "3"), (0.5, "0.5"), (True, "yes"), (False, "no")):
        given = changed(Output=output, **{"Input Image": "a.jpg"})
        (sample,) = read_metadata("x.json", json.dumps({"Task Info": INFO, "Samples": [given]}))
        assert (sample.output, sample.images) == (text, ("a.jpg",))
    given = changed(**{"Also Right": ["12 pixels"]})
    (sample,) = read_metadata("x.json", json.dumps({"Task Info": INFO, "Samples": [given]}))
    assert sample.also_right == ("12 pixels",)


@pytest.mark.parametrize(
    ("sample", "fault"),
    [
        ({}, " has no Input"),
        (changed(Source=" "), " has no Source"),
        (changed(Output=["x"]), ": its Output is not a text"),
        (changed(**{"Input Image": [1]}), ": its Input Image is not a list of texts"),
        (changed(**{"Input Image": []}), ": it has no Input Image"),
        (changed(**{"Wrong Outputs": ["1", "1"]}), ": its Wrong Outputs has one twice"),
        (changed(**{"Wrong Outputs": ["12 px"]}), ": its Output is among its Wrong Outputs"),
        (changed(**{"Key Word": "far"}), ": it has only one of Key Word and Other Word"),
        (changed(**{"Key Word": "near", "Other Word": "far"}), ": its Key Word 'near' is not in"),
        (changed(Question="What is in <ImageHere>?"), ": its texts have <ImageHere>; images are"),
    ],
)
def test_a_fault_of_a_sample_is_named_with_its_place(sample: object, fault: str) -> None:
    assert told(SAMPLE, sample).startswith(f"task 1, sample 2{fault}")


def test_every_fault_is_named_and_many_are_counted():
    both = told(changed(Source="", Question=""))
    assert both == "task 1, sample 1 has no Source; task 1, sample 1 has no Question"
    assert told(*[{}] * 12).endswith("task 1, sample 10 has no Input; and 2 more faults")
    # A task that is none of the 52 is named.
    assert told(SAMPLE, TaskName="juggling") == "task 1: 'juggling' is none of MMIU's 52 tasks"


TRACKING = TaskInfo("point-tracking", "Follow.", "label")
JIGSAW = TaskInfo("jigsaw-puzzle-solving", "Restore.", "order")


def sample(output: str, task: TaskInfo = TRACKING, name: str = "s", **more: object) -> Sample:
    made = Sample(task, name, ("x", "y"), "", "Which?", output)
    return replace(made, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("form", "outputs"),
    [
        ("yes/no", ["Yes", "no.", "False"]),
        ("number", ["12", "-3.50 m", "90 degrees", "95%"]),
        ("order", ["1 2", "2, 1, 3", "[2,0,1]", "B-A-C"]),
        ("text", ["2, 2, 3", "1.2.3", "The cat jumps over the fence because it is chased."]),
    ],
)
def test_the_form_is_seen_in_the_output_unless_the_task_says_it(form, outputs) -> None:
    for output in outputs:
        assert form_of(sample(output), [output]) == form
    if form != "text":
        assert form_of(sample("a kite", replace(TRACKING, output_format=form)), []) == form


def test_a_short_output_is_a_name_where_enough_others_of_its_task_are_short() -> None:
    pool = ["kite", "red kite", "owl", "crow"]
    assert form_of(sample("kite"), pool) == "name"
    assert form_of(sample("kite"), pool[:3]) == "text"
    assert form_of(sample("kite"), [*pool[:3], "a bird that nobody has ever seen"]) == "text"
    # Who says that it is a text has the wrong choices written.
    free = replace(TRACKING, output_format="text")
    assert form_of(sample("kite", free), pool) == "text"
    assert form_of(sample("12", free), pool) == "number"


@pytest.mark.parametrize(
    ("output", "near"),
    [
        ("90 deg", {f"{n} deg" for n in (60, 70, 80, 100, 110, 120)}),
        ("3,57", {"3,27", "3,37", "3,47", "3,67", "3,77", "3,87"}),
        ("2", set("01345")),
        ("-4", {"-7", "-6", "-5", "-3", "-2", "-1"}),
        ("007", {"004", "005", "006", "008", "009", "010"}),
        ("99%", {"96%", "97%", "98%", "100%"}),
        ("100%", {"70%", "80%", "90%"}),
    ],
)
def test_numbers_near_another_are_written_alike(output: str, near: set[str]) -> None:
    drawn = [near_numbers(output, 3, seed) for seed in range(30)]
    assert set().union(*drawn) == near
    assert all(len(set(each)) == 3 and output not in each for each in drawn)


def test_other_orders_are_written_alike_and_of_many_places_are_different_orders_of_them() -> None:
    assert set(other_orders("[1-0]", 7, 0)) == {"[0-1]"}
    assert len(set(other_orders("B A C", 7, 0)) - {"B A C"}) == 5
    found = other_orders("1, 2, 3, 4, 5, 6, 7, 8", 7, 0)
    assert len(set(found)) == 7 and "1, 2, 3, 4, 5, 6, 7, 8" not in found
    assert {"".join(sorted(each.split(", "))) for each in found} == {"12345678"}


def test_the_other_of_two_is_written_alike() -> None:
    others = {"Yes": "No", "no": "yes", "NO.": "YES.", "True": "False", "false": "true"}
    for output, other in others.items():
        assert other_of_two(output) == other
        assert wrong_choices(sample(output), "yes/no", [], 0) == (other,)


def test_wrong_choices_are_a_samples_own_then_of_the_tasks_pool_and_none_is_right_too() -> None:
    own = sample("kite", wrong=("eagle", "hawk"))
    assert set(wrong_choices(own, "name", ["kite", "owl"], 0)) == {"eagle", "hawk", "owl"}
    assert len(wrong_choices(replace(own, wrong=tuple("abcde")), "name", [], 0)) == 3
    pool = ["kite", "Kite.", "milan", "owl", "crow", "jay", "rook"]
    right_too = sample("kite", also_right=("Milan",))
    for seed in range(20):
        wrong = wrong_choices(right_too, "name", pool, seed)
        assert len(wrong) == 3 and set(wrong) <= {"owl", "crow", "jay", "rook"}
    # Candidates are other images than those of the question.
    query = sample("right", replace(TRACKING, output_format="image"))
    assert set(wrong_choices(query, "image", ["x", "y", "right", "p", "q"], 0)) == {"p", "q"}


SAMPLES = st.lists(st.integers(0, 200), unique=True, max_size=40).map(
    lambda names: [sample("7", (TRACKING, JIGSAW)[name % 2], str(name)) for name in names]
)


@given(SAMPLES, SAMPLES, st.integers(1, 5), st.integers(0, 2))
def test_the_cap_holds_and_what_comes_only_takes_places(before, more, most, seed):
    first, now = choose_samples(before, most, seed), choose_samples([*before, *more], most, seed)
    for task in (TRACKING, JIGSAW):
        of_task = [each for each in now if each.task == task]
        assert len(of_task) == min(most, len({s for s in (*before, *more) if s.task == task}))
    # What was chosen before and is not now made room for what came.
    assert len(set(first) - set(now)) <= len(set(now) - set(before))
    assert set(now) - set(first) <= set(more)
    assert choose_samples(list(reversed(before)), most, seed) == first


def test_how_many_are_smaller_is_drawn_and_samples_are_told_apart_by_all_that_they_show() -> None:
    places = {sorted([50, *map(int, near_numbers("50", 3, seed))]).index(50) for seed in range(40)}
    assert places == {0, 1, 2, 3}
    ids = {
        *(sample_id(sample("7")), sample_id(sample("7"), 1), sample_id(sample("8"))),
        *(sample_id(sample("7", JIGSAW)), sample_id(sample("7", name="t"))),
        *(sample_id(sample("7", images=("y", "x"))), sample_id(sample("7", question="Who?"))),
        sample_id(sample("7", context="Look.")),
    }
    assert len(ids) == 8


TITLE = Sample(
    TaskInfo("multiple-image-captioning", "Find the title.", "text"),
    *("s", ("a", "b"), "Find the title.", "Which title fits?", "Lighthouses"),
    also_right=("Buildings", "Towers"),
)


def reply(*distractors: object) -> str:
    return json.dumps({"distractors": distractors})


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("Windmills, bridges, lakes", "not_json"),
        (reply("Windmills", "Lakes"), "too_few_choices"),
        (reply("Windmills", "Lakes", "Kites", "Maps"), "too_many_choices"),
        (reply("Windmills", "Lakes", "the lighthouses."), "answer_among_distractors"),
        (reply("Windmills", "Lakes", "towers"), "also_right"),
        (reply("A. Windmills", "Lakes", "Kites"), "lettered_choice"),
    ],
)
def test_a_reply_that_is_not_sound_is_refused_by_name(said: str, reason: str) -> None:
    assert reason_of(read_distractors, TITLE, said) == reason
