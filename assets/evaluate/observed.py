"""Observations by release, judge and model: the input of scores, comparisons and judge quality.

Judgments under one version of a judge's prompt are scored together. If a release has several judges,
there is also a panel: the mean or median of their values on the turns that all of them judged.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from statistics import fmean, median
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from assets.common.isolation import Isolation
from assets.common.settings import AssetConfig
from assets.evaluate.released import items_in_batches
from methods.batched import batched
from methods.benchmarks import Benchmarks
from methods.evaluation.benchmark import Benchmark
from methods.evaluation.judge_quality import AnswerKey
from methods.evaluation.judging import PANEL
from methods.evaluation.metrics import ScoredObservation
from methods.evaluation.metrics.observations import (
    Numbering,
    ObservationColumns,
    ObservationNames,
    Observations,
    replicates_of,
)
from methods.evaluation.metrics.units import turn_numbers
from methods.evaluation.slices import labels_by_turn, with_pairs
from methods.words import n_words
from resources.warehouse import Warehouse

if TYPE_CHECKING:
    import pyarrow as pa

Panel = Literal["mean", "median"]

ROWS_AT_ONCE = 20_000
"""Observations that are read at once."""


class ScoringSettings(AssetConfig):
    """How scores and comparisons are computed: the same observations give the same numbers."""

    RETIRED = frozenset({"seed", "n_resamples"})

    panel: Panel = Field(
        "mean", description="How the values of several judges make those of their panel."
    )


@dataclass
class JudgeObservations:
    """The observations of one judge under one version on a release, by model.

    Attributes:
        providers: The providers of model and judge.
        members: The judges of a panel.
        observed: The observations, without items that were not asked because an image is missing.
        with_lost: All observations, if there are such items.
    """

    benchmark: Benchmark
    release_id: str
    judge: str
    version: str
    observed: dict[str, Observations] = field(default_factory=dict)
    with_lost: dict[str, Observations] = field(default_factory=dict)
    providers: dict[str, set[str]] = field(default_factory=dict)
    members: list["JudgeObservations"] = field(default_factory=list)

    @property
    def columns(self) -> dict[str, str]:
        """The columns that say what the slice is."""
        return {
            "benchmark": self.benchmark.name,
            "release_id": self.release_id,
            "judge": self.judge,
            "judge_version": self.version,
        }


def slices(
    warehouse: Warehouse, benchmarks: Benchmarks, panel: Panel, isolation: Isolation
) -> Iterator[JudgeObservations]:
    """Iterate over the observations of every release, by judge and version.

    Args:
        warehouse: The tables.
        benchmarks: The benchmarks by name; releases of others are skipped.
        panel: How the scores of several judges are combined.
        isolation: Collects the failures of single releases.

    Yields:
        The observations of each judge of a release, then those of the release's panel of judges.
    """
    observed = warehouse.select(
        "evaluate.observations", "benchmark", "release_id", order="release_id", distinct=True
    )
    for release in observed.to_pylist():
        if release["benchmark"] not in benchmarks:
            continue
        benchmark = benchmarks[release["benchmark"]]
        of_release: list[JudgeObservations] = []
        with isolation.release(release["release_id"]):
            of_release = slices_of(warehouse, benchmark, release["release_id"], panel)
        yield from of_release


def slices_of(
    warehouse: Warehouse, benchmark: Benchmark, release_id: str, panel: Panel
) -> list[JudgeObservations]:
    """Read the observations of a release, by judge and version.

    Args:
        warehouse: The tables.
        benchmark: The release's benchmark.
        release_id: The release.
        panel: How the scores of several judges are combined.

    Returns:
        The observations of each judge, then a panel for each version that several judges have.
    """
    of_release = _slices(warehouse, benchmark, release_id)
    versions: dict[str, list[JudgeObservations]] = {}
    for slice_ in sorted(of_release, key=lambda slice_: slice_.judge):
        versions.setdefault(slice_.version, []).append(slice_)
    panels = [_panel(judges, panel) for judges in versions.values() if len(judges) > 1]
    return [*of_release, *panels]


def answer_lengths(warehouse: Warehouse, release_id: str) -> dict[AnswerKey, int]:
    """Count the words of the answers on a release. Answers without a text are left out.

    Args:
        warehouse: The tables.
        release_id: The release.

    Returns:
        The number of words of each answer.
    """
    rows = warehouse.read("evaluate/answer_texts_of", {"release_id": release_id}).to_pylist()
    lengths = {
        AnswerKey(row["model"], row["item_id"], row["trial"], row["turn"]): n_words(row["answer"])
        for row in rows
    }
    return {key: length for key, length in lengths.items() if length}


def _slices(warehouse: Warehouse, benchmark: Benchmark, release_id: str) -> list[JudgeObservations]:
    by_judge: dict[tuple[str, str], JudgeObservations] = {}
    with warehouse.kept_open():
        items = _Items(warehouse, release_id, benchmark.label_metrics)
        models = warehouse.select(
            "evaluate.observations", "model", order="model", distinct=True, release_id=release_id
        )
        n_rows = warehouse.count("evaluate.observations", {"release_id": release_id})
        # Of a large release a model at a time: rows in Arrow take ten times the memory of columns.
        at_once = None if n_rows <= ROWS_AT_ONCE else 1
        for some in batched(models["model"].to_pylist(), at_once):
            where = {"release_id": release_id, "models": some}
            table = warehouse.read("evaluate/observed_of", where)
            for judge, version, model, rows in _slices_in(table):
                if (judge, version) not in by_judge:
                    by_judge[judge, version] = JudgeObservations(
                        benchmark, release_id, judge, version
                    )
                slice_ = by_judge[judge, version]
                ran = {*rows["provider"].unique().to_pylist()}
                ran |= {*rows["judge_provider"].unique().to_pylist()}
                slice_.providers[model] = ran - {None}
                every = items.observations(rows)
                lost = rows["is_lost"].to_numpy()
                if not lost.all():
                    slice_.observed[model] = every.take(~lost)
                if lost.any():
                    slice_.with_lost[model] = every
    return [by_judge[key] for key in sorted(by_judge)]


def _slices_in(table: "pa.Table") -> Iterator[tuple[str, str, str, "pa.Table"]]:
    """Each judge, version and model, which the rows are in order of, and their rows."""
    names = ("judge", "judge_version", "model")
    numbers = [_numbers(table[name], Numbering[str]()) for name in names]
    changes = np.flatnonzero(np.any([np.diff(of) != 0 for of in numbers], axis=0)) + 1
    ends = [0, *changes.tolist(), table.num_rows]
    for start, end in pairwise(ends):
        if end > start:
            rows = table.slice(start, end - start)
            judge, version, model = (rows[name][0].as_py() for name in names)
            yield judge, version, model, rows


class _Items:
    """What observations say of the items of a release: clusters, and the labels of their turns."""

    def __init__(self, warehouse: Warehouse, release_id: str, pairs: Collection[tuple[str, ...]]):
        self._names = ObservationNames()
        self._clusters: list[int] = []
        labels: list[tuple[int, int, int]] = []
        for item in items_in_batches(warehouse, release_id):
            number = self._names.items[item.item_id]
            self._clusters.append(self._names.clusters[item.cluster])
            labels += [
                (number, turn, self._names.number_of(with_pairs(of_turn, pairs)))
                for turn, of_turn in labels_by_turn(item).items()
            ]
        self._none = self._names.number_of({})
        items, turns, of_turns = np.array(labels, dtype=np.int64).reshape(-1, 3).T
        places = turn_numbers(items, turns)
        order = np.argsort(places)
        self._places, self._labels = places[order], of_turns[order].astype(np.int32)

    def observations(self, rows: "pa.Table") -> Observations:
        """The rows of one model, judge and version."""
        names = self._names
        n_items = len(names.items)
        items = _numbers(rows["item_id"], names.items)
        if len(names.items) > n_items:
            raise KeyError(list(names.items)[n_items])
        turns = rows["turn"].to_numpy()
        places = turn_numbers(items, turns)
        at = np.minimum(np.searchsorted(self._places, places), max(0, len(self._places) - 1))
        labels = np.full(len(items), self._none, dtype=np.int32)
        if len(self._places):
            is_known = self._places[at] == places
            labels[is_known] = self._labels[at[is_known]]
        replicates = None
        if rows["replicates"].null_count < rows.num_rows:
            replicates = replicates_of([tuple(of or ()) for of in rows["replicates"].to_pylist()])
        columns = ObservationColumns(
            items,
            np.array(self._clusters, dtype=np.int32)[items],
            _numbers(rows["trial"], names.trials),
            turns.astype(np.int32),
            _numbers(rows["metric"], names.metrics),
            rows["value"].to_numpy(),
            _numbers(rows["status"], names.statuses),
            rows["refused"].to_numpy().astype(bool),
            labels,
            _numbers(rows["part"], names.parts),
            replicates,
        )
        return Observations(names, columns)


def _numbers(column: "pa.ChunkedArray", numbered: Numbering[str]) -> NDArray[np.int32]:
    encoded = column.combine_chunks().dictionary_encode()
    numbers = np.array([numbered[text] for text in encoded.dictionary.to_pylist()], dtype=np.int32)
    return numbers[encoded.indices.to_numpy()]


def _panel(judges: list[JudgeObservations], panel: Panel) -> JudgeObservations:
    """The judges as one: models that all of them judged."""
    combine = fmean if panel == "mean" else median
    named = ", ".join(judge.judge for judge in judges)
    panel_judge = JudgeObservations(
        judges[0].benchmark,
        judges[0].release_id,
        PANEL,
        f"{panel} of {named}, {judges[0].version}",
        members=judges,
    )
    for model in sorted(set.intersection(*(set(judge.observed) for judge in judges))):
        panel_judge.observed[model] = _of_all([judge.observed[model] for judge in judges], combine)
        if all(model in judge.with_lost for judge in judges):
            panel_judge.with_lost[model] = _of_all(
                [judge.with_lost[model] for judge in judges], combine
            )
        panel_judge.providers[model] = set.union(*(judge.providers[model] for judge in judges))
    return panel_judge


def _of_all(judges: list[Observations], combine: Callable[[list[float]], float]) -> Observations:
    """The observations of one model by several judges as one."""
    of_turns: dict[tuple[object, ...], list[ScoredObservation]] = {}
    for scored in (one for judge in judges for one in judge):
        key = scored.item_id, scored.trial, scored.turn, scored.part, scored.metric
        of_turns.setdefault(key, []).append(scored)
    of_panel = [_together(of_turn, len(judges), combine) for of_turn in of_turns.values()]
    return Observations.from_scored(of_panel, judges[0].names)


def _together(
    observations: list[ScoredObservation], n_judges: int, combine: Callable[[list[float]], float]
) -> ScoredObservation:
    """One observation of several judges': judged if all have judged it."""
    values = [scored.value for scored in observations if scored.value is not None]
    if len(values) == n_judges:
        return replace(observations[0], value=combine(values), status="judged", replicates=())
    lacking = next((scored.status for scored in observations if scored.value is None), "not_judged")
    return replace(observations[0], value=None, status=lacking, replicates=())
