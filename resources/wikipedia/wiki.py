"""MediaWiki API requests to the wiki of one language."""

import json
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from urllib.parse import quote

from methods.ids import content_id
from methods.wikimedia.answers import Json, MissingTitle, find_pages, merge_answers, sent_form
from resources.wikipedia.api_client import ApiClient, NoService, WikipediaError

BATCH = 50
"""Maximum number of titles in one request; the API refuses more."""
MOST_ANSWERS = 2_000
"""Maximum number of answers to one request and its continuations. The facts of BATCH pages need about
35 (300 language links a page, 500 links an answer); 2,000 list a category of a million pages."""
MOST_CHARACTERS = 64_000_000
"""Maximum size of these answers together, as JSON. A million titles have about 50,000,000."""
API_PATH, REST_PATH = "/w/api.php", "/api/rest_v1"
"""Paths of the MediaWiki API, and of Wikimedia's REST service on wikis that have it."""

_NO_EXTRAS = {"disablelimitreport": "1", "disableeditsection": "1", "disabletoc": "1"}
_LANGUAGE = re.compile(r"[a-z]+(-[a-z0-9]+)*")


class Wiki:
    """The wiki of `language`; its API is at the address `api`, with {language} replaced.

    Raises WikipediaError if `language` is not a language code, since it becomes part of an address.
    """

    def __init__(self, client: ApiClient, api: str, language: str) -> None:
        if not _LANGUAGE.fullmatch(language):
            raise WikipediaError(
                f"{language!r} is not a language of Wikipedia: give the first part of the wiki's "
                "address, as en of en.wikipedia.org."
            )
        self.language = language
        self._client = client
        self._api = api.replace("{language}", language)
        # The REST service's address is only known for APIs at Wikimedia's usual path.
        self._may_have_media_lists = self._api.endswith(API_PATH)

    async def pages(
        self, titles: Sequence[str], parameters: Json
    ) -> dict[str, Json | MissingTitle]:
        """Return the page of each title with the requested properties.

        Args:
            titles: At most BATCH titles.
            parameters: The parameters of the query.
        """
        sent = dict.fromkeys(form for title in titles if (form := sent_form(title)) is not None)
        answers = []
        if sent:
            follow = {"redirects": "1", "converttitles": "1"}
            request = {**parameters, **follow, "titles": "|".join(sent)}
            async for answer in self._answers(request):
                answers.append(answer)
        with expected_form():
            return find_pages(merge_answers(answers), titles)

    async def members(self, category: str, limit: int) -> list[str]:
        """Return the titles of pages in a category, in the category's order, without subcategories.

        Args:
            category: The category.
            limit: The maximum number of titles.
        """
        request = {
            "list": "categorymembers",
            "cmtitle": f"Category:{category.removeprefix('Category:')}",
            "cmnamespace": "0",
            "cmprop": "title",
            "cmlimit": "max",
        }
        titles: dict[str, None] = {}
        async for answer in self._answers(request):
            with expected_form():
                members = answer["query"]["categorymembers"]
                titles.update((member["title"], None) for member in members)
            if len(titles) >= limit:
                break
        return list(titles)[:limit]

    async def media_list(self, title: str) -> Json | None:
        """Fetch the REST API's media list of a page; None if the wiki or the page has no such list."""
        if not self._may_have_media_lists:
            return None
        base = self._api.removesuffix(API_PATH) + REST_PATH
        name = quote(title.replace(" ", "_"), safe="")
        try:
            return await self._client.get(f"{base}/page/media-list/{name}")
        except NoService:
            # Do not ask again for other pages of this wiki.
            self._may_have_media_lists = False
            return None

    async def rendered(self, title: str) -> Json:
        """Fetch a page as rendered by the wiki: its HTML in `text`, names of its files in `images`."""
        request = {"action": "parse", "page": title, "prop": "text|images"}
        answer = await self._client.query(self._api, request | _NO_EXTRAS)
        with expected_form():
            parsed: Json = answer["parse"]
            return parsed

    async def _answers(self, request: Json) -> AsyncIterator[Json]:
        """Yield the responses to a request and to its continuations."""
        parameters, parts, n_characters = request, set[str](), 0
        for _ in range(MOST_ANSWERS):
            answer = await self._client.query(self._api, parameters)
            n_characters += len(json.dumps(answer, ensure_ascii=False))
            if n_characters > MOST_CHARACTERS:
                raise WikipediaError(
                    f"The wiki at {self._api} continues its answer after {MOST_CHARACTERS:,} "
                    "characters: check the API's address, or ask for fewer pages of a category."
                )
            yield answer
            following = answer.get("continue")
            with expected_form():
                # For a single file, the continuation would list its earlier versions.
                if not following or "iistart" in following:
                    return
                part, parameters = content_id(following), {**request, **following}
            if part in parts:
                raise WikipediaError(
                    f"The wiki at {self._api} continues its answer with a part given already: "
                    "run this again later."
                )
            parts.add(part)
        raise WikipediaError(
            f"The wiki at {self._api} continues its answer after {MOST_ANSWERS:,} parts: check the "
            "API's address, or ask for fewer pages of a category."
        )


@contextmanager
def expected_form() -> Iterator[None]:
    """Turn a missing key or a wrong type in a wiki's response into a WikipediaError."""
    try:
        yield
    except (KeyError, TypeError, AttributeError) as error:
        raise WikipediaError(
            f"An answer of the wiki does not have the form of MediaWiki's API ({error!r}): check the "
            "API's address, or adapt methods/wikimedia to a new form."
        ) from error
