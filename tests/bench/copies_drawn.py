"""Drawn images of one template each, for `copies`: different images that share most of their pixels.

No two images of a kind are copies of each other. Limits were chosen on other designs.
"""

import colorsys
import io
import math
import random
from collections.abc import Callable
from itertools import combinations

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from scipy.ndimage import gaussian_filter

FLAG_COLOURS = [
    "#00247d",
    "#ffffff",
    "#cf142b",
    "#006a4e",
    "#f4c430",
    "#111111",
    "#ff7f00",
    "#6cace4",
]


def _blank(width: int, height: int, colour: str) -> tuple[Image.Image, ImageDraw.ImageDraw]:
    image = Image.new("RGB", (width, height), colour)
    return image, ImageDraw.Draw(image)


def line_charts(n: int) -> list[Image.Image]:
    """Line charts with the same axes."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    rng = np.random.default_rng(902)
    images = []
    for number in range(n):
        figure, axes = plt.subplots(figsize=(5.2, 3.4), dpi=90)
        months = np.arange(25)
        for _ in range(1 + number % 3):
            values = 50 + np.cumsum(rng.normal(0, 6, len(months)))
            axes.plot(months, values.clip(2, 98), lw=1.2, marker="s", ms=3)
        axes.set(ylim=(0, 100), xlim=(0, months[-1]), xlabel="Month", ylabel="Share (%)")
        axes.set(title="Visits by month", facecolor="#eaeaf2")
        axes.grid(True, alpha=0.4, color="white")
        file = io.BytesIO()
        figure.savefig(file)
        plt.close(figure)
        images.append(Image.open(file).convert("RGB"))
    return images


def clocks(n: int) -> list[Image.Image]:
    """Clock faces at other hours."""

    def at(degrees: float, length: float) -> tuple[float, float]:
        angle = math.radians(degrees - 90)
        return 140 + length * math.cos(angle), 140 + length * math.sin(angle)

    images = []
    for number in range(n):
        image, pen = _blank(280, 280, "#dfe8ee")
        pen.ellipse((20, 20, 260, 260), fill="#fdfdf5", outline="#345", width=7)
        for hour in range(12):
            pen.line((*at(30 * hour, 98), *at(30 * hour, 110)), "#345", 4)
        hour, minute = number % 12 + 0.37, (number * 25 + 7 * (number // 12) + 5) % 60
        hands = [(30 * hour, 58, 7), (6 * minute, 86, 4), (6 * (number * 11 % 60), 92, 2)]
        for degrees, length, width in hands:
            colour = "#b02020" if width == 2 else "#222"
            pen.line((140, 140, *at(degrees, length)), fill=colour, width=width)
        images.append(image)
    return images


def flags(n: int) -> list[Image.Image]:
    """Stripes in other colours, and in the same colours in another order, but not its reverse."""
    rng = random.Random(78)
    images = []
    for a, b, c in rng.sample(list(combinations(FLAG_COLOURS, 3)), -(-n // 3)):
        for stripes in ((a, b, c), (b, a, c), (a, c, b)):
            image, pen = _blank(330, 220, stripes[0])
            pen.rectangle((0, 220 * 0.3, 330, 220 * 0.7), fill=stripes[1])
            pen.rectangle((0, 220 * 0.7, 330, 220), fill=stripes[2])
            images.append(image)
    return images[:n]


def icons(n: int) -> list[Image.Image]:
    """Two shapes, each in many colours."""
    images = []
    for number in range(n):
        vivid = colorsys.hsv_to_rgb((number // 2) / (n / 2) + 0.03, 0.85, 0.85)
        colour, dark = (
            "#" + "".join(f"{int(255 * level * share):02x}" for level in vivid)
            for share in (1, 0.7)
        )
        image, pen = _blank(144, 144, "white")
        if number % 2:
            pen.polygon([(72, 8), (134, 60), (112, 134), (32, 134), (10, 60)], fill=colour)
            pen.ellipse((50, 52, 94, 96), fill="white")
        else:
            pen.rounded_rectangle((40, 66, 104, 132), 10, fill=colour)
            pen.arc((48, 16, 96, 100), 180, 360, fill=dark, width=10)
            pen.ellipse((64, 86, 80, 102), fill="white")
        images.append(image)
    return images


def screens(n: int) -> list[Image.Image]:
    """Windows of one program."""
    rng = random.Random(56)
    font = ImageFont.load_default(size=13)
    images = []
    for _ in range(n):
        image, pen = _blank(640, 420, "#fbfbfb")
        pen.rectangle((0, 0, 640, 32), fill="#217346")
        pen.text((12, 8), "Table", font=font, fill="white")
        for y in (38 + 23 * row for row in range(16)):
            pen.line((0, y + 21, 640, y + 21), fill="#d0d0d0")
            for column in range(5):
                cell = str(rng.randint(0, 10 ** rng.randint(1, 7)))
                pen.text((16 + 126 * column, y + 3), cell, "#222", font)
        for column in range(1, 5):
            pen.line((10 + 126 * column, 32, 10 + 126 * column, 420), fill="#d0d0d0")
        images.append(image)
    return images


def maps(n: int) -> list[Image.Image]:
    """One map, each time with another region filled."""
    centres = np.random.default_rng(62).uniform(0, 1, (n, 2))
    y, x = np.mgrid[0:1:300j, 0:1:400j]
    region = np.argmin([(x - a) ** 2 + (y - b) ** 2 for a, b in centres], axis=0)
    border = (region != np.roll(region, 1, 0)) | (region != np.roll(region, 1, 1))
    images = []
    for number in range(n):
        levels = np.full((300, 400, 3), 220, np.uint8)
        levels[region == number] = (40, 90, 180)
        levels[border] = 255
        images.append(Image.fromarray(levels))
    return images


def paintings(n: int) -> list[Image.Image]:
    """Images with soft shapes of all colours."""
    rng = np.random.default_rng(45)
    images = []
    for _ in range(n):
        levels = sum(
            gaussian_filter(rng.normal(size=(260, 340, 3)), (s, s, 0)) * s for s in (3, 9, 30)
        )
        levels = (levels - levels.min()) / np.ptp(levels) * 255
        images.append(Image.fromarray(levels.astype(np.uint8)))
    return images


def framed(inner: list[Image.Image]) -> list[Image.Image]:
    """The images in one carved frame."""
    rng = np.random.default_rng(13)
    w, h, border = 460, 360, 48
    y, x = np.mgrid[:h, :w]
    depth = np.minimum(np.minimum(x, w - 1 - x), np.minimum(y, h - 1 - y))
    carved = 30 * np.sin(x / 9 + y / 7) + rng.normal(0, 12, (h, w))
    wave = 125 + 55 * np.sin(depth / 4) + carved
    levels = np.stack([wave, wave * 0.8, wave * 0.4], 2).clip(0, 255)
    frame = Image.fromarray(levels.astype(np.uint8))
    images = []
    for image in inner:
        images.append(frame.copy())
        images[-1].paste(image.resize((w - 2 * border, h - 2 * border)), (border, border))
    return images


TEMPLATES: dict[str, Callable[[int], list[Image.Image]]] = {
    "line charts with the same axes": line_charts,
    "clock faces at other hours": clocks,
    "stripes in other orders": flags,
    "icons in other colours": icons,
    "screens of one program": screens,
    "maps with another region filled": maps,
    "paintings": paintings,
}
