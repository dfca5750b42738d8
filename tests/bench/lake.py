"""A lake beside the file: seconds of a small write and of a small read, rows a second, a main job.

Run by `make bench NAME=lake` (`ARGS=--demo` runs the main job on both, too). Postgres and the data
files are on this machine: what a network adds is not in the figures. Each is measured in a process of
its own.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from methods.ids import canonical_json
from methods.json_text import from_json
from resources.files.home import REPO_ROOT
from resources.warehouse import Parquet, Write
from resources.warehouse.configured import warehouse_of_home
from tests.bench.measuring import Row
from tests.doubles.servers import postgres_binaries, running_postgres
from tests.doubles.serving import free_ports
from tests.resources.test_warehouse import TABLE, answers

TIMES, N_ROWS, WRITERS = 20, 500_000, 8


def main() -> None:
    """Measure both, print a table and the figures as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--demo", action="store_true")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        print(canonical_json(_measured()))
        return
    binaries = postgres_binaries()
    assert binaries, "install Debian's package postgresql"
    figures: dict[str, Row] = {}
    with running_postgres(binaries, *free_ports(1)) as server:
        for name in ("file", "lake"):
            with tempfile.TemporaryDirectory() as folder:
                own = {"LOOM_HOME": f"{folder}/home"}
                if name == "lake":
                    own["LOOM_WAREHOUSE"] = f"ducklake:postgres:{server.database()}"
                figures[name] = from_json(
                    _run(own, "tests.bench.lake", "--inside").splitlines()[-1]
                )
                if options.demo:
                    own["LOOM_HOME"] = f"{folder}/demo"
                    if name == "lake":
                        own["LOOM_WAREHOUSE"] = f"ducklake:postgres:{server.database()}"
                    began = time.monotonic()
                    _run(own, "dagster_project.cli", "build")
                    figures[name]["main job (s)"] = round(time.monotonic() - began, 1)
    print(f"{'':36}{'file':>12}{'lake':>12}")
    for what, of_file in figures["file"].items():
        print(f"{what:36}{of_file!s:>12}{figures['lake'][what]!s:>12}")
    print(canonical_json(figures))


def _run(own: dict[str, str], module: str, *arguments: str) -> str:
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(
        command, cwd=REPO_ROOT, env={**os.environ, **own}, stdout=subprocess.PIPE, text=True
    )
    done.check_returncode()
    return done.stdout


def _measured() -> Row:
    warehouse = warehouse_of_home(lambda _: None)
    warehouse.check()
    writes = _seconds(lambda n: warehouse.replace(TABLE, answers("a", 20, f"{n}"), {"set_id": "a"}))
    reads = _seconds(lambda _: warehouse.select(TABLE, set_id="a"))
    joined = _seconds(lambda _: warehouse.read("evaluate/overall"))
    began = time.monotonic()
    with ThreadPoolExecutor(WRITERS) as pool:
        sets = [f"s{number}" for number in range(WRITERS * 5)]
        list(
            pool.map(
                lambda name: warehouse.replace(TABLE, answers(name, 20), {"set_id": name}), sets
            )
        )
    at_once = len(sets) / (time.monotonic() - began)
    with tempfile.TemporaryDirectory() as folder:
        staged = Path(folder, "rows.parquet")
        pq.write_table(pa.concat_tables([answers("many", N_ROWS, "some text " * 10)]), staged)
        began = time.monotonic()
        warehouse.replace_all([Write(TABLE, Parquet([staged]), {"set_id": "many"})])
        written = N_ROWS / (time.monotonic() - began)
        began = time.monotonic()
        read = warehouse.select(TABLE, set_id="many").num_rows / (time.monotonic() - began)
    return {
        "DuckDB": duckdb.__version__,
        "write of 20 rows, median (ms)": round(1000 * statistics.median(writes), 1),
        "read of 20 rows, median (ms)": round(1000 * statistics.median(reads), 1),
        "evaluate/overall, median (ms)": round(1000 * statistics.median(joined), 1),
        f"writes a second, {WRITERS} threads": round(at_once, 1),
        "rows written a second": round(written),
        "rows read a second": round(read),
    }


def _seconds(do: Callable[[int], object]) -> list[float]:
    seconds = []
    for number in range(TIMES):
        began = time.monotonic()
        do(number)
        seconds.append(time.monotonic() - began)
    return seconds


if __name__ == "__main__":
    main()
