"""The report section on error attribution in multi-turn dialogues.

It shows the effect of reference turns on errors, the decline over turns, and maps of tasks by turn. The
method defines errors and their attribution. The names of turns, trials and changes come with the rows
(`Terms`).
"""

from collections.abc import Iterable, Iterator, Sequence

from markupsafe import Markup

from methods.evaluation.asking import PLAIN
from methods.naming import number_of
from resources.reports import report_blocks as block
from resources.reports.charts import TurnScore, turns_figure
from resources.reports.estimate import Scale
from resources.reports.figures import inline_svg
from resources.reports.report_blocks import Cell
from resources.reports.report_input import Row, Terms
from resources.reports.report_leaderboard import JudgePane
from resources.reports.report_pairs import ModelDifference, difference_cell, difference_of
from resources.reports.report_parts import heat, slices_by_label, span
from resources.reports.report_scores import CandidateLabel, DisplayedMetric, ScoresByJudge

SCALE = Scale(0.0, 100.0)
_POINTS = DisplayedMetric("win rate", "micro", 0, SCALE, True, False)
LEFT_OUT = "Items that are left out, as they lack a score in one of both settings"
Change = tuple[str, str, str]
"""(change, dimension before it, dimension after it)."""


def attribution(
    rows: Sequence[Row], terms: Terms | None, panes: Sequence[JudgePane]
) -> block.Section:
    """Make a pane for each judge with rows, in the order of the leaderboards.

    Args:
        rows: The rows of `evaluate.error_attribution`.
        terms: The benchmark's terms.
        panes: The leaderboards by judge.
    """
    by_judge = []
    for pane in panes:
        key = pane.judged.judge, pane.judged.version
        own = [row for row in rows if (row["judge"], row["judge_version"]) == key]
        if own and terms:
            by_judge.append((pane.title, list(_pane(pane, own, terms))))
    of_judges = [block.Panes("attribution", "Judge", by_judge)] if by_judge else []
    title, finding = "Where errors come from", _finding(rows, terms) if terms else ""
    return block.Section("attribution", title, title, of_judges, finding=finding)


def _finding(rows: Sequence[Row], terms: Terms) -> str:
    """Summarize in one line for how many models a cause of errors is shown."""
    whole = [row for row in rows if not row["subset_label"] and row["change"] in terms["causes"]]
    models = {row["model"] for row in whole}
    shown_of = {row["model"] for row in whole if row["verdict"] == "gain"}
    return f"A cause is shown for {len(shown_of) or 'none'} of {number_of(len(models), 'model')}"


def _pane(pane: JudgePane, rows: Sequence[Row], terms: Terms) -> Iterator[block.Block]:
    by_change: dict[Change, dict[str, Row]] = {}
    parts: dict[tuple[Change, str], list[Row]] = {}
    for row in rows:
        change = row["change"], row["before_dimension"], row["dimension"]
        if row["subset_label"]:
            parts.setdefault((change, row["subset_label"]), []).append(row)
        else:
            by_change.setdefault(change, {})[row["model"]] = row
    models = [
        who for who in pane.order if any(who.name in by_model for by_model in by_change.values())
    ]
    # The method's order, not the order of the rows.
    changes = [entry for entry in terms["changes"] if entry["key"] in by_change]
    with_reference = [entry["key"] for entry in changes if not entry["is_later_turn"]]
    later = [entry["key"] for entry in changes if entry["is_later_turn"]]

    yield block.note("followed")
    yield block.Table(
        "Errors that go when turns are given",
        block.heads(
            "Model", *(Cell(dimension, [change]) for change, _, dimension in with_reference)
        ),
        [
            [block.who(who), *(_followed(by_change[key].get(who.name)) for key in with_reference)]
            for who in models
        ],
        "matrix",
    )
    if left_out := _left_out(row for key in with_reference for row in by_change[key].values()):
        yield block.FoldedBlocks(LEFT_OUT, [block.Sentences(left_out, "")])
    for entry in changes:
        for label in entry["labels"] if entry["key"][0] in terms["causes"] else ():
            if (entry["key"], label) in parts:
                title = f"{entry['key'][2]}, {entry['key'][0]}, by {label} task"
                table = _tasks(title, label, parts[entry["key"], label], models)
                yield block.FoldedBlocks(title, [block.note("by_task"), table])

    if curves := list(_curves(pane.judged, models, terms)):
        yield block.Heading("Over the turns")
        yield block.note("over_turns")
        yield block.FigureRow(curves, "curves")
    if later:
        steps = (f"{before} to {after.lower()}" for _, before, after in later)
        yield block.note("steps")
        yield block.Table(
            "Change from turn to turn",
            block.heads("Model", *steps),
            [
                [
                    block.who(who),
                    *(difference_cell(_difference(by_change[key].get(who.name))) for key in later),
                ]
                for who in models
            ],
            "matrix",
        )
    if maps := list(_maps(pane.judged, models, terms)):
        yield block.Heading("Tasks of each turn")
        yield block.note("maps_of_turns")
        yield from maps


def _difference(row: Row | None) -> ModelDifference | None:
    return None if row is None else difference_of(row, _POINTS)


def _followed(row: Row | None) -> Cell:
    """Make the cell of a change: net effect, test, gains and losses, or why it has none."""
    if row is None:
        return Cell("·")
    difference = _difference(row)
    why = [row["reason"]] if row["reason"] else []
    if difference is None:
        return Cell("·", why)
    return difference_cell(difference, *_counts(row), *why)


def _counts(row: Row) -> tuple[str, str]:
    return (
        f"{row['n_gone']} of {row['n_errors']} gone",
        f"{row['n_lost']} of {row['n_right']} lost",
    )


def _left_out(rows: Iterable[Row]) -> list[str]:
    """List the comparisons that leave out items, with the number of items and the reasons."""
    sentences = []
    for row in rows:
        if row["n_left_out"]:
            reasons = ", ".join(f"{n} {reason.replace('_', ' ')}" for reason, n in row["left_out"])
            sentences.append(
                f"{row['model']}, {row['dimension'].lower()}, {row['change']}: "
                f"{row['n_left_out']} of {row['n_items'] + row['n_left_out']} ({reasons})"
            )
    return sentences


def _tasks(
    title: str, label: str, rows: Sequence[Row], models: Sequence[CandidateLabel]
) -> block.Table:
    """Make the table of one change by task; the task with the largest net effect is first."""
    by_task: dict[str, dict[str, Row]] = {}
    for row in rows:
        by_task.setdefault(row["subset_value"], {})[row["model"]] = row

    def net(task: str) -> int:
        return sum(row["n_gone"] - row["n_lost"] for row in by_task[task].values())

    lines = [
        [
            Cell(task, kind="who"),
            Cell(span(row["n_items"] for row in by_task[task].values()), kind="n quiet"),
            *(_of_task(by_task[task].get(who.name)) for who in models),
        ]
        for task in sorted(by_task, key=lambda task: (-net(task), task))
    ]
    heads = block.by_model(f"{label.capitalize()} task", models, "n")
    return block.Table(title, heads, lines, "matrix by-task")


def _of_task(row: Row | None) -> Cell:
    """Make the cell of a change on one task; with too few items for a test its tooltip says so."""
    cell, difference = _followed(row), _difference(row)
    if row is None or difference is None:
        return cell._replace(title=row["reason"] or "" if row else "")
    below = [difference.interval, difference.p] if difference.interval else []
    return cell._replace(small=[*below, *_counts(row)], title=row["reason"] or "")


def _curves(
    judged: ScoresByJudge, models: Sequence[CandidateLabel], terms: Terms
) -> Iterator[tuple[str, Markup]]:
    """Yield (label, plot) of each model that has scores."""
    metrics = {metric.name: metric for metric in judged.shown_metrics}
    turns = {dimension: turn for turn, dimension, _ in terms["turns"]}
    for who in models:
        scores: dict[str, list[TurnScore]] = {trial: [] for trial in terms["trials"]}
        for name, dimension, trial in terms["rates"]:
            if dimension in turns and name in metrics:
                score = judged.estimate(who.name, metrics[name])
                if score.value is not None:
                    words = f"{name}, {dimension}, {terms['trials'][trial]}: {score.shown}"
                    if score.interval:
                        words += f" ({score.interval})"
                    scores[trial].append(
                        TurnScore(turns[dimension], score.value, score.low, score.high, words)
                    )
        if all_words := [score.words for of_trial in scores.values() for score in of_trial]:
            names = [name for _, name, _ in terms["turns"]]
            figure = turns_figure(names, list(scores.values()))
            yield who.label, inline_svg(figure, f"{who.label}: {', '.join(all_words)}")


def _maps(
    judged: ScoresByJudge, models: Sequence[CandidateLabel], terms: Terms
) -> Iterator[block.Block]:
    """Yield a heat map for each turn: win rates over the model's own history, by the turn's task."""
    names = {dimension: name for name, dimension, trial in terms["rates"] if trial == PLAIN}
    metrics = {metric.name: metric for metric in judged.shown_metrics}
    for _, dimension, label in terms["turns"]:
        metric = metrics.get(names[dimension])
        slices = slices_by_label(judged, metric, models).get(label) if metric else None
        if metric and slices:
            yield block.Heading(f"{metric.name}, {dimension.lower()} task", 4)
            yield heat(f"{dimension} task", [("", slices)], models)
