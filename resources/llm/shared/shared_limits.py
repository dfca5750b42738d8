"""What a process shares with others while it asks models; nothing is opened before it is needed.

What belongs here: one open file of locks, one of tables, and what is known of a model under its
endpoint and name. Without them, as for a run's own offline server, limits hold in one process.
"""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from resources.llm.byte_locks import ByteLocks
from resources.llm.ledger import Ledger
from resources.llm.model_spec import ModelSpec
from resources.llm.shared.accounts import Account
from resources.llm.shared.file import LimitsFile
from resources.llm.shared.minute_log import MinuteLog
from resources.llm.shared.places import Places


class SharedLimits:
    """Limits and budgets that processes with the same file at `path` share."""

    def __init__(self, path: Path):
        self.path = path
        self._places: dict[str, Places] = {}

    def places(self, spec: ModelSpec) -> Places | None:
        """The places of a model's requests in flight; None if its server is this process's own."""
        name = _name(spec)
        if name is not None and name not in self._places:
            self._places[name] = Places(self._locks, name, spec.concurrency)
        return None if name is None else self._places[name]

    def minute(self, spec: ModelSpec, units: str, window: float) -> MinuteLog | None:
        """What was taken of a model's limit of `units`; None if its server is this process's own."""
        name = _name(spec)
        return None if name is None else MinuteLog(self._file, f"{name} {units}", window)

    def account(
        self, ledger: Ledger, run: str, ancestors: Sequence[str], *, together: bool
    ) -> Account:
        """The account that a run spends from, as for Account."""
        return Account(self._file, self._locks, ledger, run, ancestors, together=together)

    def close(self) -> None:
        """Release what this process holds."""
        if "_locks" in vars(self):
            self._locks.close()
            del self._locks
        if "_file" in vars(self):
            self._file.close()
            del self._file
        self._places.clear()

    @cached_property
    def _locks(self) -> ByteLocks:
        return ByteLocks(Path(f"{self.path}.flights"))

    @cached_property
    def _file(self) -> LimitsFile:
        return LimitsFile(self.path)


def _name(spec: ModelSpec) -> str | None:
    """What the model is known by in all processes; None where each starts its own server."""
    server = spec.server()
    if server is None:
        return None
    return f"{server.public} {spec.model}"
