"""What may enter as an image, and the reason for each one that may not."""

import struct
import zlib

import pytest
from PIL import Image

from methods.ingest import image_check
from methods.ingest.image_check import CheckedImage, ImageRejected, read_header, wrong_type
from methods.ingest.image_quality import measure_image
from tests.methods.ingest.pictures_drawn import encoded

FORMATS = {
    "image/jpeg": "JPEG",
    "image/png": "PNG",
    "image/webp": "WEBP",
    "image/gif": "GIF",
}


def picture(format_name: str, size: tuple[int, int] = (64, 48), **options) -> bytes:
    image = Image.radial_gradient("L").resize(size).convert("RGB")
    return encoded(image, format_name, **options)


def empty_png(side: int) -> bytes:
    """The header of a PNG with so many pixels a side, and none of them."""
    header = b"IHDR" + struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + header
    data += struct.pack(">I", zlib.crc32(header)) + struct.pack(">I", 0) + b"IDAT"
    return data + struct.pack(">I", zlib.crc32(b"IDAT"))


def reason_of(data: bytes) -> str:
    with pytest.raises(ImageRejected) as caught:
        measure_image(data)
    assert caught.value.detail.endswith(".")
    return caught.value.reason


@pytest.mark.parametrize("mime", FORMATS)
def test_the_four_formats_are_taken(mime):
    data = picture(FORMATS[mime])
    expected = CheckedImage(mime=mime, width=64, height=48, n_bytes=len(data))
    assert read_header(data) == expected
    assert measure_image(data).mime_type == mime


@pytest.mark.parametrize("options", [{"lossless": True}, {"quality": 20}, {"exif": b"Exif\0\0x"}])
def test_each_kind_of_webp_tells_its_size(options):
    assert (read_header(picture("WEBP", **options)).width) == 64


@pytest.mark.parametrize("stated", ["image/jpg", "IMAGE/JPEG", "image/jpeg; q=1", "", None])
def test_other_names_of_a_type_and_no_name_are_not_wrong(stated):
    assert wrong_type(stated, "image/jpeg") is None


@pytest.mark.parametrize("stated", ["image/png", "image/svg+xml", "text/html", "jpeg"])
def test_a_type_that_the_bytes_are_not_of_is_wrong(stated):
    assert wrong_type(stated, "image/jpeg") == stated


def repeated_scan(times: int) -> bytes:
    """A progressive JPEG whose last scan is in it some more times."""
    data = picture("JPEG", progressive=True)
    last = data[data.rindex(b"\xff\xda") : -2]
    return data[:-2] + last * times + data[-2:]


def test_a_jpeg_of_more_scans_than_any_program_writes_is_refused_undecoded():
    assert reason_of(repeated_scan(100)) == "too_many_scans"
    assert measure_image(repeated_scan(90))


def test_a_marker_that_no_jpeg_has_hides_no_scans():
    data = repeated_scan(100)
    first = data.index(b"\xff\xda") + 2
    # libjpeg skips such a marker inside a scan; with a length of 65,535 it would hide all scans.
    assert (
        reason_of(data[: first + 12] + b"\xff\x02\xff\xff" + data[first + 12 :]) == "too_many_scans"
    )


def test_metadata_and_what_follows_the_image_are_no_scans():
    like_scans = b"\xff\xda" * 200
    data = picture("JPEG", progressive=True, comment=like_scans)
    assert measure_image(data + like_scans).n_bytes == len(data) + 400


def test_a_file_over_the_limit_is_refused_unread(monkeypatch):
    data = picture("PNG")
    monkeypatch.setattr(image_check, "MAX_BYTES", len(data))
    assert measure_image(data)
    monkeypatch.setattr(image_check, "MAX_BYTES", len(data) - 1)
    assert reason_of(data) == "oversized_bytes"


def test_pixels_are_counted_before_they_are_decoded(monkeypatch):
    # A few bytes that unfold to a billion pixels: refused by the header, with no pixel there.
    assert reason_of(empty_png(40_000)) == "oversized_pixels"
    canvas = (16_000_000).to_bytes(3, "little") + (200).to_bytes(3, "little")
    webp = b"RIFF\x1e\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0" + canvas
    assert reason_of(webp) == "oversized_pixels"
    monkeypatch.setattr(image_check, "MAX_PIXELS", 64 * 48)
    assert measure_image(picture("PNG"))
    monkeypatch.setattr(image_check, "MAX_PIXELS", 64 * 48 - 1)
    assert reason_of(picture("PNG")) == "oversized_pixels"


@pytest.mark.parametrize(
    ("reason", "data"),
    [
        ("empty", b""),
        ("not_an_image", b"<!DOCTYPE html><html><body>404 <svg></svg></body></html>"),
        ("not_an_image", b"<!-- cached --><html><svg></svg></html>"),
        ("not_an_image", b"BM is short for benchmark, said the text"),
        ("not_an_image", b"\x00" * 100),
        ("not_an_image", b"x"),
        *(
            ("unsupported_format", picture(name))
            for name in ("BMP", "TIFF", "ICO", "PDF", "JPEG2000", "AVIF")
        ),
        # Drawings as text.
        ("unsupported_format", b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
        (
            "unsupported_format",
            b"\xef\xbb\xbf<?xml version='1.0'?>\n<!-- Inkscape --> <!-- 2 -->\n<svg/>",
        ),
        (
            "unsupported_format",
            b'<!DOCTYPE svg PUBLIC "-//W3C" "svg.dtd" [ <!ENTITY a "b"> ]><svg/>',
        ),
    ],
)
def test_what_is_no_image_and_other_formats_are_not_taken(reason, data):
    assert reason_of(data) == reason


SIGNATURES = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff",
    "image/gif": b"GIF89a",
    "image/webp": b"RIFF0000WEBP",
}


@pytest.mark.parametrize("mime", FORMATS)
def test_an_image_cut_short_is_truncated(mime):
    data, start = picture(FORMATS[mime], (200, 150)), SIGNATURES[mime]
    cut = [data[: int(len(data) * kept)] for kept in (0.3, 0.6, 0.9)]
    for each in (*cut, start, start + b"nothing of the kind"):
        assert reason_of(each) == "truncated"
