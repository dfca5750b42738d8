"""Review queue of answer extraction: people extract letters from answers, to check rules and model."""

from collections import Counter

import dagster as dg
from pydantic import Field

from assets.common.isolation import Isolation
from assets.common.settings import AssetConfig
from assets.common.tables import report, table_asset, write_rows
from assets.evaluate.answer_extraction import NO_CHOICES, answered_choices, readings_on
from assets.evaluate.answers import answers
from assets.evaluate.released import Row
from assets.review import queue_row, ratings_by_people
from methods.benchmarks import Benchmarks
from methods.choice.answer_extraction import QUEUED_KIND, ExtractedAnswer, sample_answers
from methods.evaluation.candidates import is_model
from methods.review import queue_item
from methods.review.ratings import CHOSEN, agreed_labels
from resources.review.store import ReviewStore
from resources.warehouse import Warehouse


class ExtractionQueueSettings(AssetConfig):
    """Settings of the sample of answers that people read."""

    n_answers: int = Field(
        2,
        ge=0,
        description="Answers of each model and release for people to read, from each stratum: read by "
        "rule, by the extractor, as no choice, otherwise by VLMEvalKit's rules, by nobody.",
    )
    seed: int = Field(0, description="Seed of the sample.")


@table_asset("evaluate.extraction_queue", deps=[answers])
def extraction_queue(
    config: ExtractionQueueSettings,
    warehouse: dg.ResourceParam[Warehouse],
    review_store: dg.ResourceParam[ReviewStore],
    benchmarks: dg.ResourceParam[Benchmarks],
) -> dg.MaterializeResult:
    """Answers to multiple-choice questions from which people extract the letter, a few of each model.

    An item shows neither the model nor the extracted letter.
    """
    isolation = Isolation("evaluate.extraction_queue")
    rows: dict[str, Row] = {}
    strata: Counter[str] = Counter()
    for release in answered_choices(warehouse, benchmarks, current_only=True):
        with isolation.release(release.release_id):
            readings = readings_on(warehouse, release, with_second=False)
            extracted = (reading.answer for reading in readings)
            sample = sample_answers(
                (answer for answer in extracted if is_model(answer.model)),
                config.n_answers,
                config.seed,
                lambda answer: (answer.model, answer.stratum),
            )
            strata.update(answer.stratum for answer in sample)
            # The same answer of two models is one item.
            rows |= {answer.queue_id: _queue_row(answer) for answer in sample}
    table = write_rows(warehouse, {"evaluate.extraction_queue": list(rows.values())})
    queue = warehouse.select("evaluate.extraction_queue", order="item_id").to_pylist()
    changes = review_store.update_queue([queue_item(row) for row in queue], [QUEUED_KIND])
    shown = {f"drawn: {stratum}": n for stratum, n in sorted(strata.items())}
    return isolation.finish(
        warehouse,
        report(table, {**shown, **changes._asdict(), **({} if rows else {"note": NO_CHOICES})}),
    )


def letters_by_people(review_store: ReviewStore) -> tuple[dict[str, str], int]:
    """Return the letters that people extracted from queued answers, and the number of disagreements.

    Answers on which people disagree have no letter.
    """
    ratings = ratings_by_people(review_store, QUEUED_KIND)
    letter_ratings = [rating for rating in ratings if rating.dimension == CHOSEN[QUEUED_KIND]]
    letters = agreed_labels(letter_ratings)
    return letters, len({rating.item_id for rating in letter_ratings}) - len(letters)


def _queue_row(answer: ExtractedAnswer) -> Row:
    queue_item = {
        "item_id": answer.queue_id,
        "kind": QUEUED_KIND,
        "set_id": answer.cluster,
        "image_ids": [],
    }
    return queue_row(queue_item, answer.content, None)
