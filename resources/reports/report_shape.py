"""The report section on the release itself: histograms, shares of labels and the dataset card."""

from collections.abc import Sequence
from typing import NamedTuple

from methods.ids import canonical_json
from methods.naming import number_of
from methods.release_card import card_of, exported_card, facts, settings_of
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
    card = exported_card(card_of(release))
    card_facts = [fact for fact in facts(card) if fact[0] not in _IN_HEAD]
    settings = settings_of(card)
    noun = noun_of(release)
    finding = f"{number_of(release['n_items'], noun)}, {number_of(release['n_images'], 'image')}"
    blocks: list[block.Block] = [
        block.Pane(drawings, "charts") if drawings else nothing,
        block.Heading("Card", id="card"),
        _fact_table("How the release was made", card_facts),
    ]
    if settings:
        values = [(name, canonical_json(value)) for name, value in settings.items()]
        summary_line = block.bold(number_of(len(settings), "setting"))
        table = _fact_table("Settings of the release", values)
        blocks.append(block.FoldedBlocks(summary_line, [table]))
    return block.Section(
        "shape", "The release", "What the release consists of", blocks, finding=finding
    )


def _fact_table(label: str, values: Sequence[tuple[str, str]]) -> block.Table:
    heads = [Cell("How it was made", kind="l"), Cell("Value", kind="l")]
    lines = [
        [Cell(name, kind=""), Cell(markup("<code>{value}</code>", value=value), kind="")]
        for name, value in values
    ]
    return block.Table(label, heads, lines)


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
