"""Licences: from the settings to the entries, the check on them, the release and its attribution."""

import csv
from pathlib import Path

import dagster as dg
import pytest
from PIL import Image

from methods.ids import content_id
from methods.prompts.messages import IMAGE_HERE
from tests.assets.conftest import CopyWorld, MakeWorld
from tests.assets.corpus import Corpus, file_name, sample_rows
from tests.assets.filled import put
from tests.assets.ingesting import ingest_part, table, write_settings
from tests.assets.world import Row, World, check

pytestmark = pytest.mark.slow

# The sample's attributions name a licence.
BALLOONS = [{**row, "caption_attribution_description": "Ada"} for row in sample_rows("balloon")]
LICENCE = {"name": "CC BY-SA 4.0", "url": "https://example.org/by-sa", "artist": "Zoë Ballon"}
COLUMNS = {"licence": "CC-BY-SA-4.0", "licence_url": LICENCE["url"], "artist": LICENCE["artist"]}
LICENSED = ("ingest/entries", "licensed")
NOBODY_KNOWS = dict.fromkeys(COLUMNS)


@pytest.fixture(scope="module")
def prepared(make_world: MakeWorld, tmp_path_factory: pytest.TempPathFactory) -> World:
    """Six entries without a licence. Not to be changed: tests go on from copies."""
    root = tmp_path_factory.mktemp("licences")
    corpus = Corpus(root / "corpus")
    corpus.write_shard("balloons", BALLOONS)
    world = make_world(root, corpus)
    assert ingest_part(world, "balloons", "wit_rows", "pages", "images").success
    return world


@pytest.fixture
def world(prepared: World, copied: CopyWorld, tmp_path: Path) -> World:
    return copied(prepared, tmp_path)


def without_licence(value: str, **settings: object) -> Row:
    """Run config of the entries: what the check does about those without a licence."""
    return {"ingest__entries": {"config": {"without_licence": value, **settings}}}


def licences(rows: list[Row]) -> list[Row]:
    """What the rows say of licences, each different thing once."""
    found = []
    for row in rows:
        said = {name: row[name] for name in COLUMNS}
        found += [said] if said not in found else []
    return found


def test_without_any_licence_the_check_warns_and_nothing_stops(world: World) -> None:
    run = ingest_part(world, "balloons", "entries")
    assert run.success
    result = check(run, *LICENSED)
    assert (result.passed, result.severity) == (False, dg.AssetCheckSeverity.WARN)
    assert result.metadata["without licence"].value == 6
    assert result.description.startswith("6 of 6 entries have no licence of their image, and mmdu-")
    assert licences(table(world, "entries")) == [NOBODY_KNOWS]


@pytest.mark.parametrize(("max_share", "passes"), [(0.0, False), (0.99, False), (1.0, True)])
def test_set_to_error_it_stops_what_follows(world: World, max_share: float, passes: bool) -> None:
    config = without_licence("error", max_share_without_licence=max_share)
    run = ingest_part(world, "balloons", "entries", config=config)
    result = check(run, *LICENSED)
    assert (result.passed, result.severity) == (passes, dg.AssetCheckSeverity.ERROR)
    assert result.blocking
    assert run.success is passes


def test_the_share_is_that_of_each_shard(world: World) -> None:
    """All of one shard have a licence, none of the other: half of all entries, and all of a shard."""
    world.corpus.write_shard("fruit", sample_rows("fruit"))
    assert ingest_part(world, "fruit", "wit_rows", "pages", "images", "entries").success
    config = without_licence("warn", max_share_without_licence=0.9)
    result = check(ingest_part(world, "balloons", "entries", config=config), *LICENSED)
    (known,) = world.rows(
        "SELECT min(licence IS NOT NULL) AS v FROM ingest.entries WHERE wit_shard = 'fruit'"
    )
    assert known["v"] and not result.passed
    assert result.metadata["by shard"].value == ["balloons: 6 of 6"]


def test_the_corpus_s_licence_reaches_entries_release_and_attribution(world: World) -> None:
    write_settings(world.corpus.folder, images={"licence": LICENCE})
    run = ingest_part(world, "balloons", "images", "entries", config=without_licence("error"))
    assert run.success
    assert check(run, *LICENSED).passed
    entries = table(world, "entries")
    assert licences(table(world, "images")) == licences(entries) == [COLUMNS]

    weave_by_hand(world, entries[:2])
    assert world.release().success
    images = world.rows("FROM release.images ORDER BY position")
    assert [row["image_id"] for row in images] == [entry["image_id"] for entry in entries[:2]]
    assert licences(images) == [COLUMNS]
    (listed,) = (world.home / "releases").glob("*/attribution.csv")
    with listed.open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert licences(lines) == [COLUMNS]
    assert {line["title"] for line in lines} == {entry["title"] for entry in entries[:2]}


def test_what_the_picture_says_comes_before_the_corpus_and_its_source_is_kept(
    world: World, make_world: MakeWorld, tmp_path: Path
) -> None:
    corpus = Corpus(tmp_path / "other")
    named, stated, rest = BALLOONS[0], BALLOONS[1], BALLOONS[2]
    by = {**named, "caption_attribution_description": "English: By Ada. Licence: CC BY-NC-ND"}
    corpus.write_shard("balloons", [by, stated, rest])
    exif = Image.Exif()
    exif[0x8298] = "Public domain"
    with Image.open(corpus.images / file_name(stated)) as image:
        image.convert("RGB").save(corpus.images / file_name(stated), exif=exif)
    write_settings(corpus.folder, images={"licence": LICENCE})
    world = make_world(tmp_path / "sources", corpus)

    assert ingest_part(world, "balloons", "wit_rows", "pages", "images", "entries").success

    found = {
        row["title"]: (row["licence"], row["artist"], row["licence_source"])
        for row in table(world, "entries")
    }
    assert found == {
        named["page_title"]: ("LicenseRef-CC-BY-NC-ND", None, "attribution"),
        stated["page_title"]: ("LicenseRef-Public-Domain", None, "file"),
        rest["page_title"]: ("CC-BY-SA-4.0", LICENCE["artist"], "corpus"),
    }


def weave_by_hand(world: World, entries: list[Row]) -> None:
    """A set of these entries and a dialogue on it, as the stages between would have written them."""
    here = {"set_id": content_id("by hand"), "kind": "benchmark"}
    turn = {"question_id": "q", "question": f"{IMAGE_HERE * 2} Which?", "answer": "Both."}
    sets = [{**here, "position": place, **entry} for place, entry in enumerate(entries, start=1)]
    dialogue = {**here, "dialogue_id": "d", "n_images": len(entries), "n_turns": 1, "turns": [turn]}
    dialogue["image_ids"] = [entry["image_id"] for entry in entries]
    put(world.warehouse, {"cluster.image_sets": sets, "dialogue.dialogues": [dialogue]})
