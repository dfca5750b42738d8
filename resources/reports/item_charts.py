"""Figures of the item analysis: difficulty and discrimination, and rankings on subsets of items."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from resources.reports import figures
from resources.reports.report_input import Row

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class ItemsDot(NamedTuple):
    """Items with equal discrimination and equal share of correct models; `words` is the tooltip."""

    share_right: float
    discrimination: float
    n_items: int
    words: str


def difficulty_figure(dots: Sequence[ItemsDot], n_models: int) -> "Figure":
    """Plot the discrimination of items against the share of models that answer correctly.

    Args:
        dots: The items. A dot with a discrimination below 0 is red.
        n_models: The number of models that answered.
    """
    figure = figures.new_figure(figures.COLUMN, 2.6, figures.PRINT_DPI)
    axes = figure.add_subplot()
    marks = axes.scatter(
        [100 * dot.share_right for dot in dots],
        [dot.discrimination for dot in dots],
        # The area of a dot grows with its number of items, up to a limit.
        s=[min(22 * dot.n_items, 400) for dot in dots],
        c=[figures.BAD if dot.discrimination < 0 else figures.PALETTE[0] for dot in dots],
        alpha=0.65,
        linewidths=0,
        clip_on=False,
    )
    figures.label_marks(marks, [dot.words for dot in dots])
    axes.set_xlim(0, 100)
    axes.set_ylim(-1, 1)
    axes.axhline(0, color=figures.SOFT, linewidth=0.8)
    axes.set_xlabel(f"% of {n_models} models right")
    axes.set_ylabel("discrimination")
    figures.style_axes(axes, "y")
    return figure


def subsets_figure(rows: Sequence[Row]) -> "Figure":
    """Plot how rankings on chosen and on random subsets agree with the ranking on all items. The
    agreement is Kendall's tau by size of the subset, with a band for its interval."""
    figure = figures.new_figure(figures.COLUMN, 2.6, figures.PRINT_DPI)
    axes = figure.add_subplot()
    sizes = [row["size"] for row in rows]
    for name, colour, dashes in (
        ("random", figures.PALETTE[1], "--"),
        ("held_out", figures.PALETTE[0], "-"),
    ):
        axes.plot(sizes, [row[name] for row in rows], dashes, color=colour, linewidth=1.5)
        low, high = ([row[f"{name}_{end}"] for row in rows] for end in ("low", "high"))
        axes.fill_between(sizes, low, high, color=colour, alpha=0.14, linewidth=0)
    axes.set_xscale("log")
    axes.set_xticks([sizes[0], sizes[-1]], [str(sizes[0]), str(sizes[-1])])
    axes.set_xticks([], minor=True)
    axes.set_ylim(top=1)
    axes.set_xlabel(f"items, of {rows[-1]['n_items']}")
    axes.set_ylabel("tau")
    figures.style_axes(axes, "y")
    return figure
