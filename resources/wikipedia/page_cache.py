"""Incremental fetching from a wiki: only new or outdated pages, images and files are requested."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from methods.batched import batched
from methods.wikimedia.answers import Json, MissingTitle
from methods.wikimedia.facts import (
    FileFacts,
    PageFacts,
    PageImage,
    file_facts,
    page_facts,
    page_images,
)
from resources.files.limited_process import LimitedProcessError
from resources.wikipedia.api_client import CONCURRENCY
from resources.wikipedia.page_parser import read_page
from resources.wikipedia.records import Key, PageRecord, Records
from resources.wikipedia.wiki import BATCH, Wiki, expected_form

_REVISIONS = {"prop": "info", "inprop": "url"}
_FACTS = {
    "prop": "info|categories|extracts|langlinks",
    "inprop": "url",
    "clshow": "!hidden",
    "cllimit": "max",
    "exintro": "1",
    "explaintext": "1",
    "exlimit": "max",
    "llprop": "url",
    "lllimit": "max",
}
_DIGESTS = {"prop": "imageinfo", "iiprop": "sha1"}
_WIDTH = "960"
"""The width of thumbnails. Their addresses are cached, but not used."""
_FILES = {
    "prop": "imageinfo",
    "iiurlwidth": _WIDTH,
    "iiprop": "url|size|mime|sha1|extmetadata",
    "iiextmetadatafilter": "LicenseShortName|UsageTerms|LicenseUrl|Artist|Credit|ImageDescription",
}

T = TypeVar("T")
OnProgress = Callable[[int, int], None]
"""Takes the numbers of distinct titles that are done, and in total."""


async def current_pages(
    wiki: Wiki, cache: Records[PageRecord], titles: Sequence[str], on_progress: OnProgress
) -> dict[str, PageRecord | MissingTitle]:
    """Read the page of each title: the cached page if its revision is still the current one."""
    distinct = list(dict.fromkeys(titles))
    current: dict[str, Json | MissingTitle] = {}

    async def look(batch: Sequence[str]) -> None:
        current.update(await wiki.pages(batch, _REVISIONS))

    await _for_each(look, batched(distinct, BATCH))
    results: dict[str, PageRecord | MissingTitle] = {}
    outdated: dict[str, list[str]] = {}
    for requested in distinct:
        page, record = current[requested], cache.get((wiki.language, requested))
        with expected_form():
            if isinstance(page, MissingTitle):
                results[requested] = page
            elif record and _is_of(record.facts, page):
                results[requested] = record
            else:
                outdated.setdefault(page["title"], []).append(requested)
    on_progress(len(results), len(distinct))

    async def fetch(batch: Sequence[str]) -> None:
        new: dict[Key, PageRecord] = {}
        for title, page in (await wiki.pages(batch, _FACTS)).items():
            images = None
            if not isinstance(page, MissingTitle) and "extract" not in page:
                # The wiki lacks the extension TextExtracts: extract texts from the HTML.
                try:
                    text, images = await _rendered(wiki, title)
                    page = {**page, "extract": text}
                except LimitedProcessError as error:
                    page = _unreadable(title, error)
            for requested in outdated[title]:
                if isinstance(page, MissingTitle):
                    # The page was deleted after its revision was requested.
                    results[requested] = replace(page, asked=requested)
                    continue
                with expected_form():
                    record = PageRecord(page_facts(requested, wiki.language, page), images)
                results[requested] = new[wiki.language, requested] = record
        cache.add(new)
        on_progress(len(results), len(distinct))

    await _for_each(fetch, batched(outdated, BATCH))
    return {asked: results[asked] for asked in distinct}


async def current_images(
    wiki: Wiki, cache: Records[PageRecord], titles: Sequence[str], on_progress: OnProgress
) -> dict[str, tuple[PageImage, ...] | MissingTitle]:
    """Read the images on the page of each title, cached together with the page."""
    results: dict[str, tuple[PageImage, ...] | MissingTitle] = {}
    lacking: dict[str, list[PageRecord]] = {}
    records = await current_pages(wiki, cache, titles, lambda done, total: None)
    for requested, record in records.items():
        if isinstance(record, MissingTitle):
            results[requested] = record
        elif record.images is not None:
            results[requested] = record.images
        else:
            lacking.setdefault(record.facts.title, []).append(record)
    on_progress(len(results), len(records))

    async def fetch(title: str) -> None:
        try:
            images = await _images(wiki, title)
        except LimitedProcessError as error:
            unreadable = _unreadable(title, error)
            results.update((record.facts.asked, unreadable) for record in lacking[title])
            return
        new: dict[Key, PageRecord] = {}
        for record in lacking[title]:
            requested = record.facts.asked
            new[wiki.language, requested] = replace(record, images=images)
            results[requested] = images
        cache.add(new)
        on_progress(len(results), len(records))

    await _for_each(fetch, lacking)
    return {asked: results[asked] for asked in records}


async def current_files(
    wiki: Wiki, cache: Records[FileFacts], titles: Sequence[str], on_progress: OnProgress
) -> dict[str, FileFacts | MissingTitle]:
    """Read the file of each title, from the cache if it is there.

    A cached file is fetched again if its SHA-1 changed: another file was uploaded under its name.
    """
    results: dict[str, FileFacts | MissingTitle] = {}
    distinct = list(dict.fromkeys(titles))
    known_files = {
        title: facts
        for title in distinct
        if (facts := cache.get((wiki.language, title, _WIDTH))) is not None
    }

    async def look(batch: Sequence[str]) -> None:
        for requested, page in (await wiki.pages(batch, _DIGESTS)).items():
            with expected_form():
                if (
                    not isinstance(page, MissingTitle)
                    and _sha1(page) == known_files[requested].sha1
                ):
                    results[requested] = known_files[requested]

    await _for_each(look, batched(known_files, BATCH))
    on_progress(len(results), len(distinct))

    async def fetch(batch: Sequence[str]) -> None:
        new: dict[Key, FileFacts] = {}
        for requested, page in (await wiki.pages(batch, _FILES)).items():
            with expected_form():
                facts = page if isinstance(page, MissingTitle) else file_facts(requested, page)
            results[requested] = facts
            if isinstance(facts, FileFacts):
                new[wiki.language, requested, _WIDTH] = facts
        cache.add(new)
        on_progress(len(results), len(distinct))

    await _for_each(fetch, batched([asked for asked in distinct if asked not in results], BATCH))
    return {asked: results[asked] for asked in distinct}


def _unreadable(title: str, error: LimitedProcessError) -> MissingTitle:
    return MissingTitle(title, "invalid", f"Its HTML cannot be read: {error}.")


def _is_of(facts: PageFacts, page: Json) -> bool:
    """Whether the facts are of the current revision of this wiki; each wiki counts revisions from 1."""
    return (facts.revision, facts.url) == (page["lastrevid"], page["canonicalurl"])


def _sha1(page: Json) -> str | None:
    info: Json = next(iter(page.get("imageinfo", [])), {})
    return info.get("sha1")


async def _images(wiki: Wiki, title: str) -> tuple[PageImage, ...]:
    """Fetch the images on a page from its media list, or from its HTML if the wiki has no such list."""
    media = await wiki.media_list(title)
    if media is not None:
        with expected_form():
            return page_images(media)
    return (await _rendered(wiki, title))[1]


async def _rendered(wiki: Wiki, title: str) -> tuple[str, tuple[PageImage, ...]]:
    """Fetch the introduction and the images of a page from its HTML. Raises LimitedProcessError."""
    shown = await wiki.rendered(title)
    with expected_form():
        html, names = shown["text"], shown["images"]
        if not isinstance(html, str) or not all(isinstance(name, str) for name in names):
            raise TypeError("text and images are texts")
    return await asyncio.to_thread(read_page, html, names)


async def _for_each(work: Callable[[T], Coroutine[Any, Any, None]], items: Iterable[T]) -> None:
    """Do the work for all items, each to its end, a few at once; the first error cancels the others."""
    waiting = iter(items)

    async def worker() -> None:
        for item in waiting:
            await work(item)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(CONCURRENCY):
                group.create_task(worker())
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from None
