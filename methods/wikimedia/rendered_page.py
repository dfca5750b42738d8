"""HTML parser of wiki pages: text and images, for wikis without Wikimedia's extra services.

Sources: https://www.mediawiki.org/wiki/API:Parsing_wikitext, .../Specs/HTML (media), and the elements
that .../Extension:TextExtracts removes.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from urllib.parse import unquote

from selectolax.lexbor import LexborHTMLParser, LexborNode

from methods.web_address import split_address
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
"""Tag and class of elements that enclose an image and its caption, and the selector of the caption."""
_NO_CAPTION = ".magnify"
FILE = "File:"
"""The canonical name of the namespace of files, which every wiki understands."""


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
        # A paragraph inside a list item was already read with the item.
        if block_depth is not None and depth > block_depth:
            continue
        block_depth = depth if node.tag in _BLOCKS else None
        if node.tag in _BLOCKS:
            blocks.append(plain_text(node.html or ""))
    return "\n".join(block for block in blocks if block)


def shown_images(html: str, names: Sequence[str]) -> tuple[PageImage, ...]:
    """List the images of a page in order, followed by files that its HTML does not show.

    Missing files, for example, are not shown. The lead image is the first image of the introduction.

    Args:
        html: The rendered page.
        names: All files that the page uses, without the namespace.
    """
    file_of = {name.replace(" ", "_"): name.replace("_", " ") for name in names}
    images: dict[str, PageImage] = {}
    section, has_lead = 0, False
    toc_depth: int | None = None
    frames: list[_Frame] = []
    """The elements around the current node that enclose an image and its caption, innermost last."""
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
            # The heading of the table of contents begins no section.
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
    """Yield possible file names of an image: parts of its URL and of its link."""
    addresses = [image.attributes.get("src"), image.attributes.get("resource")]
    if image.parent is not None:
        addresses.append(image.parent.attributes.get("href"))
    for address in filter(None, addresses):
        try:
            parts = split_address(address)
        except ValueError:
            continue
        # The file name of a thumbnail's original is the thumbnail's folder, or in the query.
        for part in (*reversed(parts.path.split("/")), parts.query.rpartition("=")[2]):
            name = unquote(part).replace(" ", "_")
            yield name
            yield name.partition(":")[2]


class _Frame:
    """An element that encloses images and their caption. The caption is searched only once."""

    def __init__(self, depth: int, node: LexborNode, selector: str) -> None:
        self.depth = depth
        self._node = node
        self._selector = selector

    @cached_property
    def caption(self) -> str | None:
        """The plain text of the caption, or None."""
        element = self._node.css_first(self._selector)
        return None if element is None else _words(element.html or "")


def _caption_selector(node: LexborNode) -> str | None:
    """The selector of the caption within an element; None for an element that is not a frame."""
    for tag, name, caption in _CAPTIONS:
        if node.tag == tag and name in ("", *_classes(node)):
            return caption
    return None


def _words(html: str) -> str | None:
    # Elements are removed from a copy, because the page is still being traversed.
    caption = LexborHTMLParser(html, is_fragment=True)
    for node in caption.css(f"{_NO_CAPTION}, {_NO_TEXT}"):
        node.decompose()
    return plain_text(caption.html or "") or None


def _elements(root: LexborNode | None) -> Iterator[tuple[LexborNode, int]]:
    """Yield the elements of a tree in document order, with their depths."""
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
