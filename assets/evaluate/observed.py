"""What scores, comparisons and judge quality are made of: observations by release, judge and model.

What belongs here: reading `evaluate.observations` with what each item is. Judgments under one version
of a judge's prompt are scored together. Where a release has several judges, a panel is one more: its
values are the mean or median of theirs, of the turns that all of them judged.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from statistics import fmean, median
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from assets.common.apart import Apart
from assets.evaluate.released import items_of
from methods.benchmarks import Benchmarks
from methods.evaluation.benchmark import Benchmark
from methods.evaluation.judge_quality import AnswerKey
from methods.evaluation.judging import PANEL
from methods.evaluation.metrics import Scored
from methods.evaluation.slices import labels_by_turn
from methods.words import n_words
from resources.settings import Settings
from resources.warehouse import Warehouse

if TYPE_CHECKING:
    import pyarrow as pa

Panel = Literal["mean", "median"]
ROWS_AT_ONCE = 10_000
"""Observations that are dicts at the same time: one takes ten times the memory of its row in Arrow."""


class ScoringSettings(Settings):
    """How scores and comparisons are computed: the same observations give the same numbers."""

    seed: int = Field(0, description="Seed of the resampling.")
    n_resamples: int = Field(10_000, ge=100, description="Resamples behind each interval.")
    panel: Panel = Field(
        "mean", description="How the values of several judges make those of their panel."
    )


@dataclass
class Slice:
    """What one judge, under one version, observed on a release: by model.

    `providers` are those that ran the model and the judge. A panel's `members` are its judges.
    """

    benchmark: Benchmark
    release_id: str
    judge: str
    version: str
    observed: dict[str, list[Scored]] = field(default_factory=dict)
    providers: dict[str, set[str]] = field(default_factory=dict)
    members: list["Slice"] = field(default_factory=list)

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
    warehouse: Warehouse, benchmarks: Benchmarks, panel: Panel, apart: Apart
) -> Iterator[Slice]:
    """Every slice of every release, the panel of a release's judges after them."""
    observed = warehouse.select(
        "evaluate.observations", "benchmark", "release_id", order="release_id", distinct=True
    )
    for release in observed.to_pylist():
        if release["benchmark"] not in benchmarks:
            continue
        benchmark = benchmarks[release["benchmark"]]
        of_release: list[Slice] = []
        with apart.release(release["release_id"]):
            of_release = slices_of(warehouse, benchmark, release["release_id"], panel)
        yield from of_release


def slices_of(
    warehouse: Warehouse, benchmark: Benchmark, release_id: str, panel: Panel
) -> list[Slice]:
    """Every slice of one release, then the panels: judges of one version, several of them, each."""
    of_release = _slices(warehouse, benchmark, release_id)
    versions: dict[str, list[Slice]] = {}
    for slice_ in sorted(of_release, key=lambda slice_: slice_.judge):
        versions.setdefault(slice_.version, []).append(slice_)
    panels = [_panel(judges, panel) for judges in versions.values() if len(judges) > 1]
    return [*of_release, *panels]


def answer_lengths(warehouse: Warehouse, release_id: str) -> dict[AnswerKey, int]:
    """Words of every answer on a release that has any."""
    rows = warehouse.read("evaluate/answer_texts_of", {"release_id": release_id}).to_pylist()
    lengths = {
        AnswerKey(row["model"], row["item_id"], row["trial"], row["turn"]): n_words(row["answer"])
        for row in rows
    }
    return {key: length for key, length in lengths.items() if length}


def _slices(warehouse: Warehouse, benchmark: Benchmark, release_id: str) -> list[Slice]:
    with warehouse.kept_open():
        items = {item.item_id: item for item in items_of(warehouse, release_id)}
        table = warehouse.read("evaluate/observed_of", {"release_id": release_id})
    labels = {item_id: labels_by_turn(item) for item_id, item in items.items()}
    by_judge: dict[tuple[str, str], Slice] = {}
    for row in _observed(table):
        judge, version, model = row["judge"], row["judge_version"], row["model"]
        if (judge, version) not in by_judge:
            by_judge[judge, version] = Slice(benchmark, release_id, judge, version)
        slice_ = by_judge[judge, version]
        ran = {row["provider"], row["judge_provider"]} - {None}
        slice_.providers.setdefault(model, set()).update(ran)
        item = items[row["item_id"]]
        slice_.observed.setdefault(model, []).append(
            Scored(
                item_id=item.item_id,
                cluster=item.cluster,
                trial=row["trial"],
                turn=row["turn"],
                metric=row["metric"],
                value=row["value"],
                status=row["status"],
                refused=row["refused"],
                labels=labels[item.item_id].get(row["turn"], {}),
                part=row["part"],
                replicates=tuple(row["replicates"] or ()),
            )
        )
    return list(by_judge.values())


def _observed(table: "pa.Table") -> Iterator[dict[str, Any]]:
    """The rows of one release, some at a time; texts that many rows have are one object."""
    shared: dict[str, str] = {}
    for batch in table.to_batches(max_chunksize=ROWS_AT_ONCE):
        for row in batch.to_pylist():
            for name in ("model", "trial", "metric", "status", "part"):
                row[name] = shared.setdefault(row[name], row[name])
            yield row


def _panel(judges: list[Slice], panel: Panel) -> Slice:
    """The judges as one: models that all of them judged."""
    combine = fmean if panel == "mean" else median
    named = ", ".join(judge.judge for judge in judges)
    made = Slice(
        judges[0].benchmark,
        judges[0].release_id,
        PANEL,
        f"{panel} of {named}, {judges[0].version}",
        members=judges,
    )
    for model in sorted(set.intersection(*(set(judge.observed) for judge in judges))):
        of_turns: dict[tuple[object, ...], list[Scored]] = {}
        for scored in (one for judge in judges for one in judge.observed[model]):
            key = scored.item_id, scored.trial, scored.turn, scored.part, scored.metric
            of_turns.setdefault(key, []).append(scored)
        made.observed[model] = [
            _together(of_turn, len(judges), combine) for of_turn in of_turns.values()
        ]
        made.providers[model] = set.union(*(judge.providers[model] for judge in judges))
    return made


def _together(of: list[Scored], n_judges: int, combine: Callable[[list[float]], float]) -> Scored:
    """One observation of several judges': judged if all have judged it."""
    values = [scored.value for scored in of if scored.value is not None]
    if len(values) == n_judges:
        return replace(of[0], value=combine(values), status="judged", replicates=())
    lacking = next((scored.status for scored in of if scored.value is None), "not_judged")
    return replace(of[0], value=None, status=lacking, replicates=())
