"""The report section on prompt sensitivity: effects of wording styles, least steady questions."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from methods.evaluation.prompt_sensitivity import BY_RULE, GROUP
from methods.evaluation.statistics.estimates import LEAST_CLUSTERS
from methods.naming import number_of
from methods.results.results_table import is_significant
from resources.reports import report_blocks as block
from resources.reports.report_blocks import Cell, markup
from resources.reports.report_input import Report, Row
from resources.reports.report_leaderboard import JudgePane
from resources.reports.report_pairs import finding_cell
from resources.reports.report_scores import DisplayedMetric


def prompt_sensitivity(data: Report, panes: Sequence[JudgePane]) -> block.Section:
    """Make a pane for each judge with rated groups, in the order of the leaderboards.

    Args:
        data: The data of the page.
        panes: The leaderboards by judge.
    """
    by_judge = []
    for pane in panes:
        key = pane.judged.judge, pane.judged.version
        rows, groups = (
            [row for row in listed if (row["judge"], row["judge_version"]) == key]
            for listed in (data["findings"].get("prompt_sensitivity", []), data["widest_groups"])
        )
        effects = [row for row in rows if row["subset_label"] != GROUP]
        metric = next(
            (metric for metric in pane.judged.shown_metrics if metric.aggregation == "micro"), None
        )
        if effects and metric:
            models = [who.label for who in pane.order]
            blocks = [*_effects(pane, metric, effects), *_least_steady(metric, models, groups)]
            by_judge.append((pane.title, blocks))
    of_judges = [block.Panes("prompt-sensitivity", "Judge", by_judge)] if by_judge else []
    effects = [
        row
        for row in data["findings"].get("prompt_sensitivity", [])
        if row["subset_label"] != GROUP and row["measure"] == "difference"
    ]
    n = sum(map(is_significant, effects))
    verb = "count" if n > 1 else "counts"
    finding = f"{n or 'None'} of {number_of(len(effects), 'effect')} of styles {verb}"
    return block.Section(
        "prompt-sensitivity", "Prompt sensitivity", "Prompts", of_judges, finding=finding
    )


def _effects(
    pane: JudgePane, metric: DisplayedMetric, rows: Sequence[Row]
) -> Iterator[block.Block]:
    """Yield the effect of each wording style on each model's score."""
    differences, sizes = (
        {(row["subset_value"], row["subject"]): row for row in rows if row["measure"] == measure}
        for measure in ("difference", "n_wordings")
    )
    styles, having = (sorted({key[part] for key in differences}) for part in (0, 1))
    models = [who.label for who in pane.order if who.label in having]
    by_rule = rows[0]["subset_label"] == BY_RULE
    yield block.Heading("What a style costs")
    yield block.note("effects_of_styles", metric=metric, by_rule=by_rule)
    if max(row["n"] for row in differences.values()) < LEAST_CLUSTERS:
        yield block.note("too_few", noun="group", least=LEAST_CLUSTERS)
    if not any(map(is_significant, differences.values())):
        yield block.note("no_style_counts")

    def most(rows: Mapping[tuple[str, str], Row], style: str) -> int:
        return max(row["n"] for key, row in rows.items() if key[0] == style)

    yield block.Table(
        f"Effects of styles, {pane.title}",
        [Cell("Style", kind="l who"), Cell("Groups"), *map(block.clamped, models)],
        [
            [
                Cell(style, [number_of(most(sizes, style), "wording")], "who"),
                Cell(str(most(differences, style)), kind="n quiet"),
                *(finding_cell(differences.get((style, name)), metric) for name in models),
            ]
            for style in styles
        ],
        "matrix",
    )


def _least_steady(
    metric: DisplayedMetric, models: Sequence[str], rows: Sequence[Row]
) -> Iterator[block.Block]:
    """Yield, for each model, the questions whose wordings got the most different ratings."""
    yield block.Heading("Least steady")
    yield block.note("least_steady" if rows else "all_steady")
    for name in models:
        mine = [row for row in rows if row["model"] == name]
        groups = [list(group) for _, group in groupby(mine, key=lambda row: row["group_id"])]
        titles = {
            group[0]["group_id"]: metric.scale.shown(group[0]["deviation"]) for group in groups
        }
        preview = ", ".join(f"{group} (σ {deviation})" for group, deviation in titles.items())
        tables = [_wordings(metric, name, group, titles[group[0]["group_id"]]) for group in groups]
        if groups:
            yield block.FoldedBlocks(
                markup('<b>{name}</b><span class="preview">{of}</span>', name=name, of=preview),
                [part for pair in tables for part in pair],
            )


def _wordings(
    metric: DisplayedMetric, name: str, rows: Sequence[Row], deviation: str
) -> Sequence[block.Block]:
    """Make the table of a model and a question: its wordings from the worst to the best rating."""
    group = rows[0]["group_id"]
    worst_first = sorted(rows, key=lambda row: (row["value"] is not None, row["value"] or 0.0))
    texts = [Cell(head, kind="l") for head in ("Wording", "Styles", "Rows")]
    return (
        block.Heading(f"Question {group}, σ = {deviation}", 4),
        block.Table(
            f"{name}, question {group}",
            [Cell(metric.name), Cell("Beside the mean"), *texts],
            [_wording(metric, row) for row in worst_first],
        ),
    )


def _wording(metric: DisplayedMetric, row: Row) -> list[Cell]:
    rating, beside_mean = row["status"] or "no answer", ""
    if row["value"] is not None:
        rating = metric.scale.shown(row["value"])
        beside_mean = metric.scale.difference(row["value"] - row["mean"])
    calls = {"item": row["item_id"], "answer": row["answer_call_key"], "judgment": row["call_key"]}
    return [
        Cell(block.bold(rating)),
        Cell(beside_mean, kind="n quiet"),
        Cell(row["text"], kind="said"),
        Cell(block.tags(row["styles"]) or "–", kind=""),
        Cell(block.keys(calls), kind="keys"),
    ]
