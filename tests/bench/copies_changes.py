"""Changes that people and programs make to images, by name: `copies` measures how many are found."""

import io
from collections.abc import Callable

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont, ImageOps

Change = Callable[[Image.Image], Image.Image]
SEPIA = ((0.393, 0.769, 0.189), (0.349, 0.686, 0.168), (0.272, 0.534, 0.131))


def encoded(image: Image.Image, quality: int = 85) -> bytes:
    """The image as a JPEG."""
    file = io.BytesIO()
    image.save(file, "JPEG", quality=quality)
    return file.getvalue()


def _framed(colour: str, share: float) -> Change:
    return lambda image: ImageOps.expand(image, max(1, round(max(image.size) * share)), colour)


def _scaled(share: float) -> Change:
    return lambda image: image.resize([max(1, round(side * share)) for side in image.size])


def _cropped(left: float, top: float, right: float, bottom: float) -> Change:
    def crop(image: Image.Image) -> Image.Image:
        w, h = image.size
        return image.crop(
            (round(w * left), round(h * top), round(w * (1 - right)), round(h * (1 - bottom)))
        )

    return crop


def _written(text: str, share: float, at: tuple[float, float], opacity: int, anchor: str) -> Change:
    """A white line of text with a dark edge, as high as this share of the image."""

    def write(image: Image.Image) -> Image.Image:
        layer = Image.new("RGBA", image.size)
        ImageDraw.Draw(layer).text(
            (image.width * at[0], image.height * at[1]),
            text,
            fill=(255, 255, 255, opacity),
            font=ImageFont.load_default(size=max(9, round(image.height * share))),
            anchor=anchor,
            stroke_width=1,
            stroke_fill=(0, 0, 0, opacity),
        )
        return Image.alpha_composite(image.convert("RGBA"), layer).convert("RGB")

    return write


def _with_black_box(image: Image.Image) -> Image.Image:
    w, h = image.size
    ImageDraw.Draw(image).rectangle((w * 0.55, h * 0.3, w * 0.75, h * 0.5), fill="black")
    return image


def _by_levels(change: Callable[[np.ndarray], np.ndarray]) -> Change:
    return lambda image: Image.fromarray(
        np.clip(change(np.asarray(image, dtype=float)), 0, 255).astype(np.uint8)
    )


def _in_two_tones(dark: tuple[int, ...], light: tuple[int, ...], gamma: float = 1) -> Change:
    def tone(image: Image.Image) -> Image.Image:
        grey = (np.asarray(image.convert("L"), dtype=float)[..., None] / 255) ** gamma
        levels = np.array(dark) + (np.array(light) - np.array(dark)) * grey
        return Image.fromarray(levels.astype(np.uint8))

    return tone


def _noisy(levels: np.ndarray) -> np.ndarray:
    return levels + np.random.default_rng(0).normal(0, 12, levels.shape)


def _rotated(image: Image.Image) -> Image.Image:
    return image.rotate(5, Image.Resampling.BICUBIC, expand=True, fillcolor="white")


CHANGES: dict[str, Change] = {
    "re-encoded (JPEG 40)": lambda image: image,
    "scaled to half": _scaled(0.5),
    "scaled to a fifth": _scaled(0.2),
    "cropped by 3 % a side": _cropped(0.03, 0.03, 0.03, 0.03),
    "cropped by 10 % a side": _cropped(0.1, 0.1, 0.1, 0.1),
    "cut by 12 % at one side": _cropped(0.12, 0, 0, 0),
    "watermark": _written("example.org", 1 / 12, (0.97, 0.97), 128, "rs"),
    "caption burnt in": _written("A picture of something", 1 / 14, (0.5, 0.96), 255, "ms"),
    "black box over 4 %": _with_black_box,
    "white frame of 5 %": _framed("white", 0.05),
    "white frame of 15 %": _framed("white", 0.15),
    "black frame of 8 %": _framed("black", 0.08),
    "mirrored": ImageOps.mirror,
    "turned by 90 degrees": lambda image: image.transpose(Image.Transpose.ROTATE_90),
    "turned by 5 degrees, white corners": _rotated,
    "noise of 12 levels": _by_levels(_noisy),
    "blur of 1 %": lambda image: image.filter(ImageFilter.GaussianBlur(max(image.size) / 100)),
    "warmer colours": _by_levels(lambda levels: levels * (1.15, 1, 0.8)),
    "red cast": _by_levels(lambda levels: levels * 0.75 + np.array((50, 15, 10))),
    "gamma 1.5": _by_levels(lambda levels: 255 * (levels / 255) ** 1.5),
    "grey": lambda image: image.convert("L").convert("RGB"),
    "sepia": _by_levels(lambda levels: levels @ np.array(SEPIA).T),
    "sepia in two tones": _in_two_tones((40, 20, 5), (250, 230, 190)),
    "cyanotype": _in_two_tones((8, 30, 70), (235, 245, 250), 0.9),
}


def copy(image: Image.Image, change: str) -> bytes:
    """The file of a changed copy."""
    return encoded(CHANGES[change](image.copy()), 40 if "JPEG 40" in change else 85)
