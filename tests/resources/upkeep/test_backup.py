"""Backups: whole or not there, of one state though others write, and a home again when restored."""

import ctypes
import hashlib
import itertools
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import threading
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import duckdb
import pytest

from methods.errors import UserError
from resources.files.system_errors import exhaustion_message
from resources.images.index import FetchedImage, ImageIndex
from resources.llm.ledger import Ledger
from resources.migrations import BASELINE, StoreError
from resources.review.store import ReviewStore
from resources.upkeep import backup as backup_module
from resources.upkeep import live_copies
from resources.upkeep import restore as restore_module
from resources.upkeep.backup import back_up
from resources.upkeep.backup_contents import MANIFEST, BackupError
from resources.upkeep.cleaning import WorkspaceInUse, clean
from resources.upkeep.restore import restore
from resources.warehouse import Warehouse
from tests.homes.kept import FIRST, unpack
from tests.resources.llm.entries import call
from tests.resources.older_stores import (
    small_sql,
    sqlite_of_the_baseline,
    warehouse_of_the_baseline,
)
from tests.resources.review.review_queue import decision
from tests.resources.test_warehouse import TABLE, answers
from tests.shared import PROCESSES

pytestmark = pytest.mark.slow


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A small home, with files that no backup has."""
    home = unpack(tmp_path)
    for name in ("staging/rows.parquet", "downloads/shard.tsv", "reports/mmdu.html"):
        (home / name).parent.mkdir()
        (home / name).write_text("<p>")
    (home / "ledger.sqlite.lock").touch()
    return home


@pytest.fixture
def backup(home: Path, tmp_path: Path) -> Path:
    back_up(home, tmp_path / "backup")
    return tmp_path / "backup"


def run_in(database: Path, *statements: str) -> None:
    """Run statements in a SQLite file; each that changes rows changes some."""
    with closing(sqlite3.connect(database)) as connection:
        for statement in statements:
            assert connection.execute(statement).rowcount
        connection.commit()


def content(folder: Path) -> dict[str, bytes]:
    """Everything in a home that a backup has, by name; databases as the text of their rows."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and not {"staging", "downloads"} & set(path.parts)
        and path.suffix not in (".sqlite", ".lock", ".json")
        and path.name != MANIFEST
    }


def dump(path: Path) -> str:
    with closing(sqlite3.connect(path)) as connection:
        return "\n".join(connection.iterdump())


def test_a_restored_home_is_the_one_that_was_backed_up(home, tmp_path):
    # A file among the images that has no hash for its name.
    (home / "images" / "00").mkdir(exist_ok=True)
    (home / "images" / "00" / "note.txt").write_text("by hand")
    before = content(home)
    dumps = {each.name: dump(each) for each in home.glob("*.sqlite")}

    n_files = back_up(home, tmp_path / "backup").n_files
    assert restore(tmp_path / "backup", tmp_path / "again") == (None, [])

    again = tmp_path / "again"
    assert content(again) == before and len(before) > 30
    assert {each.name: dump(each) for each in again.glob("*.sqlite")} == dumps
    assert json.loads((home / "releases").joinpath(FIRST, "card.json").read_text())
    files = json.loads((tmp_path / "backup" / MANIFEST).read_text())["files"]
    assert len(files) == n_files
    assert not any(name.startswith(("staging", "downloads")) for name in files)
    images = [path for path in (home / "images").rglob("*") if path.is_file()]
    assert images and all(path.stat().st_nlink >= 2 for path in images), "no place is taken twice"
    assert "reports/mmdu.html" in files and "review.yaml" in files
    for name, file in files.items():
        assert file == listed((tmp_path / "backup" / name).read_bytes())


def listed(data: bytes) -> dict[str, object]:
    """What a manifest says of a file with these bytes."""
    return {"n_bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def test_a_backup_does_not_upgrade_what_it_copies(tmp_path):
    """It is what one goes back to when an upgrade was not wanted."""
    home = tmp_path / "home"
    home.mkdir()
    with small_sql(tmp_path / "sql"):
        warehouse_of_the_baseline(home / "warehouse.duckdb")
        sqlite_of_the_baseline(home / "ledger.sqlite")
        back_up(home, tmp_path / "backup")
        Warehouse(home / "warehouse.duckdb").check()

        restore(tmp_path / "backup", home, overwrite=True)

    with closing(sqlite3.connect(home / "ledger.sqlite")) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (BASELINE,)
    with duckdb.connect(str(home / "warehouse.duckdb"), read_only=True) as tables:
        version = tables.execute("SELECT version FROM main.schema_version").fetchone()
    assert version == (BASELINE,)


def test_a_backup_of_a_home_from_before_the_baseline_is_not_restored(home, tmp_path):
    run_in(home / "ledger.sqlite", "PRAGMA user_version = 7")
    backup = tmp_path / "backup"
    back_up(home, backup)
    before = content(home)

    with pytest.raises(StoreError, match=f"was made before .*: keep {backup} for the version"):
        restore(backup, home, overwrite=True)

    assert content(home) == before
    assert {each.name for each in tmp_path.iterdir()} == {"backup", "home"}


def stores_of(home: Path) -> tuple[Ledger, ReviewStore, ImageIndex, Warehouse]:
    return (
        Ledger(home / "ledger.sqlite"),
        ReviewStore(home / "review.sqlite"),
        ImageIndex(home / "image_index.sqlite"),
        Warehouse(home / "warehouse.duckdb"),
    )


def _write_pairs(folder: Path, number: int, ready: Any) -> None:
    """Calls, decisions and images, each before the row of the warehouse that refers to them."""
    ledger, reviews, index, warehouse = stores_of(folder)
    (folder / "images" / "00").mkdir(exist_ok=True)
    for name in itertools.count(1_000_000 * number):
        (folder / "images" / "00" / f"{name}.png").write_text(f"{name}")
        index.record([FetchedImage(f"https://example.org/{name}", f"{name}", {})])
        ledger.add([call(name)])
        reviews.append([decision(name)])
        release = folder / "releases" / f"r-{name}"
        release.mkdir()
        (release / "card.json").write_text("{}")
        rows = answers(f"set-{name}", 1, text=call(name).key)
        warehouse.replace(TABLE, rows, {"set_id": f"set-{name}"})
        if name % 1_000_000 == 2:
            ready.release()


def test_a_backup_taken_while_others_write_has_all_that_it_refers_to(home, tmp_path):
    ready = PROCESSES.Semaphore(0)
    writers = [PROCESSES.Process(target=_write_pairs, args=(home, n, ready)) for n in (1, 2)]
    for writer in writers:
        writer.start()
    try:
        for _ in writers:
            assert ready.acquire(timeout=120)
        for number in range(2):
            back_up(home, tmp_path / f"backup-{number}")
            time.sleep(0.3)
        assert all(writer.is_alive() for writer in writers)
    finally:
        for writer in writers:
            os.kill(writer.pid, signal.SIGKILL)
            writer.join()

    n_rows = []
    for number in range(2):
        restore(tmp_path / f"backup-{number}", tmp_path / f"home-{number}")
        n_rows.append(whole(tmp_path / f"home-{number}"))
    assert 6 <= n_rows[0] < n_rows[1]


def whole(home: Path) -> int:
    """Whether all that the home's tables refer to is there; the number of rows that refer."""
    ledger, reviews, index, warehouse = stores_of(home)
    rows = warehouse.sql(f"SELECT set_id, answer FROM {TABLE} WHERE set_id LIKE 'set-%'")
    names = [int(set_id.removeprefix("set-")) for set_id in rows.column("set_id").to_pylist()]
    keys = rows.column("answer").to_pylist()
    assert set(ledger.find(keys)) == set(keys) and len(set(keys)) == len(names)
    known = {each.item_id for each in reviews.decisions()}
    assert {decision(name).item_id for name in names} <= known
    assert len(index.entries(f"https://example.org/{name}" for name in names)) == len(names)
    for name in names:
        assert (home / "images" / "00" / f"{name}.png").read_text() == f"{name}"
        assert (home / "releases" / f"r-{name}" / "card.json").is_file()
    # What was recorded of an image has the image, too.
    query = "SELECT image_id FROM fetched WHERE url LIKE 'https://example.org/%'"
    with closing(sqlite3.connect(home / "image_index.sqlite")) as connection:
        recorded = connection.execute(query).fetchall()
    assert all((home / "images" / "00" / f"{name}.png").is_file() for (name,) in recorded)
    return len(names)


def test_a_workspace_is_not_cleaned_while_it_is_backed_up(home, tmp_path, monkeypatch):
    refused = []

    def clean_meanwhile(*_: object) -> list[str]:
        with PROCESSES.Pool(1) as other, pytest.raises(WorkspaceInUse) as error:
            other.apply(clean, (home,), {"everything": True})
        refused.append(str(error.value))
        return []

    monkeypatch.setattr(backup_module, "absent_files", clean_meanwhile)
    back_up(home, tmp_path / "backup")
    assert f"{home} is in use. Stop what runs on it (process {os.getpid()}" in refused[0]
    assert "images" in clean(home, everything=True)[0]


def _back_up_and_die_at(n: int, *arguments: Any) -> None:
    """Back up in this process, which is killed before it copies the n-th file."""
    copy, calls = backup_module._copy, itertools.count(1)

    def dying(*given: Any) -> Any:
        if next(calls) == n:
            os.kill(os.getpid(), signal.SIGKILL)
        return copy(*given)

    backup_module._copy = dying
    back_up(*arguments)


def killed(work: Any, *arguments: Any) -> None:
    child = PROCESSES.Process(target=work, args=arguments)
    child.start()
    child.join(120)
    assert child.exitcode == -signal.SIGKILL


def test_a_killed_backup_leaves_nothing_that_looks_whole(home, tmp_path):
    target = tmp_path / "backups" / "today"
    killed(_back_up_and_die_at, 30, home, target)

    assert not target.exists()
    (left,) = [path for path in target.parent.iterdir() if path.is_dir()]
    with pytest.raises(BackupError, match=f"is not a whole backup, as it has no {MANIFEST}"):
        restore(left, tmp_path / "again")

    back_up(home, target)
    assert [path.name for path in target.parent.iterdir()] == ["today"]
    restore(target, tmp_path / "again")
    assert content(tmp_path / "again") == content(home)


def test_what_another_program_has_beside_a_backup_stays(home, tmp_path):
    """A file that has a draft's name, folders that have nearly one, and a link."""
    others = tmp_path / "backups"
    for name in (".song.partial", ".mail.backing-up", f"mail.backing-up-{'0' * 32}"):
        (others / name).mkdir(parents=True)
    (others / ".video.partial").write_text("on its way")
    (others / f".file.backing-up-{'0' * 32}").write_text("not ours")
    (others / f".link.backing-up-{'0' * 32}").symlink_to(home)
    before = {each.name for each in others.iterdir()}

    back_up(home, others / "today")

    assert {each.name for each in others.iterdir()} == before | {"today"}


def test_of_two_restores_at_once_to_a_new_home_one_is_made(home, backup, tmp_path, monkeypatch):
    begun, put_back = threading.Event(), restore_module._put_back

    def slow(*given: Any) -> None:
        begun.set()
        time.sleep(0.01)
        put_back(*given)

    monkeypatch.setattr(restore_module, "_put_back", slow)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(restore, backup, tmp_path / "again")
        assert begun.wait(60)
        second = pool.submit(restore, backup, tmp_path / "again")
    assert first.result() == (None, [])
    with pytest.raises(BackupError, match=r"again contains a workspace already\. Pass --over"):
        second.result()
    assert content(tmp_path / "again") == content(home)
    assert not list(tmp_path.glob(".*"))


def _back_up_as_a_reader(source: Path, target: Path, said: Any) -> None:
    if os.geteuid() == 0:
        # Root writes where nobody may, unless it gives that power up (version 3 of the call).
        header = (ctypes.c_uint32 * 2)(0x20080522, 0)
        assert ctypes.CDLL(None).capset(header, (ctypes.c_uint32 * 6)()) == 0
    try:
        back_up(source, target)
        said.put("")
    except BackupError as error:
        said.put(str(error))


def back_up_as_a_reader(home: Path, target: Path, unreadable: Path | None = None) -> str:
    """Back up a home in which nothing can be written; what went wrong."""
    everything, said = [home, *home.rglob("*")], PROCESSES.SimpleQueue()
    for each in everything:
        each.chmod(0o555 if each.is_dir() else 0 if each == unreadable else 0o444)
    child = PROCESSES.Process(target=_back_up_as_a_reader, args=(home, target, said))
    try:
        child.start()
        child.join(120)
    finally:
        for each in everything:
            each.chmod(0o755)
    return said.get()


@pytest.mark.parametrize("is_writable", [True, False], ids=["writable", "read only"])
def test_what_killed_writers_left_in_logs_is_in_the_backup(home, tmp_path, is_writable):
    killed(_commit_and_die, home)
    killed(_write_and_die, home / "warehouse.duckdb")
    for log in ("ledger.sqlite-wal", "warehouse.duckdb.wal"):
        assert (home / log).stat().st_size > 0
    backup, again = tmp_path / "backup", tmp_path / "again"

    if is_writable:
        back_up(home, backup)
    else:
        for left in (*home.glob("review.*-???"), *home.glob("*.lock")):
            left.unlink()
        image = next(path for path in (home / "images").rglob("*") if path.is_file())
        said = back_up_as_a_reader(home, backup, unreadable=image)
        assert said.startswith(f"{image} cannot be read (Permission denied): nothing was backed up")
        assert back_up_as_a_reader(home, backup) == ""

    assert not (backup / "ledger.sqlite-wal").exists()
    restore(backup, again)
    with closing(Ledger(again / "ledger.sqlite")) as ledger:
        assert ledger.find([call(7).key])
    rows = Warehouse(again / "warehouse.duckdb").sql("SELECT n FROM main.late")
    assert rows.column("n").to_pylist() == [1]
    assert dump(again / "review.sqlite") == dump(home / "review.sqlite")
    if not is_writable:
        logs = {"warehouse.duckdb.wal", "ledger.sqlite-wal", "ledger.sqlite-shm"}
        assert content(again).keys() == content(home).keys() - logs


def _write_and_die(path: Path) -> None:
    connection = duckdb.connect(str(path))
    connection.execute("CREATE TABLE main.late AS SELECT 1 AS n")
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_home_that_is_there_is_not_written_over_unless_told_so_and_kept_even_then(home, backup):
    before = content(home)
    (home / "reports" / "mmdu.html").write_text("newer")

    with pytest.raises(BackupError, match="contains a workspace already. Pass --overwrite"):
        restore(backup, home)
    assert (home / "reports" / "mmdu.html").read_text() == "newer"

    earlier = restore(backup, home, overwrite=True).earlier

    assert content(home) == before
    assert earlier is not None and earlier.parent == home.parent
    assert (earlier / "reports" / "mmdu.html").read_text() == "newer"


def test_a_workspace_that_a_process_opens_during_the_restore_stays_where_it_is(home, backup):
    before = content(home)
    with ExitStack() as users:

        def use(_draft: Path) -> None:
            file = users.enter_context((home / "ledger.sqlite").open())
            user = users.enter_context(subprocess.Popen(["sleep", "600"], stdin=file))
            users.callback(user.kill)

        with pytest.raises(WorkspaceInUse, match=r"is in use. Stop what runs on it .*sleep 600"):
            restore(backup, home, overwrite=True, before_use=use)
    assert content(home) == before
    assert [path.name for path in home.parent.iterdir() if "before" in path.name] == []
    assert restore(backup, home, overwrite=True).earlier is not None


OTHER_FORM = "is not as it was made, as {name} is missing, a link or of another size"
OTHER_BYTES = "{name} does not have the bytes that were backed up"


@pytest.mark.parametrize(
    ("pattern", "harm", "said"),
    [
        ("ledger.sqlite", "shorter", OTHER_FORM),
        ("ledger.sqlite", "a link", OTHER_FORM),
        ("ledger.sqlite", "another bit", OTHER_BYTES),
        ("images/*/*", "another bit", OTHER_BYTES),
    ],
)
def test_a_backup_that_was_damaged_is_refused(backup, tmp_path, pattern, harm, said):
    path = next(backup.glob(pattern))
    data = path.read_bytes()
    path.rename(tmp_path / "elsewhere")
    if harm == "a link":
        path.symlink_to(tmp_path / "elsewhere")
    else:
        path.write_bytes(data[:-1] + (b"" if harm == "shorter" else bytes([data[-1] ^ 1])))

    with pytest.raises(BackupError, match=said.format(name=path.name)):
        restore(backup, tmp_path / "again")
    assert not (tmp_path / "again").exists() and not list(tmp_path.glob(".*"))


@pytest.mark.parametrize(
    "name",
    [
        "../x", "/x", "x\0", "images/.hidden", "./review.sqlite", "review.sqlite/.", "a//b",
        "review.sqlite-journal", "ledger.sqlite-wal", "dagster/history/runs.db-shm",
        "warehouse.duckdb.wal", "warehouse.duckdb.wal.checkpoint", "warehouse.duckdb.wal.recovery",
    ],
)  # fmt: skip
def test_a_manifest_with_a_file_that_no_backup_has_is_refused_before_a_store_is_opened(
    backup, tmp_path, name
):
    """SQLite would delete any file that a journal names."""
    made = json.loads((backup / MANIFEST).read_text())
    if "\0" not in name and not (backup / name).exists():
        (backup / name).parent.mkdir(parents=True, exist_ok=True)
        (backup / name).write_bytes(b"a journal")
    made["files"][name] = listed(b"a journal")
    (backup / MANIFEST).write_text(json.dumps(made))
    said = f"which has no file {name!r} in a backup: give a backup that it made"
    with pytest.raises(BackupError, match=re.escape(said)):
        restore(backup, tmp_path / "again")
    # Nor is one that is no manifest.
    for text in (b"\xff", b"{}", b'{"made_at": "2026-01-01T00:00:00Z", "files": {}}'):
        (backup / MANIFEST).write_bytes(text)
        with pytest.raises(BackupError, match=f"{MANIFEST} does not list the files of a backup"):
            restore(backup, tmp_path / "again")
    assert not (tmp_path / "again").exists()


def test_budgets_are_neither_backed_up_nor_restored_from_a_backup_that_has_them(home, tmp_path):
    backup = tmp_path / "backup"
    (home / "limits.sqlite").write_bytes((home / "review.sqlite").read_bytes())
    back_up(home, backup)
    assert not (backup / "limits.sqlite").exists()
    (backup / "limits.sqlite").write_bytes(b"an earlier version backed it up")
    trust(backup, "limits.sqlite")
    restore(backup, tmp_path / "again")
    assert content(tmp_path / "again") == content(home)
    assert not (tmp_path / "again" / "limits.sqlite").exists()


def test_what_cannot_be_backed_up_or_restored_is_said_in_one_sentence(
    home, backup, tmp_path, monkeypatch
):
    with pytest.raises(BackupError, match="nothing to back up in .*: set LOOM_WORKSPACE"):
        back_up(tmp_path / "nowhere", tmp_path / "another")
    with pytest.raises(BackupError, match="is inside the workspace"):
        back_up(home, home / "backups" / "today")
    with pytest.raises(BackupError, match="inside the workspace .* move it to another folder"):
        restore(home / "backups" / "today", home, overwrite=True)
    (tmp_path / "there").mkdir()
    with pytest.raises(BackupError, match="is there already"):
        back_up(home, tmp_path / "there")
    # Nothing can be renamed to where a volume is mounted.
    monkeypatch.setattr(Path, "is_mount", lambda path: path.name == "volume")
    (tmp_path / "volume").mkdir()
    with pytest.raises(BackupError, match="volume is a mounted volume.*restore, and copy"):
        restore(backup, tmp_path / "volume")
    assert not list((tmp_path / "volume").iterdir())


def test_a_failure_is_said_in_one_sentence_and_leaves_nothing_behind(home, tmp_path, monkeypatch):
    full = duckdb.IOException("Could not write:\nNo space left on device")
    target = tmp_path / "backups" / "today"
    monkeypatch.setattr(live_copies, "copy_sqlite", Mock(side_effect=full))
    said = (
        f"{home} was not backed up to {target}, as the disk of {target.parent} has too little room "
        "(Could not write:): make room on it"
    )
    with pytest.raises(BackupError, match=re.escape(said)) as refused:
        back_up(home, target)
    assert list(target.parent.iterdir()) == []
    assert exhaustion_message(refused.value) is refused.value, "what a command shows"


def test_dagsters_own_files_are_copied_as_databases(home, tmp_path):
    path = _history(home)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("DELETE FROM events WHERE id > 1")
        connection.commit()
        # Still open, so that the change stands in the log beside the file.
        back_up(home, tmp_path / "backup")

    with closing(sqlite3.connect(tmp_path / "backup" / path.relative_to(home))) as copy:
        assert copy.execute("SELECT id FROM events").fetchall() == [(1,)]


def truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def zero_pages(path: Path) -> None:
    data = path.read_bytes()
    start, page = (12_288, 1 << 18) if path.suffix == ".duckdb" else (0, 4096)
    zeros = bytes(len(data) - start - 2 * page)
    path.write_bytes(data[: start + page] + zeros + data[-page:])


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("ledger.sqlite", zero_pages),
        ("warehouse.duckdb", zero_pages),
        ("review.sqlite", truncate),
        ("dagster/history/runs/index.db", zero_pages),
    ],
)
def test_a_damaged_store_is_named_by_backup_and_restore_and_the_last_good_backup_stays(
    home, tmp_path, name, damage
):
    _history(home)
    good, bad = tmp_path / "backups" / "good", tmp_path / "backups" / "bad"
    back_up(home, good)
    damage(home / name)

    with pytest.raises(UserError, match=re.escape(str(home / name))):
        back_up(home, bad)

    assert [each.name for each in good.parent.iterdir()] == ["good"]
    damage(good / name)
    trust(good, name)
    before = (home / name).read_bytes()
    with pytest.raises(BackupError, match=f"{re.escape(str(good / name))} is damaged"):
        restore(good, home, overwrite=True)
    assert (home / name).read_bytes() == before
    assert not list(tmp_path.glob("home.before-*")) and not list(tmp_path.glob(".*"))


SNAPSHOT = zlib.compress(b'{"__class__": "JobSnapshot"}')
UNREADABLE = [
    ("ledger.sqlite", "calls", "request", "zeroblob(200)"),
    ("review.sqlite", "item_contents", "item", "CAST(x'7BFF7D' AS TEXT)"),
    ("dagster/history/runs.db", "runs", "run_body", "CAST(x'7BFF7D' AS TEXT)"),
    (
        *("dagster/history/runs.db", "snapshots", "snapshot_body"),
        "CAST(substr(snapshot_body, 1, 9) || x'00' || substr(snapshot_body, 11) AS BLOB)",
    ),
]
"""Packed bytes that were changed, and texts that are not UTF-8. SQLite has no checksums."""


@pytest.mark.parametrize(
    ("name", "table", "column", "value"), UNREADABLE, ids=lambda part: part.split("(")[0]
)
def test_a_value_that_cannot_be_read_is_damage_though_its_page_is_whole(
    home, tmp_path, name, table, column, value
):
    _fill_stores(home)
    good = tmp_path / "good"
    back_up(home, good)
    for folder in (home, good):
        run_in(folder / name, f"UPDATE {table} SET {column} = {value}")
    trust(good, name)
    wrong = f"is damaged (row 1 of {table} has a {column} that cannot be read)"

    with pytest.raises(BackupError, match=re.escape(f"{home / name} {wrong}")):
        back_up(home, tmp_path / "bad")
    with pytest.raises(BackupError, match=re.escape(f"{good / name} {wrong}")):
        restore(good, tmp_path / "again")


def _fill_stores(home: Path) -> None:
    """A row in each table that holds JSON or a snapshot; Dagster's as it makes them."""
    run_in(home / "review.sqlite", "INSERT OR REPLACE INTO item_contents VALUES ('a', '{}')")
    path = home / "dagster" / "history" / "runs.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    run_in(
        path,
        "CREATE TABLE runs (run_id VARCHAR(255), run_body TEXT)",
        "INSERT INTO runs VALUES ('r', '{}')",
        "CREATE TABLE snapshots (snapshot_id VARCHAR(255), snapshot_body BLOB)",
        f"INSERT INTO snapshots VALUES ('s', x'{SNAPSHOT.hex()}')",
    )


def _history(home: Path) -> Path:
    """A database of Dagster with some pages."""
    path = home / "dagster" / "history" / "runs" / "index.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    row = f"INSERT INTO events (text) VALUES ('{'x' * 900}')"
    run_in(path, "CREATE TABLE events (id INTEGER PRIMARY KEY, text TEXT)", *[row] * 40)
    return path


def trust(backup: Path, name: str) -> None:
    """Have the manifest list the damaged file, as of a backup that was made without a check."""
    made = json.loads((backup / MANIFEST).read_text())
    made["files"][name] = listed((backup / name).read_bytes())
    (backup / MANIFEST).write_text(json.dumps(made))


def _commit_and_die(home: Path) -> None:
    Ledger(home / "ledger.sqlite").add([call(7)])
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize(
    ("log", "n_lost", "said"),
    [
        ("ledger.sqlite-wal", 1000, r"ledger\.sqlite is damaged .*log"),
        ("warehouse.duckdb.wal", 1, r"warehouse\.duckdb is damaged \(its log"),
    ],
)
def test_a_log_that_lost_commits_is_damage(home, tmp_path, log, n_lost, said):
    killed(_commit_and_die, home)
    killed(_write_and_die, home / "warehouse.duckdb")
    os.truncate(home / log, (home / log).stat().st_size - n_lost)
    for _ in range(2):
        with pytest.raises(BackupError, match=said):
            back_up(home, tmp_path / "backup")
        (home / "ledger.sqlite-shm").unlink(missing_ok=True)


@pytest.mark.parametrize(
    ("name", "todo"),
    [
        (f"{FIRST}/card.json", "copy the file from a backup, or delete it and run vlm-loom run"),
        (f"{FIRST}.llava/llava.json", "rename the folder, to have it written again"),
    ],
)
def test_a_damaged_file_of_a_release_or_export_and_an_image_are_named(home, tmp_path, name, todo):
    export = home / "releases" / f"{FIRST}.llava"
    export.mkdir()
    (export / "llava.json").write_text("[]\n")
    (export / "manifest.json").write_text(json.dumps({"files": {"llava.json": listed(b"[]\n")}}))
    # The tables may have the old hash of a rewritten export, and rows of a deleted one.
    with duckdb.connect(home / "warehouse.duckdb") as warehouse:
        for path in (f"{FIRST}.llava/llava.json", f"{FIRST}.deleted/llava.json"):
            row = [FIRST, path, "old", 3]
            warehouse.execute("INSERT INTO release.exports VALUES (?, ?, ?, ?)", row)
    good = tmp_path / "good"
    back_up(home, good)

    os.truncate(home / "releases" / name, 0)
    said = f"^{home / 'releases' / name} has other content than was written: .* To go on, {todo}"
    with pytest.raises(BackupError, match=said):
        back_up(home, tmp_path / "bad")
    os.truncate(good / "releases" / name, 0)
    trust(good, f"releases/{name}")
    said = f"^{good / 'releases' / name} has other content than was written, and nothing was restor"
    with pytest.raises(BackupError, match=said):
        restore(good, tmp_path / "again")

    assert not (tmp_path / "bad").exists() and not (tmp_path / "again").exists()
    image = next(path for path in (home / "images").rglob("*") if path.is_file())
    image.write_bytes(b"other")
    with pytest.raises(BackupError, match=f"{image.name} is damaged"):
        back_up(home, tmp_path / "bad")


def test_links_out_of_the_home_and_pipes_are_left_out_and_told(home, tmp_path):
    (tmp_path / "secret").write_text("secret")
    (home / "images" / "a").symlink_to(tmp_path / "secret")
    (home / "images" / "zero").symlink_to("/dev/zero")
    os.mkfifo(home / "images" / "pipe")
    # A folder of the home may be on another disk.
    (home / "reports").rename(tmp_path / "disk")
    (home / "reports").symlink_to(tmp_path / "disk")
    made = back_up(home, tmp_path / "backup")
    assert sorted(made.left_out) == ["images/a", "images/pipe", "images/zero"]
    assert (tmp_path / "backup" / "reports" / "mmdu.html").is_file()


def test_a_home_whose_disk_is_full_is_backed_up_with_what_stands_in_its_logs(
    home, tmp_path, monkeypatch
):
    def full(source: Path, target: Path) -> None:
        """As SQLite says that it cannot make the index of a log next to the file."""
        target.touch()
        raise sqlite3.OperationalError("disk I/O error")

    left_open = Ledger(home / "ledger.sqlite")
    left_open.add([call(7)])
    assert (home / "ledger.sqlite-wal").stat().st_size
    wanted = content(home)
    target = tmp_path / "backup"
    monkeypatch.setattr(live_copies, "copy_sqlite", full)
    with pytest.raises(BackupError, match="disk I/O error"):
        back_up(home, target)

    free = shutil.disk_usage(home)._replace(free=0)
    monkeypatch.setattr(live_copies.shutil, "disk_usage", lambda _: free)
    back_up(home, target)

    assert content(home) == wanted, "nothing was written there"
    assert not (target / "ledger.sqlite-wal").exists()
    assert Ledger(target / "ledger.sqlite").find([call(7).key])
    left_open.close()
