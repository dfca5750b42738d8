"""Backgrounds of the pictures: skies, clouds, hills, mountains and water."""

import math

from tests.sample_corpus.canvas import Canvas, Outline, box, darker, lighter, mix, oval

SKIES = {
    "noon": ("#4fa9ee", "#a9dbf8", "#e4f5fb"),
    "dawn": ("#7f8fd6", "#f3b3bd", "#ffe7bd"),
    "dusk": ("#3b2a68", "#c4507e", "#ffb46a"),
    "gold": ("#f08a3c", "#fbc15e", "#fff0bd"),
    "night": ("#070d26", "#14235a", "#2c4a86"),
    "overcast": ("#8f9dab", "#bcc7ce", "#e2e6e4"),
    "teal": ("#0d3b52", "#2f8f95", "#f1dca4"),
    "spring": ("#7ccbe8", "#c8ecdf", "#f8f6d4"),
}


def sky(canvas: Canvas, kind: str, disc: tuple[float, float] | None = None) -> None:
    """Paint the sky over the whole picture, with a sun or moon at ``disc`` (shares of the size)."""
    canvas.shade(box(0, 0, canvas.width, canvas.height), *SKIES[kind])
    if kind == "night":
        stars(canvas, 70, floor=0.75)
    if disc:
        x, y = disc[0] * canvas.width, disc[1] * canvas.height
        colour = "#f4f1d8" if kind == "night" else "#fff6d2"
        radius = min(canvas.width, canvas.height) * 0.07
        # Flat haloes instead of a soft glow: they suit the style and compress far better.
        for halo, alpha in ((2.6, 0.10), (1.9, 0.14), (1.4, 0.20)):
            canvas.fill(oval(x, y, radius * halo, radius * halo), colour, alpha)
        canvas.fill(oval(x, y, radius, radius), colour)
        if kind == "night":
            for dx, dy, size in ((-0.3, -0.2, 0.22), (0.3, 0.1, 0.16), (-0.1, 0.45, 0.14)):
                crater = oval(x + dx * radius, y + dy * radius, size * radius, size * radius)
                canvas.fill(crater, "#d8d4b4")


def stars(canvas: Canvas, count: int, floor: float = 1.0) -> None:
    """Stars from the upper edge down to ``floor``, a share of the height."""
    for _ in range(count):
        x = canvas.chance.uniform(0, canvas.width)
        y = canvas.chance.uniform(0, canvas.height * floor)
        size = canvas.chance.choice((0.6, 0.8, 0.8, 1.3))
        canvas.fill(oval(x, y, size, size), "#ffffff", canvas.chance.uniform(0.45, 0.95))


def cloud(canvas: Canvas, x: float, y: float, size: float, colour: str) -> None:
    """A flat-bottomed cloud, ``size`` pixels wide, whose base is centred on the point."""
    puffs = ((-0.32, 0.02, 0.14), (-0.1, 0.1, 0.19), (0.15, 0.06, 0.17), (0.36, 0.0, 0.12))
    with canvas.clip(box(x - size, y - size, x + size, y)):
        for dx, rise, radius in puffs:
            puff = oval(x + dx * size, y - rise * size, radius * size, radius * size)
            canvas.fill(puff, colour)


def clouds(canvas: Canvas, kind: str, count: int = 3, low: float = 0.4) -> None:
    """A few clouds in the tint of the sky, spread evenly so that they never pile up."""
    if kind == "night":
        return
    tint = mix(SKIES[kind][1], "#ffffff", 0.15 if kind == "teal" else 0.55)
    for index in range(count):
        x = (index + canvas.chance.uniform(0.2, 0.8)) / count * canvas.width
        y = canvas.chance.uniform(0.1, low) * canvas.height
        cloud(canvas, x, y, canvas.chance.uniform(0.17, 0.28) * canvas.width, tint)


def ridge(canvas: Canvas, level: float, swell: float, waves: float, phase: float) -> Outline:
    """The outline of rolling land that fills the picture from ``level`` (a pixel row) down."""
    crest = []
    for x in range(-4, canvas.width + 8, 4):
        turn = x / canvas.width * math.tau * waves + phase
        crest.append((x, level + swell * (0.7 * math.sin(turn) + 0.3 * math.sin(2.3 * turn + 1))))
    return [*crest, (canvas.width + 8, canvas.height), (-4, canvas.height)]


def hills(canvas: Canvas, level: float, land: str, kind: str, layers: int = 3) -> None:
    """Layers of hills, the farthest with its crest at ``level`` and half lost in the sky's haze."""
    far = mix(land, SKIES[kind][-1], 0.5)
    for index in range(layers):
        share = index / max(1, layers - 1)
        top = level + (canvas.height - level) * 0.28 * index
        colour = mix(far, land, share)
        outline = ridge(canvas, top, canvas.height * 0.035, 0.8 + 0.35 * index, 1.7 * index + 0.4)
        canvas.shade(outline, lighter(colour, 0.08), darker(colour, 0.18))


def peaks(canvas: Canvas, level: float, colour: str, snow: str, count: int = 4) -> None:
    """A row of mountains with snow caps, standing on ``level``."""
    step = canvas.width / count
    for index in range(count + 1):
        x = (index + canvas.chance.uniform(-0.15, 0.15)) * step
        rise = canvas.chance.uniform(0.55, 0.95) * step
        reach = step * 0.75
        canvas.fill([(x - reach, level), (x, level - rise), (x + reach, level)], colour)
        canvas.fill(
            [(x, level - rise), (x + reach, level), (x + reach * 0.2, level)], darker(colour, 0.2)
        )
        cap = [(0, -1), (0.3, -0.7), (0.12, -0.76), (0.02, -0.62), (-0.1, -0.75), (-0.3, -0.7)]
        canvas.fill([(x + u * reach, level + v * rise) for u, v in cap], snow)


def sea(canvas: Canvas, horizon: float, top: str, bottom: str) -> None:
    """Calm water from the horizon (a pixel row) to the lower edge."""
    canvas.shade(box(0, horizon, canvas.width, canvas.height), top, bottom)


def glints(canvas: Canvas, horizon: float, colour: str, count: int = 26) -> None:
    """Short bright strokes on the water, longer and rarer towards the viewer."""
    for _ in range(count):
        depth = canvas.chance.random() ** 1.4
        x = canvas.chance.uniform(0, canvas.width)
        y = horizon + 4 + depth * (canvas.height - horizon - 8)
        reach = 5 + 16 * depth
        canvas.fill(oval(x, y, reach, 0.7 + 0.9 * depth), colour, 0.4)
