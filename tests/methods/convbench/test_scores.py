"""ConvBench's composites under judges that contradict themselves or are not understood."""

import csv
import random
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from methods.convbench.published import read_tables
from methods.convbench.scores import DIFFERENCES, GAINS, METRICS, OF_TURN, OVERALL, WIN_RATES
from methods.evaluation.metrics import Metric
from methods.evaluation.published import PublishedTable
from methods.evaluation.ranking import compare
from methods.evaluation.scoring import score_rows
from methods.evaluation.verdicts import ORDERS
from tests.methods.evaluation.observed import ScoredObservation, frame

ALWAYS_FIRST = (1.0, 0.0)
N = 40
TABLE = Path(__file__).parents[4] / "shared/data/fidelity/convbench_r1.csv"
TURN_OF = {name: turn for turn, name in OF_TURN.items()} | {OVERALL: 3}


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


def test_coins_thrown_in_both_orders_are_no_gain_in_95_of_100_intervals() -> None:
    draw = random.Random(0)

    def coins() -> list[tuple[float, float]]:
        return [(draw.choice((0.0, 1.0)), draw.choice((0.0, 1.0))) for _ in range(N)]

    held = total = 0
    for _ in range(20):
        names = sorted({name for pair in GAINS for name in pair})
        rows = found([one for name in names for one in comparisons(name, coins())])
        for metric in DIFFERENCES:
            row = rows[metric.name]
            held += row["ci_low"] <= 0 <= row["ci_high"]
            total += 1
    # 5 of 100 may miss; 11 or more would be as likely as 1 %.
    assert (total, held >= 90) == (100, True)


@pytest.mark.parametrize("table", [None, TABLE], ids=["any items", "a published table"])
def test_composites_follow_their_columns_where_the_judge_was_not_understood(table):
    # Of each score other items are lost; R1 is of all that remain, and not of those with four values.
    items = [f"i{n}" for n in range(60)]
    if table is not None:
        if not table.is_file():
            pytest.skip(f"{table} is not there.")
        rows = list(csv.reader(table.open(encoding="utf-8")))
        items = [item.item_id for item in read_tables([PublishedTable(table.stem, rows)], print)]
    draw = random.Random(1)
    observed = []
    for rate in WIN_RATES.values():
        metric = str(rate.observation)
        for item in items:
            value = None if draw.random() < 0.06 else draw.choice((0.0, 0.0, 1.0))
            status = "not_judged" if value is None else "judged"
            place = rate.trial, TURN_OF[metric], metric
            observed.append(ScoredObservation(item, item, *place, value, status))
    of = found(observed, METRICS)
    value = {name: row["value"] for name, row in of.items()}
    assert {row["n_items"] for row in of.values()} == {60}
    assert all(50 < row["n_units"] < 60 for row in of.values())
    assert value["R2"] == pytest.approx((value["S1"] + value["S2"] + value["S3"]) / 3)
    assert value["R1"] == pytest.approx((value["R2"] + value["SO"]) / 2)
    for more, less in GAINS:
        assert value[f"{more} - {less}"] == pytest.approx(value[more] - value[less])
    _, ranks = compare(METRICS, frame({"model": observed}), least_coverage=0.95)
    covered = {row["metric"]: row["coverage"] for row in ranks}
    assert covered["R1"] == min(covered[name] for name in ("S1", "S2", "S3", "SO"))
    assert covered["S1"] == of["S1"]["n_units"] / 60
