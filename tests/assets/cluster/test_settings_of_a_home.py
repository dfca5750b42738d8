"""Settings of a home: every run obeys the file, a run's config is for that run, and both are shown."""

from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from tests.assets.conftest import CopyWorld
from tests.assets.world import Result, Row, World, made, metadata, sentence

pytestmark = pytest.mark.slow

ONLY = "settings of this run only"


@pytest.fixture
def world(clustered: World, copied: CopyWorld, tmp_path: Path) -> World:
    """Clustered at the default tau, 0.75."""
    return copied(clustered, tmp_path)


def cluster(world: World, **config: object) -> Result:
    """A run of `cluster/clusters`, with config where some is given."""
    ops: dict[str, Any] | None = {"cluster__clusters": {"config": config}} if config else None
    return world.run("cluster", ops, assets=dg.AssetSelection.assets(["cluster", "clusters"]))


def shown(run: Result) -> Row:
    assert run.success
    return metadata(run, "cluster/clusters")


def test_a_runs_config_is_for_that_run_and_the_files_value_is_there_again(world: World) -> None:
    world.write_settings({"cluster": {"clusters": {"tau": 0.6}}})
    file = (world.home / "settings.yaml").read_bytes()

    first = shown(cluster(world))
    assert first["mode"] == "reclustered: tau was 0.75 and is 0.6"
    assert first["settings"]["tau"] == 0.6 and ONLY not in first

    run = cluster(world, tau=0.9)
    once = shown(run)
    assert once["mode"] == "reclustered: tau was 0.6 and is 0.9"
    assert (once["settings"]["tau"], once[ONLY]) == (0.9, {"tau": 0.9})
    said = [entry.user_message for entry in world.instance.all_logs(run.run_id)]
    assert "tau is 0.9 in this run only" in said

    again = shown(cluster(world))
    assert again["mode"] == "reclustered: tau was 0.9 and is 0.6"
    assert again["settings"] == first["settings"] and ONLY not in again
    assert (world.home / "settings.yaml").read_bytes() == file


def test_a_file_that_cannot_be_used_is_one_sentence_and_changes_nothing(world: World) -> None:
    before = world.rows("FROM cluster.clusters ORDER BY ALL")
    world.write_settings({"cluster": {"clusters": {"tau": 7}}})
    run = cluster(world)
    assert not run.success
    assert sentence(run) == (
        f"{world.home}/settings.yaml: cluster.clusters.tau is 7, but should be less than or equal to 1."
    )
    assert made(run) == set()
    assert world.rows("FROM cluster.clusters ORDER BY ALL") == before
