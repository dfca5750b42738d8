"""`dagster dev` as `vlm-loom ui` runs it: the end of one of its services ends the UI, with a reason."""

import logging
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from dagster_project import dev


@pytest.fixture(autouse=True)
def filters_of_dagster() -> Iterator[None]:
    """A process runs the UI once, and tests do so twice: the first one's filter goes."""
    logger = logging.getLogger("dagster")
    before = [*logger.filters]
    yield
    logger.filters[:] = before


def of_dagster(error: Exception | None) -> Any:
    """Dagster's module with a command that logs an error as Dagster does, where there is one."""

    def dev_command(*, standalone_mode: bool) -> None:
        try:
            if error:
                raise error
        except Exception:
            logging.getLogger("dagster").exception("An unexpected exception has occurred")

    return SimpleNamespace(open_ipc_subprocess=None, dev_command=dev_command)


def test_a_killed_service_is_a_sentence_and_an_exit_code(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    killed = Exception("dagster-daemon process shut down unexpectedly with return code -9")
    monkeypatch.setattr(dev, "module_of_dagster_dev", lambda: of_dagster(killed))
    assert dev.main() == 1
    assert f"The UI ends ({killed}): start vlm-loom ui again." in caplog.text
    assert "Traceback" not in caplog.text


def test_a_ui_that_is_stopped_ends_with_0(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dev, "module_of_dagster_dev", lambda: of_dagster(None))
    assert dev.main() == 0
