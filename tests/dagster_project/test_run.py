"""A job from a terminal: it runs as the UI runs it, or a sentence says why not."""

import re
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import dagster as dg
import pytest
from dagster._core.utils import make_new_run_id

from dagster_project import demo, jobs
from dagster_project.check_results import result
from dagster_project.cli import JOBS
from dagster_project.cli import main as loom
from dagster_project.ingestion import chosen_shards
from dagster_project.jobs import DESCRIPTIONS
from dagster_project.live_runs import marked, marks_folder
from dagster_project.progress import MADE, progress_logger
from dagster_project.resources import SAMPLE_CORPUS
from dagster_project.run_tags import BUILD
from methods.errors import UserError
from resources.corpus.corpus import Corpus
from resources.warehouse import Warehouse
from tests.assets.filled import put
from tests.e2e.running import command


def test_every_stage_can_be_run_by_itself_and_the_build_of_all() -> None:
    assert set(JOBS) == {*DESCRIPTIONS, "build", "checks"}


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


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("owls", "The corpus has no shard 'owls'; "),
        ("a...owls", "The corpus has no shard 'owls'; "),
        ("c...a", "The range c...a ends before it begins: write a...c."),
    ],
)
def test_shards_that_are_not_there_are_one_sentence(named: str, said: str) -> None:
    with pytest.raises(UserError) as refused:
        chosen_shards([named], ["a", "b", "c"])
    assert str(refused.value).startswith(said)


def test_one_shard_is_ingested_from_a_terminal_and_the_other_is_not(tmp_path: Path) -> None:
    home = tmp_path / "home"
    done = command(home, "run", "ingest", "--partition", "sample-b")
    assert done.returncode == 0, done.stdout + done.stderr
    rows = Warehouse(home / "warehouse.duckdb").select("ingest.shards", "wit_shard").to_pylist()
    assert rows == [{"wit_shard": "sample-b"}]


def test_only_ingestion_has_shards(tmp_path: Path) -> None:
    done = command(tmp_path / "home", "run", "cluster", "--partition", "sample-b")
    assert done.returncode == 2
    assert "cluster has no shards: leave --partition out, or run ingest." in done.stderr


@pytest.mark.parametrize("name", ["", "evaluat"])
def test_another_name_is_one_sentence_and_makes_no_home(tmp_path: Path, name: str) -> None:
    done = command(tmp_path / "home", "run", name)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"vlm-loom run: JOB: there is no {name!r}; ")
    assert name != "evaluat" or done.stderr.endswith("; the nearest is evaluate.\n")
    assert done.stderr.count("\n") == 1 and not (tmp_path / "home").exists()


def test_a_job_runs_and_says_what_it_made(tmp_path: Path) -> None:
    done = command(tmp_path / "home", "run", "ledger")

    assert done.returncode == 0, done.stdout + done.stderr
    assert "ledger/costs" in done.stdout


def test_all_checks_are_a_job_that_fails_where_one_does(tmp_path: Path) -> None:
    done = command(tmp_path / "home", "run", "checks")

    # An empty home has no image sets, and no release in force.
    assert done.returncode == 1, done.stdout + done.stderr
    said = (
        "CHECK FAILED cluster/image_sets not_empty: There are no image sets in cluster.image_sets. "
        "This home has never made cluster/image_sets: launch the job build (vlm-loom run build)"
    )
    assert said in done.stdout and "whole" not in done.stdout


def test_the_sample_is_not_built_into_a_home_of_another_corpus(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path / "warehouse.duckdb")
    sample = Corpus(SAMPLE_CORPUS, tmp_path)
    jobs.require_corpus_of_home(sample, warehouse, ["sample-a"])
    put(warehouse, {"ingest.shards": [{"wit_shard": "mine"}]})
    with pytest.raises(UserError, match=r"another corpus \(mine\).*say --corpus"):
        jobs.require_corpus_of_home(sample, warehouse, ["sample-a"])
    jobs.require_corpus_of_home(Corpus(tmp_path, tmp_path), warehouse, ["new"])
    put(warehouse, {"ingest.shards": [{"wit_shard": "sample-a"}]})
    jobs.require_corpus_of_home(sample, warehouse, ["sample-a"])


def test_a_build_waits_for_one_that_began_earlier_and_says_so(
    instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []

    def begun(run_id: str) -> SimpleNamespace:
        run = dg.DagsterRun("build", run_id=run_id)
        instance.add_run(run)
        for kind in (dg.DagsterEventType.RUN_START,):
            instance.report_dagster_event(dg.DagsterEvent(kind.value, "build"), run_id)
        log = SimpleNamespace(info=said.append)
        return SimpleNamespace(instance=instance, run_id=run_id, job_name="build", log=log)

    first, second = begun(make_new_run_id()), begun(make_new_run_id())
    with marked(instance, first.run_id), marked(instance, second.run_id):
        jobs._wait_for_earlier_builds(first)
        assert said == []

        def end_first(_seconds: float) -> None:
            instance.report_run_failed(instance.get_run_by_id(first.run_id))

        monkeypatch.setattr(jobs.time, "sleep", end_first)
        jobs._wait_for_earlier_builds(second)
    [waits] = said
    assert re.fullmatch(
        rf"Waiting for \d+ s: the build of run {first.run_id} is at work on this home, and makes the "
        r"same\.",
        waits,
    )


def test_a_build_whose_process_is_gone_is_not_waited_for(instance: dg.DagsterInstance) -> None:
    dead = make_new_run_id()
    instance.add_run(dg.DagsterRun("build", run_id=dead))
    instance.report_dagster_event(dg.DagsterEvent("PIPELINE_START", "build"), dead)
    with suppress(RuntimeError), marked(instance, dead):
        raise RuntimeError("The process ends, and its mark with it.")
    (marks_folder(instance) / dead).touch()
    mine = SimpleNamespace(instance=instance, run_id=make_new_run_id(), job_name="build", log=None)
    mine.log = SimpleNamespace(info=pytest.fail)
    jobs._wait_for_earlier_builds(mine)


def test_a_job_that_fails_is_said(tmp_path: Path) -> None:
    done = command(tmp_path / "home", "run", "cluster")

    assert done.returncode == 1
    assert "There are no entries" in done.stdout
    assert done.stderr.splitlines() == [
        f"Workspace: {tmp_path / 'home'}",
        "The run of cluster failed; the log above and the UI (vlm-loom ui) say why.",
    ]


@pytest.mark.parametrize(
    ("severity", "code", "ending"),
    [
        ("WARN", 0, ""),
        (
            "ERROR",
            1,
            "The run of build came to its end, and of its checks failed: numbers few; the log above "
            "and the UI (vlm-loom ui) say why.\n",
        ),
    ],
)
def test_a_check_that_fails_in_a_stage_of_a_build_and_stops_nothing_is_not_done(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    severity: str,
    code: int,
    ending: str,
) -> None:
    after: list[str] = []

    @dg.asset
    def numbers() -> None: ...

    @dg.asset_check(asset=numbers)
    def few() -> dg.AssetCheckResult:
        wrong = "There are 3 numbers: add some."
        return result(wrong, {}, dg.AssetCheckSeverity[severity])

    stages = dg.Definitions(
        assets=[numbers],
        asset_checks=[few],
        jobs=[dg.define_asset_job("stage", "*")],
        loggers={"console": progress_logger},
    )

    @dg.op
    def run_stages(context: dg.OpExecutionContext) -> None:
        stage = stages.resolve_job_def("stage")
        assert jobs.run_job(stage, context.instance, tags={BUILD: context.run_id}).success
        after.append("the next stage")

    @dg.job(logger_defs={"console": progress_logger})
    def build() -> None:
        run_stages()

    monkeypatch.setattr("dagster_project.run.build_defs", lambda: dg.Definitions(jobs=[build]))
    monkeypatch.setenv("LOOM_HOME", str(tmp_path / "home"))
    assert loom(["run", "build"]) == code
    printed = capsys.readouterr()
    says = "FAILED" if code else "WARNS"
    assert f"CHECK {says} numbers few: There are 3 numbers: add some." in printed.out
    assert after and printed.err == ending


def test_the_main_job_goes_on_after_such_a_check_and_after_steps_that_made_not_all(
    instance: dg.DagsterInstance, capsys: pytest.CaptureFixture[str]
) -> None:
    @dg.asset
    def numbers() -> None: ...

    @dg.asset_check(asset=numbers)
    def few() -> dg.AssetCheckResult:
        return result("There are 3 numbers: add some.", {})

    @dg.asset
    def answers() -> None: ...

    @dg.multi_asset_check(name=MADE, specs=[dg.AssetCheckSpec(MADE, asset=answers)])
    def made():
        yield dg.AssetCheckResult(passed=False, asset_key=answers.key, check_name=MADE)
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
    ended = demo._run(definitions, instance, everything=True)
    assert (ended.failed, ended.lost_shards, ended.made_all) == (None, None, False)
    assert ended.checks == {"build": ["numbers few"], "ledger": ["numbers few"]}
    # What was not made is said when all is done, from what the steps wrote down.
    assert "The disk is full." not in capsys.readouterr().out
