"""Questions on several images from entries and metadata to a release that is evaluated."""

import json
from collections import Counter
from pathlib import Path

import dagster as dg
import pytest
from PIL import Image

from assets.choice.mmiu_items import LOST
from methods.choice.lettered import LETTERS
from methods.mmiu.derived import DERIVED
from methods.mmiu.unanswerable_tasks import CANNOT
from tests.assets.choice.released import N_DERIVED
from tests.assets.world import ANY_ASSETS, Result, Row, World, sentence

pytestmark = pytest.mark.slow

BASE = "written"

QUESTIONS = dg.AssetSelection.assets(["choice", "mmiu_items"])
TITLE = "multiple-image-captioning"


def mmiu_items(world: World) -> list[Row]:
    return world.table("choice.mmiu_items")


def make(world: World, **settings: object) -> Result:
    world.write_settings({"choice": {"mmiu_items": {"n_derived": N_DERIVED, **settings}}})
    return world.run(ANY_ASSETS, assets=QUESTIONS)


def brought(folder: Path, *outputs: object, form: str = "number") -> str:
    """A metadata file with a picture of its own."""
    folder.mkdir(exist_ok=True)
    Image.new("RGB", (64, 48), "teal").save(folder / "teal.png")
    info = {"TaskName": "point-tracking", "TaskDescription": "Follow a point."}
    info |= {"Input Format": "images", "Output Format": form}
    samples = [
        {
            "Source": "TAP-Vid",
            "Input": {"Input Image": ["teal.png"], "Question": f"Where is point {number}?"},
            "Output": output,
        }
        for number, output in enumerate(outputs)
    ]
    file = folder / "tracking.json"
    file.write_text(json.dumps({"Task Info": info, "Samples": samples}))
    return str(file)


def test_items_are_of_derived_tasks_with_right_keys_and_pictures_that_there_are(written):
    answerable = [row for row in mmiu_items(written) if row["strategy"] is None]
    assert len(answerable) == N_DERIVED
    assert len({row["task"] for row in answerable}) >= 8
    for row in mmiu_items(written):
        assert row["task"] in DERIVED
        assert (row["choices"][LETTERS.index(row["answer"])] == CANNOT) == bool(row["strategy"])
        assert all(written.images.has(image_id) for image_id in row["image_ids"])
    told = written.told("choice/mmiu_items")
    assert told["unanswerable"] == len(mmiu_items(written)) - len(answerable)


def test_every_picture_that_no_page_has_says_what_it_was_made_of(written: World) -> None:
    of_entries = {row["image_id"] for row in written.rows("SELECT image_id FROM ingest.entries")}
    noted = {row["image_id"]: row for row in written.table("choice.mmiu_images")}
    shown = {image_id for row in mmiu_items(written) for image_id in row["image_ids"]}
    assert shown - of_entries == set(noted)
    for row in noted.values():
        assert set(row["made_from"]) <= of_entries and row["change"]


def test_wrong_choices_are_a_models_where_no_rule_makes_any(written: World) -> None:
    by_model = [row for row in mmiu_items(written) if row["call_key"]]
    assert {row["task"] for row in by_model} == {TITLE}
    calls = written.ledger.find([row["call_key"] for row in by_model])
    for row in by_model:
        said = json.loads(calls[row["call_key"]].text)["distractors"]
        right = row["choices"][LETTERS.index(row["answer"])]
        assert sorted(row["choices"]) == sorted([right, *said])
        assert row["prompt_version"].startswith("mmiu/write_distractors@")
    asked = [asked for asked in written.proxy.requests if asked.task == "distractors"]
    assert len(asked) == len(by_model) and all(len(each.images) >= 2 for each in asked)


def test_made_again_nothing_is_asked_and_more_keep_what_there_is(world, written):
    assert make(world).success
    assert mmiu_items(world) == mmiu_items(written)
    assert not [asked for asked in world.proxy.requests if asked.task == "distractors"]
    # Without their letters, two of them would have others.
    assert make(world, n_derived=30).success
    now = {row["item_id"]: row for row in mmiu_items(world)}
    answerable = [row for row in mmiu_items(written) if row["strategy"] is None]
    assert len(now) > len(mmiu_items(written))
    assert [now[row["item_id"]] for row in answerable] == answerable


def test_tasks_the_cap_and_the_unanswerable_set_are_settings(world: World) -> None:
    tasks = ["spot-the-diff", "jigsaw-puzzle-solving"]
    assert make(world, tasks=tasks, n_derived=8, max_per_task=3, unanswerable_per_task=1).success
    counts = Counter((row["task"], row["strategy"] is None) for row in mmiu_items(world))
    assert counts == {
        ("spot-the-diff", True): 3,
        ("jigsaw-puzzle-solving", True): 3,
        ("jigsaw-puzzle-solving", False): 1,
    }


def test_metadata_is_taken_with_its_pictures_and_its_source(world: World, tmp_path: Path) -> None:
    assert make(world, n_derived=0, metadata=brought(tmp_path / "m", "12 px", "30 px")).success
    rows = mmiu_items(world)
    assert {(row["task"], row["set_id"], row["source"], row["form"]) for row in rows} == {
        ("point-tracking", "tracking.json", "TAP-Vid", "number")
    }
    assert len(rows) == 2 and all(len(row["choices"]) == 4 for row in rows)
    (noted,) = world.table("choice.mmiu_images")
    assert (noted["made_from"], noted["source"]) == ([], "TAP-Vid")

    # A sample that gives no question is lost by name.
    samples = brought(tmp_path / "m", "maybe", *["yes"] * 9, form="yes/no")
    assert make(world, n_derived=0, metadata=samples).success
    (row,) = world.table("choice.failed", stage="mmiu_items")
    assert (row["set_id"], row["subject"]) == ("tracking.json", "tracking.json, sample 1")
    assert (row["reason"], row["call_key"]) == ("not_yes_or_no", None)
    assert len(mmiu_items(world)) == 9


def test_where_too_much_is_lost_or_cannot_be_read_the_earlier_ones_stay(world, written, tmp_path):
    for outputs, told in (
        (["maybe"] * 2, "no question could be made (2 not_yes_or_no)."),
        (["maybe", "yes"], "1 of 2 samples were lost (1 not_yes_or_no), and at most 20% may be."),
    ):
        run = make(world, n_derived=0, metadata=brought(tmp_path / "m", *outputs, form="yes/no"))
        assert sentence(run) == f"choice.mmiu_items keeps its earlier rows: {told} {LOST}"
    file = tmp_path / "x.json"
    file.write_text('{"Task Info": {}, "Samples": [{}]}')
    told = sentence(make(world, metadata=str(file)))
    assert told.startswith(f"The metadata file {file} cannot be used: task 1, Task Info has no Tas")
    assert mmiu_items(world) == mmiu_items(written)


def test_items_are_queued_with_all_their_images_and_what_is_known_of_each(written: World) -> None:
    queued = {row["item_id"]: row for row in written.table("review.queue", kind="multiple_choice")}
    for item in mmiu_items(written):
        row = queued[item["item_id"]]
        content, context = json.loads(row["content"]), json.loads(row["context"])
        assert row["image_ids"] == content["image_ids"] == item["image_ids"]
        assert content["choices"] == dict(zip(LETTERS, item["choices"], strict=False))
        assert (content["hint"], content["category"]) == (item["context"], item["task"])
        assert len(context["captions"]) == len(context["page_urls"]) == len(item["image_ids"])
        assert all(context["captions"]) and all(context["page_urls"])


def test_approved_items_are_the_release_mmiu_with_labels_and_attributions(written: World) -> None:
    by_id = {row["item_id"]: row for row in mmiu_items(written)}
    (card,) = written.table("release.releases", name="mmiu")
    assert (card["benchmark"], card["origin"], card["n_items"]) == ("mmiu", "built", len(by_id))
    assert [version.partition("@")[0] for version in card["prompt_versions"]] == [
        "mmiu/write_distractors"
    ]
    for row in written.rows("FROM release.items WHERE release_id LIKE 'mmiu-%'"):
        labels, item = dict(row["labels"]), by_id[row["item_id"]]
        assert labels["task"] == item["task"] and labels["relation"] and labels["images"]
        assert labels["answerable"] == ("no" if item["strategy"] else "yes")
        assert labels.get("strategy") == item["strategy"] and row["group_id"] == item["group_id"]
    pictures = written.rows(
        "SELECT m.*, d.change FROM release.images AS m LEFT JOIN choice.mmiu_images AS d "
        "USING (image_id) WHERE release_id LIKE 'mmiu-%'"
    )
    for picture in pictures:
        assert picture["page_url"] and picture["title"]
        assert (f"(changed: {picture['change']})" in picture["attribution"]) == bool(
            picture["change"]
        )
