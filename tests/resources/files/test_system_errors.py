"""What ran out, a disk or a limit, is one sentence, whichever library says it and however deep."""

import errno
import os
import resource
import sqlite3
import subprocess
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pytest
import sqlalchemy
from psycopg2.errors import DiskFull

from methods.errors import UserError, with_causes
from resources.files.atomic import open_atomically
from resources.files.system_errors import (
    exhaustion_in_text,
    exhaustion_message,
    is_full_disk,
    is_out_of_memory,
    require_writable,
)
from resources.migrations import StoreError
from resources.settings.packages import package_missing
from tests.doubles.scripts import start


def full(number: int = errno.ENOSPC, path: str | None = None) -> OSError:
    return OSError(number, os.strerror(number), path)


def caused(error: BaseException, cause: BaseException) -> BaseException:
    error.__cause__ = cause
    return error


def sqlite_full() -> sqlite3.Error:
    with sqlite3.connect(":memory:") as connection:
        connection.execute("PRAGMA max_page_count = 1")
        with pytest.raises(sqlite3.OperationalError) as caught:
            connection.execute("CREATE TABLE a AS SELECT zeroblob(100000)")
    return caught.value


def full_file(path: Path) -> OSError:
    """The error of a file that is written in one step, whose disk is full."""
    with pytest.raises(OSError, match="No space left") as caught, open_atomically(path):
        raise full()
    return caught.value


DISK = "The disk of "
ERRORS = {
    "the system": (full(path="/proc/x"), "The disk of /proc/x is full ("),
    "a new file": (full_file(Path("/tmp/loom/x")), "The disk of /tmp/loom/x is full ("),
    "a copy": (
        OSError(errno.ENOSPC, "No space left on device", "/proc/read", None, "/proc/written"),
        "The disk of /proc/written is full (",
    ),
    "a quota": (full(errno.EDQUOT, "/proc/x"), "The disk of /proc/x has no more room"),
    "sqlite": (sqlite_full(), DISK),
    "duckdb": (
        duckdb.IOException('IO Error: Could not write file "/proc/y": No space left on device'),
        "The disk of /proc/y is full (",
    ),
    "sqlalchemy": (sqlalchemy.exc.OperationalError("INSERT", None, sqlite_full()), DISK),
    "postgres": (
        sqlalchemy.exc.OperationalError(
            "INSERT", {"key": "s3cret"}, DiskFull("could not extend file: wrote only 4096 bytes")
        ),
        "The disk of the Postgres server is full ((psycopg2.errors.DiskFull) could not extend "
        "file: wrote only 4096 bytes): make room on it and run again;",
    ),
    "a cause": (caused(ValueError("no"), full()), DISK),
    "a sentence": (caused(UserError("The ledger cannot be used."), full()), DISK),
    "a group": (ExceptionGroup("several", [ValueError("no"), full()]), DISK),
    "file size": (full(errno.EFBIG), "A file of "),
    "files": (full(errno.EMFILE), "This process has too many files open ("),
    "files of duckdb": (
        duckdb.IOException("IO Error: Cannot open file: Too many open files"),
        "This process has too many files open (",
    ),
    "memory": (MemoryError(), "This process got no more memory ("),
    "memory of duckdb": (duckdb.OutOfMemoryException("Out of Memory Error: "), "This process got"),
    "threads": (RuntimeError("can't start new thread"), "This process got no more memory ("),
}


@pytest.mark.parametrize("name", ERRORS)
@pytest.mark.usefixtures("loom_home")
def test_what_ran_out_is_one_sentence_that_says_what_to_do(name: str) -> None:
    error, begins = ERRORS[name]
    message = exhaustion_message(error)
    sentence = str(message)
    assert sentence.startswith(begins) and "\n" not in sentence
    assert sentence.endswith("and run again; what was stored is kept.")
    # A text that has the sentence is not put into another.
    assert exhaustion_in_text(f"dagster.Failure: {sentence}") == sentence
    if begins.startswith(DISK) and name != "postgres":
        assert " bytes free now; " in sentence and "make room on it" in sentence


def test_other_errors_are_left_as_they_are():
    for error in (
        FileNotFoundError(2, "No such file"),
        sqlite3.IntegrityError("UNIQUE constraint failed"),
        UserError("A model's server says: No space left on device."),
        ValueError("No space left on device"),
        duckdb.CatalogException("Catalog Error: no such table"),
    ):
        assert exhaustion_message(error) is None, error


def test_an_error_without_a_path_names_the_fullest_disk_also_that_of_a_folder_in_the_workspace(
    loom_home, monkeypatch
):
    (loom_home / "releases").mkdir(parents=True)
    monkeypatch.setattr("os.path.ismount", lambda path: Path(path).name == "releases")
    monkeypatch.setattr(
        "resources.files.system_errors._free", lambda path: 9 * (path.name != "releases")
    )
    message = str(exhaustion_message(OSError(errno.ENOSPC, "No space left on device")))
    assert message.startswith(f"The disk of {loom_home}/releases is full (0 bytes free now;")


def test_sqlite_near_the_limit_of_open_files_names_that_limit():
    error = sqlite3.OperationalError("unable to open database file")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    n_open = len(list(Path("/dev/fd").iterdir()))
    resource.setrlimit(resource.RLIMIT_NOFILE, (n_open + 8, hard))
    try:
        message = exhaustion_message(error)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert f"too many files open (ulimit -n: {n_open + 8} files; " in str(message)
    assert exhaustion_message(error) is None


@pytest.mark.slow
def test_an_output_on_a_full_disk_is_named(loom_home, monkeypatch):
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    script = "import sys; from dagster_project.__main__ import main; sys.exit(main())"
    with (
        Path("/dev/full").open("w") as full_disk,
        start(script, "--help", stdout=full_disk, stderr=subprocess.PIPE) as command,
    ):
        printed = command.stderr.read()
    assert (command.returncode, printed.count("\n")) == (1, 1)
    assert printed.startswith("The disk of the standard output is full, so the output could")


@pytest.mark.slow
def test_a_command_that_meets_a_limit_says_it_without_a_traceback(loom_home):
    script = """
        import resource, sys
        from dagster_project.cli import main
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
        sys.exit(main(["run", "build"]))
    """
    with start(script, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as command:
        printed = command.stdout.read()
    assert command.returncode
    assert "may write (ulimit -f: 200,000 bytes; " in printed and "Traceback" not in printed


def test_errors_that_cause_each_other_are_looked_at_once() -> None:
    error, other = ValueError("a"), ExceptionGroup("b", [OSError(errno.ENOMEM, "no memory")])
    error.__context__, other.__context__ = other, error
    assert len(list(with_causes(error))) == 3
    assert is_out_of_memory(error) and not is_full_disk(error)
    assert package_missing(error) is None


def test_a_file_system_that_is_mounted_read_only_is_said_and_not_a_lack_of_rights(
    loom_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loom_home.mkdir(exist_ok=True)
    monkeypatch.setattr("os.access", lambda *_: False)
    monkeypatch.setattr("os.statvfs", lambda _: SimpleNamespace(f_flag=os.ST_RDONLY))
    with pytest.raises(StoreError, match="Read-only file system.* mount its file system for"):
        require_writable(loom_home / "ledger.sqlite")
