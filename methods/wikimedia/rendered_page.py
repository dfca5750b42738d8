"""What a page's HTML says of its text and images, for wikis without the services of Wikimedia's.

Sources: https://www.mediawiki.org/wiki/API:Parsing_wikitext, .../Specs/HTML (media), and the selectors
that .../Extension:TextExtracts leaves out.
"""

from collections.abc import Iterator, Sequence
from urllib.parse import unquote, urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from methods.wikimedia.facts import PageImage, plain_text

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_NO_TEXT = (
    "table, figure, script, style, input, div.thumb, ul.gallery, div.toc, .mw-editsection, "
    "sup.reference, ol.references, .error, .noprint, .noexcerpt, .metadata, .hatnote"
)
_CAPTIONS = (
    ("figure", "", "figcaption"),
    ("li", "gallerybox", ".gallerytext"),
    ("div", "thumbinner", ".thumbcaption"),
)
"""Tag and class of what encloses an image and its caption, and the caption within it."""
_NO_CAPTION = ".magnify"
FILE = "File:"
"""The namespace's canonical name, which every wiki understands."""


def introduction(html: str) -> str:
    """The plain text before the first heading, a line a paragraph; "" where there is none.

    Tables, pictures with their captions, notes and what is not printed are left out.
    """
    tree = LexborHTMLParser(html)
    for node in tree.css(_NO_TEXT):
        node.decompose()
    blocks = []
    for node in tree.css(f"p, li, dd, blockquote, pre, {', '.join(_HEADINGS)}"):
        if node.tag in _HEADINGS:
            break
        # A paragraph inside a list's item is read with the item.
        if not any(around.tag in ("li", "dd", "blockquote") for around in _around(node)):
            blocks.append(plain_text(node.html or ""))
    return "\n".join(block for block in blocks if block)


def shown_images(html: str, names: Sequence[str]) -> tuple[PageImage, ...]:
    """List the images of a page in its order, followed by files that its HTML does not show.

    Files that are not shown are, for example, missing ones. The lead image is the first of the
    introduction.

    Args:
        html: The rendered page.
        names: All files that the page names, without their namespace.

    Returns:
        The images.
    """
    file_of = {name.replace(" ", "_"): name.replace("_", " ") for name in names}
    images: dict[str, PageImage] = {}
    section, has_lead = 0, False
    for node in LexborHTMLParser(html).css(f"img, {', '.join(_HEADINGS)}"):
        if node.tag in _HEADINGS:
            # The table of contents has a heading, and is no section.
            section += not any("toc" in _classes(around) for around in _around(node))
            continue
        name = next((file_of[part] for part in _file_names(node) if part in file_of), None)
        if name is None or FILE + name in images:
            continue
        lead = section == 0 and not has_lead
        has_lead = has_lead or lead
        images[FILE + name] = PageImage(FILE + name, _caption(node), section, lead)
    for name in file_of.values():
        images.setdefault(FILE + name, PageImage(FILE + name, None, 0, False))
    return tuple(images.values())


def _file_names(image: LexborNode) -> Iterator[str]:
    """What may be the name of an image's file: parts of its address, and of the link around it."""
    addresses = [image.attributes.get("src"), image.attributes.get("resource")]
    if image.parent is not None:
        addresses.append(image.parent.attributes.get("href"))
    for address in filter(None, addresses):
        try:
            parts = urlsplit(address)
        except ValueError:
            continue
        # The name of a thumbnail's file is the folder that it is in, or part of a query.
        for part in (*reversed(parts.path.split("/")), parts.query.rpartition("=")[2]):
            name = unquote(part).replace(" ", "_")
            yield name
            yield name.partition(":")[2]


def _caption(image: LexborNode) -> str | None:
    for around in _around(image):
        for tag, name, caption in _CAPTIONS:
            if around.tag == tag and name in ("", *_classes(around)):
                text = around.css_first(caption)
                return None if text is None else _words(text)
    return None


def _words(caption: LexborNode) -> str | None:
    for node in caption.css(f"{_NO_CAPTION}, {_NO_TEXT}"):
        node.decompose()
    return plain_text(caption.html or "") or None


def _around(node: LexborNode) -> Iterator[LexborNode]:
    """The elements that a node is in, the innermost first."""
    outer = node.parent
    while outer is not None and outer.is_element_node:
        yield outer
        outer = outer.parent


def _classes(node: LexborNode) -> list[str]:
    return (node.attributes.get("class") or "").split()
