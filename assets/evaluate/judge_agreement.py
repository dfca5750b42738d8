"""Agreement of LLM judges with people who scored the same answers: correlation and absolute error."""

import dagster as dg
from pydantic import Field

from assets.common.automation import WHEN_EVALUATED
from assets.common.previews import MOST_ROWS, preview
from assets.common.settings import AssetConfig
from assets.common.tables import report, table_asset, write_rows
from assets.evaluate.judgments import judgments
from assets.evaluate.score_queue import score_queue
from assets.review import decisions, ratings_by_people
from methods.review.agreement import JudgeScore, judge_rows
from methods.review.ratings import SCORE
from resources.review.store import ReviewStore
from resources.warehouse import Warehouse

NOBODY = "Nobody has scored an answer that the score queue holds now."


class JudgeAgreementSettings(AssetConfig):
    """Settings of agreement: the bootstrap's seed, so that equal scores give equal intervals."""

    seed: int = Field(0, description="Seed of the bootstrap.")


@table_asset(
    "evaluate.judge_agreement",
    kinds={"scipy"},
    deps=[score_queue, judgments, decisions],
    automation_condition=WHEN_EVALUATED,
)
def judge_agreement(
    config: JudgeAgreementSettings,
    warehouse: dg.ResourceParam[Warehouse],
    review_store: dg.ResourceParam[ReviewStore],
) -> dg.MaterializeResult:
    """Correlation and mean absolute error of people's mean scores with each judge's scores.

    People's scores are those of round 1, because they are blind.
    """
    judged = [JudgeScore(**row) for row in warehouse.read("evaluate/judged_scores").to_pylist()]
    rows = judge_rows(ratings_by_people(review_store, SCORE), judged, seed=config.seed)
    table = write_rows(warehouse, {"evaluate.judge_agreement": rows})
    shown: dict[str, object] = {"agreement": dg.MetadataValue.md(preview(table, n_rows=MOST_ROWS))}
    return report(table, shown if rows else {**shown, "note": NOBODY})
