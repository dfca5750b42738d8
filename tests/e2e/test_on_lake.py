"""The main job with its tables on a lake makes what it makes with a file, row by row."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from resources.files.home import REPO_ROOT
from resources.warehouse.declarations import declared_columns
from tests.doubles.servers import PostgresServer
from tests.e2e.running import Run, command, environment, small_demo

pytestmark = pytest.mark.slow

SCORES = "evaluate.scores"
TABLES = sorted(table for table in declared_columns() if not table.startswith("ledger."))
OF_THIS_RUN = {"created_at", "created_in", "changed_at", "run_id", "sha256", "fingerprint"}
"""Columns that say when something was made, and hashes of files that say it."""
WRITE_TABLES = """
import sys
from pathlib import Path

import pyarrow.parquet as pq
from resources.warehouse.configured import warehouse_of_home

for table in sys.argv[2:]:
    pq.write_table(warehouse_of_home().select(table), Path(sys.argv[1], f"{table}.parquet"))
"""


def as_texts(rows: list[dict[str, Any]]) -> list[str]:
    """Rows in one order, without what differs from run to run."""
    return sorted(repr([(key, row[key]) for key in row if key not in OF_THIS_RUN]) for row in rows)


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_main_job_on_a_lake_gives_the_same_releases_and_leaderboards(
    main_job: Run, postgres: PostgresServer, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    settings = {"LOOM_WAREHOUSE": f"ducklake:postgres:{postgres.database()}"}

    done = small_demo(home, **settings)

    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert not (home / "warehouse.duckdb").exists()
    subprocess.run(
        [sys.executable, "-c", WRITE_TABLES, tmp_path, *TABLES],
        cwd=REPO_ROOT,
        env=environment(home, **settings),
        check=True,
    )
    differing = {
        table
        for table in TABLES
        if as_texts(main_job.warehouse.select(table).to_pylist())
        != as_texts(pq.read_table(tmp_path / f"{table}.parquet").to_pylist())
    }
    assert differing == set() and len(TABLES) > 100
    shown = command(home, "release", "show", "mmdu", **settings)
    found = re.search(r"vlm-loom sql --as-of (\d+)\.", shown.stdout)
    assert found, shown.stdout + shown.stderr
    merged = command(home, "home", "merge-files", "--days", "0", **settings)
    assert merged.returncode == 0 and "kept for releases" in merged.stdout, merged.stderr
    for as_of, n_rows in ((["--as-of", found[1]], 0), ([], main_job.warehouse.count(SCORES))):
        count = f"SELECT count(*) AS n FROM {SCORES}"
        asked = command(home, "sql", *as_of, count, **settings)
        assert asked.returncode == 0 and f" {n_rows} " in asked.stdout, asked.stdout + asked.stderr
