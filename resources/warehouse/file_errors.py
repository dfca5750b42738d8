"""Error messages for a DuckDB file that cannot be opened or written, from the text of DuckDB's error.

DuckDB has one error class for all problems of a file. For a file of another DuckDB version, the message
has the command that copies its tables.
"""

import re
import shlex
import sys
import tempfile
from pathlib import Path

from resources.warehouse.duckdb_file import quoted

_HEADER_BYTES = 84
_WRITER = re.compile(rb".{8}DUCK.{40}v(?P<version>[\w.-]+)\0", re.DOTALL)
"""The header of a file: checksum, magic bytes, storage version, flags, version of the library."""
FULL = "No space left on device"
LOG_KEPT = "CHECKPOINT during DETACH failed"
"""Committed transactions are only in the log, which cannot be written into the file."""
_DENIED = "Cannot open file"
CORRUPT = "Corrupt database file"
_DAMAGED = (CORRUPT, "is not a valid DuckDB database file", "Could not read enough bytes from file")
_OTHER_DUCKDB = "Trying to read a database file with version number"


def advice(reason: str, path: Path) -> str:
    """Return the advice for a file that DuckDB cannot open or write.

    Args:
        reason: DuckDB's error on one line.
        path: The file.

    Returns:
        The rest of a sentence that begins with the file's path.
    """
    if FULL in reason or LOG_KEPT in reason:
        return f"cannot be written ({reason}): make room on its disk and run again."
    if _DENIED in reason:
        return f"cannot be opened ({reason}): make it a file that you may read and write."
    if _OTHER_DUCKDB in reason:
        return newer_duckdb_message(path, reason)
    if any(words in reason for words in _DAMAGED):
        return (
            f"is not a DuckDB file, or is damaged ({reason}): restore a backup (vlm-loom workspace "
            "restore), or, to begin with empty tables, move it and any .wal file next to it into "
            "another folder."
        )
    return f"cannot be opened ({reason}): keep the file, end what else uses it, and run again."


def newer_duckdb_message(path: Path, reason: str) -> str:
    """Return the advice for a file of another DuckDB version.

    Args:
        path: The file.
        reason: DuckDB's error on one line.

    Returns:
        The rest of a sentence that begins with the file's path: both versions, the command that copies
        the tables with the version that wrote them, and the new names of both files.
    """
    import duckdb

    ours = duckdb.__version__
    with path.open("rb") as file:
        header = _WRITER.match(file.read(_HEADER_BYTES))
    if header is None:
        return (
            f"was written by another version of DuckDB than {ours}, which does not read it ({reason}): "
            "keep the file, and open it with the version of vlm-loom that wrote it."
        )
    theirs = header["version"].decode()
    packages, copy = f"{tempfile.gettempdir()}/duckdb-{theirs}", f"{path}.{ours}"
    statements = (
        f"ATTACH {quoted(str(path))} AS theirs; ATTACH {quoted(copy)} AS ours (STORAGE_VERSION "
        f"'v{ours}'); COPY FROM DATABASE theirs TO ours"
    )
    install = f"{sys.executable} -m pip install --no-deps --target {packages} duckdb=={theirs}"
    script = f"{sys.executable} -c 'import duckdb, sys; duckdb.execute(sys.argv[1])'"
    names = f"mv {shlex.quote(str(path))} {shlex.quote(f'{path}.{theirs}')}"
    names += f" && mv {shlex.quote(copy)} {shlex.quote(str(path))}"
    return (
        f"was written by DuckDB {theirs}, and DuckDB {ours}, which is installed here, does not read "
        "it. Keep the file, and copy its tables with the version that wrote it, while nothing else "
        f"uses it: {install} && PYTHONPATH={packages} {script} {_in_shell(statements)} && {names}"
    )


def _in_shell(text: str) -> str:
    """Quote a text for a shell; `shlex.quote` would make five characters of each quotation mark."""
    return '"' + re.sub(r'([\\"$`])', r"\\\1", text) + '"'
