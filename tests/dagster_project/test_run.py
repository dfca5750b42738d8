"""A job or a build from a terminal: it runs as the UI runs it, or a sentence says why not."""

import os
import re
import subprocess
import threading
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import click
import dagster as dg
import psycopg2
import pytest

from assets.common.failures import plain_errors
from assets.common.partitions import wit_shards
from dagster_project import action_commands, job_runs, main_job, run
from dagster_project import build as module
from dagster_project.action_commands import command_of
from dagster_project.actions import ACTIONS
from dagster_project.build import BuildResult, build, only_build
from dagster_project.check_results import result
from dagster_project.cli import JOBS, main
from dagster_project.definitions import build_defs, defs
from dagster_project.ingestion import chosen_shards, failed_shards, ingest_each, why_failed
from dagster_project.job_runs import run_job
from dagster_project.jobs import BUILT, DESCRIPTIONS
from dagster_project.progress import ALL_MADE, message_of_made, only_made_failed, progress_logger
from dagster_project.resources import SAMPLE_CORPUS, make_resources, require_same_corpus
from dagster_project.run_processes import own_process
from dagster_project.run_tags import BUILD, PROCESS
from methods.errors import UserError
from resources.command_line import Command, CommandGroup
from resources.command_line import run as run_command
from resources.corpus.corpus import Corpus
from resources.embedding.process import EmbedderProcess
from resources.files.home import REPO_ROOT
from resources.migrations import StoreLost, StoreUnavailable
from resources.warehouse import Warehouse
from tests.dagster_project.conftest import Typed


@pytest.mark.slow
def test_a_run_that_fails_before_its_first_step_says_why(loom_home, monkeypatch) -> None:
    @dg.op(required_resource_keys={"image_fetcher"})
    def fetch() -> None: ...

    @dg.job(resource_defs={"image_fetcher": make_resources()["image_fetcher"]})
    def fetching() -> None:
        fetch()

    monkeypatch.setenv("LOOM_IMAGES", str(loom_home / "nowhere"))
    result = fetching.execute_in_process(raise_on_error=False)
    assert re.match(
        "The image mirror .*nowhere is neither a folder .*: make the", why_failed(result)
    )


@pytest.mark.slow
def test_texts_of_a_run_are_printed_without_control_characters(ephemeral, capsys, monkeypatch):
    text, shown = "\x1b[2J gone", "\\u001b[2J gone"

    @dg.op
    def reads(context: dg.OpExecutionContext) -> None:
        context.log.info(text)
        raise dg.Failure(text)

    # It is the last step: steps run in order of priority.
    @dg.op(name=ALL_MADE, tags={"dagster/priority": "-1"})
    def made() -> None:
        raise dg.Failure(text)

    @dg.job(logger_defs={"console": progress_logger})
    def failing() -> None:
        reads()
        made()

    monkeypatch.setattr(job_runs, "_reason_outside_steps", lambda _: text)
    failed = run_job(failing, ephemeral)
    module._print(text)
    lines = capsys.readouterr().out.splitlines()
    assert [line.rpartition("] ")[2] for line in lines] == [
        f"  … {shown}",
        f"FAILED reads: {shown}",
        f"FAILED: {shown}",
        shown,
    ]
    assert message_of_made(failed) == shown
    assert not only_made_failed(failed), "a step before it failed, too"
    assert failed_shards({"a": why_failed(failed)}, 1).endswith(f"{shown}).")

    action = ACTIONS[0]
    monkeypatch.setattr(run, "open_instance", lambda: nullcontext(ephemeral))
    monkeypatch.setattr(run, "run_job", lambda *_, **__: failed)
    assert run.perform_as_run(action, {}) is None
    assert capsys.readouterr().err == f"{shown}\n"
    monkeypatch.setattr(run, "perform_as_run", lambda *_: text)
    monkeypatch.setattr(action_commands, "_require", lambda *_: None)
    assert command_of(action).callback(**dict.fromkeys(action.model_fields, "")) == 0
    assert capsys.readouterr().out == f"{shown}\n"


@pytest.mark.parametrize(
    ("error", "begun"),
    [(StoreUnavailable("It is away."), ["a"]), (UserError("It is unreadable."), ["a", "b"])],
)
def test_no_shard_is_left_out_because_a_store_is_away(error, begun, ephemeral):
    ran: list[str] = []

    @dg.op
    def read(context: dg.OpExecutionContext) -> None:
        ran.append(context.partition_key)
        with plain_errors():
            raise error

    @dg.job(partitions_def=wit_shards)
    def ingest() -> None:
        read()

    ephemeral.add_dynamic_partitions(str(wit_shards.name), ["a", "b"])
    may_stop = pytest.raises(StoreLost, match="It is away") if len(begun) == 1 else nullcontext()
    with may_stop:
        assert [*ingest_each(ingest, ephemeral, ["a", "b"], print)] == ["a", "b"]
    assert ran == begun


def test_a_database_of_dagster_that_goes_away_ends_a_command_that_has_done_a_part(
    ephemeral, monkeypatch, capsys
):
    monkeypatch.setenv("LOOM_STORES", "postgresql://loom@127.0.0.1/loom")

    @dg.job
    def nothing() -> None:
        pass

    away = psycopg2.OperationalError("connection refused")
    monkeypatch.setattr(ephemeral, "create_run_for_job", Mock(side_effect=away))

    @click.command(cls=Command, workspace="unused")
    def some() -> None:
        """Run a job."""
        run_job(nothing, ephemeral)

    assert run_command(CommandGroup("any", {"some": some}), "any", ["some"]) == 1
    assert "cannot be used (connection refused)" in capsys.readouterr().err


@pytest.mark.slow
def test_every_stage_can_be_run_by_itself_and_the_build_of_all() -> None:
    assert set(JOBS) == {*DESCRIPTIONS, "build", "checks"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("named", "chosen"),
    [
        ([], ["a", "b", "c"]),
        (["c", "a"], ["a", "c"]),
        (["b...c", "c"], ["b", "c"]),
        (["a...a"], ["a"]),
    ],
)
def test_shards_are_named_one_by_one_or_by_ranges(named: list[str], chosen: list[str]) -> None:
    assert chosen_shards(named, ["a", "b", "c"]) == chosen


@pytest.mark.slow
@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("owls", "The corpus has no shard 'owls'; "),
        ("a...owls", "The corpus has no shard 'owls'; "),
        ("c...a", "The range c...a ends before it begins: write a...c."),
    ],
)
def test_shards_that_are_not_there_are_one_sentence(named: str, said: str) -> None:
    with pytest.raises(UserError, match=f"^{re.escape(said)}"):
        chosen_shards([named], ["a", "b", "c"])


@pytest.mark.slow
def test_one_shard_is_ingested_from_a_terminal_and_the_other_is_not(tmp_path, commanded):
    home = tmp_path / "home"
    done = commanded(home, "run", "ingest", "--partition", "sample-b")
    assert done.returncode == 0, done.stdout + done.stderr
    rows = Warehouse(home / "warehouse.duckdb").select("ingest.shards", "wit_shard").to_pylist()
    assert rows == [{"wit_shard": "sample-b"}]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["", "evaluat"])
def test_another_name_is_one_sentence_and_makes_no_home(loom_home, name, refused):
    said = refused("run", name)
    assert said.startswith(f"vlm-loom run: JOB: there is no {name!r}; ")
    assert name != "evaluat" or said.endswith("; the nearest is evaluate.\n")
    assert not loom_home.exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "variable", "value"),
    [
        ("run evaluate", "LOOM_BUDGET_USD", "five"),
        ("run evaluate", "LOOM_MODELS", "/nowhere/models.yaml"),
        ("run build", "LOOM_PROMPTS", "relative"),
        ("site", "LOOM_PROFILE", "nope"),
        ("run cluster", "LOOM_EMBEDDER_BACKEND", "nope"),
    ],
)
def test_a_wrong_setting_ends_a_command_before_its_run(
    tables: Warehouse, monkeypatch, typed: Typed, command: str, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    done = typed(command, code=2)
    assert value in done.err and done.out == ""


@pytest.mark.slow
def test_a_job_that_asks_nothing_about_releases_takes_no_limit(tmp_path, commanded):
    for job in ("build", "ingest"):
        done = commanded(tmp_path / "home", "run", job, "--limit", "3")
        assert done.returncode == 2
        assert "leave out --limit, or run evaluate" in done.stderr


@pytest.mark.slow
def test_the_sample_is_not_built_into_a_home_of_another_corpus(tmp_path: Path) -> None:
    sample = Corpus(SAMPLE_CORPUS, tmp_path)
    for ingested in ([], ["sample-a"]):
        require_same_corpus(sample, ingested)
    for ingested in (["mine"], ["mine", "sample-a"]):
        with pytest.raises(UserError, match=r"another corpus \(mine\).*give --corpus"):
            require_same_corpus(sample, ingested)
        require_same_corpus(Corpus(tmp_path, tmp_path), ingested)


@pytest.mark.slow
def test_a_shard_of_another_corpus_with_the_same_name_takes_no_rows_place(tmp_path, commanded):
    """Not of the shard with that name, nor of what the workspace knows of its corpus."""
    home = tmp_path / "home"
    header = (SAMPLE_CORPUS / "shards/sample-a.tsv").read_text().split("\n")
    folders = [tmp_path / name for name in ("first", "second")]
    for folder, lines in zip(folders, (header[:3], header[:1] + header[3:5]), strict=True):
        folder.mkdir()
        (folder / "shard-0.tsv").write_text("\n".join(lines) + "\n")

    def ingest(folder: Path) -> subprocess.CompletedProcess[str]:
        return commanded(home, "run", "ingest", "--corpus", str(folder))

    def rows() -> list[dict[str, Any]]:
        return Warehouse(home / "warehouse.duckdb").select("ingest.wit_rows").to_pylist()

    ingest(folders[0])
    first = rows()
    assert len(first) == 2
    refused = ingest(folders[1])
    assert refused.returncode == 2 and "rename the new file" in refused.stderr
    assert rows() == first and (home / "corpus.txt").read_text() == f"{folders[0]}\n"

    folders[0].rename(tmp_path / "gone")
    replaced = ingest(folders[1])
    assert f"replaces the rows of {folders[0]}/shard-0.tsv" in replaced.stdout + replaced.stderr
    assert len(rows()) == 2 and rows() != first


@pytest.mark.slow
def test_the_main_job_goes_on_after_a_check_that_fails_and_after_steps_that_made_not_all(
    instance: dg.DagsterInstance,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @dg.asset
    def numbers() -> None: ...

    @dg.asset_check(asset=numbers)
    def few() -> dg.AssetCheckResult:
        return result("There are 3 numbers: add some.", {})

    @dg.asset
    def answers() -> None: ...

    @dg.multi_asset_check(name=ALL_MADE, specs=[dg.AssetCheckSpec(ALL_MADE, asset=answers)])
    def made():
        yield dg.AssetCheckResult(passed=False, asset_key=answers.key, check_name=ALL_MADE)
        raise dg.Failure("The disk is full.", allow_retries=False)

    definitions = dg.Definitions(
        assets=[numbers, answers],
        asset_checks=[few, made],
        jobs=[
            *(dg.define_asset_job(name, [numbers]) for name in ("build", "ledger")),
            dg.define_asset_job("evaluate", [answers]),
        ],
        loggers={"console": progress_logger},
    )

    def build(*_: object) -> BuildResult:
        whole = definitions.resolve_job_def("build")
        return BuildResult(run_job(whole, instance), "A shard is lost.", ingested=True)

    monkeypatch.setattr(main_job, "build", build)
    ended = main_job._run(definitions, instance, None, everything=True)
    assert (ended.failed, ended.lost_shards, ended.made_all) == (None, "A shard is lost.", False)
    assert ended.checks == {"build": ["numbers few"], "ledger": ["numbers few"]}
    # What was not made is said when all is done, from what the steps wrote down.
    assert "The disk is full." not in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "built"),
    [
        (["build", "--profile", "openai"], ("/its/shards", "openai", False, False)),
        (["build", "--all"], ("/its/shards", "local", True, False)),
        (["demo"], (str(SAMPLE_CORPUS), None, False, True)),
    ],
)
def test_a_demo_is_a_build_of_the_sample_with_mock_models_whatever_the_environment_says(
    loom_home: Path, monkeypatch: pytest.MonkeyPatch, command: list[str], built: object
) -> None:
    began: list[object] = []

    def run_main_job(_embedder: object, everything: bool, sample_settings: bool) -> int:
        of_environment = (os.environ.get("LOOM_CORPUS"), os.environ.get("LOOM_PROFILE"))
        began.append((*of_environment, everything, sample_settings))
        return 0

    monkeypatch.setenv("LOOM_CORPUS", "/its/shards")
    monkeypatch.setenv("LOOM_PROFILE", "local")
    monkeypatch.setattr(main_job, "run_main_job", run_main_job)
    monkeypatch.setattr(EmbedderProcess, "load_ahead", lambda _embedder: None)

    assert main(command) == 0
    assert began == [built]


@pytest.mark.slow
def test_a_demo_asks_no_model_that_may_cost_money(loom_home, tmp_path, monkeypatch, typed):
    monkeypatch.setattr(main_job, "run_main_job", lambda *_: 0)
    monkeypatch.setattr(EmbedderProcess, "load_ahead", lambda _embedder: None)
    own = tmp_path / "models.yaml"
    entry = "  mine: {provider: openai, base_url: http://127.0.0.1:9/v1}\n"
    text = (REPO_ROOT / "models.yaml").read_text().replace("\nmodels:\n", f"\nmodels:\n{entry}")
    own.write_text(text.replace("evaluate: [offline-careful", "evaluate: [mine, offline-careful"))
    assert "[mine, offline-careful" in own.read_text()
    monkeypatch.setenv("LOOM_MODELS", str(own))
    typed("demo")  # The file that the environment names is not read.
    monkeypatch.setattr("resources.llm.registry.REPO_ROOT", tmp_path)
    said = "but the profile offline in models.yaml names mine: run vlm-loom build"
    assert said in typed("demo", code=2).err


def test_a_job_with_a_failed_check_has_exit_code_1(loom_home, monkeypatch):
    done = SimpleNamespace(success=True, run_id="run")
    monkeypatch.setattr(run, "run_job", lambda *_, **_of: done)
    monkeypatch.setattr(run, "failed_checks", lambda *_: ["numbers few"])
    monkeypatch.setattr(run, "mark_unsynced", lambda *_: pytest.fail("there is no limit"))
    assert run._run("cluster", None) == 1


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


def test_a_bad_shard_stops_no_other_and_no_later_stage(instance, corpus):
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


def test_what_needs_no_stage_that_failed_is_made_and_without_shards_nothing_is(instance, corpus):
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


def test_a_second_demo_is_refused_and_a_second_build_waits(loom_home, capsys):
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


def test_builds_of_the_ui_queue_and_a_build_of_a_terminal_counts(instance):
    limits = instance.get_concurrency_config().run_queue_config
    assert limits is not None
    assert [dict(limit) for limit in limits.tag_concurrency_limits] == [{"key": BUILD, "limit": 1}]
    assert BUILD in defs.resolve_job_def("build").run_tags
