"""Image and thumbnail URLs of Wikimedia's upload servers.

Sources: https://www.mediawiki.org/wiki/Manual:$wgThumbnailSteps and .../Common_thumbnail_sizes.
"""

import re
from urllib.parse import SplitResult, unquote, unquote_to_bytes

from methods.web_address import split_address

THUMBNAIL_WIDTHS = (20, 40, 60, 120, 250, 330, 500, 960, 1280, 1920, 3840)
"""Thumbnail widths in pixels. Wikimedia's servers refuse all other widths."""

# Thumbnails are moving from the first host to the second; the paths are the same on both.
_HOSTS = ("upload.wikimedia.org", "thumb.wikimedia.org")
_PATH = re.compile(
    r"(?P<site>/[a-z]+/[^/]+)/(?P<thumb>thumb/)?(?P<folder>[0-9a-f]/[0-9a-f]{2})/(?P<name>[^/]+)"
    r"(?(thumb)/[^/]+)"
)
_RASTERS = ("jpg", "jpeg", "png", "gif", "webp")
_LONGEST_NAME = 160
"""The longest file name in bytes. Thumbnails of files with longer names are named `thumbnail`."""


def thumbnail_url(image_url: str, width: int, original_width: int | None) -> str:
    """Return the URL of an image's thumbnail of a width.

    `image_url` is returned unchanged if there is no such thumbnail: for other hosts and formats, for
    URLs of thumbnails, and for raster images that are not wider or whose width is unknown, because only
    SVG drawings are enlarged. For a narrower TIFF, which browsers cannot show, the widest step up to
    its width is used.

    Args:
        image_url: The URL of the image.
        width: The width in pixels, one of `THUMBNAIL_WIDTHS`.
        original_width: The width of the image; None if it is unknown.
    """
    parts = _upload_path(image_url)
    if parts is None or parts[1]["thumb"]:
        return image_url
    address, path = parts
    name = path["name"]
    extension = name.rpartition(".")[2].lower()
    short = name if len(unquote_to_bytes(name)) <= _LONGEST_NAME else f"thumbnail.{extension}"
    if extension == "svg":
        rendition = f"{width}px-{short}.png"
    elif extension in ("tif", "tiff"):
        within = (step for step in THUMBNAIL_WIDTHS if step <= min(width, original_width or width))
        rendition = f"lossy-page1-{max(within, default=THUMBNAIL_WIDTHS[0])}px-{short}.jpg"
    elif extension in _RASTERS and original_width is not None and original_width > width:
        rendition = f"{width}px-{short}"
    else:
        return image_url
    thumb = f"{path['site']}/thumb/{path['folder']}/{name}/{rendition}"
    return address._replace(path=thumb, query="", fragment="").geturl()


def file_title(image_url: str) -> str | None:
    """Return the title "File:Name.jpg" of an image on Wikimedia's upload servers; None for others."""
    parts = _upload_path(image_url)
    return None if parts is None else "File:" + unquote(parts[1]["name"]).replace("_", " ")


def _upload_path(image_url: str) -> tuple[SplitResult, re.Match[str]] | None:
    try:
        address = split_address(image_url)
    except ValueError:
        return None
    path = _PATH.fullmatch(address.path) if address.hostname in _HOSTS else None
    return None if path is None else (address, path)
