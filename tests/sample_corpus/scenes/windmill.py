"""Windmills: tower mills and post mills in fields, by a canal, on a ridge or in snow."""

import math
from typing import Any

from tests.sample_corpus.backdrop import clouds, glints, hills, sea, sky
from tests.sample_corpus.canvas import Canvas, Outline, box, darker, lighter, mix, oval, placed


def draw(
    canvas: Canvas,
    mills: list[dict[str, Any]],
    sky_kind: str,
    ground: str,
    land: str = "#6aa84f",
    disc: tuple[float, float] | None = None,
    horizon: float = 0.78,
) -> None:
    """Draw the mills on their ground; a canal also mirrors them."""
    sky(canvas, sky_kind, disc)
    clouds(canvas, sky_kind, 3, 0.45)
    line = canvas.height * horizon
    hills(canvas, line - canvas.height * 0.05, land, sky_kind, 2)
    for mill in mills:
        _mill(canvas, line, **mill)
    if ground == "canal":
        bank = canvas.height * 0.84
        sea(canvas, bank, mix(land, "#bfe3f2", 0.7), "#2f6f93")
        canvas.reflect(bank, 0.55)
        glints(canvas, bank, "#ffffff", 12)
        canvas.fill(box(0, bank - 4, canvas.width, bank + 1), darker(land, 0.3))
    elif ground == "tulips":
        _tulips(canvas, line + canvas.height * 0.05)
    elif ground == "grass":
        _tufts(canvas, line + canvas.height * 0.06, darker(land, 0.35))


def _tulips(canvas: Canvas, top: float) -> None:
    """Rows of tulips whose heads grow towards the viewer."""
    colours = ("#e8384f", "#ffd23f", "#f472a8", "#ffffff", "#b14fd1")
    y, row = top, 0
    while y < canvas.height + 10:
        size = 2.5 + 6.5 * (y - top) / (canvas.height - top)
        canvas.fill(box(0, y, canvas.width, y + size * 2.4), "#3f8f45")
        for step in range(int(canvas.width / (size * 2)) + 2):
            x = step * size * 2 + (size if row % 2 else 0)
            head = [
                (-1, -0.9),
                (-0.5, -0.2),
                (0, -1),
                (0.5, -0.2),
                (1, -0.9),
                (0.8, 0.6),
                (0, 1),
                (-0.8, 0.6),
            ]
            canvas.fill(placed(head, x, y, size * 0.8), colours[row % len(colours)])
        y, row = y + size * 2.3, row + 1


def _tufts(canvas: Canvas, top: float, colour: str) -> None:
    for _ in range(46):
        x, y = canvas.chance.uniform(0, canvas.width), canvas.chance.uniform(top, canvas.height)
        for lean in (-3, 0, 3):
            canvas.stroke([(x, y), (x + lean, y - 8)], colour, 1.2)


def _mill(
    canvas: Canvas,
    line: float,
    x: float,
    size: float,
    body: str,
    cap: str,
    sail: str,
    shape: str = "tower",
    turn: float = 20,
    lit: bool = False,
    lower: float = 0.02,
) -> None:
    """One mill, ``size`` of the picture high to the hub and standing ``lower`` than the line."""
    centre, scale = x * canvas.width, size * canvas.height
    foot = line + lower * canvas.height

    def at(outline: Outline) -> Outline:
        return placed(outline, centre, foot, scale)

    window = "#ffe08a" if lit else darker(body, 0.6)
    if shape == "post":
        for lean in (-0.24, 0.24):
            canvas.stroke(at([(lean, 0.02), (0, -0.36)]), darker(body, 0.5), scale * 0.045)
        canvas.stroke(at([(0, 0.02), (0, -0.4)]), darker(body, 0.4), scale * 0.06)
        house = at(box(-0.22, -0.98, 0.22, -0.3))
        roof = at([(-0.27, -0.96), (0, -1.24), (0.27, -0.96)])
    else:
        house = at([(-0.27, 0.03), (-0.16, -0.92), (0.16, -0.92), (0.27, 0.03)])
        roof = at(
            [
                (-0.2, -0.9),
                (-0.17, -1.02),
                (-0.07, -1.13),
                (0.07, -1.13),
                (0.17, -1.02),
                (0.2, -0.9),
            ]
        )
        canvas.fill(at(oval(0, 0.03, 0.4, 0.04)), "#101838", 0.25)
    canvas.shade(house, lighter(body, 0.15), body, darker(body, 0.35), across=True)
    if shape == "post":
        for level in range(1, 8):
            plank = -0.98 + 0.085 * level
            canvas.stroke(at([(-0.22, plank), (0.22, plank)]), darker(body, 0.3), scale * 0.008)
    else:
        canvas.fill(at(box(-0.06, -0.17, 0.06, 0.03)), darker(cap, 0.4))
        canvas.fill(at(box(-0.3, -0.36, 0.3, -0.325)), darker(cap, 0.35))
        for post in (-0.29, -0.15, 0.0, 0.15, 0.29):
            canvas.stroke(at([(post, -0.35), (post, -0.42)]), darker(cap, 0.35), scale * 0.01)
        canvas.stroke(at([(-0.29, -0.42), (0.29, -0.42)]), darker(cap, 0.35), scale * 0.01)
    for sill in (-0.475, -0.675):
        canvas.fill(at(box(-0.04, sill - 0.09, 0.04, sill)), window)
    canvas.shade(roof, lighter(cap, 0.15), cap, darker(cap, 0.35), across=True)
    _sails(canvas, centre, foot - scale * 0.97, scale * 0.78, sail, turn)


def _sails(canvas: Canvas, x: float, y: float, reach: float, colour: str, turn: float) -> None:
    """Four latticed sails about a hub."""
    wood = darker(colour, 0.65)
    for quarter in range(4):
        angle = turn + 90 * quarter
        canvas.fill(placed(box(0.18, 0.0, 1, 0.2), x, y, reach, angle), colour, 0.92)
        for step in range(1, 7):
            rung = 0.18 + step * 0.82 / 6
            canvas.stroke(placed([(rung, 0), (rung, 0.2)], x, y, reach, angle), wood, reach * 0.012)
        for rail in (0.1, 0.2):
            spar = placed([(0.18, rail), (1, rail)], x, y, reach, angle)
            canvas.stroke(spar, wood, reach * 0.012)
        tip = (x + reach * math.cos(math.radians(angle)), y + reach * math.sin(math.radians(angle)))
        canvas.stroke([(x, y), tip], wood, reach * 0.035)
    canvas.fill(oval(x, y, reach * 0.06, reach * 0.06), wood)
