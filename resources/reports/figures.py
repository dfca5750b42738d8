"""The common style of matplotlib figures (colours, fonts), and their export as PNG, SVG and PDF.

`charts.py`, `item_charts.py` and `cluster_page.py` draw the figures. The same figure gives the same
bytes in every format.
"""

import hashlib
import io
import json
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, Literal
from xml.etree import ElementTree

from markupsafe import Markup
from PIL import Image

from methods.json_text import from_json

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK, SOFT, RULE = "#1a2127", "#56616b", "#dcdfe2"
PALETTE = (
    "#1d5b8c",
    "#d1603d",
    "#3d8b56",
    "#8a5aa8",
    "#c79a17",
    "#1f9aa0",
    "#b23a6b",
    "#6b7a1f",
    "#6a7be0",
    "#8f5b34",
    "#e08fb0",
    "#35b37e",
)
"""Colours of models and groups; chosen by hand so that all of them can be told apart."""
OTHER = "#8b959e"
"""The colour of models and groups beyond the palette."""
BAD = "#a3262a"
NO_GROUP = "#b9c0c7"
"""The colour of entries in no group."""
PAGE_COLOURS = {
    INK: "var(--ink)",
    SOFT: "var(--soft)",
    RULE: "var(--rule)",
    OTHER: "var(--other)",
    BAD: "var(--bad)",
    "#000000": "var(--ink)",
    "#ffffff": "var(--paper)",
    PALETTE[0]: "var(--mark)",
    PALETTE[1]: "rgb(var(--worse))",
}
"""Colours that a page replaces with variables of its stylesheet, for the dark mode."""
COLUMN = 3.35
"""Width in inches of a column of a paper; a phone shows a figure of this width unscaled."""
DPI = 110
TEXT = 8.5
"""Font size in points."""
PRINT_DPI = 300
PRINT_TEXT, PRINT_SMALL = 7.5, 6.5
"""Font sizes in points of a figure that a paper prints unscaled."""
PRINT_FONT = "STIXGeneral"
"""A Times-like font, which most journals use; it comes with matplotlib."""
OWN_FONT = "DejaVu Sans"
"""It comes with matplotlib; it has Latin, Greek, Cyrillic and other letters, but no Chinese."""
EAST_ASIAN_FONTS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Serif CJK SC",
    "Noto Serif CJK JP",
    "Source Han Sans SC",
    "WenQuanYi Zen Hei",
    "WenQuanYi Micro Hei",
    "PingFang SC",
    "Hiragino Sans GB",
    "Microsoft YaHei",
)
"""Usual system fonts for Chinese, Japanese and Korean; they have Latin letters, too."""


def new_figure(width: float, height: float, dpi: int = DPI) -> "Figure":
    """Make an empty figure with automatic layout.

    Args:
        width: The width in inches.
        height: The height in inches.
        dpi: The resolution.
    """
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), dpi=dpi, layout="constrained")


@contextmanager
def in_print() -> Iterator[None]:
    """Draw texts in print fonts within the context, each character in the first font that has it."""
    from matplotlib import rc_context

    families = [family for family, _ in _print_fonts()]
    with rc_context({"font.family": families, "font.size": PRINT_TEXT}):
        yield


def printable(text: str) -> str:
    """Replace each character that no print font can draw by a question mark."""
    fonts = [_characters_of(path) for _, path in _print_fonts()]
    return "".join(
        character
        if character.isspace() or any(ord(character) in characters for characters in fonts)
        else "?"
        for character in text
    )


def style_axes(axes: Any, grid: str, size: float = TEXT) -> None:
    """Style axes with grid lines and only a bottom spine.

    Args:
        axes: The axes.
        grid: The axes with grid lines: "x", "y" or "both".
        size: The font size.
    """
    axes.tick_params(colors=SOFT, length=0, labelsize=size)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(RULE)
    axes.grid(axis=grid, color=RULE, linewidth=0.6)
    axes.set_axisbelow(True)
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set(color=SOFT, fontsize=size)


def page_colour(colour: str) -> str:
    """Return the colour for a page: a variable of the stylesheet if `PAGE_COLOURS` has one."""
    return PAGE_COLOURS.get(colour, colour)


def label_marks(artist: Any, values: Iterable[str | int], name: str = "title") -> None:
    """Set the tooltip, or else an attribute, of each mark of an artist.

    Args:
        artist: The artist.
        values: The texts, or the values of the attribute.
        name: `title` for tooltips, or the name of the attribute.
    """
    artist.set_gid(json.dumps([name, *values]))


def png(figure: "Figure") -> bytes:
    """Export the figure as PNG with at most 256 colours."""
    # Dagster's event log stores the images; a palette makes them a third of the size.
    small = io.BytesIO()
    Image.open(_saved(figure, "png")).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(
        small, "PNG", optimize=True
    )
    return small.getvalue()


def svg(figure: "Figure") -> bytes:
    """Export the figure as SVG; texts are paths, so that it looks the same everywhere."""
    return _well_formed(_saved(figure, "svg", metadata={"Date": None}))


def pdf(figure: "Figure") -> bytes:
    """Export the figure as PDF; texts stay texts, with embedded fonts."""
    return _saved(figure, "pdf", metadata={"CreationDate": None}).getvalue()


def inline_svg(figure: "Figure", label: str) -> Markup:
    """Return the figure as an SVG element of a page.

    It uses the colours of the page, in light and dark mode, and its font.

    Args:
        figure: The figure, drawn at the width that it has on a phone.
        label: The text alternative for screen readers.

    Returns:
        The element. Its ids come from its content, so two figures do not share an id.
    """
    with warnings.catch_warnings():
        # A browser has fonts for characters that the fonts of this machine lack.
        warnings.filterwarnings("ignore", "Glyph .* missing")
        file = _saved(figure, "svg", "none", transparent=True, metadata={"Date": None})
    data = _well_formed(file)
    root = ElementTree.fromstring(data)
    width, _ = figure.get_size_inches()
    root.attrib = {
        "viewBox": root.attrib["viewBox"],
        "role": "img",
        "aria-label": label,
        # CSS has 96 pixels per inch. On wide screens the figure grows up to 1.3 times.
        "style": f"max-width:{round(1.3 * 96 * width)}px",
    }
    for name in ("metadata", "defs"):
        root.remove(next(root.iterfind(f"{_SVG}{name}")))
    for group in root.iter(f"{_SVG}g"):
        name = group.attrib.pop("id", "")
        if name.startswith("["):
            _describe_marks(group, from_json(name))
    of_figure = f"f{hashlib.sha256(data + label.encode()).hexdigest()[:10]}"
    for element in root.iter():
        _adapt(element, of_figure)
    return Markup(ElementTree.tostring(root, encoding="unicode"))


_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_NOT_IN_XML = re.compile(r"[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters with which an SVG file could not be read, such as those that control a terminal."""


def _adapt(element: ElementTree.Element, of_figure: str) -> None:
    """Adapt an element of the SVG file to a page: remove namespaces, use the page's colours."""
    element.tag = element.tag.removeprefix(_SVG)
    attributes = element.attrib
    if _HREF in attributes:
        attributes["href"] = attributes.pop(_HREF).replace("#", f"#{of_figure}")
    if "clip-path" in attributes:
        attributes["clip-path"] = attributes["clip-path"].replace("#", f"#{of_figure}")
    if "id" in attributes:
        attributes["id"] = f"{of_figure}{attributes['id']}"
    if "d" in attributes:
        attributes["d"] = " ".join(attributes["d"].split())
    if "style" in attributes:
        style = re.sub("font-family: [^;]+(; )?", "", attributes["style"])
        attributes["style"] = re.sub("#[0-9a-f]{6}", lambda colour: page_colour(colour[0]), style)
    # Nothing but whitespace stands between elements.
    element.tail = None
    if element.tag not in ("text", "title"):
        element.text = None


def _describe_marks(group: ElementTree.Element, described: Sequence[Any]) -> None:
    """Put a title or an attribute on each mark of a group."""
    name, *values = described
    in_definitions = {path for defs in group.iter(f"{_SVG}defs") for path in defs}
    marks = list(group.iter(f"{_SVG}use")) or [
        path for path in group.iter(f"{_SVG}path") if path not in in_definitions
    ]
    for mark, value in zip(marks, values, strict=True):
        if name == "title":
            ElementTree.SubElement(mark, f"{_SVG}title").text = value
        else:
            mark.set(name, str(value))


def _saved(
    figure: "Figure", form: str, svg_texts: Literal["path", "none"] = "path", **options: Any
) -> io.BytesIO:
    """Render a figure to a file in memory; texts of an SVG become paths, or stay texts ("none")."""
    from matplotlib import rc_context

    buffer = io.BytesIO()
    with rc_context({"svg.hashsalt": "vlm-loom", "svg.fonttype": svg_texts}):
        _without_formulas(figure).savefig(buffer, format=form, **options)
    buffer.seek(0)
    return buffer


def _well_formed(svg: io.BytesIO) -> bytes:
    """Replace the characters of names that XML cannot hold, which matplotlib writes as they are."""
    return _NOT_IN_XML.sub("\ufffd", svg.getvalue().decode()).encode()


def cut(name: str, most: int) -> str:
    """Shorten a name.

    Args:
        name: The name.
        most: The maximum number of characters.
    """
    return name if len(name) <= most else f"{name[: most - 1]}…"


def _without_formulas(figure: "Figure") -> "Figure":
    """Turn off formulas, since names come from outside and may have dollar signs."""
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        text.set_parse_math(False)
    return figure


def _print_fonts() -> tuple[tuple[str, str], ...]:
    return _installed(PRINT_FONT, OWN_FONT, *EAST_ASIAN_FONTS)


@cache
def _installed(*families: str) -> tuple[tuple[str, str], ...]:
    """Return the installed ones of these font families, each with the path of its font."""
    from matplotlib.font_manager import FontProperties, fontManager

    fonts = []
    for family in families:
        try:
            font_path = fontManager.findfont(
                FontProperties(family=family), fallback_to_default=False
            )
        except ValueError:
            continue
        fonts.append((family, font_path))
    return tuple(fonts)


@cache
def _characters_of(path: str) -> frozenset[int]:
    from matplotlib.ft2font import FT2Font

    return frozenset(FT2Font(path).get_charmap())
