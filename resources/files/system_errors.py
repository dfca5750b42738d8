"""Messages for errors of the operating system: disk full, out of memory, too
many open files, no permission.

Each library reports these errors in its own way, often deep in a chain of exceptions. The message names
the disk or limit and the remedy. `assets/common/tables.py` shows it for steps and
`resources/command_line.py` for commands.
"""

import errno
import os
import re
import resource
import shutil
import sys
import tempfile
from pathlib import Path

from methods.errors import with_causes
from resources.files import home
from resources.migrations import StoreError

NOT_ALLOWED = (errno.EACCES, errno.EPERM)
"""Error numbers for missing permission."""
_DISK = (errno.ENOSPC, errno.EDQUOT)
_SIZE = (errno.EFBIG,)
_FILES = (errno.EMFILE, errno.ENFILE)
_MEMORY = (errno.ENOMEM,)
_NUMBERS = (*_DISK, *_SIZE, *_FILES, *_MEMORY)
_STATEMENT = re.compile(r"\n\[SQL: |\n\(Background")
"""What SQLAlchemy appends to the message of a database."""
_OF_POSTGRES = (".DiskFull)", "could not extend file")
"""Of the error of a Postgres server whose disk is full: SQLAlchemy's name, and the server's message."""
_IN_WORDS = {os.strerror(number): number for number in _NUMBERS} | {
    "database or disk is full": errno.ENOSPC,
    **dict.fromkeys(_OF_POSTGRES, errno.ENOSPC),
    "Out of Memory Error": errno.ENOMEM,
    "out of memory": errno.ENOMEM,
    "can't start new thread": errno.ENOMEM,
    "failed to map segment": errno.ENOMEM,
}
"""Error texts of libraries that do not give the error number."""
_OF_SQLITE = ("unable to open database file", "disk I/O error")
"""Messages of SQLite that may have more than one cause."""
_FILES_OF_SQLITE = 16
"""If at most this many files may still be opened, the limit of open files is taken as the cause: SQLite
and other threads may have closed files since the error."""
_LIBRARIES = ("duckdb", "_duckdb", "sqlite3", "sqlalchemy", "pyarrow")
_AGAIN = "and run again; what was stored is kept"
_EXHAUSTION_SENTENCE = re.compile(rf"(The disk of|A file of|This process) .*?{_AGAIN}\.")
"""Finds a message of this module in the text of another error."""
_QUOTED = re.compile(r"""["'](/[^"']+)["']""")


class ResourceExhausted(StoreError):
    """A disk is full, or a limit of the system was reached."""


def exhaustion_message(error: BaseException) -> ResourceExhausted | None:
    """Make the error to show instead of one that an exhausted resource caused; None for other errors.

    Causes and the errors of a group are searched, too.
    """
    for cause in with_causes(error):
        if isinstance(cause, ResourceExhausted):
            return cause
        number = _number(cause)
        if number is not None:
            return ResourceExhausted(_sentence(number, cause))
    return None


def is_full_disk(error: BaseException) -> bool:
    """Tell whether the cause of an error is a full disk or a used-up disk quota."""
    return any(_number(cause) in _DISK for cause in with_causes(error))


def is_out_of_memory(error: BaseException) -> bool:
    """Tell whether the cause of an error is that the process got no more memory."""
    return any(_number(cause) in _MEMORY for cause in with_causes(error))


def is_refused_home(error: BaseException) -> bool:
    """Tell whether the operating system refuses to write to the workspace, or to read from it."""
    if not isinstance(error, OSError):
        return False
    of_home = isinstance(error.filename, str) and Path(error.filename).is_relative_to(home.home())
    return of_home and error.errno in (errno.EROFS, *NOT_ALLOWED)


def refusal_message(error: BaseException) -> StoreError | None:
    """Make the message for an error that `is_refused_home`; None for another one."""
    return (
        refused_by_system(error) if isinstance(error, OSError) and is_refused_home(error) else None
    )


def refused_by_system(error: OSError) -> StoreError:
    """Make the message for an operation in the workspace that the operating system refused.

    It names the file or folder in the workspace that this user may not write, if the error has one.
    """
    if error.errno == errno.EROFS:
        return StoreError(
            f"The workspace {home.home()} cannot be used ({error}): mount its file system for writing, "
            "or set LOOM_WORKSPACE to another folder."
        )
    what = "it a folder"
    if error.errno in NOT_ALLOWED and is_refused_home(error):
        named = Path(str(error.filename))
        part = next(path for path in (named, *named.parents) if os.path.lexists(path))
        if part != home.home():
            what = f"{part} a {'folder' if part.is_dir() else 'file'}"
    return StoreError(
        f"The workspace {home.home()} cannot be used ({error}): make {what} that you may write to, or "
        "set LOOM_WORKSPACE to another folder."
    )


def require_writable(path: Path) -> None:
    """Raise StoreError that names an existing file, or its folder, if this user may not write it."""
    for refused in (path.parent, path):
        if refused.exists() and not os.access(refused, os.W_OK):
            is_read_only = os.statvfs(refused).f_flag & os.ST_RDONLY
            number = errno.EROFS if is_read_only else errno.EACCES
            raise refused_by_system(OSError(number, os.strerror(number), str(refused)))


def _number(error: BaseException) -> int | None:
    """Return the number (`errno`) of an error of an exhausted resource; None for other errors."""
    if isinstance(error, OSError):
        return error.errno if error.errno in _NUMBERS else None
    if isinstance(error, MemoryError):
        return errno.ENOMEM
    of_library = type(error).__module__.partition(".")[0] in _LIBRARIES
    if of_library or isinstance(error, RuntimeError | ImportError):
        return _number_in(str(error))
    return None


def exhaustion_in_text(text: str) -> str | None:
    """Make the message from only the text of an error; None if no resource is exhausted."""
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
    """Guess the limit behind SQLite's message that it cannot open or write a file."""
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
    reason = _STATEMENT.split(str(error))[0]
    reason = " ".join(reason.split()) or type(error).__name__
    if any(words in reason for words in _OF_POSTGRES):
        return f"The disk of the Postgres server is full ({reason}): make room on it {_AGAIN}."
    if number in _DISK:
        full = "is full" if number == errno.ENOSPC else "has no more room for this user"
        path = _path_in(error)
        if path is None and _is_output_full():
            return (
                f"The disk of the standard output {full}, so the output could not be written "
                f"({reason}): make room on it, or send the output elsewhere, {_AGAIN}."
            )
        path = path or _fullest_folder()
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


def _path_in(error: BaseException) -> Path | None:
    """Return the file or folder that the error names; None if it names none."""
    # If an error names two files, as for a copy, the second one was written.
    named = getattr(error, "filename2", None) or getattr(error, "filename", None)
    named = named or next(iter(_QUOTED.findall(str(error))), None)
    return Path(named) if isinstance(named, str) and Path(named).is_absolute() else None


def _is_output_full() -> bool:
    """Tell whether the disk of the standard output is full. It ends the line if it is not."""
    try:
        os.write(sys.stdout.fileno(), b"\n")
    except OSError as error:
        return error.errno in _DISK
    return False


def _fullest_folder() -> Path:
    dagster = Path(os.environ.get("DAGSTER_HOME") or home.home())
    folders = [home.home(), dagster, Path(tempfile.gettempdir())]
    # A folder of the workspace may be on a disk of its own.
    folders += sorted(path for path in home.home().glob("*/") if os.path.ismount(path))
    return min(folders, key=_free)


def _free(path: Path) -> int:
    """Return the free bytes on the disk of a path. The path need not exist."""
    existing = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
    return shutil.disk_usage(existing).free
