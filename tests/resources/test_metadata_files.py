"""Metadata files that a user brings: pictures into the store, and one sentence for what is wrong."""

import hashlib
import json
from pathlib import Path

import pytest

from resources.images.store import ImageStore
from resources.metadata_files import MetadataFileError, read_samples
from tests.doubles.one_colour import one_colour


def picture(path: Path, colour: str) -> str:
    """A picture under this path; its id."""
    data = one_colour(colour)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return hashlib.sha256(data).hexdigest()


def task(*samples: dict[str, object], form: str = "image") -> dict[str, object]:
    info = {"TaskName": "person-reid", "TaskDescription": "Find the person."}
    forms = {"Input Format": "images", "Output Format": form}
    return {"Task Info": info | forms, "Samples": list(samples)}


def sample(output: str, *images: str, **more: object) -> dict[str, object]:
    asked = {"Input Image": list(images), "Question": "Who?"}
    return {"Source": "Market-1501", "Input": asked, "Output": output, **more}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "metadata").mkdir()
    return tmp_path / "metadata"


def refused(place: Path, store: ImageStore) -> str:
    with pytest.raises(MetadataFileError) as caught:
        read_samples(place, store)
    return str(caught.value)


def test_paths_become_ids_of_the_store_in_inputs_and_outputs(folder, store):
    ids = {name: picture(folder / "p" / f"{name}.png", name) for name in ("red", "blue", "green")}
    made = sample(
        "p/blue.png", "p/red.png", **{"Wrong Outputs": ["p/green.png"], "Also Right": ["p/red.png"]}
    )
    (folder / "b.json").write_text(json.dumps(task(made)))
    (folder / "a.jsonl").write_text(json.dumps(task(sample("7", "p/red.png"), form="number")))
    (folder / "notes.txt").write_text("not read")

    first, second = read_samples(folder, store)

    assert (first.name, first.number, first.sample.images) == ("a.jsonl", 1, (ids["red"],))
    assert first.sample.output == "7"
    assert second.sample.images == second.sample.also_right == (ids["red"],)
    assert (second.sample.output, second.sample.wrong) == (ids["blue"], (ids["green"],))
    assert all(store.has(each) for each in ids.values())
    assert read_samples(folder / "b.json", store) == [second]


def test_every_picture_that_cannot_be_used_is_named_and_none_is_read_outside(folder, store):
    picture(folder.parent / "secret.png", "red")
    (folder / "text.png").write_text("no picture")
    given = sample("gone.png", "../secret.png", "text.png")
    (folder / "x.json").write_text(json.dumps(task(given)))

    told = refused(folder, store)

    for name in ("gone.png", "../secret.png", "text.png"):
        assert f"its image '{name}' (sample 1) cannot be used: " in told
    assert "its path is absolute or leads out of" in told and not list((store.root).glob("*/*"))


def test_faults_of_a_file_are_told_with_its_name_and_so_is_a_place_without_metadata(folder, store):
    file = folder / "x.json"
    file.write_text(json.dumps(task(sample("", "a.png"))))
    assert refused(file, store) == (
        f"The metadata file {file} cannot be used: task 1, sample 1 has no Output."
    )
    file.write_bytes(b"\xff\xfe\xff")
    assert refused(file, store).startswith(f"The metadata file {file} cannot be used: ")
    (folder / "empty").mkdir()
    (folder / "notes.txt").write_text("{}")
    for name in ("nowhere", "empty", "notes.txt"):
        said = f"{folder / name} is neither a .json or .jsonl file nor a folder with one: set "
        assert refused(folder / name, store).startswith(said)
