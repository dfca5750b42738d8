"""Tables of results as cells: leaderboard, differences of every two models, slices."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from methods.evaluation.candidates import is_model
from methods.evaluation.statistics.estimates import LEAST_CLUSTERS, mark_indicative
from methods.naming import decimal_text
from methods.results.open_vlm import SHORT
from methods.results.results_table import (
    JudgeResults,
    Row,
    in_name,
    is_significant,
    label_order,
    most_clusters,
    pair_difference,
)

NOTHING = "–"
"""Stands where there is no number, and between two numbers."""
ABOUT = {
    "Access": "access",
    "Params (B)": "parameters",
    "Backbone": "backbone",
    "Language": "main_language",
    "Reference rank": "reference_rank",
}
"""Heads of columns with what models.yaml says of a model, and the columns of the scores."""


ABBREVIATIONS = {
    "Creativity": "C",
    "Richness": "R",
    "Visual Perception": "VP",
    "Logical Coherence": "LC",
    "Answer Accuracy": "AA",
    "Image Relationship Understanding": "IRU",
    "Overall Score": "Overall",
    **SHORT,
}
"""Names of metrics and abilities as the tables of MMDU's and MMBench's papers have them."""


class TableCell(NamedTuple):
    """A text, or a number with its decimals."""

    text: str = ""
    number: float | None = None
    bold: bool = False


@dataclass(frozen=True)
class ResultTable:
    """A table: `numeric` says of each column whether it has numbers, `names` is that of its rows."""

    name: str
    release: str
    caption: str
    heads: tuple[str, ...]
    numeric: tuple[bool, ...]
    rows: tuple[tuple[TableCell, ...], ...]
    names: int = 0


def tables(results: JudgeResults, number: int = 1) -> Iterator[ResultTable]:
    """Every table of a judge's results; `number` tells those of several judges apart."""
    suffix = "" if number == 1 else f"-{number}"
    yield _leaderboard(results, f"leaderboard{suffix}")
    yield _scores(results, f"scores{suffix}")
    aggregations = dict.fromkeys(row["aggregation"] for row in results.metrics)
    for place, aggregation in enumerate(aggregations, start=1):
        of_metrics = [row for row in results.metrics if row["aggregation"] == aggregation]
        if len({row["metric"] for row in of_metrics}) > 1:
            yield _by_metric(results, of_metrics, f"metrics{suffix}-{place}")
            yield _metric_intervals(results, of_metrics, f"metric-intervals{suffix}-{place}")
    if results.pairs(results.leading):
        yield _matrix(results, f"pairs{suffix}")
        yield _differences(results, f"pair-differences{suffix}")
    labels = dict.fromkeys(row["subset_label"] for row in results.slices)
    for place, label in enumerate(labels, start=1):
        yield _sliced(results, label, f"slices{suffix}-{place}")
    yield from analyses(results, suffix)


def analyses(results: JudgeResults, suffix: str = "") -> Iterator[ResultTable]:
    """Groups of models, best models by label, clusters of tasks, models before and after training."""
    clusters = [row for row in results.groups if row["measure"].startswith("cluster_")]
    groups = [row for row in results.groups if row not in clusters]
    labels = list(dict.fromkeys(row["subset_label"] for row in groups))
    fields = dict.fromkeys(_field(row) for row in groups if row["subject"])
    for field in fields:
        for label in labels:
            yield _groups(
                results, field, label, f"groups-{in_name(field)}{suffix}-{in_name(label)}"
            )
    for label in filter(None, labels):
        yield _hardest(results, label, f"hardest{suffix}-{in_name(label)}")
    if clusters:
        yield _clusters(results, clusters, f"clusters{suffix}")
    pairs = dict.fromkeys((row["before"], row["after"]) for row in results.training)
    for place, pair in enumerate(pairs, start=1):
        rows = [row for row in results.training if (row["before"], row["after"]) == pair]
        yield _trained(results, rows, f"training{suffix}-{place}")


def best_alone(results: JudgeResults) -> str | None:
    """The model whose score is the best and whose difference to every other one counts; None: none."""
    first = next((row["model"] for row in results.models if row["rank"] == 1), None)
    against = [row for pair, row in results.pairs(results.leading).items() if first in pair]
    return first if against and all(map(is_significant, against)) else None


def _about(results: JudgeResults, metric: Row | None = None) -> str:
    """What a table is of; `metric` is a row of another metric than the one that ranks."""
    # Scores that an earlier version made do not say of how many clusters they are.
    over = (
        f", over up to {results.n_clusters} clusters; ~ marks those of fewer than {LEAST_CLUSTERS}, "
        "which are only indicative"
    )
    over = over if results.n_clusters else ""
    return f"{_scores_of(results, metric)} Intervals are of 95 %{over}."


def _scores_of(results: JudgeResults, metric: Row | None = None) -> str:
    """The metric, release and judge of a table, in a sentence."""
    row = {**results.models[0], **(metric or {})}
    by = "by rule" if row["judge"] == "rule" else f"by {row['judge']} ({row['judge_version']})"
    name = f"{row['metric']} ({row['aggregation']})" if row["aggregation"] else row["metric"]
    return f"{name} on {row['release_id']} {by}: {row['n_items']} items, {_turns(results)}."


def _short(name: str) -> str:
    """The abbreviation that a benchmark's paper has for a metric or an ability, or else the name."""
    return ABBREVIATIONS.get(name) or _in_print(name)


def _in_print(name: str) -> str:
    """The name of an ability as a paper prints it."""
    return name.replace("_", " ")


def _meanings(names: Iterable[str]) -> str:
    """What abbreviations of these names stand for, as a sentence after a space; none of none."""
    named = [f"{ABBREVIATIONS[name]}: {_in_print(name)}" for name in names if name in ABBREVIATIONS]
    return f" {'; '.join(named)}." if named else ""


def _turns(results: JudgeResults) -> str:
    """How many turns the models were asked: passes that follow a miss are not."""
    counts = [row["n_turns"] for row in results.models]
    low, high = min(counts), max(counts)
    return f"{low} turns" if low == high else f"{low} to {high} turns of each model"


def _leaderboard(results: JudgeResults, name: str) -> ResultTable:
    alone = best_alone(results)
    rows = [
        (
            TableCell(
                f"{NOTHING if row['rank'] is None else row['rank']}{'*' if row['mark'] else ''}"
            ),
            TableCell("" if row["rank"] is None else f"{row['rank_low']}–{row['rank_high']}"),
            TableCell(row["label"], bold=row["model"] == alone),
            TableCell(number=row["value"], bold=row["model"] == alone),
            TableCell(interval_text(row)),
            TableCell(str(row["n_clusters"] or NOTHING)),
            TableCell(number=row["judged_only"]),
            TableCell(str(row["n_judged"])),
            TableCell(str(row["n_refused"])),
            TableCell(str(row["n_truncated"] + row["n_reasoning_only"] + row["n_empty"])),
            TableCell(str(row["n_failed"])),
        )
        for row in results.models
    ]
    bold = (
        "The best model is bold where its difference to every other one counts (p after Holm "
        "below 0.05)."
    )
    marks = [f" *: {row['label']}: {row['mark']}" for row in results.models if row["mark"]]
    heads = (
        *("Rank", "Ranks", "Model", "Score", "Interval", "Clusters", "Judged only"),
        *("Judged", "Refused", "No answer", "Failed"),
    )
    numeric = tuple(head in ("Score", "Judged only") for head in heads)
    return ResultTable(
        name,
        results.release_id,
        f"{_about(results)} {bold}{''.join(marks)}",
        heads,
        numeric,
        tuple(rows),
        heads.index("Model"),
    )


def _scores(results: JudgeResults, name: str) -> ResultTable:
    """The leaderboard without its counts: ranks, scores and intervals fit into one column."""
    alone = best_alone(results)
    lines = [
        (
            TableCell(NOTHING if row["rank"] is None else str(row["rank"])),
            TableCell(row["label"], bold=row["model"] == alone),
            TableCell(number=row["value"], bold=row["model"] == alone),
            TableCell(interval_text(row)),
            TableCell(str(row["n_clusters"] or NOTHING)),
        )
        for row in results.models
    ]
    return ResultTable(
        name,
        results.release_id,
        f"Scores over C clusters. {_about(results)}",
        ("Rank", "Model", "Score", "Interval", "C"),
        (False, False, True, False, False),
        tuple(lines),
        1,
    )


def _by_metric(results: JudgeResults, rows: Sequence[Row], name: str) -> ResultTable:
    """Models by every metric with one aggregation, as MMDU's Table 2 and ConvBench's Table 1."""
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    by_model: dict[str, dict[str, Row]] = {}
    for row in rows:
        by_model.setdefault(row["model"], {})[row["metric"]] = row
    models = [row for row in results.models if row["model"] in by_model]
    about = [head for head in ABOUT if any(row.get(ABOUT[head]) is not None for row in models)]

    def score(model: str, metric: str) -> TableCell:
        row = by_model[model].get(metric)
        return TableCell(number=row["value"]) if row else TableCell()

    lines = [
        (
            TableCell(results.label(row["model"])),
            *(score(row["model"], metric) for metric in metrics),
            *(TableCell(_plain(row.get(ABOUT[head]))) for head in about),
        )
        for row in models
    ]
    every_metric = {"metric": "Every metric", "aggregation": rows[0]["aggregation"]}
    return ResultTable(
        name,
        results.release_id,
        f"Models by metric.{_meanings(metrics)} {_scores_of(results, every_metric)}",
        ("Model", *map(_short, metrics), *about),
        (False, *[True] * len(metrics), *[False] * len(about)),
        tuple(lines),
    )


def _metric_intervals(results: JudgeResults, rows: Sequence[Row], name: str) -> ResultTable:
    """Every metric with one aggregation by model, with intervals and numbers of clusters."""
    row_of = {(row["model"], row["metric"]): row for row in rows}
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    models = [row["model"] for row in results.models if any(row["model"] == m for m, _ in row_of)]
    lines = [
        (
            TableCell(_in_print(metric)),
            _clusters_cell(row for (_, of), row in row_of.items() if of == metric),
            *(cell for model in models for cell in _estimate(row_of.get((model, metric)))),
        )
        for metric in metrics
    ]
    every_metric = {"metric": "Every metric", "aggregation": rows[0]["aggregation"]}
    return ResultTable(
        name,
        results.release_id,
        f"Metrics by model, with intervals over C clusters. {_about(results, every_metric)}",
        ("Metric", "C", *(head for model in models for head in (results.label(model), "Interval"))),
        (False, False, *[True, False] * len(models)),
        tuple(lines),
    )


def _groups(results: JudgeResults, field: str, label: str, name: str) -> ResultTable:
    """The means of groups and their differences, by value of a label (MMBench, Figure 9)."""
    rows = [
        row
        for row in results.groups
        if row["subset_label"] == label and row["subject"] and _field(row) == field
    ]
    columns = dict.fromkeys(
        (row["measure"], row["subject"], row["other"]) for row in rows if row["measure"] != "best"
    )
    row_of = {
        (row["measure"], row["subject"], row["other"], row["subset_value"]): row for row in rows
    }
    values = sorted({row["subset_value"] for row in rows}, key=label_order)
    heads = [
        " less ".join(group.removeprefix(f"{field}: ") for group in (first, second) if group)
        for _, first, second in columns
    ]
    lines = [
        (
            TableCell(_in_print(value) or "all"),
            *(cell for column in columns for cell in _estimate(row_of.get((*column, value)))),
            _clusters_cell(row for row in rows if row["subset_value"] == value),
        )
        for value in values
    ]
    return ResultTable(
        name,
        results.release_id,
        f"Groups of models by {field}: {_members(results, field)}. Means of the models of a group on "
        f"the items that all of them have, with intervals over C clusters. Bold where p after Holm is "
        f"below 0.05. {_about(results, rows[0])}",
        (label or "Items", *(cell for head in heads for cell in (head, "Interval")), "C"),
        (False, *[True, False] * len(heads), False),
        tuple(lines),
    )


def _members(results: JudgeResults, field: str) -> str:
    """The models of each group, in words."""
    members: dict[str, list[str]] = {}
    for row in results.models:
        if row.get(field) and is_model(row["model"]):
            members.setdefault(row[field], []).append(row["label"])
    return "; ".join(f"{group}: {', '.join(models)}" for group, models in sorted(members.items()))


def _hardest(results: JudgeResults, label: str, name: str) -> ResultTable:
    """The best score of any model by value of a label, the hardest value first (MMBench, Figure 10)."""
    rows = [
        row
        for row in results.groups
        if (row["measure"], row["subject"], row["subset_label"]) == ("best", "", label)
        and row["value"] is not None
    ]
    best: dict[str, list[Row]] = {}
    for row in sorted(rows, key=lambda row: row["value"]):
        best.setdefault(row["subset_value"], []).append(row)
    lines = [
        (
            TableCell(_in_print(value)),
            TableCell(", ".join(results.label(row["other"]) for row in equal)),
            *_estimate(equal[0]),
            _clusters_cell(equal[:1]),
        )
        for value, equal in best.items()
    ]
    return ResultTable(
        name,
        results.release_id,
        f"The best score of any model by {label}, the lowest first. Models with equal scores are all "
        f"named; the interval over C clusters is that of the first. "
        f"{_about(results, rows[0] if rows else None)}",
        (label, "Best model", "Score", "Interval", "C"),
        (False, False, True, False, False),
        tuple(lines),
    )


def _clusters(results: JudgeResults, rows: Sequence[Row], name: str) -> ResultTable:
    """Clusters of tasks by all models and by each (MMIU, Table 9 and Figure 4 b)."""
    row_of = {(row["measure"], row["subject"], row["subset_value"]): row for row in rows}
    ranked = [row["model"] for row in results.models]
    models = ["", *(model for model in ranked if any(row["subject"] == model for row in rows))]
    values = sorted({row["subset_value"] for row in rows}, key=label_order)
    lines = []
    for value in values:
        distance = row_of["cluster_distance", "", value]["value"]
        scores = [row_of.get(("cluster_mean", model, value)) for model in models]
        lines.append(
            (
                TableCell(value),
                TableCell(NOTHING if distance is None else f"{distance:.3f}"),
                *(cell for row in scores for cell in _estimate(row)),
                _clusters_cell(row for row in scores if row),
            )
        )
    heads = [
        head
        for model in models
        for head in (results.label(model) if model else "All models", "Interval")
    ]
    return ResultTable(
        name,
        results.release_id,
        "Clusters of tasks: the mean distance of their tasks, and scores over their tasks with "
        f"intervals over C clusters of items. {_about(results, rows[0])}",
        ("Tasks", "Distance", *heads, "C"),
        (False, False, *[True, False] * len(models), False),
        tuple(lines),
    )


def _trained(results: JudgeResults, rows: Sequence[Row], name: str) -> ResultTable:
    """A model before and after training on an instruction set (MMDU, Tables 2 and 3)."""
    lines = [
        (
            TableCell(f"{row['metric']} ({row['aggregation']})"),
            TableCell(number=row["value_before"]),
            TableCell(number=row["value_after"]),
            *_estimate({**row, "value": row["difference"]}),
            *(TableCell(_p_value(row[p])) for p in ("p", "p_holm")),
            TableCell(str(row["n_clusters"])),
        )
        for row in rows
    ]
    first = rows[0]
    return ResultTable(
        name,
        results.release_id,
        f"{results.label(first['before'])} before and {results.label(first['after'])} after training "
        f"on {first['trained_on']}: the difference on the units that both have, its interval over C "
        f"clusters, p, and p after Holm's adjustment over all pairs of models. "
        f"{_about(results, {'metric': 'Every metric', 'aggregation': ''})}",
        ("Metric", "Before", "After", "Difference", "Interval", "p", "p (Holm)", "C"),
        (False, True, True, True, False, False, False, False),
        tuple(lines),
    )


def _field(row: Row) -> str:
    """The field of models.yaml that a group is of."""
    return str(row["subject"]).partition(":")[0]


def _estimate(row: Row | None) -> tuple[TableCell, TableCell]:
    """A number and its interval; a difference is bold where it counts."""
    if row is None:
        return TableCell(), TableCell()
    is_difference = row.get("p_holm") is not None
    return TableCell(number=row["value"], bold=is_difference and is_significant(row)), TableCell(
        interval_text(row)
    )


def _clusters_cell(rows: Iterable[Row]) -> TableCell:
    return TableCell(str(most_clusters(rows)))


def _p_value(p: float | None) -> str:
    if p is None:
        return NOTHING
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def _plain(value: object) -> str:
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _matrix(results: JudgeResults, name: str) -> ResultTable:
    pairs = results.pairs(results.leading)
    named = [row["model"] for row in results.models]
    models = [model for model in named if any(model in pair for pair in pairs)]

    def cell(model: str, other: str) -> TableCell:
        comparison = pair_difference(pairs, model, other)
        if comparison is None or comparison[0]["difference"] is None:
            return TableCell(NOTHING)
        row, sign = comparison
        return TableCell(number=sign * row["difference"], bold=is_significant(row))

    rows = [
        (TableCell(results.label(first)), *(cell(first, other) for other in models))
        for first in models
    ]
    caption = (
        f"Differences, row less column, on the units that both have. {_scores_of(results)} Bold where "
        "p after Holm is below 0.05."
    )
    return ResultTable(
        name,
        results.release_id,
        caption,
        ("", *(results.label(model) for model in models)),
        (False, *[True] * len(models)),
        tuple(rows),
    )


def _differences(results: JudgeResults, name: str) -> ResultTable:
    """The difference of every two models with its interval and p."""
    lines = [
        (
            TableCell(results.label(first)),
            TableCell(results.label(second)),
            *_estimate({**row, "value": row["difference"]}),
            *(TableCell(_p_value(row[p])) for p in ("p", "p_holm")),
            TableCell(str(row["n_clusters"] or NOTHING)),
        )
        for (first, second), row in results.pairs(results.leading).items()
        if row["difference"] is not None
    ]
    return ResultTable(
        name,
        results.release_id,
        "Differences of two models on the units that both have, with intervals over C clusters, p, and "
        f"p after Holm's adjustment, bold where that is below 0.05. {_about(results)}",
        ("Model", "Less", "Difference", "Interval", "p", "p (Holm)", "C"),
        (False, False, True, False, False, False, False),
        tuple(lines),
    )


def _sliced(results: JudgeResults, label: str, name: str) -> ResultTable:
    row_of = {
        (row["model"], row["subset_value"]): row
        for row in results.slices
        if row["subset_label"] == label
    }
    values = sorted({value for _, value in row_of}, key=label_order)
    models = [
        row["model"] for row in results.models if any(row["model"] == model for model, _ in row_of)
    ]
    clusters = {
        value: most_clusters(row for (_, of), row in row_of.items() if of == value)
        for value in values
    }

    def cells(model: str, value: str) -> tuple[TableCell, TableCell]:
        return _estimate(row_of.get((model, value)))

    meanings = ""
    # The shorter list stands across.
    if len(values) > len(models):
        heads = (
            label,
            "C",
            *(head for model in models for head in (results.label(model), "Interval")),
        )
        rows = [
            (
                *(TableCell(_in_print(value)), TableCell(str(clusters[value]))),
                *(cell for model in models for cell in cells(model, value)),
            )
            for value in values
        ]
    else:
        heads = (
            "Model",
            *(head for value in values for head in (_short(value), f"C = {clusters[value]}")),
        )
        meanings = _meanings(values)
        rows = [
            (
                TableCell(results.label(model)),
                *(cell for value in values for cell in cells(model, value)),
            )
            for model in models
        ]
    any_row = next(iter(row_of.values()))
    about = _about(results, {name: any_row[name] for name in ("metric", "aggregation")})
    n_columns = min(len(values), len(models))
    return ResultTable(
        name,
        results.release_id,
        f"By {label}, with intervals over C clusters.{meanings} {about}",
        heads,
        (*[False] * (len(heads) - 2 * n_columns), *[True, False] * n_columns),
        tuple(rows),
    )


def interval_text(row: Row) -> str:
    """The interval of a row in brackets, marked if it is of few clusters; empty without one."""
    if row["ci_low"] is None:
        return ""
    ends = ", ".join(decimal_text(row[end]) for end in ("ci_low", "ci_high"))
    return mark_indicative(f"[{ends}]", row["n_clusters"])
