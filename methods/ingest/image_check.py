"""Image validation: checks whether bytes are an image of an accepted format that can be decoded.

`ImageRejected` is also raised by the fetcher (`resources/images/fetcher.py`), for example with the
reasons `missing` and `timeout`. The pixels are measured in `image_quality.py`; limits and exclusion
lists are in `image_filters.py`.
"""

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from PIL import Image

# Pillow warns about each tag of damaged metadata; users cannot repair it.
warnings.filterwarnings("ignore", category=UserWarning, module="PIL.TiffImagePlugin")
# Pillow's warning about large images does not name the file; `open_checked` rejects them by size.
warnings.filterwarnings("ignore", category=Image.DecompressionBombWarning)

MAX_BYTES = 25_000_000
MAX_PIXELS = 50_000_000
"""A decoded image of this size takes 150 MB; Pillow's own limit is 89 million pixels."""
MAX_SCANS, MAX_SCANNED_PIXELS = 100, 1_000_000_000
"""The most passes over the pixels of a JPEG, and the most pixels of all of them. Progressive files have
about 10 scans. Each costs decoding time, so a file with thousands would block the process."""

EXTENSION_OF = {
    "image/jpeg": "jpg",
    "image/png": "png",
    "image/webp": "webp",
    "image/gif": "gif",
}
"""The accepted formats, and the file extension of each."""

_OTHER_NAMES = {
    "image/jpg": "image/jpeg",
    "image/pjpeg": "image/jpeg",
    "image/x-png": "image/png",
}
# (offset, bytes, format): distinguishes images of unsupported formats from bytes that are no image.
_UNSUPPORTED = (
    (0, b"II*\x00", "TIFF"),
    (0, b"MM\x00*", "TIFF"),
    (0, b"%PDF-", "PDF"),
    (0, b"8BPS", "PSD"),
    (0, b"gimp xcf", "XCF"),
    (0, b"AT&TFORM", "DjVu"),
    (0, b"\x00\x00\x01\x00", "ICO"),
    (4, b"ftypavif", "AVIF"),
    (4, b"ftyphei", "HEIC"),
    (4, b"jP  \r\n", "JPEG 2000"),
)
# Text whose first element is <svg>. An HTML page that contains an SVG further down does not match.
_SVG = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*+"
    rb"(?:(?><\?xml.*?\?>|<!--.*?-->|<!doctype svg[^>\[]*(?:\[.*?\]\s*)?>)\s*+)*+<svg",
    re.DOTALL | re.IGNORECASE,
)


class ImageRejected(Exception):
    """An image is rejected: `reason` is a short code, `detail` one sentence for a person."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True, slots=True)
class CheckedImage:
    """Format, size in pixels before any EXIF rotation, and size in bytes, read from the image file."""

    mime: str
    width: int
    height: int
    n_bytes: int


def open_checked(data: bytes) -> tuple[CheckedImage, Image.Image]:
    """Run the checks of an image file that need no decoding of pixels.

    JPEG, PNG, WebP and GIF are accepted, whatever type the server states.

    Returns:
        The header and the undecoded image.

    Raises:
        ImageRejected: The first check that fails, in this order: empty, oversized_bytes,
            unsupported_format or not_an_image, oversized_pixels, too_many_scans, truncated. A broken
            header is truncated, too.
    """
    if not data:
        raise ImageRejected("empty", "The image has no bytes.")
    if len(data) > MAX_BYTES:
        detail = f"The image has {len(data)} bytes, more than the {MAX_BYTES} allowed."
        raise ImageRejected("oversized_bytes", detail)
    mime = _mime_of(data)
    header, image = _read_header(data, mime)
    if header.width * header.height > MAX_PIXELS:
        detail = f"The image is {header.width} by {header.height} pixels, more than {MAX_PIXELS}."
        raise ImageRejected("oversized_pixels", detail)
    most_scans = min(MAX_SCANS, MAX_SCANNED_PIXELS // max(1, header.width * header.height))
    if mime == "image/jpeg" and _has_more_scans(data, most_scans):
        raise ImageRejected("too_many_scans", f"The JPEG has more than {most_scans} scans.")
    if image is None:
        with truncated_on_error(mime):
            image = _opened(data, mime)
    return header, image


@contextmanager
def truncated_on_error(mime: str) -> Iterator[None]:
    """Context manager that turns every error except MemoryError into ImageRejected (truncated).

    Use it only around Pillow's operations on an opened image.
    """
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:  # Pillow's readers raise nearly any type on broken data
        detail = f"The {mime} cannot be decoded to its end ({_why(error)})."
        raise ImageRejected("truncated", detail) from None


def _why(error: Exception) -> str:
    """Pillow's message without memory addresses, which differ in each run."""
    return re.sub(r"\s*<[^<>]* object at 0x[0-9a-f]+>", "", str(error))


def wrong_type(stated: str | None, mime: str) -> str | None:
    """Compare the stated MIME type of an image with the type of its bytes.

    Other names of the same type, letter case and parameters are ignored.

    Args:
        stated: The stated MIME type, for example of a server, or None.
        mime: The MIME type of the bytes.

    Returns:
        The stated type if it is wrong, else None.
    """
    name = (stated or "").split(";")[0].strip().lower()
    return stated if name and _OTHER_NAMES.get(name, name) != mime else None


def read_header(data: bytes) -> CheckedImage:
    """Read format and size from an image's first bytes, without decoding its pixels.

    Raises:
        ImageRejected: not_an_image, unsupported_format, oversized_pixels (if Pillow refuses to open
            it), truncated (if the header is broken).
    """
    return _read_header(data, _mime_of(data))[0]


def _read_header(data: bytes, mime: str) -> tuple[CheckedImage, Image.Image | None]:
    """The header, and the image if Pillow opened it."""
    image = None
    try:
        # Pillow allocates the whole canvas of a WebP to read its size, so the size is parsed here.
        if mime == "image/webp":
            width, height = _webp_size(data)
        else:
            image = _opened(data, mime)
            width, height = image.size
    except Image.DecompressionBombError:
        detail = f"The image has more than the {MAX_PIXELS:,} pixels allowed."
        raise ImageRejected("oversized_pixels", detail) from None
    except Exception as error:  # Pillow's readers raise nearly any type on broken data
        raise ImageRejected("truncated", f"The {mime} header is broken ({_why(error)}).") from None
    return CheckedImage(mime=mime, width=width, height=height, n_bytes=len(data)), image


def _mime_of(data: bytes) -> str:
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    other = _unsupported_name(data)
    if other:
        raise ImageRejected("unsupported_format", f"{other} is not read; JPEG, PNG, WebP, GIF are.")
    raise ImageRejected("not_an_image", f"The bytes are not an image; they begin {data[:24]!r}.")


def _unsupported_name(data: bytes) -> str | None:
    for offset, magic, name in _UNSUPPORTED:
        if data.startswith(magic, offset):
            return name
    # Texts may begin with "BM", too. A bitmap has four zero bytes after its length.
    if data.startswith(b"BM") and data[6:10] == bytes(4):
        return "BMP"
    return "SVG" if _SVG.match(data[:4096]) else None


def _webp_size(data: bytes) -> tuple[int, int]:
    """Canvas size of a WebP (container specification, sections on VP8, VP8L and VP8X)."""
    if len(data) < 30:
        raise ValueError("it ends before the size")
    chunk = data[12:16]
    if chunk == b"VP8X":
        width, height = data[24:27], data[27:30]
        return 1 + int.from_bytes(width, "little"), 1 + int.from_bytes(height, "little")
    if chunk == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if chunk == b"VP8 ":
        width, height = data[26:28], data[28:30]
        return int.from_bytes(width, "little") & 0x3FFF, int.from_bytes(height, "little") & 0x3FFF
    raise ValueError(f"unknown chunk {chunk!r}")


# Bytes after 0xFF that begin no segment: stuffed zeros, fill bytes and restarts inside a scan, and
# 02 to BF, which no JPEG has: libjpeg skips them inside a scan, and reads no length after them.
_SEGMENT = re.compile(rb"\xff([^\x00-\xbf\xd0-\xd7\xff])")
_SCAN, _END = b"\xda", b"\xd9"


def _has_more_scans(data: bytes, most: int) -> bool:
    # Counting the marker's bytes is fast, and most files have few. More do not suffice to reject a
    # file: metadata, and videos that cameras append after the image, may contain these bytes, too.
    if data.count(b"\xff" + _SCAN) <= most:
        return False
    n_scans, position = 0, 2
    while n_scans <= most and (segment := _SEGMENT.search(data, position)) and segment[1] != _END:
        n_scans += segment[1] == _SCAN
        position = segment.end() + int.from_bytes(data[segment.end() : segment.end() + 2])
    return n_scans > most


def _opened(data: bytes, mime: str) -> Image.Image:
    # `formats` keeps Pillow's other readers away from these untrusted bytes.
    return Image.open(io.BytesIO(data), formats=[mime.removeprefix("image/").upper()])
