"""The building blocks of report sections as data classes: notes, tables, sentences, panes.

`templates/report_blocks.html` renders all blocks.
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

    `kind` is its CSS class: `n` for a number, `l` for a text, `who` for the label of the line. `title`
    is the tooltip, `shade` the tint, 0 to 1. `sort` is the sort key if it differs from the text.
    """

    text: str
    small: Sequence[str] = ()
    kind: str = "n"
    title: str = ""
    shade: float | None = None
    sort: float | str | None = None


@dataclass(frozen=True)
class Note:
    """A paragraph; `style` is its CSS class."""

    kind: ClassVar = "note"
    text: str
    style: str = "note"


@dataclass(frozen=True)
class Heading:
    """A heading within a section; `level` 3 is `<h3>`, `id` is the link target."""

    kind: ClassVar = "heading"
    text: str
    level: int = 3
    id: str = ""


@dataclass(frozen=True)
class Sentences:
    """A list of sentences, one per line."""

    kind: ClassVar = "sentences"
    lines: Sequence[str]
    style: str = "links"


class TableSection(NamedTuple):
    """A group of lines of a table; `above` is its heading."""

    lines: Sequence[Sequence[Cell]]
    above: str = ""
    style: str = ""


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        label: The caption for screen readers.
        style: The CSS class. With `sorted`, users can sort the table by its heads.
        marks: The CSS class of lines, by index of the line.
        parts: Groups of lines below `lines`.
        filter: The label of the field that filters lines; empty for no filter.
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
    """Bars, dots or images: the name of a macro in `templates/report_plots.html`, and its data."""

    kind: ClassVar = "drawing"
    name: str
    data: object


@dataclass(frozen=True)
class FigureRow:
    """A row of figures as (caption, SVG element).

    `style` is the CSS class of the row, `axes` are the names of numbered axes.
    """

    kind: ClassVar = "figures"
    figures: Sequence[tuple[str, Markup]]
    style: str = "figure"
    axes: Sequence[str] = ()


@dataclass(frozen=True)
class FoldedBlocks:
    """Blocks that unfold below the line `summary`; `id` is the link target."""

    kind: ClassVar = "folded"
    summary: str
    blocks: Sequence["Block"]
    id: str = ""


@dataclass(frozen=True)
class Pane:
    """Blocks in a frame; `style` is the CSS class."""

    kind: ClassVar = "pane"
    blocks: Sequence["Block"]
    style: str = "pane"


@dataclass(frozen=True)
class Panes:
    """Panes as (title, blocks), of which the page shows one; `chosen_by` labels the choice (Judge)."""

    kind: ClassVar = "panes"
    name: str
    chosen_by: str
    panes: Sequence[tuple[str, Sequence["Block"]]]


Block = Note | Heading | Sentences | Table | Drawing | FigureRow | FoldedBlocks | Pane | Panes


class Section(NamedTuple):
    """A section of the report: its title in the contents, its heading and its blocks.

    A section with a `finding` (its result in one line) is folded below this line. `template` or `html`
    replace `blocks`; a section with none of the three is left out.
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
    """Fold blocks below their heading and a one-line result; empty without blocks.

    Args:
        blocks: The blocks; the first one is a heading.
        finding: The result in one line.
    """
    parts = list(blocks)
    if not parts:
        return []
    heading, *others = parts
    assert isinstance(heading, Heading)
    line = '<b>{title}</b><span class="preview">{finding}</span>'
    return [FoldedBlocks(markup(line, title=heading.text, finding=finding), others, heading.id)]


def note(name: str, /, style: str = "note", **values: object) -> Note:
    """Make a paragraph of `templates/report_sentences.html`.

    Args:
        name: The name of the template block.
        style: The CSS class.
        **values: The values of the template.
    """
    return Note(sentences(name, **values), style)


def markup(text: str, /, **values: object) -> Markup:
    """Format HTML: replace each {name} by its escaped value.

    Args:
        text: The HTML.
        **values: The values.
    """
    return Markup(" ".join(text.split())).format(**values)


def bold(shown: str) -> Markup:
    """Format a text in bold."""
    return markup("<b>{shown}</b>", shown=shown)


def heads(first: str, *others: str | Cell) -> list[Cell]:
    """Make the heads of a table of numbers; the first head is for the line labels.

    Args:
        first: The first head.
        *others: The other heads.
    """
    return [Cell(first, kind="l who"), *(o if isinstance(o, Cell) else Cell(o) for o in others)]


def clamped(name: str) -> Cell:
    """Make the head of a column; a name that is too long is cut, with the whole name as tooltip."""
    return Cell(markup('<span class="clamp">{name}</span>', name=name), title=name)


def by_model(first: str, models: Iterable[CandidateLabel], *before: str) -> list[Cell]:
    """Make the heads of a table with a column per model.

    Args:
        first: The first head.
        models: The models.
        *before: Heads before the models.
    """
    return heads(first, *before, *(clamped(candidate.label) for candidate in models))


def model(name: str, small: Sequence[str] = ()) -> Cell:
    """Make the line label of a model.

    Args:
        name: The name.
        small: Remarks in small type below the name.
    """
    return Cell(markup('<span class="model">{name}</span>', name=name), small, "who")


def who(label: CandidateLabel, small: Sequence[str] = ()) -> Cell:
    """Make the line label of a candidate with its remarks.

    Args:
        label: The candidate.
        small: Further remarks in small type.
    """
    named = model(label.label, small)
    return (
        named._replace(text=named.text + Markup("<br>") + tags(label.tags)) if label.tags else named
    )


def tinted(estimate: ReportEstimate) -> Cell:
    """Make the cell of a score with its interval; a higher score has a darker tint."""
    return Cell(estimate.shown, [estimate.interval], "n tint", shade=estimate.shade)


def tags(remarks: Iterable[str]) -> Markup:
    """Format short remarks as tags."""
    return Markup("").join(markup('<span class="is-tag">{tag}</span>', tag=tag) for tag in remarks)


def keys(key_of: Mapping[str, str | None]) -> Markup:
    """Format keys of rows or calls by name: the first 12 characters; a dash without a key."""
    shown = []
    for name, key in key_of.items():
        short = (
            markup('<code title="{key}">{short}</code>', key=key, short=key[:12]) if key else "–"
        )
        shown.append(markup('<span class="key">{name} {short}</span>', name=name, short=short))
    return Markup(" ").join(shown)
