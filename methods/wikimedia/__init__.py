"""MediaWiki client logic without I/O: parsing of API responses, HTML pages and image URLs."""

from methods.wikimedia.addresses import THUMBNAIL_WIDTHS, file_title, thumbnail_url
from methods.wikimedia.answers import Json, MissingTitle, find_pages, merge_answers, sent_form
from methods.wikimedia.facts import (
    FileFacts,
    PageFacts,
    PageImage,
    file_facts,
    page_facts,
    page_images,
    plain_text,
)
from methods.wikimedia.rendered_page import introduction, shown_images

__all__ = [
    "THUMBNAIL_WIDTHS",
    "FileFacts",
    "Json",
    "MissingTitle",
    "PageFacts",
    "PageImage",
    "file_facts",
    "file_title",
    "find_pages",
    "introduction",
    "merge_answers",
    "page_facts",
    "page_images",
    "plain_text",
    "sent_form",
    "shown_images",
    "thumbnail_url",
]
