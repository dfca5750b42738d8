"""An imported benchmark: under its own name, evaluated like a built one, exported and read back."""

import json
from importlib import import_module
from pathlib import Path

import dagster as dg
import pytest
from PIL import Image

from methods.benchmarks import BENCHMARKS
from resources.files.home import REPO_ROOT
from resources.images.store import ImageStore
from resources.importing.release_import import import_release
from resources.warehouse import Warehouse
from tests.assets.conftest import CopyWorld, MakeWorld
from tests.assets.world import ANY_ASSETS, ASKING, REPORTS, SCORING, Row, World, made, sentence

pytestmark = pytest.mark.slow

EXPORTS = dg.AssetSelection.assets(["release", "exports"])
OWN_BENCHMARK = REPO_ROOT / "docs" / "guides" / "own-benchmark"
COLOURS = {"d1": ("red", "blue"), "d2": ("green", "yellow", "black")}


def dialogue(item_id: str) -> Row:
    """Two turns on pictures of one colour each."""
    colours = COLOURS[item_id]
    shown_first = ", ".join(f"Image{n}: <ImageHere>" for n, _ in enumerate(colours, start=1))
    values = [f"{shown_first}. Which colours are these?", f"They are {' and '.join(colours)}."]
    values += ["What is the colour of <image-1>?", f"<image-1> is {colours[0]}."]
    said = [{"from": ("user", "assistant")[n % 2], "value": text} for n, text in enumerate(values)]
    images = [f"/mmdu_pics/{colour}.png" for colour in colours]
    return {"id": item_id, "image": images, "conversations": said}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two dialogues as the authors publish them."""
    folder = tmp_path / "published"
    (folder / "mmdu_pics").mkdir(parents=True)
    for colours in COLOURS.values():
        for colour in colours:
            Image.new("RGB", (64, 48), colour).save(folder / "mmdu_pics" / f"{colour}.png")
    (folder / "benchmark.json").write_text(json.dumps([dialogue("d1"), dialogue("d2")]))
    return folder


@pytest.fixture
def empty(empty_world: MakeWorld, tmp_path: Path) -> World:
    return empty_world(tmp_path)


def taken(world: World, file: Path, benchmark: str = "mmdu", **config: str | bool) -> str:
    run = world.import_file(benchmark, file, **config)
    assert run.success
    (output,) = [event for event in run.all_events if event.event_type_value == "STEP_OUTPUT"]
    release_id = str(output.step_output_data.metadata["release"].value)
    assert run.output_for_node("release_import").startswith(
        f"Release {release_id} is imported and "
    )
    return release_id


def test_a_picture_whose_file_was_lost_is_named_with_its_release_and_comes_with_the_next_import(
    empty: World, folder: Path
) -> None:
    release_id = taken(empty, folder / "benchmark.json", name="mine")
    shown = empty.rows("SELECT item_id, image_id FROM release.images ORDER BY ALL")[0]
    item, image_id = shown["item_id"], shown["image_id"]
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
    built = world.current()

    release_id = taken(world, folder / "benchmark.json", split="test", language="en")

    # Its name is its own: what was built stays current.
    assert release_id.startswith("mmdu-test-en-")
    assert world.current() == {**built, "mmdu-test-en": release_id}
    # The other release costs nothing here: it is answered in a run of its own.
    world.set_models(evaluate=["careful"])
    run = world.run(ANY_ASSETS, assets=ASKING | SCORING | REPORTS | EXPORTS)
    assert run.success and "evaluate/leaderboard" in made(run)
    scores = world.rows(
        "SELECT DISTINCT release_id, model, n_judged, n_items, n_turns FROM evaluate.scores "
        "WHERE metric = 'Overall Score' AND form = 'judged' AND subset_label = ''"
    )
    assert {row["release_id"] for row in scores} == {release_id, built["mmdu"]}
    counts = {
        row["model"]: (row["n_judged"], row["n_items"], row["n_turns"])
        for row in scores
        if row["release_id"] == release_id
    }
    assert counts == {"careful": (4, 2, 4)}

    # Its report and its folder are made like those of any.
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
    named = [card[name] for name in ("benchmark", "split", "language", "origin", "is_current")]
    assert named == ["mmdu", "test", "en", "imported", True]
    for name in ("dialogues.json", "mmdu.tsv"):
        assert taken(world, made_folder / name, split="test", language="en") == release_id


def test_an_item_that_its_benchmark_cannot_ask_is_named_at_import(empty, folder, monkeypatch):
    monkeypatch.syspath_prepend(str(OWN_BENCHMARK))
    monkeypatch.setitem(BENCHMARKS, "counting", import_module("counting").benchmark)
    file = folder / "questions.jsonl"
    row = {"id": "q1", "question": "How many?", "answer": 1, "images": ["mmdu_pics/red.png"]}
    file.write_text(json.dumps({**row, "kind": "one"}) + "\n")
    assert taken(empty, file, benchmark="counting")

    more = {**row, "id": "q2", "question": "<ImageHere>How many?", "kind": "one"}
    file.write_text(json.dumps(more) + "\n")

    assert sentence(empty.import_file("counting", file)) == (
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
    run = empty.import_file("mmdu", folder / "faulty.json")

    told = run.output_for_node("release_import")
    assert "change nothing: d1, turn 3: material (answer: seventh picture)" in told
    rows = empty.rows("SELECT release_id, quality FROM release.releases")
    counted = {row["release_id"]: json.loads(row["quality"]) for row in rows}
    assert counted.pop(clean) == {"unchecked": 4}
    assert list(counted.values()) == [{"unchecked": 5, "unchecked_material": 1}]
    # What they find would tell an answer that is held out.
    hidden = taken(empty, folder / "faulty.json", split="test", held_out=True)
    (card,) = empty.table("release.releases", release_id=hidden)
    assert "unchecked_material" in card["quality"] and "seventh" not in card["settings"]


def test_held_out_answers_of_a_release_may_be_added_and_do_not_change(empty, folder):
    """The id does not depend on them, so a file with other answers has the same id."""

    def file(answer: str) -> Path:
        path = folder / "held-out.tsv"
        row = f"1\tWhich colour?\tred\tblue\t{answer}\tmmdu_pics/red.png"
        path.write_text(f"index\tquestion\tA\tB\tanswer\timage_path\n{row}\n")
        return path

    given = {"benchmark": "mmbench", "held_out": True}
    first = taken(empty, file(""), **given)
    assert taken(empty, file("A"), **given) == taken(empty, file("A"), **given) == first
    before = empty.table("release.references"), empty.table("release.releases")
    for answer in ("B", ""):
        run = empty.import_file(file=file(answer), **given)
        assert not run.success and " already with other held-out answers" in sentence(run)
        assert (empty.table("release.references"), empty.table("release.releases")) == before
    assert taken(empty, file("B"), name="corrected", **given) != first


def test_another_file_is_another_release_that_comes_into_force_unless_one_is_pinned(empty, folder):
    first = taken(empty, folder / "benchmark.json")
    (folder / "fewer.json").write_text(json.dumps([dialogue("d1")]))

    second = taken(empty, folder / "fewer.json")

    assert second != first and empty.current() == {"mmdu-imported": second}
    (card,) = empty.rows("SELECT parent FROM release.releases WHERE release_id = $r", r=second)
    assert card["parent"] == first
    # The first one again is current again; a pin decides.
    taken(empty, folder / "benchmark.json")
    assert empty.current() == {"mmdu-imported": first}
    assert empty.run("pin_release", {"release_pin": {"config": {"release": second}}}).success
    taken(empty, folder / "benchmark.json")
    assert empty.current() == {"mmdu-imported": second}
    # It is pinned no more once it is retired.
    assert empty.run(
        "retire_release", {"release_retire": {"config": {"name": "mmdu-imported"}}}
    ).success
    taken(empty, folder / "benchmark.json")
    assert empty.current() == {"mmdu-imported": first}


def test_what_cannot_be_imported_is_one_sentence_and_changes_nothing(empty, folder):
    first = taken(empty, folder / "benchmark.json", name="taken")
    before = empty.table("release.releases")
    refused: list[tuple[Row, str]] = [
        ({"benchmark": "../x"}, "There is no benchmark '../x' whose published files"),
        ({"name": "mmdu"}, "mmdu is already the name of other releases"),
        ({"split": "instruct"}, "mmdu-instruct is already the name of other releases"),
        ({"name": "taken", "split": "dev"}, "taken is already the name of other releases"),
        ({"name": "../../x"}, "'../../x' cannot be the name of a release"),
        ({"name": first}, f"{first} is the id of an existing release"),
        ({"images": "/nowhere"}, "/nowhere is not a folder of pictures"),
    ]
    for config, why in refused:
        given = {"benchmark": "mmdu", "file": str(folder / "benchmark.json"), **config}
        run = empty.run("import_release", {"release_import": {"config": given}})

        assert not run.success and sentence(run).startswith(why), config
        assert sentence(run).count("\n") == 0
        assert empty.table("release.releases") == before
