"""Abilities of a report: scores by what items are about, in the levels that the benchmark names.

What belongs here: the tables of each level with the score of everything above them, the map of the
finest level, and which models are surely better than others in an ability. Radars are
`report_radar.py`, the tests `methods/evaluation/ranking.py`.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from methods.evaluation.contestants import is_model
from resources.reports.report_pairs import TOO_FEW_CLUSTERS, Cell, cell_of_pair
from resources.reports.report_radar import Radar, radar_of
from resources.reports.report_scores import Judged, MetricShown, Row, Who
from resources.reports.report_slices import Slice, slices_by_label, split_metric

MOST_PAIRS = 100
"""Pairs of models that are listed; the table has the others."""


class AbilityPairs(NamedTuple):
    """Models against each other by ability.

    `values` are the abilities with the numbers of items; `lines` say of each model and ability how many
    models it is surely better and surely worse than, None where there are too few items for any
    difference to count. `pairs` are the differences themselves, `n_left_out` those that are not listed.
    """

    values: list[tuple[str, int]]
    n_others: int
    lines: list[tuple[Who, list[tuple[int, int] | None]]]
    pairs: list[tuple[Who, Who, list[Cell | None]]]
    n_left_out: int

    @property
    def none_can_count(self) -> bool:
        """Whether every ability has too few items for any difference to count."""
        return all(each is None for _, cells in self.lines for each in cells)


class Level(NamedTuple):
    """One level of abilities: the scores on each, and the comparisons."""

    label: str
    slices: list[Slice]
    pairs: AbilityPairs | None


class Map(NamedTuple):
    """The finest level, in groups of the ability that each is part of (None where none is known)."""

    label: str
    groups: list[tuple[str | None, list[Slice]]]

    @property
    def slices(self) -> list[Slice]:
        """All of it, in its order."""
        return [each for _, of in self.groups for each in of]


class Abilities(NamedTuple):
    """All of it for one judge; `whole` is the score of everything."""

    metric: MetricShown
    models: list[Who]
    whole: Slice
    levels: list[Level]
    radar: Radar | None
    radar_label: str
    map: Map | None


def abilities_of(
    judged: Judged, models: Sequence[Who], labels: Sequence[str], above: Mapping[str, str]
) -> Abilities | None:
    """The abilities by the first metric that is split; None where nothing is split by them.

    `labels` are the levels from the coarsest to the finest, `above` is finest ability -> the one that
    it is part of.
    """
    models = [who for who in models if who.is_model]
    metric = split_metric(judged)
    if metric is None:
        return None
    found = slices_by_label(judged, metric, models)
    levels = [
        Level(label, found[label], _pairs(judged, metric, models, label))
        for label in labels[:-1]
        if label in found
    ]
    finest = labels[-1] if labels and labels[-1] in found else None
    if not levels and finest is None:
        return None
    nearest = levels[-1] if levels else None
    return Abilities(
        metric,
        models,
        _whole(judged, metric, models),
        levels,
        nearest and _radar(nearest, models, metric),
        nearest.label if nearest else "",
        Map(finest, _grouped(found[finest], above)) if finest else None,
    )


def _radar(level: Level, models: Sequence[Who], metric: MetricShown) -> Radar | None:
    names = [each.value for each in level.slices]
    return radar_of(names, models, [each.scores for each in level.slices], metric.scale)


def _whole(judged: Judged, metric: MetricShown, models: Sequence[Who]) -> Slice:
    rows = [row for who in models if (row := judged.row(who.name, metric))]
    sizes = sorted({row["n_units"] for row in rows})
    n = "–".join(map(str, sizes if len(sizes) < 2 else (sizes[0], sizes[-1])))
    return Slice("overall", n, [judged.estimate(who.name, metric) for who in models])


def _grouped(
    slices: Sequence[Slice], above: Mapping[str, str]
) -> list[tuple[str | None, list[Slice]]]:
    groups: dict[str | None, list[Slice]] = {}
    for each in slices:
        groups.setdefault(above.get(each.value), []).append(each)
    return sorted(groups.items(), key=lambda group: (group[0] is None, group[0] or ""))


def _pairs(
    judged: Judged, metric: MetricShown, models: Sequence[Who], label: str
) -> AbilityPairs | None:
    of: dict[str, dict[tuple[str, str], Row]] = {}
    n_units: dict[str, int] = {}
    few = set()
    for row in judged.by_ability:
        first, second = row["first"], row["second"]
        if row["subset_label"] != label or not (is_model(first) and is_model(second)):
            continue
        value = row["subset_value"]
        of.setdefault(value, {})[first, second] = row
        n_units[value] = max(n_units.get(value, 0), row["n_units"])
        if row["n_clusters"] <= TOO_FEW_CLUSTERS:
            few.add(value)
    if not of:
        return None
    shown = {
        value: {
            (one.name, other.name): cell_of_pair(rows, one.name, other.name, metric)
            for one in models
            for other in models
            if one != other
        }
        for value, rows in of.items()
    }
    pairs = list(combinations(models, 2))
    return AbilityPairs(
        [(value, n_units[value]) for value in of],
        len(models) - 1,
        [
            (
                who,
                [None if value in few else _verdicts(shown[value], who, models) for value in of],
            )
            for who in models
        ],
        [
            (one, other, [shown[value][one.name, other.name] for value in of])
            for one, other in pairs[:MOST_PAIRS]
        ],
        max(0, len(pairs) - MOST_PAIRS),
    )


def _verdicts(
    shown: Mapping[tuple[str, str], Cell | None], who: Who, models: Sequence[Who]
) -> tuple[int, int]:
    said = [
        cell.verdict for other in models if (cell := shown.get((who.name, other.name))) is not None
    ]
    return said.count("better"), said.count("worse")
