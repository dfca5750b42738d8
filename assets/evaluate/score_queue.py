"""Human evaluation queue: judged answers that people score or compare, to measure the agreement of
judges with people.
"""

import dagster as dg
from pydantic import Field

from assets.common.settings import AssetConfig
from assets.common.tables import report, table_asset, write_rows
from assets.evaluate.judgments import judgments
from assets.evaluate.released import Row
from assets.review import queue_row
from methods.benchmarks import Benchmarks
from methods.evaluation.benchmark import Benchmark
from methods.evaluation.candidates import APART
from methods.evaluation.rubric import rubric_in
from methods.evaluation.verdicts import ORDERS
from methods.ids import canonical_json, content_id
from methods.review import Decision, queue_item
from methods.review.ratings import PAIR, SCORE, blind_on_current, values_of
from resources.images.store import ImageStore
from resources.review.store import ReviewStore
from resources.settings.prompts import prompt
from resources.warehouse import Warehouse

Scores = dict[str, float]


class ScoreQueueSettings(AssetConfig):
    """Settings of the sample of answers that people score or compare."""

    n_answers: int = Field(5, ge=0, description="Answers of each model for people to decide on.")
    seed: int = Field(0, description="Seed of the sample.")


@table_asset("evaluate.score_queue", kinds={"image"}, deps=[judgments])
def score_queue(
    config: ScoreQueueSettings,
    warehouse: dg.ResourceParam[Warehouse],
    image_store: dg.ResourceParam[ImageStore],
    review_store: dg.ResourceParam[ReviewStore],
    benchmarks: dg.ResourceParam[Benchmarks],
) -> dg.MaterializeResult:
    """Judged answers for people to score, a few of each model.

    An item shows the score descriptions of the judge's prompt, but neither the model nor the judge's
    score. If the judge compares an answer with its reference, the item is a pair of answers, and does
    not show which one is the reference.
    """
    sampled = warehouse.read(
        "evaluate/score_candidates",
        {
            "n_answers": config.n_answers,
            "n_seed": config.seed,
            "apart": list(APART),
            "orders": list(ORDERS),
        },
    ).to_pylist()
    queued = (
        _queued(candidate, benchmarks[candidate["benchmark"]])
        for candidate in sampled
        if candidate["benchmark"] in benchmarks
    )
    # The same answer of two models is one item.
    rows = {row["item_id"]: row for row in queued if row is not None}
    table = write_rows(warehouse, {"evaluate.score_queue": list(rows.values())})
    queue = warehouse.select("evaluate.score_queue", order="item_id").to_pylist()
    changes = review_store.update_queue([queue_item(row) for row in queue], [SCORE, PAIR])
    return report(table, changes._asdict(), images=image_store)


def scorings_by_people(review_store: ReviewStore) -> dict[str, list[tuple[Decision, Scores]]]:
    """Return people's blind scores by item of the queue: decisions with their scores by dimension."""
    items = review_store.items([SCORE])
    decisions = review_store.decisions([item["item_id"] for item in items])
    scorings: dict[str, list[tuple[Decision, Scores]]] = {}
    for item, decision in blind_on_current(items, decisions, review_store.rules()):
        if scores := values_of(item, decision):
            scorings.setdefault(item["item_id"], []).append((decision, scores))
    return scorings


def _queued(answer: Row, benchmark: Benchmark) -> Row | None:
    """Build the score or pair item of an answer; None if a pair is needed and there is none, or its two
    answers are equal.
    """
    if tuple(benchmark.score_range) != (0, 1):
        return _score_row(answer, benchmark)
    if answer["is_pair"] and answer["answer"] != answer["reference"]:
        return _pair_row(answer)
    return None


def _pair_row(answer: Row) -> Row:
    # The order depends on a hash of the texts, so that the position does not reveal the reference.
    by_hash = sorted(("answer", "reference"), key=lambda name: content_id("side", answer[name]))
    first, second = by_hash
    content = {
        "image_ids": answer["image_ids"],
        "question": answer["question"],
        "a": answer[first],
        "b": answer[second],
        "winner": None,
    }
    earlier = [
        f"{label}: {turn[name]}"
        for turn in answer["earlier"]
        for label, name in (("Earlier", "question"), ("A", first), ("B", second))
        if turn[name]
    ]
    item_id = content_id(PAIR, answer["set_id"], content)
    context = canonical_json({"earlier": earlier}) if earlier else None
    return queue_row({**answer, "item_id": item_id, "kind": PAIR}, content, context)


def _score_row(answer: Row, benchmark: Benchmark) -> Row:
    lowest, highest = benchmark.score_range
    content = {
        **{key: answer[key] for key in ("image_ids", "question", "reference", "answer")},
        "dimensions": list(benchmark.dimensions),
        "lowest": lowest,
        "highest": highest,
        "scores": dict.fromkeys(benchmark.dimensions),
    }
    # The id is not derived from the model's name: a reviewer could test the names against it.
    item_id = content_id(SCORE, answer["set_id"], content)
    rubric = [
        text
        for name in benchmark.judge_prompts[:1]
        for text in rubric_in(prompt(name).text, benchmark.dimensions)
    ]
    context = canonical_json({"rubric": rubric}) if rubric else None
    return queue_row({**answer, "item_id": item_id, "kind": SCORE}, content, context)
