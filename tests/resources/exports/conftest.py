"""Releases to export: a small one of each kind, and one whose texts are hostile."""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from methods.evaluation.items import Item, Turn
from methods.imported_release import NOBODY, imported_release
from methods.release import Edition, with_release_ids
from methods.release_card import row_of
from resources.exports.folder import write_folder
from resources.exports.formats import form_named
from resources.exports.source import ExportSource
from resources.images.store import ImageStore
from resources.warehouse import Warehouse
from tests.assets.filled import put
from tests.doubles.one_colour import one_colour

MMDU = Edition("mmdu")
HERE = "<ImageHere>"
LONG = "Half a MB: " + 'x, "y"\n\'' * 60_000
HOSTILE = (
    '=HYPERLINK("http://x")',
    "+1; -1; @SUM(A1)",
    "he said \"no\", 'yes' and `maybe` | so",
    "line\nbreak\r\nand\ttab\u2028separator",
    "\u202eright to left\u202c שלום مرحبا",
    '<image> </s> <|im_end|> {"a": [1]} \\n %s',
    "日本語 🦉 e\u0301",
    "---\nlicense: mit\n---",
    LONG,
)
"""Texts that a cell, a line, a header or a template could take for something else."""

Released = Callable[..., ExportSource]


@pytest.fixture
def image_ids(store: ImageStore) -> list[str]:
    kinds = {"red": "PNG", "green": "JPEG", "blue": "WEBP", "white": "GIF"}
    return [store.put(one_colour(colour, form=form)).image_id for colour, form in kinds.items()]


@pytest.fixture(scope="package")
def warehouse_of_releases(
    empty_tables: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Warehouse]:
    """A warehouse that is opened once: each release is read by its id, whatever else is there."""
    path = tmp_path_factory.mktemp("releases") / "warehouse.duckdb"
    warehouse = Warehouse(Path(shutil.copy(empty_tables, path)))
    with warehouse.kept_open():
        with warehouse.database.connection() as connection:
            # The log is opened here, and stays: no test leaves it behind.
            connection.execute("SET checkpoint_threshold = '1TB'")
            connection.execute("CREATE SCHEMA opened")
        yield warehouse


@pytest.fixture
def released(warehouse_of_releases: Warehouse, store: ImageStore) -> Released:
    """`released(items, name=…, edition=…, licences=…)`: the source of a release of these items."""

    def made(
        items: Sequence[Item],
        *,
        name: str = "mmdu",
        edition: Edition = MMDU,
        licences: Mapping[str, str | None] | None = None,
        card: Mapping[str, Any] | None = None,
        **source: Any,
    ) -> ExportSource:
        rows = rows_of(items, licences or {})
        release = with_release_ids(name, NOBODY, edition, rows)
        row = row_of(
            {
                **{"release_id": release.release_id, "name": name, "provider": "mock"},
                "kind": "benchmark" if edition.benchmark else "instruction",
                **vars(edition),
                **{"n_items": len(items), "n_turns": sum(len(item.turns) for item in items)},
                "n_images": len({one for item in items for one in item.image_ids}),
                **{"review_policy": "none", "review_share": 0.0},
                "created_at": "2026-03-02T09:14:55+00:00",
                **(card or {}),
            }
        )
        tables = {"releases": [row], **release.rows}
        named = {f"release.{table}": of_table for table, of_table in tables.items()}
        put(warehouse_of_releases, named, {"release_id": release.release_id})
        return ExportSource(warehouse_of_releases, store, row, **source)

    return made


def written(source: ExportSource, folder: Path, form: str, shard_mb: int = 500) -> Path:
    """The folder, with the release in a form."""
    write_folder(folder, form_named(form, shard_mb), source)
    return folder


@pytest.fixture
def exported(released: Released, tmp_path: Path) -> Callable[..., Path]:
    """`exported(items, form, **of)`: the folder `out` with a release of these items in a form."""

    def made(
        items: Sequence[Item], form: str = "huggingface", shard_mb: int = 500, **of: Any
    ) -> Path:
        return written(released(items, **of), tmp_path / "out", form, shard_mb)

    return made


def rows_of(
    items: Sequence[Item], licences: Mapping[str, str | None]
) -> dict[str, list[dict[str, Any]]]:
    """Rows of the release tables; each picture has the licence of its id, else CC-BY-SA-4.0."""
    rows = imported_release("made", MMDU, items).rows
    for row in rows["items"]:
        row |= {"revision": 1, "reviewers": ["ada", "bob", "policy:all"]}
    for row in rows["images"]:
        place = row["position"]
        row |= {
            **{"title": f"Page {place}", "page_url": f"https://en.wikipedia.org/wiki/{place}"},
            "attribution": "By A (changed: cut out)" if place == 2 else "By A",
            "licence": licences.get(row["image_id"], "CC-BY-SA-4.0"),
            **{"licence_url": "https://creativecommons.org/licenses/by-sa/4.0/", "artist": "=A"},
        }
    return {
        table: [{name: row[name] for name in row if name != "release_id"} for row in of]
        for table, of in rows.items()
    }


@pytest.fixture
def dialogues(image_ids: list[str]) -> list[Item]:
    """Two dialogues: one shows two pictures, then one more; the other shows none."""
    turns = (
        Turn(1, f"First {HERE}, then {HERE}: which?", (1, 2), {"answer": "The second."}),
        Turn(2, f"{HERE}And this?", (3,), {"answer": "Neither."}),
    )
    alone = (Turn(1, "Why?", (), {"answer": "Because."}),)
    return [
        Item("dialogue/1", turns, tuple(image_ids[:3]), labels={"topic": "owls"}),
        Item("d2", alone, group_id="g"),
    ]


@pytest.fixture
def hostile(image_ids: list[str]) -> list[Item]:
    """An item for each hostile text, which stands wherever a text may stand."""
    return [
        Item(
            f"{number} {text[:40]}",
            (
                Turn(1, f"{HERE}{text}{HERE}", (1, 2), {"answer": text}),
                Turn(2, text, (), {"answer": f"{text}!"}),
            ),
            tuple(image_ids[:2]),
            labels={"said": text[:1000]},
        )
        for number, text in enumerate(HOSTILE)
    ]


@pytest.fixture
def questions(image_ids: list[str]) -> list[Item]:
    """Multiple choice: the pictures stand before the text."""
    return [
        Item(
            str(number),
            (Turn(1, f"Which one, {number}?", (1, 2), {"key": "B"}),),
            tuple(image_ids[:2]),
            ("this", "that", "=none"),
            labels={"category": "counting"},
        )
        for number in range(3)
    ]
