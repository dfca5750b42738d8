"""The Ray cluster that receives jobs.

What belongs here: its address, and what the folder of every job has. No connection is opened before a
job is submitted.
"""

from dataclasses import dataclass
from pathlib import Path

from resources.files.atomic import write_atomically


@dataclass(frozen=True)
class RayCluster:
    """A cluster, by the HTTP address of its dashboard, for example http://127.0.0.1:8265."""

    address: str | None


class FolderOfJob:
    """A folder that a job and who submitted it see; why the work cannot be done stands in it."""

    def __init__(self, path: Path):
        self.path = path

    def write_error(self, message: str) -> None:
        """Record why the work cannot be done."""
        write_atomically(self.path / "error.txt", message.encode())

    def take_error(self) -> str | None:
        """Read and delete the recorded error; None if there is none."""
        path = self.path / "error.txt"
        if not path.exists():
            return None
        message = path.read_text()
        path.unlink()
        return message
