"""Shards of chosen pages of Wikipedia, or of another wiki, fetched through MediaWiki's API."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

from methods.ids import content_id
from methods.ingest.wit import (
    FREE_CHARACTERS,
    MOST_TIMES,
    Rejection,
    WitRow,
    excerpt,
    repeats_too_much,
    typed_row,
)
from methods.web_address import without_query
from methods.wikimedia.answers import MissingTitle
from methods.wikimedia.facts import FileFacts, PageFacts, PageImage
from resources.corpus.settings import CorpusError, WikipediaPages
from resources.corpus.shard import READER, Log, Shard
from resources.corpus.staging import StagedShard, StagedWriter
from resources.wikipedia import Wikipedia

NO_IMAGES = "no_images"
"""The reason of a rejected Wikipedia page without images. It is listed, but not counted as a
failure."""
_SCRIPT = re.compile(r"(/w)?/api\.php")


class WikipediaShard(Shard):
    """The pages that `pages` chooses, each with all of its images."""

    def __init__(
        self, name: str, pages: WikipediaPages, open_wikipedia: Callable[[], Wikipedia], api: str
    ) -> None:
        self.name = name
        wiki = urlsplit(without_query(api.replace("{language}", pages.language)))
        self.address = wiki.netloc + _SCRIPT.sub("", wiki.path)
        self._pages = pages
        self._open = open_wikipedia
        self._read: list[WitRow | Rejection] = []

    def fetch(self, log: Log) -> str:
        """Request what has changed. The fingerprint is a hash of rows and SHA-1 digests of files."""
        wikipedia, language = self._open(), self._pages.language
        titles = self._titles(wikipedia)

        def show(done: int, total: int) -> None:
            if done == total or done % 500 == 0:
                log(f"shard {self.name}: {done}/{total}")

        pages = wikipedia.pages(self.name, language, titles, show)
        images = wikipedia.page_images(self.name, language, titles, show)
        file_titles = {
            image.title: None
            for of_page in images.values()
            if not isinstance(of_page, MissingTitle)
            for image in of_page
        }
        files = wikipedia.files(self.name, language, list(file_titles), show)
        self._read = list(_records(pages, images, files))
        self._require_rows()
        digests = (file.sha1 for file in files.values() if isinstance(file, FileFacts))
        # Each row is hashed separately: the rows of a page share its text in memory.
        rows = (content_id(repr(record)) for record in self._read)
        return f"{READER}-{content_id(*rows, *digests)}"

    def stage(self, folder: Path) -> StagedShard:
        """Write a row for each image of each page. A missing page or file becomes a rejection."""
        with StagedWriter(folder, self.name, unit="record") as writer:
            writer.write(self._read)
        return writer.staged()

    def _require_rows(self) -> None:
        """Raise CorpusError if the shard has no row."""
        rejected = [record for record in self._read if isinstance(record, Rejection)]
        if len(rejected) < len(self._read):
            return
        counted = Counter(record.reason for record in rejected).most_common()
        why = ", ".join(f"{n} {reason}" for reason, n in counted) or "its categories have no pages"
        raise CorpusError(
            f"Shard {self.name!r} has no row of {self.address} ({why}): choose other pages under "
            "wikipedia.shards in corpus.yaml, or correct wikipedia.api."
        )

    def _titles(self, wikipedia: Wikipedia) -> list[str]:
        titles = dict.fromkeys(self._pages.pages)
        for category in self._pages.categories:
            n_more = self._pages.limit - len(titles)
            if n_more > 0:
                members = wikipedia.category_members(self._pages.language, category, n_more)
                titles |= dict.fromkeys(members)
        return list(titles)


def _records(
    pages: Mapping[str, PageFacts | MissingTitle],
    images: Mapping[str, tuple[PageImage, ...] | MissingTitle],
    files: Mapping[str, FileFacts | MissingTitle],
) -> Iterator[WitRow | Rejection]:
    """Yield a row or a rejection for each image of each page, in order.

    Two titles of the same page count once. A page without images becomes a rejection, and so does a
    page or a file whose rows would be too large (`repeats_too_much`).
    """
    numbers = count(1)
    repeated_files = _repeated_files(pages, images, files)
    page_ids = set()
    for title, page in pages.items():
        if isinstance(page, MissingTitle):
            reason = f"{page.reason}_page"
            yield Rejection(next(numbers), reason, page.detail, excerpt(title.encode()))
            continue
        if page.page_id in page_ids:
            continue
        page_ids.add(page.page_id)
        of_page = images.get(title, ())
        shown_there = () if isinstance(of_page, MissingTitle) else of_page
        if not shown_there:
            detail = "The page shows no image."
            yield Rejection(next(numbers), NO_IMAGES, detail, excerpt(title.encode()))
        of_images = [
            _caption_values(image) | _file_values(file)
            for image in shown_there
            if isinstance(file := files[image.title], FileFacts)
        ]
        if repeats_too_much(_page_values(page), of_images, FREE_CHARACTERS):
            detail = (
                f"The rows of its {len(of_images):,} images, which all repeat the text of the page, "
                f"have over {MOST_TIMES} times the characters of the page: choose other pages under "
                "wikipedia.shards in corpus.yaml."
            )
            yield Rejection(next(numbers), "too_long", detail, excerpt(title.encode()))
            continue
        for image in shown_there:
            file = files[image.title]
            if isinstance(file, MissingTitle):
                shown = excerpt(image.title.encode())
                yield Rejection(next(numbers), f"{file.reason}_file", file.detail, shown)
            elif image.title in repeated_files:
                detail = (
                    "The rows of the file, which all repeat its description, have over "
                    f"{MOST_TIMES} times its characters: shorten its description in the wiki."
                )
                yield Rejection(next(numbers), "too_long", detail, excerpt(image.title.encode()))
            else:
                values = _page_values(page) | _caption_values(image) | _file_values(file)
                yield typed_row(next(numbers), values)


def _repeated_files(
    pages: Mapping[str, PageFacts | MissingTitle],
    images: Mapping[str, tuple[PageImage, ...] | MissingTitle],
    files: Mapping[str, FileFacts | MissingTitle],
) -> set[str]:
    """Titles of files that are shown on so many pages that their rows would be too large."""
    shown: defaultdict[str, list[tuple[PageFacts, PageImage]]] = defaultdict(list)
    for title, page in pages.items():
        of_page = images.get(title, ())
        if isinstance(page, PageFacts) and not isinstance(of_page, MissingTitle):
            for image in of_page:
                shown[image.title].append((page, image))
    return {
        title
        for title, on_pages in shown.items()
        if isinstance(file := files[title], FileFacts)
        and repeats_too_much(
            _file_values(file),
            [_page_values(page) | _caption_values(image) for page, image in on_pages],
            FREE_CHARACTERS,
        )
    }


def _page_values(page: PageFacts) -> dict[str, object]:
    return {
        "language": page.language,
        "page_url": page.url,
        "page_title": page.title,
        "context_page_description": page.extract,
    }


def _caption_values(image: PageImage) -> dict[str, object]:
    return {"caption_reference_description": image.caption, "is_main_image": image.lead}


def _file_values(file: FileFacts) -> dict[str, object]:
    return {
        "image_url": file.url,
        "caption_attribution_description": file.description,
        "mime_type": file.mime,
        "original_height": file.height or None,
        "original_width": file.width or None,
    }
