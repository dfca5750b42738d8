"""Butterflies seen from above with spread wings, on a leaf, on flowers or on plain colour."""

import math
from typing import Any

from tests.sample_corpus.backdrop import sky
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
    spread,
)

# Right-hand wings with the body along the vertical axis, in units of the wing span's half.
WINGS = {
    "round": (
        [(0.04, -0.1), (0.3, -0.55), (0.75, -0.8), (0.98, -0.6), (0.9, -0.2), (0.55, 0.05)],
        [(0.04, 0.0), (0.45, 0.0), (0.78, 0.2), (0.72, 0.55), (0.4, 0.68), (0.15, 0.4)],
    ),
    "swallowtail": (
        [(0.04, -0.1), (0.25, -0.6), (0.8, -0.9), (1.0, -0.78), (0.82, -0.3), (0.5, 0.02)],
        [
            (0.04, 0.0),
            (0.5, 0.0),
            (0.7, 0.25),
            (0.58, 0.5),
            (0.56, 0.95),
            (0.45, 0.96),
            (0.42, 0.58),
            (0.15, 0.4),
        ],
    ),
    "angular": (
        [
            (0.04, -0.1),
            (0.35, -0.5),
            (0.9, -0.72),
            (0.86, -0.52),
            (1.0, -0.3),
            (0.8, -0.18),
            (0.55, 0.05),
        ],
        [
            (0.04, 0.0),
            (0.5, 0.02),
            (0.85, 0.12),
            (0.76, 0.34),
            (0.8, 0.55),
            (0.5, 0.58),
            (0.3, 0.72),
            (0.14, 0.4),
        ],
    ),
}


def draw(canvas: Canvas, butterflies: list[dict[str, Any]], ground: str, tint: str) -> None:
    """Draw the butterflies over a ground of the tint."""
    _ground(canvas, ground, tint)
    for butterfly in butterflies:
        _butterfly(canvas, **butterfly)


def _ground(canvas: Canvas, kind: str, tint: str) -> None:
    width, height = canvas.width, canvas.height
    if kind == "night":
        sky(canvas, "night", (0.82, 0.18))
    else:
        canvas.shade(box(0, 0, width, height), lighter(tint, 0.35), darker(tint, 0.12))
    if kind == "leaf":
        leaf = smooth(
            placed(
                [(-1.05, 0.12), (-0.5, -0.45), (0.3, -0.5), (1.1, -0.1), (0.4, 0.42), (-0.4, 0.5)],
                width / 2,
                height * 0.55,
                width * 0.5,
                -14,
            )
        )
        canvas.shade(leaf, "#63b75a", "#2d7a3e")
        with canvas.clip(leaf):
            rib = placed([(-1.05, 0.12), (1.1, -0.1)], width / 2, height * 0.55, width * 0.5, -14)
            canvas.stroke(rib, "#a5d98a", 3, 0.8)
    elif kind == "flowers":
        for x, y, size in (
            (0.12, 0.82, 0.13),
            (0.86, 0.76, 0.15),
            (0.55, 0.95, 0.12),
            (0.1, 0.2, 0.09),
            (0.9, 0.16, 0.1),
        ):
            _flower(canvas, x * width, y * height, size * min(width, height))
    elif kind == "dots":
        for u, v in spread(canvas.chance, 22):
            radius = canvas.chance.uniform(0.03, 0.1) * width
            dot = oval(width * (0.5 + 0.65 * u), height * (0.5 + 0.65 * v), radius, radius)
            canvas.fill(dot, "#ffffff", 0.16)
    elif kind == "night":
        for step in range(13):
            x = (step + canvas.chance.uniform(-0.3, 0.3)) * width / 12
            top = (x + canvas.chance.uniform(-16, 16), height * canvas.chance.uniform(0.8, 0.9))
            canvas.stroke([(x, height), top], "#0a1a2c", 4)
            canvas.fill(oval(*top, 5, 11), "#0a1a2c")


def _flower(canvas: Canvas, x: float, y: float, size: float) -> None:
    canvas.stroke([(x, y), (x + size * 0.2, y + size * 2.5)], "#4d8a4a", size * 0.14)
    for petal in range(6):
        angle = petal * math.tau / 6 + 0.3
        centre = (x + size * 0.62 * math.cos(angle), y + size * 0.62 * math.sin(angle))
        canvas.fill(oval(*centre, size * 0.5, size * 0.32, math.degrees(angle)), "#fff8f2")
    canvas.fill(oval(x, y, size * 0.34, size * 0.34), "#f6b73c")


def _butterfly(
    canvas: Canvas,
    x: float,
    y: float,
    size: float,
    wing: str,
    edge: str,
    spot: str,
    shape: str = "round",
    turn: float = 0.0,
) -> None:
    """One butterfly; ``size`` is half its span as a share of the picture's shorter side."""
    centre, middle = x * canvas.width, y * canvas.height
    scale = size * min(canvas.width, canvas.height)

    def at(outline: Outline) -> Outline:
        return placed(outline, centre, middle, scale, turn)

    fore, hind = WINGS[shape]
    for side in (1, -1):
        shadow = smooth([(side * u + 0.05, v + 0.09) for u, v in (*fore[1:], *hind[2:])])
        canvas.fill(at(shadow), "#101838", 0.16)
    for side in (1, -1):
        for knots, colour in ((hind, darker(wing, 0.12)), (fore, wing)):
            _wing(canvas, at, [(side * u, v) for u, v in knots], colour, edge, spot)
    for side in (1, -1):
        feeler = [(0.01 * side, -0.25), (0.09 * side, -0.45), (0.2 * side, -0.58)]
        canvas.stroke(at(feeler), darker(edge, 0.5), scale * 0.02)
        canvas.fill(at(oval(0.2 * side, -0.58, 0.025, 0.025)), darker(edge, 0.5))
    canvas.fill(at(oval(0, 0.08, 0.055, 0.4)), darker(edge, 0.5))
    canvas.fill(at(oval(0, -0.27, 0.062, 0.07)), darker(edge, 0.5))
    for ring in (0.05, 0.15, 0.25):
        canvas.stroke(at([(-0.045, ring), (0.045, ring)]), lighter(edge, 0.3), scale * 0.014)


def _wing(canvas: Canvas, at: Placing, knots: Outline, colour: str, edge: str, spot: str) -> None:
    """One wing: an edge, a field inside it, veins from the root and spots along the rim."""
    middle = (sum(u for u, _ in knots) / len(knots), sum(v for _, v in knots) / len(knots))
    outline = smooth(knots)
    canvas.fill(at(outline), edge)
    canvas.shade(at(_towards(outline, middle, 0.16)), lighter(colour, 0.18), colour)
    root = knots[0]
    for knot in knots[2:-1]:
        canvas.stroke(at([root, *_towards([knot], middle, 0.1)]), edge, 1.5, 0.65)
    for knot in knots[2:-1]:
        ((u, v),) = _towards([knot], middle, 0.1)
        canvas.fill(at(oval(u, v, 0.042, 0.042)), spot)
    u, v = _towards([middle], root, -0.15)[0]
    canvas.fill(at(oval(u, v, 0.105, 0.105)), edge)
    canvas.fill(at(oval(u, v, 0.07, 0.07)), spot)


def _towards(points: Outline, goal: tuple[float, float], share: float) -> Outline:
    return [(u + (goal[0] - u) * share, v + (goal[1] - v) * share) for u, v in points]
