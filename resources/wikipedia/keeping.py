"""What is asked of a wiki anew, and what is kept from an earlier run.

What belongs here: when what is kept is out of date, and the keeping of every answer as it comes. What
does not: the requests (`wiki.py`) and the files (`records.py`).
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from methods.wikimedia import (
    FileFacts,
    Json,
    Missing,
    PageImage,
    file_facts,
    page_facts,
    page_images,
)
from resources.batched import batched
from resources.wikipedia.records import Key, PageRecord, Records
from resources.wikipedia.session import CONCURRENCY
from resources.wikipedia.wiki import BATCH, Wiki, expected_form

_REVISIONS = {"prop": "info"}
_FACTS = {
    "prop": "info|categories|extracts",
    "inprop": "url",
    "clshow": "!hidden",
    "cllimit": "max",
    "exintro": "1",
    "explaintext": "1",
    "exlimit": "max",
}
_FILES = {
    "prop": "imageinfo",
    "iiprop": "url|size|mime|sha1|extmetadata",
    "iiextmetadatafilter": "LicenseShortName|UsageTerms|LicenseUrl|Artist|Credit|ImageDescription",
}

T = TypeVar("T")


class Progress:
    """Tells `on_progress` how many of the distinct titles are done."""

    def __init__(
        self, titles: Iterable[str], on_progress: Callable[[int, int], None] | None
    ) -> None:
        self._total = len(set(titles))
        self._on_progress = on_progress

    def done(self, done: int) -> None:
        """So many are done by now."""
        if self._on_progress:
            self._on_progress(done, self._total)


async def current_pages(
    wiki: Wiki, kept: Records[PageRecord], titles: Sequence[str], progress: Progress
) -> dict[str, PageRecord | Missing]:
    """The page by title asked for: the kept one, if it has the revision that the wiki has now."""
    distinct = list(dict.fromkeys(titles))
    now: dict[str, Json | Missing] = {}

    async def look(batch: Sequence[str]) -> None:
        now.update(await wiki.pages(batch, _REVISIONS))

    await _each(look, batched(distinct, BATCH))
    results: dict[str, PageRecord | Missing] = {}
    outdated: dict[str, list[str]] = {}
    for asked in distinct:
        page, record = now[asked], kept.get((wiki.language, asked))
        with expected_form():
            if isinstance(page, Missing):
                results[asked] = page
            elif record and record.facts.revision == page["lastrevid"]:
                results[asked] = record
            else:
                outdated.setdefault(page["title"], []).append(asked)
    progress.done(len(results))

    async def fetch(batch: Sequence[str]) -> None:
        new: dict[Key, PageRecord] = {}
        for title, page in (await wiki.pages(batch, _FACTS)).items():
            for asked in outdated[title]:
                if isinstance(page, Missing):
                    # It was there a moment ago, when its revision was asked for.
                    results[asked] = replace(page, asked=asked)
                    continue
                with expected_form():
                    record = PageRecord(page_facts(asked, wiki.language, page))
                results[asked] = new[wiki.language, asked] = record
        kept.add(new)
        progress.done(len(results))

    await _each(fetch, batched(outdated, BATCH))
    return {asked: results[asked] for asked in distinct}


async def current_images(
    wiki: Wiki, kept: Records[PageRecord], titles: Sequence[str], progress: Progress
) -> dict[str, tuple[PageImage, ...] | Missing]:
    """The images by page asked for, kept and out of date with the page."""
    results: dict[str, tuple[PageImage, ...] | Missing] = {}
    lacking: dict[str, list[PageRecord]] = {}
    records = await current_pages(wiki, kept, titles, Progress(titles, None))
    for asked, record in records.items():
        if isinstance(record, Missing):
            results[asked] = record
        elif record.images is not None:
            results[asked] = record.images
        else:
            lacking.setdefault(record.facts.title, []).append(record)
    progress.done(len(results))

    async def fetch(title: str) -> None:
        media = await wiki.media_list(title)
        with expected_form():
            images = page_images(media)
        new: dict[Key, PageRecord] = {}
        for record in lacking[title]:
            asked = record.facts.asked
            new[wiki.language, asked] = replace(record, images=images)
            results[asked] = images
        kept.add(new)
        progress.done(len(results))

    await _each(fetch, lacking)
    return {asked: results[asked] for asked in records}


async def known_files(
    wiki: Wiki,
    kept: Records[FileFacts],
    titles: Sequence[str],
    width: int,
    progress: Progress,
) -> dict[str, FileFacts | Missing]:
    """The file by title asked for: the kept one, if its thumbnail has this width."""
    results: dict[str, FileFacts | Missing] = {}
    distinct = list(dict.fromkeys(titles))
    for asked in distinct:
        if known := kept.get((wiki.language, asked, str(width))):
            results[asked] = known
    progress.done(len(results))

    async def fetch(batch: Sequence[str]) -> None:
        new: dict[Key, FileFacts] = {}
        request = {**_FILES, "iiurlwidth": str(width)}
        for asked, page in (await wiki.pages(batch, request)).items():
            with expected_form():
                facts = page if isinstance(page, Missing) else file_facts(asked, page)
            results[asked] = facts
            if isinstance(facts, FileFacts):
                new[wiki.language, asked, str(width)] = facts
        kept.add(new)
        progress.done(len(results))

    await _each(fetch, batched([asked for asked in distinct if asked not in results], BATCH))
    return {asked: results[asked] for asked in distinct}


async def _each(work: Callable[[T], Coroutine[Any, Any, None]], items: Iterable[T]) -> None:
    """Do the work for all items, a few at a time; the first that fails ends the others.

    An item is done to its last continuation before another is begun: what has been asked for is
    kept as early as can be.
    """
    waiting = iter(items)

    async def go_on() -> None:
        for item in waiting:
            await work(item)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(CONCURRENCY):
                group.create_task(go_on())
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from None
