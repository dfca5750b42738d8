"""What files say of rights, in each kind of field, and that no broken field refuses a picture."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, PngImagePlugin

from methods.ingest.image_quality import measure_image
from tests.methods.ingest.pictures_drawn import encoded

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


def test_a_file_that_says_nothing_has_none_and_a_long_text_is_cut():
    assert rights("GIF") is None and rights("PNG") is None
    assert rights("JPEG", exif=exif("x" * 5_000)) == "x" * 2_000


@given(st.sampled_from([XMP, BOMB, b"<a>" * 3_000]), st.integers(0, 40), st.binary(max_size=20))
def test_whatever_a_field_holds_the_picture_is_measured(xmp, at, odd):
    found = rights("JPEG", xmp=xmp[: len(xmp) - at] + odd, exif=b"Exif\0\0" + odd, extra=iptc(odd))
    assert found is None or found.encode()
