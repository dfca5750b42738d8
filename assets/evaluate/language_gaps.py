"""Language gaps: what models score more on a release than on the same one in another language.

What belongs here: which releases are compared: those in force of one benchmark and split, in different
languages, whose items have ids in common. How they are compared is
`methods/evaluation/language_gaps.py`.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import dagster as dg

from assets.common.apart import Apart
from assets.common.automation import WHEN_READY
from assets.common.tables import report, rows_to_arrow, table_asset
from assets.evaluate.observations import observations
from assets.evaluate.observed import ScoringSettings, Slice, slices_of
from assets.evaluate.released import items_of
from methods.benchmarks import Benchmarks
from methods.choice.languages import SOURCE_LANGUAGE
from methods.evaluation.items import Item
from methods.evaluation.language_gaps import Observed, language_gaps, paired
from resources.warehouse import Warehouse

Row = dict[str, Any]


@table_asset(
    "evaluate.language_gaps",
    settings=ScoringSettings,
    deps=[observations],
    automation_condition=WHEN_READY,
)
def language_gap_table(
    settings: ScoringSettings,
    warehouse: dg.ResourceParam[Warehouse],
    benchmarks: dg.ResourceParam[Benchmarks],
    apart: Apart,
) -> dg.MaterializeResult:
    """What each model scores more in one language than in another, on the same items, with the interval
    of the difference and p by sign flips; of all items and by ability of level 2."""
    rows: list[Row] = []
    unlike: dict[str, int] = {}
    n_pairs = 0
    for first, second in _translations(warehouse, benchmarks):
        items = [items_of(warehouse, each["release_id"]) for each in (first, second)]
        pairing = paired(*items)
        if not pairing.paired:
            if pairing.n_unlike:
                # Equal ids alone are no translation; said, because a picture that was saved again is
                # another.
                unlike[f"{first['release_id']} and {second['release_id']}"] = pairing.n_unlike
            continue
        n_pairs += 1
        with apart.release(second["release_id"]):
            rows += _rows(warehouse, benchmarks, (first, second), items, settings)
    table = rows_to_arrow("evaluate.language_gaps", rows)
    warehouse.replace("evaluate.language_gaps", table)
    details: dict[str, Any] = {"pairs of releases": n_pairs}
    if unlike:
        details["warning"] = "; ".join(
            f"{names} share {n} ids and no item: pictures, numbers of choices or keys differ"
            for names, n in unlike.items()
        )
    return report(table, details)


_COLUMNS = (("release", "release_id"), ("language", "language"))


def _rows(
    warehouse: Warehouse,
    benchmarks: Benchmarks,
    releases: tuple[Row, Row],
    items: Sequence[list[Item]],
    settings: ScoringSettings,
) -> Iterator[Row]:
    """The gaps between two releases with these items."""
    first, second = releases
    benchmark = benchmarks[first["benchmark"]]
    ones, others = (
        _by_judge(slices_of(warehouse, benchmark, each["release_id"], settings.panel))
        for each in releases
    )
    of = {
        "benchmark": benchmark.name,
        "split": first["split"],
        **{f"first_{name}": first[key] for name, key in _COLUMNS},
        **{f"second_{name}": second[key] for name, key in _COLUMNS},
    }
    for judge, version in sorted(ones.keys() & others.keys()):
        compared = language_gaps(
            benchmark.metrics,
            Observed(first["release_id"], items[0], ones[judge, version].observed),
            Observed(second["release_id"], items[1], others[judge, version].observed),
            seed=settings.seed,
            n_resamples=settings.n_resamples,
        )
        yield from ({**of, "judge": judge, "judge_version": version, **row} for row in compared)


def _translations(warehouse: Warehouse, benchmarks: Benchmarks) -> Iterator[tuple[Row, Row]]:
    """Two releases in force of one benchmark and split in two languages, English first."""
    known = [
        row
        for row in warehouse.read("release/current").to_pylist()
        if row["benchmark"] in benchmarks and row["language"]
    ]
    known.sort(key=lambda row: (row["language"] != SOURCE_LANGUAGE, row["language"], row["name"]))
    for one, other in combinations(known, 2):
        same = all(one[name] == other[name] for name in ("benchmark", "split"))
        if same and one["language"] != other["language"]:
            yield one, other


def _by_judge(slices: list[Slice]) -> Mapping[tuple[str, str], Slice]:
    return {(each.judge, each.version): each for each in slices}
