"""A server that was reached is waited for; one that never was is an error at once."""

from collections.abc import Iterator
from typing import Any

import pytest

from resources.stores import outages
from resources.stores.outages import open_session


class Away(Exception):
    """The server does not answer."""


class Server:
    """A server with a clock of its own, which `sleep` sets forward."""

    def __init__(self) -> None:
        self.now, self.back_at = 0.0, 0.0

    def connect(self) -> str:
        if self.now < self.back_at:
            raise Away("connection refused")
        return "a session"

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def open(self, **options: Any) -> str:
        return open_session("postgres://one", "one", self.connect, Away, **options)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    made = Server()
    monkeypatch.setattr(outages, "_waited_for", {})
    monkeypatch.setattr("time.monotonic", lambda: made.now)
    monkeypatch.setattr("time.sleep", made.sleep)
    yield made
    monkeypatch.undo()


def test_only_a_server_that_was_reached_is_waited_for(server, caplog):
    server.back_at = 1.0
    with pytest.raises(Away):
        server.open()
    server.now = 1.0
    server.open()
    server.back_at = 31.0
    assert server.open() == "a session" and 31 <= server.now < 31.2
    assert caplog.messages == [
        "one does not answer (connection refused): waiting for it for 60 s at most."
    ]


def test_an_outage_is_waited_for_once_a_minute_at_most_until_the_server_is_back(server):
    server.open()
    server.back_at = 100.0
    with pytest.raises(Away):
        server.open()
    assert 60 <= server.now < 60.2
    with pytest.raises(Away):
        server.open()
    assert server.now < 60.2
    # Nobody would start this session's thread again.
    assert server.open(endless=True) == "a session" and server.now >= 100
    server.back_at = 150.0
    assert server.open() == "a session"


def test_a_server_that_was_never_reached_is_not_waited_for_without_end(server):
    server.back_at = 100.0
    with pytest.raises(Away):
        server.open(endless=True)
    assert server.now == 0
