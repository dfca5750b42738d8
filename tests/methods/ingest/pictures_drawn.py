"""Pictures drawn at random for the tests of copies: textures, dark ones with a bright middle."""

import io

import numpy as np
from PIL import Image, ImageDraw, ImageOps
from scipy.ndimage import gaussian_filter


def texture(seed: int, side: int = 320) -> Image.Image:
    """Noise at several scales: no two seeds have a detail in common."""
    draw = np.random.default_rng(seed)
    levels = sum(
        gaussian_filter(draw.normal(size=(side, side)), sigma) * sigma for sigma in (2, 6, 18, 50)
    )
    levels = (levels - levels.min()) / (levels.max() - levels.min()) * 255
    return Image.fromarray(levels.astype(np.uint8)).convert("RGB")


def nebula(seed: int, side: int = 320) -> Image.Image:
    """Something bright in the middle of the dark: all of them are alike but for their detail."""
    y, x = np.mgrid[-1 : 1 : side * 1j, -1 : 1 : side * 1j]
    glow = np.exp(-(x**2 + y**2) * 6)
    own, shared = (
        np.asarray(texture(each, side).convert("L"), dtype=float) / 255 for each in (seed, 999)
    )
    detail = own - gaussian_filter(own, 6)
    levels = glow * (0.3 + 0.5 * gaussian_filter(shared, 9) + detail) * 300
    return Image.fromarray(np.clip(levels, 0, 255).astype(np.uint8)).convert("RGB")


def encoded(image: Image.Image, form: str = "PNG", **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, form, **options)
    return buffer.getvalue()


def file_of(image: Image.Image, quality: int = 85) -> bytes:
    return encoded(image, "JPEG", quality=quality)


def cropped(
    image: Image.Image, left: float, top: float, right: float, bottom: float
) -> Image.Image:
    """Without these shares of its width and height."""
    w, h = image.size
    return image.crop(
        (round(w * left), round(h * top), round(w * (1 - right)), round(h * (1 - bottom)))
    )


def marked(image: Image.Image) -> Image.Image:
    """With a bar and a line in a corner."""
    made = image.copy()
    w, h = made.size
    draw = ImageDraw.Draw(made)
    draw.rectangle((w * 0.6, h * 0.88, w * 0.97, h * 0.95), fill=(150, 150, 150))
    draw.line((w * 0.6, h * 0.85, w * 0.97, h * 0.85), fill=(150, 150, 150), width=3)
    return made


def framed(image: Image.Image, colour: str, share: float) -> Image.Image:
    """In a frame of this share of its longer side."""
    return ImageOps.expand(image, round(max(image.size) * share), colour)


COPIES = {
    "re-encoded": lambda image: file_of(image, 40),
    "scaled": lambda image: file_of(image.resize((160, 160))),
    "stretched": lambda image: file_of(image.resize((400, 250))),
    "cropped 3 %": lambda image: file_of(cropped(image, 0.03, 0.03, 0.03, 0.03)),
    "cropped 10 %": lambda image: file_of(cropped(image, 0.1, 0.1, 0.1, 0.1)),
    "cropped at one side": lambda image: file_of(cropped(image, 0.1, 0, 0, 0)),
    "in a white frame": lambda image: file_of(framed(image, "white", 0.06)),
    "in a wide black frame": lambda image: file_of(framed(image, "black", 0.15)),
    "marked": lambda image: file_of(marked(image)),
    "mirrored": lambda image: file_of(ImageOps.mirror(image)),
    "turned by 90 degrees": lambda image: file_of(image.transpose(Image.Transpose.ROTATE_90)),
    "turned by 5 degrees": lambda image: file_of(
        image.rotate(5, Image.Resampling.BICUBIC, expand=True, fillcolor="white")
    ),
}
