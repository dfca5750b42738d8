"""The report section on the language gap: score differences between a release and its translation."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from methods.evaluation.statistics.estimates import LEAST_CLUSTERS
from methods.naming import number_of
from methods.results.results_table import is_significant
from resources.reports import report_blocks as block
from resources.reports.estimate import ReportEstimate
from resources.reports.report_blocks import Cell
from resources.reports.report_input import Report, Row
from resources.reports.report_pairs import finding_cell
from resources.reports.report_scores import RULE, DisplayedMetric, metrics_of
from resources.reports.report_shape import noun_of

_IN_WORDS = {"en": "English", "zh": "Chinese"}
Figures = Mapping[tuple[str, ...], Row]
"""(subset label, subset value, metric, aggregation, model, measure) -> finding."""


def languages(data: Report) -> block.Section:
    """Make a pane for each release in another language and each judge."""
    names = ("release_id", "other", "judge", "judge_version")
    rows = data["findings"].get("language_gaps", [])
    by_pair = groupby(rows, key=lambda row: [row[name] for name in names])
    panes = [block.Pane(list(_pane(data, list(group)))) for _, group in by_pair]
    return block.Section("languages", "Languages", "Languages", panes, finding=_finding(rows))


def _finding(rows: Sequence[Row]) -> str:
    """Summarize in one line how many models are significantly better in one of the languages."""
    metric = next((row["metric"] for row in rows if row["measure"] == "first_score"), "")
    of_models = [
        row
        for row in rows
        if (row["measure"], row["metric"]) == ("difference", metric) and not row["subset_label"]
    ]
    models = {row["subject"] for row in of_models}
    differ = {row["subject"] for row in of_models if is_significant(row)}
    return (
        f"{len(differ) or 'None'} of {number_of(len(models), 'model')} "
        f"{'differ' if len(differ) > 1 else 'differs'} surely between the languages"
    )


def _pane(data: Report, rows: Sequence[Row]) -> Iterator[block.Block]:
    noun = noun_of(data["release"])
    releases = [rows[0]["release_id"], rows[0]["other"]]
    spoken = (data["languages"][release_id] for release_id in releases)
    first, second = (_IN_WORDS.get(language, language) for language in spoken)
    releases.remove(data["release"]["release_id"])
    judge = rows[0]["judge"]

    names = ("subset_label", "subset_value", "metric", "aggregation", "subject", "measure")
    figures: Figures = {tuple(row[name] for name in names): row for row in rows}
    counts = {key[-1]: row["n"] for key, row in figures.items() if not any(key[:-1])}
    yield block.note(
        "languages",
        noun=noun,
        first=first,
        second=second,
        other=releases[0],
        judge="" if judge == RULE else judge,
        n=counts["n_pairs"],
    )
    if counts["n_only_first"] or counts["n_only_second"] or counts["n_unlike"]:
        yield block.note("not_in_both", first=first, second=second, counts=counts)

    of_models = [key for key in figures if key[-1] == "first_score"]
    declared = data["benchmark"]["metrics"] if data["benchmark"] else []
    pairs = dict.fromkeys((metric, over) for _, _, metric, over, *_ in of_models)
    metrics = list(metrics_of(declared, [(place, *pair) for place, pair in enumerate(pairs)]))
    ranking = metrics[0]
    ranked = [figures[key] for key in of_models if key[:4] == ("", "", *ranking.key)]
    ranked.sort(key=lambda row: (row["value"] is None, -(row["value"] or 0.0), row["subject"]))
    models = [row["subject"] for row in ranked]
    if max(row["n"] for row in ranked) < LEAST_CLUSTERS:
        yield block.note("too_few", noun=noun, least=LEAST_CLUSTERS)
    yield block.Table(
        f"{first} and {second}",
        [
            Cell("Model", kind="l who"),
            *(Cell(ranking.name, [language]) for language in (first, second)),
            *(Cell(metric.name, ["difference"]) for metric in metrics),
        ],
        [_line(figures, metrics, name, counts["n_pairs"]) for name in models],
        "looking",
    )
    by_label: dict[str, list[str]] = {}
    for label, value, *_ in (key for key in figures if key[0] and key[-1] == "n_pairs"):
        by_label.setdefault(label, []).append(value)
    for label, values in by_label.items():
        yield block.Heading(f"{ranking.name}, {first} less {second}, by {label}")
        yield block.Table(
            f"{first} less {second} by {label}",
            [Cell(label, kind="l who"), Cell("n"), *map(block.clamped, models)],
            [
                [
                    Cell(value, kind="who"),
                    Cell(str(figures[label, value, "", "", "", "n_pairs"]["n"]), kind="n quiet"),
                    *(_difference(figures, (label, value), ranking, name) for name in models),
                ]
                for value in values
            ],
            "looking",
        )


def _line(
    figures: Figures, metrics: Sequence[DisplayedMetric], name: str, n_pairs: int
) -> list[Cell]:
    """Make a model's line: its scores in both languages by the ranking metric, and all differences."""
    first, second, difference = (
        figures["", "", *metrics[0].key, name, measure]
        for measure in ("first_score", "second_score", "difference")
    )
    few = f"{first['n']} of {n_pairs} have a value in both. {difference['reason'] or ''}"
    scores = (ReportEstimate(row["value"], scale=metrics[0].scale) for row in (first, second))
    return [
        block.model(name, [few] if first["n"] < n_pairs else []),
        *map(block.tinted, scores),
        *(_difference(figures, ("", ""), metric, name) for metric in metrics),
    ]


def _difference(
    figures: Figures, subset: tuple[str, str], metric: DisplayedMetric, name: str
) -> Cell:
    return finding_cell(figures.get((*subset, *metric.key, name, "difference")), metric)
