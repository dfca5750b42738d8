"""AlignMMBench's published file, read whole and written back row for row, and files of responses."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.alignmmbench import predictions as forms
from methods.alignmmbench.published import read_published, write_published
from methods.alignmmbench.tasks import CATEGORIES
from methods.evaluation.cells import FileRow
from methods.evaluation.items import Item, Turn
from methods.evaluation.predictions import PredictionKey, predictions_of
from methods.invisible_characters import visible_text
from resources.files.home import REPO_ROOT
from tests.methods.refusals import clause_of

SLICE = REPO_ROOT.parent / "shared" / "data" / "alignmmbench_slice" / "metadata.jsonl"
ROW = {
    "question_id": "00000007-2",
    "image_path": "images/7.jpg",
    "history": [],
    "prompt": "图中有几只猫？",
    "ref_answer": "三只。",
    "task": "Counting",
    "category": "Perception & Understanding",
}
HISTORY = [{"user": "这是什么？", "assistant": "一只猫。"}, {"user": "然后呢？", "assistant": ""}]


def line(**changes: Any) -> str:
    return json.dumps({**ROW, **changes}, ensure_ascii=False) + "\n"


def read(*lines: str) -> list:
    return list(read_published("metadata.jsonl", lines))


def written(items: list) -> str:
    return "".join(write_published(items, lambda path: b"")["metadata.jsonl"])


def test_a_row_is_a_question_of_the_group_of_its_seed_and_its_history_is_given() -> None:
    (item,) = read(line(question_id="set-7-2"))
    assert (item.item_id, item.group_id) == ("set-7-2", "set-7")
    assert item.turns == (Turn(1, "<ImageHere>\n图中有几只猫？", (1,), {"answer": "三只。"}),)
    assert item.images == ("images/7.jpg",) and item.images_may_be_absent
    assert (item.labels["task"], item.labels["category"]) == (ROW["task"], ROW["category"])
    # The picture enters with the first text of a history.
    (item,) = read(line(history=HISTORY, task="Coherence", category="Dialogue Context"))
    assert item.turns == (
        Turn(1, "<ImageHere>\n这是什么？", (1,), given="一只猫。"),
        Turn(2, "然后呢？", given=""),
        Turn(3, "图中有几只猫？", references={"answer": "三只。"}),
    )


@pytest.mark.parametrize("task", [" Description ", "DESCRIPTION"])
def test_a_task_is_known_in_any_case_and_written_back_as_it_was(task: str) -> None:
    row = line(task=task, category="Perception and Understanding")
    (item,) = read(row)
    assert item.labels["task"] == "Description"
    assert item.labels["category"] == CATEGORIES["Description"]
    assert written([item]) == row


@pytest.mark.skipif(not SLICE.exists(), reason="the published slice is not beside the project")
def test_the_published_rows_are_read_whole_and_written_back_byte_for_byte() -> None:
    text = SLICE.read_text(encoding="utf-8")
    items = read(*text.splitlines(keepends=True))
    assert len(items) == 272 and len({item.group_id for item in items}) == 52
    assert {item.labels["task"] for item in items} == set(CATEGORIES)
    assert written(items) == text


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(
    lambda text: visible_text(text) and "<ImageHere>" not in text
)


@given(
    prompt=TEXTS,
    answer=TEXTS | st.just(""),
    history=st.lists(st.builds(dict, user=TEXTS, assistant=TEXTS), max_size=3),
    task=st.sampled_from(list(CATEGORIES)),
    path=st.just("") | TEXTS,
)
def test_any_row_is_written_back_as_it_was(prompt, answer, history, task, path):
    of_task = {"task": task, "category": CATEGORIES[task]}
    row = line(prompt=prompt, ref_answer=answer, history=history, image_path=path, **of_task)
    assert written(read(row)) == row


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"question_id": ""}, "line 1 has no question_id"),
        ({"question_id": 7}, "line 1: its question_id is not a text"),
        ({"prompt": " "}, "line 1 ('00000007-2') has no prompt"),
        ({"prompt": "\u200b"}, "line 1 ('00000007-2') has no prompt"),
        ({"prompt": "<ImageHere> what?"}, "the picture enters with the first text"),
        ({"task": "Descripion"}, "'Descripion' is none of Description, Recognition"),
        ({"history": [{"user": "a"}]}, "turn 1 of its history has no user and assistant"),
        ({"ref_answer": ["a"]}, "its ref_answer is not a text"),
    ],
)
def test_a_row_that_is_not_as_it_has_to_be_is_named(changes: dict[str, Any], sentence: str) -> None:
    assert sentence in clause_of(read, line(**changes))


def test_a_broken_line_a_second_row_of_an_id_and_an_empty_file_are_named() -> None:
    assert clause_of(read, line(), "{") == "line 2 is not valid JSON"
    twice = line().replace("{", '{"ref_answer": "another", ', 1)
    assert "ref_answer" in clause_of(read, twice) and "leave one" in clause_of(read, twice)
    assert clause_of(read, "[1]\n") == "line 1 is not a mapping"
    assert clause_of(read, line(), line()) == "two records have the id '00000007-2'"
    assert clause_of(read, "\n") == "it has no records"
    assert "lone surrogate" in clause_of(read, json.dumps({**ROW, "prompt": "\ud800"}))


ITEMS = [Item(f"00000007-{place}", (Turn(1, "What is it?"),)) for place in range(3)]


def test_a_row_is_of_the_question_of_its_id() -> None:
    records = [
        {"question_id": "00000007-0", "predict": "A cat."},
        {"item_id": "00000007-2", "predict": "A dog."},
        {"question_id": "00000009-0", "predict": "A bird."},
        {"predict": "A fish."},
        {"question_id": "00000007-0", "predict": "A cat."},
    ]
    found = predictions_of(forms, ITEMS, [FileRow("a record", each) for each in records])
    assert found.texts == {
        PredictionKey("00000007-0", "plain"): "A cat.",
        PredictionKey("00000007-2", "plain"): "A dog.",
    }
    assert found.counts == {"unknown": 2, "repeated": 1}
