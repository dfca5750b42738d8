"""Responses on AlignMMBench: which question a row is of."""

from methods.alignmmbench import predictions as forms
from methods.evaluation.cells import FileRow
from methods.evaluation.items import Item, Turn
from methods.evaluation.predictions import PredictionKey, predictions_of

ITEMS = [Item(f"00000007-{place}", (Turn(1, "What is it?"),)) for place in range(3)]


def rows(*cells: dict[str, str]) -> list[FileRow]:
    return [FileRow(f"record {place}", each) for place, each in enumerate(cells, start=1)]


def test_a_row_is_of_the_question_of_its_id() -> None:
    given = rows(
        {"question_id": "00000007-0", "predict": "A cat."},
        {"item_id": "00000007-2", "predict": "A dog."},
        {"question_id": "00000009-0", "predict": "A bird."},
        {"predict": "A fish."},
        {"question_id": "00000007-0", "predict": "A cat."},
    )
    found = predictions_of(forms, ITEMS, given)
    assert found.texts == {
        PredictionKey("00000007-0", "plain"): "A cat.",
        PredictionKey("00000007-2", "plain"): "A dog.",
    }
    assert found.counts == {"unknown": 2, "repeated": 1}
