"""Enrich rows with categories, missing texts and licences, from the corpus's files and Wikipedia.

The corpus's files take precedence over Wikipedia.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any
from urllib.parse import urlsplit

from methods.licences.reading import StatedLicence
from methods.wikimedia.addresses import file_title
from methods.wikimedia.facts import FileFacts, PageFacts
from resources.corpus.corpus import Corpus
from resources.wikipedia.api_client import is_wikimedia

Row = dict[str, Any]
_LANGUAGE = re.compile(r"(?!www$)[a-z]+(-[a-z0-9]+)*")
"""Names of wikis (language codes). Rows with any other name are not enriched."""


class Enricher:
    """Adds facts to rows; Wikipedia's answers are cached and requested again when they change."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._settings = corpus.settings
        self._categories = corpus.categories()
        self._kept: dict[str, dict[str, FileFacts]] = {}

    def enrich_pages(self, rows: Sequence[Row]) -> list[Row]:
        """Add `categories` to rows of Wikipedia pages, and a `page_text` to rows without one.

        If Wikipedia is asked about a row, `versions` has the addresses of its page in other languages.
        """
        for row in rows:
            row["categories"] = self._categories.get(row["title"], [])
            row["versions"] = []
        for shard, language, some in self._pages_to_request(rows):
            lacking = [row for row in some if not row["categories"] or not row["page_text"]]
            titles = [row["title"] for row in lacking]
            facts = self._corpus.wikipedia.pages(shard, language, titles)
            for row in lacking:
                page = facts[row["title"]]
                if isinstance(page, PageFacts):
                    row["categories"] = row["categories"] or list(page.categories)
                    row["page_text"] = row["page_text"] or page.extract or None
                    row["versions"] = list(page.versions)
        return list(rows)

    def enrich_images(self, rows: Sequence[Row]) -> list[Row]:
        """Add `page_states`, the licence that Wikipedia states (if it was asked), and `file_sha1`.

        `file_sha1` tells an overwritten file from its earlier version.
        """
        for row in rows:
            row["page_states"], row["file_sha1"] = StatedLicence(), None
        for shard, language, some in self._pages_to_request(rows):
            wikipedia = self._corpus.wikipedia
            if shard not in self._kept:
                self._kept[shard] = {file.url: file for file in wikipedia.kept_files(shard)}
            # Files of other shards are requested again: they may have been overwritten since.
            cached_files = self._kept[shard] if shard in self._settings.wikipedia.shards else {}
            title_of = {
                row["image_url"]: title
                for row in some
                if row["image_url"] not in cached_files and (title := file_title(row["image_url"]))
            }
            new_files = wikipedia.files(shard, language, list(title_of.values()))
            for row in some:
                url = row["image_url"]
                file = cached_files.get(url) or new_files.get(title_of.get(url, ""))
                if isinstance(file, FileFacts) and _of_one_site(file.url, url):
                    row["page_states"] = StatedLicence(file.licence, file.licence_url, file.artist)
                    row["file_sha1"] = file.sha1
        return list(rows)

    def _pages_to_request(self, rows: Iterable[Row]) -> Iterator[tuple[str, str, list[Row]]]:
        """Yield the rows to look up in Wikipedia, grouped by shard and language."""
        settings = self._settings.wikipedia

        def whose(row: Row) -> tuple[str, str]:
            return row["wit_shard"], _wiki(row)

        about = [
            row
            for row in rows
            if (settings.enrich or row["wit_shard"] in settings.shards)
            and _LANGUAGE.fullmatch(_wiki(row))
        ]
        for (shard, language), some in groupby(sorted(about, key=whose), key=whose):
            yield shard, language, list(some)


def _wiki(row: Row) -> str:
    """Return the wiki of a row's page, from its URL: not all of WIT's language codes are wikis."""
    host = urlsplit(row["page_url"]).hostname or ""
    wiki, _, site = host.partition(".")
    return wiki if site == "wikipedia.org" else str(row["language"]).lower()


def _of_one_site(*urls: str) -> bool:
    """Tell whether all addresses at Wikimedia belong to the same wiki.

    A wiki may have a local file of the same name as one on Commons.
    """
    parts = [urlsplit(url) for url in urls]
    sites = [part.path.split("/")[2:3] for part in parts if is_wikimedia(part.hostname or "")]
    return all(site == sites[0] for site in sites)
