"""The report section on the release itself: histograms, shares of labels and the dataset card."""

from collections.abc import Sequence
from typing import NamedTuple

from methods.ids import canonical_json
from methods.naming import number_of
from methods.release_card import card_of, facts, settings_of
from methods.release_statistics import CategoryCounts, Distribution, histogram, summary
from resources.reports import report_blocks as block
from resources.reports.report_blocks import Cell, markup
from resources.reports.report_input import Report, Row

MOST_ROWS = 12
"""A chart shows this many values of a label; the other values are summed up."""
_IN_HEAD = ("Name", "Dialogues", "Items", "Turns", "Images", "Review policy")
"""Facts of the dataset card that the head of the page already shows."""


class Bar(NamedTuple):
    """One bar: its label, number, length in percent of the longest, and share."""

    label: str
    n: int
    length: float
    share: str


class BarChart(NamedTuple):
    """Bars with a heading; `note` describes the total, `unit` and `counted` head the columns."""

    title: str
    note: str
    bars: list[Bar]
    unit: str = ""
    counted: str = ""


def noun_of(release: Row) -> str:
    """Return the noun for the release's items: "dialogue" if there are more turns than items."""
    return "dialogue" if release["n_turns"] > release["n_items"] else "item"


def histogram_chart(distribution: Distribution) -> BarChart:
    """Make the histogram of a distribution."""
    counts = [
        (
            f"{interval.first}"
            if interval.first == interval.last
            else f"{interval.first}–{interval.last}",
            interval.n,
        )
        for interval in histogram(distribution.values)
    ]
    return BarChart(
        distribution.name,
        summary(distribution.values),
        bars_of(counts),
        distribution.unit,
        distribution.per,
    )


def share_chart(share: CategoryCounts) -> BarChart:
    """Chart the shares of values of a whole, in percent; values after `MOST_ROWS` are summed up."""
    total = sum(n for _, n in share.counts)
    shown = list(share.counts[:MOST_ROWS])
    others = share.counts[MOST_ROWS:]
    if others:
        shown.append((f"{len(others)} others", sum(n for _, n in others)))
    noun = share.per if total != 1 else share.per.removesuffix("s")
    return BarChart(share.name, f"{total:,} {noun}", bars_of(shown, total))


def shape(data: Report) -> block.Section:
    """Make the section: charts of the content of the release, and the dataset card."""
    release = data["release"]
    charts = [
        *map(histogram_chart, data["distributions"]),
        *map(share_chart, data["shares"]),
        category_chart(data["page_categories"], release["n_images"]),
    ]
    drawings = [block.Drawing("bars", chart) for chart in charts if chart]
    nothing = block.Note("It has nothing to show.", "lead")
    heads = [Cell("How it was made", kind="l"), Cell("Value", kind="l")]
    facts, settings = (
        [
            [Cell(name, kind=""), Cell(markup("<code>{value}</code>", value=value), kind="")]
            for name, value in of_card
        ]
        for of_card in card(release)
    )
    noun = noun_of(release)
    finding = f"{number_of(release['n_items'], noun)}, {number_of(release['n_images'], 'image')}"
    blocks: list[block.Block] = [
        block.Pane(drawings, "charts") if drawings else nothing,
        block.Heading("Card", id="card"),
        block.Table("How the release was made", heads, facts),
    ]
    if settings:
        table = block.Table("Settings of the release", heads, settings)
        blocks.append(block.FoldedBlocks(block.bold(number_of(len(settings), "setting")), [table]))
    return block.Section(
        "shape", "The release", "What the release consists of", blocks, finding=finding
    )


def card(release: Row) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return the dataset card and the settings of a release, each as (name, value). The facts in
    `_IN_HEAD` are left out."""
    release_card = card_of(release)
    settings = [(name, canonical_json(value)) for name, value in settings_of(release_card).items()]
    return [fact for fact in facts(release_card) if fact[0] not in _IN_HEAD], settings


def category_chart(categories: Sequence[Row], n_images: int) -> BarChart | None:
    """Chart the categories of the images' Wikipedia pages; None without categories."""
    if not categories:
        return None
    return BarChart(
        "Categories of the images' pages",
        f"the {len(categories)} most frequent, of {n_images} images",
        bars_of([(row["category"], row["n"]) for row in categories], n_images),
    )


def bars_of(counts: Sequence[tuple[str, int]], total: int | None = None) -> list[Bar]:
    """Make a bar for each value.

    Args:
        counts: The values with their numbers.
        total: The total for shares; None for no shares.
    """
    longest = max(n for _, n in counts)
    return [
        Bar(value, n, round(100 * n / longest, 1), f"{100 * n / total:.1f} %" if total else "")
        for value, n in counts
    ]
