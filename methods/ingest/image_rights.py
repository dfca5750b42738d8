"""Rights statements in an image file: EXIF, XMP and IPTC fields, and texts of a PNG.

Sources: Exif 3.0 (tag 8298, Copyright), XMP part 1 (8.3 and 8.4: dc:rights, xmpRights), ccREL (9.2:
cc:license in XMP), IPTC IIM 4.2 (2:116), PNG (11.3.3: keywords).
"""

from collections.abc import Iterator
from typing import Any

from PIL import Image, IptcImagePlugin

MOST_TEXT = 2_000
"""The most characters that are kept. They suffice for the name of a licence; some files contain its
whole text."""

_EXIF_COPYRIGHT = 0x8298
_IPTC_COPYRIGHT = (2, 116)
_XMP_FIELDS = (
    "{http://creativecommons.org/ns#}license",
    "{http://purl.org/dc/terms/}license",
    "{http://ns.adobe.com/xap/1.0/rights/}WebStatement",
    "{http://ns.adobe.com/xap/1.0/rights/}UsageTerms",
    "{http://purl.org/dc/elements/1.1/}rights",
)
_PNG_KEYWORDS = ("Copyright", "License", "Licence")


def rights_of(image: Image.Image) -> str | None:
    """Return the distinct rights statements of an image, one per line; None if there are none.

    The image is loaded, because texts may follow the pixels.
    """
    texts: dict[str, None] = {}
    for reader in (_xmp, _exif, _iptc, _png):
        try:
            texts |= dict.fromkeys(filter(None, map(_plain, reader(image))))
        except Exception:  # Pillow's readers raise nearly any type on broken data
            continue
    return "\n".join(texts)[:MOST_TEXT] or None


def _plain(text: object) -> str:
    """One line without control characters (such as NUL) and without lone surrogates."""
    decoded = text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
    whole = decoded.encode("utf-8", "replace").decode()
    return " ".join("".join(c if c.isprintable() else " " for c in whole).split())


def _exif(image: Image.Image) -> Iterator[object]:
    yield image.getexif().get(_EXIF_COPYRIGHT, "")


def _iptc(image: Image.Image) -> Iterator[object]:
    # The function accepts any image; its type hint lists only the formats that have IPTC fields.
    value = (IptcImagePlugin.getiptcinfo(image) or {}).get(_IPTC_COPYRIGHT, b"")  # type: ignore[arg-type]
    yield from value if isinstance(value, list) else [value]


def _png(image: Image.Image) -> Iterator[object]:
    yield from (image.info.get(keyword, "") for keyword in _PNG_KEYWORDS)


def _xmp(image: Image.Image) -> Iterator[object]:
    yield from _fields(image.getxmp(strip_namespaces=False))


def _fields(element: Any) -> Iterator[object]:
    """The texts of all fields in `_XMP_FIELDS`, at any depth."""
    for part in element if isinstance(element, list) else [element]:
        if isinstance(part, dict):
            for name, value in part.items():
                yield from _texts(value) if name in _XMP_FIELDS else _fields(value)


def _texts(value: Any) -> Iterator[str]:
    """Every text of a field except language codes (`xml:lang`)."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)
    elif isinstance(value, dict):
        for name, part in value.items():
            if not name.endswith("}lang"):
                yield from _texts(part)
