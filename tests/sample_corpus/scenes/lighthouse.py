"""Lighthouses: one or two towers on a rock, a headland, a beach or a pier."""

from typing import Any

from tests.sample_corpus.backdrop import clouds, glints, sea, sky
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

WATER = {
    "noon": ("#57b3dc", "#1c6fa8"),
    "dawn": ("#d9a9b8", "#5b6aa5"),
    "dusk": ("#d9706f", "#35295f"),
    "gold": ("#e8a95c", "#8a5a53"),
    "night": ("#1f3a70", "#070f2b"),
    "overcast": ("#9fb0b8", "#5d7480"),
    "teal": ("#5aa9a2", "#0f4455"),
}


def draw(
    canvas: Canvas,
    towers: list[dict[str, Any]],
    sky_kind: str,
    ground: str,
    disc: tuple[float, float] | None = None,
    horizon: float = 0.68,
) -> None:
    """Draw the towers on their ground in front of the sea."""
    line = canvas.height * horizon
    sky(canvas, sky_kind, disc)
    clouds(canvas, sky_kind)
    top, bottom = WATER[sky_kind]
    sea(canvas, line, top, bottom)
    if disc:
        canvas.reflect(line, 0.4)
    glints(canvas, line, "#ffffff" if sky_kind != "night" else "#9fb6e6")
    for tower in towers:
        _ground(canvas, tower["x"] * canvas.width, line, ground)
    for tower in towers:
        _tower(canvas, line=line, **tower)


def _ground(canvas: Canvas, x: float, line: float, kind: str) -> None:
    """The land under one tower; its top lies a little above the horizon at ``x``."""
    width, height = canvas.width, canvas.height
    if kind == "rock":
        for knots, colour in (
            (
                [
                    (-0.36, 0.4),
                    (-0.3, 0.1),
                    (-0.2, 0.02),
                    (-0.1, -0.06),
                    (0.1, -0.06),
                    (0.17, 0.03),
                    (0.27, 0.09),
                    (0.36, 0.4),
                ],
                "#5b4a58",
            ),
            (
                [
                    (-0.3, 0.4),
                    (-0.22, 0.17),
                    (-0.12, 0.12),
                    (-0.03, 0.2),
                    (0.08, 0.13),
                    (0.2, 0.19),
                    (0.29, 0.4),
                ],
                "#43364a",
            ),
        ):
            canvas.fill([(x + u * width, line + v * height) for u, v in knots], colour)
        foam = [(x + u * width, height * 0.97 + v) for u, v in ((-0.34, 0), (0, 4), (0.34, 0))]
        canvas.stroke(foam, "#ffffff", 2.2, 0.45)
    elif kind == "headland":
        knots = [
            (-0.7, 0.5),
            (-0.6, -0.02),
            (-0.3, -0.08),
            (0.1, -0.065),
            (0.24, 0.0),
            (0.3, 0.2),
            (0.42, 0.5),
        ]
        land = smooth([(x + u * width, line + v * height) for u, v in knots])
        canvas.shade(land, "#79c25a", "#2f7f45")
        with canvas.clip(land):
            cliff = [
                (0.16, -0.1),
                (0.21, 0.05),
                (0.17, 0.16),
                (0.24, 0.3),
                (0.22, 0.6),
                (0.6, 0.6),
                (0.6, -0.1),
            ]
            canvas.fill([(x + u * width, line + v * height) for u, v in cliff], "#d8c3a0")
    elif kind == "sand":
        knots = [(-0.9, 0.5), (-0.7, 0.09), (-0.2, -0.045), (0.2, -0.045), (0.7, 0.1), (0.9, 0.5)]
        dune = smooth([(x + u * width, line + v * height) for u, v in knots])
        canvas.shade(dune, "#f6e3b0", "#d3ab6c")
        for step in range(-7, 8):
            foot = (x + step * width * 0.07, line + height * (0.06 + 0.05 * (step % 3)))
            for lean in (-4, 0, 4):
                canvas.stroke([foot, (foot[0] + lean, foot[1] - 13)], "#7d9a55", 1.4)
    else:
        left, right = x - width * 0.2, x + width * 0.2
        wall = box(left, line - height * 0.045, right, line + height * 0.12)
        canvas.shade(wall, "#b9b2ab", "#6f6a70")
        coping = box(left - 5, line - height * 0.06, right + 5, line - height * 0.035)
        canvas.fill(coping, "#d3ccc3")
        for step in range(1, 5):
            gap = left + (right - left) * step / 5
            joint = [(gap, line - height * 0.03), (gap, line + height * 0.12)]
            canvas.stroke(joint, "#5d5963", 1.2)


def _tower(
    canvas: Canvas,
    line: float,
    x: float,
    rise: float,
    colour: str,
    band: str,
    roof: str,
    pattern: str = "bands",
    beam: bool = False,
) -> None:
    """One tower, ``rise`` of the picture high, painted in bands, a spiral or one plain colour."""
    foot, centre, scale = line - canvas.height * 0.04, x * canvas.width, rise * canvas.height
    if beam:
        _beam(canvas, centre, foot - scale * 0.86, canvas.width)

    def at(shape: Outline) -> Outline:
        return placed(shape, centre, foot, scale)

    body = at([(-0.13, 0.02), (-0.085, -0.76), (0.085, -0.76), (0.13, 0.02)])
    canvas.shade(body, lighter(colour, 0.12), colour, darker(colour, 0.38), across=True)
    with canvas.clip(body):
        _paint(canvas, at, band, pattern)
    for level in (-0.58, -0.36, -0.14):
        canvas.fill(at(oval(0, level, 0.022, 0.034)), darker(colour, 0.75))
    canvas.fill(at(box(-0.045, -0.085, 0.045, 0.02)), darker(roof, 0.45))
    canvas.fill(at(box(-0.125, -0.79, 0.125, -0.755)), darker(roof, 0.5))
    glow = "#fff3a6" if beam else "#fdf6d8"
    canvas.fill(at(box(-0.068, -0.92, 0.068, -0.79)), glow)
    for post in (-0.068, -0.023, 0.023, 0.068):
        canvas.stroke(at([(post, -0.92), (post, -0.79)]), darker(roof, 0.5), scale * 0.011)
    for rail in (-0.125, -0.09, 0.09, 0.125):
        canvas.stroke(at([(rail, -0.79), (rail, -0.84)]), darker(roof, 0.5), scale * 0.009)
    canvas.stroke(at([(-0.125, -0.84), (0.125, -0.84)]), darker(roof, 0.5), scale * 0.009)
    dome = at(
        [
            (-0.09, -0.915),
            (-0.07, -0.965),
            (-0.02, -0.995),
            (0.02, -0.995),
            (0.07, -0.965),
            (0.09, -0.915),
        ]
    )
    canvas.shade(dome, lighter(roof, 0.15), roof, darker(roof, 0.4), across=True)
    canvas.stroke(at([(0, -0.99), (0, -1.06)]), darker(roof, 0.5), scale * 0.014)


def _paint(canvas: Canvas, at: Placing, band: str, pattern: str) -> None:
    """The painted pattern of the tower, to be drawn inside a clip to its body."""
    halves = ((-0.2, 0.05, band), (0.05, 0.2, darker(band, 0.35)))
    for left, right, tint in halves:
        if pattern == "bands":
            for level in (-0.62, -0.36, -0.1):
                canvas.fill(at(box(left, level - 0.065, right, level + 0.065)), tint)
        elif pattern == "band":
            canvas.fill(at(box(left, -0.5, right, -0.28)), tint)
        elif pattern == "spiral":
            for level in (-0.8, -0.55, -0.3, -0.05):
                upper = [(left, level - left), (right, level - right)]
                lower = [(right, level - right + 0.12), (left, level - left + 0.12)]
                canvas.fill(at([*upper, *lower]), tint)


def _beam(canvas: Canvas, x: float, y: float, reach: float) -> None:
    """Two cones of light, in steps that fade with the distance."""
    for side in (-1, 1):
        for share, alpha in ((1.0, 0.10), (0.7, 0.13), (0.42, 0.17)):
            far, spread = x + side * reach * share, reach * share * 0.12
            canvas.fill(
                [(x, y - 3), (far, y - spread), (far, y + spread), (x, y + 3)], "#ffe98a", alpha
            )
    canvas.fill(oval(x, y, reach * 0.055, reach * 0.055), "#ffe98a", 0.35)
