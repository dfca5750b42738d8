"""Text and images of a rendered wiki page, read in a process with limits.

Crafted HTML of kilobytes can take an HTML parser hours and gigabytes.
"""

import json
from collections.abc import Sequence
from dataclasses import astuple

from methods.json_text import from_json
from methods.wikimedia.facts import PageImage
from methods.wikimedia.rendered_page import introduction, shown_images
from resources.files.limited_process import run_limited


def read_page(html: str, names: Sequence[str]) -> tuple[str, tuple[PageImage, ...]]:
    """Read the introduction and the images of a rendered page.

    Args:
        html: The page.
        names: All files that the page uses, without the namespace.

    Returns:
        The plain text of the introduction, and the images in order.

    Raises:
        LimitedProcessError: The page takes too much time or memory.
    """
    text, images = from_json(run_limited(parse, json.dumps([html, names]).encode()))
    return text, tuple(PageImage(*image) for image in images)


def parse(data: bytes) -> bytes:
    """Read a page; input and result of `read_page` as JSON."""
    html, names = from_json(data)
    images = [astuple(image) for image in shown_images(html, names)]
    return json.dumps([introduction(html), images]).encode()
