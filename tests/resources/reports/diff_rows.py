"""Two releases by hand that differ in one thing of each kind, for the tests of their page."""

from typing import Any

from methods.evaluation.common_items import CommonScore
from methods.evaluation.items import Item, Turn
from methods.evaluation.metrics.mean import Mean
from methods.imported_release import imported_release
from methods.release import Edition
from methods.release_diff import ReleaseContents, difference
from methods.release_diff_text import CommonScores, RepeatedResults
from resources.images.store import ImageStore
from resources.reports.diff_page import render_diff
from tests.resources.reports.report_rows import picture

Row = dict[str, Any]
GENERATED = "2026-03-03T10:02:11+00:00"
CARD: Row = {
    **{"release_id": "toy-1", "name": "toy", "kind": "benchmark", "benchmark": "toy"},
    **{"n_items": 6, "n_turns": 6, "n_images": 2, "review_policy": "none", "review_share": 0.0},
    **{"provider": "openai", "created_at": "2026-03-02"},
}
ITEM: Row = {
    "question": "Which of them is red?",
    "references": {"key": "A", "answer": "The boat is red."},
    "choices": ("A boat", "A kite"),
    "images": ("red", "blue"),
    "labels": {"task": "colour"},
}


def contents(
    release_id: str, items: dict[str, Row], store: ImageStore, **of: Any
) -> ReleaseContents:
    """A release of items of one turn: what an item does not say is that of `ITEM`."""
    made, pictures = [], {"lost": {"image_id": "0" * 64}}
    for item_id, given in items.items():
        item = {**ITEM, **given}
        for colour in item["images"]:
            if colour not in pictures:
                pictures[colour] = picture(store, colour, colour)
        image_ids = tuple(pictures[colour]["image_id"] for colour in item["images"])
        turn = Turn(1, item["question"], (1, 2), item["references"])
        choices, labels = tuple(item["choices"]), item["labels"]
        made.append(Item(item_id, (turn,), image_ids, choices, labels=labels))
    rows = imported_release("toy", Edition("toy"), made).rows
    by_id = {each["image_id"]: each for each in pictures.values()}
    rows["images"] = [{**row, **by_id[row["image_id"]]} for row in rows["images"]]
    return ReleaseContents({**CARD, "release_id": release_id, **of}, rows, [])


def two_releases(store: ImageStore) -> tuple[ReleaseContents, ReleaseContents]:
    """One item of each kind of change, one that is the same, one added and one removed."""
    names = ("same", "question", "key", "choices", "order", "image", "labels")
    first = dict.fromkeys(names, {})
    second: dict[str, Row] = {
        "same": {},
        "question": {"question": "Which of them is blue?"},
        "key": {"references": {"key": "B", "answer": "The boat is red."}},
        "choices": {"choices": ["A boat", "A bird"]},
        "order": {"choices": ["A kite", "A boat"]},
        "image": {"images": ["red", "lost"]},
        "labels": {"labels": {"task": "shape"}},
    }
    return (
        contents("toy-1", {**first, "gone": {}}, store),
        contents("toy-2", {**second, "new": {}}, store, n_items=8),
    )


def on_common(model: str, difference_: float, repeated: RepeatedResults, **of: str) -> CommonScores:
    """A model's score of 70 on the first release, by two ways of averaging."""
    metrics = [
        Mean(name="Overall", lowest=10, highest=100, aggregation=how) for how in ("micro", "macro")
    ]
    scores = [
        CommonScore(each, 70, 70 + difference_, difference_, difference_ - 1, difference_ + 1, 2, 2)
        for each in metrics
    ]
    asked = {"judge": "gpt-4o", "judge_version": "toy/judge@1", **of}
    return CommonScores(model, asked["judge"], asked["judge_version"], scores, repeated)


def diff_page(store: ImageStore, *common: CommonScores) -> str:
    first, second = two_releases(store)
    return render_diff(first, second, difference(first, second), common, store, GENERATED)
