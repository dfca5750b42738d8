"""A release's folder becomes the release again, whole and unchanged or not at all."""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from methods import imported_release
from methods.errors import UserError
from methods.release import RELEASE_TABLES, ReviewPolicy, id_of_release
from methods.release_card import edition_of
from resources.images.store import ImageStore
from resources.importing import release_import
from resources.importing.release_import import ReleaseFolderError, import_release
from resources.publishing.release_folder import write_release
from resources.publishing.releases import rows_of_release
from resources.warehouse import Warehouse, WarehouseError
from tests.assets.filled import put
from tests.homes.kept import FIRST, INSTRUCTION, SECOND, unpack
from tests.methods.ingest.pictures_drawn import encoded
from tests.resources.folder_content import everything

pytestmark = pytest.mark.slow

Rows = dict[str, list[dict]]


def rows_of(warehouse: Warehouse, release_id: str) -> Rows:
    (card,) = warehouse.select("release.releases", release_id=release_id).to_pylist()
    return {"releases": [card], **rows_of_release(warehouse, release_id)}


@pytest.fixture(scope="module")
def made_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with two releases of each name, their folders as this version leaves them."""
    home = unpack(tmp_path_factory.mktemp("made_in"))
    warehouse, store = Warehouse(home / "warehouse.duckdb"), ImageStore(home / "images")
    for card in warehouse.read("release/all").to_pylist():
        card.pop("is_current")
        rows = rows_of_release(warehouse, card["release_id"])
        write_release(home / "releases", card, rows, store)
    return home


@pytest.fixture
def folder(made_in: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made_in / "releases" / FIRST, tmp_path / FIRST)


class Empty:
    """A new home that releases are imported into."""

    def __init__(self, home: Path):
        self.home = home
        self.warehouse = Warehouse(home / "warehouse.duckdb")
        self.store = ImageStore(home / "images")

    def take(self, folder: Path) -> str:
        return import_release(folder, self.home / "releases", self.warehouse, self.store)

    def current_releases(self) -> dict[str, str]:
        rows = self.warehouse.read("release/current").to_pylist()
        return {row["name"]: row["release_id"] for row in rows}


@pytest.fixture
def empty(empty_tables: Path, tmp_path: Path) -> Iterator[Empty]:
    home = tmp_path / "home"
    home.mkdir()
    shutil.copy(empty_tables, home / "warehouse.duckdb")
    empty = Empty(home)
    with empty.warehouse.kept_open():
        yield empty


def test_an_imported_release_is_the_one_that_was_exported(made_in, empty):
    before = Warehouse(made_in / "warehouse.duckdb")
    for release_id in (FIRST, SECOND, INSTRUCTION):
        assert empty.take(made_in / "releases" / release_id) == release_id

        wanted = rows_of(before, release_id)
        assert rows_of(empty.warehouse, release_id) == wanted and wanted["turns"]
        assert everything(empty.home / "releases" / release_id) == everything(
            made_in / "releases" / release_id
        )
        assert all(empty.store.path(row["image_id"]).is_file() for row in wanted["images"])
    # A benchmark has a TSV, too.
    assert empty.warehouse.count("release.exports") == 6 + 6 + 5
    # Current is the first of each name, whatever is imported again.
    empty.take(made_in / "releases" / SECOND)
    assert empty.current_releases() == {"mmdu": FIRST, "mmdu-instruct": INSTRUCTION}


def test_a_card_comes_back_as_it_was(made_in, empty, tmp_path):
    before = Warehouse(made_in / "warehouse.duckdb")
    (card,) = before.select("release.releases", release_id=FIRST).to_pylist()
    card |= {
        "parent": SECOND,
        "settings": '{"cluster.clusters":{"tau":0.6}}',
        "prompt_versions": ["mmdu/questions@1f6c02ab"],
        "writers": ["gpt-4o"],
        "corpus": [{"wit_shard": "wit-0", "fingerprint": "1-abc"}],
        "project_version": "0.1.0",
    }
    rows = rows_of_release(before, FIRST)
    write_release(tmp_path / "out", card, rows, ImageStore(made_in / "images"))

    empty.take(tmp_path / "out" / FIRST)

    assert rows_of(empty.warehouse, FIRST)["releases"] == [card]


def written_again(folder: Path, card: dict, files: dict[str, str]) -> None:
    """Change a card and files of a release's folder, and the hashes that it has of them."""
    tables = json.loads((folder / "tables.json").read_text())
    tables["releases"][0] |= card
    for name, text in {**files, "card.json": json.dumps(tables["releases"][0])}.items():
        (folder / name).write_text(text)
        tables["files"][name] = hashlib.sha256(text.encode()).hexdigest()
    (folder / "tables.json").write_text(json.dumps(tables))


def named_by_its_content(folder: Path, card: dict) -> None:
    """Change a card whose fields are part of the id of its release, and that id."""
    tables = json.loads((folder / "tables.json").read_text())
    card = tables["releases"][0] | card
    rows = {table: tables[table] for table in RELEASE_TABLES}
    reviewed = ReviewPolicy(card["review_policy"], card["review_share"])
    release_id = id_of_release(card["name"], reviewed, rows, edition_of(card))
    written_again(folder, {**card, "release_id": release_id}, {})


def rows_changed(folder: Path, changed: Callable[[dict], object]) -> None:
    """Change the tables of a folder in place, and the id of its release."""
    tables = json.loads((folder / "tables.json").read_text())
    changed(tables)
    (folder / "tables.json").write_text(json.dumps(tables))
    named_by_its_content(folder, {})


def test_a_release_whose_id_hashes_captions_after_answers_is_imported(folder, empty):
    """ConvBench's releases are built so; the tables have the references of each turn together."""
    tables = json.loads((folder / "tables.json").read_text())
    answers, item_id = tables["references"], tables["items"][0]["item_id"]
    caption = {**answers[0], "kind": "caption", "reference": "A bridge."}
    n_answers = sum(row["item_id"] == item_id for row in answers)
    assert n_answers > 1
    tables["references"] = [*answers[:n_answers], caption, *answers[n_answers:]]
    (folder / "tables.json").write_text(json.dumps(tables))
    named_by_its_content(folder, {})
    tables = json.loads((folder / "tables.json").read_text())
    tables["references"] = [answers[0], caption, *answers[1:]]
    (folder / "tables.json").write_text(json.dumps(tables))

    assert empty.take(folder) == tables["releases"][0]["release_id"]


@pytest.mark.parametrize(
    "card",
    [
        {"review_policy": "sample", "review_share": 1e308},
        {"review_policy": "nobody"},
        {"kind": "quiz"},
        {"origin": "found"},
        {"settings": {"tau": 0.6}},
        {"n_items": 10**30},
        *({name: 5_000} for name in ("n_items", "n_turns", "n_images")),
        {"created_at": "x\n\x1b[31m"},
        # The id of a release is the name of its folder.
        {"name": "../../mmdu"},
    ],
    ids=lambda card: ", ".join(card),
)
def test_a_card_with_a_value_that_no_release_has_is_refused(card, folder, empty, tmp_path):
    named_by_its_content(folder, card)

    with pytest.raises(ReleaseFolderError, match="is not as it was written, as tables.json"):
        empty.take(folder)
    assert empty.warehouse.count("release.releases") == 0
    assert [path.name for path in tmp_path.glob("mmdu-*")] == [FIRST]


@pytest.mark.parametrize(
    ("table", "other"),
    [
        ("turns", {"item_id": "gone"}),
        ("references", {"item_id": "gone"}),
        ("images", {"item_id": "gone"}),
        ("turns", {"question": "a\0b"}),
        ("turns", {"image_positions": [99]}),
        ("turns", {"image_positions": [1]}),
        ("turns", {"image_positions": [3, 3]}),
        ("turns", {"turn": 99}),
        ("images", {"image_id": True}),
        ("items", {"nonce": 5}),
        ("items", {"labels": {"topic": None}}),
        ("items", {"labels": {"topic": "a\0b"}}),
    ],
)
def test_a_row_that_no_release_has_is_refused(table, other, folder, empty):
    tables = json.loads((folder / "tables.json").read_text())
    *rows, row = tables[table]
    # A row of no item is one more, so that each item is still whole.
    tables[table] = [*rows, *([row] if "item_id" in other else []), {**row, **other}]
    (folder / "tables.json").write_text(json.dumps(tables))
    named_by_its_content(folder, {})

    with pytest.raises(ReleaseFolderError, match="is not as it was written, as tables.json"):
        empty.take(folder)
    assert empty.warehouse.count("release.releases") == 0


@pytest.mark.parametrize(
    "changed",
    [
        lambda tables: tables["images"][0].pop("title"),
        lambda tables: tables["references"][0].update(kind="key", reference="A"),
    ],
    ids=["no title", "a key and no choices"],
)
def test_a_row_that_lacks_a_column_or_choices_is_refused(changed, folder, empty):
    rows_changed(folder, changed)

    with pytest.raises(ReleaseFolderError, match="is not as it was written, as tables.json"):
        empty.take(folder)
    assert empty.warehouse.count("release.releases") == 0


def with_first_rows_exchanged(table: str) -> Callable[[dict], None]:
    def exchange(tables: dict) -> None:
        first, second, *others = tables[table]
        tables[table] = [second, first, *others]

    return exchange


def with_choices(*positions: int) -> Callable[[dict], None]:
    """Add choices in these positions to the first item."""

    def add(tables: dict) -> None:
        item_id = tables["items"][0]["item_id"]
        tables["choices"] = [
            {"item_id": item_id, "position": position, "choice": str(position)}
            for position in positions
        ]

    return add


@pytest.mark.parametrize(
    "changed",
    [
        *(with_first_rows_exchanged(table) for table in ("items", "turns", "references", "images")),
        with_choices(2, 1, 3),
        with_choices(1, 3),
        with_choices(1, 1),
    ],
)
def test_rows_in_another_order_than_that_of_the_tables_are_refused(changed, folder, empty):
    """Files would have the order of the rows, and scores that of the tables."""
    rows_changed(folder, changed)

    with pytest.raises(ReleaseFolderError, match="is not as it was written, as tables.json"):
        empty.take(folder)
    assert empty.warehouse.count("release.releases") == 0


def test_an_item_with_two_right_choices_is_refused_and_named(folder, empty):
    tables = json.loads((folder / "tables.json").read_text())
    item_id = tables["turns"][0]["item_id"]
    tables["choices"] = [
        {"item_id": item_id, "position": position, "choice": choice}
        for position, choice in enumerate(("vivid", "dull", "vivid "), start=1)
    ]
    key = {**tables["references"][0], "item_id": item_id, "turn": 1, "kind": "key"}
    tables["references"].insert(1, {**key, "reference": "A"})
    (folder / "tables.json").write_text(json.dumps(tables))
    named_by_its_content(folder, {})

    with pytest.raises(ReleaseFolderError, match=f"the item {item_id}, whose right choice A has"):
        empty.take(folder)
    assert empty.warehouse.count("release.releases") == 0


def test_a_release_of_a_benchmark_that_is_not_installed_is_refused(folder, empty):
    named_by_its_content(folder, {"benchmark": "mmdo"})

    with pytest.raises(ReleaseFolderError, match="of the benchmark 'mmdo', which is not installed"):
        empty.take(folder)
    assert empty.warehouse.count("release.releases") == 0


def test_items_that_the_benchmark_cannot_ask_or_that_have_too_many_choices_are_refused(
    folder, empty
):
    rows_changed(folder, lambda tables: tables["turns"][0].update(question="No image."))
    with pytest.raises(UserError, match="cannot be imported: record '.*' cannot be asked"):
        empty.take(folder)

    rows_changed(folder, with_choices(*range(1, 31)))
    with pytest.raises(UserError, match="record '.*' has 30 choices instead of 2 to 10"):
        empty.take(folder)
    assert empty.warehouse.count("release.releases") == 0


def test_a_release_whose_items_repeat_images_too_often_is_refused(folder, empty, monkeypatch):
    monkeypatch.setattr(imported_release, "MOST_ITEM_BYTES", 10)
    with pytest.raises(
        ReleaseFolderError, match=r"^/.* cannot be imported: record .* shows images"
    ):
        empty.take(folder)
    assert not (empty.home / "images").exists() and not (empty.home / "releases").exists()


def test_a_release_that_is_here_keeps_its_card(made_in, folder, empty):
    empty.take(made_in / "releases" / FIRST)
    before, here = rows_of(empty.warehouse, FIRST), everything(empty.home / "releases")
    written_again(folder, {"provider": "other", "created_at": "1999-01-01T00:00:00+00:00"}, {})

    with pytest.raises(ReleaseFolderError) as refused:
        empty.take(folder)
    said = f"{FIRST} is in this workspace already, and {folder} has another card"
    assert said in str(refused.value)
    assert rows_of(empty.warehouse, FIRST) == before
    assert everything(empty.home / "releases") == here


def test_a_release_that_is_here_keeps_its_rows(made_in, folder, empty, monkeypatch):
    """The id is a short hash, so somebody may find other rows with the same one."""
    empty.take(made_in / "releases" / FIRST)
    before, here = rows_of(empty.warehouse, FIRST), everything(empty.home / "releases")
    tables = json.loads((folder / "tables.json").read_text())
    tables["references"][0]["reference"] = "Other words."
    (folder / "tables.json").write_text(json.dumps(tables))
    monkeypatch.setattr(release_import, "id_of_release", lambda *_: FIRST)

    with pytest.raises(ReleaseFolderError, match=f"{FIRST} is in .*, and .* has other rows"):
        empty.take(folder)
    assert rows_of(empty.warehouse, FIRST) == before
    assert everything(empty.home / "releases") == here


def test_files_are_written_from_the_rows_whatever_those_of_the_folder_say(made_in, folder, empty):
    for name in (".DS_Store", "images/.DS_Store", "images/Thumbs.db"):
        (folder / name).write_bytes(b"a folder's settings")
    files = {"dialogues.json": "[]", "train.jsonl": "{}", "attribution.csv": "=cmd()"}
    written_again(folder, {}, files)
    for taken in (folder, made_in / "releases" / FIRST, folder):
        empty.take(taken)
        assert everything(empty.home / "releases" / FIRST) == everything(
            made_in / "releases" / FIRST
        )
    assert empty.warehouse.count("release.exports") == 6
    n_images = len({row["image_id"] for row in rows_of(empty.warehouse, FIRST)["images"]})
    assert sum(path.is_file() for path in empty.store.root.rglob("*")) == n_images


@pytest.mark.parametrize("name", ["card.json", "tables.json", "image", "no image"])
def test_what_was_changed_in_the_home_is_as_it_was_written_after_another_import(
    name, made_in, empty
):
    empty.take(made_in / "releases" / FIRST)
    exports = "FROM release.exports ORDER BY ALL"
    files, listed = everything(empty.home / "releases"), empty.warehouse.sql(exports)
    change(empty.home / "releases" / FIRST, name)
    assert everything(empty.home / "releases") != files

    empty.take(made_in / "releases" / FIRST)

    assert everything(empty.home / "releases") == files
    assert empty.warehouse.sql(exports) == listed


def test_seeds_that_leave_no_workspace_are_no_other_card(made_in, tmp_path):
    shutil.copytree(made_in, tmp_path / "home")
    same = Empty(tmp_path / "home")
    (card,) = same.warehouse.select("release.releases", release_id=FIRST).to_pylist()
    settings = {"choice.items": {"seed": 7, "per_ability": 3}}
    stored = {**card, "settings": json.dumps(settings)}
    put(same.warehouse, {"release.releases": [stored]}, {"release_id": FIRST})
    write_release(tmp_path / "out", stored, rows_of_release(same.warehouse, FIRST), same.store)
    exported = json.loads((tmp_path / "out" / FIRST / "card.json").read_text())
    assert exported["settings"] == {"choice.items": {"per_ability": 3}}

    shutil.copytree(
        tmp_path / "out" / FIRST, tmp_path / "home/releases" / FIRST, dirs_exist_ok=True
    )
    assert same.take(tmp_path / "out" / FIRST) == FIRST


def with_value(table: str, column: str, value: object) -> Callable[[dict], dict]:
    """The tables with another value in the first row of a table."""
    return lambda tables: {
        **tables,
        table: [{**tables[table][0], column: value}, *tables[table][1:]],
    }


FORMS: dict[str, Callable[[dict], Any]] = {
    "a list": lambda tables: [tables],
    "no images": lambda tables: {k: v for k, v in tables.items() if k != "images"},
    "no files": lambda tables: {**tables, "files": None},
    "a card of text": lambda tables: {**tables, "releases": ["card"]},
    "no rows": lambda tables: {**tables, "turns": None},
    "an empty card": lambda tables: {**tables, "releases": [{}]},
    "a file outside": lambda tables: {**tables, "files": {"../card.json": "0"}},
    "a file without a hash": lambda tables: {**tables, "files": {"not-there.txt": None}},
    "other words in the rows": with_value("references", "reference", "Other words."),
    "another policy": with_value("releases", "review_share", 0.25),
}
"""What somebody may have made of `tables.json`."""


def change(folder: Path, name: str) -> None:
    image, tables = min((folder / "images").iterdir()), folder / "tables.json"
    if name in FORMS:
        tables.write_text(json.dumps(FORMS[name](json.loads(tables.read_text()))))
    elif name == "image":
        image.write_bytes(image.read_bytes()[:-1])
    elif name == "no image":
        image.unlink()
    elif name == "another image":
        image.rename(image.with_stem("0" * 64))
    elif name == "an image called as a page":
        image.rename(image.with_suffix(".html"))
    elif name in ("evil", "evil.json.html"):
        written_again(folder, {}, {name: "<script>"})
    elif name == "no tables.json":
        tables.unlink()
    elif name == "half a file":
        tables.write_text(tables.read_text()[:-10])
    else:
        (folder / name).write_text((folder / name).read_text() + " ")


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (encoded(Image.new("1", (8_000, 7_000)), "PNG"), "8000 by 7000 pixels, more than"),
        (encoded(Image.linear_gradient("L"), "JPEG")[:-1000], "cannot be decoded to its end"),
    ],
    ids=["too many pixels", "truncated"],
)
def test_an_image_that_other_imports_refuse_is_refused_and_named(data, why, folder, empty):
    """All digests fit, as in a folder that somebody made with such an image."""
    image, image_id = min((folder / "images").iterdir()), hashlib.sha256(data).hexdigest()
    text = (folder / "tables.json").read_text().replace(image.stem, image_id)
    (folder / "tables.json").write_text(text)
    image.write_bytes(data)
    image.rename(image.with_stem(image_id))
    named_by_its_content(folder, {})

    with pytest.raises(ReleaseFolderError, match=rf"images/{image_id}\.\w+ .*{why}"):
        empty.take(folder)
    assert not empty.store.has(image_id)
    assert empty.warehouse.count("release.releases") == 0


@pytest.mark.parametrize(
    ("harm", "named"),
    [
        ("dialogues.json", "dialogues.json"),
        ("card.json", "card.json"),
        ("image", "images/"),
        ("no image", "images/"),
        ("another image", "images/"),
        ("an image called as a page", "images/"),
        *((file, "tables.json") for file in ("evil", "evil.json.html")),
        ("half a file", "tables.json"),
        ("no tables.json", "tables.json"),
        *((harm, "tables.json") for harm in FORMS),
    ],
)
def test_a_changed_folder_is_refused_in_one_sentence_and_leaves_nothing(harm, named, folder, empty):
    change(folder, harm)

    with pytest.raises(ReleaseFolderError) as caught:
        empty.take(folder)

    assert str(caught.value).startswith(f"{folder} is not as it was written, as {named}")
    assert str(caught.value).endswith(": import a copy of the folder that nobody has changed.")
    assert empty.warehouse.count("release.releases") == 0
    assert not (empty.home / "releases").exists() and not (empty.home / "images").exists()
    with pytest.raises(ReleaseFolderError, match="is not a release: give a folder under releases/"):
        empty.take(folder.parent)


@pytest.mark.parametrize("name", ["card.json", "tables.json", "image"])
def test_a_file_that_is_a_link_out_of_the_folder_is_not_followed(name, folder, empty, tmp_path):
    linked = min((folder / "images").iterdir()) if name == "image" else folder / name
    linked.rename(tmp_path / "elsewhere")
    linked.symlink_to(tmp_path / "elsewhere")

    with pytest.raises(ReleaseFolderError, match="a link out of it"):
        empty.take(folder)

    assert empty.warehouse.count("release.releases") == 0
    assert not (empty.home / "releases").exists()


def test_a_path_that_becomes_a_link_while_it_is_read_is_not_followed(
    folder, empty, tmp_path, monkeypatch
):
    name = min((folder / "images").iterdir()).name
    resolve, n_resolved = Path.resolve, 0

    def resolve_and_swap(path: Path, strict: bool = False) -> Path:
        nonlocal n_resolved
        resolved = resolve(path, strict)
        if path.name == name and strict:
            n_resolved += 1
            # An image is hashed, then stored.
            if n_resolved == 2:
                (folder / "images").rename(tmp_path / "elsewhere")
                (folder / "images").symlink_to(tmp_path / "elsewhere")
        return resolved

    monkeypatch.setattr(Path, "resolve", resolve_and_swap)
    with pytest.raises(ReleaseFolderError, match="cannot be used as an image"):
        empty.take(folder)
    assert (folder / "images").is_symlink()
    assert not (empty.home / "releases").exists()


def test_an_import_that_the_tables_refuse_leaves_no_folder(made_in, empty, monkeypatch):
    def refuse(_writes: object) -> None:
        raise WarehouseError("These rows are not taken.")

    monkeypatch.setattr(empty.warehouse, "replace_all", refuse)
    with pytest.raises(WarehouseError, match="not taken"):
        empty.take(made_in / "releases" / FIRST)
    assert not list((empty.home / "releases").iterdir())

    monkeypatch.undo()
    empty.take(made_in / "releases" / FIRST)
    before = everything(empty.home / "releases")
    monkeypatch.setattr(empty.warehouse, "replace_all", refuse)
    with pytest.raises(WarehouseError, match="not taken"):
        empty.take(made_in / "releases" / FIRST)
    assert everything(empty.home / "releases") == before, "what was there before stays"
