"""Counts next to every score: how many turns were judged, refused, failed or left without an answer."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from methods.evaluation.asking import NO_ANSWER
from methods.evaluation.judging import NO_PICTURE

if TYPE_CHECKING:
    import pandas as pd

_FAILED = ("failed", "not_asked", "not_judged", NO_PICTURE)


def counts_of(
    observed: "pd.DataFrame", by: Sequence[str] = ("model",)
) -> dict[tuple[str, ...], dict[str, int]]:
    """Count turns: an item's turn in a trial counts once, however often it is scored.

    `n_failed` are turns without a judgment for reasons that no other count names. `n_refused` are all
    turns that the model declined: a refusal in words is judged as well.

    Args:
        observed: The observations.
        by: The columns that separate counts.

    Returns:
        The counts by values of `by`.
    """
    # The last status of a turn, or `judged` where it is judged at all.
    turns = (
        observed.assign(is_judged=observed["status"] == "judged")
        .groupby([*by, "item_id", "trial", "turn"], sort=False)
        .agg(status=("status", "last"), is_judged=("is_judged", "any"), refused=("refused", "any"))
        .reset_index()
    )
    turns["status"] = turns["status"].astype(str).mask(turns["is_judged"], "judged")
    groups = turns.groupby(list(by))
    statuses = (
        turns.groupby([*by, "status"])
        .size()
        .unstack("status", fill_value=0)
        .reindex(columns=["judged", *_FAILED, *NO_ANSWER], fill_value=0)
    )
    counts = (
        statuses[[*NO_ANSWER]]
        .add_prefix("n_")
        .assign(
            n_items=groups["item_id"].nunique(),
            n_turns=groups.size(),
            n_judged=statuses["judged"],
            n_failed=statuses[[*_FAILED]].sum(axis=1),
            n_refused=groups["refused"].sum(),
        )
    )
    keys = counts.index.to_frame().itertuples(index=False, name=None)
    numbers = counts.to_numpy(dtype=int).tolist()
    return {
        key: dict(zip(counts.columns, row, strict=True))
        for key, row in zip(keys, numbers, strict=True)
    }
