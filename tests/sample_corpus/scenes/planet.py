"""Planets in space: banded giants, seas, ice, lava, with rings and moons."""

import math
from typing import Any

from tests.sample_corpus.backdrop import stars
from tests.sample_corpus.canvas import (
    Canvas,
    Outline,
    Point,
    box,
    darker,
    lighter,
    mix,
    oval,
    placed,
    smooth,
    spread,
)


def draw(
    canvas: Canvas,
    space: list[str],
    body: list[str],
    surface: str,
    radius: float = 0.3,
    at: tuple[float, float] = (0.5, 0.5),
    tilt: float = -18,
    ring: str | None = None,
    moons: list[dict[str, Any]] | None = None,
) -> None:
    """Draw a planet of the ``body`` colours before a starry gradient of the ``space`` colours."""
    canvas.shade(box(0, 0, canvas.width, canvas.height), *space)
    stars(canvas, 80)
    x, y = at[0] * canvas.width, at[1] * canvas.height
    scale = radius * min(canvas.width, canvas.height)
    for halo, alpha in ((1.22, 0.08), (1.1, 0.14)):
        canvas.fill(oval(x, y, scale * halo, scale * halo), lighter(body[0], 0.4), alpha)
    if ring:
        _ring(canvas, x, y, scale, tilt, ring, back=True)
    disc = oval(x, y, scale, scale)
    canvas.fill(disc, body[0])
    with canvas.clip(disc):
        _surface(canvas, x, y, scale, tilt, surface, body)
        _dark_side(canvas, x, y, scale)
    if ring:
        _ring(canvas, x, y, scale, tilt, ring, back=False)
    for moon in moons or []:
        _moon(canvas, **moon)


def _dark_side(canvas: Canvas, x: float, y: float, scale: float) -> None:
    """Shade outside two circles moved towards the light, so that the edge falls off in steps."""
    for shift, alpha in ((0.16, 0.28), (0.34, 0.34)):
        lit = oval(x - scale * shift, y - scale * shift, scale * 1.08, scale * 1.08)
        canvas.veil(lit, "#05071a", alpha)


def _surface(
    canvas: Canvas, x: float, y: float, scale: float, tilt: float, kind: str, body: list[str]
) -> None:
    """What marks the disc: bands, lands, craters or cracks."""

    def at(outline: Outline) -> Outline:
        return placed(outline, x, y, scale, tilt)

    if kind == "bands":
        top, index = -1.0, 0
        while top < 1:
            reach = canvas.chance.uniform(0.13, 0.27)
            wave = [(u / 8, top + 0.025 * math.sin(u * 0.9 + index)) for u in range(-9, 10)]
            canvas.fill(at([*wave, (1.2, 1.2), (-1.2, 1.2)]), body[index % len(body)])
            top, index = top + reach, index + 1
        canvas.fill(at(oval(0.3, 0.34, 0.24, 0.13)), body[-1])
        canvas.fill(at(oval(0.3, 0.34, 0.15, 0.07)), lighter(body[-1], 0.35))
    elif kind == "lands":
        for u, v, size in (
            (-0.45, -0.35, 0.42),
            (0.35, 0.1, 0.5),
            (-0.3, 0.55, 0.3),
            (0.5, -0.62, 0.24),
            (-0.85, 0.2, 0.2),
        ):
            knots = [
                (
                    u + size * canvas.chance.uniform(0.6, 1.1) * math.cos(step * math.tau / 8),
                    v + size * canvas.chance.uniform(0.4, 0.8) * math.sin(step * math.tau / 8),
                )
                for step in range(8)
            ]
            canvas.fill(at(smooth(knots)), body[1])
        for v, left, right in ((-0.15, -0.7, 0.1), (0.38, -0.2, 0.75), (-0.55, 0.0, 0.6)):
            middle, reach = (left + right) / 2, (right - left) / 2
            canvas.fill(at(oval(middle, v, reach, 0.045)), body[-1], 0.85)
            canvas.fill(at(oval(middle + 0.12, v + 0.07, reach * 0.6, 0.035)), body[-1], 0.85)
        canvas.fill(at(oval(0, -1.0, 0.5, 0.14)), body[-1])
    elif kind == "craters":
        for u, v in spread(canvas.chance, 20):
            size = canvas.chance.uniform(0.05, 0.16)
            canvas.fill(at(oval(u, v, size, size)), body[1])
            floor = oval(u + size * 0.12, v + size * 0.14, size * 0.8, size * 0.8)
            canvas.fill(at(floor), mix(body[0], body[1], 0.55))
    else:
        knots = spread(canvas.chance, 26)
        cracks = [
            at(_crack(canvas, knot, other))
            for knot in knots
            for other in sorted(knots, key=lambda other: math.dist(knot, other))[1:4]
        ]
        for colour, width in ((body[1], 0.06), (body[-1], 0.022)):
            for crack in cracks:
                canvas.stroke(crack, colour, scale * width)
                canvas.fill(oval(*crack[0], scale * width / 2, scale * width / 2), colour)


def _crack(canvas: Canvas, start: Point, end: Point) -> Outline:
    """A jagged way from one point to the other."""
    steps = ((u / 4, canvas.chance.uniform(-0.05, 0.05)) for u in range(1, 4))
    (x, y), (dx, dy) = start, (end[0] - start[0], end[1] - start[1])
    return [start, *((x + dx * t + off, y + dy * t - off) for t, off in steps), end]


def _ring(
    canvas: Canvas, x: float, y: float, scale: float, tilt: float, colour: str, back: bool
) -> None:
    """The far or the near half of the rings: the two are drawn before and after the disc."""
    half = [0.5, 1.0] if back else [0.0, 0.5]
    for outer, inner, tint in (
        (2.05, 1.86, darker(colour, 0.25)),
        (1.82, 1.5, colour),
        (1.46, 1.32, lighter(colour, 0.3)),
    ):
        far, near = oval(0, 0, outer, outer * 0.27), oval(0, 0, inner, inner * 0.27)
        first, last = (round(share * len(far)) for share in half)
        arc = slice(first, last + 1)
        band = [*(far + far[:1])[arc], *reversed((near + near[:1])[arc])]
        canvas.fill(placed(band, x, y, scale, tilt), tint)


def _moon(canvas: Canvas, x: float, y: float, size: float, colour: str) -> None:
    centre, middle = x * canvas.width, y * canvas.height
    radius = size * min(canvas.width, canvas.height)
    disc = oval(centre, middle, radius, radius)
    canvas.fill(disc, darker(colour, 0.55))
    with canvas.clip(disc):
        lit = oval(centre - radius * 0.25, middle - radius * 0.25, radius, radius)
        canvas.fill(lit, colour)
        canvas.fill(
            oval(centre - radius * 0.3, middle, radius * 0.2, radius * 0.2), darker(colour, 0.2)
        )
