"""Counts that stand beside every score: how many turns were judged, and what became of the others."""

from collections import Counter
from collections.abc import Sequence

from methods.evaluation.asking import NO_ANSWER
from methods.evaluation.metrics import Scored

_FAILED = ("failed", "not_asked", "not_judged")


def counts_of(scored: Sequence[Scored]) -> dict[str, int]:
    """Counts of one model's turns: an item's turn in a trial counts once, whatever it is scored for.

    `n_failed` are those without a judgment for reasons that no other count names. `n_refused` are all
    that the model declined: a refusal in words is judged as well.
    """
    status: dict[tuple[str, str, int], str] = {}
    refused = set()
    for score in scored:
        place = score.item_id, score.trial, score.turn
        if status.get(place) != "judged":
            status[place] = score.status
        if score.refused:
            refused.add(place)
    counted = Counter(status.values())
    return {
        "n_items": len({item for item, _, _ in status}),
        "n_turns": len(status),
        "n_judged": counted["judged"],
        "n_failed": sum(counted[kind] for kind in _FAILED),
        "n_refused": len(refused),
        **{f"n_{kind}": counted[kind] for kind in NO_ANSWER},
    }


def coverage(scored: Sequence[Scored]) -> float:
    """The share of a model's turns that were judged; 0 where it has none."""
    counts = counts_of(scored)
    return counts["n_judged"] / counts["n_turns"] if counts["n_turns"] else 0.0
