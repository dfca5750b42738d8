"""A wiki that is not Wikimedia's: what a real MediaWiki 1.39 answered to `python -m tests.mediawiki`.

    with RecordedWiki() as wiki:
        Wikipedia("me@example.org", api=wiki.api(PLAIN), folder=tmp_path)

Requests that were not recorded fail the test.
"""

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

from tests.resources.wikipedia.mediawiki_double import ServedWiki, WikiHandler

REPLIES = Path(__file__).with_name("recorded_replies.json")
WITH_EXTRACTS, PLAIN = "/w/api.php", "/sites/birds/api.php"
"""The same wiki with the extension TextExtracts, and without any extension. Neither has media lists."""
SERVER = "{server}"
"""Stands in the replies for the server's address."""

Key = tuple[str, str, str, tuple[tuple[str, str], ...]]
"""State of the wiki, method, path and sorted parameters of a request."""


class Reply(NamedTuple):
    """Status, type and bytes of an answer."""

    status: int
    kind: str
    body: bytes


class AnsweringWiki(ServedWiki):
    """Serves on the loopback address, as long as the context is entered, what `reply` says."""

    state = "as it was made"

    def __init__(self) -> None:
        self.requests: list[Key] = []
        self.unexpected: list[Key] = []

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        assert not self.unexpected, f"Not recorded (python -m tests.mediawiki): {self.unexpected}"

    def api(self, path: str) -> str:
        return self.address + path

    def overwrite(self) -> None:
        """Upload another picture as File:Barn owl.png."""
        self.state = "overwritten"

    def reply(self, key: Key, target: str, form: bytes) -> Reply | None:
        """The answer to a request, None for one that is not known."""
        raise NotImplementedError


class RecordedWiki(AnsweringWiki):
    """Replies are those of the file."""

    def __init__(self) -> None:
        super().__init__()
        self._replies = {
            (state, method, path, tuple(map(tuple, parameters))): reply
            for state, method, path, parameters, *reply in json.loads(REPLIES.read_text())
        }

    def reply(self, key: Key, target: str, form: bytes) -> Reply | None:
        """As recorded; a state in which nothing else was answered is that before."""
        found = self._replies.get(key) or self._replies.get((AnsweringWiki.state, *key[1:]))
        if found is None:
            return None
        status, kind, body = found
        if kind.startswith("image/"):
            return Reply(status, kind, base64.b64decode(body))
        return Reply(status, kind, body.replace(SERVER, self.address).encode())


open_wiki: list[Callable[[], AnsweringWiki]] = [RecordedWiki]
"""What the tests open; `python -m tests.mediawiki` puts the real one there."""


class _Handler(WikiHandler):
    def serve(self, form: bytes) -> None:
        wiki: AnsweringWiki = self.server.wiki
        address = urlsplit(self.path)
        said = parse_qsl(address.query, keep_blank_values=True)
        said += parse_qsl(form.decode(), keep_blank_values=True)
        key = (wiki.state, self.command, address.path, tuple(sorted(said)))
        with wiki.lock:
            wiki.requests.append(key)
        reply = wiki.reply(key, self.path, form)
        if reply is None:
            with wiki.lock:
                wiki.unexpected.append(key)
            reply = Reply(500, "text/plain", b"Not recorded.")
        self.send(reply.body, reply.status, Content_Type=reply.kind)


AnsweringWiki.handler = _Handler
