"""Releases as things: their cards, which is current, and evaluating one that is not."""

import json
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from dagster._core.definitions.data_version import DATA_VERSION_TAG

from assets.release.current_releases import pins, version_of_releases
from assets.release.current_releases import unpin as remove_pin
from resources.settings.asset_settings import write_sections
from resources.warehouse import Warehouse
from tests.assets.conftest import CopyWorld
from tests.assets.filled import put
from tests.assets.world import (
    ANY_ASSETS,
    FIRST_SETS,
    FROM_REVIEW_TO_RELEASE,
    Result,
    Row,
    World,
    made,
    metadata,
    sentence,
)

pytestmark = pytest.mark.slow

BASE = "released"

NOBODY = {"review__approved": {"config": {"require": "all"}}}
"""Run config under which nothing is approved before anyone reviewed."""


def card(world: World, release_id: str) -> Row:
    (row,) = world.table("release.releases", release_id=release_id)
    return row


def everything(world: World) -> dict[str, list[Row]]:
    names = ("releases", "current", "items", "turns", "references", "images", "exports")
    return {name: world.rows(f"SELECT * FROM release.{name} ORDER BY ALL") for name in names}


def pin(world: World, release_id: str) -> Result:
    return world.run("pin_release", {"release_pin": {"config": {"release": release_id}}})


def unpin(world: World, name: str) -> Result:
    return world.run("unpin_release", {"release_unpin": {"config": {"name": name}}})


def test_where_nothing_is_approved_nothing_changes_and_one_sentence_says_so(world: World) -> None:
    assert world.release().success  # The folders are written.
    before, folders = everything(world), sorted((world.home / "releases").rglob("*"))

    run = world.run(ANY_ASSETS, NOBODY, assets=FROM_REVIEW_TO_RELEASE)

    assert not run.success
    assert sentence(run) == (
        "Nothing is approved, so nothing is frozen and the current releases stay as they are: "
        "decide on items in review, or let review.approved require less."
    )
    assert everything(world) == before and len(before["current"]) == 2
    assert sorted((world.home / "releases").rglob("*")) == folders
    assert not made(run) & {"release/releases", "release/exports"}


def test_a_kind_without_approved_dialogues_keeps_its_release_in_force(world: World) -> None:
    before = world.current()
    where = "FROM cluster.image_sets AS s WHERE s.set_id = a.set_id AND s.kind = 'instruction'"
    world.remake(
        "review.approved",
        f"SELECT * REPLACE (CASE WHEN EXISTS ({where}) THEN 'pending' ELSE status END AS status) "
        "FROM review.approved AS a",
    )

    run = world.run("release")

    assert run.success
    assert world.current() == before and set(before) == {"mmdu", "mmdu-instruct"}
    told = metadata(run, "release/releases")
    assert told["warning"] == (
        f"No dialogue of kind instruction is approved: {before['mmdu-instruct']} stays current."
    )
    assert told["dagster/row_count"] == 2, "the release that stays current, too"


@dataclass
class Made:
    """Two releases of each name, made in one instance from clusters on."""

    world: World
    first: dict[str, str]
    second: dict[str, str]


@pytest.fixture(scope="module")
def twice(clustered: World, copied: CopyWorld) -> Made:
    """The second release differs in its review policy; the first one's cluster ran with tau 0.7."""
    world = copied(clustered)
    (world.home / "settings.yaml").write_text("cluster: {clusters: {tau: 0.7}}\n")
    assert world.cluster().success
    # A set of each kind is enough.
    world.remake("cluster.image_sets", FIRST_SETS)
    assert world.generate().success
    assert world.release().success
    first = world.current()
    assert world.release("sample", sample_share=0.0).success
    return Made(world, first, world.current())


def test_a_card_says_how_its_release_was_made_and_which_was_current_before(twice: Made) -> None:
    row = card(twice.world, twice.first["mmdu"])
    settings = json.loads(row["settings"])
    assert settings["cluster.clusters"]["tau"] == 0.7
    assert settings["cluster.image_sets"]["benchmark_sizes"] == [3]
    assert settings["review.approved"]["require"] == "none"
    assert {"dialogue.summaries", "dialogue.questions", "dialogue.answers", "rewrite.rewrites"} <= (
        settings.keys()
    )
    versions = [version.split("@")[0] for version in row["prompt_versions"]]
    assert versions == ["mmdu/answers", "mmdu/questions", "mmdu/summary"]
    assert row["writers"] == ["offline-writer"]
    assert row["corpus"] == twice.world.rows("SELECT wit_shard, fingerprint FROM ingest.shards")
    assert row["project_version"]
    for name, release_id in twice.second.items():
        assert release_id != twice.first[name]
        assert card(twice.world, release_id)["parent"] == twice.first[name]
        assert card(twice.world, twice.first[name])["parent"] is None
        second = card(twice.world, release_id)
        assert (second["review_policy"], second["review_share"]) == ("sample", 0.0)
    page = (twice.world.home / "releases" / twice.second["mmdu"] / "README.md").read_text()
    assert f"| Parent | `{twice.first['mmdu']}` |" in page and "| tau | `0.7` |" in page


def licensed(world: World, licence: str) -> None:
    """Let this SQL expression be the licence of each entry's image."""
    world.remake("ingest.entries", f"SELECT * REPLACE ({licence} AS licence) FROM ingest.entries")


def leaving_out(**terms: list[str]) -> Row:
    named = {name.replace("_", "-"): of for name, of in terms.items()}
    return {"release__releases": {"config": {"licences_left_out": named}}}


def test_unknown_and_nd_are_left_out_of_instruction_sets_and_counted(world: World) -> None:
    # One picture of the instruction sets is under ND, and nothing is known of another one.
    pictures = "image_id) FROM cluster.image_sets WHERE kind = 'instruction'"
    licensed(
        world,
        f"CASE image_id WHEN (SELECT min({pictures}) THEN 'CC-BY-ND-4.0' "
        f"WHEN (SELECT max({pictures}) THEN NULL ELSE 'CC-BY-SA-4.0' END",
    )
    run = world.run("release")
    assert run.success
    unknown, with_nd = (
        {
            row["set_id"]
            for row in world.rows(
                "SELECT s.set_id FROM cluster.image_sets AS s JOIN ingest.entries AS e USING "
                f"(entry_id) WHERE s.kind = 'instruction' AND e.licence {licence}"
            )
        }
        for licence in ("IS NULL", "= 'CC-BY-ND-4.0'")
    )
    nd = with_nd - unknown
    assert unknown and nd
    left_out = {"unknown": len(unknown), "ND": len(nd)}
    instruct = card(world, world.current()["mmdu-instruct"])
    counted = json.loads(instruct["licences"])
    assert counted == {"images": {"CC-BY-SA-4.0": instruct["n_images"]}, "left_out": left_out}
    assert instruct["n_items"] == 6 - len(unknown | nd)
    told = metadata(run, "release/releases")
    assert told["mmdu-instruct, left out for a licence: ND"] == len(nd)
    assert told["warning"].startswith(
        f"mmdu-instruct leaves out {len(unknown | nd)} of 6 items for the licence of a picture "
        f"(unknown {len(unknown)}, ND {len(nd)}): state the licence of "
    )
    # Benchmarks leave nothing out unless they are told to.
    assert card(world, world.current()["mmdu"])["n_items"] == 4


@pytest.mark.nightly
def test_where_nothing_is_known_no_release_is_empty_in_silence(world: World) -> None:
    before = world.current()
    licensed(world, "NULL")
    run = world.run("release")
    told = metadata(run, "release/releases")["warning"]
    gone = f"{before['mmdu-instruct']} is no longer current."
    why = "Every item of mmdu-instruct has an image with an excluded licence"
    assert told.startswith(f"{why}: {gone} mmdu-instruct leaves out 6 of 6 items")
    # Its pictures are those that the rule is about.
    now = world.current()
    assert "mmdu-instruct" not in now and now["mmdu"] != before["mmdu"]
    assert card(world, before["mmdu-instruct"])["n_items"] == 6
    images = json.loads(card(world, now["mmdu"])["licences"])["images"]
    assert images == {"unknown": card(world, now["mmdu"])["n_images"]}

    # What the sentence advises.
    assert world.run("release", leaving_out(mmdu_instruct=[])).success
    assert card(world, world.current()["mmdu-instruct"])["n_items"] == 6

    # Where nothing is left of anything the run fails, and nothing of it is current, but for pins.
    pinned = world.current()
    leaving = leaving_out(mmdu=["unknown"], mmdu_instruct=["unknown"])
    leaving["release__releases"]["config"]["pinned"] = {"mmdu": pinned["mmdu"]}
    run = world.run("release", leaving)
    assert sentence(run).startswith(
        f"{why}: {pinned['mmdu-instruct']} is no longer current. mmdu leaves out 4 of 4 items for"
    )
    assert world.current() == {"mmdu": pinned["mmdu"]}


def test_a_pinned_release_stays_in_force_when_another_is_frozen(world: World) -> None:
    first = world.current()
    assert pin(world, first["mmdu"]).success

    run = world.release("sample", sample_share=0.0)

    assert run.success
    now = world.current()
    assert now["mmdu"] == first["mmdu"] and now["mmdu-instruct"] != first["mmdu-instruct"]
    (frozen,) = world.rows(
        "SELECT release_id FROM release.releases WHERE name = 'mmdu' AND release_id <> $r",
        r=first["mmdu"],
    )
    told = metadata(run, "release/releases")
    assert told["warning"] == (
        f"{first['mmdu']} is pinned: {frozen['release_id']} is frozen, but not current."
    )
    assert told["settings"]["pinned"] == {"mmdu": first["mmdu"]}
    # The data version is that of the current releases, too.
    versions = {
        event.asset_key.to_user_string(): event.materialization.tags[DATA_VERSION_TAG]
        for event in run.get_asset_materialization_events()
    }
    version = version_of_releases(world.warehouse).value
    assert versions["release/releases"] == version

    # Without the pin, what is approved comes into force with the next run, and so does the pin of a
    # name that is not built here.
    assert unpin(world, "mmdu").success
    assert world.current() == now
    imported = {"release_id": "other-1", "name": "other", "kind": "benchmark", "origin": "imported"}
    rows = [{**imported, "review_policy": "none"}]
    put(world.warehouse, {"release.releases": rows}, {"release_id": "other-1"})
    world.write_settings({"release": {"releases": {"pinned": {"other": "other-1"}}}})
    assert world.release("sample", sample_share=0.0).success
    assert world.current()["mmdu"] == frozen["release_id"]
    assert world.current()["other"] == "other-1"
    assert version_of_releases(world.warehouse).value != version


def test_the_version_of_the_releases_is_that_of_the_current_ones_too(
    empty_warehouse: Warehouse,
) -> None:
    before = version_of_releases(empty_warehouse)
    put(empty_warehouse, {"release.current": [{"name": "n", "release_id": "r"}]})
    assert version_of_releases(empty_warehouse) != before


def test_two_pins_that_are_removed_at_once_are_both_gone(loom_home: Path, monkeypatch) -> None:
    loom_home.mkdir()
    pinned = "{mmdu: mmdu-1, other: other-1, third: third-1}"
    (loom_home / "settings.yaml").write_text(f"release: {{releases: {{pinned: {pinned}}}}}\n")
    both_have_read = threading.Barrier(2)

    def wait_and_write(*values: Any) -> None:
        with suppress(threading.BrokenBarrierError):
            both_have_read.wait(timeout=0.5)
        write_sections(*values)

    monkeypatch.setitem(remove_pin.__globals__, "write_sections", wait_and_write)
    other = threading.Thread(target=remove_pin, args=("other",))
    other.start()
    remove_pin("mmdu")
    other.join()
    assert pins() == {"third": "third-1"}


def test_a_pin_by_hand_on_what_there_is_not_is_refused_and_changes_nothing(world: World) -> None:
    before = everything(world)
    world.write_settings({"release": {"releases": {"pinned": {"mmdu": "mmdu-0000000000"}}}})
    refused = sentence(world.release("sample", sample_share=0.0))
    assert refused.startswith("There is no release mmdu-0000000000; ") and "mmdu" in refused
    other = world.current()["mmdu-instruct"]
    world.write_settings({"release": {"releases": {"pinned": {"mmdu": other}}}})
    assert sentence(world.release()) == (
        f"{other} is a release of mmdu-instruct and cannot be pinned for mmdu."
    )
    assert everything(world) == before


def test_the_job_compares_a_release_with_its_parent(twice: Made) -> None:
    run = twice.world.run("compare_releases", {"release_diff": {"config": {"release": "mmdu"}}})
    assert run.success
    ids = [twice.first["mmdu"], twice.second["mmdu"]]
    assert twice.world.home.joinpath("reports", "diff", ids[0], f"{ids[1]}.html").is_file()
