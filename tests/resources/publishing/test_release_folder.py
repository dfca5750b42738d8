"""A release's folder: whole or not at all, frozen, able to stand by itself; and which one is meant."""

import csv
import hashlib
import json
from concurrent.futures import ThreadPoolExecutor

import pytest

import methods.convbench.published as convbench_forms
import methods.mmdu.published as mmdu_forms
from methods.evaluation.items import Item, Turn
from methods.imported_release import imported_release
from methods.release import Edition
from resources.images.store import ImageNotStored
from resources.importing.published_files import read_items
from resources.publishing.release_folder import ChangedReleaseError, ExportedFile, write_release
from resources.publishing.releases import ReleaseError, cards_of, release_meant
from tests.assets.filled import put
from tests.doubles.one_colour import one_colour
from tests.resources.folder_content import everything

ID = "mmdu-0123456789"
QUESTION = "<ImageHere><ImageHere>Which is 字?"
CARD = {
    **{"release_id": ID, "name": "mmdu", "kind": "benchmark", "provider": "mock"},
    **{"n_items": 2, "n_turns": 2, "n_images": 3, "review_policy": "none", "review_share": 0.0},
    **{"created_at": "2026-03-02T09:14:55+00:00", "note": "où 字"},
}
ARTIST = "Ann\r=1+1"
MAKERS = ("attribution", "licence", "licence_url", "artist")
KNOWN = ("By A,\nof B", "CC BY-SA 4.0", "https://example.org/by-sa", ARTIST)
FILES = ("README.md", "attribution.csv", "card.json", "dialogues.json", "mmdu.tsv", "tables.json")


@pytest.fixture
def release(store) -> dict:
    """Two dialogues of three images, one of them in both; of the last nobody knows who made it."""
    ids = []
    for colour in ("red", "green", "blue"):
        form = "PNG" if colour == "red" else "JPEG"
        ids.append(store.put(one_colour(colour, (20, 10), form)).image_id)
    turns = (Turn(1, QUESTION, (1, 2), {"answer": "Neither."}),)
    items = [Item("item-a", turns, tuple(ids[:2])), Item("item-b", turns, tuple(ids[1:]))]
    rows = imported_release("mmdu", Edition("mmdu"), items).rows
    for row in rows["images"]:
        number = ids.index(row["image_id"])
        row["title"] = f'Page "{number}", où'
        row["page_url"] = f"https://en.wikipedia.org/wiki/{number}"
        row |= dict.fromkeys(MAKERS) if number == 2 else dict(zip(MAKERS, KNOWN, strict=True))
    return {"card": CARD, "rows": rows, "store": store}


def test_the_folder_may_be_read_by_others_and_says_who_made_each_image(tmp_path, release):
    write_release(tmp_path / "releases", **release)

    folder = tmp_path / "releases" / ID
    assert folder.stat().st_mode & 0o777 == 0o755, "others may read it"
    with (folder / "attribution.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    # A spreadsheet might compute what follows a line break: an apostrophe stands before it.
    marked = (*KNOWN[:3], "Ann\r'=1+1")
    assert sorted(tuple(row[name] for name in MAKERS) for row in rows) == [
        *(("",) * 4, marked, marked)
    ]
    assert {row["image"] for row in rows} == {
        f"images/{path.name}" for path in (folder / "images").iterdir()
    }


def test_answers_that_are_held_out_are_in_no_file(tmp_path, release):
    card = {**CARD, "benchmark": "other", "split": "test", "origin": "built"}
    write_release(tmp_path / "out", **{**release, "card": card})
    assert not any(b"Neither." in data for data in everything(tmp_path / "out").values())


@pytest.mark.parametrize("exact", [True, False])
def test_cells_that_a_spreadsheet_would_compute_are_marked_and_read_back(
    tmp_path, release, store, exact
):
    labels = {"=cmd": "-1+1", "plain": "'=1", "size": "-5"}
    release["rows"]["items"][0]["labels"] = labels
    write_release(tmp_path / "out", **release, mark_formulas=not exact)
    path = tmp_path / "out" / ID / "mmdu.tsv"
    with path.open(newline="") as lines:
        rows = list(csv.reader(lines, delimiter="\t"))
    shown = ["=cmd", "plain", "size"] if exact else ["'=cmd", "plain", "size"]
    assert rows[0][1:4] == shown
    assert rows[1][1:4] == (["-1+1", "'=1", "-5"] if exact else ["'-1+1", "''=1", "-5"])
    assert rows[0][-1] == ("image" if exact else "marked_cells 2")
    assert read_items(mmdu_forms, path, None, store)[0].labels == labels
    # A table without such cells is the same either way.
    assert (tmp_path / "out" / ID / "attribution.csv").read_text().startswith("image,title")


def test_a_carriage_return_in_a_cell_begins_no_row(tmp_path, store):
    first, *others = questions = ["<ImageHere>\n=1+1\rx", "Why?\r3\r=1+1", "Sing."]
    turns = (Turn(1, first, (1,), {}), *(Turn(n, text, (), {}) for n, text in enumerate(others, 2)))
    item = Item("item-a", turns, (store.put(one_colour("red")).image_id,))
    rows = imported_release("convbench", Edition("convbench"), [item]).rows
    card = {**CARD, "benchmark": "convbench", "n_items": 1}
    write_release(tmp_path / "out", card, rows, store)
    path = tmp_path / "out" / ID / "convbench.csv"
    (read,) = read_items(convbench_forms, path, path.parent, store)
    assert (read.item_id, [turn.question for turn in read.turns]) == ("item-a", questions)


@pytest.mark.parametrize(
    ("changed", "lacks"),
    [
        ({"name": "mmdu-instruct", "kind": "instruction"}, {"mmdu.tsv"}),
        ({"benchmark": "other"}, {"mmdu.tsv", "dialogues.json"}),
    ],
)
def test_an_instruction_set_has_no_tsv_and_what_is_published_in_no_form_its_rows_alone(
    tmp_path, release, changed, lacks
):
    files = write_release(tmp_path / "releases", **{**release, "card": {**CARD, **changed}})
    assert {file.path for file in files} == {f"{ID}/{name}" for name in set(FILES) - lacks}


def test_the_files_are_listed_with_their_hashes_images_apart_and_not_written_over(
    tmp_path, release
):
    root = tmp_path / "releases"
    first = write_release(root, **release)
    before = everything(root)
    listed = {f"{ID}/{name}": before[f"{ID}/{name}"] for name in FILES}
    assert first == [
        ExportedFile(path, hashlib.sha256(data).hexdigest(), len(data))
        for path, data in listed.items()
    ]
    others = {"rows": dict.fromkeys(release["rows"], []), "card": {"release_id": ID}}

    assert write_release(root, **{**release, **others}) == first
    assert everything(root) == before


def test_an_image_that_is_not_on_file_leaves_nothing_behind_and_is_put_right_by_writing_again(
    tmp_path, release, store
):
    root = tmp_path / "releases"
    lost = store.path(release["rows"]["images"][-1]["image_id"])
    data = lost.read_bytes()
    lost.unlink()
    with pytest.raises(ImageNotStored):
        write_release(root, **release)
    assert list(root.iterdir()) == []

    store.put(data)

    assert len(write_release(root, **release)) == 6
    assert len(list((root / ID / "images").iterdir())) == 3


def test_runs_that_write_the_same_release_at_once_all_find_it_whole(tmp_path, release):
    root = tmp_path / "releases"

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: write_release(root, **release), range(16)))

    assert all(files == found[0] for files in found) and len(found[0]) == 6
    assert [path.name for path in root.iterdir()] == [ID]
    assert len(list((root / ID / "images").iterdir())) == 3


def test_a_folder_of_an_earlier_version_gets_the_files_it_lacks_and_nothing_else(tmp_path, release):
    root = tmp_path / "releases"
    first = write_release(root, **release)
    lacks = {f"{ID}/{name}" for name in ("README.md", "mmdu.tsv", "tables.json")}
    for name in lacks:
        (root / name).unlink()
    (root / ID / "card.json").write_text("as an earlier version wrote it")
    before = everything(root)

    write_release(root, **release)

    after = everything(root)
    assert set(after) - set(before) == lacks
    assert {name: data for name, data in after.items() if name not in lacks} == before
    listed = {path.removeprefix(f"{ID}/"): digest for path, digest in hashes(first).items()}
    del listed["tables.json"]
    tables = {"files": listed, "releases": [CARD], **release["rows"]}
    assert json.loads((root / ID / "tables.json").read_text()) == tables


def hashes(files: list[ExportedFile]) -> dict[str, str]:
    return {file.path: file.sha256 for file in files}


@pytest.mark.parametrize("name", [*FILES, "an image"])
def test_a_damaged_file_is_named_stays_as_it_is_and_is_written_again_when_it_is_deleted(
    tmp_path, release, name
):
    root = tmp_path / "releases"
    files = write_release(root, **release)
    before = everything(root)
    image = f"images/{release['rows']['images'][0]['image_id']}.png"
    damaged = root / ID / (image if name == "an image" else name)
    data = damaged.read_bytes()
    damaged.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with_damage = everything(root)

    todo = "copy the file from a backup, or delete it and run vlm-loom run release"
    said = f"^{damaged} has other content than .*{todo}"
    with pytest.raises(ChangedReleaseError, match=said):
        write_release(root, **release, recorded=hashes(files))
    assert everything(root) == with_damage

    damaged.unlink()
    assert write_release(root, **release, recorded=hashes(files)) == files
    assert everything(root) == before


def test_a_missing_file_is_not_written_with_another_content_than_before(tmp_path, release):
    root = tmp_path / "releases"
    recorded = {**hashes(write_release(root, **release)), f"{ID}/README.md": "of another version"}
    (root / ID / "README.md").unlink()

    with pytest.raises(ChangedReleaseError, match=r"README\.md is missing, and this version or"):
        write_release(root, **release, recorded=recorded)

    assert not (root / ID / "README.md").exists() and [path.name for path in root.iterdir()] == [ID]
    # A folder that was removed is written with the present settings.
    assert len(write_release(tmp_path / "others", **release, recorded=recorded)) == 6


UNKNOWN = ("parent", "settings", "prompt_versions", "writers", "corpus", "project_version")


def test_the_card_of_a_release_whose_making_is_unknown_is_as_an_earlier_version_wrote_it(
    tmp_path, release
):
    row = {**CARD, **dict.fromkeys(UNKNOWN)}

    write_release(tmp_path / "releases", **{**release, "card": row})

    card = (tmp_path / "releases" / ID / "card.json").read_text()
    assert card == json.dumps(CARD, indent=1, ensure_ascii=False)
    page = (tmp_path / "releases" / ID / "README.md").read_text()
    assert "| tau | `unknown` |" in page and "| Parent | `unknown` |" in page


def test_an_exact_id_is_that_release_whatever_other_releases_are_named(empty_warehouse):
    names = {"mmdu-1": "mmdu", "mmdu-1-2": "mmdu-1", "mmdu-2": "mmdu"}
    same = {"kind": "benchmark", "origin": "built", "review_policy": "none"}
    cards = [{**same, "release_id": release_id, "name": name} for release_id, name in names.items()]
    current = [{"name": name, "release_id": release_id} for release_id, name in names.items()]
    current.pop()
    put(empty_warehouse, {"release.releases": cards, "release.current": current})
    meant = {said: release_meant(empty_warehouse, said) for said in ("mmdu", "mmdu-1", "mmdu-1-")}
    assert meant == {"mmdu": "mmdu-1", "mmdu-1": "mmdu-1", "mmdu-1-": "mmdu-1-2"}
    with pytest.raises(ReleaseError, match="several release ids: mmdu-1, mmdu-2, mmdu-1-2"):
        release_meant(empty_warehouse, "mmdu-")
    found = cards_of(empty_warehouse, ["mmdu-2", "mmdu-1"])
    assert [card["release_id"] for card in found] == ["mmdu-2", "mmdu-1"]
