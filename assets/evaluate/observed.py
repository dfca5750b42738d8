"""Observations by release, judge and model: the input of scores, comparisons and judge quality.

Judgments under one version of a judge's prompt are scored together. If a release has several judges,
there is also a panel: the mean or median of their values on the turns that all of them judged.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from assets.common.isolation import Isolation
from assets.common.settings import AssetConfig
from assets.evaluate.released import items_in_batches
from methods.batched import batched
from methods.benchmarks import Benchmarks
from methods.evaluation.benchmark import Benchmark
from methods.evaluation.judge_quality import AnswerKey
from methods.evaluation.judging import PANEL
from methods.evaluation.metrics.observations import NAMES, joined, label_column, models_in
from methods.evaluation.slices import labels_by_turn, with_pairs
from methods.words import n_words
from resources.warehouse import Warehouse

if TYPE_CHECKING:
    import pandas as pd

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
    """The observations of one judge under one version on a release.

    Attributes:
        observed: The observations, without items that were not asked because an image is missing.
        with_lost: All observations of the models that have such items; None if no model has.
        providers: The providers of model and judge, by model.
        members: The judges of a panel.
    """

    benchmark: Benchmark
    release_id: str
    judge: str
    version: str
    observed: "pd.DataFrame"
    with_lost: "pd.DataFrame | None"
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
    rows = warehouse.select(
        "evaluate.shown_answers", *AnswerKey._fields, "answer", release_id=release_id
    ).to_pylist()
    return {
        AnswerKey(*(row[name] for name in AnswerKey._fields)): length
        for row in rows
        if (length := n_words(row["answer"] or ""))
    }


def _slices(warehouse: Warehouse, benchmark: Benchmark, release_id: str) -> list[JudgeObservations]:
    observed = _observed(warehouse, benchmark, release_id)
    slices: list[JudgeObservations] = []
    if observed.empty:
        return slices
    for (judge, version), of_judge in observed.groupby(["judge", "judge_version"]):
        providers: dict[str, set[str]] = {model: set() for model in models_in(of_judge)}
        for column in ("provider", "judge_provider"):
            pairs = of_judge[["model", column]].dropna().drop_duplicates()
            for model, provider in pairs.itertuples(index=False, name=None):
                providers[model].add(provider)
        lost = of_judge["is_lost"]
        has_lost = lost.groupby(of_judge["model"]).transform("any")
        slices.append(
            JudgeObservations(
                benchmark,
                release_id,
                str(judge),
                str(version),
                of_judge[~lost],
                of_judge[has_lost] if has_lost.any() else None,
                providers,
            )
        )
    return slices


def _observed(warehouse: Warehouse, benchmark: Benchmark, release_id: str) -> "pd.DataFrame":
    """The observations of a release by all judges, with the columns of `observed_of.sql`."""
    names = [name for name in NAMES if name != "cluster"]
    about = ["judge", "judge_version", "provider", "judge_provider"]
    with warehouse.kept_open():
        turns = _turns(warehouse, release_id, benchmark.label_metrics)
        models = warehouse.select(
            "evaluate.observations", "model", order="model", distinct=True, release_id=release_id
        )
        n_rows = warehouse.count("evaluate.observations", {"release_id": release_id})
        # Of a large release a model at a time: rows in Arrow take ten times the memory of categories.
        at_once = None if n_rows <= ROWS_AT_ONCE else 1
        frames = [
            warehouse.read(
                "evaluate/observed_of", {"release_id": release_id, "models": some}
            ).to_pandas(categories=[*names, *about])
            for some in batched(models["model"].to_pylist(), at_once)
        ]
    observed = joined(frames)
    clusters = turns.drop_duplicates("item_id").set_index("item_id")["cluster"]
    if unknown := sorted({*observed["item_id"].unique()} - {*clusters.index}):
        raise KeyError(unknown[0])
    labels = turns.drop(columns="cluster").set_index(["item_id", "turn"]).astype("category")
    return observed.assign(cluster=observed["item_id"].map(clusters).astype("category")).join(
        labels, on=["item_id", "turn"]
    )


def _turns(
    warehouse: Warehouse, release_id: str, pairs: Collection[tuple[str, ...]]
) -> "pd.DataFrame":
    """The cluster and the labels of each turn of a release."""
    import pandas as pd

    return pd.DataFrame(
        [
            {
                "item_id": item.item_id,
                "turn": turn,
                "cluster": item.cluster,
                **{
                    label_column(label): value for label, value in with_pairs(labels, pairs).items()
                },
            }
            for item in items_in_batches(warehouse, release_id)
            for turn, labels in labels_by_turn(item).items()
        ]
    )


def _panel(judges: list[JudgeObservations], panel: Panel) -> JudgeObservations:
    """The judges as one: models that all of them judged."""
    named = ", ".join(judge.judge for judge in judges)
    models = set.intersection(*({*models_in(judge.observed)} for judge in judges))
    with_lost = [judge.with_lost for judge in judges if judge.with_lost is not None]
    return JudgeObservations(
        judges[0].benchmark,
        judges[0].release_id,
        PANEL,
        f"{panel} of {named}, {judges[0].version}",
        _together([judge.observed for judge in judges], models, panel),
        _together(with_lost, models, panel) if len(with_lost) == len(judges) else None,
        {
            model: set.union(*(judge.providers[model] for judge in judges))
            for model in sorted(models)
        },
        judges,
    )


def _together(
    judges: Sequence["pd.DataFrame"], models: Collection[str], panel: Panel
) -> "pd.DataFrame":
    """The observations of these models by several judges as one: judged if all have judged it."""
    import pandas as pd

    key = ["model", "item_id", "trial", "turn", "part", "metric"]
    for judge in judges:
        models = {*models} & {*models_in(judge)}
    scored = pd.concat(judges)
    scored = scored[scored["model"].isin(models)]
    scored["lacking"] = scored["status"].where(scored["value"].isna())
    groups = scored.groupby(key, sort=False)
    is_whole = groups["value"].count() == len(judges)
    value = groups["value"].agg(panel).where(is_whole).to_numpy()
    lacking = groups["lacking"].first().astype(object).fillna("not_judged")
    first = scored.drop_duplicates(key).assign(
        value=value, status=np.where(np.isnan(value), lacking, "judged"), replicates=None
    )
    return first.astype({"status": "category"})
