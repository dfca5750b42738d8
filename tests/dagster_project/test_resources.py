"""Resources as the UI shows them: each has its name, and says in a sentence what it is."""

from pathlib import Path
from typing import Any
from unittest.mock import Mock

import dagster as dg
import pytest
import yaml

from dagster_project import resources
from dagster_project.resources import default_budget, make_resources
from dagster_project.run_tags import BUDGET, PROFILE
from resources.files.home import REPO_ROOT
from resources.llm.ledger import Ledger


def test_a_path_comes_from_the_environment_of_the_run(
    loom_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The Launchpad shows the variable, and a run may name another folder."""
    monkeypatch.setenv("LOOM_CORPUS", "first")
    corpus = make_resources()["corpus"]
    monkeypatch.setenv("LOOM_CORPUS", "second")
    with dg.build_resources({"corpus": corpus}) as of_process:
        assert of_process.corpus.path == Path("second")
    of_run = {"corpus": {"config": {"path": "third"}}}
    with dg.build_resources({"corpus": corpus}, resource_config=of_run) as made:
        assert made.corpus.path == Path("third")


def test_a_store_is_closed_with_the_run(loom_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loom_home.mkdir()
    closed: list[Ledger] = []
    close = Ledger.close
    monkeypatch.setattr(Ledger, "close", lambda self: (close(self), closed.append(self)))
    with dg.build_resources({"ledger": make_resources()["ledger"]}) as made:
        ledger = made.ledger
        assert closed == []
    assert closed == [ledger]


def test_who_continues_a_run_has_its_profile_and_budget(
    loom_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = yaml.safe_load((REPO_ROOT / "models.yaml").read_text())
    models["profiles"]["small"] = models["profiles"]["offline"]
    (tmp_path / "models.yaml").write_text(yaml.safe_dump(models))
    monkeypatch.setenv("LOOM_MODELS", str(tmp_path / "models.yaml"))
    loom_home.mkdir()
    asked: list[tuple[str, float | None]] = []

    def gateway(run: str, budget_usd: float | None, *others: object, profile: str) -> Mock:
        asked.append((profile, default_budget() if budget_usd is None else budget_usd))
        return Mock()

    monkeypatch.setattr(resources, "make_gateway", gateway)

    def run(tags: dict[str, str], **config: Any) -> dict[str, str]:
        """The tags of a run, begun by a process with the environment of now."""
        made = make_resources()

        @dg.job(resource_defs={name: made[name] for name in ("llm", "profile")})
        def asking() -> None:
            dg.op(name="ask", required_resource_keys={"llm", "profile"})(lambda context: None)()

        given = {"resources": {name: {"config": of} for name, of in config.items()}}
        with dg.DagsterInstance.ephemeral() as instance:
            done = asking.execute_in_process(given, instance=instance, tags=tags)
            record = instance.get_run_by_id(done.run_id)
        assert record is not None
        return {name: record.tags.get(name, "") for name in (PROFILE, BUDGET)}

    monkeypatch.setenv("LOOM_PROFILE", "small")
    monkeypatch.setenv("LOOM_BUDGET_USD", "20")
    begun = run({})
    assert begun == {PROFILE: "small", BUDGET: "20.0"}
    monkeypatch.delenv("LOOM_PROFILE")
    monkeypatch.delenv("LOOM_BUDGET_USD")
    assert run(begun) == begun and run({}) == {PROFILE: "offline", BUDGET: ""}
    assert run(begun, llm={"budget_usd": 3}) == begun
    monkeypatch.setenv("LOOM_BUDGET_USD", "30")
    assert run(begun) == {PROFILE: "small", BUDGET: "30.0"}
    assert run(begun, llm={"profile": "offline-faults"})[PROFILE] == "offline-faults"
    assert asked == [
        ("small", 20),
        ("small", 20),
        ("offline", None),
        ("small", 3),
        ("small", 30),
        ("offline-faults", 30),
    ]
