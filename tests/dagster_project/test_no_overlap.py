"""The check `no_overlap`, which planted overlaps fail, and freezing, which leaves them out."""

import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from PIL import Image, ImageDraw, ImageOps

from assets.common.tables import write_rows
from assets.release.built import BuiltRelease
from assets.release.contamination import (
    NAMES,
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

ANSWER = (
    "The mill stands on a brick base of eight sides, its cap turns on an iron ring, and the sails are "
    "of wood with red shutters."
)
QUESTION = "Which of the sails of this mill at the old harbour is turned to the wind?"
NOTHING = dict.fromkeys(NAMES.values(), 0)
NOBODY = ReviewPolicy("none", 0.0)
STOCK = ("How does the subject of the picture stand out?", "It stands out by its dark outline.")
MILL = (QUESTION, ANSWER)
OTHER = ("Which two?", "Two of them.")
BOTH = ("Which of <image-1> and <image-2> is older?", "<image-1> is older than <image-2>.")
Pair = tuple[str, str]
Rows = dict[str, list[dict[str, Any]]]


def picture(shape: str) -> bytes:
    drawn = Image.new("RGB", (160, 120), "white")
    draw = ImageDraw.Draw(drawn)
    if "mill" in shape:
        draw.polygon([(20, 110), (80, 10), (140, 110)], fill="navy")
        draw.rectangle((15, 15, 45, 40), fill="orange")
    else:
        draw.ellipse((10, 40, 70, 100), fill="darkred")
        draw.rectangle((90, 5, 150, 60), fill="black")
    buffer = io.BytesIO()
    if "mirrored" in shape:
        ImageOps.mirror(drawn).save(buffer, "JPEG", quality=35)
    else:
        drawn.save(buffer, "JPEG", quality=90)
    return buffer.getvalue()


def item(item_id: str, *pairs: Pair, page: str = "", images: Sequence[str] = ()) -> Rows:
    """The rows of a dialogue on two pictures of its own, which enter with the first pair."""
    here = {"item_id": item_id}
    rows: Rows = {"choices": [], "turns": [], "references": []}
    rows["items"] = [{**here, "ordinal": 1, "revision": 0, "reviewers": [], "labels": {}}]
    for turn, (question, answer) in enumerate(pairs, start=1):
        entering = "Image1: <ImageHere>, Image2: <ImageHere>. " if turn == 1 else ""
        of = {**here, "turn": turn}
        shown = [1, 2] if turn == 1 else []
        rows["turns"].append({**of, "question": entering + question, "image_positions": shown})
        rows["references"].append({**of, "kind": "answer", "reference": answer})
    rows["images"] = [
        {**here, "position": n, "image_id": image_id, "page_url": page or f"of-{item_id}"}
        for n, image_id in enumerate(images or (f"{item_id}-1", f"{item_id}-2"), start=1)
    ]
    return rows


def built(name: str, *items: Rows) -> BuiltRelease:
    edition = Edition(None if name.endswith("-instruct") else "mmdu")
    rows = {table: [row for of in items for row in of[table]] for table in items[0]}
    return BuiltRelease(name, edition, with_release_ids(name, NOBODY, edition, rows), ["mock"])


class Home:
    """Current releases."""

    def __init__(self, folder: Path, warehouse: Warehouse):
        self.warehouse = warehouse
        self.store = ImageStore(folder / "images")
        self.before: dict[str, str] = {}

    def put(self, each: BuiltRelease, origin: str = "built") -> str:
        """Write a release that is current; its id."""
        release_id = each.release.release_id
        kind = "benchmark" if each.edition.benchmark else "instruction"
        card = {"release_id": release_id, "name": each.name, "origin": origin, "kind": kind}
        card |= {"n_items": 1, "n_turns": 1, "n_images": 1, "review_share": 0.0, "provider": ""}
        card |= {"review_policy": "none", "created_at": "2026"}
        if origin == "imported":
            card["settings"] = '{"release.releases":{"file":"b.json"}}'
        self.before[each.name] = release_id
        current = [{"name": name, "release_id": of} for name, of in self.before.items()]
        tables = {**each.release.rows, "releases": [card]}
        rows_of = {f"release.{table}": rows for table, rows in tables.items()}
        write_rows(self.warehouse, rows_of, {"release_id": release_id})
        write_rows(self.warehouse, {"release.current": current})
        return release_id

    def check(self) -> dg.AssetCheckResult:
        wanted = dg.AssetCheckKey(dg.AssetKey(["release", "releases"]), "no_overlap")
        check: Any = next(each for each in defs.asset_checks or [] if wanted in each.check_keys)
        assert [spec.blocking for spec in check.check_specs] == [True]
        return check(warehouse=self.warehouse, image_store=self.store)

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
def home(tmp_path: Path, empty_warehouse: Warehouse) -> Iterator[Home]:
    with empty_warehouse.kept_open():
        yield Home(tmp_path, empty_warehouse)


def checked(home: Home, pair: Pair = OTHER, page: str = "ball", image: str = "ball") -> Any:
    """The check of a benchmark on a mill and an instruction set that shares with it what is said."""
    mill, other = (home.store.put(picture(shape)).image_id for shape in ("mill", image))
    home.put(built("mmdu", item("t", MILL, page="mill", images=[mill])))
    home.put(built("mmdu-instruct", item("i", pair, page=page, images=[other])))
    return home.check()


def counted(result: dg.AssetCheckResult) -> dict[str, Any]:
    return {name: result.metadata[name].value for name in NOTHING}


def test_releases_of_their_own_sides_pass_and_their_pictures_are_looked_at_once(home: Home) -> None:
    result = checked(home)
    assert result.passed and result.description is None
    assert counted(result) == NOTHING
    assert home.warehouse.count("cluster.picture_thumbnails") == 2
    home.store = ImageStore(home.store.root.with_name("elsewhere"))
    # Nothing is read again.
    assert home.check().passed


@pytest.mark.parametrize(
    ("planted", "found"),
    [
        ({"page": "mill"}, ["pages"]),
        ({"image": "mill"}, ["images"]),
        ({"image": "mill, mirrored"}, ["near-duplicate images"]),
        (
            {"pair": (QUESTION, f"It is: {ANSWER}")},
            ["questions with their answers", "answers in the same phrases"],
        ),
    ],
)
def test_what_is_planted_fails_it(home: Home, planted: dict[str, Any], found: list[str]) -> None:
    result = checked(home, **planted)
    assert not result.passed
    assert counted(result) == {**NOTHING, **dict.fromkeys(found, 1)}
    assert f"{found[0]} (1)" in str(result.description)
    named = f"`{home.before['mmdu']} t` | `{home.before['mmdu-instruct']} i`"
    assert named in result.metadata["first of them"].value


@pytest.fixture
def frozen(home: Home, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setattr("assets.release.contamination.copies_of", lambda *_: {})
    return home


def items_of(built: BuiltRelease) -> list[str]:
    return [row["item_id"] for row in built.release.rows["items"]]


def test_an_instruction_set_loses_the_pair_and_the_rest_is_frozen(frozen: Home) -> None:
    tested = built("mmdu", item("t", MILL))
    cleared = frozen.cleared(
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
    (row,) = cleared.rows
    assert (row["name"], row["item_id"], row["turn"]) == ("mmdu-instruct", "i", 2)
    assert (row["kind"], row["other_item_id"]) == ("question", "t")
    frozen.require_same(cleared)


def test_a_dialogue_of_a_page_that_is_tested_goes_as_a_whole(frozen: Home) -> None:
    tested = built("mmdu", item("t", MILL, page="w"))
    learned = built("mmdu-instruct", item("i", STOCK, BOTH, page="w"), item("j", BOTH))
    cleared = frozen.cleared(tested, learned)
    assert items_of(cleared.built[1]) == ["j"]
    assert [row["ordinal"] for row in cleared.built[1].release.rows["items"]] == [1]
    counts = {"shared_dialogues_left_out": 1, "shared_pairs_with_dialogues": 2}
    assert cleared.built[1].quality == counts
    assert left_out(cleared.rows) == {"left out of mmdu-instruct as shared, pages": 1}
    frozen.require_same(cleared)


def test_what_weighs_more_after_others_are_gone_is_compared_again(frozen: Home) -> None:
    """Thirteen texts are stock; of the two that are left without the pages of the benchmark, one is of
    the other. It was the third of its dialogue, which has lost its first."""
    tested = built("mmdu", item("t", STOCK, page="w"), item("u", MILL))
    pages = [item(f"i{n}", STOCK, page="w") for n in range(11)]
    learned = built("mmdu-instruct", *pages, item("j", MILL, BOTH, STOCK), item("k", BOTH))
    cleared = frozen.cleared(tested, learned)
    assert [row["item_id"] for row in cleared.built[1].release.rows["turns"]] == ["j", "k"]
    questions = [row for row in cleared.rows if row["kind"] == "question"]
    assert {(row["item_id"], row["turn"]) for row in questions} == {("j", 1), ("j", 3)}
    frozen.require_same(cleared)


def test_what_stays_from_earlier_and_has_nothing_left_is_not_in_force_any_more(frozen):
    frozen.put(built("mmdu-instruct", item("i", MILL)))
    tested = built("mmdu", item("t", MILL))
    alone = frozen.cleared(tested)
    beside = frozen.cleared(tested, built("mmdu-instruct", item("i", MILL, ("Which?", "That."))))
    for cleared in (alone, beside):
        assert cleared.current == {"mmdu": tested.release.release_id}
        assert list(cleared.retired) == ["mmdu-instruct"]


def test_beside_a_pinned_instruction_set_the_benchmark_loses_the_item(frozen: Home) -> None:
    pinned = frozen.put(built("mmdu-instruct", item("i", MILL)))
    tested = built("mmdu", item("t", MILL), item("u", BOTH))
    cleared = frozen.cleared(tested, built("mmdu-instruct", item("j", BOTH)), mmdu_instruct=pinned)
    # What is frozen and not current is as it was built.
    items = {each.name: items_of(each) for each in cleared.built}
    assert items == {"mmdu": ["u"], "mmdu-instruct": ["j"]}
    assert cleared.current["mmdu-instruct"] == pinned
    (row,) = cleared.rows
    assert (row["name"], row["item_id"], row["turn"]) == ("mmdu", "t", None)


def test_beside_an_imported_benchmark_an_instruction_set_loses_the_pair_unless_it_is_pinned(frozen):
    imported = frozen.put(
        built("theirs", item("t", MILL), item("u", ("What else?", "A boat."))), "imported"
    )
    learned = built("mmdu-instruct", item("i", ("What is it?", ANSWER), BOTH))
    cleared = frozen.cleared(learned)
    assert cleared.current["theirs"] == imported
    assert [row["kind"] for row in cleared.rows] == ["answer"]
    pinned = frozen.put(learned)
    with pytest.raises(ReleaseError) as refused:
        frozen.cleared(built("mmdu", item("v", STOCK)), mmdu_instruct=pinned)
    assert str(refused.value) == (
        f"Nothing is frozen: {pinned}, which is pinned, has answers (1) of {imported}, of item t: "
        "take t out of b.json and import that as before (vlm-loom release import), or let "
        "mmdu-instruct be rebuilt (vlm-loom release unpin mmdu-instruct), and run the job release "
        "again."
    )
