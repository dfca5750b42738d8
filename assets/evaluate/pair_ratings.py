"""Bradley-Terry (Elo-like) ratings of models, from pairwise comparisons of their answers."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import dagster as dg
from pydantic import Field

from assets.common.isolation import Isolation
from assets.common.settings import AssetConfig
from assets.common.table_rows import map_of
from assets.common.tables import report, table_asset, write_rows
from assets.evaluate.pairs import OFF, pairs
from methods.markdown import code, table
from methods.pairwise.comparing import FLOOR, ArenaComparison
from methods.pairwise.style import FEATURES
from methods.pairwise.summary import rating_rows
from resources.warehouse import Warehouse

TABLE, BIASES = "evaluate.pair_ratings", "evaluate.pair_biases"
Row = dict[str, Any]


class PairRatingsSettings(AssetConfig):
    """Settings of the resampling; the same comparisons give the same ratings."""

    n_resamples: int = Field(
        1_000, ge=100, description="Resamples behind each interval of a rating."
    )
    n_style_resamples: int = Field(
        200,
        ge=100,
        description="Resamples behind each interval at equal style; each fits all comparisons again.",
    )
    seed: int = Field(0, description="Seed of the resampling.")


@table_asset(TABLE, side_tables=[BIASES], kinds={"scipy"}, deps=[pairs])
def pair_ratings(
    config: PairRatingsSettings, warehouse: dg.ResourceParam[Warehouse]
) -> dg.MaterializeResult:
    """Bradley-Terry ratings with intervals and ranks, by release, judge and version.

    - A difference of 400 points means odds of 10 to 1; the mean of connected models is 1000. Intervals
      are resampled over items, and the ranks of all models hold jointly at 95 %.
    - In the column `form`, `judged` uses comparisons with a verdict; in `floor`, a missing answer also
      loses.
    - `controlled_rating` is the rating at equal length and layout (style control). If it changes the
      order, the order was due to style.
    - `evaluate.pair_biases` has the share of wins of the first position, and the effect of each style
      feature.
    """
    isolation = Isolation(TABLE)
    ratings, biases = [], []
    compared = warehouse.select(
        "evaluate.pairs", "benchmark", "release_id", order="release_id", distinct=True
    )
    for release in compared.to_pylist():
        where = {"release_id": release["release_id"]}
        rows = warehouse.read("evaluate/pairs_of", where).to_pylist()
        for (judge, version), group in groupby(
            rows, key=lambda row: (row["judge"], row["judge_version"])
        ):
            named = {**release, "judge": judge, "judge_version": version}
            with isolation.release(release["release_id"]):
                rated, biased = rating_rows(
                    list(_compared(group)),
                    seed=config.seed,
                    n_resamples=config.n_resamples,
                    n_style_resamples=config.n_style_resamples,
                )
                ratings += [{**named, **row} for row in rated]
                biases += [{**named, **row} for row in biased]
    arrow = write_rows(warehouse, {TABLE: ratings, BIASES: biases})
    shown = dg.MetadataValue.md("\n".join(_ranking(ratings)))
    return isolation.finish(
        warehouse, report(arrow, {"ratings": shown} if ratings else {"note": OFF})
    )


def _compared(rows: Any) -> Iterator[ArenaComparison]:
    for row in rows:
        style = map_of(row["style"])
        yield ArenaComparison(
            row["item_id"],
            row["turn"],
            row["cluster"],
            row["model_a"],
            row["model_b"],
            row["status"],
            row["winner"],
            tuple(style[name] for name in FEATURES) if style else (),
        )


def _ranking(ratings: Sequence[Row]) -> list[str]:
    """Make a Markdown table of the ratings of `floor`, in which a missing answer loses."""
    lines = [
        [
            code(row["release_id"]),
            code(row["judge"]),
            code(row["model"]),
            "–" if row["rating"] is None else f"{row['rating']:.0f}",
            "" if row["ci_low"] is None else f"{row['ci_low']:.0f} to {row['ci_high']:.0f}",
            "–" if row["rank"] is None else f"{row['rank']} ({row['rank_low']}-{row['rank_high']})",
            str(row["n"]),
        ]
        for row in sorted(
            (row for row in ratings if row["form"] == FLOOR),
            key=lambda row: (
                *(row[name] for name in ("release_id", "judge", "judge_version", "part")),
                row["rank"] or 0,
                row["model"],
            ),
        )
    ]
    return table(("release", "judge", "model", "rating", "95 % interval", "rank", "orders"), lines)
