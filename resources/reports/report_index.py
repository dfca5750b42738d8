"""The home page of the site: releases, scores of models by benchmark, links to diff pages."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from methods.evaluation.candidates import is_model
from resources.reports import report_blocks as block
from resources.reports.benchmark_report import n_models
from resources.reports.diff_page import diff_link
from resources.reports.page import render_page
from resources.reports.report_blocks import Cell, markup
from resources.reports.report_input import LeaderboardInput
from resources.reports.report_leaderboard import (
    JudgePane,
    LeaderboardRow,
    LeaderboardView,
    panes_of,
)
from resources.reports.report_plots import Chart
from resources.reports.report_scores import RULE
from resources.web.addresses import items_page


class ReleaseLine(NamedTuple):
    """One release on the home page: its row, the link to its report, and its first judge's leaderboard.

    `judge` is the first judge in words, `judges` are all judges. `n_unscored` is the number of models
    that answered but cannot be scored, since the release has no references.
    """

    release: Mapping[str, Any]
    page: str
    benchmark: str | None
    n_models: int
    judge: str | None
    judges: list[str]
    view: LeaderboardView | None
    n_unscored: int

    @property
    def metric(self) -> str | None:
        """The ranking metric in words; None without a leaderboard."""
        if self.view is None:
            return None
        return f"{self.view.metrics[0].name}, {self.view.name.lower()}"

    @property
    def best(self) -> list[LeaderboardRow]:
        """The models that share the best rank of a model; a baseline may rank before them."""
        models = self.view.models if self.view else []
        return [entry for entry in models if entry.rank and entry.rank == models[0].rank]

    @property
    def items(self) -> str:
        """The link to the sample browser of the release."""
        return items_page(self.release["release_id"])


def line_of(data: LeaderboardInput, page: str) -> ReleaseLine:
    """Make the index line of a release.

    Args:
        data: The data of its page.
        page: The path of its page.
    """
    panes = panes_of(data)
    first = panes[0] if panes else None
    return ReleaseLine(
        data["release"],
        page,
        data["benchmark"]["name"] if data["benchmark"] else None,
        n_models(panes),
        _scored_by(first) if first else None,
        list(dict.fromkeys(pane.judged.title for pane in panes)),
        first.views[0] if first else None,
        sum(map(is_model, data["unjudgeable"])),
    )


def _scored_by(pane: JudgePane) -> str:
    return "scored by rule" if pane.judged.judge == RULE else f"judge {pane.title}"


def render_index(
    lines: Sequence[ReleaseLine], generated: str, diffs: Sequence[tuple[str, str]] = ()
) -> str:
    """Render the home page: scores of models by benchmark, releases, and links to diff pages.

    Current releases come first, sorted by name; of the same name, the latest first.

    Args:
        lines: The releases.
        generated: The time, ISO 8601.
        diffs: The ids of the two releases of each comparison with a page.
    """
    latest = sorted(lines, key=lambda line: line.release["created_at"], reverse=True)
    ordered = sorted(
        latest, key=lambda line: (not line.release["is_current"], line.release["name"])
    )
    return render_page(
        "index.html",
        nav_name="home",
        lines=ordered,
        matrix=matrix(ordered),
        marks=_marks(ordered),
        diffs=[(first, second, diff_link(first, second)) for first, second in diffs],
        generated=generated,
    )


def _marks(lines: Sequence[ReleaseLine]) -> list[tuple[str, str, str]]:
    """Return (release name, labels of models, remark on their ranks) for current releases."""
    labels: dict[tuple[str, str], list[str]] = {}
    for line in lines:
        for entry in line.view.models if line.view and line.release["is_current"] else ():
            if entry.mark:
                labels.setdefault((line.release["name"], entry.mark), []).append(entry.who.label)
    return [(name, ", ".join(models), mark) for (name, mark), models in labels.items()]


def matrix(releases: Sequence[ReleaseLine]) -> block.Table | None:
    """Make the table of models by current releases, sorted by mean rank; None without a model."""
    lines = [line for line in releases if line.view and line.release["is_current"]]
    entries: dict[str, dict[int, LeaderboardRow]] = {}
    labels_of: dict[str, set[str]] = {}
    for place, line in enumerate(lines):
        for entry in line.view.models if line.view else ():
            entries.setdefault(entry.who.name, {})[place] = entry
            labels_of.setdefault(entry.who.name, set()).add(entry.who.label)

    def key(model: str) -> tuple[bool, float, int, str]:
        ranks = [entry.rank for entry in entries[model].values() if entry.rank]
        return not ranks, fmean(ranks) if ranks else 0.0, -len(ranks), model

    if not entries:
        return None
    models = sorted(entries, key=key)
    # If the releases give a model different labels (settings), the table shows its name only.
    labels = {
        model: next(iter(names)) if len(names) == 1 else model for model, names in labels_of.items()
    }
    charts = [line.view.charts[0] for line in lines if line.view]
    heads = [Cell("Model", kind="l who"), *map(_head, lines)]
    return block.Table(
        "Models by benchmarks",
        heads,
        [
            [
                Cell(markup('<span class="model">{name}</span>', name=labels[model]), kind="who"),
                *(_score(entries[model].get(place), of) for place, of in enumerate(charts)),
            ]
            for model in models
        ],
        "scores sorted",
        filter="Models with",
    )


def _head(line: ReleaseLine) -> Cell:
    """Make the head of a release's column: its name and the metric."""
    assert line.view is not None
    metric = line.view.metrics[0]
    lower = [] if metric.higher_is_better else ["lower is better"]
    text = markup('<a href="{page}">{name}</a>', page=line.page, name=line.release["name"])
    return Cell(text, [metric.name, *lower], title=f"{line.metric}, {line.judge}")


def _score(entry: LeaderboardRow | None, chart: Chart) -> Cell:
    """Make the cell of a model's score on a release, as number and plot; a dash without a score."""
    if entry is None or entry.floor.value is None:
        return Cell("–", kind="n quiet", sort="")
    mark = next(mark for mark in chart.marks if mark.who.name == entry.who.name)
    interval = entry.floor.interval or "no interval"
    rank = f"rank {entry.ranks}{'*' if entry.mark else ''}" if entry.ranks else "no rank"
    shown = f"95 % interval {entry.floor.interval}" if entry.floor.interval else ""
    return Cell(
        markup("<b>{shown}</b>{track}", shown=entry.floor.shown, track=mark.track),
        [interval, rank],
        title=". ".join(filter(None, (shown, entry.mark))),
        sort=entry.floor.value,
    )
