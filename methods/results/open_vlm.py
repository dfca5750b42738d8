"""Export for the OpenVLM leaderboard: a result file with the scores that VLMEvalKit would compute from
the same answers.

VLMEvalKit extracts letters by its own rules, so scores of multiple choice are those of the metrics
`... (compat)`. MMDU's score is VLMEvalKit's `all`, which counts a turn without a grade as 0.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from methods.evaluation.candidates import is_model
from methods.mmbench import CIRCULAR_COMPAT
from methods.mmdu.judging import OVERALL
from methods.release_card import Card
from methods.results.submissions import ABILITIES, dataset_name

META = ("Vision Model", "Org", "Verified", "Time")
"""Fields of the OpenVLM leaderboard that models.yaml does not have; they are left empty."""
OPEN_SOURCE = {"open": "Yes", "proprietary": "No"}
"""The field "OpenSource" by the field `access` of models.yaml."""
SHORT: Mapping[str, str] = {
    "coarse_perception": "CP",
    "finegrained_perception (instance-level)": "FP-S",
    "finegrained_perception (cross-instance)": "FP-C",
    "logic_reasoning": "LR",
    "relation_reasoning": "RR",
    "attribute_reasoning": "AR",
}
"""The names of MMBench's level-2 abilities in VLMEvalKit's tables."""


class BoardMetric(NamedTuple):
    """The metric of a benchmark that VLMEvalKit computes, too.

    With `lost_are_zero`, the value is a mean over judged turns, and turns without a grade must be added
    as 0.
    """

    name: str
    aggregation: str = "micro"
    form: str = "floor"
    lost_are_zero: bool = False


BOARD_METRICS: Mapping[str, BoardMetric] = {
    "mmbench": BoardMetric(CIRCULAR_COMPAT.name),
    "mmiu": BoardMetric("Accuracy (compat)"),
    "mmdu": BoardMetric(OVERALL, form="judged", lost_are_zero=True),
}
"""The metric by benchmark. VLMEvalKit has no score for the other benchmarks."""


def models_without_score(scores: Iterable[Mapping[str, Any]], metric: BoardMetric) -> list[str]:
    """List the models that have scores, but none for this metric, in the order of the rows.

    Args:
        scores: The rows of scores.
        metric: The metric.
    """
    models: dict[str, bool] = {}
    for row in scores:
        if is_model(row["model"]):
            models[row["model"]] = models.get(row["model"], False) or _is_of(row, metric)
    return [model for model, has_it in models.items() if not has_it]


def open_vlm(
    scores: Sequence[Mapping[str, Any]], metric: BoardMetric, card: Card, time: str
) -> dict[str, Any]:
    """Write the scores of one judge in the format of OpenVLM.json.

    Args:
        scores: Rows of `evaluate.results`; baselines and ablations are left out.
        metric: The metric to write.
        card: The card of the release.
        time: The time in 12 digits, `yymmddHHMMSS`.

    Returns:
        By model, its `META`, and by data set the scores `Overall` and, for MMBench, by ability. Scores
        are 0 to 100. A category with the name of another score, such as "Overall", is left out.
    """
    dataset = dataset_name(card)
    results: dict[str, Any] = {}
    shown = [
        row
        for label in ("", *reversed(ABILITIES))
        for row in scores
        if row["subset_label"] == label
        and is_model(row["model"])
        and _is_of(row, metric)
        and row["value"] is not None
    ]
    # The first of equal names stays: the overall score, then the abilities of MMBench.
    shown.sort(key=lambda row: bool(row["subset_label"]) and row["subset_value"] not in SHORT)
    for row in shown:
        label, value = row["subset_label"], row["value"]
        if metric.lost_are_zero:
            value *= row["n_judged"] / row["n_turns"]
        of_model = results.setdefault(row["label"], {"META": _meta(row)})
        name = SHORT.get(row["subset_value"], row["subset_value"]) if label else "Overall"
        of_model.setdefault(dataset, {}).setdefault(name, round(value, 1))
    return {"time": time, "results": results}


def _meta(row: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of models.yaml of a row's model; missing fields are empty texts."""
    parameters = row["parameters"]
    return {
        "Method": [row["label"], ""],
        "Parameters": "" if parameters is None else f"{parameters:g}B",
        "Language Model": row["backbone"] or "",
        "OpenSource": OPEN_SOURCE.get(row["access"], ""),
        **dict.fromkeys(META, ""),
    }


def _is_of(row: Mapping[str, Any], metric: BoardMetric) -> bool:
    return (row["metric"], row["aggregation"], row["form"]) == metric[:3]
