"""Client of a Label Studio server: projects and tasks, over its API.

Projects and tasks are only added, never changed or deleted, so that no annotation is lost.
"""

import asyncio
from collections.abc import Generator, Iterator, Sequence
from typing import Any

import httpx2

from methods.errors import UserError
from methods.json_text import from_json
from methods.web_address import cut_secrets, without_query
from resources.files.bounded import limit_body

TIMEOUT = 120.0
"""Timeout in seconds: the server stores imported images in its database before it answers."""
WHOLE_SECONDS = 300.0
"""Limit of a request with its answer, in seconds: the timeout restarts with every byte."""
MOST_PAGES = 5_000
"""Limit of the pages of one API list."""
PAGE, BATCH = 10, 10
"""Tasks of a request, for reading and for adding: each task may carry some 2 MB of images."""
MOST_BYTES = 40_000_000
"""Limit of an answer of the server. Decoded JSON can take over 40 times its bytes."""
TITLE_LENGTH = 50
"""The most characters of a title that the server accepts."""


class LabelStudioError(UserError):
    """A request failed or was refused; the message says what to do."""


class LabelStudio:
    """The API of the server at `url` with a user's token.

    The token is a personal access token, or a legacy one if the server still accepts it. Every method
    raises LabelStudioError.
    """

    def __init__(self, url: str, token: str) -> None:
        self._url = url
        self._shown = shown_address(url)
        self._auth = _Auth(url, token, self._shown)

    def project(self, name: str) -> int | None:
        """Find the id of the first project whose description is `name`."""
        wanted = {"ordering": "id", "page_size": "100"}
        for project in self._entries("/api/projects", "results", wanted):
            if project.get("description") == name:
                return int(project["id"])
        return None

    def new_project(self, name: str, title: str, config: str) -> int:
        """Create a project; return its id.

        Args:
            name: The description, by which it is found again.
            title: The title.
            config: The labelling config.
        """
        body = {"title": title[:TITLE_LENGTH], "description": name, "label_config": config}
        path = "/api/projects"
        return int(self._with_id(path, self._ask("POST", path, json=body))["id"])

    def add_tasks(self, project: int, tasks: Sequence[dict[str, Any]]) -> None:
        """Add tasks to a project in batches. After an interruption the finished batches stay.

        Args:
            project: The id of the project.
            tasks: The tasks.
        """
        for start in range(0, len(tasks), BATCH):
            batch = list(tasks[start : start + BATCH])
            self._ask("POST", f"/api/projects/{project}/import", json=batch)

    def tasks(self, project: int) -> Iterator[dict[str, Any]]:
        """Yield every task of a project with its data and annotations, skipped ones included."""
        wanted = {
            "project": str(project),
            "page_size": str(PAGE),
            "fields": "all",
            "resolve_uri": "false",
            "ordering": "id",
        }
        yield from self._entries("/api/tasks", "tasks", wanted)

    def _entries(self, path: str, key: str, parameters: dict[str, str]) -> Iterator[dict[str, Any]]:
        size = int(parameters["page_size"])
        known_ids: set[int] = set()
        for number in range(1, MOST_PAGES + 1):
            page = self._page(path, key, parameters | {"page": str(number)})
            ids = {self._with_id(path, each)["id"] for each in page}
            if ids and ids <= known_ids:
                raise LabelStudioError(
                    f"{self._shown} answered {path} with the same page again: is it a Label Studio "
                    "server?"
                )
            yield from page
            if len(page) < size:
                return
            known_ids |= ids
            del page  # A large page is freed before the next one is decoded.
        raise LabelStudioError(
            f"{self._shown} has more than {MOST_PAGES:,} pages of {path}: is it a Label Studio server?"
        )

    def _page(self, path: str, key: str, parameters: dict[str, str]) -> list[Any]:
        answer = self._ask("GET", path, params=parameters)
        page = answer.get(key) if isinstance(answer, dict) else None
        if not isinstance(page, list):
            raise self._unexpected(path, f"a list {key!r}")
        return page

    def _with_id(self, path: str, entry: Any) -> dict[str, Any]:
        if not isinstance(entry, dict) or type(entry.get("id")) is not int or entry["id"] < 1:
            raise self._unexpected(path, "a positive whole number 'id'")
        return entry

    def _unexpected(self, path: str, missing: str) -> LabelStudioError:
        return LabelStudioError(
            f"{self._shown} answered {path} without {missing}: is it a Label Studio server?"
        )

    def _ask(self, method: str, path: str, **what: Any) -> Any:
        try:
            response = asyncio.run(self._response(method, path.lstrip("/"), what))
        except TimeoutError:
            raise LabelStudioError(
                f"{self._shown} did not complete its answer to {path} within {WHOLE_SECONDS:g} "
                "seconds: run it again when the server answers faster."
            ) from None
        except httpx2.HTTPError as error:
            raise LabelStudioError(
                f"{self._shown} cannot be reached: {cut_secrets(str(error))}."
            ) from None
        except (httpx2.InvalidURL, ValueError):
            raise LabelStudioError(
                f"{self._shown!r} is not the address of a server: give one like "
                "https://labels.example.org."
            ) from None
        if path.endswith("/tasks") and response.status_code == httpx2.codes.NOT_FOUND:
            return {"tasks": []}  # a page after the last one
        if response.status_code == httpx2.codes.UNAUTHORIZED:
            raise LabelStudioError(
                f"{self._shown} refuses the token: make a new one in its settings."
            )
        if not response.is_success:
            raise LabelStudioError(
                f"{self._shown} answered {path} with {response.status_code}: {_reason(response)}."
            )
        try:
            return from_json(response.content)
        except ValueError:
            raise LabelStudioError(
                f"{self._shown} is not a Label Studio server: its answer is not JSON."
            ) from None

    async def _response(self, method: str, path: str, what: dict[str, Any]) -> httpx2.Response:
        async with (
            asyncio.timeout(WHOLE_SECONDS),
            httpx2.AsyncClient(
                base_url=self._url,
                auth=self._auth,
                timeout=TIMEOUT,
                event_hooks={"response": [_limit_answer]},
            ) as http,
        ):
            return await http.request(method, path, **what)


def shown_address(url: str) -> str:
    """The address of a server as messages show it, without secrets."""
    return without_query(url) if "//" in url else url.rpartition("@")[2]


async def _limit_answer(response: httpx2.Response) -> None:
    too_large = LabelStudioError(
        f"{response.url.host} gave an answer of over {MOST_BYTES:,} bytes, or of over 100 times its "
        "compressed size: is it a Label Studio server?"
    )
    limit_body(response, MOST_BYTES, lambda: too_large)


class _Auth(httpx2.Auth):
    """Exchanges a personal access token for a short-lived one; a legacy token is sent unchanged."""

    requires_response_body = True

    def __init__(self, url: str, token: str, shown: str) -> None:
        self._shown = shown
        self._refresh = f"{url.rstrip('/')}/api/token/refresh/"
        self._token = token
        self._header = None if token.count(".") == 2 else f"Token {token}"

    def auth_flow(
        self, request: httpx2.Request
    ) -> Generator[httpx2.Request, httpx2.Response, None]:
        """Send the request, and send it again with a new token if the last one has expired."""
        if self._header is not None:
            request.headers["Authorization"] = self._header
            response = yield request
            expired = self._header.startswith("Bearer ")
            if response.status_code != httpx2.codes.UNAUTHORIZED or not expired:
                return
        changed = yield httpx2.Request("POST", self._refresh, json={"refresh": self._token})
        if changed.is_success:
            self._header = f"Bearer {self._access_token(changed.content)}"
            request.headers["Authorization"] = self._header
        yield request

    def _access_token(self, content: bytes) -> str:
        try:
            token = from_json(content)["access"]
        except (ValueError, LookupError, TypeError):
            token = None
        if not isinstance(token, str) or not (token.isascii() and token.isprintable()):
            raise LabelStudioError(
                f"{self._shown} exchanged the token for none: is it a Label Studio server?"
            )
        return token


def _reason(response: httpx2.Response) -> str:
    """The server's reason for an error, on one line and shortened."""
    try:
        body = from_json(response.content)
        reason = body.get("validation_errors") or body.get("detail") or body
    except (ValueError, AttributeError):
        reason = response.reason_phrase
    return " ".join(str(reason).split())[:300]
