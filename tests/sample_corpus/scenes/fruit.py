"""Fruit on a table: single pieces, groups and a filled bowl."""

from typing import Any

from tests.sample_corpus.canvas import (
    Canvas,
    Outline,
    Placing,
    box,
    darker,
    lighter,
    oval,
    placed,
    smooth,
)

APPLE = smooth(
    [
        (0, -0.78),
        (0.45, -0.92),
        (0.9, -0.5),
        (0.92, 0.1),
        (0.62, 0.78),
        (0.24, 0.95),
        (0, 0.86),
        (-0.24, 0.95),
        (-0.62, 0.78),
        (-0.92, 0.1),
        (-0.9, -0.5),
        (-0.45, -0.92),
    ]
)
PEAR = smooth(
    [
        (0, -1.2),
        (0.28, -1.05),
        (0.36, -0.6),
        (0.55, -0.15),
        (0.82, 0.35),
        (0.68, 0.82),
        (0.2, 1.0),
        (-0.2, 1.0),
        (-0.68, 0.82),
        (-0.82, 0.35),
        (-0.55, -0.15),
        (-0.36, -0.6),
        (-0.28, -1.05),
    ]
)
LEMON = smooth(
    [
        (-1.15, 0.02),
        (-0.9, -0.22),
        (-0.5, -0.6),
        (0.1, -0.7),
        (0.65, -0.5),
        (0.95, -0.18),
        (1.18, 0.0),
        (0.95, 0.22),
        (0.6, 0.55),
        (0, 0.7),
        (-0.6, 0.58),
        (-0.92, 0.22),
    ]
)
LEAF = smooth([(0, 0), (0.3, -0.3), (0.75, -0.35), (1.0, -0.15), (0.7, 0.1), (0.3, 0.14)])


def draw(
    canvas: Canvas, pieces: list[dict[str, Any]], wall: str, table: str, bowl: str | None = None
) -> None:
    """Draw the pieces in their order on the table, and a bowl in front of them if one is named."""
    width, height = canvas.width, canvas.height
    canvas.shade(box(0, 0, width, height), lighter(wall, 0.3), wall)
    canvas.shade(box(0, height * 0.68, width, height), lighter(table, 0.12), darker(table, 0.2))
    canvas.fill(box(0, height * 0.68, width, height * 0.68 + 3), lighter(table, 0.4))
    for piece in pieces:
        _piece(canvas, shadow=bowl is None, **piece)
    if bowl:
        _bowl(canvas, bowl)


def _bowl(canvas: Canvas, colour: str) -> None:
    scale, x, y = min(canvas.width, canvas.height), canvas.width / 2, canvas.height * 0.62
    foot = oval(x, y + 0.265 * scale, 0.3 * scale, 0.03 * scale)
    canvas.fill(foot, "#101838", 0.28)
    canvas.fill(placed(box(-0.13, 0.2, 0.13, 0.27), x, y, scale), darker(colour, 0.35))
    body = placed(
        [
            (-0.46, 0),
            (-0.4, 0.1),
            (-0.27, 0.2),
            (-0.1, 0.25),
            (0.1, 0.25),
            (0.27, 0.2),
            (0.4, 0.1),
            (0.46, 0),
        ],
        x,
        y,
        scale,
    )
    canvas.shade(body, lighter(colour, 0.35), colour, darker(colour, 0.4), across=True)
    with canvas.clip(body):
        stripe = placed(box(-0.5, 0.06, 0.5, 0.09), x, y, scale)
        canvas.fill(stripe, "#ffffff", 0.55)
    canvas.fill(placed(box(-0.475, -0.02, 0.475, 0.015), x, y, scale), lighter(colour, 0.45))


def _piece(
    canvas: Canvas,
    kind: str,
    x: float,
    y: float,
    size: float,
    colour: str,
    turn: float = 0.0,
    shadow: bool = True,
) -> None:
    """One piece of fruit; ``size`` is half its width as a share of the picture's shorter side."""
    scale = size * min(canvas.width, canvas.height)
    centre, middle = x * canvas.width, y * canvas.height

    def at(outline: Outline) -> Outline:
        return placed(outline, centre, middle, scale, turn)

    if shadow:
        depth = 1.12 if kind == "grapes" else 0.93
        cast = oval(centre + scale * 0.12, middle + scale * depth, scale, scale * 0.14)
        canvas.fill(cast, "#101838", 0.25)
    {
        "apple": _apple,
        "pear": _pear,
        "lemon": _lemon,
        "orange": _orange,
        "half": _half,
        "melon": _melon,
        "grapes": _grapes,
    }[kind](canvas, at, colour)


def _round(canvas: Canvas, at: Placing, outline: Outline, colour: str) -> None:
    """A body lit from the upper left: a gradient, a crescent of shade, a highlight."""
    body = at(outline)
    canvas.shade(body, lighter(colour, 0.12), darker(colour, 0.08))
    with canvas.clip(body):
        canvas.veil(at(oval(-0.28, -0.22, 1.12, 1.12)), darker(colour, 0.5), 0.45)
    canvas.fill(at(oval(-0.38, -0.36, 0.24, 0.13, -35)), "#ffffff", 0.55)


def _apple(canvas: Canvas, at: Placing, colour: str) -> None:
    _round(canvas, at, APPLE, colour)
    canvas.fill(at(oval(0, -0.74, 0.26, 0.09)), darker(colour, 0.4))
    canvas.stroke(at([(0, -0.7), (0.05, -0.95), (0.14, -1.15)]), "#5a3a22", 4)
    canvas.shade(at([(u + 0.1, v - 0.95) for u, v in LEAF]), "#7ccb52", "#3f8f3a")


def _pear(canvas: Canvas, at: Placing, colour: str) -> None:
    _round(canvas, at, PEAR, colour)
    canvas.stroke(at([(0, -1.15), (0.04, -1.35), (0.14, -1.48)]), "#5a3a22", 4)
    canvas.shade(at([(u + 0.06, v - 1.3) for u, v in LEAF]), "#7ccb52", "#3f8f3a")


def _lemon(canvas: Canvas, at: Placing, colour: str) -> None:
    _round(canvas, at, LEMON, colour)


def _orange(canvas: Canvas, at: Placing, colour: str) -> None:
    _round(canvas, at, oval(0, 0, 0.95, 0.95), colour)
    canvas.fill(at(oval(0.1, -0.72, 0.09, 0.05)), "#4f7a35")


def _half(canvas: Canvas, at: Placing, colour: str) -> None:
    """A citrus fruit cut across, its segments towards the viewer."""
    canvas.fill(at(oval(0, 0, 0.95, 0.95)), darker(colour, 0.08))
    canvas.fill(at(oval(0, 0, 0.86, 0.86)), "#fff3d6")
    for index in range(10):
        wedge = smooth([(0.12, 0), (0.6, -0.2), (0.79, -0.14), (0.79, 0.14), (0.6, 0.2)])
        canvas.fill(at(placed(wedge, 0, 0, 1, 36 * index)), colour)


def _melon(canvas: Canvas, at: Placing, colour: str) -> None:
    """A half-round slice: rind, pith, flesh and seeds."""
    for radius, tint in ((1.0, "#2f7d3b"), (0.93, "#8fd06a"), (0.86, "#f7f3d0"), (0.8, colour)):
        slice_ = [(u, v) for u, v in oval(0, -0.1, radius, radius) if v >= -0.1]
        canvas.fill(at(slice_), tint)
    for u, v in (
        (-0.5, 0.06),
        (-0.25, 0.1),
        (0, 0.06),
        (0.25, 0.1),
        (0.5, 0.06),
        (-0.34, 0.32),
        (0, 0.32),
        (0.34, 0.32),
        (-0.15, 0.5),
        (0.15, 0.5),
    ):
        canvas.fill(at(oval(u, v, 0.035, 0.06)), "#2b1c22")


def _grapes(canvas: Canvas, at: Placing, colour: str) -> None:
    """A hanging bunch, wide at the top."""
    canvas.stroke(at([(0, -0.7), (0.03, -1.1)]), "#6b4a2a", 5)
    canvas.shade(at([(u * 1.1, v * 1.3 - 0.75) for u, v in LEAF]), "#7ccb52", "#3f8f3a")
    for row, count in enumerate((4, 5, 4, 3, 2, 1)):
        for column in range(count):
            u, v = (column - (count - 1) / 2) * 0.4, -0.6 + row * 0.31
            tint = colour if (row + column) % 2 else lighter(colour, 0.1)
            canvas.fill(at(oval(u, v, 0.235, 0.235)), darker(tint, 0.45))
            canvas.fill(at(oval(u - 0.02, v - 0.02, 0.205, 0.205)), tint)
            canvas.fill(at(oval(u - 0.08, v - 0.09, 0.06, 0.045, -35)), "#ffffff", 0.6)
