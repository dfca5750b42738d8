"""An imported benchmark: under its own name, evaluated like a built one, exported and read back."""

import io
import json
from importlib import import_module
from pathlib import Path

import pytest
from PIL import Image

from dagster_project.release_texts import release_page
from methods.benchmarks import BENCHMARKS
from resources.files.home import REPO_ROOT
from resources.images.store import ImageStore
from resources.importing.release_import import import_release
from resources.warehouse import Warehouse
from tests.assets.conftest import CopyWorld, MakeWorld
from tests.assets.world import (
    ANY_ASSETS,
    ASKING,
    REPORTS,
    SCORING,
    Result,
    Row,
    World,
    made,
    metadata,
    models_yaml,
    sentence,
)

pytestmark = pytest.mark.slow

OWN_BENCHMARK = REPO_ROOT / "docs" / "guides" / "own-benchmark"
COLOURS = {"d1": ("red", "blue"), "d2": ("green", "yellow", "black")}


def dialogue(item_id: str) -> Row:
    """Two turns on pictures of one colour each."""
    colours = COLOURS[item_id]
    shown_first = ", ".join(f"Image{n}: <ImageHere>" for n, _ in enumerate(colours, start=1))
    values = [f"{shown_first}. Which colours are these?", f"They are {' and '.join(colours)}."]
    values += ["What is the colour of <image-1>?", f"<image-1> is {colours[0]}."]
    return {
        "id": item_id,
        "image": [f"/mmdu_pics/{colour}.png" for colour in colours],
        "conversations": [
            {"from": ("user", "assistant")[n % 2], "value": text} for n, text in enumerate(values)
        ],
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two dialogues as the authors publish them."""
    folder = tmp_path / "published"
    (folder / "mmdu_pics").mkdir(parents=True)
    for colours in COLOURS.values():
        for colour in colours:
            buffer = io.BytesIO()
            Image.new("RGB", (64, 48), colour).save(buffer, "PNG")
            (folder / "mmdu_pics" / f"{colour}.png").write_bytes(buffer.getvalue())
    (folder / "benchmark.json").write_text(json.dumps([dialogue("d1"), dialogue("d2")]))
    return folder


@pytest.fixture
def empty(empty_world: MakeWorld, tmp_path: Path) -> World:
    """A home without anything."""
    return empty_world(tmp_path)


def take(world: World, file: Path, **config: str) -> Result:
    given = {"benchmark": "mmdu", "file": str(file), **config}
    return world.run("import_release", {"release_import": {"config": given}})


def taken(world: World, file: Path, **config: str) -> str:
    """The id of the release that a file is imported as."""
    run = take(world, file, **config)
    assert run.success
    (output,) = [event for event in run.all_events if event.event_type_value == "STEP_OUTPUT"]
    release_id = str(output.step_output_data.metadata["release"].value)
    assert run.output_for_node("release_import").startswith(
        f"Release {release_id} is imported and "
    )
    return release_id


def current(world: World) -> dict[str, str]:
    rows = world.rows("SELECT name, release_id FROM release.current")
    return {row["name"]: row["release_id"] for row in rows}


def count(world: World, release_id: str) -> dict[str, int]:
    """Rows of a release, by table."""
    return {
        table: world.warehouse.count(f"release.{table}", {"release_id": release_id})
        for table in ("items", "turns", "choices", "references", "images")
    }


def test_a_picture_whose_file_was_lost_is_named_with_its_release_and_comes_with_the_next_import(
    empty: World, folder: Path
) -> None:
    release_id = taken(empty, folder / "benchmark.json", name="mine")
    item, image_id = next(
        (row["item_id"], row["image_id"])
        for row in empty.rows("SELECT item_id, image_id FROM release.images ORDER BY ALL")
    )
    file = empty.images.path(image_id)
    file.write_bytes(file.read_bytes()[:9])

    run = empty.run("release")
    assert sentence(run) == (
        f"The folder of release {release_id} was not written, as the file of picture {image_id} of "
        f"{item} is missing or damaged: import mine again (vlm-loom release import)."
    )
    # No answer of the dialogue is made up: it is lost, and the sentence says what to do.
    empty.run(ANY_ASSETS, assets=ASKING)
    [why] = [row["reason"] for row in empty.rows("SELECT reason FROM evaluate.not_made")]
    assert f"on {release_id} (1 no_image, 1 not_asked; no_image of {item}: The" in why
    assert image_id in why
    assert "import its release again (vlm-loom release import)" in why

    assert taken(empty, folder / "benchmark.json", name="mine") == release_id
    assert empty.run("release").success
    assert empty.run(ANY_ASSETS, assets=ASKING).success
    assert empty.rows("SELECT DISTINCT status FROM evaluate.answers") == [{"status": "answered"}]


def test_an_imported_benchmark_is_evaluated_beside_the_built_one_and_read_back(
    released: World, copied: CopyWorld, folder: Path, tmp_path: Path
) -> None:
    world = copied(released, tmp_path)
    built = current(world)

    release_id = taken(world, folder / "benchmark.json", split="test", language="en")

    # Its name is its own: what was built stays current.
    assert release_id.startswith("mmdu-test-en-")
    assert current(world) == {**built, "mmdu-test-en": release_id}
    assert count(world, release_id) == {
        "items": 2,
        "turns": 4,
        "choices": 0,
        "references": 4,
        "images": 5,
    }
    # The other release costs nothing here: it is answered in a run of its own.
    run = world.run(ANY_ASSETS, assets=ASKING | SCORING)
    assert run.success and "evaluate/leaderboard" in made(run)
    scores = world.rows(
        "SELECT DISTINCT model, n_judged, n_items, n_turns, value FROM evaluate.scores "
        "WHERE release_id = $r AND metric = 'Overall Score' AND aggregation = 'micro' "
        "AND form = 'judged' AND subset_label = ''",
        r=release_id,
    )
    by_model = {row.pop("model"): row for row in scores}
    assert by_model.keys() == {"careful", "careless"}
    for row in by_model.values():
        assert (row["n_judged"], row["n_items"], row["n_turns"]) == (4, 2, 4)
        assert 10 <= row["value"] <= 100
    releases = world.rows("SELECT DISTINCT release_id FROM evaluate.scores")
    assert {row["release_id"] for row in releases} == {release_id, built["mmdu"]}

    # Its reports and its folder are made like those of any.
    assert world.run(ANY_ASSETS, assets=REPORTS | _exports()).success
    assert (world.home / "reports" / f"{release_id}.html").exists()
    made_folder = world.home / "releases" / release_id
    again = json.loads((made_folder / "dialogues.json").read_text())
    assert [each["conversations"] for each in again] == [
        dialogue(item_id)["conversations"] for item_id in COLOURS
    ]
    # The folder is the release, in another home; so are the files in it, under the same name.
    other = Warehouse(tmp_path / "other" / "warehouse.duckdb")
    store = ImageStore(tmp_path / "other" / "images")
    assert import_release(made_folder, tmp_path / "other" / "releases", other, store) == release_id
    (card,) = other.read("release/all").to_pylist()
    assert (
        card["benchmark"],
        card["split"],
        card["language"],
        card["origin"],
        card["is_current"],
    ) == ("mmdu", "test", "en", "imported", True)
    for name in ("dialogues.json", "mmdu.tsv"):
        assert taken(world, made_folder / name, split="test", language="en") == release_id


def _exports():
    import dagster as dg

    return dg.AssetSelection.assets(["release", "exports"])


def test_an_item_that_its_benchmark_cannot_ask_is_named_at_import(
    empty: World, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(OWN_BENCHMARK))
    monkeypatch.setitem(BENCHMARKS, "counting", import_module("counting").benchmark)
    file = folder / "questions.jsonl"
    row = {"id": "q1", "question": "How many?", "answer": 1, "images": ["mmdu_pics/red.png"]}
    file.write_text(json.dumps({**row, "kind": "one"}) + "\n")
    assert count(empty, taken(empty, file, benchmark="counting"))["items"] == 1

    more = {**row, "id": "q2", "question": "<ImageHere>How many?", "kind": "one"}
    file.write_text(json.dumps(more) + "\n")

    assert sentence(take(empty, file, benchmark="counting")) == (
        f"{file} cannot be imported: record 'q2' cannot be asked (ValueError: The text has 2 "
        "placeholders for images, but 1 images were given); correct the record, or the benchmark "
        "counting."
    )


def test_what_rules_find_in_an_import_is_told_and_counted(empty: World, folder: Path) -> None:
    clean = taken(empty, folder / "benchmark.json")
    one, other = dialogue("d1"), dialogue("d2")
    one["conversations"] += [
        {"from": "user", "value": "Which colour has <image-1>?"},
        {"from": "assistant", "value": "It is red, as in the seventh picture."},
    ]
    (folder / "faulty.json").write_text(json.dumps([one, other]))
    run = take(empty, folder / "faulty.json")

    told = run.output_for_node("release_import")
    assert "change nothing: d1, turn 3: material (answer: seventh picture)" in told
    rows = empty.rows("SELECT release_id, quality FROM release.releases")
    counted = {row["release_id"]: json.loads(row["quality"]) for row in rows}
    assert counted.pop(clean) == {"unchecked": 4}
    assert list(counted.values()) == [{"unchecked": 5, "unchecked_material": 1}]


def test_another_file_is_another_release_that_comes_into_force_unless_one_is_pinned(
    empty: World, folder: Path
) -> None:
    first = taken(empty, folder / "benchmark.json")
    (folder / "fewer.json").write_text(json.dumps([dialogue("d1")]))

    second = taken(empty, folder / "fewer.json")

    assert second != first and current(empty) == {"mmdu-imported": second}
    (card,) = empty.rows("SELECT parent FROM release.releases WHERE release_id = $r", r=second)
    assert card["parent"] == first
    # The first one again is current again; a pin decides.
    taken(empty, folder / "benchmark.json")
    assert current(empty) == {"mmdu-imported": first}
    assert empty.run("pin_release", {"release_pin": {"config": {"release": second}}}).success
    taken(empty, folder / "benchmark.json")
    assert current(empty) == {"mmdu-imported": second}
    # It is pinned no more once it is retired.
    assert empty.run(
        "retire_release", {"release_retire": {"config": {"name": "mmdu-imported"}}}
    ).success
    taken(empty, folder / "benchmark.json")
    assert current(empty) == {"mmdu-imported": first}


@pytest.mark.nightly
def test_what_an_import_shares_costs_the_instruction_set_a_pair_or_is_named_to_be_taken_out(
    released: World, copied: CopyWorld, folder: Path, tmp_path: Path
) -> None:
    world = copied(released, tmp_path)
    learned = current(world)["mmdu-instruct"]
    (pair,) = world.rows(
        "SELECT item_id, turn, reference FROM release.references WHERE release_id = $r "
        "ORDER BY length(reference) DESC LIMIT 1",
        r=learned,
    )
    leaked = dialogue("d2")
    leaked["conversations"][3]["value"] = pair["reference"]
    file = folder / "benchmark.json"
    file.write_text(json.dumps([dialogue("d1"), leaked]))
    imported = taken(world, file)

    # An instruction set that is pinned cannot lose the pair: the row is named, and the advice works.
    assert world.run("pin_release", {"release_pin": {"config": {"release": learned}}}).success
    refused = world.release()
    assert not refused.success
    assert f"Nothing is frozen: {learned}, which is pinned, has answers (1)" in sentence(refused)
    assert f"{imported}, of item d2: take d2 out of benchmark.json" in sentence(refused)

    # One that is made again is without the pair.
    assert world.run(
        "unpin_release", {"release_unpin": {"config": {"name": "mmdu-instruct"}}}
    ).success
    assert world.release().success
    lost = world.rows("FROM release.overlaps")
    # Other answers about the same pictures say the same, too.
    assert {(row["name"], row["item_id"], row["kind"]) for row in lost} == {
        ("mmdu-instruct", pair["item_id"], "answer")
    }
    assert pair["turn"] in {row["turn"] for row in lost}
    assert {(row["other_release_id"], row["other_item_id"]) for row in lost} == {(imported, "d2")}
    assert current(world)["mmdu-instruct"] != learned
    assert f"| Left out as shared | `pairs {len(lost)}" in release_page(
        world.warehouse, "mmdu-instruct"
    )


@pytest.mark.parametrize(
    ("config", "why"),
    [
        ({"benchmark": "mmbench2"}, "There is no benchmark 'mmbench2' whose published files"),
        ({"benchmark": "../x"}, "There is no benchmark '../x' whose published files"),
        ({"name": "mmdu"}, "mmdu is already the name of other releases"),
        ({"split": "instruct"}, "mmdu-instruct is already the name of other releases"),
        ({"name": "taken", "split": "dev"}, "taken is already the name of other releases"),
        ({"name": "../../x"}, "'../../x' cannot be the name of a release"),
        ({"name": "A B"}, "'A B' cannot be the name of a release"),
        ({"images": "/nowhere"}, "/nowhere is not a folder of pictures"),
    ],
)
def test_what_cannot_be_imported_is_one_sentence_and_changes_nothing(
    config: dict[str, str], why: str, empty: World, folder: Path
) -> None:
    taken(empty, folder / "benchmark.json", name="taken")
    before = empty.rows("FROM release.releases")

    run = take(empty, folder / "benchmark.json", **config)

    assert not run.success and sentence(run).startswith(why)
    assert sentence(run).count("\n") == 0
    assert empty.rows("FROM release.releases") == before


def test_the_id_of_a_release_is_no_name_of_another_one(empty: World, folder: Path) -> None:
    first = taken(empty, folder / "benchmark.json")
    run = take(empty, folder / "benchmark.json", name=first)
    assert sentence(run).startswith(f"{first} is the id of an existing release")
    assert current(empty) == {"mmdu-imported": first}


def test_who_only_evaluates_needs_no_writer_review_or_ingestion(empty: World, folder: Path) -> None:
    models = models_yaml(empty.proxy.base_url)
    del models["profiles"]["test"]["writer"]
    empty.write_models(models)
    release_id = taken(empty, folder / "benchmark.json")

    # The job that exports what was built exports what was imported, and freezes nothing.
    exported = empty.run("release")
    assert exported.success
    assert metadata(exported, "release/releases")["note"].startswith("Nothing is built here")
    files = {path.name for path in (empty.home / "releases" / release_id).iterdir()}
    assert {"dialogues.json", "mmdu.tsv", "tables.json", "images"} <= files
    evaluated = empty.run("evaluate")
    assert evaluated.success, sentence(evaluated)
    assert {row["model"] for row in empty.rows("FROM evaluate.leaderboard")} == {
        "careful",
        "careless",
    }
