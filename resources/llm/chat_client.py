"""A fast client for chat completions over HTTP: one POST per request, with the
errors of the openai package.

The openai package copies and checks options, addresses and headers for each request, which takes more
processor time than the exchange itself. This client prepares them once for each model. Files and
batches still use the package.
"""

import asyncio
import ssl
from typing import TYPE_CHECKING

import httpx2
import openai

from methods.json_text import from_json
from resources.llm.server_errors import read_error

if TYPE_CHECKING:
    from collections.abc import Mapping


class ChatClient:
    """Sends bodies to `chat/completions` of one model's server, without retries.

    Attributes:
        api: Base URL, key and timeouts.
        http: The HTTP client.
        headers: Additional headers. They override headers of the same name, also that with the key.
        seconds: The timeout for a whole response. A read timeout alone would not end a response that
            arrives byte by byte.
    """

    def __init__(
        self,
        api: openai.AsyncOpenAI,
        http: httpx2.AsyncClient,
        headers: "Mapping[str, str]",
        seconds: float,
    ):
        self._http, self._seconds = http, seconds
        url = f"{str(api.base_url).rstrip('/')}/chat/completions"
        self._sample = http.build_request("GET", url, headers=api.auth_headers, timeout=api.timeout)
        self._sample.headers.update(
            {"Accept": "application/json", "Content-Type": "application/json"}
        )
        self._sample.headers.update({"User-Agent": api.user_agent, **headers})

    async def post(self, body: bytes) -> httpx2.Response:
        """Send a body, and return the complete response.

        Raises openai.APIStatusError, APITimeoutError, APIConnectionError, TimeoutError,
        and the errors of the HTTP client's hooks.
        """
        sample = self._sample
        request = httpx2.Request(
            "POST", sample.url, headers=sample.headers, content=body, extensions=sample.extensions
        )
        try:
            async with asyncio.timeout(self._seconds):
                response = await self._http.send(request)
        except httpx2.TimeoutException as error:
            raise openai.APITimeoutError(request=request) from error
        except (httpx2.RequestError, ssl.SSLError) as error:
            raise openai.APIConnectionError(request=request) from error
        except UnicodeEncodeError:
            # The transport encodes the reason phrase after the status, which may not be valid UTF-8.
            raise httpx2.RemoteProtocolError("The status line is not UTF-8.") from None
        if not response.is_success:
            raise _status_error(response)
        return response


def _status_error(response: httpx2.Response) -> openai.APIStatusError:
    """Make the error of an unsuccessful response. Its `body` is the ServerError: the decoded JSON
    would take much memory until the next attempt.
    """
    text = response.text.strip()
    try:
        body = from_json(text, most=None)
    except ValueError:
        body = text
    error = read_error(response.status_code, body)
    return openai.APIStatusError(f"Status {response.status_code}", response=response, body=error)
