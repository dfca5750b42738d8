"""Quality of LLM judges: agreement with people and other judges, length bias, variance of scores.

Turns observations into the findings of `evaluate/judge_quality`. An answer here is one part of a turn
of one trial. Its score is the mean of a judge's replicates. Answers without a score are left out.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from methods.agreement.measures import LABELS_OF_PAIR, SCORES_OF_PAIR, TEN_POINTS
from methods.agreement.rating_matrix import Measure
from methods.agreement.scores import HIGHEST, LOWEST
from methods.evaluation.findings import Finding, estimated
from methods.evaluation.judging import PEOPLE
from methods.evaluation.metrics.observations import joined, label_column
from methods.evaluation.scoring import ALL
from methods.evaluation.slices import tells_kinds
from methods.evaluation.statistics.bootstrap import Floats, ratio
from methods.evaluation.statistics.estimates import Estimate
from methods.evaluation.statistics.judge_agreement import Labels, judge_agreement
from methods.evaluation.statistics.length_control import (
    NO_SCORES,
    length_controlled_scores,
    length_correlation,
)
from methods.evaluation.statistics.variance_components import (
    replicate_variance,
    variance_components,
)

if TYPE_CHECKING:
    import pandas as pd

INTERNAL, EXTERNAL = "internal", "external"
"""Sources of people's scores: decisions in the review store, or an imported file."""
OF_PEOPLE = {INTERNAL: PEOPLE, EXTERNAL: f"{PEOPLE}, imported"}
"""The name of the people that a judge is compared with, by source of their scores."""
CRITIC = "critic"
"""The label of the split that a critic's training pair is in."""
TEST, EXTERNAL_TEST = "test", "external"
"""Splits that a critic is not trained on. `external` holds all answers of external models."""
NO_SCORE = "The judge gave no score."
ONE_SCORE = "One score has no deviation."
JUDGED_ONCE = "No answer was judged twice."
NO_VARIANCE = "All scores are the same."


class AnswerKey(NamedTuple):
    """The key of an answer."""

    model: str
    item_id: str
    trial: str
    turn: int


@dataclass(frozen=True)
class JudgeScale:
    """The dimensions of a judge, the overall one last, and the limits of its scale."""

    dimensions: Sequence[str]
    lowest: float
    highest: float

    @property
    def overall(self) -> str:
        """The dimension of the whole answer."""
        return self.dimensions[-1]

    @property
    def measures(self) -> Mapping[str, Measure]:
        """The measures of agreement: of labels for verdicts, else of scores (and bands of 1 to 10)."""
        if self.has_verdicts:
            return LABELS_OF_PAIR
        if (self.lowest, self.highest) == (LOWEST, HIGHEST):
            return {**SCORES_OF_PAIR, **TEN_POINTS}
        return SCORES_OF_PAIR

    @property
    def has_verdicts(self) -> bool:
        """Whether a score is a verdict: 1 if the answer wins, 0 if it loses."""
        return (self.lowest, self.highest) == (0, 1)


@dataclass(frozen=True)
class ReferenceMeasures:
    """The measures that scores are compared with: lengths of answers, and people's mean scores by
    dimension.

    Attributes:
        people: People's scores by source (`INTERNAL`, `EXTERNAL`).
        critic_splits: The split of each answer that is a critic's training pair (`train`, `test`,
            `external`).
    """

    lengths: Mapping[AnswerKey, int]
    people: Mapping[str, Mapping[AnswerKey, Mapping[str, float]]]
    critic_splits: Mapping[AnswerKey, str] = field(default_factory=dict)


class _AnswerPart(NamedTuple):
    place: AnswerKey
    part: str
    cluster: str


@dataclass(frozen=True)
class _Scores:
    """Scores of judges on one dimension: answers x judges x replicates, NaN if missing."""

    answers: list[_AnswerPart]
    scores: Floats

    @property
    def means(self) -> Floats:
        """The mean of each judge's replicates: answers x judges."""
        has_score = ~np.isnan(self.scores)
        return ratio(
            np.where(has_score, self.scores, 0.0).sum(axis=2), has_score.sum(axis=2).astype(float)
        )

    @property
    def models(self) -> Labels:
        """The number of each answer's model, in the order of the models' names."""
        return _numbers([answer.place.model for answer in self.answers])

    @property
    def clusters(self) -> Labels:
        """The number of each answer's cluster: its dialogue, item or group."""
        return _numbers([answer.cluster for answer in self.answers])


def judge_rows(
    scale: JudgeScale,
    observed: "pd.DataFrame",
    beside: ReferenceMeasures,
    *,
    seed: int,
    n_resamples: int,
    split_by: str | None = None,
    is_critic: bool = False,
) -> Iterator[Finding]:
    """Describe one judge's scores, and how far people agree with them.

    Every dimension gets its distribution, and the agreement with people on the answers that both
    scored. The overall dimension also gets this agreement for each value of a label and for each split
    of a critic's pairs, and the measures of length and the variance of replicates.

    Args:
        scale: The judge's dimensions and the ends of their scale.
        observed: The judge's observations.
        beside: The scores of people, the lengths of answers and the splits of a critic's pairs.
        seed: The seed of the bootstraps.
        n_resamples: The number of bootstrap draws.
        split_by: The label whose values are reported one by one.
        is_critic: Whether the judge is a critic that was trained on training pairs; agreement then uses
            test pairs only.

    Yields:
        The findings.
    """
    for dimension in scale.dimensions:
        scores = _scores_of([observed], dimension)
        yield from _distribution(scores, dimension, scale)
        n_draws = n_resamples if dimension == scale.overall or scale.has_verdicts else 0
        subsets = _split(scores, observed, split_by) if dimension == scale.overall else {}
        critic_splits = np.array(
            [beside.critic_splits.get(answer.place, "") for answer in scores.answers], dtype=np.str_
        )
        if dimension == scale.overall:
            subsets |= {
                (CRITIC, split): critic_splits == split
                for split in sorted(set(beside.critic_splits.values()))
            }
        for origin, ratings in sorted(beside.people.items()):
            by_people = [ratings.get(answer.place, {}).get(dimension) for answer in scores.answers]
            pairs = np.column_stack([scores.means[:, 0], np.array(by_people, dtype=float)])
            both = ~np.isnan(pairs).any(axis=1)
            if is_critic:
                both &= np.isin(critic_splits, (TEST, EXTERNAL_TEST))
            for (label, value), within in {ALL: both, **subsets}.items():
                if not (both & within).any():
                    continue
                of_subset = np.where((both & within)[:, None], pairs, np.nan)
                people = OF_PEOPLE[origin]
                for row in _agreement(scores, of_subset, people, dimension, scale, seed, n_draws):
                    yield replace(row, subset_label=label, subset_value=value)
    scores = _scores_of([observed], scale.overall)
    yield from _length(scores, beside.lengths, scale.overall, seed, n_resamples)
    repeated = int(((~np.isnan(scores.scores)).sum(axis=2) >= 2).sum())
    variance = replicate_variance(scores.scores)
    yield _row(scale.overall, "replicate_variance", repeated, variance, reason=JUDGED_ONCE)


def pair_rows(
    scale: JudgeScale,
    first: "pd.DataFrame",
    second: "pd.DataFrame",
    name: str,
    *,
    seed: int,
    n_resamples: int,
) -> Iterator[Finding]:
    """Measure the agreement of two judges on every dimension, for each unit.

    The unit `item` compares means over clusters: a cluster is a dialogue, or all rewrites of a
    question. Only the overall dimension has intervals, as each takes `n_resamples` calls of scipy.

    Args:
        scale: The dimensions and the ends of their scale.
        first: The first judge's observations.
        second: The second judge's observations.
        name: The name of the second judge.
        seed: The seed of the bootstraps.
        n_resamples: The number of bootstrap draws.

    Yields:
        The findings.
    """
    for dimension in scale.dimensions:
        scores = _scores_of([first, second], dimension)
        n_draws = n_resamples if dimension == scale.overall else 0
        yield from _agreement(scores, scores.means, name, dimension, scale, seed, n_draws)


def variance_rows(scale: JudgeScale, judges: Sequence["pd.DataFrame"]) -> Iterator[Finding]:
    """Split the variance of the overall scores into shares: item, judge, interaction and replicate.

    An item is one model's answer. With one judge the shares are those of item and replicate. All judges
    count with the same number of replicates, the smallest that any of them has.

    Args:
        scale: The dimensions and the ends of their scale.
        judges: The observations of each judge.

    Yields:
        A finding for each share.
    """
    scores = _scores_of(judges, scale.overall)
    n_replicates = max(1, int((~np.isnan(scores.scores)).any(axis=0).sum(axis=1).min()))
    components = variance_components(scores.scores[:, :, :n_replicates])
    of_judges = ("judge", "interaction") if len(judges) > 1 else ()
    for name in ("item", *of_judges, "replicate"):
        reason = components.reason or (JUDGED_ONCE if components.shares else NO_VARIANCE)
        share = components.shares.get(name)
        yield _row(
            scale.overall, f"variance_share_{name}", components.n_items, share, reason=reason
        )


def _scores_of(judges: Sequence["pd.DataFrame"], dimension: str) -> _Scores:
    """The scores of the judges on a dimension, for all answers that at least one of them scored."""
    scored = joined(
        [
            observed[(observed["metric"] == dimension) & observed["value"].notna()].assign(
                judge=judge
            )
            for judge, observed in enumerate(judges)
        ]
    )
    key = [*AnswerKey._fields, "part", "cluster"]
    rows = scored.groupby(key).ngroup()
    replicates = [
        [value] if values is None else values
        for value, values in zip(scored["value"], scored["replicates"], strict=True)
    ]
    most = max(map(len, replicates), default=1)
    scores = np.full((rows.nunique(), len(judges), most), np.nan)
    for row, judge, values in zip(rows, scored["judge"], replicates, strict=True):
        scores[row, judge, : len(values)] = values
    answers = scored[key].drop_duplicates().sort_values(key).itertuples(index=False, name=None)
    return _Scores([_AnswerPart(AnswerKey(*names[:4]), *names[4:]) for names in answers], scores)


def _split(
    scores: _Scores, observed: "pd.DataFrame", label: str | None
) -> dict[tuple[str, str], NDArray[np.bool_]]:
    """Select the answers with each value of a label. A label with one value gives no subset."""
    column = label_column(label or "")
    if column not in observed:
        return {}
    labelled = observed.dropna(subset=[column])
    places = labelled[[*AnswerKey._fields]].itertuples(index=False, name=None)
    labels = dict(zip(places, labelled[column], strict=True))
    values = [labels.get(answer.place) for answer in scores.answers]
    distinct = sorted(set(filter(None, values)))
    if not label or len(distinct) < 2 or not tells_kinds(label, len(distinct)):
        return {}
    return {(label, value): np.array([each == value for each in values]) for value in distinct}


def _distribution(scores: _Scores, dimension: str, scale: JudgeScale) -> Iterator[Finding]:
    """Describe the distribution of single scores; each replicate counts as a score.

    A judge that gives many answers the highest score (`ceiling_rate`) cannot tell good models apart.
    Source: Terwee et al. (2007), Quality criteria were proposed for measurement properties of health
    status questionnaires (over 15 % at either end is called a ceiling or floor effect).
    """
    single = scores.scores[~np.isnan(scores.scores)]
    n = len(single)
    figures = {
        "mean": single.mean() if n else None,
        "standard_deviation": single.std(ddof=1) if n > 1 else None,
        "ceiling_rate": np.mean(single == scale.highest) if n else None,
        "floor_rate": np.mean(single == scale.lowest) if n else None,
    }
    for measure, value in figures.items():
        shown = None if value is None else float(value)
        yield _row(dimension, measure, n, shown, reason=ONE_SCORE if n else NO_SCORE)


def _agreement(
    scores: _Scores,
    pairs: Floats,
    other: str,
    dimension: str,
    scale: JudgeScale,
    seed: int,
    n_resamples: int,
) -> Iterator[Finding]:
    for level, measure, n, estimate, reason in judge_agreement(
        pairs,
        scores.models,
        scores.clusters,
        seed=seed,
        n_resamples=n_resamples,
        measures=scale.measures,
    ):
        row = _row(dimension, measure, n, estimate, reason=reason)
        yield replace(row, other=other, unit=level)


def _length(
    all_scores: _Scores,
    lengths: Mapping[AnswerKey, int],
    dimension: str,
    seed: int,
    n_resamples: int,
) -> Iterator[Finding]:
    """Yield correlation and slope of length and score; models' mean and length-controlled scores."""
    models = sorted({answer.place.model for answer in all_scores.answers})
    units = sorted({_unit(answer) for answer in all_scores.answers})
    model_at = {model: number for number, model in enumerate(models)}
    unit_at = {unit: number for number, unit in enumerate(units)}
    scores = np.full((len(models), len(units)), np.nan)
    words = np.full_like(scores, np.nan)
    for answer, score in zip(all_scores.answers, all_scores.means[:, 0], strict=True):
        where = model_at[answer.place.model], unit_at[_unit(answer)]
        scores[where] = score
        words[where] = lengths.get(answer.place, np.nan)
    n_of_model = (~np.isnan(scores + words)).sum(axis=1).tolist()
    correlation = length_correlation(scores, words)
    control = length_controlled_scores(
        scores,
        words,
        _numbers([cluster for cluster, *_ in units]),
        seed=seed,
        n_resamples=n_resamples,
    )
    n = sum(n_of_model)
    reason = control.reason or NO_SCORES
    yield _row(dimension, "length_correlation", n, correlation.value, reason=correlation.reason)
    yield _row(dimension, "length_slope", n, control.slope, reason=reason)
    for model, row, n_answers, score in zip(
        models, scores, n_of_model, control.scores, strict=True
    ):
        n_scores, mean = int((~np.isnan(row)).sum()), float(np.nanmean(row))
        yield _row(dimension, "mean", n_scores, mean, model=model)
        yield _row(
            dimension, "length_controlled_score", n_answers, score, model=model, reason=reason
        )


def _unit(answer: _AnswerPart) -> tuple[str, str, str, int, str]:
    """The key of an answer without its model, the cluster first: the same for all models."""
    _, item_id, trial, turn = answer.place
    return answer.cluster, item_id, trial, turn, answer.part


def _numbers(labels: Sequence[str]) -> Labels:
    """The index of each label among the sorted labels."""
    place = {label: number for number, label in enumerate(sorted(set(labels)))}
    return np.array([place[label] for label in labels], dtype=np.int64)


def _row(
    metric: str,
    measure: str,
    n: int,
    value: float | Estimate | None,
    *,
    model: str = "",
    reason: str | None = None,
) -> Finding:
    """Build one finding. `reason` applies only if there is no value."""
    estimate = value if isinstance(value, Estimate) else Estimate(value, None, None)
    finding = Finding(measure=measure, subject=model, metric=metric, n=n)
    return estimated(finding, estimate, reason)
