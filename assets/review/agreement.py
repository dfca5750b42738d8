"""How far people agree, with each other and with the judge, and what review took them.

What belongs here: which decisions and judgments are compared, and the picture of it. The measures are
`methods/agreement/`, one file each.
"""

from collections.abc import Sequence

import dagster as dg

from assets.common.tables import WHEN_READY, picture, report, rows_to_arrow, table_asset
from assets.review import approved, queued
from methods.agreement.effort import effort_rows
from methods.agreement.ratings import ratings_of
from methods.agreement.table import Judged, agreement_rows
from resources.reports.agreement_plot import agreement_png
from resources.review.store import ReviewStore
from resources.warehouse import Warehouse

NOBODY = "Nobody has decided anything on what the queue says now."
NOBODY_TWICE = (
    "Nothing was decided by two people who did not see each other's work, so that there is no "
    "agreement among people to measure: `annotators: 2` in review.yaml asks for it."
)


class AgreementConfig(dg.Config):
    """The bootstrap's seed: the same decisions give the same intervals."""

    seed: int = 0


def agreement_assets(judged: Sequence[dg.AssetsDefinition]) -> list[dg.AssetsDefinition]:
    """Agreement of people with each other and with the judge, and their effort.

    `judged` are the judgments and the queue of what people score in their turn.
    """
    of_judge = dg.AssetSelection.assets(*[each.key for each in judged])

    @table_asset(
        "review.agreement",
        kinds={"scipy"},
        deps=[approved, *judged],
        # People agree or do not, whether or not any model was ever judged.
        automation_condition=dg.AutomationCondition.eager().replace(
            "any_deps_missing", dg.AutomationCondition.any_deps_missing().ignore(of_judge)
        )
        & dg.AutomationCondition.all_deps_blocking_checks_passed().ignore(of_judge),
    )
    def agreement(
        config: AgreementConfig,
        warehouse: dg.ResourceParam[Warehouse],
        review_store: dg.ResourceParam[ReviewStore],
    ) -> dg.MaterializeResult:
        """Kappas, alpha and correlations with 95 % intervals: of each two people, of all, of a judge.

        Compared is what people decided in round 1, without knowing of each other, on what the queue
        says now; a judge is compared where people gave scores to an answer that it has judged.
        """
        items = queued(warehouse)
        events = review_store.decisions([item["item_id"] for item in items])
        ratings = ratings_of(items, events, review_store.rules())
        judged = [Judged(**row) for row in warehouse.read("review/agreement_judged").to_pylist()]
        rows = agreement_rows(ratings, judged, seed=config.seed)
        table = rows_to_arrow("review.agreement", rows)
        warehouse.replace("review.agreement", table)
        drawn = agreement_png(rows)
        shown: dict[str, object] = {"agreement": picture("agreement", drawn)} if drawn else {}
        if not rows:
            shown["note"] = NOBODY
        elif not any(row["n_items"] for row in rows if row["raters"] == "all"):
            shown["note"] = NOBODY_TWICE
        return report(table, {"decided by": len({each.rater for each in ratings}), **shown})

    @table_asset("review.effort", deps=[approved], automation_condition=WHEN_READY)
    def effort(
        warehouse: dg.ResourceParam[Warehouse], review_store: dg.ResourceParam[ReviewStore]
    ) -> dg.MaterializeResult:
        """Decisions of each person in each round: how many, the median time, reasons to reject."""
        items = queued(warehouse)
        events = review_store.decisions([item["item_id"] for item in items])
        rows = effort_rows(items, events)
        table = rows_to_arrow(
            "review.effort", [{**row, "reasons": list(row["reasons"].items())} for row in rows]
        )
        warehouse.replace("review.effort", table)
        return report(table, {} if rows else {"note": NOBODY})

    return [agreement, effort]
