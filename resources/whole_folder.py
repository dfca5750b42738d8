"""Folders that are there whole or not at all.

What belongs here: the draft that becomes the folder, and removing drafts of killed processes. What is
in the folder is the caller's.
"""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from filelock import FileLock


@contextmanager
def drafted(target: Path, purpose: str) -> Iterator[Path]:
    """A folder to fill, which gets the name `target` when the block ends well, and goes otherwise.

    One block of a purpose runs beside `target` at a time, so that the purpose's drafts that stand there
    were left by killed processes: they are removed.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with _turn(target.parent / f".{purpose}.lock"):
        own = re.compile(rf"\..+\.{purpose}-[0-9a-f]{{32}}")
        for each in target.parent.iterdir():
            if own.fullmatch(each.name) and each.is_dir() and not each.is_symlink():
                shutil.rmtree(each)
        draft = target.with_name(f".{target.name}.{purpose}-{uuid4().hex}")
        try:
            draft.mkdir()
            yield draft
            draft.rename(target)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise


@contextmanager
def _turn(path: Path) -> Iterator[None]:
    with FileLock(path):
        try:
            yield
        finally:
            # Who waits for the file that is removed sees that it has no name, and takes another.
            path.unlink(missing_ok=True)
