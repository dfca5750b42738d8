"""What may enter as an image, its limits and lists of images that must stay out, names and rights."""

import dataclasses
import hashlib
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, PngImagePlugin

from methods.ingest import image_check
from methods.ingest.image_check import ImageRejected, read_header, wrong_type
from methods.ingest.image_filters import UNWANTED, ImageLimits, parse_exclusions, reject_unwanted
from methods.ingest.image_quality import ImageFacts, measure_image
from methods.ingest.mirror_names import file_name, path_in_mirror, shared_names
from tests.methods.ingest.pictures_drawn import encoded

FORMATS = ["JPEG", "PNG", "WEBP", "GIF"]


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


@pytest.mark.parametrize("options", [{"lossless": True}, {"quality": 20}, {"exif": b"Exif\0\0x"}])
def test_each_kind_of_webp_tells_its_size(options):
    assert read_header(picture("WEBP", **options)).width == 64


def test_a_type_that_the_bytes_are_not_of_is_wrong_and_other_names_or_none_of_it_are_not():
    for stated in ("image/png", "image/svg+xml", "text/html", "jpeg"):
        assert wrong_type(stated, "image/jpeg") == stated
    for stated in ("image/jpg", "IMAGE/JPEG", "image/jpeg; q=1", "", None):
        assert wrong_type(stated, "image/jpeg") is None


def repeated_scan(times: int) -> bytes:
    """A progressive JPEG whose last scan is in it some more times."""
    data = picture("JPEG", progressive=True)
    last = data[data.rindex(b"\xff\xda") : -2]
    return data[:-2] + last * times + data[-2:]


def test_a_jpeg_of_more_scans_than_any_program_writes_is_refused_undecoded(monkeypatch):
    assert measure_image(repeated_scan(90))
    data = repeated_scan(100)
    assert reason_of(data) == "too_many_scans"
    # Large pictures may have fewer scans.
    with monkeypatch.context() as patch:
        patch.setattr(image_check, "MAX_SCANNED_PIXELS", 90 * 64 * 48)
        assert reason_of(repeated_scan(90)) == "too_many_scans"
    # libjpeg skips a marker that no JPEG has; with a length of 65,535 it would hide all scans.
    inside = data.index(b"\xff\xda") + 14
    assert reason_of(data[:inside] + b"\xff\x02\xff\xff" + data[inside:]) == "too_many_scans"
    # Metadata and what follows the image are no scans.
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
        *(
            ("unsupported_format", picture(name))
            for name in ("BMP", "TIFF", "ICO", "PDF", "JPEG2000", "AVIF")
        ),
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


@pytest.mark.parametrize("name", FORMATS)
def test_an_image_cut_short_is_truncated(name):
    data = picture(name, (200, 150))
    cut = [data[: int(len(data) * kept)] for kept in (0.3, 0.6, 0.9)]
    # The longest signature, that of a WebP, has 12 bytes.
    for each in (*cut, data[:12], data[:12] + b"nothing of the kind"):
        assert reason_of(each) == "truncated"


MD5 = hashlib.md5(b"picture").hexdigest()
SHA256 = hashlib.sha256(b"picture").hexdigest()
FACTS = ImageFacts(
    image_id=SHA256,
    md5=MD5,
    mime_type="image/gif",
    mode="P",
    animated=True,
    rotated=False,
    width=300,
    height=200,
    n_bytes=7,
    aspect=1.5,
    blur=80.0,
    entropy=4.5,
    brightness=100.0,
    phash="c" * 16,
    contrast=180,
    visible=0.75,
)


def refused(limits: ImageLimits, facts: ImageFacts = FACTS, excluded=None) -> ImageRejected:
    with pytest.raises(ImageRejected) as caught:
        reject_unwanted(facts, limits, excluded or {})
    return caught.value


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"width": 1, "height": 1}, "too_small"),
        ({"width": 30_000, "height": 10}, "too_long"),
        ({"visible": 0.0}, "transparent"),
        ({"contrast": 0, "entropy": 0.0, "blur": 0.0}, "blank"),
        ({"contrast": 8, "entropy": 0.7, "blur": 4.8}, "faint"),
        ({"entropy": 0.1}, "flat"),
        ({"blur": 0.4}, "blurred"),
    ],
)
def test_by_default_what_nobody_can_be_asked_about_is_left_out(changes, reason):
    assert refused(ImageLimits(), dataclasses.replace(FACTS, **changes)).reason == reason
    for kept in (FACTS, dataclasses.replace(FACTS, brightness=1.8)):
        reject_unwanted(kept, ImageLimits(), {})


# The shorter side is 200, the longer over the shorter 300 / 200 = 1.5.
EDGES = [
    ("too_long", "max_aspect", 1.5, 1.4),
    ("too_small", "min_side", 200, 201),
    ("transparent", "min_visible", 0.75, 0.76),
    ("faint", "min_contrast", 180, 181),
    ("flat", "min_entropy", 4.5, 4.6),
    ("blurred", "min_blur", 80.0, 80.5),
    ("too_dark", "min_brightness", 100.0, 100.1),
    ("too_bright", "max_brightness", 100.0, 99.9),
    # 0 is not None: nothing but black is as dark as that.
    ("too_bright", "max_brightness", None, 0),
]


@pytest.mark.parametrize(("reason", "limit", "kept", "broken"), EDGES)
def test_a_figure_at_its_limit_passes_and_one_beyond_is_refused(reason, limit, kept, broken):
    reject_unwanted(FACTS, ImageLimits(**{limit: kept}), {})
    assert refused(ImageLimits(**{limit: broken})).reason == reason


def test_the_sides_are_judged_whichever_way_the_picture_stands_and_the_figures_are_told():
    upright = dataclasses.replace(FACTS, width=200, height=300, aspect=200 / 300)
    for facts in (FACTS, upright):
        long, small = (
            refused(ImageLimits(max_aspect=1.4), facts),
            refused(ImageLimits(min_side=201), facts),
        )
        assert (long.reason, small.reason) == ("too_long", "too_small")
        assert long.detail == "The longer side over the shorter is 1.5, above the limit of 1.4."
        assert small.detail == "The shorter side in pixels is 200, below the limit of 201."
    reject_unwanted(upright, ImageLimits(max_aspect=1.5, min_side=200), {})
    # Moving pictures may be kept out.
    assert refused(ImageLimits(animated=False)).reason == "animated"
    reject_unwanted(dataclasses.replace(FACTS, animated=False), ImageLimits(animated=False), {})


def test_the_first_reason_is_the_one_that_is_told():
    limits = ImageLimits(**{limit: broken for _, limit, _, broken in EDGES}, animated=False)
    told = [refused(limits, excluded={MD5: "list"}).reason, refused(limits).reason]
    for field in dataclasses.fields(limits)[:-1]:
        limits = dataclasses.replace(limits, **{field.name: None})
        told.append(refused(limits).reason)
    assert told == ["excluded", *[edge[0] for edge in EDGES[:-1]], "animated"]
    assert told == [reason for reason in UNWANTED if reason != "blank"]


@pytest.mark.parametrize("digest", [MD5, SHA256])
def test_an_image_of_a_list_is_refused_by_either_digest(digest):
    rejected = refused(ImageLimits(), excluded={digest: "COCO val2017"})
    assert rejected.reason == "excluded"
    assert rejected.detail == f"The image, {digest}, is on the list 'COCO val2017'."
    assert refused(ImageLimits(), excluded={digest: ""}).reason == "excluded"
    reject_unwanted(FACTS, ImageLimits(), {"0" * 32: "COCO val2017"})


@pytest.mark.parametrize(
    "line",
    ["{}", "{}\n", "  {}  ", "{}  images/139.jpg", "{} *images/139.jpg", "\\{}  a\\nname"]
    + ["{}\tname with spaces.png\r\n", "{}  # of the second batch"],
)
@pytest.mark.parametrize("digest", [MD5, SHA256, MD5.upper(), SHA256.upper()])
def test_each_way_a_digest_is_written(line, digest):
    assert parse_exclusions([line.format(digest)], "val") == {digest.lower(): "val"}


def test_blank_lines_and_comments_say_nothing():
    lines = ["# md5sum of val2017", "", f"{MD5}  a.jpg", "   \n", "  # done", f"{MD5}  b.jpg"]
    assert parse_exclusions(lines, "val") == {MD5: "val"}
    assert parse_exclusions([], "val") == {}


@pytest.mark.parametrize(
    "line",
    ["images/a.jpg", MD5[:-1], MD5 + "0", SHA256 + "0", hashlib.sha1(b"").hexdigest()]
    + ["g" + MD5[1:], f"MD5 (a.jpg) = {MD5}", f"a.jpg {MD5}", f"{MD5},a.jpg"]
    + ["\N{FULLWIDTH DIGIT ONE}" * 32],
)
def test_any_other_line_is_an_error_that_names_it(line):
    with pytest.raises(ValueError, match=r"^Line 3 of the list 'val' begins with no .*\.$"):
        parse_exclusions(["# list", MD5, line], "val")


EN = "https://upload.example.org/wikipedia/en/1/11/Landmark.png"
COMMONS = "https://upload.example.org/wikipedia/commons/2/22/Landmark.png"


def test_an_address_has_a_path_and_a_name_below_the_mirror():
    places = {
        EN: ("upload.example.org/wikipedia/en/1/11/Landmark.png", "Landmark.png"),
        "http://me:pass@Example.org:81/a%20b/%C3%A9.png#top": ("example.org:81/a b/é.png", "é.png"),
        "https://example.org/a.png?v=1": ("example.org/a.png?v=1", "a.png"),
        "https://example.org/a.png?u=/../b": ("example.org/a.png?u=%2F..%2Fb", "a.png"),
        "https://example.org/../a.png": (None, "a.png"),
        "https://example.org/..%2Fa.png": (None, None),
        "https://example.org/a\\b.png": (None, None),
        "https://example.org/a.png?\0": (None, "a.png"),
        "https://example.org/a/": (None, None),
        "https://[x/a.png": (None, None),
        "https:///a.png": (None, "a.png"),
    }
    assert {each: (path_in_mirror(each), file_name(each)) for each in places} == places


@pytest.mark.parametrize(
    ("addresses", "shared"),
    [
        ([EN, COMMONS], {"Landmark.png"}),
        ([EN, f"{EN}?v=2"], {"Landmark.png"}),
        ([EN, COMMONS.replace("Landmark", "%4Candmark")], {"Landmark.png"}),
        ([EN, EN, EN.replace("https", "http"), f"{EN}#top"], set()),
        ([EN, COMMONS.replace("Landmark", "landmark")], set()),
    ],
)
def test_a_name_is_shared_by_addresses_of_different_images(addresses, shared):
    assert shared_names(addresses) == shared


BY_SA = "http://creativecommons.org/licenses/by-sa/4.0/"
XMP = f"""<x:xmpmeta xmlns:x="adobe:ns:meta/">
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:cc="http://creativecommons.org/ns#"
 xmlns:xmpRights="http://ns.adobe.com/xap/1.0/rights/" xmpRights:Marked="True"
 xmpRights:WebStatement="https://ada.example">
<dc:creator><rdf:Seq><rdf:li>Grace</rdf:li></rdf:Seq></dc:creator>
<dc:rights><rdf:Alt><rdf:li xml:lang="x-default">© Ada</rdf:li></rdf:Alt></dc:rights>
<cc:license rdf:resource="{BY_SA}"/></rdf:Description></rdf:RDF></x:xmpmeta>""".encode()
BOMB = b'<!DOCTYPE x [<!ENTITY a "aaaaaaa"><!ENTITY b "&a;&a;&a;">]><x>&b;</x>'


def rights(kind: str, **options: object) -> str | None:
    return measure_image(encoded(Image.new("RGB", (80, 80), "red"), kind, **options)).rights


def exif(copyright: str) -> Image.Exif:
    found = Image.Exif()
    found[0x8298] = copyright
    return found


def iptc(*notices: bytes) -> bytes:
    """The Photoshop segment of a JPEG with these copyright notices."""
    data = b"".join(b"\x1c\x02\x74" + len(each).to_bytes(2, "big") + each for each in notices)
    block = b"8BIM\x04\x04\0\0" + len(data).to_bytes(4, "big") + data + b"\0" * (len(data) % 2)
    segment = b"Photoshop 3.0\0" + block
    return b"\xff\xed" + (len(segment) + 2).to_bytes(2, "big") + segment


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_exif_and_xmp_are_read_in_every_format_that_has_them(kind):
    said = PngImagePlugin.PngInfo()
    said.add_itxt("XML:com.adobe.xmp", XMP.decode())
    xmp = {"pnginfo": said} if kind == "PNG" else {"xmp": XMP}
    assert rights(kind, exif=exif("CC BY 4.0\0Ada\x01"), **xmp) == (
        f"https://ada.example\n© Ada\n{BY_SA}\nCC BY 4.0 Ada"
    )


def test_iptc_notices_and_texts_of_a_png_are_read():
    assert rights("JPEG", extra=iptc(b"Public domain", b"\xff Ada")) == "Public domain\n\ufffd Ada"
    said = PngImagePlugin.PngInfo()
    said.add_text("Copyright", "Ada")
    said.add_text("License", "CC0")
    said.add_text("Title", "Owl")
    assert rights("PNG", pnginfo=said) == "Ada\nCC0"


@given(st.sampled_from([XMP, BOMB, b"<a>" * 3_000]), st.integers(0, 40), st.binary(max_size=20))
def test_whatever_a_field_holds_the_picture_is_measured(xmp, at, odd):
    found = rights("JPEG", xmp=xmp[: len(xmp) - at] + odd, exif=b"Exif\0\0" + odd, extra=iptc(odd))
    assert found is None or found.encode()
