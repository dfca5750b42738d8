"""Image conversion: turns images upright (EXIF), converts pixels to 8 bits, draws numbered grids."""

import math
from collections.abc import Callable
from typing import Literal

from PIL import ExifTags, Image, ImageDraw, ImageFont, ImageOps

_TURN_OF = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
_SIDES_CHANGE = {
    Image.Transpose.TRANSPOSE,
    Image.Transpose.ROTATE_270,
    Image.Transpose.TRANSVERSE,
    Image.Transpose.ROTATE_90,
}
_LEAST_LABEL, _LABEL_PART = 12, 10
"""Height of the strip with a cell's number: a tenth of the cell, at least 12 pixels."""
_GAP = 2
"""Pixels between the edge of a cell and its image."""


def upright_transpose(image: Image.Image) -> Image.Transpose | None:
    """Return the transposition that turns an image upright, by its EXIF or XMP orientation tag.

    Returns None if the image is upright or has no readable tag, because viewers ignore broken EXIF.
    Source: EXIF 2.3, section 4.6.4 A.
    """
    try:
        orientation = image.getexif().get(ExifTags.Base.Orientation)
    except Exception:  # Pillow's reader raises nearly any type on broken EXIF
        return None
    return _TURN_OF.get(orientation) if isinstance(orientation, int) else None


def size_as_shown(image: Image.Image) -> tuple[int, int]:
    """Return width and height in pixels after the image is turned upright."""
    width, height = image.size
    return (height, width) if upright_transpose(image) in _SIDES_CHANGE else (width, height)


def on_white(image: Image.Image, mode: Literal["RGB", "L"]) -> Image.Image:
    """Convert an image to 8-bit RGB or grey, with transparency composited on white.

    The image is not turned. If it already has the mode and no transparency, it is returned unchanged.
    Every mode of the four accepted formats works (1, L, LA, P, RGB, RGBA, CMYK, I, I;16), and F with
    values from 0 to 255. Grey is ITU-R 601 luma. The current frame of an animated image is converted,
    by default the first.

    Args:
        image: The image.
        mode: The mode of the result.
    """
    image.load()
    if image.mode.startswith("I"):
        image = _eight_bits(image)
    if image.has_transparency_data:
        layer = image.convert("RGBA")
        ground = Image.new(mode, layer.size, "white")
        ground.paste(layer.convert(mode), mask=layer)
        return ground
    if image.mode == "P":
        # Converted directly to grey, Pillow would compute the luma of each pixel, not of each colour.
        image = image.convert("RGB")
    return image if image.mode == mode else image.convert(mode)


def opacity(image: Image.Image) -> float:
    """Compute the mean opacity of a decoded image, 0 (every pixel is transparent) to 1."""
    if not image.has_transparency_data:
        return 1.0
    levels = image.convert("RGBA").getchannel("A").histogram()
    return sum(level * n for level, n in enumerate(levels)) / (255 * sum(levels))


def upright_rgb(image: Image.Image) -> Image.Image:
    """Convert an image to what a viewer shows: turned upright, on white, 8-bit RGB."""
    # exif_transpose also removes the tag, so that the image is not turned twice.
    upright = image if upright_transpose(image) is None else ImageOps.exif_transpose(image)
    return on_white(upright, "RGB")


def _eight_bits(image: Image.Image) -> Image.Image:
    """Scale 16-bit grey to 8 bits. Pillow's own conversion clips, which makes images white."""
    grey = image.convert("I").point(lambda value: value / 256).convert("L")
    key = image.info.get("transparency")
    if isinstance(key, int):
        grey.info["transparency"] = key // 256
    return grey


# --- Several images as one grid -------------------------------------------------------------------


def draw_grid(
    n_pictures: int, side: int, picture: Callable[[int, int], Image.Image]
) -> Image.Image:
    """Draw a grid of images row by row, as square as possible, each below its number (from 1, white on
    black).

    The same images always give the same pixels.

    Args:
        n_pictures: The number of images.
        side: The longest side of the grid in pixels.
        picture: Returns the RGB image at a position (from 0), with at most the second argument's
            pixels a side. It is called for one image at a time.
    """
    columns = math.ceil(math.sqrt(n_pictures))
    cell = side // columns
    label = max(_LEAST_LABEL, cell // _LABEL_PART)
    grid = Image.new("RGB", (columns * cell, math.ceil(n_pictures / columns) * cell), "white")
    draw = ImageDraw.Draw(grid)
    font = ImageFont.load_default(label - 2)
    longest = max(1, cell - label - 2 * _GAP)
    for place in range(n_pictures):
        row, column = divmod(place, columns)
        left, top = column * cell, row * cell
        draw.rectangle((left, top, left + cell - _GAP, top + label - 1), fill="black")
        draw.text((left + _GAP, top), str(place + 1), fill="white", font=font)
        shown = picture(place, longest)
        width, height = shown.size
        across = left + (cell - width) // 2
        grid.paste(shown, (across, top + label + _GAP + (longest - height) // 2))
    return grid
