"""What a section of a report consists of, as data: notes, tables, sentences, panes.

What belongs here: the blocks, and cells that several sections have. One template shows them all:
`templates/report_blocks.html`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from markupsafe import Markup

from resources.reports.estimate import Estimate
from resources.reports.report_pairs import cell_of
from resources.reports.report_scores import MetricShown, Row


class Cell(NamedTuple):
    """A cell of a table: its text, and small lines below it.

    `kind` is its class: `n` a number, `l` a text, `who` what the line is of.
    """

    text: str
    small: Sequence[str] = ()
    kind: str = "n"
    title: str = ""
    shade: float | None = None


@dataclass(frozen=True)
class Note:
    """A paragraph."""

    kind: ClassVar = "note"
    text: str


@dataclass(frozen=True)
class Heading:
    """A heading inside the section; `level` is that of HTML."""

    kind: ClassVar = "heading"
    text: str
    level: int = 3


@dataclass(frozen=True)
class Sentences:
    """What there is to say, a sentence a line."""

    kind: ClassVar = "sentences"
    of: Sequence[str]


@dataclass(frozen=True)
class Table:
    """A table; `label` is what it is of, `style` its class."""

    kind: ClassVar = "table"
    label: str
    heads: Sequence[Cell]
    lines: Sequence[Sequence[Cell]]
    style: str = ""


@dataclass(frozen=True)
class Folded:
    """Blocks that are shown when the line above them is pointed at."""

    kind: ClassVar = "folded"
    summary: str
    blocks: Sequence["Block"]


@dataclass(frozen=True)
class Pane:
    """Blocks in a frame of their own."""

    kind: ClassVar = "pane"
    blocks: Sequence["Block"]


@dataclass(frozen=True)
class Panes:
    """One of several panes, by title: they are chosen by `of`, such as the judge."""

    kind: ClassVar = "panes"
    name: str
    of: str
    panes: Sequence[tuple[str, Sequence["Block"]]]


Block = Note | Heading | Sentences | Table | Folded | Pane | Panes


class Section(NamedTuple):
    """A section: its title in the contents, its heading, its blocks; without any it is not there."""

    id: str
    title: str
    heading: str
    blocks: Sequence[Block]
    style: str = ""


def said(text: str, **values: object) -> Markup:
    """A text of ours, which is HTML, with values that are none in the place of its {names}."""
    return Markup(" ".join(text.split())).format(**values)


def count(n: int, noun: str) -> str:
    """How many of what."""
    return f"{n} {noun}{'' if n == 1 else 's'}"


def bold(shown: str) -> Markup:
    """A text in bold."""
    return said("<b>{shown}</b>", shown=shown)


def clamped(name: str) -> Cell:
    """The head of a column whose name may be too long."""
    return Cell(said('<span class="clamp">{name}</span>', name=name), title=name)


def model(name: str, small: Sequence[str] = ()) -> Cell:
    """The model that a line is of."""
    return Cell(said('<span class="model">{name}</span>', name=name), small, "who")


def tinted(estimate: Estimate) -> Cell:
    """A score with its interval, the darker the higher."""
    return Cell(estimate.shown, [estimate.interval], "n tint", shade=estimate.shade)


def tested(finding: Row | None, metric: MetricShown) -> Cell:
    """A difference with its interval and p, marked where it counts."""
    cell = cell_of(finding, metric, of="value") if finding else None
    if cell is None:
        return Cell("·")
    below = [cell.interval or "no interval", cell.p]
    return Cell(bold(cell.difference), below, f"n {cell.verdict}".strip())


def tags(of: Iterable[str]) -> Markup:
    """Short remarks."""
    return Markup("").join(said('<span class="is-tag">{tag}</span>', tag=tag) for tag in of)


def keys(of: Mapping[str, str | None]) -> Markup:
    """The beginnings of keys of rows or calls, by what they are of; a dash for none."""
    shown = []
    for name, key in of.items():
        short = said('<code title="{key}">{short}</code>', key=key, short=key[:12]) if key else "–"
        shown.append(said('<span class="key">{name} {short}</span>', name=name, short=short))
    return Markup(" ").join(shown)
