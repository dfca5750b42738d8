"""The index of a home's reports: one line a release, and the comparisons of two.

What belongs here: what the index says of a release. Its page is `templates/index.html`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from methods.evaluation.contestants import is_model
from resources.reports.benchmark_report import n_models
from resources.reports.diff_page import diff_link
from resources.reports.page import render
from resources.reports.report_board import Entry, Pane, panes_of
from resources.reports.report_input import Board
from resources.reports.report_scores import RULE


class Line(NamedTuple):
    """One release: its row, the page beside the index, and its best models by the first judge.

    `judge` says in words who scored. `n_unscored` models answered where nothing can be scored, since
    the release has no references.
    """

    release: Mapping[str, Any]
    page: str
    benchmark: str | None
    n_models: int
    judge: str | None
    metric: str | None
    best: list[Entry]
    n_unscored: int


def line_of(data: Board, page: str) -> Line:
    """The line of a release whose page is made of `data` (`render_report`)."""
    panes = panes_of(data)
    benchmark = data["benchmark"]["name"] if data["benchmark"] else None
    n_unscored = sum(map(is_model, data["unjudgeable"]))
    if not panes:
        return Line(data["release"], page, benchmark, 0, None, None, [], n_unscored)
    view = panes[0].views[0]
    return Line(
        data["release"],
        page,
        benchmark,
        n_models(panes),
        _scored_by(panes[0]),
        f"{view.metrics[0].name}, {view.name.lower()}",
        # Baselines may hold the first rank; the best model is the first of the models.
        [entry for entry in view.models if entry.rank and entry.rank == view.models[0].rank],
        n_unscored,
    )


def _scored_by(pane: Pane) -> str:
    return "scored by rule" if pane.judged.judge == RULE else f"judge {pane.title}"


def render_index(
    lines: Sequence[Line], generated: str, diffs: Sequence[tuple[str, str]] = ()
) -> str:
    """The page: releases in force first, then by name, the latest first; then the comparisons.

    `diffs` are the ids of the two releases of each comparison that has a page.
    """
    latest = sorted(lines, key=lambda line: line.release["created_at"], reverse=True)
    ordered = sorted(latest, key=lambda line: (not line.release["in_force"], line.release["name"]))
    pages = [(first, second, diff_link(first, second)) for first, second in diffs]
    return render("index.html", lines=ordered, diffs=pages, generated=generated)
