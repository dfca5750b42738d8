"""One truth about how a picture looks: which way up it stands, and its pixels as RGB and grey."""

import io
import struct
import zlib

import pytest
from PIL import Image

from methods.ingest.picture import on_white, size_as_shown, upright_rgb, upright_transpose
from tests.methods.ingest.pictures_drawn import encoded

RED, GREEN, BLUE, YELLOW = (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 0)


def reopened(image: Image.Image, format_name: str = "PNG", **options) -> Image.Image:
    return Image.open(io.BytesIO(encoded(image, format_name, **options)))


def flat(mode: str, colour: object) -> Image.Image:
    return Image.new(mode, (8, 8), colour)


def chunk(kind: bytes, content: bytes) -> bytes:
    check = struct.pack(">I", zlib.crc32(kind + content))
    return struct.pack(">I", len(content)) + kind + content + check


def png(colour_type: int, bits: int, pixel: bytes, *chunks: bytes) -> bytes:
    """A PNG of 8 by 8 pixels that are all alike, written by hand."""
    header = struct.pack(">IIBBBBB", 8, 8, bits, colour_type, 0, 0, 0)
    rows = zlib.compress((b"\0" + pixel * 8) * 8)
    body = chunk(b"IHDR", header) + b"".join(chunks) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def four_corners() -> Image.Image:
    """24 by 16 pixels in four blocks, as stored: red, green over blue, yellow."""
    image = Image.new("RGB", (24, 16))
    for colour, place in zip(
        (RED, GREEN, BLUE, YELLOW), ((0, 0), (12, 0), (0, 8), (12, 8)), strict=True
    ):
        image.paste(colour, (*place, place[0] + 12, place[1] + 8))
    return image


def corners(image: Image.Image) -> list[tuple[int, int, int]]:
    """Colours at top left, top right, bottom left, bottom right."""
    right, bottom = image.width - 2, image.height - 2
    return [image.getpixel(place) for place in ((1, 1), (right, 1), (1, bottom), (right, bottom))]


# EXIF 2.3, 4.6.4 A: an orientation says which side of the picture shown the stored row 0 is, and
# which one the stored column 0. With 6 row 0 is the right side and column 0 the top: red, in both,
# is shown at the top right; green, of row 0, at the bottom right; blue, of column 0, at the top left.
AS_SHOWN = {
    1: [RED, GREEN, BLUE, YELLOW],  # row 0 top, column 0 left
    2: [GREEN, RED, YELLOW, BLUE],  # top, right
    3: [YELLOW, BLUE, GREEN, RED],  # bottom, right
    4: [BLUE, YELLOW, RED, GREEN],  # bottom, left
    5: [RED, BLUE, GREEN, YELLOW],  # left, top
    6: [BLUE, RED, YELLOW, GREEN],  # right, top
    7: [YELLOW, GREEN, BLUE, RED],  # right, bottom
    8: [GREEN, YELLOW, RED, BLUE],  # left, bottom
}


@pytest.mark.parametrize("orientation", AS_SHOWN)
@pytest.mark.parametrize("format_name", ["JPEG", "PNG", "WEBP"])
def test_a_picture_is_turned_as_its_exif_says(format_name, orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    options = {"JPEG": {"quality": 100, "subsampling": 0}, "WEBP": {"lossless": True}}
    image = reopened(four_corners(), format_name, exif=exif, **options.get(format_name, {}))
    shown = upright_rgb(image)
    for found, expected in zip(corners(shown), AS_SHOWN[orientation], strict=True):
        assert found == pytest.approx(expected, abs=6)
    assert size_as_shown(image) == shown.size == ((16, 24) if orientation > 4 else (24, 16))
    assert (upright_transpose(image) is None) == (orientation == 1)
    assert upright_transpose(shown) is None, "it is not turned again"


@pytest.mark.filterwarnings("ignore:Corrupt EXIF data")
@pytest.mark.parametrize("exif", [b"Exif\0\0x", b"Exif\0\0II*\0\xff\xff\xff\xff", b"Exif\0\0"])
@pytest.mark.parametrize("format_name", ["JPEG", "PNG", "WEBP"])
def test_broken_exif_turns_nothing_and_breaks_nothing(format_name, exif):
    image = reopened(four_corners(), format_name, exif=exif)
    assert upright_transpose(image) is None
    assert upright_rgb(image).size == size_as_shown(image) == (24, 16)


# Alpha a of 255 over white is colour * a / 255 + 255 - a: at 128 and 0 it is 127, at 128 and 255 255.
KINDS = {
    "grey": (flat("L", 100), (100, 100, 100)),
    "one bit": (flat("1", 1), (255, 255, 255)),
    "clear": (flat("RGBA", (255, 0, 0, 0)), (255, 255, 255)),
    "half clear": (flat("RGBA", (0, 0, 255, 128)), (127, 127, 255)),
    # 60 * 51 / 255 + 255 - 51 = 12 + 204
    "grey and alpha": (flat("LA", (60, 51)), (216, 216, 216)),
    "premultiplied": (flat("RGBa", (0, 0, 128, 128)), (127, 127, 255)),
    # Ink C 0, M 1, Y 1, K 0 is red; K 0.8 leaves 51 of each colour there is.
    "CMYK with black": (flat("CMYK", (0, 255, 255, 204)), (51, 0, 0)),
    # The upper of two bytes.
    "16 bits": (flat("I;16", 0x80FF), (128, 128, 128)),
    "16 bits in 32": (flat("I", 0x4000), (64, 64, 64)),
    "16 bits, other end first": (flat("I;16B", 0x4000), (64, 64, 64)),
    "floats out of range": (flat("F", 1e6), (255, 255, 255)),
    "CMYK JPEG": (reopened(flat("CMYK", (0, 255, 255, 0)), "JPEG", quality=100), (255, 0, 0)),
    "keyed colour": (reopened(flat("RGB", RED), transparency=RED), (255, 255, 255)),
    "another keyed": (reopened(flat("RGB", RED), transparency=BLUE), RED),
    "keyed grey": (reopened(flat("L", 7), transparency=7), (255, 255, 255)),
    "WebP with alpha": (reopened(flat("RGBA", (255, 0, 0, 0)), "WEBP", lossless=True), (255,) * 3),
}
PALETTE = chunk(b"PLTE", bytes([10, 20, 30, 200, 100, 0]))
BY_HAND = {
    "palette's second, clear": (png(3, 8, b"\1", PALETTE, chunk(b"tRNS", b"\xff\0")), (255,) * 3),
    # 200 * 51 / 255 + 204 = 244, 100 * 51 / 255 + 204 = 224, 0 + 204
    "palette, a fifth": (png(3, 8, b"\1", PALETTE, chunk(b"tRNS", b"\xff\x33")), (244, 224, 204)),
    "palette, first alone clear": (png(3, 8, b"\1", PALETTE, chunk(b"tRNS", b"\0")), (200, 100, 0)),
    "16 bits a colour": (png(2, 16, b"\x80\0\x40\0\x20\0"), (128, 64, 32)),
    "16 bits, keyed": (png(0, 16, b"\x80\0", chunk(b"tRNS", b"\x80\0")), (255,) * 3),
    "16 bits, another keyed": (png(0, 16, b"\x80\0", chunk(b"tRNS", b"\0\x80")), (128,) * 3),
}


def opened(kind: str) -> Image.Image:
    return KINDS[kind][0] if kind in KINDS else Image.open(io.BytesIO(BY_HAND[kind][0]))


@pytest.mark.parametrize("kind", [*KINDS, *BY_HAND])
def test_every_kind_of_pixel_comes_out_as_rgb_on_white_and_as_its_luma(kind):
    shown = on_white(opened(kind), "RGB")
    assert (shown.mode, shown.size) == ("RGB", (8, 8))
    red, green, blue = shown.getpixel((3, 3))
    assert (red, green, blue) == pytest.approx({**KINDS, **BY_HAND}[kind][1], abs=1)
    grey = on_white(opened(kind), "L")
    assert grey.mode == "L"
    # ITU-R 601; each way rounds in its own places.
    assert grey.getpixel((3, 3)) == pytest.approx(0.299 * red + 0.587 * green + 0.114 * blue, abs=2)
