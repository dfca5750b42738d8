"""Locks next to files: who waits for one says so."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from resources.files import atomic
from resources.files.atomic import draft_folder
from resources.files.waiting import TimedWait


def test_a_second_draft_of_a_purpose_says_that_it_waits_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    begun, waits = threading.Event(), threading.Event()
    goes_on = TimedWait.goes_on

    def first() -> None:
        with draft_folder(tmp_path / "first", "backing-up"):
            begun.set()
            waits.wait(10)

    def say_and_let_go(waiting: TimedWait, why: str) -> bool:
        said = goes_on(waiting, why)
        waits.set()
        return said

    monkeypatch.setattr(atomic, "SAID_AFTER", 0.0, raising=False)
    monkeypatch.setattr(TimedWait, "goes_on", say_and_let_go)
    with ThreadPoolExecutor(1) as threads:
        backing_up = threads.submit(first)
        assert begun.wait(10)
        with draft_folder(tmp_path / "second", "backing-up"):
            pass
        backing_up.result()
    lock = tmp_path / ".backing-up.lock"
    assert caplog.messages == [f"Waiting: another process of vlm-loom holds {lock}."]
    assert {path.name for path in tmp_path.iterdir()} == {"first", "second"}
