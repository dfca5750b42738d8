"""Hot-air balloons: one or several envelopes over hills, a lake, mountains or clouds."""

from typing import Any

from tests.sample_corpus.backdrop import cloud, clouds, hills, peaks, sea, sky
from tests.sample_corpus.canvas import (
    Canvas,
    Outline,
    Placing,
    box,
    darker,
    lighter,
    mix,
    oval,
    placed,
    smooth,
)

ENVELOPE = smooth(
    [
        (0, -0.62),
        (0.34, -0.5),
        (0.48, -0.18),
        (0.38, 0.14),
        (0.14, 0.42),
        (0.07, 0.5),
        (-0.07, 0.5),
        (-0.14, 0.42),
        (-0.38, 0.14),
        (-0.48, -0.18),
        (-0.34, -0.5),
    ]
)


def draw(
    canvas: Canvas,
    balloons: list[dict[str, Any]],
    sky_kind: str,
    ground: str,
    land: str = "#5f9e4f",
    disc: tuple[float, float] | None = None,
) -> None:
    """Draw the balloons, smallest first, above the ground."""
    sky(canvas, sky_kind, disc)
    clouds(canvas, sky_kind, 3, 0.5)
    _ground(canvas, ground, land, sky_kind)
    for balloon in sorted(balloons, key=lambda balloon: balloon["size"]):
        _balloon(canvas, **balloon)


def _ground(canvas: Canvas, kind: str, land: str, sky_kind: str) -> None:
    width, height = canvas.width, canvas.height
    if kind == "hills":
        hills(canvas, height * 0.74, land, sky_kind)
    elif kind == "lake":
        hills(canvas, height * 0.68, land, sky_kind, 2)
        sea(canvas, height * 0.8, lighter(land, 0.55), darker(land, 0.35))
        canvas.reflect(height * 0.8, 0.5)
    elif kind == "mountains":
        peaks(canvas, height * 0.88, mix(land, "#6c7fa8", 0.4), "#ffffff")
        hills(canvas, height * 0.84, land, sky_kind, 2)
    else:
        for row, share in enumerate((0.0, 0.35, 0.7)):
            tint = mix(lighter(land, 0.5), "#ffffff", share)
            level = height * (0.84 + 0.08 * row)
            canvas.fill(box(0, level - 1, width, height), tint)
            for step in range(6):
                cloud(canvas, (step + 0.4 * (row % 2)) * width / 5, level, width * 0.3, tint)


def _balloon(
    canvas: Canvas,
    x: float,
    y: float,
    size: float,
    colours: list[str],
    pattern: str = "gores",
    glow: bool = False,
) -> None:
    """One balloon centred on its envelope; ``size`` is a share of the picture's shorter side."""
    centre, middle = x * canvas.width, y * canvas.height
    scale = size * min(canvas.width, canvas.height)

    def at(shape: Outline) -> Outline:
        return placed(shape, centre, middle, scale)

    for rope in (-0.065, 0.065):
        canvas.stroke(at([(rope, 0.48), (rope * 0.9, 0.66)]), "#4a3424", scale * 0.012)
    envelope = at(ENVELOPE)
    canvas.fill(envelope, colours[0])
    with canvas.clip(envelope):
        _paint(canvas, at, colours, pattern)
        # A crescent of shade and one of light give the flat pattern its round body.
        canvas.fill(_crescent(at, 1), "#101838", 0.24)
        canvas.fill(_crescent(at, -1), "#ffffff", 0.22)
        if glow:
            for radius, alpha in ((0.5, 0.16), (0.34, 0.22), (0.2, 0.3)):
                canvas.fill(at(oval(0, 0.3, radius * 0.8, radius)), "#fff0a0", alpha)
    canvas.fill(at(box(-0.075, 0.48, 0.075, 0.52)), darker(colours[0], 0.4))
    if glow:
        canvas.fill(at(oval(0, 0.58, 0.025, 0.06)), "#ffd23f")
    canvas.shade(at(box(-0.085, 0.65, 0.085, 0.78)), "#b9803f", "#7a4c22")
    canvas.fill(at(box(-0.095, 0.64, 0.095, 0.67)), "#5e3a1a")


def _crescent(at: Placing, side: int) -> Outline:
    outer = [(side * u, v) for u, v in ((0.1, -0.66), (0.6, -0.5), (0.6, 0.2), (0.1, 0.56))]
    inner = [(side * u, v) for u, v in ((0.17, 0.3), (0.33, 0.05), (0.37, -0.2), (0.28, -0.48))]
    return at(smooth([*outer, *inner]))


def _paint(canvas: Canvas, at: Placing, colours: list[str], pattern: str) -> None:
    """The pattern of the envelope, to be drawn inside a clip to its outline."""
    count = len(colours)
    if pattern == "gores":
        # Nested ovals narrow towards the middle, as gores do on a round body.
        reaches = (0.5, 0.4, 0.27, 0.1)
        for index, reach in enumerate(reaches):
            gore = smooth(
                [
                    (0, -0.66),
                    (reach, -0.18),
                    (reach * 0.3, 0.5),
                    (-reach * 0.3, 0.5),
                    (-reach, -0.18),
                ]
            )
            canvas.fill(at(gore), colours[index % count])
    elif pattern == "bands":
        for index in range(6):
            top = -0.64 + index * 0.2
            canvas.fill(at(box(-0.6, top, 0.6, top + 0.2)), colours[index % count])
    elif pattern == "chequer":
        for row in range(8):
            for column in range(8):
                left, top = -0.6 + column * 0.15, -0.64 + row * 0.15
                tint = colours[(row + column) % count]
                canvas.fill(at(box(left, top, left + 0.15, top + 0.15)), tint)
    else:
        for crest, colour in ((-0.32, 1), (-0.12, 2), (0.08, 1)):
            tops = [(-0.6 + 0.1 * i, crest - (0.07 if i % 2 else 0)) for i in range(13)]
            bottoms = [(u, v + 0.1) for u, v in reversed(tops)]
            canvas.fill(at([*tops, *bottoms]), colours[colour % count])
    cap = lighter(colours[-1], 0.1)
    canvas.fill(at(oval(0, -0.6, 0.16, 0.07)), cap)
