"""Language gap: difference of a model's scores on a release and on its translation."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import dagster as dg

from assets.common.isolation import Isolation
from assets.evaluate.findings import AnalysisResult, Row, analysis, rows_of
from assets.evaluate.observations import observations
from assets.evaluate.observed import JudgeObservations, ScoringSettings, slices_of
from assets.evaluate.released import current_of, items_of
from methods.benchmarks import Benchmarks
from methods.choice.languages import SOURCE_LANGUAGE
from methods.evaluation.items import Item
from methods.evaluation.language_gaps import (
    ReleaseObservations,
    language_gap_findings,
    paired_items,
)
from resources.warehouse import Warehouse


@analysis(
    "language_gaps",
    {
        "first_score": "score on the release, over the units that both have, failures at the floor",
        "second_score": "the same on the release in the `other` language",
        "difference": "mean of the units of the first less that of the second",
        "n_pairs": "items of the subset that both have",
        "n_only_first": "items that only the first release has",
        "n_only_second": "items that only the second release has",
        "n_unlike": "items of both with another picture, number of choices or key",
    },
    version="3",
    deps=[observations],
)
def language_gaps(
    config: ScoringSettings,
    warehouse: dg.ResourceParam[Warehouse],
    benchmarks: dg.ResourceParam[Benchmarks],
) -> AnalysisResult:
    """Difference of each model's scores in two languages on the same items, with its interval and the p
    of a paired t-test, for all items and by ability of level 2.
    """
    isolation = Isolation("evaluate.language_gaps")
    rows: list[Row] = []
    unlike: dict[str, int] = {}
    n_pairs = 0
    for first, second in _translations(warehouse, benchmarks):
        items = [items_of(warehouse, release["release_id"]) for release in (first, second)]
        pairing = paired_items(*items)
        if not pairing.paired:
            if pairing.n_unlike:
                # Equal ids do not make a translation if the items differ. This is reported, because an
                # image that was only saved again counts as another image.
                unlike[f"{first['release_id']} and {second['release_id']}"] = pairing.n_unlike
            continue
        n_pairs += 1
        with isolation.release(second["release_id"]):
            rows += _rows(warehouse, benchmarks, (first, second), items, config)
    details: Row = {"pairs of releases": n_pairs}
    if unlike:
        details["warning"] = "; ".join(
            f"{names} share {n} ids and no item: pictures, numbers of choices or keys differ"
            for names, n in unlike.items()
        )
    return AnalysisResult(rows, details, isolation)


def _rows(
    warehouse: Warehouse,
    benchmarks: Benchmarks,
    releases: tuple[Row, Row],
    items: Sequence[list[Item]],
    settings: ScoringSettings,
) -> list[Row]:
    """Compute the gaps between two releases with these items."""
    benchmark = benchmarks[releases[0]["benchmark"]]
    first, second = (release["release_id"] for release in releases)
    ones, others = (
        _by_judge(slices_of(warehouse, benchmark, release_id, settings.panel))
        for release_id in (first, second)
    )
    rows: list[Row] = []
    for key in sorted(ones.keys() & others.keys()):
        compared = language_gap_findings(
            benchmark.metrics,
            ReleaseObservations(first, items[0], ones[key].observed),
            ReleaseObservations(second, items[1], others[key].observed),
        )
        rows += rows_of(compared, {**ones[key].columns, "other": second})
    return rows


def _translations(warehouse: Warehouse, benchmarks: Benchmarks) -> Iterator[tuple[Row, Row]]:
    """Yield pairs of current releases of a benchmark and split in two languages, English first."""
    releases = [row for row in current_of(warehouse, benchmarks) if row["language"]]
    releases.sort(
        key=lambda row: (row["language"] != SOURCE_LANGUAGE, row["language"], row["name"])
    )
    for english, translation in combinations(releases, 2):
        same = all(english[name] == translation[name] for name in ("benchmark", "split"))
        if same and english["language"] != translation["language"]:
            yield english, translation


def _by_judge(slices: list[JudgeObservations]) -> Mapping[tuple[str, str], JudgeObservations]:
    return {(slice_.judge, slice_.version): slice_ for slice_ in slices}
