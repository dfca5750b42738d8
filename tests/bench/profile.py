"""Where the time of a demo goes: by part of the code, by stage, and by process.

Run by `make bench NAME=profile`. py-spy looks at the job's process a hundred times a second while a
demo builds and evaluates the sample corpus in a home of its own; a sample counts for the innermost part
that is at work. What the offline server and the embedding model use is CPU time of processes of their
own; the server stands in for a paid API, and what it costs is not the user's. Prints the tables and
writes them to docs/results/profile.md; the last line is all figures as one JSON object.
"""

import json
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import psutil

from methods.markdown import table
from resources.files.home import REPO_ROOT
from tests.e2e.running import CLI, environment

PAGE = REPO_ROOT / "docs" / "results" / "profile.md"
BEGIN, END = "<!-- where the time goes -->\n", "<!-- end of where the time goes -->\n"
RATE = 100
"""Samples a second."""
STAGES = {
    "ingest": "ingest_shards",
    "cluster": "cluster_entries",
    "dialogue, rewrite, choice, quality": "generate_dialogues",
    "review, release": "release_approved",
    "evaluate": "assets/evaluate/",
}
"""What of a stack says that a stage is at work."""
PARTS = (
    ("imports", r"<frozen importlib|importlib/"),
    ("warehouse (DuckDB)", r"duckdb/|resources/(warehouse|duckdb_file)"),
    ("Dagster and its event log", r"dagster/|sqlalchemy/|alembic/"),
    ("HTTP client", r"openai/|httpx2/|httpcore2/|aiohttp/|h11/"),
    ("gateway and ledger", r"resources/llm/|resources/sqlite"),
    ("pictures", r"PIL/|resources/images|methods/ingest/picture"),
    ("numbers (numpy, scipy, scikit-learn)", r"numpy/|scipy/|sklearn/|faiss/"),
    ("pages and plots", r"jinja2/|markupsafe/|matplotlib/|resources/reports"),
    ("our code", r"assets/|methods/|resources/|dagster_project/|review/|extras/"),
)
"""Parts, and the files that a frame of them is in; the first that a frame belongs to counts."""
REST = "Python and the rest"
_FILE = re.compile(r"\((.*?)(?::\d+)?\)$")
_PROCESSES = {
    "resources.embedding.process": "embedding model",
    "resources.offline": "offline server",
}


def main() -> int:
    """Print where the time goes, and write it to the page."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wall, processes = _run(folder)
        samples = list(_samples((folder / "samples.txt").read_text()))
    by = Counter[tuple[str, str]]()
    for stack, n in samples:
        by[_stage(stack), _part(stack)] += n
    stages = [*STAGES, "start, checks, the rest"]
    parts = [name for name, _ in PARTS] + [REST]
    seconds = {part: [by[stage, part] / RATE for stage in stages] for part in parts}
    lines = [
        f"A demo from nothing took {wall:.0f} s while py-spy looked on. Seconds of its main thread:",
        "",
        *table(
            ["", *stages, "all"],
            [
                [part, *(f"{each:.1f}" for each in row), f"{sum(row):.1f}"]
                for part, row in seconds.items()
            ],
        ),
        "",
        "CPU time of its processes: "
        + ", ".join(f"{name} {cpu:.1f} s" for name, cpu in processes.items())
        + ".",
    ]
    print("\n".join(lines))
    text = PAGE.read_text()
    before, _, rest = text.partition(BEGIN)
    PAGE.write_text(before + BEGIN + "\n".join(lines) + "\n" + END + rest.partition(END)[2])
    print(json.dumps({"wall_s": wall, "seconds": seconds, "stages": stages, "cpu_s": processes}))
    return 0


def _run(folder: Path) -> tuple[float, dict[str, float]]:
    """Run a demo under py-spy; its wall time, and the CPU seconds of its processes."""
    command = [
        *("py-spy", "record", "--nonblocking", "--rate", str(RATE), "--format", "raw"),
        *("--output", str(folder / "samples.txt"), "--threads", "--"),
        *(sys.executable, "-m", CLI, "build"),
    ]
    used: dict[int, tuple[str, float]] = {}
    began = time.monotonic()
    with (
        (folder / "demo.log").open("w") as log,
        subprocess.Popen(
            [str(Path(sys.executable).with_name(command[0])), *command[1:]],
            cwd=REPO_ROOT,
            env=environment(folder / "home"),
            stdout=log,
            stderr=subprocess.STDOUT,
        ) as process,
    ):
        while process.poll() is None:
            for child in psutil.Process(process.pid).children(recursive=True):
                try:
                    line = " ".join(child.cmdline())
                    name = next((n for key, n in _PROCESSES.items() if key in line), "the job")
                    times = child.cpu_times()
                    used[child.pid] = name, times.user + times.system
                except psutil.Error:
                    continue
            time.sleep(0.2)
    if process.returncode:
        raise RuntimeError(f"The demo failed:\n{(folder / 'demo.log').read_text()[-3000:]}")
    processes = Counter[str]()
    for name, seconds in used.values():
        processes[name] += seconds
    return time.monotonic() - began, {name: round(cpu, 1) for name, cpu in processes.items()}


def _samples(text: str) -> Iterator[tuple[list[str], int]]:
    """Stacks of the main thread from the outermost frame, and how often each was seen."""
    for line in text.splitlines():
        stack, _, n = line.rpartition(" ")
        if "MainThread" in stack and n.isdigit():
            yield stack.split(";"), int(n)


def _stage(stack: list[str]) -> str:
    said = ";".join(stack)
    return next(
        (stage for stage, sign in STAGES.items() if sign in said), "start, checks, the rest"
    )


def _part(stack: list[str]) -> str:
    files = [found[1] if (found := _FILE.search(frame)) else "" for frame in stack]
    # What an import executes is the import's.
    if any("importlib" in file for file in files):
        return "imports"
    for file in reversed(files):
        for part, pattern in PARTS:
            if re.match(pattern, file):
                return part
    return REST


if __name__ == "__main__":
    sys.exit(main())
