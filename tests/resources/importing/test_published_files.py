"""Published files with real pictures: what is stored, and what is refused by the name of a picture."""

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from methods import imported_release
from methods.convbench import published as convbench
from methods.evaluation.items import Item, Turn
from methods.evaluation.published import PublishedItem
from methods.mmbench import published as mmbench
from methods.mmdu import published
from resources.images.intake import take_in
from resources.images.store import ImageStore
from resources.importing import published_files
from resources.importing.published_files import PublishedFileError, grouped_by_images, read_items
from tests.doubles.one_colour import one_colour


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


RED, BLUE = one_colour("red"), one_colour("blue", form="JPEG")
SKIP = "Correct them, or leave their items out with --skip-broken."
QUESTION = "<ImageHere><ImageHere>Which is 字?"
TURNS = (Turn(1, QUESTION, (1, 2), {"answer": "Neither.\r\nReally."}),)


def record(*images: str, item_id: str = "d1") -> dict:
    question = "<ImageHere>" * len(images) + "Which is 字?"
    values = [("user", question), ("assistant", "Neither.\r\nReally.")]
    return {
        "id": item_id,
        "image": list(images),
        "conversations": [{"from": who, "value": text} for who, text in values],
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The authors' folder: benchmark.json beside mmdu_pics."""
    folder = tmp_path / "mmdu"
    (folder / "mmdu_pics").mkdir(parents=True)
    (folder / "mmdu_pics" / "red.png").write_bytes(RED)
    (folder / "mmdu_pics" / "blue.jpg").write_bytes(BLUE)
    (tmp_path / "secret.png").write_bytes(one_colour("green"))
    return folder


def read(folder: Path, store: ImageStore, content: object, pictures: Path | None = None):
    file = folder / "benchmark.json"
    file.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return read_items(published, file, pictures, store)


def refused(folder: Path, store: ImageStore, content: object) -> str:
    with pytest.raises(PublishedFileError) as caught:
        read(folder, store, content)
    said = str(caught.value)
    assert said.count("\n") == 0 and said.endswith(".")
    return said


def test_a_table_that_is_a_link_out_of_its_folder_is_not_followed(folder, tmp_path, store):
    (tmp_path / "secret.csv").write_text("a,b\n1,2\n")
    (folder / "turns.csv").symlink_to(tmp_path / "secret.csv")
    with pytest.raises(
        PublishedFileError, match=r"its file turns.csv cannot be read \(the file is a"
    ):
        read_items(convbench, folder, None, store)


@pytest.mark.parametrize("start", ["", "./", "/"])
@pytest.mark.parametrize("beside", [True, False])
def test_pictures_are_found_by_their_paths_and_stored(start, beside, folder, store):
    """The authors' file names /mmdu_pics/...; `pictures` is that folder, or the one it stands in."""
    content = [record(f"{start}mmdu_pics/red.png", f"{start}mmdu_pics/blue.jpg")]
    if beside:
        # A mark of the byte order and ends of lines do not matter.
        text = json.dumps(content, indent=1).replace("\n", "\r\n")
        content = b"\xef\xbb\xbf" + text.encode()

    (item,) = read(folder, store, content, None if beside else folder / "mmdu_pics")

    assert item == Item("d1", TURNS, (sha256(RED), sha256(BLUE)))
    assert [store.read(image_id) for image_id in item.image_ids] == [RED, BLUE]


def test_a_lone_quote_is_refused_unless_quotes_are_said_to_mean_nothing(folder, store):
    file, cell = folder / "dev.tsv", base64.b64encode(RED).decode()
    rows = [f'1\t"Which?\tred\tblue\tA\t{cell}', f"2\tAnd?\tred\tblue\tB\t{cell}"]
    file.write_text("\n".join(["index\tquestion\tA\tB\tanswer\timage", *rows, ""]))
    with pytest.raises(PublishedFileError, match=r"opens on line 2.*--quoting none"):
        read_items(mmbench, file, None, store)
    assert len(read_items(mmbench, file, None, store, quoting="none")) == 2


def maybe_absent(read_published: Callable[..., Iterator[PublishedItem]]) -> Any:
    """A reader of items that are of use without their pictures."""

    def read(*arguments: Any) -> Iterator[PublishedItem]:
        for item in read_published(*arguments):
            yield replace(item, images_may_be_absent=True)

    return read


@pytest.mark.parametrize(
    "path",
    [
        *("../secret.png", "mmdu_pics/../../secret.png", "/../secret.png", "..\\secret.png"),
        *("/secret.png", "/etc/passwd", "C:/secret.png", "/", "mmdu_pics/red.png\0"),
        *("link.png", "linked/secret.png"),
    ],
)
@pytest.mark.parametrize("absent", [False, True])
def test_no_path_leads_out_of_the_folder(path, absent, folder, store, monkeypatch):
    """Nor where a benchmark's pictures may be absent: such a path is not a picture that is absent."""
    if absent:
        monkeypatch.setattr(published, "read_published", maybe_absent(published.read_published))
    (folder / "link.png").symlink_to(folder.parent / "secret.png")
    (folder / "linked").symlink_to(folder.parent)

    said = refused(folder, store, [record(path)])

    assert said == (
        f"{folder}/benchmark.json cannot be imported: image 1 ({ascii(path)}) of record 'd1' cannot "
        f"be used: its path is absolute or leads out of {folder}, where no file is called so. {SKIP}"
    )
    assert not store.has(sha256(one_colour("green")))


@pytest.mark.parametrize("path", ["mmdu_pics/green.png", "", "mmdu_pics", "x" * 5000])
def test_a_picture_that_is_missing_is_named(path, folder, store):
    said = refused(folder, store, [record("mmdu_pics/red.png", path)])
    assert f"image 2 ({ascii(path[:200])}) of record 'd1' cannot be used: there is no such" in said


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "The image has no bytes"),
        (RED[:45], "cannot be decoded to its end"),
    ],
)
def test_what_is_no_picture_is_named_wherever_it_stands(data, why, folder, store):
    (folder / "odd.png").write_bytes(data)
    said = refused(folder, store, [record("odd.png")])
    assert "image 1 ('odd.png') of record 'd1' cannot be used: " in said and why in said

    cell = [base64.b64encode(data).decode()]
    (folder / "m.tsv").write_text(f"index\tquestion\timage\n1\t['<ImageHere>?']\t{cell}\n")
    with pytest.raises(
        PublishedFileError, match="image 1 of record '1' cannot be used: "
    ) as caught:
        read_items(published, folder / "m.tsv", None, store)
    assert why in str(caught.value)


def records(n: int) -> list[dict]:
    """Records whose images are not there or broken in turns, and a whole one."""
    images = ("green.png", "data:image/png;base64,aGVsbG8=", "data:image/png;base64,a")
    broken = [record(images[number % 3], item_id=f"b{number}") for number in range(n)]
    return [*broken, record("mmdu_pics/red.png", item_id="whole")]


def test_all_broken_images_are_named_at_once_or_left_out(folder, store):
    said = refused(folder, store, records(3))
    assert said == (
        f"{folder}/benchmark.json cannot be imported: images of 3 records cannot be used: image 1 "
        f"('green.png') of record 'b0': there is no such file in {folder}; image 1 of record 'b1': "
        "The bytes are not an image; they begin b'hello'; image 1 of record 'b2': it is not base64. "
        f"{SKIP}"
    )
    said = refused(folder, store, records(25))
    assert "of 25 records" in said and "; and 5 more. " in said
    assert "'b19'" in said and "'b20'" not in said
    # If one says so, their items are left out and counted, but not all items.
    file, skipped = folder / "benchmark.json", Counter[str]()
    file.write_text(json.dumps(records(4)))
    (item,) = read_items(published, file, None, store, skipped=skipped)
    assert item.item_id == "whole"
    assert skipped == {"missing": 2, "not_an_image": 1, "not_base64": 1}
    file.write_text(json.dumps(records(4)[:-1]))
    with pytest.raises(PublishedFileError, match="images of 4 records cannot be used"):
        read_items(published, file, None, store, skipped=Counter())


def test_base64_is_read_as_tools_write_it_and_equal_images_are_checked_once(
    folder, store, monkeypatch
):
    """Without padding, in the alphabet of URLs, broken into lines, as a data URL."""
    odd = one_colour("#fbefbe", (20, 10)) + b"\xfb\xef\xff"
    plain = base64.b64encode(odd).decode()
    of_urls = base64.urlsafe_b64encode(odd).decode()
    lines = "\r\n".join(plain[n : n + 76] for n in range(0, len(plain), 76))
    cells = [plain, plain.rstrip("="), of_urls, of_urls.rstrip("="), lines]
    cells += [f"data:image/png;base64,{text}" for text in (plain, of_urls, quote(plain, safe=""))]
    assert len(set(cells)) == len(cells)
    rows = [f"{n}\t['<ImageHere>?']\t{[cell]!r}\n" for n, cell in enumerate(cells)]
    (folder / "m.tsv").write_text("index\tquestion\timage\n" + "".join(rows))
    checked = []
    monkeypatch.setattr(
        published_files, "take_in", lambda data, store: checked.append(data) or take_in(data, store)
    )

    items = read_items(published, folder / "m.tsv", None, store)

    assert {item.image_ids for item in items} == {(sha256(odd),)}
    assert len(items) == len(rows) and checked == [odd]


def test_images_that_are_repeated_too_often_and_too_many_labels_are_refused(
    folder, store, monkeypatch
):
    """A table has an image for each time that it is shown, and a column for each label."""
    red = "mmdu_pics/red.png"
    monkeypatch.setattr(imported_release, "MOST_ITEM_BYTES", 3 * len(RED))
    monkeypatch.setattr(imported_release, "ANY_BYTES", 5 * len(RED))
    read(folder, store, [record(red, red), record(red, red, red, item_id="d2")])
    said = refused(folder, store, [record(*[red] * 4)])
    assert f"record 'd1' shows images of {4 * len(RED):,} bytes, more than the " in said
    monkeypatch.setattr(imported_release, "MOST_TIMES", 3)
    said = refused(folder, store, [record(red, red, item_id=f"d{n}") for n in range(3)])
    assert f"show images of {6 * len(RED):,} bytes, each counted as often as it is shown" in said
    labelled = [{**record(red, item_id=f"d{n}"), f"label-{n}": "x"} for n in range(201)]
    said = refused(folder, store, labelled)
    assert said.endswith("its records have 201 different labels, more than the 200 allowed.")


def test_ids_and_labels_that_rows_repeat_are_short(folder, store):
    """A release has the id of a dialogue in each turn, and a label name in each item."""
    red, most = "mmdu_pics/red.png", "x" * 1_000

    def labelled(*values: str) -> list[dict]:
        return [
            {**record(red, item_id=f"{most[:-4]}{number:04}"), most: value}
            for number, value in enumerate(values)
        ]

    kinds = [str(number) for number in range(99)]
    assert len(read(folder, store, labelled(most, *kinds))) == 100
    # Scores are not split by a label of many values.
    assert len(read(folder, store, labelled(most + "x", *kinds, "99"))) == 101
    said = refused(folder, store, labelled(most + "x", *kinds))
    assert (
        "its label 'xxx" in said and "has a value with more than 1,000 characters: shorten" in said
    )
    for long in (record(red, item_id=most + "x"), {**record(red), most + "x": "a"}):
        said = refused(folder, store, [long])
        assert "has an id, a group or the name of a label with more than 1,000 characters" in said


def test_items_with_the_same_images_are_one_group_and_a_group_of_their_own_stays():
    def item(name: str, images: tuple[str, ...], group: str | None = None) -> Item:
        return Item(name, (), images, group_id=group)

    items = [
        *(item("a", ("x",)), item("b", ("y",)), item("c", ("x",)), item("d", ("x",), "own")),
        *(item("e", ("y", "z")), item("f", ("z", "y")), item("g", ()), item("h", ())),
    ]
    groups = [grouped.group_id for grouped in grouped_by_images(items)]
    assert groups == ["a", None, "a", "own", "e", "e", None, None]
