"""What all static pictures have in common; matplotlib draws them, without its global state.

What belongs here: colours, sizes, the look of axes, fonts, and the files (PNG for Dagster's UI, SVG
for papers). What a picture shows is in the module of that picture. The same figure gives the same
bytes.
"""

import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from PIL import Image

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
"""As many colours as can be told apart."""
DPI = 110
TEXT, TITLE = 8.5, 10.0
"""Points."""
PRINT_DPI = 300
PRINT_TEXT, PRINT_SMALL = 7.5, 6.5
"""Points, in a picture that a paper shows at its own width."""
PRINT_FONT = "STIXGeneral"
"""Times, as most journals set their texts; it comes with matplotlib."""
OWN_FONT = "DejaVu Sans"
"""Comes with matplotlib; it knows Latin, Greek, Cyrillic and some more, but no Chinese."""
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
"""What systems have for Chinese, Japanese and Korean; they know Latin, too."""


def new_figure(width: float, height: float, dpi: int = DPI) -> "Figure":
    """An empty figure of so many inches, whose parts make room for each other."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), dpi=dpi, layout="constrained")


@contextmanager
def in_print() -> Iterator[None]:
    """Texts of what is drawn meanwhile are in fonts of print, each sign in the first that has it."""
    from matplotlib import rc_context

    families = [family for family, _ in _print_fonts()]
    with rc_context({"font.family": families, "font.size": PRINT_TEXT}):
        yield


def printable(text: str) -> str:
    """`text` with a question mark for each character that no font of print has a sign for."""
    return "".join(
        character if any(can_draw(path, character) for _, path in _print_fonts()) else "?"
        for character in text
    )


def set_title(axes: Any, title: str) -> None:
    """A title above the left end of the axes."""
    axes.set_title(title, loc="left", color=INK, fontsize=TITLE)


def style_axes(axes: Any, grid: str, size: float = TEXT) -> None:
    """Axes with lines across `grid` ("x", "y", "both") and no frame but the line at the bottom."""
    axes.tick_params(colors=SOFT, length=0, labelsize=size)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(RULE)
    axes.grid(axis=grid, color=RULE, linewidth=0.6)
    axes.set_axisbelow(True)
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set(color=SOFT, fontsize=size)


def png(figure: "Figure") -> bytes:
    """The figure as PNG of at most 256 colours."""
    buffer = io.BytesIO()
    _without_formulas(figure).savefig(buffer, format="png")
    # A palette is a third of the size, and pictures stand in Dagster's event log.
    small = io.BytesIO()
    Image.open(buffer).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(
        small, "PNG", optimize=True
    )
    return small.getvalue()


def svg(figure: "Figure") -> bytes:
    """The figure as SVG; texts are paths, so that it looks the same everywhere."""
    from matplotlib import rc_context

    buffer = io.BytesIO()
    with rc_context({"svg.hashsalt": "vlm-loom"}):
        _without_formulas(figure).savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()


def cut(name: str, most: int) -> str:
    """`name`, of at most so many characters."""
    return name if len(name) <= most else f"{name[: most - 1]}…"


def _without_formulas(figure: "Figure") -> "Figure":
    """Names come from outside: a dollar sign in one is no formula."""
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        text.set_parse_math(False)
    return figure


def font_for(texts: Iterable[str]) -> str:
    """Path of the font that can draw most of `texts`; among equals, matplotlib's own."""
    texts = list(texts)
    return max(_fonts(), key=lambda path: sum(can_draw(path, text) for text in texts))


def can_draw(path: str, text: str) -> bool:
    """Whether the font has a sign for every character of `text` that is not blank."""
    return all(character.isspace() or ord(character) in _signs(path) for character in text)


def drawable(path: str, text: str) -> str:
    """`text` with a question mark for each character that the font has no sign for."""
    return "".join(character if can_draw(path, character) else "?" for character in text)


def _fonts() -> tuple[str, ...]:
    return tuple(path for _, path in _installed(OWN_FONT, *EAST_ASIAN_FONTS))


def _print_fonts() -> tuple[tuple[str, str], ...]:
    return _installed(PRINT_FONT, OWN_FONT, *EAST_ASIAN_FONTS)


@cache
def _installed(*families: str) -> tuple[tuple[str, str], ...]:
    """Those of these families that are here, each with the path of its font."""
    from matplotlib.font_manager import FontProperties, fontManager

    fonts = []
    for family in families:
        try:
            found = fontManager.findfont(FontProperties(family=family), fallback_to_default=False)
        except ValueError:
            continue
        fonts.append((family, found))
    return tuple(fonts)


@cache
def _signs(path: str) -> frozenset[int]:
    from matplotlib.ft2font import FT2Font

    return frozenset(FT2Font(path).get_charmap())
