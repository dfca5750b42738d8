"""Counts next to every score: how many turns were judged, refused, failed or left without an answer."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from methods.evaluation.asking import NO_ANSWER
from methods.evaluation.judging import NO_PICTURE
from methods.evaluation.metrics import ScoredObservation
from methods.evaluation.metrics.observations import Observations
from methods.evaluation.metrics.units import turn_numbers

_FAILED = ("failed", "not_asked", "not_judged", NO_PICTURE)


def counts_of(scored: Sequence[ScoredObservation]) -> dict[str, int]:
    """Count one model's turns by status; a turn in a trial counts once, for any number of scores.

    `n_failed` are turns without a judgment for reasons that no other count names. `n_refused` are all
    turns that the model declined: a refusal in words is judged as well.
    """
    observations = Observations.from_scored(scored)
    items, trials, turns, statuses, refused = map(
        observations.column, ("items", "trials", "turns", "statuses", "refused")
    )
    numbers = turn_numbers(items, turns) * max(1, len(observations.names.trials)) + trials
    places, of_place = np.unique(numbers, return_inverse=True)
    of_place = of_place.reshape(-1)
    # A turn is `judged` if any of its observations is; otherwise it has their last status.
    status = np.zeros(len(places), dtype=np.int64)
    status[of_place] = statuses
    is_judged = observations.having("statuses", "judged")
    status[of_place[is_judged]] = observations.names.statuses.get("judged", 0)
    n_of_status = np.bincount(status, minlength=len(observations.names.statuses))
    counted = Counter(dict(zip(observations.names.statuses, n_of_status.tolist(), strict=True)))
    return {
        "n_items": len(np.unique(items)),
        "n_turns": len(places),
        "n_judged": counted["judged"],
        "n_failed": sum(counted[kind] for kind in _FAILED),
        "n_refused": len(np.unique(of_place[refused])),
        **{f"n_{kind}": counted[kind] for kind in NO_ANSWER},
    }
