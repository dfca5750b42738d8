"""Scoring: from the observations of one judge to scores with confidence intervals, for every benchmark.

A composite metric is the weighted sum of the scores of its terms in the same form. A score has three
forms, so that a model gains nothing by failing: `floor` counts units that the model failed as the
lowest value, `judged` leaves them out, `common` has the units on which every model was judged. Units
that the judge failed are left out of all three. If a release lacks images, there is a fourth form:
`all_items` is `floor` with the items that lack an image, which count as the lowest value if they were
not asked.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from methods.evaluation.counts import counts_of
from methods.evaluation.judging import BY_THE_MODEL, NO_PICTURE
from methods.evaluation.metrics import Metric
from methods.evaluation.metrics.observations import label_column, labels_in
from methods.evaluation.metrics.units import in_common, portions, units_of
from methods.evaluation.score_estimates import estimate
from methods.evaluation.slices import TURN_LABELS, tells_kinds

if TYPE_CHECKING:
    import pandas as pd

ALL = ("", "")
"""The subset of all items."""
ALL_ITEMS = "all_items"
"""The form that includes the items that no model was asked, as they lack an image."""
_BY = ("subset", "model")
_SAME = "same"
_FORMS = {_SAME: ("floor", "judged")}
Row = dict[str, Any]


def score_rows(
    metrics: Sequence[Metric],
    observed: "pd.DataFrame",
    with_lost: "pd.DataFrame | None" = None,
) -> list[Row]:
    """Score every candidate: one row for each metric, form, subset and model.

    Subsets are those of the labels of all observations. Micro means and shares are split by them, in
    the forms `floor` and `judged`. Baselines and ablations do not affect which units all models have in
    common.

    Args:
        metrics: The metrics of the benchmark.
        observed: The observations of every candidate.
        with_lost: The observations of candidates that were not asked items whose images are missing,
            with these items, for the form `all_items`.

    Returns:
        Rows with value, interval, method, n_units and counts.
    """
    by_place = dict(enumerate(metrics))
    micro = {place: metric for place, metric in by_place.items() if metric.aggregation == "micro"}
    rows = list(_rows(by_place, observed.assign(subset=0), [ALL], ("floor", "judged", "common")))
    for part, part_subsets in _split(observed):
        rows += _rows(micro, part, part_subsets, ("floor", "judged"))
    if with_lost is not None:
        rows += _rows(by_place, with_lost.assign(subset=0), [ALL], (ALL_ITEMS,))
    return rows


def _split(observed: "pd.DataFrame") -> Iterator[tuple["pd.DataFrame", list[tuple[str, str]]]]:
    """Observations by subset: each row once for every label, and the number of its `subset`."""
    import pandas as pd

    for labels in portions(split_labels(observed), observed):
        parts: list[pd.DataFrame] = []
        subsets: list[tuple[str, str]] = []
        for label in labels:
            values = observed[label_column(label)].cat
            numbers = values.codes.astype("int32")
            parts.append(observed.assign(subset=numbers + len(subsets))[numbers >= 0])
            subsets += [(label, value) for value in values.categories]
        yield pd.concat(parts, ignore_index=True), subsets


def _rows(
    metrics: Mapping[int, Metric],
    observed: "pd.DataFrame",
    subsets: Sequence[tuple[str, str]],
    forms: Sequence[str],
) -> Iterator[Row]:
    """The rows of metrics by their places, in these forms, by the `subset` of the observations."""
    counts = counts_of(observed, _BY)
    for some in map(dict, portions(metrics.items(), observed)):
        by = ["place", "form", *_BY]
        units = _units(some, observed, forms)
        for key, (score, n_units) in estimate(units, some, by).items():
            place, form, subset, model = key
            metric, (label, value) = metrics[place], subsets[subset]
            if score.value is None or (metric.of_whole_items and label in TURN_LABELS):
                continue
            ends = [end for end in (score.ci_low, score.ci_high) if end is not None]
            # The statistic may swap the ends, as that of a spread is an inverse.
            shown = sorted(map(metric.statistic, ends))
            row = {
                "model": model,
                "metric": metric.name,
                "aggregation": metric.aggregation,
                "place": place,
                "subset_label": label,
                "subset_value": value,
                "value": metric.statistic(score.value),
                "ci_low": shown[0] if shown else None,
                "ci_high": shown[-1] if shown else None,
                "method": score.method,
                "n_clusters": score.n_clusters,
                "n_units": n_units,
                **counts[subset, model],
            }
            yield from ({**row, "form": name} for name in _FORMS.get(form, (form,)))


def _units(
    metrics: Mapping[int, Metric], observed: "pd.DataFrame", forms: Sequence[str]
) -> "pd.DataFrame":
    """The units in each form; where nothing failed, `floor` and `judged` are one."""
    import pandas as pd

    if ALL_ITEMS in forms:
        lost = floored(observed, (*BY_THE_MODEL, NO_PICTURE))
        return units_of(metrics, lost, floor=True, by=_BY).assign(form=ALL_ITEMS)
    floor, judged = (in_form(observed, form) for form in ("floor", "judged"))
    units = {"floor": units_of(metrics, floor, floor=True, by=_BY)}
    if len(floor) == len(judged):
        units = {_SAME: units["floor"]}
    else:
        units["judged"] = units_of(metrics, judged, floor=False, by=_BY)
    if "common" in forms:
        units["common"] = in_common([*units.values()][-1])
    cells = pd.concat(units, names=["form"]).reset_index("form")
    return cells.astype({"form": "category"})


def floored(observed: "pd.DataFrame", lost: Collection[str] = BY_THE_MODEL) -> "pd.DataFrame":
    """Select the observations with a value, and those that count as the lowest value.

    Args:
        observed: Observations.
        lost: The statuses that count as the lowest value; by default those that are the model's fault.

    Returns:
        The observations, without those that the judge failed.
    """
    return observed[observed["value"].notna() | observed["status"].isin(lost)]


def in_form(observed: "pd.DataFrame", form: str) -> "pd.DataFrame":
    """Select the observations that count in a form.

    Args:
        observed: Observations.
        form: `floor` or `judged`.

    Returns:
        The observations.
    """
    return floored(observed) if form == "floor" else observed[observed["value"].notna()]


def split_labels(observed: "pd.DataFrame") -> list[str]:
    """The labels that scores are split by: they have several values, and tell kinds of items."""
    n_values = {label: observed[label_column(label)].nunique() for label in labels_in(observed)}
    return [label for label, n in n_values.items() if label and n > 1 and tells_kinds(label, n)]


def units_by_value(
    metric: Metric, observed: "pd.DataFrame", label: str
) -> Iterator[tuple[str, "pd.DataFrame"]]:
    """Compute the units with a value for each value of a label, with failures at the floor.

    Args:
        metric: The metric.
        observed: The observations.
        label: The label; empty for all observations together.

    Yields:
        The value of the label, in order, and its units.
    """
    by = ["model", *([label_column(label)] if label else [])]
    units = units_of({0: metric}, floored(observed), floor=True, by=by)
    if not label:
        yield "", units
        return
    for value in sorted(observed[by[1]].dropna().unique()):
        yield value, units[units[by[1]] == value]
