"""What a section of a report consists of, as data: notes, tables, sentences, panes.

The template of all blocks is `templates/report_blocks.html`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from markupsafe import Markup

from resources.reports.estimate import ReportEstimate
from resources.reports.page import sentences
from resources.reports.report_scores import CandidateLabel


class Cell(NamedTuple):
    """A cell of a table: its text, and small lines below it.

    `kind` is its class: `n` a number, `l` a text, `who` what the line is of; `sort` is the number that
    a table is sorted by, if that is not the text.
    """

    text: str
    small: Sequence[str] = ()
    kind: str = "n"
    title: str = ""
    shade: float | None = None
    sort: float | str | None = None


@dataclass(frozen=True)
class Note:
    """A paragraph; `style` is its class."""

    kind: ClassVar = "note"
    text: str
    style: str = "note"


@dataclass(frozen=True)
class Heading:
    """A heading inside the section; `level` is that of HTML, `id` is what links to it name."""

    kind: ClassVar = "heading"
    text: str
    level: int = 3
    id: str = ""


@dataclass(frozen=True)
class Sentences:
    """What there is to say, a sentence a line."""

    kind: ClassVar = "sentences"
    of: Sequence[str]
    style: str = "links"


@dataclass(frozen=True)
class Terms:
    """Sentences on each of several things, by its name."""

    kind: ClassVar = "terms"
    of: Sequence[tuple[str, Sequence[str]]]


class TableSection(NamedTuple):
    """Lines of a table that stand together; `above` says what they are."""

    lines: Sequence[Sequence[Cell]]
    above: str = ""
    style: str = ""


@dataclass(frozen=True)
class Table:
    """A table; `label` is what it is of, `style` its class; `marks` are classes of lines by place.

    `parts` stand below `lines`; `filter` asks for the text that lines are filtered by. A table of the
    style `sorted` is sorted by its heads.
    """

    kind: ClassVar = "table"
    label: str
    heads: Sequence[Cell]
    lines: Sequence[Sequence[Cell]]
    style: str = ""
    marks: Mapping[int, str] = field(default_factory=dict)
    parts: Sequence[TableSection] = ()
    filter: str = ""


@dataclass(frozen=True)
class Drawing:
    """Bars, dots or pictures: the macro of `templates/report_plots.html`, and what it shows."""

    kind: ClassVar = "drawing"
    name: str
    of: object


@dataclass(frozen=True)
class FigureRow:
    """Figures of `charts.py`: each with its caption, as an element of SVG.

    `style` is the class of figures that stand side by side, `axes` are the names of numbered axes.
    """

    kind: ClassVar = "figures"
    of: Sequence[tuple[str, Markup]]
    style: str = "figure"
    axes: Sequence[str] = ()


@dataclass(frozen=True)
class FoldedBlocks:
    """Blocks that are shown when the line above them is pointed at; `id` is what links to them name."""

    kind: ClassVar = "folded"
    summary: str
    blocks: Sequence["Block"]
    id: str = ""


@dataclass(frozen=True)
class Pane:
    """Blocks that stand together, in a frame of their own if `style` is not another class."""

    kind: ClassVar = "pane"
    blocks: Sequence["Block"]
    style: str = "pane"


@dataclass(frozen=True)
class Panes:
    """One of several panes, by title: they are chosen by `of`, such as the judge."""

    kind: ClassVar = "panes"
    name: str
    of: str
    panes: Sequence[tuple[str, Sequence["Block"]]]


Block = (
    Note | Heading | Sentences | Terms | Table | Drawing | FigureRow | FoldedBlocks | Pane | Panes
)


class Section(NamedTuple):
    """A section: its title in the contents, its heading, its blocks; without any it is not there.

    One with a `finding`, what it says in a line, is folded below it. One that is no data is shown by a
    `template` of its own, or is `html`.
    """

    id: str
    title: str
    heading: str = ""
    blocks: Sequence[Block] = ()
    style: str = ""
    template: str = ""
    html: str = ""
    finding: str = ""


def folded(blocks: Iterable[Block], finding: str) -> list[Block]:
    """Blocks that begin with a heading, folded below it and what they say in a line; none of none."""
    parts = list(blocks)
    if not parts:
        return []
    heading, *others = parts
    assert isinstance(heading, Heading)
    line = '<b>{title}</b><span class="preview">{finding}</span>'
    return [FoldedBlocks(markup(line, title=heading.text, finding=finding), others, heading.id)]


def note(name: str, /, style: str = "note", **values: object) -> Note:
    """A paragraph of `templates/report_sentences.html`, made of these values."""
    return Note(sentences(name, **values), style)


def markup(text: str, /, **values: object) -> Markup:
    """A text of ours, which is HTML, with values that are none in the place of its {names}."""
    return Markup(" ".join(text.split())).format(**values)


def count(n: int, noun: str) -> str:
    """How many of what."""
    return f"{n} {noun}{'' if n == 1 else 's'}"


def bold(shown: str) -> Markup:
    """A text in bold."""
    return markup("<b>{shown}</b>", shown=shown)


def heads(first: str, *others: str | Cell) -> list[Cell]:
    """The heads of a table of figures; the first one is that of what its lines are of."""
    return [Cell(first, kind="l who"), *(o if isinstance(o, Cell) else Cell(o) for o in others)]


def clamped(name: str) -> Cell:
    """The head of a column whose name may be too long."""
    return Cell(markup('<span class="clamp">{name}</span>', name=name), title=name)


def by_model(first: str, models: Iterable[CandidateLabel], *before: str) -> list[Cell]:
    """The heads of a table with a column for each model."""
    return heads(first, *before, *(clamped(candidate.label) for candidate in models))


def model(name: str, small: Sequence[str] = ()) -> Cell:
    """The model that a line is of."""
    return Cell(markup('<span class="model">{name}</span>', name=name), small, "who")


def who(label: CandidateLabel, small: Sequence[str] = ()) -> Cell:
    """The candidate that a line is of, with the remarks on it."""
    named = model(label.label, small)
    return (
        named._replace(text=named.text + Markup("<br>") + tags(label.tags)) if label.tags else named
    )


def tinted(estimate: ReportEstimate) -> Cell:
    """A score with its interval, the darker the higher."""
    return Cell(estimate.shown, [estimate.interval], "n tint", shade=estimate.shade)


def tags(remarks: Iterable[str]) -> Markup:
    """Short remarks."""
    return Markup("").join(markup('<span class="is-tag">{tag}</span>', tag=tag) for tag in remarks)


def keys(key_of: Mapping[str, str | None]) -> Markup:
    """The beginnings of keys of rows or calls, by what they are of; a dash for none."""
    shown = []
    for name, key in key_of.items():
        short = (
            markup('<code title="{key}">{short}</code>', key=key, short=key[:12]) if key else "–"
        )
        shown.append(markup('<span class="key">{name} {short}</span>', name=name, short=short))
    return Markup(" ").join(shown)
