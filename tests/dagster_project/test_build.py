"""A build from a terminal: a run for each shard, then one for the rest; and who builds at a time."""

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dagster as dg
import pytest

from dagster_project import build as module
from dagster_project.build import BuildResult, build, only_build
from dagster_project.definitions import build_defs, defs
from dagster_project.jobs import BUILT
from dagster_project.progress import progress_logger
from dagster_project.run_processes import own_process
from dagster_project.run_tags import BUILD, PROCESS
from methods.errors import UserError

EMBEDDER: Any = SimpleNamespace(load_ahead=lambda: None)


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three shards, named alone."""
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.tsv").touch()
    monkeypatch.setenv("LOOM_CORPUS", str(tmp_path))
    return tmp_path


def built(instance: dg.DagsterInstance, log: list[str], broken: str, failing: str = "") -> Any:
    """A build whose assets only write down that they ran: cluster <- dialogue, choice <- release."""

    def step(name: str, *after: str) -> dg.AssetsDefinition:
        @dg.asset(name=name, deps=after)
        def made() -> None:
            log.append(name)
            if name == failing:
                raise ValueError("no model")

        return made

    @dg.asset(partitions_def=dg.DynamicPartitionsDefinition(name="wit_shard"))
    def entries(context: dg.AssetExecutionContext) -> None:
        log.append(context.partition_key)
        if context.partition_key in broken:
            raise dg.Failure(f"Shard {context.partition_key} is cut short.", allow_retries=False)

    rest = [
        step("cluster"),
        step("dialogue", "cluster"),
        step("choice", "cluster"),
        step("release", "dialogue", "choice"),
    ]
    definitions = dg.Definitions(
        assets=[entries, *rest],
        jobs=[dg.define_asset_job("ingest", [entries]), dg.define_asset_job("build", rest)],
        loggers={"console": progress_logger},
    )
    return build(definitions, instance, EMBEDDER, everything=True)


def test_a_bad_shard_stops_no_other_and_no_later_stage(
    instance: dg.DagsterInstance, corpus: Path
) -> None:
    log: list[str] = []
    done: BuildResult = built(instance, log, broken="a")
    assert log[:4] == ["a", "b", "c", "cluster"] and log[-1] == "release"
    assert done.success
    assert done.lost_shards == (
        "1 of 3 shards could not be ingested: a (Shard a is cut short). The other 2 were."
    )
    # One run for each shard and one for the rest.
    jobs = [run.job_name for run in reversed(instance.get_runs())]
    assert jobs == ["ingest", "ingest", "ingest", "build"]


def test_what_needs_no_stage_that_failed_is_made_and_without_shards_nothing_is(
    instance: dg.DagsterInstance, corpus: Path
) -> None:
    log: list[str] = []
    done = built(instance, log, broken="", failing="dialogue")
    assert done.lost_shards == "" and not done.success and "choice" in log and "release" not in log
    log.clear()
    done = built(instance, log, broken="abc")
    assert log == ["a", "b", "c"]
    assert not done.success and "b (Shard b is cut short)" in done.lost_shards


def test_nothing_is_released_unless_all_that_was_generated_is_there() -> None:
    """By the graph: the step that freezes is made of all assets of the stages that generate."""
    graph = defs.get_repository_def().asset_graph
    before = dg.AssetSelection.assets("release/releases").upstream().resolve(graph)
    generated = dg.AssetSelection.groups("dialogue", "rewrite", "choice", "quality").resolve(graph)
    assert generated <= before


def test_stages_are_run_in_their_order() -> None:
    job = build_defs().resolve_job_def("build")
    priorities: dict[str, set[int]] = {}
    for node in job.graph.nodes:
        stage, separator, _ = node.name.partition("__")
        if "dagster/priority" in node.tags and separator:
            priorities.setdefault(stage, set()).add(int(node.tags["dagster/priority"]))
    assert sorted(priorities, key=lambda stage: -min(priorities[stage])) == list(BUILT)
    assert all(len(each) == 1 for each in priorities.values())


def test_a_second_demo_is_refused_and_a_second_build_waits(
    loom_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    begun = threading.Event()

    def wait_for_it() -> None:
        with only_build(wait=True):
            begun.set()

    with only_build(wait=False):
        refused = pytest.raises(UserError, match=f"Another build is at work on {loom_home}")
        with refused, only_build(wait=False):
            pass
        waiting = threading.Thread(target=wait_for_it)
        waiting.start()
        assert not begun.wait(0.5)
    waiting.join(30)
    assert begun.is_set()
    assert capsys.readouterr().out == (
        f"Another build is at work on {loom_home}: this one begins when it has ended.\n"
    )


def test_a_build_waits_for_one_that_the_ui_launched_unless_its_process_is_gone(
    instance: dg.DagsterInstance,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    at_work, dead = (
        instance.create_run_for_job(
            defs.resolve_job_def("ledger"),
            status=dg.DagsterRunStatus.STARTED,
            tags={BUILD: "yes", PROCESS: process},
        )
        for process in (own_process(), own_process().rpartition(" ")[0] + " 1")
    )

    def end(_seconds: float) -> None:
        instance.report_run_canceled(at_work)

    monkeypatch.setattr(module.time, "sleep", end)
    module._wait_for_builds(instance)
    assert "is at work on this home" in capsys.readouterr().out
    ended = instance.get_run_by_id(dead.run_id)
    assert ended is not None and ended.status == dg.DagsterRunStatus.FAILURE


def test_builds_of_the_ui_queue_and_a_build_of_a_terminal_counts(
    instance: dg.DagsterInstance,
) -> None:
    limits = instance.get_concurrency_config().run_queue_config
    assert limits is not None
    assert [dict(limit) for limit in limits.tag_concurrency_limits] == [{"key": BUILD, "limit": 1}]
    assert BUILD in defs.resolve_job_def("build").run_tags
