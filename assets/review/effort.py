"""Review effort: decisions of each person, their time, and reasons to reject."""

import dagster as dg

from assets.common.automation import WHEN_READY
from assets.common.tables import report, rows_to_arrow, table_asset
from assets.review.agreement import NO_DECISIONS
from assets.review.approved import approved
from assets.review.decisions import decisions
from methods.review.overview import ReviewForecast
from methods.review.ratings import effort_rows
from resources.review.store import ReviewStore
from resources.warehouse import Warehouse
from resources.web.ports import review_page


@table_asset("review.effort", deps=[approved, decisions], automation_condition=WHEN_READY)
def effort(
    warehouse: dg.ResourceParam[Warehouse], review_store: dg.ResourceParam[ReviewStore]
) -> dg.MaterializeResult:
    """Decisions of each person in each round: their number, median time, and reasons to reject."""
    items = review_store.items()
    events = review_store.decisions([item["item_id"] for item in items])
    rows = effort_rows(items, events)
    table = rows_to_arrow(
        "review.effort", [{**row, "reasons": list(row["reasons"].items())} for row in rows]
    )
    warehouse.replace("review.effort", table)
    return report(table, {**_of_lead(review_store), **({} if rows else {"note": NO_DECISIONS})})


def _of_lead(review_store: ReviewStore) -> dict[str, object]:
    """Return the current figures of the review lead's page, and a link to the page."""
    outlook = review_store.outlook()
    plan = outlook.forecast
    answered = sum(n for _, n, _, _ in outlook.gold.people)
    hits = (
        {"hits of gold": sum(n for _, _, n, _ in outlook.gold.people) / answered}
        if answered
        else {}
    )
    return {
        "lead's page": dg.MetadataValue.url(review_page("/lead")),
        "needed of annotators": plan.needed[1],
        "needed of experts": plan.needed[2],
        f"done on, as in the last {plan.days} days": str(plan.end or _unknown(plan)),
        "in dispute": outlook.n_disputes,
        "held": len(review_store.holds()),
        "gold items": outlook.gold.n_items,
        **hits,
    }


def _unknown(plan: ReviewForecast) -> str:
    rounds = " and ".join(f"round {round}" for round in sorted(plan.lacks))
    return f"cannot be said: too few decisions, or days with any, in {rounds}"
