"""Training pairs of a critic (a trained judge model): judge prompts, replies with people's scores."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, get_args

import dagster as dg
from pydantic import Field

from assets.common.automation import WHEN_EVALUATED
from assets.common.drops import reasons
from assets.common.isolation import Isolation
from assets.common.settings import AssetConfig
from assets.common.tables import report, table_asset, write_rows
from assets.evaluate.answers import answers
from assets.evaluate.human_scores import human_scores, stored_scores
from assets.evaluate.judge import JudgeImages, judge_version, with_images
from assets.evaluate.released import EvaluatedRelease, items_of, releases_named
from assets.evaluate.score_queue import score_queue, scorings_by_people
from assets.evaluate.transcripts import transcripts_of
from assets.review import approved
from extras.critic.methods.contamination import PairQuestion
from extras.critic.methods.pairs import (
    CriticPair,
    HumanRating,
    ScoredAnswer,
    SkippedAnswer,
    pairs_of,
)
from extras.critic.methods.split import Split, SplitAssignment, UnsplitPair, assign_splits
from methods.benchmarks import Benchmarks
from methods.errors import UserError
from methods.evaluation.asking import PLAIN
from methods.evaluation.candidates import FILE
from methods.evaluation.items import Item
from methods.evaluation.judge_quality import EXTERNAL, INTERNAL, AnswerKey
from methods.evaluation.judging import JudgeRequest
from methods.evaluation.metrics import UNLABELLED
from methods.evaluation.missing_images import IMAGE_PATH
from methods.ids import content_id
from methods.markdown import table
from methods.naming import listed
from methods.prompts.messages import Message
from resources.review.store import ReviewStore
from resources.settings.prompts import prompt
from resources.warehouse import Warehouse

TABLE, LEFT_OUT = "evaluate.critic_pairs", "evaluate.critic_left_out"
NO_SCORES = (
    "Nobody has scored an answer: score some (vlm-loom review demo) or import a file "
    "(vlm-loom result import-scores)."
)
Row = dict[str, Any]
Scored = dict[str, dict[AnswerKey, list[HumanRating]]]
"""The ratings that people gave each answer, by release."""


class CriticPairsSettings(AssetConfig):
    """The share of each category that a critic is tested on, and the seed of the split."""

    test_share: float = Field(
        0.1, gt=0, le=0.5, description="Share of the pairs of each category that is for testing."
    )
    external_models: list[str] = Field(
        [],
        description="Models whose answers are never for training: their pairs are the external test.",
    )
    seed: int = Field(
        0,
        ge=0,
        description="Seed of the splits and of the order. Pairs stay in their split until it changes.",
    )


@table_asset(
    TABLE,
    side_tables=[LEFT_OUT],
    # `review/approved` is materialized after decisions of people.
    deps=[answers, score_queue, approved, human_scores],
    automation_condition=WHEN_EVALUATED,
)
def critic_pairs(
    config: CriticPairsSettings,
    warehouse: dg.ResourceParam[Warehouse],
    review_store: dg.ResourceParam[ReviewStore],
    benchmarks: dg.ResourceParam[Benchmarks],
) -> dg.MaterializeResult:
    """The judge's prompt on each answer that people scored, and the reply with their score.

    - The reply has the median score (the lower of two) and the reason of a person who gave it. Answers
      without a reason have no pair. `evaluate.critic_left_out` lists all that is left out.
    - 90% of each category are for training (setting `test_share`). Rewrites of a question, all models'
      answers to it, and items with the same image or nearly the same question are in one split, in
      every release, and stay in it when scores are added.
    - Pairs of `external_models` form a third split, the external test. It shows how well a critic
      judges a model whose answers it has not seen.

    `vlm-loom result export-critic` writes the pairs of a release as files.
    """
    isolation = Isolation(TABLE)
    scored = _scored(warehouse, review_store)
    pairs: list[tuple[EvaluatedRelease, CriticPair]] = []
    left_out: list[Row] = []
    for release in releases_named(warehouse, benchmarks, sorted(scored)):
        if not release.benchmark.judge_prompts:
            continue
        results: list[CriticPair | SkippedAnswer] = []
        with isolation.release(release.release_id):
            results = list(_pairs(warehouse, release, scored[release.release_id]))
        pairs += [(release, pair) for pair in results if isinstance(pair, CriticPair)]
        left_out += [
            {**release.columns, **loss.key._asdict(), "part": loss.part, "reason": loss.why}
            for loss in results
            if isinstance(loss, SkippedAnswer)
        ]
    rows = _rows(pairs, _splits_before(warehouse, config.seed), config)
    arrow = write_rows(warehouse, {TABLE: rows, LEFT_OUT: left_out})
    lost = Counter(row["reason"] for row in left_out)
    shown: Row = {"left out": lost.total(), **reasons(lost)}
    if not (rows or left_out):
        shown["note"] = NO_SCORES
    return isolation.finish(warehouse, report(arrow, {**shown, "splits": _splits(rows)}))


def _scored(warehouse: Warehouse, review_store: ReviewStore) -> Scored:
    """Collect all ratings of answers, from the review and from imported files."""
    scored: Scored = {}
    by_people = scorings_by_people(review_store)
    for row in warehouse.read("evaluate/queued_answers").to_pylist():
        key = AnswerKey(row["model"], row["item_id"], row["trial"], row["turn"])
        for decision, scores in by_people.get(row["queue_id"], []):
            rating = HumanRating(
                decision.reviewer, INTERNAL, row["queue_id"], scores, decision.note or ""
            )
            scored.setdefault(row["release_id"], {}).setdefault(key, []).append(rating)
    for release in warehouse.read("evaluate/answered_releases").to_pylist():
        for key, rating in _imported(warehouse, release["release_id"]):
            scored.setdefault(release["release_id"], {}).setdefault(key, []).append(rating)
    return scored


def _imported(warehouse: Warehouse, release_id: str) -> Iterator[tuple[AnswerKey, HumanRating]]:
    """Yield the rating that each rater of an imported file gave each answer."""
    scores: dict[tuple[AnswerKey, str], dict[str, float]] = {}
    stated: dict[tuple[AnswerKey, str], tuple[str, str]] = {}
    for scored, stored in stored_scores(warehouse, release_id).items():
        rating = AnswerKey(scored.model, scored.item_id, PLAIN, scored.turn), scored.rater
        scores.setdefault(rating, {})[scored.dimension] = stored.score
        reason, source = stated.get(rating, ("", stored.content_hash))
        stated[rating] = reason or stored.reason or "", source
    for (key, rater), values in scores.items():
        reason, source = stated[key, rater]
        yield key, HumanRating(rater, EXTERNAL, source, values, reason)


def _pairs(
    warehouse: Warehouse, release: EvaluatedRelease, scored: Mapping[AnswerKey, list[HumanRating]]
) -> Iterator[CriticPair | SkippedAnswer]:
    items = {item.item_id: item for item in items_of(warehouse, release.release_id)}
    transcripts = transcripts_of(warehouse, release.release_id)
    scored_answers = []
    for key, ratings in sorted(scored.items()):
        if transcript := transcripts.get((key.model, key.item_id)):
            scored_answers.append(ScoredAnswer(key, items[key.item_id], transcript, ratings))
        else:
            # A file's answers may have been removed since people scored them.
            yield SkippedAnswer(key, "", "not_judged")
    yield from pairs_of(
        release.benchmark, scored_answers, _render, {model for model, _ in transcripts}
    )


def _render(request: JudgeRequest) -> tuple[Message, ...]:
    return prompt(request.prompt).render(structured=False, **request.data)


def _splits_before(warehouse: Warehouse, seed: int) -> dict[tuple[str, str], Split]:
    """Read the splits of items in earlier pairs, by release and item: items stay in their split."""
    rows = warehouse.read("evaluate/critic_pairs").to_pylist()
    return {
        (row["release_id"], row["item_id"]): row["split"]
        for row in rows
        if row["seed"] == seed and row["split"] != "external"
    }


def _rows(
    pairs: list[tuple[EvaluatedRelease, CriticPair]],
    before: Mapping[tuple[str, str], Split],
    settings: CriticPairsSettings,
) -> list[Row]:
    """Build a row for each pair, in the order of the files."""
    with_images = {release.release_id for release, pair in pairs if pair.request.images}
    units = [
        UnsplitPair(
            _question_of(release, pair),
            f"{release.benchmark.name} {_category(release, pair.answer.item)}",
            before.get((release.release_id, pair.answer.item.item_id)),
        )
        for release, pair in pairs
    ]
    names = {
        name.removeprefix(f"{FILE}:"): name
        for name in sorted({pair.answer.key.model for _, pair in pairs})
    }
    external = {name.removeprefix(f"{FILE}:") for name in settings.external_models}
    if unknown := external - names.keys():
        raise UserError(
            f"external_models of {TABLE} names {listed(sorted(unknown))}, which answered none of the "
            f"pairs: name {listed(sorted(names))}, or leave it out."
        )
    is_external = [pair.answer.key.model.removeprefix(f"{FILE}:") in external for _, pair in pairs]
    split = iter(
        assign_splits(
            [unit for unit, outside in zip(units, is_external, strict=True) if not outside],
            settings.test_share,
            settings.seed,
        )
    )
    splits = [
        SplitAssignment(unit.pair_question.group, "external") if outside else next(split)
        for unit, outside in zip(units, is_external, strict=True)
    ]
    rows = [
        {
            **_row(release, pair, "none" if release.release_id in with_images else "shown"),
            "group_id": unit.pair_question.group,
            "images": list(unit.pair_question.images),
            "question": unit.pair_question.question,
            **split._asdict(),
            "seed": settings.seed,
        }
        for (release, pair), unit, split in zip(pairs, units, splits, strict=True)
    ]
    rows.sort(key=lambda row: content_id(settings.seed, row["pair_id"]))
    places: Counter[tuple[str, str]] = Counter()
    for row in rows:
        release_and_split = row["release_id"], row["split"]
        places[release_and_split] += 1
        row["ordinal"] = places[release_and_split]
    return rows


def _row(release: EvaluatedRelease, pair: CriticPair, images: JudgeImages) -> Row:
    answer = pair.answer
    return {
        **release.columns,
        **answer.key._asdict(),
        "pair_id": pair.pair_id,
        "part": pair.request.place.part,
        "category": _category(release, answer.item),
        "score": pair.score,
        "chosen": pair.chosen.rater,
        "raters": sorted({given.rater for given in answer.ratings}),
        "origin": pair.chosen.origin,
        "source": pair.chosen.source,
        "system": pair.system,
        "prompt": pair.prompt,
        "reply": pair.reply,
        "prompt_version": with_images(prompt(pair.request.prompt).version, images),
        "judge_version": judge_version(release.benchmark, images),
    }


def _category(release: EvaluatedRelease, item: Item) -> str:
    label = next(iter(release.benchmark.abilities), "")
    return item.labels.get(label, UNLABELLED)


def _question_of(release: EvaluatedRelease, pair: CriticPair) -> PairQuestion:
    """The group, images and question of a pair. Different benchmarks may use the same ids."""
    item, turn = pair.answer.item, pair.answer.key.turn
    path = item.labels.get(IMAGE_PATH)
    return PairQuestion(
        f"{release.benchmark.name} {item.cluster}",
        item.image_ids or ((path,) if path else ()),
        next(item_turn.question for item_turn in item.turns if item_turn.turn == turn),
    )


def _splits(rows: list[Row]) -> dg.MetadataValue:
    """A Markdown table of pairs and blocks by category and split."""
    lines = []
    for release_id, category in sorted({(row["release_id"], row["category"]) for row in rows}):
        members = [
            row for row in rows if (row["release_id"], row["category"]) == (release_id, category)
        ]
        n = Counter(row["split"] for row in members)
        n_blocks = len({row["block"] for row in members})
        counts = [str(n[split]) for split in get_args(Split)]
        lines.append([release_id, category, *counts, str(n_blocks)])
    heads = ("release", "category", *get_args(Split), "blocks")
    return dg.MetadataValue.md("\n".join(table(heads, lines)) if lines else "none")
