"""Text and images of a page's HTML, for wikis without Wikimedia's services.

Sources: https://www.mediawiki.org/wiki/API:Parsing_wikitext, .../Specs/HTML (media), and the selectors
that .../Extension:TextExtracts leaves out.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from urllib.parse import unquote, urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from methods.wikimedia.facts import PageImage, plain_text

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_BLOCKS = ("p", "li", "dd", "blockquote", "pre")
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
    """Return the plain text before the first heading, one line per paragraph; "" without any.

    Tables, images with captions, notes and hidden elements are left out.
    """
    tree = LexborHTMLParser(html)
    for node in tree.css(_NO_TEXT):
        node.decompose()
    blocks = []
    block_depth: int | None = None
    for node, depth in _elements(tree.root):
        if node.tag in _HEADINGS:
            break
        # A paragraph inside a list's item is read with the item.
        if block_depth is not None and depth > block_depth:
            continue
        block_depth = depth if node.tag in _BLOCKS else None
        if node.tag in _BLOCKS:
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
    toc_depth: int | None = None
    frames: list[_Frame] = []
    """The elements around a node that enclose an image and its caption, the innermost last."""
    for node, depth in _elements(LexborHTMLParser(html).root):
        while frames and frames[-1].depth >= depth:
            frames.pop()
        if toc_depth is not None and toc_depth >= depth:
            toc_depth = None
        if toc_depth is None and "toc" in _classes(node):
            toc_depth = depth
        if (selector := _caption_selector(node)) is not None:
            frames.append(_Frame(depth, node, selector))
        if node.tag in _HEADINGS:
            # The table of contents has a heading, and is no section.
            section += toc_depth is None
        if node.tag != "img":
            continue
        name = next((file_of[part] for part in _file_names(node) if part in file_of), None)
        if name is None or FILE + name in images:
            continue
        lead = section == 0 and not has_lead
        has_lead = has_lead or lead
        caption = frames[-1].caption if frames else None
        images[FILE + name] = PageImage(FILE + name, caption, section, lead)
    for name in file_of.values():
        images.setdefault(FILE + name, PageImage(FILE + name, None, 0, False))
    return tuple(images.values())


def _file_names(image: LexborNode) -> Iterator[str]:
    """Possible names of an image's file: parts of its address and of its link."""
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


class _Frame:
    """An element that encloses an image and its caption; a frame of many images is searched once."""

    def __init__(self, depth: int, node: LexborNode, selector: str) -> None:
        self.depth = depth
        self._node = node
        self._selector = selector

    @cached_property
    def caption(self) -> str | None:
        """The plain text of the caption; None without one."""
        element = self._node.css_first(self._selector)
        return None if element is None else _words(element.html or "")


def _caption_selector(node: LexborNode) -> str | None:
    """The selector of the caption within an element; None for an element that is not a frame."""
    for tag, name, caption in _CAPTIONS:
        if node.tag == tag and name in ("", *_classes(node)):
            return caption
    return None


def _words(html: str) -> str | None:
    # In a copy: the page is still being read.
    caption = LexborHTMLParser(html, is_fragment=True)
    for node in caption.css(f"{_NO_CAPTION}, {_NO_TEXT}"):
        node.decompose()
    return plain_text(caption.html or "") or None


def _elements(root: LexborNode | None) -> Iterator[tuple[LexborNode, int]]:
    """The elements of a tree in the order of the page, with their depths."""
    node, depth = root, 0
    while node is not None:
        if node.is_element_node:
            yield node, depth
        following = node.first_child
        if following is not None:
            depth += 1
        while following is None and depth > 0:
            following = node.next
            if following is None:
                node = node.parent
                depth -= 1
                if node is None:
                    return
        node = following


def _classes(node: LexborNode) -> list[str]:
    return (node.attributes.get("class") or "").split()
