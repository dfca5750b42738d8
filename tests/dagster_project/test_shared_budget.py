"""Which runs share a budget: those that are executed again, and those that go on for others."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import dagster as dg
import pytest
from dagster._core.storage.tags import PARENT_RUN_ID_TAG, ROOT_RUN_ID_TAG
from dagster._core.test_utils import create_run_for_test

from dagster_project.resources import ancestors_of, default_budget, make_gateway, make_resources
from dagster_project.run_tags import CHAIN
from resources.llm.model_spec import RegistryError


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as ephemeral:
        yield ephemeral


def run(instance: dg.DagsterInstance, **tags: str) -> dg.DagsterRun:
    return create_run_for_test(instance, job_name="build", tags=tags)


def again(instance: dg.DagsterInstance, parent: dg.DagsterRun, **tags: str) -> dg.DagsterRun:
    """A run that the UI's "Re-execute" starts: it has its parent's tags, and those of its origin."""
    root = parent.tags.get(ROOT_RUN_ID_TAG, parent.run_id)
    origin = {PARENT_RUN_ID_TAG: parent.run_id, ROOT_RUN_ID_TAG: root}
    return run(instance, **{**parent.tags, **origin, **tags})


def ids(*runs: dg.DagsterRun) -> list[str]:
    return sorted(each.run_id for each in runs)


def test_all_that_execute_one_run_again_belong_together(instance):
    first = run(instance)
    second = again(instance, first)
    third = again(instance, second)
    beside = again(instance, first)

    assert ancestors_of(instance, third) == ids(first, second, beside)
    assert ancestors_of(instance, first) == [], "it did not know of them"
    assert ancestors_of(instance, run(instance)) == [], "it is launched again, as a new run"


def test_a_run_that_goes_on_after_a_batch_continues_what_its_chain_spent(instance):
    first = run(instance)
    second = run(instance, **{CHAIN: first.run_id})
    third = run(instance, **{CHAIN: f"{first.run_id} {second.run_id}"})

    assert ancestors_of(instance, third) == ids(first, second)
    assert ancestors_of(instance, again(instance, third)) == ids(first, second, third)
    retried = again(instance, first)
    continued = run(instance, **{CHAIN: retried.run_id})
    assert ancestors_of(instance, continued) == ids(first, retried)


def chain_of_a_run(instance: dg.DagsterInstance, tmp_path, **tags: str) -> tuple[str, int]:
    """The chain of a run that asks models, and whether it shares LOOM_BUDGET_USD."""

    @dg.op(required_resource_keys={"llm"})
    def ask(context: dg.OpExecutionContext) -> None:
        assert context.resources.llm.budget.limit_usd == 5

    @dg.job(resource_defs={"llm": make_resources()["llm"]})
    def asking() -> None:
        ask()

    result = asking.execute_in_process(instance=instance, tags=tags)
    assert result.success
    with closing(sqlite3.connect(tmp_path / "limits.sqlite")) as connection:
        query = "SELECT chain, together FROM budget_runs WHERE run = ?"
        return connection.execute(query, [result.dagster_run.run_id]).fetchone()


@pytest.fixture
def five_dollars(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("LOOM_WORKSPACE", str(tmp_path))
    monkeypatch.setenv("LOOM_BUDGET_USD", "5")


@pytest.mark.usefixtures("five_dollars")
def test_a_run_that_is_executed_again_shares_the_budget_and_one_after_another_does_not(
    instance, tmp_path
):
    first = chain_of_a_run(instance, tmp_path)
    parent = instance.get_runs()[0]
    origin = {PARENT_RUN_ID_TAG: parent.run_id, ROOT_RUN_ID_TAG: parent.run_id}

    assert first[1] == 1
    assert chain_of_a_run(instance, tmp_path, **origin) == first
    assert chain_of_a_run(instance, tmp_path)[0] != first[0]


@pytest.mark.usefixtures("five_dollars")
def test_the_budget_of_the_environment_is_shared_with_runs_at_work(instance, tmp_path):
    beside = create_run_for_test(instance, job_name="build", status=dg.DagsterRunStatus.STARTED)
    make_gateway(beside.run_id).close()

    with_beside = chain_of_a_run(instance, tmp_path)
    instance.report_run_failed(beside)

    assert with_beside[1] == 1
    assert chain_of_a_run(instance, tmp_path)[0] != with_beside[0]


@pytest.mark.parametrize("given", ["nan", "inf", "-1", "five", "١"])
def test_a_budget_that_is_no_amount_is_refused(monkeypatch, given):
    monkeypatch.setenv("LOOM_BUDGET_USD", given)

    with pytest.raises(RegistryError, match="LOOM_BUDGET_USD"):
        default_budget()
