"""Which question a row of predictions on MMIU is of."""

from methods.evaluation.cells import FileRow
from methods.evaluation.items import Item
from methods.evaluation.predictions import PredictionKey, Unplaced
from methods.mmiu.predictions import places
from tests.methods.choice.questions import item

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
