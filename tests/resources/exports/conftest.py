"""Releases to export: a small one of each kind, and one whose texts are hostile."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from methods.evaluation.items import Item, Turn
from methods.imported_release import NOBODY
from methods.release import RELEASE_TABLES, Edition, with_release_ids
from methods.release_card import row_of
from resources.exports.source import ExportSource
from resources.images.store import ImageStore
from resources.warehouse import TableWrite, Warehouse, arrow_schema
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
def store(tmp_path: Path) -> ImageStore:
    return ImageStore(tmp_path / "store")


@pytest.fixture
def image_ids(store: ImageStore) -> list[str]:
    kinds = {"red": "PNG", "green": "JPEG", "blue": "WEBP", "white": "GIF"}
    return [store.put(one_colour(colour, form=form)).image_id for colour, form in kinds.items()]


@pytest.fixture
def released(empty_warehouse: Warehouse, store: ImageStore) -> Released:
    """`released(items, name=…, edition=…, licences=…)`: the source of a release of these items."""

    def made(
        items: Sequence[Item],
        *,
        name: str = "mmdu",
        edition: Edition = MMDU,
        licences: Mapping[str, str | None] | None = None,
        card: Mapping[str, Any] | None = None,
        reviewers: Sequence[str] = ("ada", "bob", "policy:all"),
        **source: Any,
    ) -> ExportSource:
        rows = rows_of(items, licences or {}, reviewers)
        release = with_release_ids(name, NOBODY, edition, rows)
        row = row_of(
            {
                "release_id": release.release_id,
                "name": name,
                "kind": "benchmark" if edition.benchmark else "instruction",
                **vars(edition),
                "n_items": len(items),
                "n_turns": sum(len(item.turns) for item in items),
                "n_images": len({one for item in items for one in item.image_ids}),
                "review_policy": "none",
                "review_share": 0.0,
                "provider": "mock",
                "created_at": "2026-03-02T09:14:55+00:00",
                **(card or {}),
            }
        )
        tables = {"releases": [row], **release.rows}
        partition = {"release_id": release.release_id}
        empty_warehouse.replace_all(
            [
                TableWrite(
                    f"release.{table}",
                    pa.Table.from_pylist(rows, schema=arrow_schema(f"release.{table}")),
                    partition,
                )
                for table, rows in tables.items()
            ]
        )
        return ExportSource(empty_warehouse, store, row, **source)

    return made


def rows_of(
    items: Sequence[Item], licences: Mapping[str, str | None], reviewers: Sequence[str]
) -> dict[str, list[dict[str, Any]]]:
    """Rows of the release tables; each picture has the licence of its id, else CC-BY-SA-4.0."""
    rows: dict[str, list[dict[str, Any]]] = {table: [] for table in RELEASE_TABLES}
    for ordinal, item in enumerate(items, start=1):
        here = {"item_id": item.item_id}
        rows["items"].append(
            {
                **here,
                "set_id": None,
                "group_id": item.group_id,
                "ordinal": ordinal,
                "revision": 1,
                "reviewers": list(reviewers),
                "labels": dict(item.labels),
            }
        )
        unmade = {"call_key": None, "prompt_version": None}
        for turn in item.turns:
            rows["turns"].append(
                {
                    **here,
                    "turn": turn.turn,
                    "question": turn.question,
                    "image_positions": list(turn.image_positions),
                    "given": turn.given,
                    **unmade,
                }
            )
            rows["references"] += [
                {**here, "turn": turn.turn, "kind": kind, "reference": text, **unmade}
                for kind, text in turn.references.items()
            ]
        rows["choices"] += [
            {**here, "position": place, "choice": choice}
            for place, choice in enumerate(item.choices, start=1)
        ]
        rows["images"] += [
            {
                **here,
                "position": place,
                "image_id": image_id,
                "page_url": f"https://en.wikipedia.org/wiki/{place}",
                "title": f"Page {place}",
                "attribution": "By A (changed: cut out)" if place == 2 else "By A",
                "licence": licences.get(image_id, "CC-BY-SA-4.0"),
                "licence_url": "https://creativecommons.org/licenses/by-sa/4.0/",
                "artist": "=A",
            }
            for place, image_id in enumerate(item.image_ids, start=1)
        ]
    return rows


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
