"""Synchronous client for pages, images and files of Wikipedia, with a cache on disk."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

import httpx2

from methods.web_address import credentials, without_query
from methods.wikimedia.answers import MissingTitle
from methods.wikimedia.facts import FileFacts, PageFacts, PageImage
from resources.web.host_pauses import HostPauses
from resources.wikipedia.api_client import NO_CONTACT, ApiClient, WikipediaError, user_agent
from resources.wikipedia.page_cache import current_files, current_images, current_pages
from resources.wikipedia.records import PageRecord, file_records, page_records
from resources.wikipedia.wiki import Wiki

API = "https://{language}.wikipedia.org/w/api.php"

_CONTACT = re.compile(r"https?://\w|\w@\w+[.\w-]*\.\w")
OnProgress = Callable[[int, int], None]
T = TypeVar("T")


def _ignore(done: int, total: int) -> None: ...


class Wikipedia:
    """Pages and files of Wikipedia; responses are cached in `folder`, in files for each shard.

    `contact` is the e-mail address or web page of the person who runs this. `api` is the API's address;
    `{language}` in it stands for the language of the wiki. A user and a password in the address are
    sent, but not shown or stored. `pauses` are the pauses of hosts, shared with other clients of the
    same hosts.

    Methods take the shard whose cache is used, the language of the wiki, and the titles. They
    return the facts of each distinct title, or why there are none. `on_progress(done, total)` gets
    numbers of titles, in the calling thread.

    At most three requests are in flight. No method may be called from a coroutine. Every method raises
    WikipediaError if a wiki refuses a request or does not answer; earlier responses are cached, so the
    next call continues from there.
    """

    def __init__(
        self,
        contact: str | None,
        *,
        api: str = API,
        folder: Path,
        pauses: HostPauses | None = None,
    ) -> None:
        if not _is_contact(contact):
            raise WikipediaError(NO_CONTACT)
        if not _is_api(api):
            raise WikipediaError(
                f"{without_query(api)!r} cannot be the API's address: give one like {API} or "
                "https://wiki.example.org/api.php."
            )
        self._user_agent = f"{user_agent(contact)} httpx2/{httpx2.__version__}"
        # Keep the password out of the address, which logs and messages show.
        self._credentials = credentials(api)
        self._api = without_query(api)
        self._folder = folder
        self._pauses = HostPauses() if pauses is None else pauses

    def pages(
        self, shard: str, language: str, titles: Sequence[str], on_progress: OnProgress = _ignore
    ) -> dict[str, PageFacts | MissingTitle]:
        """Return the facts of the page of each distinct title.

        For a cached page only the revision is requested; the page is fetched again if it changed.
        """
        with page_records(self._folder, shard) as cache:
            records = self._run(
                language, lambda wiki: current_pages(wiki, cache, titles, on_progress)
            )
        return {
            title: record.facts if isinstance(record, PageRecord) else record
            for title, record in records.items()
        }

    def page_images(
        self, shard: str, language: str, titles: Sequence[str], on_progress: OnProgress = _ignore
    ) -> dict[str, tuple[PageImage, ...] | MissingTitle]:
        """Return the images of the page of each distinct title, in the page's order.

        They are cached with the page, and fetched again if its revision changed.
        """
        with page_records(self._folder, shard) as cache:
            return self._run(
                language, lambda wiki: current_images(wiki, cache, titles, on_progress)
            )

    def files(
        self, shard: str, language: str, titles: Sequence[str], on_progress: OnProgress = _ignore
    ) -> dict[str, FileFacts | MissingTitle]:
        """Return the facts of files ("File:Name.jpg"), local or shared.

        For a cached file only the SHA-1 is requested; the facts are fetched again if it changed.
        """
        with file_records(self._folder, shard) as cache:
            return self._run(language, lambda wiki: current_files(wiki, cache, titles, on_progress))

    def kept_files(self, shard: str) -> list[FileFacts]:
        """Return the cached files of a shard, without any request."""
        with file_records(self._folder, shard) as cache:
            return list(cache.values())

    def category_members(self, language: str, category: str, limit: int) -> list[str]:
        """Return the titles of articles in a category. They are not cached.

        Args:
            language: The language of the wiki.
            category: The category.
            limit: The maximum number of titles.
        """
        return self._run(language, lambda wiki: wiki.members(category, limit))

    def _run(self, language: str, work: Callable[[Wiki], Awaitable[T]]) -> T:
        async def run() -> T:
            client = ApiClient(
                self._user_agent,
                self._api.replace("{language}", language),
                pauses=self._pauses,
                credentials=self._credentials,
            )
            async with client:
                return await work(Wiki(client, self._api, language))

        return asyncio.run(run())


def _is_contact(contact: str | None) -> bool:
    """Whether a contact has an e-mail or web address, and no character that would break a header."""
    return (
        contact is not None
        and contact.isascii()
        and contact.isprintable()
        and not set("()") & set(contact)
        and _CONTACT.search(contact) is not None
    )


def _is_api(address: str) -> bool:
    example = address.replace("{language}", "en")
    try:
        httpx2.URL(example)
        url = urlsplit(example)
    except (httpx2.InvalidURL, ValueError):
        return False
    return (
        url.scheme in ("http", "https")
        and bool(url.hostname)
        and len(url.path) > 1
        and not (url.query or url.fragment)
    )
