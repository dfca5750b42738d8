"""ConvBench's composites under judges that contradict themselves."""

from collections.abc import Iterable, Sequence

import pytest

from methods.convbench.scores import DIFFERENCES, GAINS, WIN_RATES
from methods.evaluation.metrics import Metric
from methods.evaluation.scoring import score_rows
from methods.evaluation.verdicts import ORDERS
from tests.methods.evaluation.observed import ScoredObservation, frame

ALWAYS_FIRST = (1.0, 0.0)
N = 40


def comparisons(name: str, values: Iterable[tuple[float, float]]) -> list[ScoredObservation]:
    """Both orders of every item, in the setting of a win rate."""
    of = WIN_RATES[name]
    return [
        ScoredObservation(f"i{n}", f"i{n}", of.trial, 3, str(of.observation), value, part=part)
        for n, both in enumerate(values)
        for part, value in zip(ORDERS, both, strict=True)
    ]


def found(
    observed: list[ScoredObservation],
    metrics: Sequence[Metric] = (*WIN_RATES.values(), *DIFFERENCES),
) -> dict[str, dict]:
    rows = score_rows(metrics, frame({"model": observed}))
    return {row["metric"]: row for row in rows if row["form"] == "floor"}


@pytest.mark.parametrize(("more", "less"), GAINS)
@pytest.mark.parametrize(("every", "gain"), [(1, 0), (2, 25), (4, 37.5), (N + 1, 50)])
def test_contradictions_shrink_a_difference_by_their_share_and_turn_none_round(
    more, less, every, gain
):
    # The model wins 10 of 40 items, with a turn given 30: a gain of 50. Every second, fourth or other
    # item is judged by its place alone, which is worth half a win in both settings.
    def judged(won: int) -> list[tuple[float, float]]:
        return [
            ALWAYS_FIRST if n % every == every - 1 else (float(n < won), float(n < won))
            for n in range(N)
        ]

    rows = found([*comparisons(less, judged(10)), *comparisons(more, judged(30))])
    place = sum(n % every == every - 1 for n in range(10, 30)) / 20
    assert rows[f"{more} - {less}"]["value"] == pytest.approx(50 * (1 - place))
    assert rows[f"{more} - {less}"]["value"] == pytest.approx(gain)
