"""HTTP client of the MediaWiki API with retries and rate limits, by Wikimedia's etiquette.

Sources: https://www.mediawiki.org/wiki/API:Etiquette, .../API:Errors_and_warnings,
.../Manual:Maxlag_parameter and .../Wikimedia_APIs/Rate_limits.
"""

import asyncio
import json
from urllib.parse import urlencode, urlsplit

import httpx2

from methods.errors import UserError
from methods.json_text import from_json, is_unicode
from methods.web_address import Credentials
from methods.wikimedia.answers import Json
from resources.files.bounded import limit_body
from resources.web.host_pauses import HostPauses, host_name, retry_after
from resources.web.ssrf_guard import PrivateAddress, guard

CONNECTIONS = 2
BYTES_PER_SECOND = 25_000_000 / 8
"""Maximum bandwidth of all downloads together, in bytes per second."""

NO_CONTACT = (
    "Wikimedia serves programs that name somebody to write to: "
    "set wikipedia.contact in corpus.yaml to a mail address or a web page."
)


def is_wikimedia(host: str) -> bool:
    """Whether a host's name is under wikimedia.org or wikipedia.org."""
    return f".{host.lower().rstrip('.')}".endswith((".wikimedia.org", ".wikipedia.org"))


def user_agent(contact: str | None) -> str:
    """Return the User-Agent header: the program and, in brackets, a contact."""
    return f"vlm-loom/0.1 ({contact})" if contact else "vlm-loom/0.1"


CONCURRENCY = 3
"""Maximum number of concurrent requests that Wikimedia allows."""
MOST_BYTES = 32_000_000
"""Maximum size of a response in bytes. MediaWiki limits its responses to 8 MB."""
TIMEOUT = 60.0
"""Maximum duration of one attempt in seconds, until the last byte."""
TRIES = 8
FIRST_BACKOFF = 1.0
"""The wait after the first failed attempt in seconds; doubled after each."""
MAX_BACKOFF = 60.0
MAX_WAIT = 600.0
"""Maximum wait in seconds: if a wiki asks for a longer wait, the run ends."""
LONGEST_URL = 2000
"""Queries with more URL-encoded characters than this are sent as POST requests."""

_ALWAYS = {"action": "query", "format": "json", "formatversion": "2", "maxlag": "5"}
_PASSING_CODES = ("maxlag", "ratelimited", "readonly")


class WikipediaError(UserError):
    """A request to Wikipedia is not possible or failed; the message says what to do."""


class NoService(Exception):
    """The wiki has no such REST service: its server answers with an HTML page or an error status."""


class ApiClient:
    """HTTP requests to the API with retries, over at most CONCURRENCY connections.

    `pauses` are the pauses of hosts, which outlive this client. `credentials` are sent with every
    request, but not to another host after a redirect. The host of `api` may be on a private network; a
    redirect may not lead into one.
    """

    def __init__(
        self,
        user_agent: str,
        api: str,
        *,
        pauses: HostPauses,
        credentials: Credentials | None,
    ) -> None:
        self._pauses = pauses
        self._http = httpx2.AsyncClient(
            auth=None if credentials is None else httpx2.BasicAuth(*credentials),
            headers={"User-Agent": user_agent, "Accept-Encoding": "gzip"},
            timeout=None,  # `_one_try` limits each attempt as a whole
            limits=httpx2.Limits(max_connections=CONCURRENCY),
            follow_redirects=True,
            max_redirects=3,
            event_hooks={"response": [_limit_answer]},
        )
        guard(self._http, api)

    async def __aenter__(self) -> "ApiClient":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def query(self, api: str, parameters: Json) -> Json:
        """Send a query to the API; the action is `query` unless `parameters` has another one.

        Args:
            api: The address of the API.
            parameters: The parameters.

        Raises:
            WikipediaError: The API did not answer, or answered with an error.
        """
        answer = await self._ask(api, {**_ALWAYS, **parameters})
        if answer is None:
            raise WikipediaError(
                f"There is no MediaWiki API at {api} (status 404): correct its "
                "address, or the language."
            )
        return answer

    async def get(self, url: str) -> Json | None:
        """Fetch the JSON object at an address; None if the service has no such object (status 404).

        Raises NoService if there is no such service, WikipediaError if it does not answer.
        """
        return await self._ask(url, None)

    async def _ask(self, url: str, parameters: Json | None) -> Json | None:
        host = urlsplit(url).netloc
        for tried in range(TRIES):
            try:
                response = await self._one_try(host, url, parameters)
                if parameters is None and _is_of_no_service(response):
                    raise NoService
                return _content(response)
            except _TransientApiError as trouble:
                passing = trouble
            doubled = min(FIRST_BACKOFF * 2**tried, MAX_BACKOFF)
            wait = doubled if passing.wait is None else passing.wait
            if passing.pauses_host:
                self._pauses.pause(host_name(url), wait)
                self._seconds_to_wait(host, url)
            elif tried + 1 < TRIES:
                await asyncio.sleep(wait)
        raise WikipediaError(
            f"{host} gave no usable answer in {TRIES} tries ({passing}): run this again later. "
            "What it has answered is kept.",
            passing=True,
        )

    async def _one_try(self, host: str, url: str, parameters: Json | None) -> httpx2.Response:
        while (wait := self._seconds_to_wait(host, url)) > 0:
            await asyncio.sleep(wait)
        try:
            async with asyncio.timeout(TIMEOUT):
                if parameters is not None and len(urlencode(parameters)) > LONGEST_URL:
                    return await self._http.post(url, data=parameters)
                return await self._http.get(url, params=parameters)
        except TimeoutError:
            raise _TransientApiError(f"no answer within {TIMEOUT:g} seconds") from None
        except PrivateAddress as private:
            raise WikipediaError(
                f"{host} leads to {private.host}, which is on a private or local network: give the "
                "API's address there as wikipedia.api in corpus.yaml, if you trust it."
            ) from None
        except httpx2.HTTPError as error:
            raise _TransientApiError(f"the connection failed: {error!r}") from None

    def _seconds_to_wait(self, host: str, url: str) -> float:
        """Return the seconds left of the host's pause. Raises WikipediaError if over `MAX_WAIT`."""
        wait = self._pauses.seconds_left(host_name(url))
        if wait > MAX_WAIT:
            raise WikipediaError(
                f"{host} asks to wait {wait:.0f} seconds: run this again after "
                "that. What it has answered is kept.",
                passing=True,
            )
        return wait


class _TransientApiError(Exception):
    """A failure that may pass in `wait` seconds; with `pauses_host` nothing else is sent before."""

    def __init__(
        self, detail: str, wait: float | None = None, *, pauses_host: bool = False
    ) -> None:
        super().__init__(detail)
        self.wait = wait
        self.pauses_host = pauses_host


async def _limit_answer(response: httpx2.Response) -> None:
    too_large = WikipediaError(
        f"{response.url.host} gave an answer of over {MOST_BYTES:,} bytes, or of over 100 times "
        "its compressed size, as no MediaWiki does: correct the API's address."
    )
    limit_body(response, MOST_BYTES, lambda: too_large)


def _is_of_no_service(response: httpx2.Response) -> bool:
    """Whether the response shows that there is no such service: for example, an HTML page."""
    answered = response.status_code == 200 or 400 <= response.status_code < 500
    passing = response.status_code in (403, 429)
    return answered and not passing and "json" not in response.headers.get("content-type", "")


def _content(response: httpx2.Response) -> Json | None:
    """Return the JSON object of a response; None for status 404. Raises an error if it failed."""
    status, host = response.status_code, response.url.host
    wait = retry_after(response.headers.get("retry-after"))
    try:
        body = from_json(response.content)
    except ValueError:
        body = None
    if not is_unicode(json.dumps(body, ensure_ascii=False)):
        raise WikipediaError(
            f"An answer of {host} has half a character (a lone surrogate), and so not the form of "
            "MediaWiki's API: check the API's address."
        )
    error = body.get("error") if isinstance(body, dict) else None
    code, info = (error.get("code"), error.get("info")) if isinstance(error, dict) else (None, None)
    overloaded = status in (429, 503) or code in _PASSING_CODES
    if overloaded or status >= 500:
        detail = f"status {status}" if code is None else f"{code}: {info}"
        raise _TransientApiError(detail, wait, pauses_host=overloaded or wait is not None)
    if status == 404:
        return None
    if code is not None:
        raise WikipediaError(
            f"{host} refuses the request ({code}: {info}): correct what was asked for."
        )
    if status == 403:
        raise WikipediaError(
            f"{host} refuses to answer (status 403): give a contact that its operators can write "
            "to, or ask them why."
        )
    if status != 200:
        raise WikipediaError(f"{host} answered with status {status}: correct the API's address.")
    if not isinstance(body, dict):
        raise _TransientApiError("an answer that is not a JSON object")
    return body
