"""Atomic writes: a file or folder appears under its name complete or not at all, also after a crash."""

import errno
import logging
import math
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from uuid import uuid4

from filelock import FileLock

from resources.files.waiting import TimedWait

SAID_AFTER, SAID_EVERY = 5.0, 300.0
"""Seconds until a wait for a lock is logged, and between later log messages."""
_LOG = logging.getLogger(__name__)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Give an OSError without a file name, such as that of a full disk, the name of the path."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            error.filename = str(path)
        raise


@contextmanager
def draft_folder(target: Path, purpose: str) -> Iterator[Path]:
    """Create a draft folder to fill. It is renamed to `target` if the block
    succeeds, and removed otherwise.

    Only one block for each purpose runs next to `target` at a time. Existing drafts of the same purpose
    were left by killed processes, and are removed.

    Args:
        target: The folder's final path.
        purpose: What the folder is for; part of the draft's name.

    Yields:
        The empty draft folder.
    """
    with hold_lock(target.parent / f".{purpose}.lock"):
        own = re.compile(rf"\..+\.{purpose}-[0-9a-f]{{32}}")
        for path in target.parent.iterdir():
            if own.fullmatch(path.name) and path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
        draft = target.with_name(f".{target.name}.{purpose}-{uuid4().hex}")
        try:
            with _named(target):
                draft.mkdir()
                yield draft
                draft.rename(target)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise


@contextmanager
def hold_lock(path: Path) -> Iterator[None]:
    """Hold the lock of a file in the block; other threads and processes wait for it, and log it.

    The file exists only while somebody holds the lock.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # Fails at once if no file can be created here; waiting for the lock would never end.
    path.touch()
    lock = FileLock(path)
    waiting = TimedWait(math.inf, _LOG.warning, SAID_AFTER, SAID_EVERY)
    waiting.acquire(lock, f"another process of vlm-loom holds {path}")
    try:
        yield
    finally:
        try:
            # Processes that wait for the removed file notice that it has no name, and lock a new one.
            path.unlink(missing_ok=True)
        finally:
            lock.release()


@contextmanager
def open_atomically(target: Path) -> Iterator[IO[bytes]]:
    """Open a temporary file, which becomes `target`, durably, when the block succeeds.

    An earlier file is replaced in one step. If the block fails, the temporary file is removed.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.parent / f".{target.name}.{uuid4().hex}.tmp"
    try:
        with _named(target), temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    # The rename itself is durable only once the folder is.
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def write_new(target: Path, data: bytes) -> None:
    """Write a file that does not exist yet, in one step.

    Args:
        target: The file.
        data: Its content.

    Raises:
        FileExistsError: The file exists.
    """
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
    write_atomically(target, data)


def write_atomically(target: Path, data: bytes) -> None:
    """Write a file in one step, durable on return: readers see the earlier content or the new one.

    Args:
        target: The file.
        data: Its new content.
    """
    with open_atomically(target) as file:
        file.write(data)
