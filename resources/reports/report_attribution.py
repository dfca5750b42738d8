"""The section of a report on where errors come from: what given turns change, the decline over turns,
and maps of tasks by turn.

What belongs here: its tables, sentences and plots by judge, from rows of `evaluate.error_attribution`
and the scores. What an error is, and when one is attributed, is the method's; what its turns, trials
and changes are called comes with the rows (`Terms`).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from methods.evaluation.asking import PLAIN
from resources.reports.estimate import Estimate, Scale
from resources.reports.report_abilities import Map
from resources.reports.report_board import Pane
from resources.reports.report_pairs import Cell, cell_of
from resources.reports.report_scores import Judged, MetricShown, Row, Who
from resources.reports.report_slices import slices_by_label

SCALE = Scale(0.0, 100.0)
_POINTS = MetricShown("win rate", "micro", 0, SCALE, True, False)
_LEFT, _STEP, _TOP, _HEIGHT = 34.0, 88.0, 10.0, 110.0
"""Where the turns of a plot stand, in units of the drawing."""
_ASIDE = 7.0
"""From one trial to the next: they stand beside each other, so that intervals can be told apart."""

Terms = Mapping[str, Any]
"""What the rows name, as `attribution_terms` of the report's data has it."""
Cause = tuple[str, str, str]
"""What a change shows the cause of, when errors go, and which errors these are, in words."""


class Followed(NamedTuple):
    """One model and one change: the net with its test, and the counts in words."""

    cell: Cell | None
    gone: str
    lost: str
    why: str


class Heading(NamedTuple):
    """A change as a column's head: what is scored, and what differs."""

    dimension: str
    change: str


class Line(NamedTuple):
    """One model: each change, and what they say in sentences."""

    who: Who
    followed: list[Followed | None]
    sentences: list[str]


class Tasks(NamedTuple):
    """One change by task: where most errors go, first; `values` are (task, items, a cell a model)."""

    heading: Heading
    label: str
    values: list[tuple[str, str, list[Followed | None]]]


class Spot(NamedTuple):
    """A score of a plot; `low` and `high` are the ends of its interval, None where it has none."""

    x: float
    y: float
    low: float | None
    high: float | None
    words: str
    trial: str


class Curve(NamedTuple):
    """The scores of one model over the turns; `lines` are (setting, an SVG's points)."""

    who: Who
    spots: list[Spot]
    lines: list[tuple[str, str]]


class Attribution(NamedTuple):
    """All that one judge says; `left_out` are sentences on items that a comparison lacks."""

    title: str
    headings: list[Heading]
    lines: list[Line]
    left_out: list[str]
    tasks: list[Tasks]
    turns: list[tuple[str, float]]
    grid: list[tuple[str, float]]
    curves: list[Curve]
    steps: list[str]
    declines: list[tuple[Who, list[Cell | None]]]
    maps: list[tuple[MetricShown, Map]]
    models: list[Who]


def attributions_of(data: Mapping[str, Any], panes: Sequence[Pane]) -> list[Attribution]:
    """One for each judge that has rows, in the order of the leaderboards."""
    found = []
    for pane in panes:
        key = pane.judged.judge, pane.judged.version
        rows = [
            row for row in data["error_attribution"] if (row["judge"], row["judge_version"]) == key
        ]
        if rows:
            found.append(_attribution(pane, rows, data["attribution_terms"]))
    return found


def _attribution(pane: Pane, rows: Sequence[Row], terms: Terms) -> Attribution:
    by_change: dict[tuple[str, str, str], dict[str, Row]] = {}
    parts: dict[tuple[str, str, str, str], list[Row]] = {}
    for row in rows:
        change = row["change"], row["before_dimension"], row["dimension"]
        if row["subset_label"]:
            parts.setdefault((*change, row["subset_label"]), []).append(row)
        else:
            by_change.setdefault(change, {})[row["model"]] = row
    models = [who for who in pane.order if any(who.name in of for of in by_change.values())]
    # In the order of the method, whatever that of the rows.
    changes = [each for each in terms["changes"] if each["key"] in by_change]
    given = [each["key"] for each in changes if not each["is_later_turn"]]
    later = [each["key"] for each in changes if each["is_later_turn"]]
    causes, turns = terms["causes"], terms["turns"]
    return Attribution(
        pane.title,
        [_heading(key) for key in given],
        [_line(who, [by_change[key].get(who.name) for key in given], causes) for who in models],
        _left_out(row for key in given for row in by_change[key].values()),
        [
            Tasks(_heading(each["key"]), label, _tasks(parts[*each["key"], label], models))
            for each in changes
            if each["key"][0] in causes
            for label in each["labels"]
            if (*each["key"], label) in parts
        ],
        [(name, _x(turn)) for turn, name, _ in turns],
        [(f"{value:g}", _y(value)) for value in (0.0, 50.0, 100.0)],
        [curve for who in models if (curve := _curve(pane.judged, who, terms)).spots],
        [f"{before} to {after.lower()}" for _, before, after in later],
        [(who, [_cell(by_change[key].get(who.name)) for key in later]) for who in models],
        _maps(pane.judged, models, terms),
        models,
    )


def _heading(key: tuple[str, str, str]) -> Heading:
    return Heading(key[2], key[0])


def _cell(row: Row | None) -> Cell | None:
    return None if row is None else cell_of(row, _POINTS)


def _followed(row: Row | None) -> Followed | None:
    if row is None:
        return None
    return Followed(
        _cell(row),
        f"{row['n_gone']} of {row['n_errors']}",
        f"{row['n_lost']} of {row['n_right']}",
        row["reason"] or "",
    )


def _line(who: Who, rows: Sequence[Row | None], causes: Mapping[str, Cause]) -> Line:
    # With both given the sentence would say the other two again: the table has it.
    said = [
        sentence(row, causes[row["change"]])
        for row in rows
        if row is not None and row["change"] in causes
    ]
    return Line(who, [_followed(row) for row in rows], said)


def sentence(row: Row, of: Cause) -> str:
    """What a row says, in plain words; a cause is named only where its test does."""
    cause, when, which = of
    errors = f"errors in {row['dimension'].lower()}"
    if not row["n_items"]:
        return f"No {errors} can be followed when {when}. {row['reason']}"
    errors += which
    lost = "nothing was right before"
    if row["n_right"]:
        lost = f"{row['n_lost']} of {row['n_right']} right answers are lost"
    if not row["n_errors"]:
        return f"There are no {errors} to attribute; when {when}, {lost}."
    gone = f"Of {row['n_errors']} {errors} {row['n_gone']} ({_percent(row, 'gone')}) go when {when}"
    net = f"net {SCALE.difference(row['difference'])} points"
    cell = _cell(row)
    if cell is None or row["p_holm"] is None:
        return f"{gone}; {lost}; {net}. {row['reason']}"
    ends = f"[{SCALE.difference(row['ci_low'])}, {SCALE.difference(row['ci_high'])}]"
    verdict = {
        "gain": f"{cause} is a cause.",
        "loss": "what is given makes it worse.",
    }.get(row["verdict"] or "", "no cause is shown.")
    return f"{gone}; {lost}; {net} {ends}, {cell.p}: {verdict}"


def _percent(row: Row, name: str) -> str:
    value, low, high = (100 * row[f"{name}_{each}"] for each in ("share", "low", "high"))
    return f"{value:.0f} % [{low:.0f}, {high:.0f}]"


def _left_out(rows: Iterable[Row]) -> list[str]:
    """How many items each comparison lacks, and why, where it lacks any."""
    said = []
    for row in rows:
        if row["n_left_out"]:
            reasons = ", ".join(f"{n} {reason.replace('_', ' ')}" for reason, n in row["left_out"])
            said.append(
                f"{row['model']}, {row['dimension'].lower()}, {row['change']}: "
                f"{row['n_left_out']} of {row['n_items'] + row['n_left_out']} ({reasons})"
            )
    return said


def _tasks(
    rows: Sequence[Row], models: Sequence[Who]
) -> list[tuple[str, str, list[Followed | None]]]:
    by_task: dict[str, dict[str, Row]] = {}
    for row in rows:
        by_task.setdefault(row["subset_value"], {})[row["model"]] = row

    def net(task: str) -> int:
        return sum(row["n_gone"] - row["n_lost"] for row in by_task[task].values())

    shown = []
    for task in sorted(by_task, key=lambda task: (-net(task), task)):
        sizes = sorted({row["n_items"] for row in by_task[task].values()})
        n = "–".join(map(str, sizes if len(sizes) < 2 else (sizes[0], sizes[-1])))
        shown.append((task, n, [_followed(by_task[task].get(who.name)) for who in models]))
    return shown


def _curve(judged: Judged, who: Who, terms: Terms) -> Curve:
    metrics = {metric.name: metric for metric in judged.metrics}
    turns = {dimension: turn for turn, dimension, _ in terms["turns"]}
    places = {trial: place - 1 for place, trial in enumerate(terms["trials"])}
    spots: list[Spot] = []
    for name, dimension, trial in terms["rates"]:
        if dimension not in turns or name not in metrics:
            continue
        score = judged.estimate(who.name, metrics[name])
        if score.value is not None:
            what = f"{name}, {dimension}, {terms['trials'][trial]}"
            x = _x(turns[dimension]) + _ASIDE * places[trial]
            spots.append(_spot(x, trial, what, score))
    lines = [
        (trial, " ".join(f"{spot.x:g},{spot.y:g}" for spot in spots if spot.trial == trial))
        for trial in terms["trials"]
    ]
    return Curve(who, spots, [line for line in lines if " " in line[1]])


def _spot(x: float, trial: str, what: str, score: Estimate) -> Spot:
    words = f"{what}: {score.shown}"
    return Spot(
        x,
        _y(score.value or 0.0),
        None if score.low is None else _y(score.low),
        None if score.high is None else _y(score.high),
        f"{words} ({score.interval})" if score.interval else words,
        trial,
    )


def _x(turn: int) -> float:
    return _LEFT + (turn - 0.5) * _STEP


def _y(value: float) -> float:
    return round(_TOP + _HEIGHT * (1 - SCALE.place(value)), 1)


def _maps(judged: Judged, models: Sequence[Who], terms: Terms) -> list[tuple[MetricShown, Map]]:
    """The win rate of each turn over the model's own history, by the task of that turn."""
    names = {dimension: name for name, dimension, trial in terms["rates"] if trial == PLAIN}
    metrics = {metric.name: metric for metric in judged.metrics}
    maps = []
    for _, dimension, label in terms["turns"]:
        metric = metrics.get(names[dimension])
        slices = slices_by_label(judged, metric, models).get(label) if metric else None
        if metric and slices:
            maps.append((metric, Map(f"{dimension} task", [(None, slices)])))
    return maps
