"""What a run prints in a terminal: a step that says nothing for a while is named."""

import logging
import re
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace

import dagster as dg
import duckdb
import pytest
from dagster._core.execution.plan import active

from assets.common.isolation import LOST
from assets.common.tables import ROW_COUNT
from dagster_project import progress
from dagster_project.check_results import result
from dagster_project.progress import ALL_MADE, SHOW_PROGRESS, TOLD_AT_THE_END, progress_logger


def printed(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The lines without their times."""
    lines = capsys.readouterr().out.splitlines()
    return [re.sub(r"^\[ *\d+\.\d s\] ", "", line).strip() for line in lines]


def run(
    *assets: dg.AssetsDefinition,
    checks: Sequence[dg.AssetChecksDefinition] = (),
    console: Mapping[str, object] = SHOW_PROGRESS,
    instance: dg.DagsterInstance | None = None,
) -> bool:
    definitions = dg.Definitions(
        assets=list(assets),
        asset_checks=checks,
        jobs=[dg.define_asset_job("stage", "*")],
        loggers={"console": progress_logger},
    )
    job = definitions.resolve_job_def("stage")
    options = {"run_config": dict(console), "raise_on_error": False, "instance": instance}
    return job.execute_in_process(**options).success


def test_a_failure_names_the_ui_of_its_workspace(loom_home: Path, capsys) -> None:
    progress.print_failure("build")
    assert f"(vlm-loom ui --workspace {loom_home})" in capsys.readouterr().err


def test_an_error_has_the_message_of_its_innermost_cause() -> None:
    error = None
    for message in ("KeyError: 'a'\n", "ValueError: no a\n", "StepError: it failed\n"):
        error = SimpleNamespace(message=message, cause=error)
    assert progress.root_cause(error) == "'a'"


def test_a_step_that_says_nothing_is_named_while_it_works(monkeypatch, capsys):
    named = threading.Event()
    say = progress._print
    monkeypatch.setattr(progress, "_print", lambda line: (say(line), named.set()))
    monkeypatch.setattr(progress, "QUIET_SECONDS", 0.05)

    @dg.asset(key=["cluster", "embeddings"])
    def embeddings() -> None:
        named.wait()  # It ends only after it was named.

    assert run(embeddings)
    lines = printed(capsys)
    assert lines == ["… cluster/embeddings is under way", "cluster/embeddings               0 rows"]


def test_a_step_that_waits_for_a_pool_says_so_once(monkeypatch, capsys, tmp_path):
    # Dagster reports the same step again after this time.
    monkeypatch.setattr(active, "CONCURRENCY_CLAIM_MESSAGE_INTERVAL", 0.0)

    @dg.asset(key=["evaluate", "answers"], pool="models")
    def answers() -> None: ...

    quiet = {"telemetry": {"enabled": False}}
    with dg.DagsterInstance.local_temp(str(tmp_path), overrides=quiet) as instance:
        storage = instance.event_log_storage
        storage.set_concurrency_slots("models", 1)
        assert storage.claim_concurrency_slot("models", "another run", "answers").is_claimed
        say, free = progress._print, storage.free_concurrency_slot_for_step
        say_and_free = lambda line: (say(line), free("another run", "answers"))  # noqa: E731
        monkeypatch.setattr(progress, "_print", say_and_free)
        assert run(answers, instance=instance)
    assert printed(capsys) == [
        "… evaluate/answers waits until another run frees a slot of the pool models",
        "evaluate/answers                 0 rows",
    ]


def test_the_progress_of_an_action_is_beside_its_result(capsys):
    handler = progress.ProgressHandler(say_failures=False)
    handler.emit(logging.makeLogRecord({"msg": "half of it", "levelno": logging.INFO}))
    out, err = capsys.readouterr()
    assert out == "" and err.endswith("… half of it\n")


def test_a_step_that_speaks_or_ends_soon_is_not_named(capsys):
    @dg.asset
    def talks(context: dg.AssetExecutionContext) -> None:
        context.log.info("half of it")

    @dg.asset(deps=[talks])
    def fails() -> None:
        raise dg.Failure("It is broken: mend it.")

    assert not run(talks, fails)
    lines = printed(capsys)
    assert lines == [
        "… half of it",
        "talks                            0 rows",
        "FAILED fails: It is broken: mend it.",
    ]


def test_a_check_that_failed_is_said_in_its_sentence_once(capsys):
    @dg.asset
    def rows() -> None: ...

    @dg.asset_check(asset=rows, blocking=True)
    def whole() -> dg.AssetCheckResult:
        return result("It has 1 row too few: make it again.", {"rows": 3})

    @dg.asset_check(asset=rows)
    def few() -> dg.AssetCheckResult:
        return result("It has few rows: add some.", {}, dg.AssetCheckSeverity.WARN)

    assert not run(rows, checks=[whole, few])
    assert printed(capsys) == [
        "rows                             0 rows",
        "CHECK WARNS rows few: It has few rows: add some.",
        "CHECK FAILED rows whole: It has 1 row too few: make it again.",
    ]


def test_what_a_step_could_not_make_is_said_once_by_its_check_or_at_the_end(capsys):
    @dg.asset
    def rows() -> None: ...

    @dg.multi_asset_check(name=ALL_MADE, specs=[dg.AssetCheckSpec(ALL_MADE, asset=rows)])
    def made():
        failed = {"passed": False, "asset_key": rows.key, "check_name": ALL_MADE}
        yield dg.AssetCheckResult(**failed, description="Two and two were five.")
        raise dg.Failure("Two and two were five. Run it again.", allow_retries=False)

    for console, said in (
        (SHOW_PROGRESS, "CHECK FAILED rows made: Two and two were five."),
        (TOLD_AT_THE_END, "CHECK FAILED rows made"),
    ):
        assert not run(rows, checks=[made], console=console)
        assert printed(capsys) == ["rows                             0 rows", said]

    @dg.asset
    def table() -> dg.MaterializeResult:
        return dg.MaterializeResult(metadata={ROW_COUNT: 0, LOST: "the table: the store is away"})

    assert run(table)
    assert printed(capsys) == ["FAILED table: not all of it was made; it has 0 rows"]


def test_checks_that_fail_for_one_reason_say_it_once_without_the_name_of_a_class(capsys):
    @dg.asset
    def rows() -> None: ...

    def check(name: str) -> dg.AssetChecksDefinition:
        @dg.asset_check(asset=rows, name=name)
        def failing() -> dg.AssetCheckResult:
            raise duckdb.IOException("The file is away: put it back.")

        return failing

    assert not run(rows, checks=[check("first"), check("second")])
    lines = printed(capsys)[1:]
    assert sorted(line.partition(": ")[2] for line in lines) == [
        "The file is away: put it back.",
        "for the same reason",
    ]
