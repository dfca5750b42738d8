"""Commands on a home, as a person types them; and what every command says of a home from the future."""

import re
import shutil
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
from resources.upkeep.cleaning import CleaningError, clean
from resources.warehouse import Warehouse

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(small_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small home, in use."""
    folder = Path(shutil.copytree(small_home, tmp_path / "home"))
    monkeypatch.setenv("LOOM_WORKSPACE", str(folder))
    return folder


def names(folder: Path) -> set[str]:
    return {each.name for each in folder.iterdir() if not each.name.endswith(".lock")}


def test_files_that_machines_share_are_not_missing_in_a_backup(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    (folder / "images").rename(tmp_path / "images")
    monkeypatch.setenv("LOOM_FILES", str(tmp_path))
    assert loom(["workspace", "backup"]) == 0
    # It stands next to the home, under its time.
    (made,) = [each for each in (folder.parent / "backups").iterdir() if each.is_dir()]
    said = capsys.readouterr().out
    assert "NOT IN IT" not in said
    assert said.endswith(
        f"files in {made}\nEvery table, image and file of a release in it was read and is sound.\n"
    )
    assert {"backup.json", "warehouse.duckdb", "ledger.sqlite", "releases"} <= names(made)


def test_a_shared_folder_that_is_not_mounted_is_refused_before_anything_is_written_there(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    mount_point = tmp_path / "mounted"
    mount_point.mkdir()
    monkeypatch.setenv("LOOM_FILES", str(mount_point))

    assert loom(["site"]) == 2

    message = capsys.readouterr().err
    assert f"LOOM_FILES names {mount_point}, which has none of the images" in message
    assert "mount the shared folder there" in message and not any(mount_point.iterdir())
    assert loom(["workspace", "move"]) == 0
    bring_home_up_to_date()


def test_a_lost_ledger_is_told_before_its_answers_are_paid_again(folder: Path, capsys) -> None:
    bring_home_up_to_date()
    assert "WARNING" not in capsys.readouterr().err
    for file in folder.glob("ledger.sqlite*"):
        file.unlink()
    for _ in range(2):  # Also once there is a new and empty ledger.
        bring_home_up_to_date()
        warning = capsys.readouterr().err
        assert re.search(r"lacks [1-9]\d* calls whose answers are in the tables", warning)
        Ledger(folder / "ledger.sqlite").close()
    assert loom(["workspace", "check-ledger"]) == 2
    assert "calls whose answers are in the tables" in capsys.readouterr().err
    # The backup says all that the tables name and the workspace does not have.
    shutil.rmtree(folder / "images")
    shutil.rmtree(next((folder / "releases").iterdir()))
    assert loom(["workspace", "backup"]) == 1
    (warning,) = [line for line in capsys.readouterr().out.splitlines() if "NOT IN IT" in line]
    assert re.search(r": [1-9]\d* images?, [1-9]\d* release files?, [1-9]\d* calls?\. ", warning)


def test_lost_tables_are_told_as_long_as_there_are_releases_that_the_tables_lack(
    folder: Path, capsys
) -> None:
    for file in folder.glob("warehouse.duckdb*"):
        file.unlink()
    for _ in range(2):  # Also once there are new and empty tables.
        bring_home_up_to_date()
        assert re.search(r"has no tables of the [1-9] releases", capsys.readouterr().err)
        Warehouse(folder / "warehouse.duckdb").check()
    assert loom(["workspace", "backup"]) == 1
    assert re.search(r"NOT IN IT.*: the tables of [1-9] releases", capsys.readouterr().out)


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
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
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
    backup = str(tmp_path / "backup")
    assert loom(["workspace", "backup", "--to", backup]) == 0
    monkeypatch.setenv("LOOM_WORKSPACE", str(tmp_path / "again"))
    capsys.readouterr()

    assert loom(["workspace", "restore", backup]) == 0

    with open_instance() as instance:
        assert [run.status for run in instance.get_runs()] == [dg.DagsterRunStatus.CANCELED] * 2
        assert [each.status.value for each in instance.get_backfills()] == ["CANCELED"]
        assert not any(state.is_running for state in instance.all_instigator_state())
        assert instance.get_ticks(*ids) == []
    with closing(sqlite3.connect(tmp_path / "again" / "ledger.sqlite")) as ledger:
        assert ledger.execute("SELECT * FROM batch_waits").fetchall() == []
    line = capsys.readouterr().out.splitlines()[-1]
    assert line == (
        "No longer waiting for batches: runs run. Canceled, as not finished at the backup: runs "
        f"evaluate {begun[1]}, evaluate {begun[0]}. Canceled, as not finished at the backup: backfills "
        "abcdef. Set to their defaults: schedules and sensors automation. Start them again, or turn "
        "them on, in the Dagster UI (vlm-loom ui: Runs, Automation)."
    )

    # A history whose run has a path for an id is not restored.
    with closing(sqlite3.connect(tmp_path / "again/dagster/history/runs.db")) as runs, runs:
        runs.execute("UPDATE runs SET run_id = '../../../own' WHERE id = 1")
    assert loom(["workspace", "backup", "--to", str(tmp_path / "planted")]) == 0
    monkeypatch.setenv("LOOM_WORKSPACE", str(tmp_path / "third"))
    assert loom(["workspace", "restore", str(tmp_path / "planted")]) != 0
    assert "'../../../own' is not an id of a run" in capsys.readouterr().err
    assert not (tmp_path / "third").exists() and not list(tmp_path.rglob("own*"))


def test_cleaning_keeps_what_cannot_be_made_again(folder: Path, capsys) -> None:
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
        "dagster", "image_index.sqlite", "images", "ledger.sqlite", "releases", "review.sqlite",
        "review.yaml", "warehouse.duckdb",
    }  # fmt: skip

    assert loom(["workspace", "clean"]) == 0

    assert names(folder) == kept | {"ledger.sqlite.flights", "ledger.sqlite-wal"}
    assert names(elsewhere) == {"picture"}
    said = capsys.readouterr().out
    assert said == (
        f"Removed from {folder}: downloads, ray, reports, staging, wikipedia.\n"
        f"Kept, as it cannot be made again: {', '.join(sorted(kept))} (--all removes it, too).\n"
    )


def test_a_folder_that_is_no_home_is_neither_cleaned_nor_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    (tmp_path / "downloads").mkdir()
    (tmp_path / "thesis.tex").write_text("years")
    monkeypatch.setenv("LOOM_WORKSPACE", str(tmp_path))

    lines = ("home clean", "home clean --all", "release list", "result show", "review account list")
    for line in lines:
        assert loom(line.split()) == 2
        assert capsys.readouterr().err.startswith(f"{tmp_path} is not a workspace, as it has none")

    assert names(tmp_path) == {"downloads", "thesis.tex"}


def test_an_empty_workspace_option_is_refused(folder: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(folder)
    assert loom(["workspace", "clean", "--workspace", ""]) == 2
    assert capsys.readouterr().err == (
        "vlm-loom workspace clean: --workspace: the path is empty; name a folder, or leave the option "
        "out.\n"
    )


def test_cleaning_everything_keeps_files_that_vlm_loom_does_not_make(folder: Path, capsys) -> None:
    (folder / "thesis.tex").write_text("years")
    (folder / "ledger.sqlite.copy").write_text("years")
    assert loom(["workspace", "clean", "--all"]) == 0
    assert names(folder) == {"thesis.tex", "ledger.sqlite.copy"}
    assert capsys.readouterr().out.endswith(
        "\nKept, as vlm-loom does not make it: ledger.sqlite.copy, thesis.tex.\n"
    )


def test_no_folder_with_the_project_or_a_persons_own_files_is_cleaned(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if something in it has the name of a home's part."""
    monkeypatch.setattr("shutil.rmtree", lambda *_: pytest.fail("something was removed"))
    monkeypatch.setattr("pathlib.Path.unlink", lambda *_: pytest.fail("something was removed"))
    monkeypatch.setenv("HOME", str(folder))
    for each in (folder, REPO_ROOT, REPO_ROOT.parent, Path("/")):
        with pytest.raises(CleaningError, match="is not cleaned, as the project or your own files"):
            clean(each, everything=True)


def test_a_cleaning_that_was_killed_can_be_done_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    folder: Path, tmp_path: Path, capsys
) -> None:
    backup = str(tmp_path / "backup")
    assert loom(["workspace", "backup", "--to", backup]) == 0
    before = names(folder)
    wait = "import sys; file = open(sys.argv[1]); print(flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", wait, str(folder / "review.yaml")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as user:
        assert user.stdout is not None
        user.stdout.readline()
        for arguments in (["clean", "--all"], ["restore", backup, "--overwrite"]):
            assert loom(["home", *arguments]) == 2
            said = capsys.readouterr().err
            assert said.count("\n") == 1
            assert said.startswith(
                f"{folder} is in use. Stop what runs on it (process {user.pid}: python"
            )
            assert "-c import sys; file = open(" in said
        assert names(folder) == before
        user.communicate()

    accounts = "has the accounts of the backup, and its sessions stay signed in"
    assert loom(["workspace", "restore", backup, "--overwrite"]) == 0
    assert accounts in capsys.readouterr().out
    (folder / "review.sqlite").unlink()
    shutil.rmtree(backup)
    assert loom(["workspace", "backup", "--to", backup]) == 0
    assert loom(["workspace", "restore", backup, "--overwrite"]) == 0
    assert accounts not in capsys.readouterr().out
    assert loom(["workspace", "clean", "--all"]) == 0
    assert list(folder.iterdir()) == []
    assert clean(folder) == clean(folder / "not there") == ([], [])
