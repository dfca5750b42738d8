"""Metadata of Wikipedia pages and image files, read from responses of the MediaWiki API.

Sources, in the format of `formatversion=2`: https://www.mediawiki.org/wiki/API:Info,
.../API:Categories, .../Extension:TextExtracts, .../API:Imageinfo, .../Extension:CommonsMetadata, and
the media list of https://en.wikipedia.org/api/rest_v1/.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from methods.untrusted_html import parse_html
from methods.wikimedia.answers import Json, MissingTitle

_NOT_DISPLAYED = re.compile(r"display\s*:\s*none", re.IGNORECASE)
_INLINE = ("abbr", "bdi", "cite", "span")
_MOST_HTML = 200_000
"""The characters of HTML that are read of a text; the rest is left out."""


@dataclass(frozen=True, slots=True)
class PageFacts:
    """Metadata of a page.

    Attributes:
        asked: The requested title.
        title: The title after normalization and redirects.
        categories: Names without the namespace and without hidden categories.
        extract: The plain text of the introduction; "" if there is none.
        versions: The URLs of the page in other languages.
    """

    asked: str
    language: str
    title: str
    page_id: int
    revision: int
    url: str
    categories: tuple[str, ...]
    extract: str
    versions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PageImage:
    """An image on a page. `section_id` is the number of its section; 0 is the introduction."""

    title: str
    caption: str | None
    section_id: int
    lead: bool


@dataclass(frozen=True, slots=True)
class FileFacts:
    """Metadata of a file and of its description page. Texts are plain text; None if missing.

    Attributes:
        url: The URL of the original.
        thumb_url: The URL of a thumbnail, or None.
        width: The width of the original in pixels.
        height: The height of the original in pixels.
        n_bytes: The size of the original in bytes.
        sha1: The SHA-1 of the original in hex.
    """

    asked: str
    title: str
    url: str
    thumb_url: str | None
    width: int
    height: int
    n_bytes: int
    mime: str
    sha1: str
    licence: str | None
    licence_url: str | None
    artist: str | None
    credit: str | None
    description: str | None


def page_facts(requested: str, language: str, page: Json) -> PageFacts:
    """Read the facts of a page from prop=info|categories|extracts|langlinks.

    Args:
        requested: The title that was asked for.
        language: The language of the wiki.
        page: The page in the answer.

    Raises:
        KeyError: A fact is missing.
    """
    return PageFacts(
        asked=requested,
        language=language,
        title=page["title"],
        page_id=page["pageid"],
        revision=page["lastrevid"],
        url=page["canonicalurl"],
        categories=tuple(
            category["title"].partition(":")[2] for category in page.get("categories", [])
        ),
        extract=page.get("extract", ""),
        versions=tuple(link["url"] for link in page.get("langlinks", [])),
    )


def page_images(media_list: Json) -> tuple[PageImage, ...]:
    """List the images in the REST API's media list of a page, in order.

    Audio, video, and media without a file (formulas, timelines) are left out.
    """
    return tuple(
        PageImage(
            title=item["title"].replace("_", " "),
            caption=" ".join(item.get("caption", {}).get("text", "").split()) or None,
            section_id=item.get("section_id", 0),
            lead=item.get("leadImage", False),
        )
        for item in media_list["items"]
        if item["type"] == "image" and "title" in item
    )


def file_facts(requested: str, page: Json) -> FileFacts | MissingTitle:
    """Read the facts of a file from prop=imageinfo.

    Args:
        requested: The title that was asked for.
        page: The page in the answer.

    Returns:
        The facts, or why there is no file.

    Raises:
        KeyError: A fact is missing.
    """
    info: Json = next(iter(page.get("imageinfo", [])), {})
    if "url" not in info:
        return MissingTitle(requested, "missing", "The page has no file that may be seen.")
    # MediaWiki's PHP encodes an empty map as [].
    about: Json = info.get("extmetadata") or {}

    def metadata_text(name: str) -> str:
        return str(about.get(name, {}).get("value", ""))

    def text(name: str) -> str | None:
        return plain_text(metadata_text(name)) or None

    return FileFacts(
        asked=requested,
        title=page["title"],
        url=_untagged(info["url"]),
        thumb_url=_untagged(info["thumburl"]) if info.get("thumburl") else None,
        width=info["width"],
        height=info["height"],
        n_bytes=info["size"],
        mime=info["mime"],
        sha1=info["sha1"],
        licence=text("LicenseShortName") or text("UsageTerms"),
        licence_url=_web_address(metadata_text("LicenseUrl").strip()),
        artist=text("Artist"),
        credit=text("Credit"),
        description=text("ImageDescription"),
    )


def _untagged(url: str) -> str:
    """Remove the query (`?utm_source=...`), which depends on the wiki, so that a file has one URL."""
    return url.partition("?")[0]


def _web_address(url: str) -> str | None:
    """Return an HTTP or HTTPS URL; None for other links, which must not be shown."""
    address = f"https:{url}" if url.startswith("//") else url
    return address if address.startswith(("http://", "https://")) else None


def plain_text(html: str) -> str:
    """Return the visible text of HTML on one line.

    Scripts, styles, hidden elements and what follows the first 200,000 characters of HTML are left out.
    """
    root = parse_html(html, _MOST_HTML, is_fragment=True).root
    return " ".join("".join(_texts(root)).split())


def _texts(first: LexborNode | None) -> Iterator[str]:
    """Yield the texts of a node and of its following siblings, with spaces around block elements."""
    # A stack instead of recursion: elements may be nested thousands deep.
    waiting: list[LexborNode | str | None] = [first]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            yield node
        elif node is not None:
            waiting.append(node.next)
            if node.is_text_node:
                yield node.text_content or ""
            elif node.is_element_node:
                blank = "" if node.tag in _INLINE else " "
                yield blank
                waiting += [blank, None if _is_hidden(node) else node.child]


def _is_hidden(element: LexborNode) -> bool:
    style = element.attributes.get("style") or ""
    return element.tag in ("script", "style") or _NOT_DISPLAYED.search(style) is not None
