"""Decoded images as they are shown and measured: upright, in 8 bits, several as one numbered grid."""

import math
from collections.abc import Callable
from typing import Literal, NamedTuple

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
"""Pixels of the strip with a cell's number, at least, and which part of the cell it is."""
_GAP = 2
"""Pixels between a cell's edge and its picture."""


def upright_transpose(image: Image.Image) -> Image.Transpose | None:
    """The transposition that turns an image upright, by its EXIF (2.3, 4.6.4 A) or XMP orientation.

    None if it is upright, has no tag, or the tag cannot be read: viewers ignore broken EXIF.
    """
    try:
        orientation = image.getexif().get(ExifTags.Base.Orientation)
    except Exception:  # Pillow's reader raises nearly any type on broken EXIF
        return None
    return _TURN_OF.get(orientation) if isinstance(orientation, int) else None


def size_as_shown(image: Image.Image) -> tuple[int, int]:
    """Width and height in pixels after the image is turned upright."""
    width, height = image.size
    return (height, width) if upright_transpose(image) in _SIDES_CHANGE else (width, height)


def on_white(image: Image.Image, mode: Literal["RGB", "L"]) -> Image.Image:
    """Convert the pixels to RGB or grey of 8 bits, transparency composited on white, without turning.

    An image of that mode without transparency is returned itself. Every mode of the four accepted
    formats works (1, L, LA, P, RGB, RGBA, CMYK, I, I;16), and F with values from 0 to 255. Grey is
    ITU-R 601 luma. An animated image gives the current frame, by default the first.

    Args:
        image: The image.
        mode: The mode of the result.

    Returns:
        The converted image.
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
    """Mean opacity of a decoded image, 0 (every pixel is transparent) to 1."""
    if not image.has_transparency_data:
        return 1.0
    levels = image.convert("RGBA").getchannel("A").histogram()
    return sum(level * n for level, n in enumerate(levels)) / (255 * sum(levels))


def upright_rgb(image: Image.Image) -> Image.Image:
    """The image as a viewer shows it: turned upright, on white, RGB of 8 bits."""
    # exif_transpose also removes the tag, so that the image is not turned twice.
    upright = image if upright_transpose(image) is None else ImageOps.exif_transpose(image)
    return on_white(upright, "RGB")


def _eight_bits(image: Image.Image) -> Image.Image:
    """Grey of 16 bits scaled to 8 bits; Pillow's own conversion clips, which makes images white."""
    grey = image.convert("I").point(lambda value: value / 256).convert("L")
    key = image.info.get("transparency")
    if isinstance(key, int):
        grey.info["transparency"] = key // 256
    return grey


# --- Several pictures as one ----------------------------------------------------------------------


class GridLayout(NamedTuple):
    """Cells of a grid: columns, rows, the side of a cell and the height of its label, in pixels."""

    columns: int
    rows: int
    cell: int
    label: int

    @property
    def picture(self) -> int:
        """The longest side of a picture in its cell, in pixels."""
        return self.cell - self.label - 2 * _GAP


def lay_out(n_pictures: int, side: int) -> GridLayout:
    """The layout of a grid of at most `side` pixels a side, as near to a square as may be."""
    columns = math.ceil(math.sqrt(n_pictures))
    cell = side // columns
    return GridLayout(
        columns, math.ceil(n_pictures / columns), cell, max(_LEAST_LABEL, cell // _LABEL_PART)
    )


def draw_grid(
    n_pictures: int, side: int, picture: Callable[[int, int], Image.Image]
) -> Image.Image:
    """Draw a grid of images with their numbers from 1 above them, row by row, white on black.

    The same images give the same pixels.

    Args:
        n_pictures: The number of images.
        side: The longest side of the grid in pixels.
        picture: Gives an RGB image by its place (from 0) and the longest side in pixels. It is called
            for one image at a time.

    Returns:
        The grid.
    """
    layout = lay_out(n_pictures, side)
    grid = Image.new("RGB", (layout.columns * layout.cell, layout.rows * layout.cell), "white")
    draw = ImageDraw.Draw(grid)
    font = ImageFont.load_default(layout.label - 2)
    longest = max(1, layout.picture)
    for place in range(n_pictures):
        row, column = divmod(place, layout.columns)
        left, top = column * layout.cell, row * layout.cell
        draw.rectangle((left, top, left + layout.cell - _GAP, top + layout.label - 1), fill="black")
        draw.text((left + _GAP, top), str(place + 1), fill="white", font=font)
        shown = picture(place, longest)
        width, height = shown.size
        across = left + (layout.cell - width) // 2
        grid.paste(shown, (across, top + layout.label + _GAP + (longest - height) // 2))
    return grid
