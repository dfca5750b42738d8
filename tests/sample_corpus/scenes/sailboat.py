"""Sailing boats: one boat or several on open water, with their reflection."""

from typing import Any

from tests.sample_corpus.backdrop import clouds, glints, hills, sea, sky
from tests.sample_corpus.canvas import (
    Canvas,
    Outline,
    Point,
    darker,
    lighter,
    oval,
    placed,
    smooth,
)
from tests.sample_corpus.scenes.lighthouse import WATER


def draw(
    canvas: Canvas,
    boats: list[dict[str, Any]],
    sky_kind: str,
    disc: tuple[float, float] | None = None,
    horizon: float = 0.62,
    shore: str | None = None,
) -> None:
    """Draw the boats, farthest first, on a sea whose far shore may show."""
    line = canvas.height * horizon
    sky(canvas, sky_kind, disc)
    clouds(canvas, sky_kind, low=0.3)
    if shore:
        hills(canvas, line - canvas.height * 0.07, shore, sky_kind, 2)
    sea(canvas, line, *WATER[sky_kind])
    canvas.reflect(line, 0.35)
    glints(canvas, line, "#ffffff" if sky_kind != "night" else "#9fb6e6", 34)
    for boat in sorted(boats, key=lambda boat: boat["y"]):
        _boat(canvas, **boat)


def _boat(
    canvas: Canvas,
    x: float,
    y: float,
    size: float,
    hull: str,
    main: str,
    jib: str,
    rig: str = "sloop",
    lamp: bool = False,
) -> None:
    """One boat whose waterline is at ``y``; ``size`` is its height as a share of the picture's."""
    centre, water, scale = x * canvas.width, y * canvas.height, size * canvas.height

    def at(shape: Outline) -> Outline:
        return placed(shape, centre, water, scale)

    mirror = [(-0.28, 0.03), (0.3, 0.03), (0.18, 0.3), (-0.02, 0.42), (-0.2, 0.26)]
    canvas.fill(smooth(at(mirror)), darker(main, 0.3), 0.3)
    for sail, colour in _sails(rig, main, jib):
        canvas.shade(at(sail), lighter(colour, 0.22), colour, darker(colour, 0.2), across=True)
    for mast in (-0.16, 0.12) if rig == "schooner" else (0.0,):
        canvas.stroke(at([(mast, -0.1), (mast, -0.99)]), "#5a3d2b", scale * 0.018)
        pennant = [(mast, -1.0), (mast - 0.09, -0.975), (mast, -0.95)]
        canvas.fill(at(pennant), jib if jib != "#ffffff" else hull)
    body = at([(-0.36, -0.12), (0.46, -0.15), (0.4, -0.06), (0.3, 0.03), (-0.28, 0.03)])
    canvas.shade(body, lighter(hull, 0.1), darker(hull, 0.35))
    canvas.stroke(at([(-0.355, -0.105), (0.445, -0.132)]), lighter(hull, 0.7), scale * 0.016)
    canvas.stroke(
        at([(-0.4, 0.035), (-0.1, 0.045), (0.2, 0.035), (0.48, 0.045)]),
        "#ffffff",
        scale * 0.014,
        0.6,
    )
    if lamp:
        for radius, alpha in ((0.15, 0.15), (0.09, 0.25), (0.035, 1.0)):
            canvas.fill(at(oval(-0.3, -0.2, radius, radius)), "#ffd873", alpha)


def _sails(rig: str, main: str, jib: str) -> list[tuple[Outline, str]]:
    """The sails of a rig with their colours, in units of the boat's height."""
    if rig == "spinnaker":
        balloon = smooth(
            [(0.03, -0.93), (0.34, -0.72), (0.45, -0.42), (0.36, -0.18), (0.2, -0.34), (0.08, -0.6)]
        )
        return [(_bulge((-0.02, -0.92), (-0.02, -0.2), (-0.34, -0.2)), main), (balloon, jib)]
    if rig == "schooner":
        return [
            ([(-0.17, -0.86), (-0.17, -0.19), (-0.44, -0.19), (-0.36, -0.68)], main),
            ([(0.11, -0.9), (0.11, -0.19), (-0.14, -0.19), (-0.08, -0.72)], main),
            (_bulge((0.14, -0.92), (0.14, -0.2), (0.44, -0.2)), jib),
        ]
    if rig == "lug":
        return [([(-0.22, -0.95), (0.2, -0.62), (0.16, -0.2), (-0.3, -0.2)], main)]
    return [
        (_bulge((-0.02, -0.95), (-0.02, -0.19), (-0.34, -0.19)), main),
        (_bulge((0.03, -0.88), (0.03, -0.2), (0.42, -0.17)), jib),
    ]


def _bulge(head: Point, tack: Point, clew: Point) -> Outline:
    """A three-cornered sail whose free edge is rounded by the wind."""
    side = 1 if clew[0] > tack[0] else -1
    edge = []
    for step in range(13):
        share = step / 12
        swell = 0.28 * share * (1 - share) * side
        edge.append(
            (
                clew[0] + (head[0] - clew[0]) * share + swell,
                clew[1] + (head[1] - clew[1]) * share,
            )
        )
    return [head, tack, *edge]
