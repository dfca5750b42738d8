"""What stands in a folder, for tests that compare two."""

from pathlib import Path


def everything(folder: Path) -> dict[str, bytes]:
    """The bytes of every file below a folder, by its relative path; hidden files, too."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
