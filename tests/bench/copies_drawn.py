"""Drawn images of one template each, for `copies`: different images that share most of their pixels.

The two halves have other designs and other seeds. No two images of a kind are copies of each other.
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

WORDS = ["alpha", "report", "draft", "budget", "notes", "summer", "trip", "copy", "music", "backup"]
FLAG_COLOURS = (
    ["#0055a4", "#ffffff", "#ef4135", "#009246", "#ffce00", "#000000", "#ff883e", "#75aadb"],
    ["#00247d", "#ffffff", "#cf142b", "#006a4e", "#f4c430", "#111111", "#ff7f00", "#6cace4"],
)


def _blank(width: int, height: int, colour: str) -> tuple[Image.Image, ImageDraw.ImageDraw]:
    image = Image.new("RGB", (width, height), colour)
    return image, ImageDraw.Draw(image)


def line_charts(held_out: bool, n: int) -> list[Image.Image]:
    """Line charts with the same axes."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    rng = np.random.default_rng(902 if held_out else 901)
    images = []
    for number in range(n):
        figure, axes = plt.subplots(figsize=(5.2, 3.4) if held_out else (5, 3.6), dpi=90)
        months = np.arange(25 if held_out else 31)
        for _ in range(1 + number % 3):
            values = 50 + np.cumsum(rng.normal(0, 6, len(months)))
            style = {"lw": 1.2, "marker": "s", "ms": 3} if held_out else {}
            axes.plot(months, values.clip(2, 98), **style)
        axes.set(ylim=(0, 100), xlim=(0, months[-1]), xlabel="Month", ylabel="Share (%)")
        axes.set(title="Visits by month" if held_out else "Share by month")
        if held_out:
            axes.set_facecolor("#eaeaf2")
        axes.grid(True, alpha=0.4, color="white" if held_out else "grey")
        file = io.BytesIO()
        figure.savefig(file)
        plt.close(figure)
        images.append(Image.open(file).convert("RGB"))
    return images


def clocks(held_out: bool, n: int) -> list[Image.Image]:
    """Clock faces at other hours."""
    images = []
    for number in range(n):
        image, pen = _blank(280, 280, "#dfe8ee" if held_out else "#e8e4da")
        pen.ellipse(
            (20, 20, 260, 260), fill="#fdfdf5", outline="#345" if held_out else "#333", width=7
        )
        for hour in range(12):
            angle = math.radians(30 * hour - 90)
            x, y = 140 + 98 * math.cos(angle), 140 + 98 * math.sin(angle)
            if held_out:
                pen.line(
                    (x, y, 140 + 110 * math.cos(angle), 140 + 110 * math.sin(angle)), "#345", 4
                )
            else:
                font = ImageFont.load_default(size=22)
                pen.text((x, y), str(hour or 12), fill="black", font=font, anchor="mm")
        hour, minute = number % 12 + 0.37, (number * 25 + 7 * (number // 12) + 5) % 60
        hands = [(30 * hour, 58, 7), (6 * minute, 86, 4)] + [
            (6 * (number * 11 % 60), 92, 2)
        ] * held_out
        for degrees, length, width in hands:
            angle = math.radians(degrees - 90)
            end = (140 + length * math.cos(angle), 140 + length * math.sin(angle))
            pen.line((140, 140, *end), fill="#b02020" if width == 2 else "#222", width=width)
        images.append(image)
    return images


def flags(held_out: bool, n: int) -> list[Image.Image]:
    """Stripes in other colours, and in the same colours in another order, but not its reverse."""
    rng = random.Random(78 if held_out else 77)
    sets = list(combinations(FLAG_COLOURS[held_out], 3))
    orders = [(a, b, c) for a, b, c in rng.sample(sets, -(-n // 3))]
    images = []
    for a, b, c in orders:
        for stripes in ((a, b, c), (b, a, c), (a, c, b)):
            w, h = (330, 220) if held_out else (300, 200)
            image, pen = _blank(w, h, stripes[0])
            if held_out:
                pen.rectangle((0, h * 0.3, w, h * 0.7), fill=stripes[1])
                pen.rectangle((0, h * 0.7, w, h), fill=stripes[2])
            else:
                pen.rectangle((w / 3, 0, w * 2 / 3, h), fill=stripes[1])
                pen.rectangle((w * 2 / 3, 0, w, h), fill=stripes[2])
            images.append(image)
    return images[:n]


def icons(held_out: bool, n: int) -> list[Image.Image]:
    """Two shapes, each in many colours."""
    images = []
    for number in range(n):
        hue, shape = (number // 2) / (n / 2), number % 2
        vivid = colorsys.hsv_to_rgb(hue + 0.03 * held_out, 0.85 if held_out else 0.75, 0.85)
        colour, dark = (
            "#" + "".join(f"{int(255 * level * share):02x}" for level in vivid)
            for share in (1, 0.7)
        )
        image, pen = _blank(144, 144, "white")
        if held_out and shape:
            pen.polygon([(72, 8), (134, 60), (112, 134), (32, 134), (10, 60)], fill=colour)
            pen.ellipse((50, 52, 94, 96), fill="white")
        elif held_out:
            pen.rounded_rectangle((40, 66, 104, 132), 10, fill=colour)
            pen.arc((48, 16, 96, 100), 180, 360, fill=dark, width=10)
            pen.ellipse((64, 86, 80, 102), fill="white")
        elif shape:
            pen.ellipse((12, 12, 132, 132), fill=colour, outline=dark, width=6)
            pen.line((42, 74, 66, 98, 104, 50), fill="white", width=12)
        else:
            pen.rounded_rectangle((10, 34, 134, 122), 8, fill=colour)
            pen.rectangle((10, 22, 66, 44), fill=dark)
            pen.rectangle((20, 54, 124, 60), fill="white")
        images.append(image)
    return images


def screens(held_out: bool, n: int) -> list[Image.Image]:
    """Windows of one program."""
    rng = random.Random(56 if held_out else 55)
    font = ImageFont.load_default(size=13)
    images = []
    for _ in range(n):
        image, pen = _blank(640, 420, "#fbfbfb" if held_out else "#1e1e1e")
        pen.rectangle((0, 0, 640, 32), fill="#217346" if held_out else "#3c3c3c")
        pen.text((12, 8), "Table" if held_out else "Editor", font=font, fill="white")
        for row in range(16):
            y = 38 + 23 * row
            if held_out:
                pen.line((0, y + 21, 640, y + 21), fill="#d0d0d0")
                for column in range(5):
                    pen.text(
                        (16 + 126 * column, y + 3),
                        str(rng.randint(0, 10 ** rng.randint(1, 7))),
                        "#222",
                        font,
                    )
            else:
                text = " ".join(rng.sample(WORDS, rng.randint(1, 7)))
                pen.text(
                    (20 + 24 * rng.randint(0, 4), y + 3),
                    text,
                    rng.choice(["#9cdcfe", "#ce9178"]),
                    font,
                )
        if held_out:
            for column in range(1, 5):
                pen.line((10 + 126 * column, 32, 10 + 126 * column, 420), fill="#d0d0d0")
        images.append(image)
    return images


def maps(held_out: bool, n: int) -> list[Image.Image]:
    """One map, each time with another region filled."""
    rng = np.random.default_rng(62 if held_out else 61)
    centres = rng.uniform(0, 1, (n, 2))
    y, x = np.mgrid[0:1:300j, 0:1:400j]
    region = np.argmin([(x - a) ** 2 + (y - b) ** 2 for a, b in centres], axis=0)
    border = (region != np.roll(region, 1, 0)) | (region != np.roll(region, 1, 1))
    images = []
    for number in range(n):
        levels = np.full((300, 400, 3), 220 if held_out else 235, np.uint8)
        levels[region == number] = (40, 90, 180) if held_out else (200, 40, 40)
        levels[border] = 255 if held_out else 90
        images.append(Image.fromarray(levels))
    return images


def paintings(held_out: bool, n: int) -> list[Image.Image]:
    """Images with soft shapes of all colours."""
    rng = np.random.default_rng(45 if held_out else 44)
    images = []
    for _ in range(n):
        levels = sum(
            gaussian_filter(rng.normal(size=(260, 340, 3)), (s, s, 0)) * s for s in (3, 9, 30)
        )
        levels = (levels - levels.min()) / np.ptp(levels) * 255
        images.append(Image.fromarray(levels.astype(np.uint8)))
    return images


def framed(inner: list[Image.Image], held_out: bool) -> list[Image.Image]:
    """The images in one carved frame."""
    rng = np.random.default_rng(13 if held_out else 12)
    w, h, border = (460, 360, 48) if held_out else (420, 340, 44)
    y, x = np.mgrid[:h, :w]
    depth = np.minimum(np.minimum(x, w - 1 - x), np.minimum(y, h - 1 - y))
    carved = np.sin(x / 9 + y / 7) if held_out else np.sin(x / 5) * np.sin(y / 5)
    wave = (
        125 + 55 * np.sin(depth / (4 if held_out else 3)) + 30 * carved + rng.normal(0, 12, (h, w))
    )
    frame = Image.fromarray(
        np.stack([wave, wave * 0.8, wave * 0.4], 2).clip(0, 255).astype(np.uint8)
    )
    images = []
    for image in inner:
        images.append(frame.copy())
        images[-1].paste(image.resize((w - 2 * border, h - 2 * border)), (border, border))
    return images


TEMPLATES: dict[str, Callable[[bool, int], list[Image.Image]]] = {
    "line charts with the same axes": line_charts,
    "clock faces at other hours": clocks,
    "stripes in other orders": flags,
    "icons in other colours": icons,
    "screens of one program": screens,
    "maps with another region filled": maps,
    "paintings": paintings,
}
