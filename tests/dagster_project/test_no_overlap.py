"""The check `no_overlap`, which planted overlaps fail, and freezing, which leaves them out."""

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from PIL import Image, ImageDraw, ImageOps

from assets.common.tables import rows_to_arrow
from assets.release.built import BuiltRelease
from assets.release.contamination import (
    OverlapFreeReleases,
    blocking_overlap,
    current_overlap,
    left_out,
    without_overlap,
)
from dagster_project.definitions import defs
from methods.release import Edition, ReviewPolicy, with_release_ids
from resources.images.store import ImageStore
from resources.publishing.releases import ReleaseError
from resources.warehouse import Warehouse

pytestmark = pytest.mark.slow

RELEASES = {"mmdu-1": "benchmark", "mmdu-instruct-1": "instruction"}
ANSWER = (
    "The mill stands on a brick base of eight sides, its cap turns on an iron ring, and the sails are "
    "of wood with red shutters."
)
QUESTION = "Which of the sails of this mill at the old harbour is turned to the wind?"
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
    """Two current releases, of one item each, which share nothing until it is planted."""

    def __init__(self, folder: Path):
        self.warehouse = Warehouse(folder / "warehouse.duckdb")
        self.store = ImageStore(folder / "images")
        self.rows = {
            "mmdu-1": self.one("mill", f"Image1: <ImageHere>. {QUESTION}", ANSWER),
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
            policy = {"review_policy": "none", "review_share": 0.0, "provider": "mock"}
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
            {"question": f"Image2: <ImageHere>. {QUESTION}", "answer": f"It is: {ANSWER}"},
            {"questions with their answers": 1},
        ),
        (
            {"question": f"Now tell me: {QUESTION}", "answer": " "},
            {"questions with their answers": 1},
        ),
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
def test_what_is_planted_fails_it(
    releases: Releases, planted: dict[str, str], found: dict[str, int]
) -> None:
    plant(releases, planted)
    result = releases.check()
    assert not result.passed
    of_answers = {name: n for name, n in counted(result).items() if name in ANSWERS}
    assert counted(result) == {**NOTHING, **found, **of_answers}
    for name, n in found.items():
        assert f"{name} ({n})" in str(result.description)
    named = "`mmdu-1 mmdu-1-item` | `mmdu-instruct-1 mmdu-instruct-1-item`"
    assert named in result.metadata["first of them"].value


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
    releases.rows["mmdu-instruct-1"]["question"] = QUESTION
    result = releases.check()
    assert result.passed
    assert counted(result) == {**NOTHING, "forms of words with other answers": 1}


def test_a_home_without_an_instruction_set_passes(releases: Releases) -> None:
    del releases.rows["mmdu-instruct-1"]
    assert releases.check().passed


def test_pictures_are_looked_at_once(releases: Releases) -> None:
    releases.check()
    assert releases.warehouse.count("cluster.picture_thumbnails") == 2
    releases.store = ImageStore(releases.store.root.with_name("elsewhere"))
    # Nothing is read again.
    assert releases.check().passed


# --- What is frozen ------------------------------------------------------------------------------

NOBODY = ReviewPolicy("none", 0.0)
STOCK = ("How does the subject of the picture stand out?", "It stands out by its dark outline.")
MILL = (QUESTION, ANSWER)
BOTH = ("Which of <image-1> and <image-2> is older?", "<image-1> is older than <image-2>.")
Pair = tuple[str, str]


def item(item_id: str, *pairs: Pair, page: str = "") -> dict[str, list[dict[str, Any]]]:
    """The rows of a dialogue on two pictures of its own, which enter with the first pair."""
    here = {"item_id": item_id}
    rows: dict[str, list[dict[str, Any]]] = {"choices": [], "turns": [], "references": []}
    rows["items"] = [{**here, "ordinal": 1, "revision": 0, "reviewers": [], "labels": {}}]
    for turn, (question, answer) in enumerate(pairs, start=1):
        entering = "Image1: <ImageHere>, Image2: <ImageHere>. " if turn == 1 else ""
        of = {**here, "turn": turn}
        shown = [1, 2] if turn == 1 else []
        rows["turns"].append({**of, "question": entering + question, "image_positions": shown})
        rows["references"].append({**of, "kind": "answer", "reference": answer})
    rows["images"] = [
        {**here, "position": n, "image_id": f"{item_id}-{n}", "page_url": page or f"of-{item_id}"}
        for n in (1, 2)
    ]
    return rows


def built(name: str, *items: dict[str, list[dict[str, Any]]]) -> BuiltRelease:
    edition = Edition(None if name.endswith("-instruct") else "mmdu")
    rows = {table: [row for of in items for row in of[table]] for table in items[0]}
    return BuiltRelease(name, edition, with_release_ids(name, NOBODY, edition, rows), ["mock"])


class Home:
    """Current releases, none of them with pictures that are copies of others."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch):
        self.warehouse = Warehouse(folder / "warehouse.duckdb")
        self.store = ImageStore(folder / "images")
        self.before: dict[str, str] = {}
        monkeypatch.setattr("assets.release.contamination.copies_of", lambda *_: {})

    def put(self, each: BuiltRelease, origin: str = "built") -> str:
        """Write a release that is current; its id."""
        release_id = each.release.release_id
        counts = dict.fromkeys(("n_items", "n_turns", "n_images"), 1)
        kind = "benchmark" if each.edition.benchmark else "instruction"
        card = {
            "release_id": release_id,
            "name": each.name,
            "kind": kind,
            "origin": origin,
            **counts,
        }
        card |= {"review_policy": "none", "review_share": 0.0, "provider": "", "created_at": "2026"}
        card["settings"] = (
            '{"release.releases":{"file":"b.json"}}' if origin == "imported" else None
        )
        self.before[each.name] = release_id
        current = [{"name": name, "release_id": of} for name, of in self.before.items()]
        tables = {**each.release.rows, "releases": [card]}
        for table, rows in tables.items():
            of = rows_to_arrow(f"release.{table}", rows)
            self.warehouse.replace(f"release.{table}", of, {"release_id": release_id})
        self.warehouse.replace("release.current", rows_to_arrow("release.current", current))
        return release_id

    def cleared(self, *made: BuiltRelease, **pinned: str) -> OverlapFreeReleases:
        names = {name.replace("_", "-"): of for name, of in pinned.items()}
        return without_overlap(self.warehouse, self.store, made, self.before, names, NOBODY)

    def require_same(self, cleared: OverlapFreeReleases) -> None:
        """The check finds nothing in what is frozen, and what is frozen is frozen again as it is."""
        for each in cleared.built:
            self.put(each)
        self.before = cleared.current
        cards = self.warehouse.read("release/all").to_pylist()
        cards = [card for card in cards if card["release_id"] in cleared.current.values()]
        assert blocking_overlap(current_overlap(self.warehouse, self.store, cards)) == []
        assert self.cleared(*cleared.built).built == cleared.built


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    return Home(tmp_path, monkeypatch)


def test_an_instruction_set_loses_the_pair_and_the_rest_is_frozen(home: Home) -> None:
    tested = built("mmdu", item("t", MILL))
    cleared = home.cleared(
        tested, built("mmdu-instruct", item("i", STOCK, MILL, BOTH), item("j", BOTH))
    )
    kept, learned = cleared.built
    assert kept == tested and cleared.retired == {}
    assert cleared.current == {each.name: each.release.release_id for each in (kept, learned)}
    turns = [
        (row["item_id"], row["turn"], row["question"]) for row in learned.release.rows["turns"]
    ]
    first = "Image1: <ImageHere>, Image2: <ImageHere>. "
    assert turns == [("i", 1, first + STOCK[0]), ("i", 2, BOTH[0]), ("j", 1, first + BOTH[0])]
    answers = [row["reference"] for row in learned.release.rows["references"]]
    assert answers == [STOCK[1], BOTH[1], BOTH[1]]
    assert learned.quality == {"shared_pairs_left_out": 1}
    assert [(row["name"], row["item_id"], row["turn"], row["kind"]) for row in cleared.rows] == [
        ("mmdu-instruct", "i", 2, "question")
    ]
    assert cleared.rows[0]["other_item_id"] == "t"
    home.require_same(cleared)


def test_a_dialogue_of_a_page_that_is_tested_goes_as_a_whole(home: Home) -> None:
    tested = built("mmdu", item("t", MILL, page="w"))
    learned = built("mmdu-instruct", item("i", STOCK, BOTH, page="w"), item("j", BOTH))
    cleared = home.cleared(tested, learned)
    assert [row["item_id"] for row in cleared.built[1].release.rows["items"]] == ["j"]
    assert [row["ordinal"] for row in cleared.built[1].release.rows["items"]] == [1]
    counts = {"shared_dialogues_left_out": 1, "shared_pairs_with_dialogues": 2}
    assert cleared.built[1].quality == counts
    assert left_out(cleared.rows) == {"left out of mmdu-instruct as shared, pages": 1}
    home.require_same(cleared)


def test_what_weighs_more_after_others_are_gone_is_compared_again(home: Home) -> None:
    """Thirteen texts are stock; of the two that are left without the pages of the benchmark, one is of
    the other."""
    tested = built("mmdu", item("t", STOCK, page="w"))
    pages = [item(f"i{n}", STOCK, page="w") for n in range(11)]
    learned = built("mmdu-instruct", *pages, item("j", BOTH, STOCK), item("k", BOTH))
    cleared = home.cleared(tested, learned)
    assert [row["item_id"] for row in cleared.built[1].release.rows["turns"]] == ["j", "k"]
    assert {(row["item_id"], row["turn"]) for row in cleared.rows if row["kind"] == "question"} == {
        ("j", 2)
    }
    home.require_same(cleared)


def test_what_stays_from_earlier_and_has_nothing_left_is_not_in_force_any_more(home: Home) -> None:
    home.put(built("mmdu-instruct", item("i", MILL)))
    tested = built("mmdu", item("t", MILL))
    alone = home.cleared(tested)
    beside = home.cleared(tested, built("mmdu-instruct", item("i", MILL, ("Which?", "That."))))
    for cleared in (alone, beside):
        assert cleared.current == {"mmdu": tested.release.release_id}
        assert list(cleared.retired) == ["mmdu-instruct"]


def test_beside_a_pinned_instruction_set_the_benchmark_loses_the_item(home: Home) -> None:
    pinned = home.put(built("mmdu-instruct", item("i", MILL)))
    tested = built("mmdu", item("t", MILL), item("u", BOTH))
    cleared = home.cleared(tested, built("mmdu-instruct", item("j", BOTH)), mmdu_instruct=pinned)
    items = {each.name: each.release.rows["items"] for each in cleared.built}
    assert [row["item_id"] for row in items["mmdu"]] == ["u"]
    # What is frozen and not current is as it was built.
    assert [row["item_id"] for row in items["mmdu-instruct"]] == ["j"]
    assert cleared.current["mmdu-instruct"] == pinned
    assert [(row["name"], row["item_id"], row["turn"]) for row in cleared.rows] == [
        ("mmdu", "t", None)
    ]


def test_beside_an_imported_benchmark_an_instruction_set_loses_the_pair_unless_it_is_pinned(
    home: Home,
) -> None:
    imported = home.put(
        built("theirs", item("t", MILL), item("u", ("What else?", "A boat."))), "imported"
    )
    learned = built("mmdu-instruct", item("i", ("What is it?", ANSWER), BOTH))
    cleared = home.cleared(learned)
    assert cleared.current["theirs"] == imported
    assert [row["kind"] for row in cleared.rows] == ["answer"]
    pinned = home.put(learned)
    with pytest.raises(ReleaseError) as refused:
        home.cleared(built("mmdu", item("v", STOCK)), mmdu_instruct=pinned)
    assert str(refused.value) == (
        f"Nothing is frozen: {pinned}, which is pinned, has answers (1) of {imported}, of item t: "
        "take t out of b.json and import that as before (vlm-loom release import), or let "
        "mmdu-instruct be rebuilt (vlm-loom release unpin mmdu-instruct), and run the job release "
        "again."
    )
