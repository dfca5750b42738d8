"""A small supersampled drawing surface, and the outlines that scenes are built from."""

import math
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from PIL import Image, ImageChops, ImageColor, ImageDraw, ImageOps

SUPERSAMPLE = 3

Point = tuple[float, float]
Outline = list[Point]
Placing = Callable[[Outline], Outline]
"""Brings an outline in a subject's own units to its place in the picture."""


def rgba(colour: str, alpha: float = 1.0) -> tuple[int, int, int, int]:
    """The colour named by a hex string, with an opacity from 0 to 1."""
    red, green, blue = ImageColor.getrgb(colour)[:3]
    return red, green, blue, round(255 * alpha)


def mix(first: str, second: str, share: float) -> str:
    """The colour that lies ``share`` of the way from the first to the second."""
    pairs = zip(rgba(first)[:3], rgba(second)[:3], strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def darker(colour: str, share: float = 0.25) -> str:
    """The colour moved towards a deep blue, which reads as shade rather than as dirt."""
    return mix(colour, "#101838", share)


def lighter(colour: str, share: float = 0.25) -> str:
    """The colour moved towards white."""
    return mix(colour, "#ffffff", share)


def oval(x: float, y: float, rx: float, ry: float, turn: float = 0.0) -> Outline:
    """An ellipse as an outline, turned clockwise by ``turn`` degrees."""
    cos, sin = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    ring = ((rx * math.cos(a), ry * math.sin(a)) for a in (i * math.tau / 96 for i in range(96)))
    return [(x + u * cos - v * sin, y + u * sin + v * cos) for u, v in ring]


def box(left: float, top: float, right: float, bottom: float) -> Outline:
    """An upright rectangle as an outline."""
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


def smooth(knots: Sequence[Point], steps: int = 12) -> Outline:
    """A closed Catmull-Rom curve through the knots."""
    outline = []
    for index in range(len(knots)):
        a, b, c, d = (knots[(index + k) % len(knots)] for k in (-1, 0, 1, 2))
        for step in range(steps):
            t = step / steps
            weights = (
                -0.5 * t + t * t - 0.5 * t**3,
                1 - 2.5 * t * t + 1.5 * t**3,
                0.5 * t + 2 * t * t - 1.5 * t**3,
                -0.5 * t * t + 0.5 * t**3,
            )
            x, y = (
                sum(w * p[axis] for w, p in zip(weights, (a, b, c, d), strict=True))
                for axis in (0, 1)
            )
            outline.append((x, y))
    return outline


def placed(
    outline: Sequence[Point], x: float, y: float, scale: float, turn: float = 0.0
) -> Outline:
    """An outline given in units of the subject, scaled, turned and moved to its place."""
    cos, sin = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    return [(x + scale * (u * cos - v * sin), y + scale * (u * sin + v * cos)) for u, v in outline]


def spread(chance: random.Random, count: int, jitter: float = 0.07) -> Outline:
    """Points over the unit disc that look scattered and yet never crowd, as pure chance would."""
    points = []
    for index in range(count):
        # The golden angle: each point falls into the widest gap that the earlier ones have left.
        angle, radius = index * 2.39996, math.sqrt((index + 0.5) / count)
        points.append(
            (
                radius * math.cos(angle) + chance.uniform(-jitter, jitter),
                radius * math.sin(angle) + chance.uniform(-jitter, jitter),
            )
        )
    return points


class Canvas:
    """A picture being drawn; coordinates are final pixels, the surface is three times finer."""

    def __init__(self, width: int, height: int, seed: str) -> None:
        """Start a picture; the seed fixes every random choice made through ``chance``."""
        self.width, self.height = width, height
        self.chance = random.Random(seed)
        self._surface = Image.new("RGB", (width * SUPERSAMPLE, height * SUPERSAMPLE))
        self._pen = ImageDraw.Draw(self._surface, "RGBA")

    def fill(self, outline: Sequence[Point], colour: str, alpha: float = 1.0) -> None:
        """Fill an outline with one colour."""
        self._pen.polygon(_fine(outline), fill=rgba(colour, alpha))

    def stroke(
        self, points: Sequence[Point], colour: str, width: float = 1.0, alpha: float = 1.0
    ) -> None:
        """Draw an open line through the points."""
        pixels = max(1, round(width * SUPERSAMPLE))
        self._pen.line(_fine(points), fill=rgba(colour, alpha), width=pixels, joint="curve")

    def shade(self, outline: Sequence[Point], *stops: str, across: bool = False) -> None:
        """Fill an outline with a gradient, top to bottom or (``across``) left to right."""
        fine = _fine(outline)
        left, top = (math.floor(min(p[axis] for p in fine)) for axis in (0, 1))
        right, bottom = (math.ceil(max(p[axis] for p in fine)) + 1 for axis in (0, 1))
        width, height = right - left, bottom - top
        ramp = _ramp(stops, width if across else height)
        ramp = ramp.transpose(Image.Transpose.ROTATE_90) if across else ramp
        mask = Image.new("L", (width, height))
        ImageDraw.Draw(mask).polygon([(x - left, y - top) for x, y in fine], fill=255)
        # Along its other side the ramp is constant: no finer resampling gives other pixels.
        ramp = ramp.resize((width, height), Image.Resampling.NEAREST)
        self._surface.paste(ramp, (left, top), mask)

    def veil(self, hole: Sequence[Point], colour: str, alpha: float) -> None:
        """Lay a translucent colour over everything outside the hole."""
        mask = Image.new("L", self._surface.size, round(255 * alpha))
        ImageDraw.Draw(mask).polygon(_fine(hole), fill=0)
        self._surface.paste(rgba(colour)[:3], (0, 0, *self._surface.size), mask)

    @contextmanager
    def clip(self, outline: Sequence[Point]) -> Iterator[None]:
        """Let what is drawn inside the block show only within the outline."""
        before = self._surface.copy()
        yield
        mask = Image.new("L", self._surface.size)
        ImageDraw.Draw(mask).polygon(_fine(outline), fill=255)
        self._surface.paste(before, (0, 0), ImageChops.invert(mask))

    def reflect(self, horizon: float, strength: float = 0.45, ripple: float = 1.5) -> None:
        """Mirror what stands above the horizon into the water already painted below it."""
        line = round(horizon * SUPERSAMPLE)
        width, depth = self._surface.width, min(line, self._surface.height - line)
        mirrored = ImageOps.flip(self._surface.crop((0, line - depth, width, line)))
        water = self._surface.crop((0, line, width, line + depth))
        blended = Image.blend(water, mirrored, strength)
        band = 2 * SUPERSAMPLE
        for top in range(0, depth, band):
            # The shift grows with the distance from the horizon, as near waves look larger.
            shift = round(ripple * SUPERSAMPLE * math.sin(top / band * 1.9) * (0.4 + top / depth))
            strip = blended.crop((0, top, width, min(top + band, depth)))
            self._surface.paste(strip, (0, line + top))
            self._surface.paste(strip, (shift, line + top))

    def finish(self) -> Image.Image:
        """The picture at its final size."""
        return self._surface.resize((self.width, self.height), Image.Resampling.LANCZOS)


def _fine(points: Sequence[Point]) -> Outline:
    return [(x * SUPERSAMPLE, y * SUPERSAMPLE) for x, y in points]


def _ramp(stops: Sequence[str], length: int) -> Image.Image:
    """A one-pixel-wide column that runs evenly through the stops."""
    column = Image.new("RGB", (1, length))
    spans = len(stops) - 1
    for row in range(length):
        place = row / max(1, length - 1) * spans
        index = min(int(place), spans - 1)
        colour = mix(stops[index], stops[index + 1], place - index)
        column.putpixel((0, row), rgba(colour)[:3])
    return column
