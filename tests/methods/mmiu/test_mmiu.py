"""MMIU before a model, its tasks, its published forms, and which question a prediction is of."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest

from methods.choice.lettered import LETTERS, with_hint
from methods.evaluation.asking import AnswerRequest
from methods.evaluation.cells import FileRow
from methods.evaluation.items import Item, Turn
from methods.evaluation.predictions import PredictionKey, Unplaced
from methods.evaluation.published import PublishedItem
from methods.mmiu import Mmiu, order_of
from methods.mmiu.predictions import places
from methods.mmiu.published import read_published, write_published
from methods.mmiu.taxonomy import TASKS, image_level, task_of
from tests.methods.choice.questions import item, run, scored, text_of
from tests.methods.evaluation.observed import ScoredObservation
from tests.methods.evaluation.observed import number as by_hand
from tests.methods.refusals import clause_of

ONCE, TWICE = Mmiu(), Mmiu(retest=True)
BIRDS = item("B", "crow", "owl", "gull", labels={"task": "spot-the-diff"})


def knows(ask: AnswerRequest) -> str:
    (line,) = (line for line in text_of(ask).splitlines() if line.endswith(") owl"))
    return line[1]


def number(benchmark: Mmiu, name: str, over: str, rows: list[ScoredObservation]) -> float | None:
    (metric,) = (m for m in benchmark.metrics if (m.name, m.aggregation) == (name, over))
    return by_hand(metric, rows, floor=True)


def test_refusals_are_misses_and_left_out_of_a_figure_of_their_own() -> None:
    rows = []
    # Of four questions one is right, one wrong, one declined in words and one by a filter.
    declined = ("I'm sorry, but I can't.", "refused")
    for n, (said, status) in enumerate(
        [("B", "answered"), ("A", "answered"), declined, (None, "")]
    ):
        of = item("B", "x", "y", item_id=f"q{n}", labels={"task": "a"})
        rows += scored(ONCE, of, run(ONCE, of, lambda ask, said=said: said, status=status)[1])
    for over in ("micro", "macro by task"):
        assert number(ONCE, "Accuracy", over, rows) == 25
        assert number(ONCE, "Accuracy, refusals left out", over, rows) == 50
        assert number(ONCE, "Upper bound", over, rows) == 75


@pytest.mark.parametrize(
    ("reply", "n_asked", "once", "retested"),
    [(knows, 2, 100, 100), (lambda ask: "B", 2, 100, 0), (lambda ask: "A", 1, 0, 0)],
    ids=["knows", "repeats a letter", "is wrong at once"],
)
def test_what_is_right_is_asked_again_in_another_order(reply, n_asked, once, retested) -> None:
    steps, transcript = run(TWICE, BIRDS, reply)
    asks = [step for step in steps if isinstance(step, AnswerRequest)]
    assert [ask.trial for ask in asks] == ["plain", "retest-1"][:n_asked]
    assert "(B) owl" not in "".join(text_of(ask) for ask in asks[1:])
    rows = scored(TWICE, BIRDS, transcript)
    assert number(TWICE, "Accuracy", "micro", rows) == once
    assert number(TWICE, "Accuracy, retested", "micro", rows) == retested


def test_the_order_of_a_retest_is_the_items_own_and_asking_twice_another_version() -> None:
    orders = {order_of(item("A", *"wxyz", item_id=f"q{n}"), "retest-1") for n in range(20)}
    assert len(orders) > 5
    assert ONCE.answer_version != TWICE.answer_version


def test_the_taxonomy_is_the_papers_and_every_task_is_found_by_its_own_name():
    assert len({task.name for task in TASKS}) == len({task.abbreviation for task in TASKS}) == 52
    # Numbers of tasks by relation (Table A.2).
    assert list(Counter(task.relation for task in TASKS).values()) == [9, 11, 6, 8, 2, 13, 3]
    # Every task is found by its own name and no other name is one.
    assert all(task_of(task.name) == task for task in TASKS)
    assert task_of("counting_sheep") is None and task_of("") is None
    # Levels of the number of images.
    few, many = "few (2-5)", "many (16-32)"
    levels = ["one", few, few, "medium (6-15)", many, many, "over 32"]
    assert [image_level(n) for n in (1, 2, 5, 6, 16, 32, 33)] == levels


def test_a_released_record_names_its_task_with_its_data_set() -> None:
    tasks = {
        "forensic_detection_blink": "forensic-detection",
        "visual_quality_assessment_q_bench+": "visual-quality-assessment",
        "Egocentric_Video_QuestionAnswering": "egocentric-video-question-answering",
        "meme_vedio_understanding": "meme-video-understanding",
        "Causality Reasoning": "casuality-reasoning",
        "3D Pose Estimation": "threeD-pose-estimation",
        "threed_cad_recognition": "threed-cad-recognition",
    }
    found = {released: task_of(released) for released in tasks}
    assert {released: task and task.name for released, task in found.items()} == tasks


ITEMS = [
    item("A", "cat", "dog", item_id="mevis-1", labels={"task": "mevis", "subset": "mevis_x"}),
    item("B", "cat", "cow", item_id="mevis-2", labels={"task": "mevis", "subset": "mevis_x"}),
    item("A", "red", "blue", item_id="own", labels={"task": "sheep"}),
]


def found(*rows: dict[str, str], items: list[Item] = ITEMS) -> list[PredictionKey | Unplaced]:
    return places(items, [FileRow("record", row) for row in rows])


def keys(*item_ids: str) -> list[PredictionKey]:
    return [PredictionKey(item_id, "plain") for item_id in item_ids]


def test_a_row_names_its_question_by_id_or_place_and_its_choices():
    named = found({"item_id": "own"}, {"id": "mevis-2"}, {"index": "1"}, {"index": "3.0"})
    assert named == keys("own", "mevis-2", "mevis-1", "own")
    assert found({"item_id": "x"}, {"index": "4"}, {"index": "1000001"}) == ["unknown"] * 3
    # Where ids are numbers an index is the id.
    items = [item("A", "cat", "dog", item_id=item_id) for item_id in ("0", "1")]
    assert found({"index": "0"}, {"index": "1"}, items=items) == keys("0", "1")
    # Other choices are another question.
    assert found({"item_id": "own", "A": "red", "B": "green"}) == ["other_choices"]
    assert found({"item_id": "own", "A": "red", "B": "blue"}) == [PredictionKey("own", "plain")]
    assert found({"item_id": "own", "options": "A: red"}) == ["other_choices"]


def test_records_without_an_id_are_the_questions_of_their_task_in_order() -> None:
    whole = [
        {"task": "mevis_x", "options": "A: cat\nB: dog"},
        {"task": "sheep", "options": "A: red\nB: blue"},
        {"task": "mevis_x", "options": "A: cat\nB: cow\n"},
    ]
    assert found(*whole) == keys("mevis-1", "own", "mevis-2")
    # One of a task is missing: which one, nobody knows.
    assert found(*whole[1:]) == [*keys("own"), "unknown"]
    # In another order than the release's.
    assert found(whole[2], whole[1], whole[0])[0] == "other_choices"


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


def test_a_record_is_read_and_written_in_the_authors_form() -> None:
    assert read_records(RECORD) == [PHOTOGRAPH]
    (record,) = json.loads(written("mmiu.json", [PHOTOGRAPH]))
    assert record == {**RECORD, "context": RECORD["context"].rstrip()}
    # Choices stand in the options alone.
    (item,) = read_records({**RECORD, "context": "You are a judge."})
    assert "Context: You are a judge.\nQuestion: Which" in item.turns[0].question
    (bare,) = read_records({**RECORD, "context": OPTIONS, "options": f"{OPTIONS}\n"})
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
    (
        {"options": "\n".join(f"{letter}: {letter}" for letter in "ABCDEFGHIJK")},
        "record 1 has 11 choices instead of 2 to 10",
    ),
    ({"options": "A: x\nB:\nC: y"}, "record 1: its choice B is empty"),
    ({"options": "(A) x\n(B) y"}, "record 1: its options do not begin with 'A:'"),
    ({"input_image_path": "a.jpg"}, "record 1: its input_image_path is not a list of texts"),
    *(
        ({"context": value}, "record 1: its context is not a text")
        for value in (["Only", "here"], {"text": "here"}, True)
    ),
    ({"answer": "A", "output": "B"}, "record 1: its answer and its output differ: remove one"),
    ({"source": "\ud800"}, "record 1 has a text with half a character (a lone surrogate)"),
]


@pytest.mark.parametrize(("changed", "why"), REFUSED)
def test_what_is_refused(changed: dict[str, object], why: str) -> None:
    assert clause_of(read_records, {**RECORD, **changed}) == why
    assert clause_of(read, "[7]") == "record 1 is not a mapping"
