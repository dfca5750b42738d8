"""Metadata as Table A.4 has it: what is read, and what every wrong file is told."""

import json
from typing import Any

import pytest

from methods.mmiu.metadata import MetadataFault, Sample, TaskInfo, read_metadata

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
        TaskInfo("point-tracking", "Follow a point.", "images", "number"),
        *("TAP-Vid", ("a.jpg", "b.jpg"), "", "How far did it move?", "natural image", "12 px"),
    )
    assert read_metadata("x.json", json.dumps(one)) == [read]
    assert read_metadata("x.json", json.dumps([one, one])) == [read, read]
    lines = f"{json.dumps(one)}\n\n{json.dumps(one)}\n"
    assert read_metadata("x.JSONL", lines) == [read, read]
    # Inside a JSON string, no character ends a line.
    question = "How\x85far\u2028did it move?"
    line = json.dumps(
        {"Task Info": INFO, "Samples": [changed(Question=question)]}, ensure_ascii=False
    )
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


@pytest.mark.parametrize(
    ("sample", "fault"),
    [
        ({}, " has no Input"),
        (7, " has no Input"),
        (changed(Source=" "), " has no Source"),
        (changed(Question=None), " has no Question"),
        (changed(Output=["x"]), ": its Output is not a text"),
        (changed(Output="\ud800"), ": its Output is not a text"),
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


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("x.json", "", "it is not JSON ("),
        ("x.json", "[]", "it has no sample"),
        ("x.json", "7", "task 1 is not a mapping"),
        ("x.json", '{"Samples": [1]}', "task 1 has no Task Info; task 1, sample 1 has no Input"),
        ("x.jsonl", "{}\n{", "line 1 has no Task Info; line 1 has no list of Samples; line 2 is "),
        ("x.json", "[" * 100_000, "it is not JSON"),
    ],
)
def test_a_file_that_is_none_says_why(name: str, text: str, fault: str) -> None:
    with pytest.raises(MetadataFault) as caught:
        read_metadata(name, text)
    assert str(caught.value).startswith(fault)
