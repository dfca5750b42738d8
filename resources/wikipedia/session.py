"""Requests to a wiki, made the way Wikimedia asks programs to make them.

What belongs here: the HTTP client, how many requests are under way, when to wait and to try again, and
which answers are errors. What does not: what is asked for (`wiki.py`). Sources:
https://www.mediawiki.org/wiki/API:Etiquette, .../API:Errors_and_warnings, .../Manual:Maxlag_parameter
and .../Wikimedia_APIs/Rate_limits.
"""

import asyncio
from types import TracebackType
from urllib.parse import urlencode, urlsplit

import httpx

from methods.errors import UserError
from methods.wikimedia import Json
from resources.host_pauses import HostPauses, host_name
from resources.retry_after import retry_after

CONCURRENCY = 3
"""Requests under way at once, the most that Wikimedia asks for; no caller starts more."""
TRIES = 8
MAX_BACKOFF = 60.0
MAX_WAIT = 600.0
"""Seconds: a wiki that asks for a longer wait is left alone, and the run ends."""
LONGEST_URL = 2000
"""Characters; what would make a longer address is sent as a form."""

_ALWAYS = {"action": "query", "format": "json", "formatversion": "2", "maxlag": "5"}
_PASSING_CODES = ("maxlag", "ratelimited", "readonly")


class WikipediaError(UserError):
    """Wikipedia cannot be asked, or has not answered; the message says what to do."""


class Session:
    """One event loop's connections, CONCURRENCY of them. `user_agent` names who asks.

    `timeout` is what one try may take from first to last byte, `backoff` the wait after the first
    failed one (doubled after each), both in seconds. `pauses` has the hosts that are paused; it
    outlives the session.
    """

    def __init__(
        self, user_agent: str, *, timeout: float, backoff: float, pauses: HostPauses
    ) -> None:
        self._timeout = timeout
        self._backoff = backoff
        self._pauses = pauses
        self._client = httpx.AsyncClient(
            headers={"User-Agent": user_agent, "Accept-Encoding": "gzip"},
            timeout=None,  # each try has one deadline for all of it
            limits=httpx.Limits(max_connections=CONCURRENCY),
            follow_redirects=True,
            max_redirects=3,
        )

    async def __aenter__(self) -> "Session":
        await self._client.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._client.__aexit__(kind, error, traceback)

    async def query(self, api: str, parameters: Json) -> Json:
        """The answer of the API at this address to action=query. Raises WikipediaError."""
        answer = await self._ask(api, {**_ALWAYS, **parameters})
        if answer is None:
            raise WikipediaError(
                f"There is no MediaWiki API at {api} (status 404): correct its address, "
                "or the language."
            )
        return answer

    async def get(self, url: str) -> Json | None:
        """The JSON object at this address, None where there is nothing. Raises WikipediaError."""
        return await self._ask(url, None)

    async def _ask(self, url: str, parameters: Json | None) -> Json | None:
        host = urlsplit(url).netloc
        for tried in range(TRIES):
            try:
                return _content(await self._one_try(host, url, parameters))
            except _Passing as trouble:
                passing = trouble
            doubled = min(self._backoff * 2**tried, MAX_BACKOFF)
            wait = doubled if passing.wait is None else passing.wait
            if passing.concerns_all:
                self._pauses.pause(host_name(url), wait)
                self._require_a_short_pause(host, url)
            elif tried + 1 < TRIES:
                await asyncio.sleep(wait)
        raise WikipediaError(
            f"{host} gave no usable answer in {TRIES} tries ({passing}): run this again later. "
            "What it has answered is kept."
        )

    async def _one_try(self, host: str, url: str, parameters: Json | None) -> httpx.Response:
        while (wait := self._require_a_short_pause(host, url)) > 0:
            await asyncio.sleep(wait)
        try:
            async with asyncio.timeout(self._timeout):
                if parameters is not None and len(urlencode(parameters)) > LONGEST_URL:
                    return await self._client.post(url, data=parameters)
                return await self._client.get(url, params=parameters)
        except TimeoutError:
            raise _Passing(f"no answer within {self._timeout:g} seconds") from None
        except httpx.HTTPError as error:
            raise _Passing(f"the connection failed: {error!r}") from None

    def _require_a_short_pause(self, host: str, url: str) -> float:
        """Seconds that are left of the host's pause. Raises WikipediaError if they are too many."""
        wait = self._pauses.seconds_left(host_name(url))
        if wait > MAX_WAIT:
            raise WikipediaError(
                f"{host} asks to be left alone for {wait:.0f} seconds: run this again after "
                "that. What it has answered is kept."
            )
        return wait


class _Passing(Exception):
    """What may pass by itself; `wait` is how many seconds the server asked for, if it did.

    `concerns_all`: the server has too much to do, and no other request is to go out before.
    """

    def __init__(
        self, detail: str, wait: float | None = None, *, concerns_all: bool = False
    ) -> None:
        super().__init__(detail)
        self.wait = wait
        self.concerns_all = concerns_all


def _content(response: httpx.Response) -> Json | None:
    """The JSON object in a response, None for status 404."""
    status, host = response.status_code, response.url.host
    wait = retry_after(response.headers.get("retry-after"))
    try:
        body = response.json()
    except ValueError:
        body = None
    error = body.get("error") if isinstance(body, dict) else None
    code, info = (error.get("code"), error.get("info")) if isinstance(error, dict) else (None, None)
    overloaded = status in (429, 503) or code in _PASSING_CODES
    if overloaded or status >= 500:
        detail = f"status {status}" if code is None else f"{code}: {info}"
        raise _Passing(detail, wait, concerns_all=overloaded or wait is not None)
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
        raise _Passing("an answer that is no JSON object")
    return body
