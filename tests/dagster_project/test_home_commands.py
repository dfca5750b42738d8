"""Commands on a home, as a person types them: backup, restore, cleaning, a check of the ledger."""

import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.definitions.run_request import InstigatorType
from dagster._core.execution.backfill import BulkActionStatus, PartitionBackfill
from dagster._core.remote_origin import (
    RegisteredCodeLocationOrigin,
    RemoteInstigatorOrigin,
    RemoteRepositoryOrigin,
)
from dagster._core.scheduler.instigation import (
    InstigatorState,
    InstigatorStatus,
    TickData,
    TickStatus,
)

from dagster_project.cli import main as loom
from dagster_project.definitions import defs
from dagster_project.instance import open_instance
from dagster_project.job_runs import origin_of
from resources.files.home import REPO_ROOT
from resources.llm.ledger import Ledger
from resources.stores_of_home import bring_home_up_to_date
from resources.upkeep.backup import back_up
from resources.upkeep.cleaning import CleaningError, clean
from resources.warehouse import Warehouse
from tests.dagster_project.conftest import Refused, Typed
from tests.resources.llm.damaged_ledgers import HARMS, fill
from tests.resources.llm.entries import call
from tests.shared import PROCESSES

pytestmark = pytest.mark.slow


def names(folder: Path) -> set[str]:
    return {each.name for each in folder.iterdir() if not each.name.endswith(".lock")}


def test_files_that_machines_share_are_not_missing_in_a_backup(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: Typed
) -> None:
    (folder / "images").rename(tmp_path / "images")
    monkeypatch.setenv("LOOM_FILES", str(tmp_path))
    said = typed("workspace backup").out
    # It stands next to the home, under its time.
    (made,) = [each for each in (folder.parent / "backups").iterdir() if each.is_dir()]
    assert "NOT IN IT" not in said
    assert said.endswith(
        f"files in {made}\nEvery table, image and file of a release in it was read and is sound.\n"
    )
    assert {"backup.json", "warehouse.duckdb", "ledger.sqlite", "releases"} <= names(made)


def test_a_shared_folder_that_is_not_mounted_is_refused_before_anything_is_written_there(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: Typed
) -> None:
    mount_point = tmp_path / "mounted"
    mount_point.mkdir()
    monkeypatch.setenv("LOOM_FILES", str(mount_point))
    message = typed("site", code=2).err
    assert f"LOOM_FILES names {mount_point}, which has none of the images" in message
    assert "mount the shared folder there" in message and not any(mount_point.iterdir())
    typed("workspace move")
    bring_home_up_to_date()


def test_a_lost_ledger_is_told_before_its_answers_are_paid_again(folder, typed, capsys):
    bring_home_up_to_date()
    assert "WARNING" not in capsys.readouterr().err
    for file in folder.glob("ledger.sqlite*"):
        file.unlink()
    lost = typed("workspace check-ledger", code=2).err
    assert re.search(r"There is no ledger at .*: the workspace lacks [1-9]\d* calls whose", lost)
    for _ in range(2):  # Also once there is a new and empty ledger.
        bring_home_up_to_date()
        warning = capsys.readouterr().err
        assert re.search(r"lacks [1-9]\d* calls whose answers are in the tables", warning)
        Ledger(folder / "ledger.sqlite").close()
    lost = typed("workspace check-ledger", code=2).err
    assert "calls whose answers are in the tables" in lost
    # The backup says all that the tables name and the workspace does not have.
    shutil.rmtree(folder / "images")
    shutil.rmtree(next((folder / "releases").iterdir()))
    said = typed("workspace backup", code=1).out
    (warning,) = [line for line in said.splitlines() if "NOT IN IT" in line]
    assert re.search(r": [1-9]\d* images?, [1-9]\d* release files?, [1-9]\d* calls?\. ", warning)


def test_lost_tables_are_told_as_long_as_there_are_releases_that_the_tables_lack(
    folder: Path, typed: Typed, capsys
) -> None:
    for file in folder.glob("warehouse.duckdb*"):
        file.unlink()
    for _ in range(2):  # Also once there are new and empty tables.
        bring_home_up_to_date()
        assert re.search(r"has no tables of the [1-9] releases", capsys.readouterr().err)
        Warehouse(folder / "warehouse.duckdb").check()
    said = typed("workspace backup", code=1).out
    assert re.search(r"NOT IN IT.*: the tables of [1-9] releases", said)


def test_a_workspace_below_a_folder_of_odd_characters_is_used_backed_up_and_restored(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    odd = tmp_path / """it's 100% "#1"; $HOME"""
    shutil.copytree(folder, odd / "home")
    before = names(tmp_path)
    for home, *words in (
        ("home", "release", "unpin", "mmdu"),
        ("home", "workspace", "backup", "--to", str(odd / "back?up%41")),
        ("restored", "workspace", "restore", str(odd / "back?up%41")),
        ("restored", "workspace", "check-ledger"),
        ("restored", "sql", "SELECT count(*) AS n FROM release.releases"),
    ):
        monkeypatch.setenv("LOOM_WORKSPACE", str(odd / home))
        loom(words)
    printed = capsys.readouterr()
    assert "is sound" in printed.out and " n " in printed.out, printed
    assert printed.err == "mmdu is not pinned; no name is.\n"
    assert names(tmp_path) == before
    assert names(odd) == {"home", "back?up%41", "restored"}


def test_nothing_that_was_under_way_at_the_backup_starts_after_a_restore_nor_is_a_path_an_id(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: Typed
) -> None:
    location = RegisteredCodeLocationOrigin("vlm-loom")
    sensor = RemoteInstigatorOrigin(
        RemoteRepositoryOrigin(location, "__repository__"), "automation"
    )
    ids = sensor.get_id(), sensor.get_selector().get_id()
    with open_instance() as instance:
        job = defs.resolve_job_def("evaluate")
        begun = [
            instance.create_run_for_job(
                job, status=status, remote_job_origin=origin_of(job.name)
            ).run_id
            for status in (dg.DagsterRunStatus.QUEUED, dg.DagsterRunStatus.STARTED)
        ]
        instance.add_backfill(
            PartitionBackfill("abcdef", BulkActionStatus.REQUESTED, False, {}, 1.0)
        )
        instance.add_instigator_state(
            InstigatorState(sensor, InstigatorType.SENSOR, InstigatorStatus.RUNNING)
        )
        instance.create_tick(
            TickData(
                ids[0], "automation", InstigatorType.SENSOR, TickStatus.STARTED, 1.0,
                selector_id=ids[1], run_requests=[dg.RunRequest()], reserved_run_ids=["run"],
            )
        )  # fmt: skip
    backup = tmp_path / "backup"
    typed("workspace backup --to", backup)
    monkeypatch.setenv("LOOM_WORKSPACE", str(tmp_path / "again"))
    line = typed("workspace restore", backup).out.splitlines()[-1]
    assert line == (
        "No longer waiting for batches: runs run. Canceled, as not finished at the backup: runs "
        f"evaluate {begun[1]}, evaluate {begun[0]}. Canceled, as not finished at the backup: backfills "
        "abcdef. Set to their defaults: schedules and sensors automation. Start them again, or turn "
        "them on, in the Dagster UI (vlm-loom ui: Runs, Automation)."
    )
    with open_instance() as instance:
        assert [run.status for run in instance.get_runs()] == [dg.DagsterRunStatus.CANCELED] * 2
        assert [each.status.value for each in instance.get_backfills()] == ["CANCELED"]
        assert not any(state.is_running for state in instance.all_instigator_state())
        assert instance.get_ticks(*ids) == []
    with closing(sqlite3.connect(tmp_path / "again" / "ledger.sqlite")) as ledger:
        assert ledger.execute("SELECT * FROM batch_waits").fetchall() == []

    # A history whose run has a path for an id is not restored.
    with closing(sqlite3.connect(tmp_path / "again/dagster/history/runs.db")) as runs, runs:
        runs.execute("UPDATE runs SET run_id = '../../../own' WHERE id = 1")
    typed("workspace backup --to", tmp_path / "planted")
    monkeypatch.setenv("LOOM_WORKSPACE", str(tmp_path / "third"))
    refused = typed("workspace restore", tmp_path / "planted", code=2).err
    assert "'../../../own' is not an id of a run" in refused
    assert not (tmp_path / "third").exists() and not list(tmp_path.rglob("own*"))


def test_cleaning_keeps_what_cannot_be_made_again(folder: Path, typed: Typed) -> None:
    elsewhere = folder.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "picture").touch()
    (folder / "downloads").symlink_to(elsewhere)
    for name in ("reports", "staging", "wikipedia", "ray", "dagster"):
        (folder / name).mkdir()
        (folder / name / "file").write_text("x")
    for name in ("ledger.sqlite.lock", "ledger.sqlite.flights", "ledger.sqlite-wal"):
        (folder / name).touch()
    kept = {
        *("dagster", "image_index.sqlite", "images", "ledger.sqlite", "releases"),
        *("review.sqlite", "review.yaml", "warehouse.duckdb"),
    }
    assert typed("workspace clean").out == (
        f"Removed from {folder}: downloads, ray, reports, staging, wikipedia.\n"
        f"Kept, as it cannot be made again: {', '.join(sorted(kept))} (--all removes it, too).\n"
    )
    assert names(folder) == kept | {"ledger.sqlite.flights", "ledger.sqlite-wal"}
    assert names(elsewhere) == {"picture"}
    for name in ("thesis.tex", "ledger.sqlite.copy"):
        (folder / name).write_text("years")
    assert typed("workspace clean --all").out.endswith(
        "\nKept, as vlm-loom does not make it: ledger.sqlite.copy, thesis.tex.\n"
    )
    assert names(folder) == {"thesis.tex", "ledger.sqlite.copy"}


def test_a_folder_that_is_no_home_is_neither_cleaned_nor_read(tmp_path, monkeypatch, refused):
    (tmp_path / "downloads").mkdir()
    (tmp_path / "thesis.tex").write_text("years")
    monkeypatch.setenv("LOOM_WORKSPACE", str(tmp_path))
    for line in ("home clean", "home clean --all", "release list", "review account list"):
        assert refused(line).startswith(f"{tmp_path} is not a workspace, as it has none")
    assert names(tmp_path) == {"downloads", "thesis.tex"}
    assert refused("workspace clean --workspace", "") == (
        "vlm-loom workspace clean: --workspace: the path is empty; name a folder, or leave the option "
        "out.\n"
    )


def test_no_folder_with_the_project_or_a_persons_own_files_is_cleaned(folder, monkeypatch):
    """Even if something in it has the name of a home's part."""
    monkeypatch.setattr("shutil.rmtree", lambda *_: pytest.fail("something was removed"))
    monkeypatch.setattr("pathlib.Path.unlink", lambda *_: pytest.fail("something was removed"))
    monkeypatch.setenv("HOME", str(folder))
    for each in (folder, REPO_ROOT, REPO_ROOT.parent, Path("/")):
        with pytest.raises(CleaningError, match="is not cleaned, as the project or your own files"):
            clean(each, everything=True)


def test_a_cleaning_that_was_killed_can_be_done_again(folder, monkeypatch):
    (folder / "ray").mkdir()
    (folder / "dagster").mkdir()
    gone = []

    def dying(path: Path) -> None:
        if path.name in ("dagster", "warehouse.duckdb"):
            raise KeyboardInterrupt
        gone.append(path.name)

    with monkeypatch.context() as patch:
        patch.setattr("shutil.rmtree", dying)
        patch.setattr("pathlib.Path.unlink", dying)
        with pytest.raises(KeyboardInterrupt):
            clean(folder, everything=True)
    assert {"images", "ray", "releases", "review.yaml"} <= set(gone)
    assert "dagster" in clean(folder, everything=True)[0]


def test_a_home_in_use_is_neither_removed_nor_put_aside_and_a_restore_says_whose_accounts_it_has(
    folder: Path, tmp_path: Path, typed: Typed, refused: Refused
) -> None:
    backup = tmp_path / "backup"
    typed("workspace backup --to", backup)
    before = names(folder)
    wait = "import sys; file = open(sys.argv[1]); print(flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", wait, str(folder / "review.yaml")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as user:
        assert user.stdout is not None
        user.stdout.readline()
        for line in ("clean", "clean --all", f"restore {backup} --overwrite", "check-ledger"):
            said = refused(f"home {line}")
            in_use = f"{folder} is in use. Stop what runs on it (process {user.pid}: python"
            assert said.startswith(in_use) and "-c import sys; file = open(" in said
        assert names(folder) == before
        user.communicate()

    accounts = "has the accounts of the backup, and its sessions stay signed in"
    assert accounts in typed(f"workspace restore {backup} --overwrite").out
    (folder / "review.sqlite").unlink()
    shutil.rmtree(backup)
    typed("workspace backup --to", backup)
    assert accounts not in typed(f"workspace restore {backup} --overwrite").out
    typed("workspace clean --all")
    assert list(folder.iterdir()) == []
    assert clean(folder) == clean(folder / "not there") == ([], [])


def test_a_workspace_that_is_restored_with_another_database_has_its_stores_there(
    tmp_path: Path, typed: Typed, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = tmp_path / "first" / "stores-database.txt"
    named.parent.mkdir()
    named.write_text("localhost/one\n")
    back_up(named.parent, tmp_path / "backup")
    monkeypatch.setenv("LOOM_STORES", "postgresql://loom@localhost/two")
    monkeypatch.setenv("LOOM_WORKSPACE", str(tmp_path / "again"))
    typed("workspace restore", tmp_path / "backup")
    assert (tmp_path / "again" / named.name).read_text().endswith("/two\n")
    assert named.read_text() == "localhost/one\n"


# --- The ledger ----------------------------------------------------------------------------------


@pytest.fixture
def ledger(loom_home: Path) -> Path:
    loom_home.mkdir()
    fill(loom_home / "ledger.sqlite")
    return loom_home / "ledger.sqlite"


def test_a_sound_ledger_is_counted_and_a_damaged_one_named_with_what_to_do(ledger, typed):
    before = ledger.read_bytes()
    said = typed("workspace check-ledger").out
    assert said == f"{ledger} is sound: 102 calls and 18 charges.\n"
    assert ledger.read_bytes() == before
    HARMS["a page of calls is overwritten"](ledger)
    damaged = typed("workspace check-ledger", code=2)
    advice = f"{ledger} is damaged: put a backup back (`vlm-loom workspace restore`)"
    assert damaged.out and advice in damaged.err


def test_a_log_that_is_gone_is_named_each_time_it_is_asked(ledger: Path, typed: Typed) -> None:
    process = PROCESSES.Process(target=_answered_and_killed, args=(ledger,))
    process.start()
    process.join()
    ledger.with_name("ledger.sqlite-wal").unlink()
    for _ in range(2):
        said = typed("workspace check-ledger", code=2).out
        assert "bytes of its log (-wal) are missing" in said


def _answered_and_killed(path: Path) -> None:
    Ledger(path).add([call(7)])
    os.kill(os.getpid(), signal.SIGKILL)
