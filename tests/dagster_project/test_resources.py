"""Resources as the UI shows them, and which runs share a budget."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import dagster as dg
import pytest
import yaml
from dagster._core.storage.tags import PARENT_RUN_ID_TAG, ROOT_RUN_ID_TAG
from dagster._core.test_utils import create_run_for_test

from dagster_project import resources
from dagster_project.resources import ancestors_of, default_budget, make_gateway, make_resources
from dagster_project.run_tags import BUDGET, CHAIN, PROFILE
from resources.files.home import REPO_ROOT
from resources.llm.ledger import Ledger
from resources.llm.model_spec import RegistryError


def test_a_path_comes_from_the_environment_of_the_run(loom_home, monkeypatch):
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


def test_who_continues_a_run_has_its_profile_and_budget(loom_home, tmp_path, monkeypatch):
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
    of_small = [("small", 20), ("small", 20), ("offline", None), ("small", 3), ("small", 30)]
    assert asked == [*of_small, ("offline-faults", 30)]


def run(instance: dg.DagsterInstance, **tags: str) -> dg.DagsterRun:
    return create_run_for_test(instance, job_name="build", tags=tags)


def again(instance: dg.DagsterInstance, parent: dg.DagsterRun, **tags: str) -> dg.DagsterRun:
    """A run that the UI's "Re-execute" starts: it has its parent's tags, and those of its origin."""
    root = parent.tags.get(ROOT_RUN_ID_TAG, parent.run_id)
    origin = {PARENT_RUN_ID_TAG: parent.run_id, ROOT_RUN_ID_TAG: root}
    return run(instance, **{**parent.tags, **origin, **tags})


def ids(*runs: dg.DagsterRun) -> list[str]:
    return sorted(each.run_id for each in runs)


def test_runs_that_execute_one_again_or_go_on_after_its_batch_share_what_it_spent(ephemeral):
    first = run(ephemeral)
    second = again(ephemeral, first)
    third = again(ephemeral, second)
    beside = again(ephemeral, first)
    assert ancestors_of(ephemeral, third) == ids(first, second, beside)
    assert ancestors_of(ephemeral, first) == [], "it did not know of them"
    assert ancestors_of(ephemeral, run(ephemeral)) == [], "it is launched again, as a new run"

    first = run(ephemeral)
    second = run(ephemeral, **{CHAIN: first.run_id})
    third = run(ephemeral, **{CHAIN: f"{first.run_id} {second.run_id}"})
    assert ancestors_of(ephemeral, third) == ids(first, second)
    assert ancestors_of(ephemeral, again(ephemeral, third)) == ids(first, second, third)
    retried = again(ephemeral, first)
    continued = run(ephemeral, **{CHAIN: retried.run_id})
    assert ancestors_of(ephemeral, continued) == ids(first, retried)


def chain_of_a_run(instance: dg.DagsterInstance, home: Path, **tags: str) -> str:
    """The chain of a run that asks models, which shares LOOM_BUDGET_USD."""

    @dg.op(required_resource_keys={"llm"})
    def ask(context: dg.OpExecutionContext) -> None:
        assert context.resources.llm.budget.limit_usd == 5

    @dg.job(resource_defs={"llm": make_resources()["llm"]})
    def asking() -> None:
        ask()

    result = asking.execute_in_process(instance=instance, tags=tags)
    with closing(sqlite3.connect(home / "limits.sqlite")) as connection:
        query = "SELECT chain, together FROM budget_runs WHERE run = ?"
        chain, together = connection.execute(query, [result.run_id]).fetchone()
    assert together == 1
    return str(chain)


def test_the_budget_of_the_environment_is_shared_with_runs_at_work_and_those_that_go_on(
    ephemeral: dg.DagsterInstance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOM_WORKSPACE", str(tmp_path))
    monkeypatch.setenv("LOOM_BUDGET_USD", "5")
    first = chain_of_a_run(ephemeral, tmp_path)
    parent = ephemeral.get_runs()[0]
    origin = {PARENT_RUN_ID_TAG: parent.run_id, ROOT_RUN_ID_TAG: parent.run_id}
    assert chain_of_a_run(ephemeral, tmp_path, **origin) == first
    assert chain_of_a_run(ephemeral, tmp_path) != first, "it was not executed again"

    beside = create_run_for_test(ephemeral, job_name="build", status=dg.DagsterRunStatus.STARTED)
    make_gateway(beside.run_id).close()
    with_beside = chain_of_a_run(ephemeral, tmp_path)
    assert chain_of_a_run(ephemeral, tmp_path) == with_beside
    ephemeral.report_run_failed(beside)
    assert chain_of_a_run(ephemeral, tmp_path) != with_beside


@pytest.mark.parametrize("given", ["nan", "inf", "-1", "five", "١"])
def test_a_budget_that_is_no_amount_is_refused(monkeypatch, given):
    monkeypatch.setenv("LOOM_BUDGET_USD", given)
    with pytest.raises(RegistryError, match="LOOM_BUDGET_USD"):
        default_budget()
