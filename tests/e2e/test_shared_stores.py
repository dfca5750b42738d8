"""The main job with its stores in Postgres gives what it gives with files of the home."""

from pathlib import Path

import pytest

from resources.llm.ledger import Ledger
from resources.review.store import ReviewStore
from tests.doubles.servers import PostgresServer
from tests.e2e.running import Run, command, small_demo

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(1200), pytest.mark.nightly]
FILES = ("ledger.sqlite", "limits.sqlite", "review.sqlite", "image_index.sqlite")


def boards(printed: str) -> str:
    """The leaderboards that the main job prints."""
    return printed[printed.index("Leaderboard (") : printed.rindex("Done in ")]


def test_leaderboards_and_calls_are_those_of_files_and_a_dry_run_leaves_the_stores_alone(
    main_job: Run, postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, stores = tmp_path / "home", postgres.database()
    done = small_demo(home, LOOM_STORES=stores)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]

    assert boards(done.stdout) == boards(main_job.output)
    assert not [name for name in FILES if (home / name).exists()]
    tables = main_job.warehouse, Run(home, done.stdout).warehouse
    for table in ("evaluate.ranks", "evaluate.judgments", "release.items"):
        first, second = (warehouse.select(table).to_pylist() for warehouse in tables)
        assert _without_times(first) == _without_times(second) != [], table
    files = {call.key: call.response for call in main_job.ledger}
    review = ReviewStore(main_job.home / "review.sqlite").items()
    monkeypatch.setenv("LOOM_STORES", stores)
    assert {call.key: call.response for call in Ledger(home / "ledger.sqlite")} == files
    store = ReviewStore(home / "review.sqlite")
    assert store.items() == review
    before = store.decided(), store.progress()

    tried = command(home, "dry-run", LOOM_STORES=stores)
    assert tried.returncode == 0, tried.stderr[-3000:]
    assert "no provider is asked" in tried.stdout
    assert (store.decided(), store.progress()) == before
    assert len(Ledger(home / "ledger.sqlite")) == len(files)
    told = command(home, "home", "backup", LOOM_STORES=stores)
    assert "pg_dump" in told.stdout and told.returncode == 0, told.stderr[-3000:]


def _without_times(rows: list[dict]) -> list[str]:
    return sorted(
        str({name: value for name, value in row.items() if not name.endswith(("_at", "run"))})
        for row in rows
    )
