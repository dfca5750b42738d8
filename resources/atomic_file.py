"""Atomic writes: a file appears under its name complete or not at all, also after a crash."""

import os
from pathlib import Path
from uuid import uuid4


def write_atomically(target: Path, data: bytes) -> None:
    """Put `data` under `target`, durable on return; an earlier file is replaced in one step."""
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.parent / f".{target.name}.{uuid4().hex}.tmp"
    try:
        with temporary.open("xb") as file:
            file.write(data)
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
