"""The check `no_overlap`: a planted overlap of each kind fails it, and stops what follows."""

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from PIL import Image, ImageDraw, ImageOps

from assets.common.tables import rows_to_arrow
from assets.release.in_force import ReleaseError
from assets.release.overlap import require_no_overlap, shared_in_force
from dagster_project.definitions import defs
from resources.images.store import ImageStore
from resources.warehouse import Warehouse

RELEASES = {"mmdu-1": "benchmark", "mmdu-instruct-1": "instruction"}
ANSWER = (
    "The mill stands on a brick base of eight sides, its cap turns on an iron ring, and the sails are "
    "of wood with red shutters."
)
NOTHING = {
    "pages": 0,
    "images": 0,
    "near-duplicate images": 0,
    "questions with their answers": 0,
    "answers": 0,
    "forms of words with other answers": 0,
    "answers in the same phrases": 0,
}


def picture(shape: str, quality: int = 90, *, mirrored: bool = False) -> bytes:
    drawn = Image.new("RGB", (160, 120), "white")
    draw = ImageDraw.Draw(drawn)
    if shape == "mill":
        draw.polygon([(20, 110), (80, 10), (140, 110)], fill="navy")
        draw.rectangle((15, 15, 45, 40), fill="orange")
    else:
        draw.ellipse((10, 40, 70, 100), fill="darkred")
        draw.rectangle((90, 5, 150, 60), fill="black")
    if mirrored:
        drawn = ImageOps.mirror(drawn)
    buffer = io.BytesIO()
    drawn.save(buffer, "JPEG", quality=quality)
    return buffer.getvalue()


ANSWERS = ("answers", "answers in the same phrases")
"""Where one of the two releases was imported, and where both were built."""


class Releases:
    """Two releases in force, of one item each, which share nothing until it is planted."""

    def __init__(self, folder: Path):
        self.warehouse = Warehouse(folder / "warehouse.duckdb")
        self.store = ImageStore(folder / "images")
        self.rows = {
            "mmdu-1": self.one("mill", "Image1: <ImageHere>. What is it?", ANSWER),
            "mmdu-instruct-1": self.one("ball", "Image1: <ImageHere>. Which two?", "Two of them."),
        }

    def one(self, shape: str, question: str, answer: str) -> dict[str, Any]:
        image_id = self.store.put(picture(shape)).image_id
        return {
            "page": f"https://w/{shape}",
            "image": image_id,
            "question": question,
            "answer": answer,
            "origin": "built",
        }

    def check(self) -> dg.AssetCheckResult:
        self.write()
        wanted = dg.AssetCheckKey(dg.AssetKey(["release", "releases"]), "no_overlap")
        check = next(each for each in defs.asset_checks or [] if wanted in each.check_keys)
        (spec,) = check.check_specs
        assert spec.blocking
        result = check(warehouse=self.warehouse, image_store=self.store)
        assert isinstance(result, dg.AssetCheckResult)
        return result

    def write(self) -> None:
        put: dict[str, list[dict[str, Any]]] = {}
        for release_id, row in self.rows.items():
            of = {"release_id": release_id, "item_id": f"{release_id}-item"}
            counts = dict.fromkeys(("n_items", "n_turns", "n_images"), 1)
            card = {"name": release_id[:-2], "kind": RELEASES[release_id], "origin": row["origin"]}
            policy = {"review_policy": "none", "review_share": 0.0, "provider": "offline"}
            put.setdefault("releases", []).append(
                {**of, **card, **counts, **policy, "created_at": "2026-01-01T00:00:00+00:00"}
            )
            put.setdefault("current", []).append({**of, "name": release_id[:-2]})
            image = {"position": 1, "image_id": row["image"], "page_url": row["page"]}
            put.setdefault("images", []).append({**of, **image})
            turn = {"turn": 1, "question": row["question"], "image_positions": [1]}
            put.setdefault("turns", []).append({**of, **turn})
            reference = {"turn": 1, "kind": "answer", "reference": row["answer"]}
            put.setdefault("references", []).append({**of, **reference})
        for name, rows in put.items():
            self.warehouse.replace(f"release.{name}", rows_to_arrow(f"release.{name}", rows))


@pytest.fixture
def releases(tmp_path: Path) -> Releases:
    return Releases(tmp_path)


def counted(result: dg.AssetCheckResult) -> dict[str, Any]:
    return {name: result.metadata[name].value for name in NOTHING}


def test_releases_of_their_own_sides_pass(releases: Releases) -> None:
    result = releases.check()
    assert result.passed and result.description is None
    assert counted(result) == NOTHING


PLANTED = pytest.mark.parametrize(
    ("planted", "found"),
    [
        ({"page": "https://w/mill"}, {"pages": 1}),
        ({"image": "the benchmark's"}, {"images": 1}),
        ({"image": "like the benchmark's"}, {"near-duplicate images": 1}),
        ({"image": "the benchmark's, mirrored"}, {"near-duplicate images": 1}),
        (
            {"question": "Image2: <ImageHere>. What is it?", "answer": f"It is: {ANSWER}"},
            {"questions with their answers": 1},
        ),
        ({"question": "What is it?", "answer": " "}, {"questions with their answers": 1}),
    ],
)


def plant(releases: Releases, planted: Mapping[str, str]) -> None:
    row = releases.rows["mmdu-instruct-1"]
    row |= planted
    if row["image"] == "the benchmark's":
        row["image"] = releases.rows["mmdu-1"]["image"]
    copies = {"like the benchmark's": False, "the benchmark's, mirrored": True}
    if (mirrored := copies.get(row["image"])) is not None:
        row["image"] = releases.store.put(picture("mill", 35, mirrored=mirrored)).image_id
        assert row["image"] != releases.rows["mmdu-1"]["image"]


@PLANTED
@pytest.mark.parametrize("origin", ["built", "imported"])
def test_what_is_planted_fails_it(
    releases: Releases, planted: dict[str, str], found: dict[str, int], origin: str
) -> None:
    releases.rows["mmdu-1"]["origin"] = origin
    plant(releases, planted)
    result = releases.check()
    assert not result.passed
    of_answers = {name: n for name, n in counted(result).items() if name in ANSWERS}
    assert counted(result) == {**NOTHING, **found, **of_answers}
    for name, n in found.items():
        assert f"{name} ({n})" in str(result.description)
    assert "`mmdu-1` | `mmdu-instruct-1`" in result.metadata["first of them"].value


@pytest.mark.parametrize("imported", [*RELEASES, None])
def test_an_answer_alone_counts_where_one_of_the_two_was_imported(
    releases: Releases, imported: str | None
) -> None:
    """What was made here is of other pages: one writer has the same phrases for many pictures."""
    if imported is not None:
        releases.rows[imported]["origin"] = "imported"
    plant(releases, {"answer": f"Well: {ANSWER}"})
    result = releases.check()
    assert result.passed == (imported is None)
    assert counted(result) == {**NOTHING, ANSWERS[imported is None]: 1}


def test_a_form_of_words_is_counted_and_no_fault(releases: Releases) -> None:
    releases.rows["mmdu-instruct-1"]["question"] = "Image1: <ImageHere>. What is it?"
    result = releases.check()
    assert result.passed
    assert counted(result) == {**NOTHING, "forms of words with other answers": 1}


@PLANTED
def test_what_is_not_frozen_yet_is_refused_by_name(
    releases: Releases, planted: dict[str, str], found: dict[str, int]
) -> None:
    plant(releases, planted)
    releases.write()
    shared = shared_in_force(releases.warehouse, releases.store, RELEASES, ())
    with pytest.raises(ReleaseError) as refused:
        require_no_overlap(shared)
    said = str(refused.value)
    assert said.startswith("Nothing is frozen: mmdu-1 and mmdu-instruct-1 share ")
    assert all(f"{name} ({n})" in said for name, n in found.items())
    assert "of items mmdu-1-item and mmdu-instruct-1-item." in said
    assert "unpin or retire" in said


def test_what_two_earlier_releases_share_does_not_stop_a_third(releases: Releases) -> None:
    plant(releases, {"page": "https://w/mill"})
    releases.write()
    third: dict[str, list[Any]] = {
        name: [] for name in ("images", "turns", "choices", "references")
    }
    kinds = {**RELEASES, "convbench-1": "benchmark"}
    found = shared_in_force(releases.warehouse, releases.store, kinds, (), {"convbench-1": third})
    assert found == []


def test_a_home_without_an_instruction_set_passes(releases: Releases) -> None:
    del releases.rows["mmdu-instruct-1"]
    assert releases.check().passed


def test_pictures_are_looked_at_once(releases: Releases) -> None:
    releases.check()
    assert releases.warehouse.count("cluster.picture_miniatures") == 2
    releases.store = ImageStore(releases.store.root.with_name("elsewhere"))
    # Nothing is read again.
    assert releases.check().passed
