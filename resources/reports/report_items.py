"""The items of a report: what is flagged, difficulty against discrimination, the curve of subsets.

What belongs here: its texts and tables, and places on the plots. The data are gathered by
`assets/evaluate/item_report_data.py`.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from markupsafe import Markup

from resources.images.store import ImageStore
from resources.reports import report_blocks as block
from resources.reports.report_blocks import Cell, said
from resources.reports.report_examples import chips, source_of
from resources.reports.report_input import Items, Row

MOST_FLAGGED = 30
"""Flagged items that are shown; the table has all."""
FLAGS = {
    "text_only": "right without the picture",
    "wrong_item": "every model fails",
    "negative_discrimination": "negative discrimination",
}
DECISIONS = {"pending": "not decided", "keep": "kept", "edit": "edited", "reject": "rejected"}
PROPOSED = "Proposed by filters and item analysis for people to keep, edit or reject{cut}."
DIFFICULTY = """one dot for the items at a place, the larger the more; red tells good models from bad
ones the wrong way round"""
WITHOUT = """{n} of {items} have no discrimination: every model is right or wrong, or all are equally
good elsewhere."""
SUBSET = (
    """agreement with the ranking on all items (tau), on models that the items were not chosen by"""
)
CURVES = """Line: chosen items; dashed: random items of equal number; bands: 95&nbsp;% of the
resamples. The ranking is kept by {chosen}, and by {random}."""
TOO_HIGH = "Of the models that they were chosen by: too high"
CHOICE = '<li dir="auto"{mark}><b>{letter}</b> {text}{sign}</li>'


class Dot(NamedTuple):
    """Items at one place of the plot; places and diameter are in percent and pixels."""

    left: float
    top: float
    size: float
    title: str
    is_flagged: bool


class Difficulty(NamedTuple):
    """The plot of difficulty and discrimination, with what its axis is of."""

    dots: list[Dot]
    models: str


class Curve(NamedTuple):
    """A line of the subset plot with its band, as points of an SVG of 100 x 100."""

    name: str
    line: str
    band: str


class Subsets(NamedTuple):
    """The plot of subsets: its curves, its lower end, the sizes at both ends and that of the whole."""

    curves: list[Curve]
    low: str
    first: int
    last: int
    whole: int


def items(data: Items | None, image_store: ImageStore) -> block.Section:
    """Filters, flagged items and both plots; no blocks where the items were not analysed."""
    blocks = list(_blocks(data, image_store)) if data else []
    return block.Section("items", "Items", "Items", blocks, "item-analysis")


def _blocks(data: Items, image_store: ImageStore) -> Iterator[block.Block]:
    statistics, flagged = data["statistics"], data["flagged"]
    yield from map(_filter, data["filters"])
    if n_easy := sum("everyone_right" in row["flags"] for row in statistics):
        easy = block.count(n_easy, "item")
        yield block.Note(f"Every model has {easy} right: no mistake, and nothing that ranks.")
    yield block.Heading("Flagged items")
    if flagged:
        shown = flagged[:MOST_FLAGGED]
        is_cut = len(flagged) > len(shown)
        cut = f": the first {len(shown)} of {len(flagged)}" if is_cut else ""
        heads = [Cell(head, kind="l alone") for head in ("Picture", "Item", "Flagged as")]
        lines = [_flagged(each, image_store) for each in shown]
        yield block.Note(PROPOSED.format(cut=cut), "lead")
        yield block.Table("Flagged items", [*heads, Cell("Decision", kind="l")], lines, "stacked")
    else:
        yield block.Note("None.", "lead")
    yield block.Pane([_difficulty(statistics), *_subsets(data["subsets"])], "charts")


def _filter(of: Row) -> block.Note:
    said_of = of["why"]
    if not said_of:
        n_flagged, models = (
            block.count(of["n_flagged"], "item"),
            block.count(len(of["models"]), "model"),
        )
        said_of = f"{n_flagged} of {of['n_items']} flagged by {models}"
        if of["n_undecided"]:
            said_of += (
                f"; {of['n_undecided']} undecided, with fewer than {of['min_models']} known results"
            )
        said_of += "."
    name = FLAGS["text_only" if of["filter"] == "text_only" else "wrong_item"]
    return block.Note(said("<b>{name}:</b> {of}", name=name.capitalize(), of=said_of))


def _flagged(of: Row, image_store: ImageStore) -> list[Cell]:
    content, decision = of["content"], of["decision"]
    positions = range(1, len(of["image_ids"]) + 1)
    titles = [""] * len(of["image_ids"])
    sources = (source_of(image_id, image_store) for image_id in of["image_ids"])
    thumbnails = (
        said('<img src="{source}" alt="Image {n}">', source=source, n=n)
        if source
        else said('<span class="note">image not stored</span>')
        for n, source in enumerate(sources, start=1)
    )
    question = chips(content["question"] if content else of["text"], titles, positions)
    hint = content["hint"] if content else None
    choices = Markup("").join(
        said(
            CHOICE,
            mark=Markup(' class="is-key"') if letter == content["answer"] else "",
            letter=letter,
            text=chips(text, titles),
            sign=" ✓" if letter == content["answer"] else "",
        )
        for letter, text in (content["choices"] if content else {}).items()
    )
    asked = said(
        '<bdi>{question}</bdi>{hint}<ul class="choices">{choices}</ul>',
        question=question,
        hint=said('<small dir="auto">Hint: {hint}</small>', hint=hint) if hint else "",
        choices=choices,
    )
    flags = (
        said("<p>{flag}<small>{votes}</small></p>", flag=FLAGS[row["flag"]], votes=_votes(row))
        for row in of["flags"]
    )
    why = (
        []
        if not decision
        else [(decision["reason"] or "").replace("_", " "), ", ".join(decision["reviewers"])]
    )
    return [
        Cell(said('<div class="thumbs">{all}</div>', all=Markup("").join(thumbnails)), kind=""),
        Cell(asked, [said("item <code>{id}</code>", id=of["item_id"])], "asked"),
        Cell(Markup("").join(flags), kind="flag"),
        Cell(
            DECISIONS[decision["decision"]] if decision else "not queued",
            [each for each in why if each],
            "",
        ),
    ]


def _votes(row: Row) -> str:
    if row["discrimination"] is not None:
        return f"{row['discrimination']:.2f} over {row['n_models']} models"
    right, wrong, unknown = (len(row[f"{name}_models"]) for name in ("right", "wrong", "unknown"))
    said = f"{right} of {right + wrong} right"
    if row["right_models"]:
        said += f": {', '.join(row['right_models'])}"
    return f"{said}; {unknown} not known" if unknown else said


def _difficulty(statistics: Sequence[Row]) -> block.Figure:
    n_models = block.count(max(row["n_models"] for row in statistics), "model")
    blocks: list[block.Block] = []
    if dots := dots_of(statistics):
        blocks.append(block.Drawing("difficulty", Difficulty(dots, n_models)))
    if n := sum(row["discrimination"] is None for row in statistics):
        n_items = block.count(len(statistics), "item")
        blocks.append(block.Note(WITHOUT.format(n=n, items=n_items)))
    return block.Figure("Difficulty and discrimination", DIFFICULTY, blocks)


def dots_of(statistics: Sequence[Row]) -> list[Dot]:
    """Items by the share of models that have them right, and by how well they tell models apart."""
    places: dict[tuple[float, float], list[Row]] = {}
    for row in statistics:
        if row["discrimination"] is not None:
            at = round(row["share_right"], 2), round(row["discrimination"], 2)
            places.setdefault(at, []).append(row)
    dots = []
    for (share, discrimination), rows in sorted(places.items()):
        named = ", ".join(str(row["item_id"])[:12] for row in rows[:5])
        more = f" and {len(rows) - 5} more" if len(rows) > 5 else ""
        dots.append(
            Dot(
                round(100 * share, 2),
                round(50 - 50 * discrimination, 2),
                round(min(8 * math.sqrt(len(rows)), 34), 1),
                f"{len(rows)} of {share:.0%} right, discrimination {discrimination:.2f}: "
                f"{named}{more}",
                discrimination < 0,
            )
        )
    return dots


def _subsets(rows: Sequence[Row]) -> Iterator[block.Figure]:
    if not rows:
        return
    if rows[0]["why"]:
        blocks: list[block.Block] = [block.Note(rows[0]["why"])]
    else:
        kept = {
            of: next((row["size"] for row in rows if row[f"is_smallest{of}"]), None)
            for of in ("", "_random")
        }
        chosen, random = kept[""], kept["_random"]
        sizes = _shown([row["size"] for row in rows])
        shown = [row for row in rows if row["size"] in sizes or row["is_smallest"]]
        heads = [*map(Cell, ("Items", "Held out", "Random")), Cell("Chosen by", title=TOO_HIGH)]
        lines = [
            [
                Cell(str(row["size"])),
                *(_tau(row, name) for name in ("held_out", "random")),
                Cell(f"{row['tau']:.2f}", kind="n quiet"),
            ]
            for row in shown
        ]
        blocks = [
            block.Drawing("subsets", curves_of(rows)),
            block.Note(
                said(
                    CURVES,
                    chosen=block.count(chosen, "chosen item")
                    if chosen
                    else "no subset of chosen items",
                    random=block.count(random, "random item") if random else "no random subset",
                )
            ),
            block.Folded("Figures", [block.Table("Held-out tau by size", heads, lines)]),
        ]
    yield block.Figure("The smallest subset that keeps the ranking", SUBSET, blocks)


def _tau(row: Row, name: str) -> Cell:
    return Cell(f"{row[name]:.2f}", [f"{row[f'{name}_low']:.2f} – {row[f'{name}_high']:.2f}"])


def curves_of(rows: Sequence[Row]) -> Subsets:
    """The agreement of chosen and of random items by their number, on an axis of logarithms."""
    first, last = rows[0], rows[-1]
    ends = math.log(first["size"]), math.log(max(last["size"], first["size"] + 1))
    across = [100 * (math.log(row["size"]) - ends[0]) / (ends[1] - ends[0]) for row in rows]
    low = min(0.0, *(row[f"{name}_low"] for row in rows for name in ("held_out", "random")))
    low = math.floor(4 * low) / 4
    curves = [
        _curve(name, column, rows, across, low)
        for name, column in (("chosen", "held_out"), ("random", "random"))
    ]
    return Subsets(curves, f"{low:g}", first["size"], last["size"], last["n_items"])


def _shown(sizes: Sequence[int]) -> list[int]:
    """Up to eight of the sizes, the first and the last among them."""
    step = max(1, math.ceil((len(sizes) - 1) / 7))
    return [*sizes[::step], sizes[-1]]


def _curve(
    name: str, column: str, rows: Sequence[Row], across: Sequence[float], low: float
) -> Curve:
    def points(values: Sequence[float], places: Sequence[float]) -> list[str]:
        return [
            f"{x:.2f},{100 * (1 - value) / (1 - low):.2f}"
            for x, value in zip(places, values, strict=True)
        ]

    above = points([row[f"{column}_high"] for row in rows], across)
    below = points([row[f"{column}_low"] for row in rows], across)
    return Curve(
        name,
        " ".join(points([row[column] for row in rows], across)),
        " ".join([*above, *reversed(below)]),
    )
