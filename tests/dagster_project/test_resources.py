"""Resources as the UI shows them: each has its name, and says in a sentence what it is."""

from pathlib import Path

import dagster as dg
import pytest

from dagster_project.resources import make_resources
from resources.llm.ledger import Ledger


def test_a_path_comes_from_the_environment_of_the_run(
    loom_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The Launchpad shows the variable, and a run may name another folder."""
    monkeypatch.setenv("LOOM_CORPUS", "first")
    corpus = make_resources()["corpus"]
    monkeypatch.setenv("LOOM_CORPUS", "second")
    with dg.build_resources({"corpus": corpus}) as resources:
        assert resources.corpus.path == Path("second")
    of_run = {"corpus": {"config": {"path": "third"}}}
    with dg.build_resources({"corpus": corpus}, resource_config=of_run) as resources:
        assert resources.corpus.path == Path("third")


def test_a_store_is_closed_with_the_run(loom_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loom_home.mkdir()
    closed: list[Ledger] = []
    close = Ledger.close
    monkeypatch.setattr(Ledger, "close", lambda self: (close(self), closed.append(self)))
    with dg.build_resources({"ledger": make_resources()["ledger"]}) as resources:
        ledger = resources.ledger
        assert closed == []
    assert closed == [ledger]
