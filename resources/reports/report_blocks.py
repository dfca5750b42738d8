"""The blocks of a report's section as data: notes, tables, sentences, panes.

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
    """A heading within a section; `level` is that of HTML, `id` the link target."""

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


@dataclass(frozen=True)
class Terms:
    """Sentences on each of several things, by its name."""

    kind: ClassVar = "terms"
    entries: Sequence[tuple[str, Sequence[str]]]


class TableSection(NamedTuple):
    """Lines of a table that stand together; `above` says what they are."""

    lines: Sequence[Sequence[Cell]]
    above: str = ""
    style: str = ""


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        label: The caption for screen readers.
        style: The CSS class. A table of the style `sorted` can be sorted by its heads.
        marks: CSS classes of lines by index.
        parts: Blocks below `lines`.
        filter: The label of the input that filters lines.
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
    """Bars, dots or images: a macro of `templates/report_plots.html` and its data."""

    kind: ClassVar = "drawing"
    name: str
    data: object


@dataclass(frozen=True)
class FigureRow:
    """Figures of `charts.py`: each with its caption, as an element of SVG.

    `style` is the class of figures that stand side by side, `axes` are the names of numbered axes.
    """

    kind: ClassVar = "figures"
    figures: Sequence[tuple[str, Markup]]
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
    """Blocks in a frame; `style` is another CSS class."""

    kind: ClassVar = "pane"
    blocks: Sequence["Block"]
    style: str = "pane"


@dataclass(frozen=True)
class Panes:
    """One of several panes, by title: they are chosen by `chosen_by`, such as the judge."""

    kind: ClassVar = "panes"
    name: str
    chosen_by: str
    panes: Sequence[tuple[str, Sequence["Block"]]]


Block = (
    Note | Heading | Sentences | Terms | Table | Drawing | FigureRow | FoldedBlocks | Pane | Panes
)


class Section(NamedTuple):
    """A section: its title in the contents, its heading and its blocks. Without blocks it is left out.

    A section with a `finding`, its result in one line, is folded below it. A section without blocks as
    data has its own `template` or `html`.
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

    Returns:
        The blocks.
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

    Returns:
        The note.
    """
    return Note(sentences(name, **values), style)


def markup(text: str, /, **values: object) -> Markup:
    """Format HTML with escaped values in the place of its {names}.

    Args:
        text: The HTML.
        **values: The values.

    Returns:
        The markup.
    """
    return Markup(" ".join(text.split())).format(**values)


def count(n: int, noun: str) -> str:
    """Format a number with its noun.

    Args:
        n: The number.
        noun: The noun in the singular.

    Returns:
        The text.
    """
    return f"{n} {noun}{'' if n == 1 else 's'}"


def bold(shown: str) -> Markup:
    """A text in bold."""
    return markup("<b>{shown}</b>", shown=shown)


def heads(first: str, *others: str | Cell) -> list[Cell]:
    """Make the heads of a table of numbers; the first one is that of the line labels.

    Args:
        first: The first head.
        *others: The other heads.

    Returns:
        The cells.
    """
    return [Cell(first, kind="l who"), *(o if isinstance(o, Cell) else Cell(o) for o in others)]


def clamped(name: str) -> Cell:
    """The head of a column whose name may be too long."""
    return Cell(markup('<span class="clamp">{name}</span>', name=name), title=name)


def by_model(first: str, models: Iterable[CandidateLabel], *before: str) -> list[Cell]:
    """Make the heads of a table with a column per model.

    Args:
        first: The first head.
        models: The models.
        *before: Heads before the models.

    Returns:
        The cells.
    """
    return heads(first, *before, *(clamped(candidate.label) for candidate in models))


def model(name: str, small: Sequence[str] = ()) -> Cell:
    """Make the line label of a model.

    Args:
        name: The name.
        small: Small remarks.

    Returns:
        The cell.
    """
    return Cell(markup('<span class="model">{name}</span>', name=name), small, "who")


def who(label: CandidateLabel, small: Sequence[str] = ()) -> Cell:
    """Make the line label of a candidate with its remarks.

    Args:
        label: The candidate.
        small: Further remarks.

    Returns:
        The cell.
    """
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
