"""The main job where machines share tables, stores or files makes what it makes with a home's own."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from resources.files.home import REPO_ROOT
from resources.files.object_storage import SharedFiles
from resources.images.store import ImageStore
from resources.llm.ledger import Ledger
from resources.review.store import ReviewStore
from resources.warehouse.declarations import declared_columns
from tests.doubles.servers import PostgresServer
from tests.e2e.running import Run, command, environment, leaderboards, small_demo

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.nightly, pytest.mark.timeout(1800)]

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


STORES = ("ledger.sqlite", "limits.sqlite", "review.sqlite", "image_index.sqlite")


def test_the_main_job_on_a_lake_and_shared_stores_gives_the_same_releases_and_leaderboards(
    main_job: Run, postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, stores = tmp_path / "home", postgres.database()
    settings = {"LOOM_STORES": stores, "LOOM_WAREHOUSE": f"ducklake:postgres:{postgres.database()}"}

    done = small_demo(home, **settings)

    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert not [name for name in ("warehouse.duckdb", *STORES) if (home / name).exists()]
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
    assert leaderboards(done.stdout) == leaderboards(main_job.output)
    shown = command(home, "release", "show", "mmdu", **settings)
    found = re.search(r"vlm-loom sql --as-of (\d+)\.", shown.stdout)
    assert found, shown.stdout + shown.stderr
    merged = command(home, "home", "merge-files", "--days", "0", **settings)
    assert merged.returncode == 0 and "kept for releases" in merged.stdout, merged.stderr
    for as_of, n_rows in ((["--as-of", found[1]], 0), ([], main_job.warehouse.count(SCORES))):
        count = f"SELECT count(*) AS n FROM {SCORES}"
        asked = command(home, "sql", *as_of, count, **settings)
        assert asked.returncode == 0 and f" {n_rows} " in asked.stdout, asked.stdout + asked.stderr

    files = {call.key: call.response for call in main_job.ledger}
    review = ReviewStore(main_job.home / "review.sqlite").items()
    monkeypatch.setenv("LOOM_STORES", stores)
    assert {call.key: call.response for call in Ledger(home / "ledger.sqlite")} == files
    store = ReviewStore(home / "review.sqlite")
    assert store.items() == review
    before = store.decided(), store.progress()
    tried = command(home, "dry-run", **settings)
    assert tried.returncode == 0, tried.stderr[-3000:]
    assert (store.decided(), store.progress()) == before
    assert len(Ledger(home / "ledger.sqlite")) == len(files)


def names(folder: Path) -> set[str]:
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(".")
    }


def test_a_home_without_files_gets_those_of_the_bucket(copied, s3, tmp_path, monkeypatch):
    address = f"s3://{s3.bucket()}/wit"
    settings = {**s3.environment, "LOOM_FILES": address}
    for name, value in s3.environment.items():
        monkeypatch.setenv(name, value)
    shared = SharedFiles(address)
    images = ImageStore(tmp_path / "elsewhere", shared)
    for path in (copied.home / "images").rglob("*.*"):
        images.put(path.read_bytes())
    # A machine that has the tables, and neither pictures nor folders of releases.
    other = tmp_path / "other"
    shutil.copytree(
        copied.home, other, ignore=shutil.ignore_patterns("images", "releases", "reports")
    )
    for home in (copied.home, other):
        for stage in ("release", "evaluate"):
            run = command(home, "run", stage, **settings)
            assert run.returncode == 0, run.stderr + run.stdout
    before, after = names(copied.home / "releases"), names(other / "releases")
    assert after == before
    for name in sorted(before):
        assert (other / "releases" / name).read_bytes() == (
            copied.home / "releases" / name
        ).read_bytes()
    # Pages of the site have their pictures.
    assert names(other / "reports" / "items") == names(copied.home / "reports" / "items")
    assert shared.get("reports/index.html") == (other / "reports" / "index.html").read_bytes()
    assert set(shared.listing("releases")) == before
