"""Fails a test that leaves something behind: threads, child processes, sockets, files, signal handlers.

What a fixture of a wider scope makes is its own until it ends; then it must be gone. What a test leaves
makes every later test of the worker run under other conditions, and a test that fails for it names
nobody.
"""

import gc
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from pathlib import Path

import pytest

PATIENCE = 5.0
"""Seconds that a thread, a process or a server may take to end after its test."""
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD, signal.SIGUSR1)
LIBRARIES = (
    # One a process, made when it is first needed, kept until the process ends.
    "multiprocessing.resource_tracker",
    "multiprocessing.forkserver",
    # A thread for all progress bars.
    "tqdm_monitor",
    # Files that a library keeps open: matplotlib its own fonts and the system's.
    "/site-packages/",
    "/share/fonts/",
)
"""Names, or parts of names, of what libraries keep for as long as the process lives."""


FREEZE, UNFREEZE = gc.freeze, gc.unfreeze


@dataclass(frozen=True)
class Held:
    """One thing that this process holds; `key` tells it from others of its kind.

    A child's name changes when it begins another program.
    """

    kind: str
    key: object
    name: str = field(compare=False)

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


def held() -> set[Held]:
    """What this process holds now."""
    found = {*_threads(), *_children(), *_files(), *_handlers()}
    return {each for each in found if not any(name in each.name for name in LIBRARIES)}


def _threads() -> Iterable[Held]:
    return (Held("thread", thread.ident, thread.name) for thread in threading.enumerate())


def _children() -> Iterable[Held]:
    for task in Path("/proc/self/task").iterdir():
        try:
            pids = (task / "children").read_text().split()
        except OSError:
            continue  # The thread has ended.
        for pid in pids:
            try:
                command = Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ").strip()
            except OSError:
                continue
            yield Held("process", pid, f"{pid} ({command[:120] or 'ended, not waited for'})")


def _files() -> Iterable[Held]:
    # multiprocessing starts its tracker when it first needs it, and keeps it and its pipe.
    tracker = resource_tracker._resource_tracker._fd
    for descriptor in Path("/proc/self/fd").iterdir():
        if int(descriptor.name) == tracker:
            continue
        try:
            target = str(descriptor.readlink())
            # Connections come and go with the pools of clients; what listens is a server.
            listens = target.startswith("socket:[") and _listens(int(descriptor.name))
        except OSError:
            continue  # The descriptor that the folder itself was listed by, or one closed meanwhile.
        if target.startswith("socket:["):
            if listens:
                yield Held("listening socket", target, target)
        # A pipe's other end is a process, and those are looked for by themselves.
        elif not target.startswith(("/dev/", "/proc/", "anon_inode:", "pipe:")):
            yield Held("open file", (descriptor.name, target), target)


def _listens(descriptor: int) -> bool:
    """Whether a socket is a server's."""
    with closing(socket.socket(fileno=os.dup(descriptor))) as looked_at:
        of_the_internet = looked_at.family in (socket.AF_INET, socket.AF_INET6)
        return of_the_internet and bool(
            looked_at.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
        )


def _handlers() -> Iterable[Held]:
    for number in SIGNALS:
        handler = signal.getsignal(number)
        name = f"of {number.name}: {getattr(handler, '__qualname__', handler)}"
        yield Held("signal handler", (number, handler), name)
    for blocked in signal.pthread_sigmask(signal.SIG_BLOCK, []):
        yield Held("blocked signal", blocked, signal.Signals(blocked).name)


class Leaks:
    """Compares what is held before and after each test and each fixture."""

    def __init__(self) -> None:
        self._before: set[Held] = set()
        self._of_fixtures: dict[object, set[Held]] = {}
        self._file: Path | None = None

    def _left(self, before: set[Held]) -> set[Held]:
        """What is held now and was not before, once it has had its time to end."""
        owned = before.union(*self._of_fixtures.values())
        return _patiently(lambda: held() - owned)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, None, None]:
        if item.path != self._file:
            self._file = item.path
            # What earlier files imported and made is not looked through again by every collection
            # here: with torch and Dagster loaded that takes half a second each time.
            gc.collect()
            FREEZE()
        self._before = held()
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, None, None]:
        yield
        # What fixtures gave to the test would be let go after this hook only.
        getattr(item, "funcargs", {}).clear()
        left = self._left(self._before)
        if left:
            pytest.fail(f"{item.name} leaves {_listed(left)}.", pytrace=False)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[object]
    ) -> Generator[None, object, object]:
        if fixturedef.scope == "function":
            return (yield)
        before = held()
        try:
            return (yield)
        finally:
            # What this one asked for while it was made belongs to the fixture that made it.
            self._of_fixtures[fixturedef] = held() - before.union(*self._of_fixtures.values())

    @pytest.hookimpl
    def pytest_sessionfinish(self) -> None:
        # What is frozen when the interpreter ends, libraries report as leaked.
        gc.freeze, gc.unfreeze = FREEZE, UNFREEZE
        gc.unfreeze()

    @pytest.hookimpl
    def pytest_fixture_post_finalizer(self, fixturedef: pytest.FixtureDef[object]) -> None:
        made = self._of_fixtures.pop(fixturedef, set())
        if made and (left := _patiently(lambda: made & held())):
            pytest.fail(f"The fixture {fixturedef.argname} leaves {_listed(left)}.", pytrace=False)


def _patiently(left: Callable[[], set[Held]]) -> set[Held]:
    """What is left once it has had its time to end."""
    end, pause = time.monotonic() + PATIENCE, 0.0
    while (found := left()) and time.monotonic() < end:
        # A thread's files are closed when it has ended and is collected.
        gc.collect()
        time.sleep(pause)
        pause = 0.02
    return found


def _listed(left: set[Held]) -> str:
    return ", ".join(sorted(map(str, left)))


def pytest_configure(config: pytest.Config) -> None:
    # A stage that asks models freezes what exists and lets all of it go again at its end.
    gc.freeze = gc.unfreeze = lambda: None
    config.pluginmanager.register(Leaks(), "leaks")
