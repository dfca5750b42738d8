"""Files that another version of DuckDB wrote: which one, and how this version gets their tables."""

import re
import shlex
import sys
import tempfile
from pathlib import Path

from resources.duckdb_file import quoted

_HEADER_BYTES = 84
_WRITER = re.compile(rb".{8}DUCK.{40}v(?P<version>[\w.-]+)\0", re.DOTALL)
"""The beginning of a file: checksum, mark, version of the storage, flags, version of the library."""


def another_version(path: Path, reason: str) -> str:
    """What to do about a file that this version of DuckDB does not read.

    Args:
        path: The file, which another version of DuckDB wrote.
        reason: What DuckDB says of it, in one line.

    Returns:
        A sentence without its subject: both versions, the command that copies the tables with the
        version that wrote them, and the names that both files get then.
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
        f"ATTACH {quoted(str(path))} AS theirs; "
        f"ATTACH {quoted(copy)} AS ours (STORAGE_VERSION 'v{ours}'); "
        "COPY FROM DATABASE theirs TO ours"
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
    """A text as one word of a shell; `shlex.quote` takes five characters for each quotation mark."""
    return '"' + re.sub(r'([\\"$`])', r"\\\1", text) + '"'
