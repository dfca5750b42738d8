"""The forms a decoded picture is brought into before it is shown or measured.

What belongs here: which way up a picture stands, and its pixels as plain RGB or grey, whatever its
file holds, so that what is measured is what is shown. What does not: whether bytes may enter
(`image_check.py`), the figures worked out of the pixels (`image_quality.py`), and the stored
files with their thumbnails (`resources/images/store.py`).
"""

from typing import Literal

from PIL import ExifTags, Image, ImageOps

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


def turn_of(image: Image.Image) -> Image.Transpose | None:
    """What brings an image upright, by its orientation tag (EXIF 2.3, 4.6.4 A; else XMP's).

    None where it stands upright, says nothing, or says what cannot be read: a viewer shows a
    picture with broken EXIF as it lies.
    """
    try:
        orientation = image.getexif().get(ExifTags.Base.Orientation)
    except Exception:  # Pillow's reader raises nearly any type on broken EXIF
        return None
    return _TURN_OF.get(orientation) if isinstance(orientation, int) else None


def size_as_shown(image: Image.Image) -> tuple[int, int]:
    """Width and height in pixels once the image stands upright."""
    width, height = image.size
    return (height, width) if turn_of(image) in _SIDES_CHANGE else (width, height)


def on_white(image: Image.Image, mode: Literal["RGB", "L"]) -> Image.Image:
    """The pixels as they lie, as RGB or grey of 8 bits, whatever is transparent laid on white.

    An image that is so already is given back itself. Takes every mode of the four accepted formats
    (1, L, LA, P, RGB, RGBA, CMYK, I, I;16), and F, whose values count as 0 to 255. Grey is ITU-R
    601's luma. Of a moving picture the frame that is loaded is taken: the first, where nobody
    sought another.
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
        # Straight to grey, Pillow would work out a colour's luma again for every pixel.
        image = image.convert("RGB")
    return image if image.mode == mode else image.convert(mode)


def upright_rgb(image: Image.Image) -> Image.Image:
    """The picture as a viewer shows it: turned upright, on white, RGB of 8 bits."""
    # The tag is taken off with the turn, so that nobody turns the picture twice.
    upright = image if turn_of(image) is None else ImageOps.exif_transpose(image)
    return on_white(upright, "RGB")


def _eight_bits(image: Image.Image) -> Image.Image:
    """Grey of 16 bits as grey of 8; Pillow's own conversion clips, which turns a picture white."""
    grey = image.convert("I").point(lambda value: value / 256).convert("L")
    key = image.info.get("transparency")
    if isinstance(key, int):
        grey.info["transparency"] = key // 256
    return grey
