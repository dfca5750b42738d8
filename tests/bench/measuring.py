"""What benches share: numbers from texts, time and memory, figures of other processes, tables."""

import argparse
import asyncio
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from methods.markdown import table
from resources.files.home import REPO_ROOT

Row = dict[str, Any]
DATA = REPO_ROOT.parent / "shared" / "data"
LOOPBACK = {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}


def chance(*of: str) -> float:
    """A number from 0 to 1 that follows from texts."""
    return int(hashlib.sha256("\n".join(of).encode()).hexdigest()[:8], 16) / 2**32


def peak_mib() -> int:
    """The most memory that this process has had, or since the last stage began."""
    # Not getrusage, which nothing sets back.
    status = Path("/proc/self/status").read_text()
    return round(int(status.split("VmHWM:")[1].split()[0]) / 1024)


@contextmanager
def stage(stages: dict[str, Row], name: str) -> Iterator[None]:
    """Adds to `stages` what the block took, and the most memory that the process had meanwhile."""
    Path("/proc/self/clear_refs").write_text("5")
    wall, cpu = time.monotonic(), time.process_time()
    yield
    stages[name] = {
        "wall_s": round(time.monotonic() - wall, 3),
        "cpu_s": round(time.process_time() - cpu, 3),
        "peak_mib": peak_mib(),
    }


# --- Processes -----------------------------------------------------------------------------------


@contextmanager
def served(module: str, *arguments: str) -> Iterator["subprocess.Popen[str]"]:
    """The process of a server, `module serve arguments`: it prints its address and ends with its
    standard input."""
    command = [sys.executable, "-m", module, "serve", *arguments]
    with subprocess.Popen(
        command, cwd=REPO_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin
        try:
            yield process
        finally:
            process.stdin.close()


def serve_api(api: Any) -> None:
    """Serve a stand-in of an API until standard input is closed; its address is printed."""

    async def run() -> None:
        print(await api.listen(), flush=True)
        await asyncio.to_thread(sys.stdin.read)

    asyncio.run(run())


def is_part(**parts: Callable[..., Row | None]) -> bool:
    """Run the part of a bench that the command line names, if it names one, and print its figures."""
    part = parts.get("".join(sys.argv[1:2]))
    figures = part(*sys.argv[2:]) if part else None
    if figures is not None:
        print(json.dumps(figures))
    return part is not None


def options(bench: str | None, **defaults: int) -> argparse.Namespace:
    """The options of a bench, which are numbers."""
    parser = argparse.ArgumentParser(description=bench)
    for name, default in defaults.items():
        parser.add_argument(f"--{name.replace('_', '-')}", default=default, type=int)
    return parser.parse_args()


def address_of(server: "subprocess.Popen[str]") -> str:
    assert server.stdout
    return server.stdout.readline().strip()


def figures_of(
    module: str, *arguments: object, stderr: int | None = None, **environment: str
) -> Row:
    """The figures that `module measure arguments` prints last, from a process of its own."""
    words = [str(argument) for argument in arguments]
    print(f"{module.rpartition('.')[2]} {' '.join(words)} ...", file=sys.stderr)
    done = subprocess.run(
        [sys.executable, "-m", module, "measure", *words],
        cwd=REPO_ROOT,
        env={**os.environ, **LOOPBACK, **environment},
        check=True,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
    )
    figures: Row = json.loads(done.stdout.splitlines()[-1])
    return figures


def in_a_fresh_home(module: str, *arguments: object) -> Row:
    """The same with a home that is thrown away."""
    with tempfile.TemporaryDirectory() as folder:
        home = {"LOOM_WORKSPACE": f"{folder}/home", "LOOM_MODELS": f"{folder}/models.yaml"}
        # Dagster's log would hide all else.
        return figures_of(module, *arguments, stderr=subprocess.DEVNULL, **home)


def best_of(ways: Sequence[str], rounds: int, measured: Callable[[str], Row]) -> dict[str, Row]:
    """The fastest round of each way, which take turns, and the most memory of all rounds."""
    runs = [{way: measured(way) for way in ways} for _ in range(rounds)]
    best = {way: min((run[way] for run in runs), key=lambda row: row["wall_s"]) for way in ways}
    for way in ways:
        best[way]["all_wall_s"] = [run[way]["wall_s"] for run in runs]
        best[way]["peak_mib"] = max(run[way]["peak_mib"] for run in runs)
    return best


# --- Tables --------------------------------------------------------------------------------------


def print_table(title: str, rows: Mapping[str, Row], figures: Sequence[str]) -> None:
    """Print the named figures of rows by name; one that a row does not have stays empty."""
    lines = [[name, *(_cell(row.get(figure)) for figure in figures)] for name, row in rows.items()]
    print(f"\n{title}\n", *table(["", *figures], lines), sep="\n")


def _cell(figure: object) -> str:
    if isinstance(figure, float):
        return f"{figure:,.3f}"
    if isinstance(figure, int) and not isinstance(figure, bool):
        return f"{figure:,}"
    return "" if figure is None else str(figure)
