"""What people and programs do to pictures: the kinds of copies that `duplicates.py` plants.

What belongs here: changing a picture. A kind's name is its row in the guide. What is drawn at random
(noise) is drawn by a fixed seed.
"""

import io
from collections.abc import Callable

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont, ImageOps

Change = Callable[[Image.Image], Image.Image]


def encoded(image: Image.Image, quality: int = 85) -> bytes:
    """The picture as a JPEG."""
    file = io.BytesIO()
    image.save(file, "JPEG", quality=quality)
    return file.getvalue()


def framed(colour: str, share: float) -> Change:
    """In a frame as wide as this share of the longer side."""
    return lambda image: ImageOps.expand(image, max(1, round(max(image.size) * share)), colour)


def _scaled(share: float) -> Change:
    return lambda image: image.resize(
        (max(1, round(image.width * share)), max(1, round(image.height * share)))
    )


def _cropped(left: float, top: float, right: float, bottom: float) -> Change:
    """Without these shares of the width and of the height."""

    def crop(image: Image.Image) -> Image.Image:
        w, h = image.size
        return image.crop(
            (round(w * left), round(h * top), round(w * (1 - right)), round(h * (1 - bottom)))
        )

    return crop


def _written(
    text: str, share: float, place: tuple[float, float], opacity: int, anchor: str
) -> Change:
    """With a white line of text that is as high as this share of the picture."""

    def write(image: Image.Image) -> Image.Image:
        layer = Image.new("RGBA", image.size)
        font = ImageFont.load_default(size=max(9, round(image.height * share)))
        at = (image.width * place[0], image.height * place[1])
        pen = ImageDraw.Draw(layer)
        pen.text(
            at,
            text,
            fill=(255, 255, 255, opacity),
            font=font,
            anchor=anchor,
            stroke_width=1,
            stroke_fill=(0, 0, 0, opacity),
        )
        return Image.alpha_composite(image.convert("RGBA"), layer).convert("RGB")

    return write


def _with_black_box(image: Image.Image) -> Image.Image:
    """A box over a fifth of the width and of the height: 4 % of the area."""
    made = image.copy()
    w, h = made.size
    ImageDraw.Draw(made).rectangle((w * 0.55, h * 0.3, w * 0.75, h * 0.5), fill="black")
    return made


def _cast(image: Image.Image) -> Image.Image:
    """Warmer: red times 1.15, blue times 0.8."""
    red, green, blue = image.split()
    return Image.merge(
        "RGB",
        (
            red.point(lambda level: min(255, level * 1.15)),
            green,
            blue.point(lambda level: level * 0.8),
        ),
    )


def _noisy(image: Image.Image) -> Image.Image:
    """Gaussian noise of 12 levels of 255."""
    noise = np.random.default_rng(0).normal(0, 12, (image.height, image.width, 3))
    levels = np.asarray(image, dtype=np.float64) + noise
    return Image.fromarray(np.clip(levels, 0, 255).astype(np.uint8))


def _rotated(image: Image.Image) -> Image.Image:
    return image.rotate(5, Image.Resampling.BICUBIC, expand=True, fillcolor="white")


CHANGES: dict[str, Change] = {
    "scaled to half": _scaled(0.5),
    "scaled to a fifth": _scaled(0.2),
    "cropped by 3 % a side": _cropped(0.03, 0.03, 0.03, 0.03),
    "cropped by 10 % a side": _cropped(0.1, 0.1, 0.1, 0.1),
    "cut by 12 % at one side": _cropped(0.12, 0, 0, 0),
    "watermark": _written("example.org", 1 / 12, (0.97, 0.97), 128, "rs"),
    "caption burnt in": _written("A picture of something", 1 / 14, (0.5, 0.96), 255, "ms"),
    "black box over 4 %": _with_black_box,
    "white frame of 5 %": framed("white", 0.05),
    "white frame of 15 %": framed("white", 0.15),
    "black frame of 8 %": framed("black", 0.08),
    "mirrored": ImageOps.mirror,
    "turned by 90 degrees": lambda image: image.transpose(Image.Transpose.ROTATE_90),
    "turned by 5 degrees, white corners": _rotated,
    "grey": lambda image: image.convert("L").convert("RGB"),
    "warmer colours": _cast,
    "gamma 1.5": lambda image: image.point(lambda level: 255 * (level / 255) ** 1.5),
    "noise of 12 levels": _noisy,
    "blur of 1 %": lambda image: image.filter(ImageFilter.GaussianBlur(max(image.size) / 100)),
}
QUALITY = 40
"""Of the JPEG of the first kind; the others have 85."""
KINDS: dict[str, Callable[[Image.Image], bytes]] = {
    "re-encoded (JPEG 40)": lambda image: encoded(image, QUALITY),
    **{
        name: lambda image, change=change: encoded(change(image))
        for name, change in CHANGES.items()
    },
}
"""The copies of a picture, as files, by what was done to it."""
