"""A release is read in batches, whole and in order, and each batch is told of."""

from dataclasses import replace

import pytest

from methods.evaluation.items import Item, Turn
from resources.exports import source as module
from resources.exports.source import ExportSource
from tests.assets.filled import put


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_batches_together_are_the_release(size, released, dialogues, monkeypatch):
    monkeypatch.setattr(module, "BATCH", size)
    items = [
        *dialogues,
        *(Item(f"b{n}", (Turn(1, "?", (), {"answer": str(n)}),)) for n in range(5)),
    ]
    told: list[tuple[int, int]] = []
    source: ExportSource = released(items, progress=lambda *done: told.append(done))
    batches = list(source.batches())
    assert [len(batch) for batch in batches[:-1]] == [size] * (len(batches) - 1)
    found = [item for batch in batches for item in batch]
    assert [(item.item_id, item.turns, item.choices) for item in found] == [
        (item.item_id, item.turns, item.choices) for item in items
    ]
    assert [[picture.image_id for picture in item.pictures] for item in found] == [
        list(item.image_ids) for item in items
    ]
    assert told[-1] == (7, 7)
    assert (source.totals.items, source.totals.turns) == (7, 8)
    assert source.totals.pictures == {*dialogues[0].image_ids}


def test_another_release_of_the_same_home_is_not_read(released, dialogues, questions):
    """The other release has the same items, each with other texts and fewer pictures."""
    first = released([*dialogues, *questions])
    batches = list(first.batches())
    changed_items = [
        replace(
            item,
            turns=tuple(
                replace(turn, question="Changed?", references={"answer": "Changed."})
                for turn in item.turns
            ),
            choices=tuple(f"not {choice}" for choice in item.choices),
            image_ids=item.image_ids[1:],
        )
        for item in [*dialogues, *questions]
    ]
    released(changed_items, name="other")
    assert list(first.batches()) == batches, "it is read again"
    assert sum(map(len, batches)) == 5


def test_the_agreement_is_that_of_all_reviewers_on_the_kinds_of_the_release(
    released, dialogues, warehouse_of_releases
):
    source = released(dialogues[1:], name="agreed")
    released(dialogues[:1], name="other")
    measured = {"raters": "all", "measure": "raw", "value": 0.5}
    rows = [
        {**measured, "kind": "dialogue"},
        {**measured, "kind": "dialogue", "raters": "ann|bob", "value": 0.25},
        {
            **measured,
            "kind": "dialogue",
            "measure": "cohen_kappa",
            "value": None,
            "reason": "Too few.",
        },
        {**measured, "kind": "rewrite"},
    ]
    approved = {"status": "approved", "policy": "all", "content": "{}"}
    kinds = {"dialogue/1": "rewrite", "d2": "dialogue"}
    put(
        warehouse_of_releases,
        {
            "review.agreement": rows,
            "review.approved": [
                {**approved, "item_id": item_id, "kind": kind} for item_id, kind in kinds.items()
            ],
        },
    )
    found = source.agreement()
    put(warehouse_of_releases, {"review.agreement": [], "review.approved": []})
    assert [(row["kind"], row["measure"], row["value"]) for row in found] == [
        ("dialogue", "raw", 0.5)
    ]
