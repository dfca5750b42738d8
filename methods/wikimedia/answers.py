"""Responses of MediaWiki's `action=query`: merging of continued responses, and look-up of titles.

Sources: https://www.mediawiki.org/wiki/API:Query and .../API:Continue, in the format of
`formatversion=2`.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import unquote

from methods.unicode_forms import in_form

Json = dict[str, Any]

# Separators of titles in a request, and lone surrogates.
_UNSENDABLE = re.compile(r"[|\x1f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class MissingTitle:
    """A requested title without a page or file, or that is no valid title.

    `detail` is one sentence for a person.
    """

    asked: str
    reason: Literal["missing", "invalid"]
    detail: str


def merge_answers(answers: Iterable[Json]) -> Json:
    """Merge the `query` parts of the continued responses to one request. `pages` is a list.

    Lists are joined without repetition. Of other values the first is kept: if a page is edited between
    two responses, it keeps the older revision, and the next update finds that it has changed.
    """
    merged: Json = {"pages": {}}
    for answer in answers:
        query = answer.get("query", {})
        pages = {page.get("pageid", page.get("title")): page for page in query.get("pages", [])}
        _merge(merged, {**query, "pages": pages})
    merged = _distinct(merged)
    return {**merged, "pages": list(merged["pages"].values())}


def _merge(first: Json, second: Json) -> None:
    """Add to `first` what only `second` has, and the items of its lists."""
    for key, value in second.items():
        part = first.setdefault(key, type(value)() if isinstance(value, (dict, list)) else value)
        if isinstance(value, dict) and isinstance(part, dict):
            _merge(part, value)
        elif isinstance(value, list) and isinstance(part, list):
            part += value


def _distinct(value: Any) -> Any:
    """Remove repeated items from the lists of a response."""
    if isinstance(value, list):
        return list({json.dumps(item, sort_keys=True): item for item in value}.values())
    if isinstance(value, dict):
        return {key: _distinct(part) for key, part in value.items()}
    return value


def sent_form(title: str) -> str | None:
    """Normalize a title to Unicode NFC, the only form that MediaWiki stores; None for an invalid
    title.
    """
    if not title.strip() or _UNSENDABLE.search(title):
        return None
    return in_form("NFC", title)


def find_pages(query: Json, titles: Sequence[str]) -> dict[str, Json | MissingTitle]:
    """Find the page that each title leads to, through normalization and redirects.

    Args:
        query: The merged query.
        titles: The titles.
    """
    steps: dict[str, str] = {}
    for kind in ("normalized", "converted", "redirects"):
        for step in query.get(kind, []):
            start = unquote(step["from"]) if step.get("fromencoded") else step["from"]
            steps.setdefault(start, step["to"])
    pages: dict[str, Json] = {}
    for page in query["pages"]:
        pages.setdefault(page["title"], page)
    elsewhere = {link["title"]: link["iw"] for link in query.get("interwiki", [])}
    return {title: _page_or_missing(title, steps, pages, elsewhere) for title in titles}


def _page_or_missing(
    requested: str,
    steps: Mapping[str, str],
    pages: Mapping[str, Json],
    elsewhere: Mapping[str, str],
) -> Json | MissingTitle:
    title, passed = sent_form(requested), set()
    if title is None:
        return MissingTitle(
            requested, "invalid", "It is empty or has a character that no title has."
        )
    while title in steps:
        if title in passed:
            return MissingTitle(requested, "missing", "Its redirects lead round in a circle.")
        passed.add(title)
        title = steps[title]
    if title in elsewhere:
        return MissingTitle(
            requested, "missing", f"It is a page of another wiki, {elsewhere[title]!r}."
        )
    page = pages.get(title)
    if page is None:
        return MissingTitle(requested, "invalid", "The wiki's answer says nothing of this title.")
    if page.get("invalid"):
        reason = page.get("invalidreason")
        detail = reason if isinstance(reason, str) and reason else "It can be no title."
        return MissingTitle(requested, "invalid", detail)
    if page.get("special"):
        return MissingTitle(requested, "invalid", "It is a function of the wiki, not a page.")
    # A file of Wikimedia Commons is a missing page of this wiki, but has its `imageinfo`.
    if page.get("missing") and "imageinfo" not in page:
        return MissingTitle(requested, "missing", "The wiki has no page of this title.")
    return page
