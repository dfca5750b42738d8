"""A Label Studio server: its projects and tasks, over its API.

What belongs here: requests, and one sentence for each way they fail. Projects and tasks are only added,
never changed or deleted, so that no annotation is lost.
"""

from collections.abc import Generator, Iterator, Sequence
from typing import Any

import httpx2

from methods.errors import UserError
from methods.json_text import from_json
from resources.files.bounded import limit_body

TIMEOUT = 120.0
"""Seconds: the server stores imported pictures in its database before it answers."""
PAGE, BATCH = 20, 10
"""Tasks a request: each may carry some 2 MB of pictures."""
MOST_BYTES = 200_000_000
"""Of an answer."""
TITLE_LENGTH = 50
"""The most characters of a title that the server accepts."""


class LabelStudioError(UserError):
    """A request failed or was refused; the message says what to do."""


class LabelStudio:
    """The API of the server at `url` with a user's token; a context manager.

    The token is a personal access token or, where the server still accepts them, a legacy one. Every
    method raises LabelStudioError.
    """

    def __init__(self, url: str, token: str) -> None:
        self._url = url
        try:
            self._http = httpx2.Client(
                base_url=url,
                auth=_Auth(url, token),
                timeout=TIMEOUT,
                event_hooks={"response": [_limit_answer]},
            )
        except (httpx2.InvalidURL, ValueError) as error:
            raise LabelStudioError(f"{url!r} is not the address of a server: {error}.") from None

    def __enter__(self) -> "LabelStudio":
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def project(self, name: str) -> int | None:
        """The id of the first project whose description is `name`."""
        for page in self._pages("/api/projects", "results", {"ordering": "id", "page_size": "100"}):
            for project in page:
                if project["description"] == name:
                    return int(project["id"])
        return None

    def new_project(self, name: str, title: str, config: str) -> int:
        """Add a project whose description is `name`; returns its id."""
        body = {"title": title[:TITLE_LENGTH], "description": name, "label_config": config}
        return int(self._ask("POST", "/api/projects", json=body)["id"])

    def add_tasks(self, project: int, tasks: Sequence[dict[str, Any]]) -> None:
        """Add tasks to a project in batches; an interrupted call leaves the batches added so far."""
        for start in range(0, len(tasks), BATCH):
            batch = list(tasks[start : start + BATCH])
            self._ask("POST", f"/api/projects/{project}/import", json=batch)

    def tasks(self, project: int) -> Iterator[dict[str, Any]]:
        """Every task of a project with its data and annotations, skipped ones included."""
        wanted = {
            "project": str(project),
            "page_size": str(PAGE),
            "fields": "all",
            "resolve_uri": "false",
            "ordering": "id",
        }
        for page in self._pages("/api/tasks", "tasks", wanted):
            yield from page

    def _pages(
        self, path: str, key: str, parameters: dict[str, str]
    ) -> Iterator[list[dict[str, Any]]]:
        size, number = int(parameters["page_size"]), 1
        while True:
            page = self._ask("GET", path, params=parameters | {"page": str(number)})[key]
            yield page
            if len(page) < size:
                return
            number += 1

    def _ask(self, method: str, path: str, **what: Any) -> Any:
        try:
            response = self._http.request(method, path.lstrip("/"), **what)
        except httpx2.HTTPError as error:
            raise LabelStudioError(f"{self._url} cannot be reached: {error}.") from None
        if path.endswith("/tasks") and response.status_code == httpx2.codes.NOT_FOUND:
            return {"tasks": []}  # a page after the last one
        if response.status_code == httpx2.codes.UNAUTHORIZED:
            raise LabelStudioError(
                f"{self._url} refuses the token: make a new one in its settings."
            )
        if not response.is_success:
            raise LabelStudioError(
                f"{self._url} answered {path} with {response.status_code}: {_reason(response)}."
            )
        try:
            return from_json(response.content)
        except ValueError:
            raise LabelStudioError(
                f"{self._url} is not a Label Studio server: its answer is not JSON."
            ) from None


def _limit_answer(response: httpx2.Response) -> None:
    too_large = LabelStudioError(
        f"{response.url.host} gave an answer of over {MOST_BYTES:,} bytes: is it a Label Studio server?"
    )
    limit_body(response, MOST_BYTES, lambda: too_large)


class _Auth(httpx2.Auth):
    """Exchanges a personal access token for one that lasts minutes; a legacy one is sent as it is."""

    requires_response_body = True

    def __init__(self, url: str, token: str) -> None:
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
            self._header = f"Bearer {from_json(changed.content)['access']}"
            request.headers["Authorization"] = self._header
        yield request


def _reason(response: httpx2.Response) -> str:
    """The server's reason for an error, on one line and shortened."""
    try:
        body = from_json(response.content)
        reason = body.get("validation_errors") or body.get("detail") or body
    except (ValueError, AttributeError):
        reason = response.reason_phrase
    return " ".join(str(reason).split())[:300]
