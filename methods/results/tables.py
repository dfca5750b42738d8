"""Result tables of one judge: leaderboard, metrics, pairwise differences of models, slices by label."""

from collections.abc import Iterator, Sequence

from methods.results.analysis_tables import analyses
from methods.results.results_table import (
    JudgeResults,
    Row,
    is_significant,
    label_order,
    most_clusters,
    pair_difference,
)
from methods.results.table_cells import (
    DIFFERENCE_HEADS,
    NOTHING,
    ResultTable,
    TableCell,
    caption_of,
    clusters_cell,
    difference_cells,
    estimate_cells,
    interval_text,
    meanings_of,
    number_cell,
    own_clusters_cell,
    printed_name,
    scores_caption,
    short_name,
)

ABOUT = {
    "Access": "access",
    "Params (B)": "parameters",
    "Backbone": "backbone",
    "Language": "main_language",
    "Reference rank": "reference_rank",
}
"""Column heads for metadata of models from models.yaml, and the columns of the scores."""


def tables(results: JudgeResults, number: int = 1) -> Iterator[ResultTable]:
    """Yield all tables of a judge's results. The judge's `number`, from 1, makes names unique."""
    suffix = "" if number == 1 else f"-{number}"
    leaderboard = _leaderboard(results, f"leaderboard{suffix}")
    yield leaderboard
    yield _scores(results, leaderboard, f"scores{suffix}")
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


def best_alone(results: JudgeResults) -> str | None:
    """Return the best model if it differs significantly from all other models, else None."""
    first = next((row["model"] for row in results.models if row["rank"] == 1), None)
    against = [row for pair, row in results.pairs(results.leading).items() if first in pair]
    return first if against and all(map(is_significant, against)) else None


def _leaderboard(results: JudgeResults, name: str) -> ResultTable:
    alone = best_alone(results)
    rows = [
        (
            _rank_cell(row),
            TableCell("" if row["rank"] is None else f"{row['rank_low']}–{row['rank_high']}"),
            TableCell(row["label"], bold=row["model"] == alone),
            number_cell(row, bold=row["model"] == alone),
            TableCell(interval_text(row)),
            own_clusters_cell(row),
            number_cell(row, "judged_only"),
            TableCell(str(row["n_judged"])),
            TableCell(str(row["n_refused"])),
            TableCell(str(row["n_truncated"] + row["n_reasoning_only"] + row["n_empty"])),
            TableCell(str(row["n_failed"])),
        )
        for row in results.models
    ]
    bold = (
        "The best model is bold if it differs significantly from every other model (p after Holm "
        "below 0.05)."
    )
    heads = (
        *("Rank", "Ranks", "Model", "Score", "Interval", "Clusters", "Judged only"),
        *("Judged", "Refused", "No answer", "Failed"),
    )
    return ResultTable(
        name,
        results.release_id,
        f"{caption_of(results)} {bold}{_marks(results)}",
        heads,
        tuple(rows),
        heads.index("Model"),
    )


def _scores(results: JudgeResults, leaderboard: ResultTable, name: str) -> ResultTable:
    """The leaderboard without counts, narrow enough for one column of a paper."""
    columns = [
        leaderboard.heads.index(head) for head in ("Rank", "Model", "Score", "Interval", "Clusters")
    ]
    return ResultTable(
        name,
        results.release_id,
        f"Scores over C clusters. {caption_of(results)}{_marks(results)}",
        ("Rank", "Model", "Score", "Interval", "C"),
        tuple(tuple(row[column] for column in columns) for row in leaderboard.rows),
        1,
    )


def _rank_cell(row: Row) -> TableCell:
    """The rank of a model, with a star if the note below the table says something about it."""
    return TableCell(
        f"{NOTHING if row['rank'] is None else row['rank']}{'*' if row['mark'] else ''}"
    )


def _marks(results: JudgeResults) -> str:
    """The notes on models with a star, to be appended to a caption."""
    return "".join(f" *: {row['label']}: {row['mark']}" for row in results.models if row["mark"])


def _by_metric(results: JudgeResults, rows: Sequence[Row], name: str) -> ResultTable:
    """Models by metric for one aggregation, as in MMDU's Table 2 and ConvBench's Table 1."""
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    by_model: dict[str, dict[str, Row]] = {}
    for row in rows:
        by_model.setdefault(row["model"], {})[row["metric"]] = row
    models = [row for row in results.models if row["model"] in by_model]
    about = [head for head in ABOUT if any(row.get(ABOUT[head]) is not None for row in models)]

    def score(model: str, metric: str) -> TableCell:
        row = by_model[model].get(metric)
        return number_cell(row) if row else TableCell()

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
        f"Models by metric.{meanings_of(metrics)} {scores_caption(results, every_metric)}",
        ("Model", *map(short_name, metrics), *about),
        tuple(lines),
    )


def _metric_intervals(results: JudgeResults, rows: Sequence[Row], name: str) -> ResultTable:
    """Metrics of one aggregation by model, with intervals and numbers of clusters."""
    row_of = {(row["model"], row["metric"]): row for row in rows}
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    models = [row["model"] for row in results.models if any(row["model"] == m for m, _ in row_of)]
    lines = [
        (
            TableCell(printed_name(metric)),
            clusters_cell(row for (_, of), row in row_of.items() if of == metric),
            *(cell for model in models for cell in estimate_cells(row_of.get((model, metric)))),
        )
        for metric in metrics
    ]
    every_metric = {"metric": "Every metric", "aggregation": rows[0]["aggregation"]}
    return ResultTable(
        name,
        results.release_id,
        f"Metrics by model, with intervals over C clusters. {caption_of(results, every_metric)}",
        ("Metric", "C", *(head for model in models for head in (results.label(model), "Interval"))),
        tuple(lines),
    )


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
        difference = {**row, "difference": sign * row["difference"]}
        return number_cell(difference, "difference", bold=is_significant(row))

    rows = [
        (TableCell(results.label(first)), *(cell(first, other) for other in models))
        for first in models
    ]
    caption = (
        f"Differences, row less column, on the units that both have. {scores_caption(results)} Bold "
        "where p after Holm is below 0.05."
    )
    return ResultTable(
        name,
        results.release_id,
        caption,
        ("", *(results.label(model) for model in models)),
        tuple(rows),
    )


def _differences(results: JudgeResults, name: str) -> ResultTable:
    """The difference of every two models, with interval and p value."""
    lines = [
        (
            TableCell(results.label(first)),
            TableCell(results.label(second)),
            *difference_cells(row),
        )
        for (first, second), row in results.pairs(results.leading).items()
        if row["difference"] is not None
    ]
    return ResultTable(
        name,
        results.release_id,
        "Differences of two models on the units that both have, with intervals over C clusters, p, and "
        f"p after Holm's adjustment, bold where that is below 0.05. {caption_of(results)}",
        ("Model", "Less", *DIFFERENCE_HEADS),
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
        return estimate_cells(row_of.get((model, value)))

    meanings = ""
    # The shorter list is the columns.
    if len(values) > len(models):
        heads = (
            label,
            "C",
            *(head for model in models for head in (results.label(model), "Interval")),
        )
        rows = [
            (
                *(TableCell(printed_name(value)), TableCell(str(clusters[value]))),
                *(cell for model in models for cell in cells(model, value)),
            )
            for value in values
        ]
    else:
        heads = (
            "Model",
            *(head for value in values for head in (short_name(value), f"C = {clusters[value]}")),
        )
        meanings = meanings_of(values)
        rows = [
            (
                TableCell(results.label(model)),
                *(cell for value in values for cell in cells(model, value)),
            )
            for model in models
        ]
    any_row = next(iter(row_of.values()))
    about = caption_of(results, {name: any_row[name] for name in ("metric", "aggregation")})
    return ResultTable(
        name,
        results.release_id,
        f"By {label}, with intervals over C clusters.{meanings} {about}",
        heads,
        tuple(rows),
    )
