"""Result tables of analyses: model groups, best models by label, task clusters, effects of training."""

from collections.abc import Iterator, Sequence

from methods.evaluation.candidates import is_model
from methods.results.results_table import JudgeResults, Row, in_name, label_order
from methods.results.table_cells import (
    DIFFERENCE_HEADS,
    NOTHING,
    ResultTable,
    TableCell,
    caption_of,
    clusters_cell,
    difference_cells,
    estimate_cells,
    number_cell,
    printed_name,
)


def analyses(results: JudgeResults, suffix: str = "") -> Iterator[ResultTable]:
    """Yield the tables of model groups, best models by label, task clusters and effects of training."""
    clusters = [row for row in results.groups if row["measure"].startswith("cluster_")]
    groups = [row for row in results.groups if row not in clusters]
    labels = list(dict.fromkeys(row["subset_label"] for row in groups))
    fields = dict.fromkeys(_field(row) for row in groups if row["subject"])
    labels_of_fields = {(_field(row), row["subset_label"]) for row in groups if row["subject"]}
    for field in fields:
        for label in labels:
            if (field, label) in labels_of_fields:
                name = f"groups-{in_name(field)}{suffix}-{in_name(label)}"
                yield _groups(results, field, label, name)
    for label in filter(None, labels):
        yield _hardest(results, label, f"hardest{suffix}-{in_name(label)}")
    if clusters:
        yield _clusters(results, clusters, f"clusters{suffix}")
    pairs = dict.fromkeys((row["before"], row["after"]) for row in results.training)
    for place, pair in enumerate(pairs, start=1):
        rows = [row for row in results.training if (row["before"], row["after"]) == pair]
        yield _trained(results, rows, f"training{suffix}-{place}")


def _groups(results: JudgeResults, field: str, label: str, name: str) -> ResultTable:
    """The means of model groups and their differences, by value of a label (MMBench, Figure 9)."""
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
            TableCell(printed_name(value) or "all"),
            *(cell for column in columns for cell in estimate_cells(row_of.get((*column, value)))),
            clusters_cell(row for row in rows if row["subset_value"] == value),
        )
        for value in values
    ]
    return ResultTable(
        name,
        results.release_id,
        f"Groups of models by {field}: {_members(results, field)}. Means of the models of a group on "
        f"the items that all of them have, with intervals over C clusters. Bold where p after Holm is "
        f"below 0.05. {caption_of(results, rows[0])}",
        (label or "Items", *(cell for head in heads for cell in (head, "Interval")), "C"),
        tuple(lines),
    )


def _members(results: JudgeResults, field: str) -> str:
    """List the models of each group."""
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
            TableCell(printed_name(value)),
            TableCell(", ".join(results.label(row["other"]) for row in equal)),
            *estimate_cells(equal[0]),
            clusters_cell(equal[:1]),
        )
        for value, equal in best.items()
    ]
    return ResultTable(
        name,
        results.release_id,
        f"The best score of any model by {label}, the lowest first. Models with equal scores are all "
        f"named; the interval over C clusters is that of the first. "
        f"{caption_of(results, rows[0] if rows else None)}",
        (label, "Best model", "Score", "Interval", "C"),
        tuple(lines),
    )


def _clusters(results: JudgeResults, rows: Sequence[Row], name: str) -> ResultTable:
    """The scores of all models and of each model on task clusters (MMIU, Table 9 and Figure 4 b)."""
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
                *(cell for row in scores for cell in estimate_cells(row)),
                clusters_cell(row for row in scores if row),
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
        "Clusters of tasks on which models have similar scores (a task on which all models have one "
        "score is in none): the mean distance of their tasks, which is 1 less the correlation of the "
        "models' scores, and scores over their tasks with intervals over C clusters of items. "
        f"{caption_of(results, rows[0])}",
        ("Tasks", "Distance", *heads, "C"),
        tuple(lines),
    )


def _trained(results: JudgeResults, rows: Sequence[Row], name: str) -> ResultTable:
    """A model before and after training on an instruction set (MMDU, Tables 2 and 3)."""
    lines = [
        (
            TableCell(f"{row['metric']} ({row['aggregation']})"),
            number_cell(row, "value_before"),
            number_cell(row, "value_after"),
            *difference_cells(row),
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
        f"{caption_of(results, {'metric': 'Every metric', 'aggregation': ''})}",
        ("Metric", "Before", "After", *DIFFERENCE_HEADS),
        tuple(lines),
    )


def _field(row: Row) -> str:
    """The field of models.yaml by which a group is formed."""
    return str(row["subject"]).partition(":")[0]
