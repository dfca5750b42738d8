"""One sentence for errors of the operating system, whichever library reports them.

A disk, memory or a limit is exhausted, or the user has no permission. Such an error may be deep in a
chain of errors. The sentence names the disk and the remedy. `assets/common/tables.py` shows it for
steps and `resources/command_line.py` for commands.
"""

import errno
import os
import re
import resource
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from resources.files import home
from resources.migrations import StoreError

NOT_ALLOWED = (errno.EACCES, errno.EPERM)
"""Errors of a file or folder that this user may not write, or not read."""
_DISK = (errno.ENOSPC, errno.EDQUOT)
_SIZE = (errno.EFBIG,)
_FILES = (errno.EMFILE, errno.ENFILE)
_MEMORY = (errno.ENOMEM,)
_NUMBERS = (*_DISK, *_SIZE, *_FILES, *_MEMORY)
_IN_WORDS = {os.strerror(number): number for number in _NUMBERS} | {
    "database or disk is full": errno.ENOSPC,
    "Out of Memory Error": errno.ENOMEM,
    "out of memory": errno.ENOMEM,
    "can't start new thread": errno.ENOMEM,
    "failed to map segment": errno.ENOMEM,
}
"""How libraries say it that keep the number of the error to themselves."""
_OF_SQLITE = ("unable to open database file", "disk I/O error")
"""What SQLite says at more than one limit."""
_FILES_OF_SQLITE = 16
"""Files below the limit at which SQLite may have met it: what it had opened is closed again, and other
threads may have closed some, too."""
_LIBRARIES = ("duckdb", "_duckdb", "sqlite3", "sqlalchemy", "pyarrow")
_AGAIN = "and run again; what was stored is kept"
_EXHAUSTION_SENTENCE = re.compile(rf"(The disk of|A file of|This process) .*?{_AGAIN}\.")
"""The sentence itself, in the text of an error that has it."""
_QUOTED = re.compile(r"""["'](/[^"']+)["']""")


class ResourceExhausted(StoreError):
    """A disk is full, or a limit of the system was reached."""


def exhaustion_message(error: BaseException) -> ResourceExhausted | None:
    """The sentence for an error that, or whose cause, says that something ran out.

    Args:
        error: Any error; its causes and the errors of a group are looked at.

    Returns:
        The error to show instead; None where nothing ran out.
    """
    for cause in _chain(error, set()):
        if isinstance(cause, ResourceExhausted):
            return cause
        number = _number(cause)
        if number is not None:
            return ResourceExhausted(_sentence(number, cause))
    return None


def is_full_disk(error: BaseException) -> bool:
    """Whether an error, or its cause, says that a disk, or a user's share of it, is full."""
    return any(_number(cause) in _DISK for cause in _chain(error, set()))


def is_refused_home(error: BaseException) -> bool:
    """Whether the operating system refuses the home: its disk, or a file or folder in it."""
    if not isinstance(error, OSError):
        return False
    of_home = isinstance(error.filename, str) and Path(error.filename).is_relative_to(home.home())
    return error.errno == errno.EROFS or (error.errno in NOT_ALLOWED and of_home)


def refused_by_system(error: OSError) -> StoreError:
    """The sentence for what the operating system refused in the home."""
    return StoreError(
        f"The workspace {home.home()} cannot be used ({error}): make it a folder that you may write "
        "to, "
        "or set LOOM_WORKSPACE to one."
    )


def _chain(error: BaseException, ids: set[int]) -> Iterator[BaseException]:
    """An error, the errors of its group, and its causes."""
    if id(error) in ids:
        return
    ids.add(id(error))
    yield error
    inner = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    for cause in (*inner, error.__cause__, error.__context__):
        if cause is not None:
            yield from _chain(cause, ids)


def _number(error: BaseException) -> int | None:
    """The number of the system's error; None where nothing ran out."""
    if isinstance(error, OSError):
        return error.errno if error.errno in _NUMBERS else None
    if isinstance(error, MemoryError):
        return errno.ENOMEM
    of_library = type(error).__module__.partition(".")[0] in _LIBRARIES
    if of_library or isinstance(error, RuntimeError | ImportError):
        return _number_in(str(error))
    return None


def exhaustion_in_text(text: str) -> str | None:
    """The sentence for the text of an error that is no more at hand; None where nothing ran out."""
    if match := _EXHAUSTION_SENTENCE.search(text):
        return match[0]
    number = _number_in(text)
    return None if number is None else _sentence(number, OSError(text))


def _number_in(text: str) -> int | None:
    for words, number in _IN_WORDS.items():
        if words in text:
            return number
    return _met_by_sqlite() if any(words in text for words in _OF_SQLITE) else None


def _met_by_sqlite() -> int | None:
    """The limit behind SQLite's message that it cannot open or write a file."""
    try:
        n_open = len(list(Path("/dev/fd").iterdir()))
    except OSError as error:
        return error.errno if error.errno in _FILES else None
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if limit != resource.RLIM_INFINITY and n_open > limit - _FILES_OF_SQLITE:
        return errno.EMFILE
    if resource.getrlimit(resource.RLIMIT_FSIZE)[0] != resource.RLIM_INFINITY:
        return errno.EFBIG
    return errno.ENOSPC if _free(home.home()) < 2**16 else None


def _sentence(number: int, error: BaseException) -> str:
    reason = " ".join(str(error).split("\n(Background")[0].split()) or type(error).__name__
    if number in _DISK:
        path = _disk(error)
        full = "is full" if number == errno.ENOSPC else "has no more room for this user"
        return (
            f"The disk of {path} {full} ({_free(path):,} bytes free now; {reason}): make room on it "
            f"{_AGAIN}."
        )
    if number in _SIZE:
        most = _limit(resource.RLIMIT_FSIZE, "bytes")
        return (
            f"A file of {home.home()} would become larger than this process may write (ulimit -f: "
            f"{most}; {reason}): raise that limit, or use a disk that takes larger files, {_AGAIN}."
        )
    if number in _FILES:
        most = _limit(resource.RLIMIT_NOFILE, "files")
        return (
            f"This process has too many files open (ulimit -n: {most}; {reason}): raise that limit "
            f"{_AGAIN}."
        )
    most = _limit(resource.RLIMIT_AS, "bytes")
    return (
        f"This process got no more memory (ulimit -v: {most}; {reason}): give it more, or stop what "
        f"else uses the machine's memory, {_AGAIN}."
    )


def _limit(kind: int, unit: str) -> str:
    soft = resource.getrlimit(kind)[0]
    return "unlimited" if soft == resource.RLIM_INFINITY else f"{soft:,} {unit}"


def _disk(error: BaseException) -> Path:
    """The file or folder that the error names; otherwise the fullest disk that the project writes
    to.
    """
    # Of two files, as of a copy, the second is written.
    named = getattr(error, "filename2", None) or getattr(error, "filename", None)
    named = named or next(iter(_QUOTED.findall(str(error))), None)
    if isinstance(named, str) and Path(named).is_absolute():
        return Path(named)
    folders = [home.home(), Path(os.environ.get("DAGSTER_HOME") or home.home())]
    return min((*folders, Path(tempfile.gettempdir())), key=_free)


def _free(path: Path) -> int:
    """Bytes that are free on the disk of a path, which may not be there."""
    existing = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
    return shutil.disk_usage(existing).free
