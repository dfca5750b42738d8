"""An imported release: its name, its rows, and that items come back from them as they were."""

from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.errors import UserError
from methods.evaluation.items import Item, ReferenceKind, Turn
from methods.imported_release import NOBODY, imported_name, imported_release, require_name
from methods.release import RELEASE_TABLES, Edition, id_of_release
from methods.release_items import items_of_release

DEV = Edition("mmbench", "dev", "en", "imported")
KITE = Item(
    "7",
    (
        Turn(1, "<ImageHere> What is it?", (1,), {"key": "B", "caption": "A kite."}),
        Turn(2, "Since when?", (), {}, given="Since 1900."),
    ),
    ("sha-x",),
    ("A boat", "A kite"),
    "seed-3",
    {"task": "Recognition"},
)
HIDDEN = Item("8", (Turn(1, "What is hidden?"),))


@pytest.mark.parametrize(
    ("edition", "name"),
    [
        (Edition("mmdu"), "mmdu-imported"),
        (Edition("mmdu", "test"), "mmdu-test"),
        (Edition("mmdu", language="en"), "mmdu-en"),
        (Edition("mmbench", "DEV", "CN"), "mmbench-dev-cn"),
    ],
)
def test_a_name_is_made_of_what_is_known(edition: Edition, name: str) -> None:
    assert imported_name(edition) == name
    require_name(name)


@pytest.mark.parametrize("name", ["", "a/b", "..", ".a", "A", "a b", "a\n", "ü", "a" * 61])
def test_a_name_that_cannot_name_a_folder_is_refused(name: str) -> None:
    with pytest.raises(UserError, match="cannot be the name of a release"):
        require_name(name)


def test_rows_by_hand() -> None:
    release = imported_release("mmbench-dev-en", DEV, [KITE, HIDDEN])
    here = {"release_id": release.release_id, "item_id": "7"}
    assert release.rows["items"][0] == {
        **{**here, "set_id": None, "group_id": "seed-3", "ordinal": 1, "revision": 0},
        **{"reviewers": [], "labels": {"task": "Recognition"}},
    }
    unmade = {"call_key": None, "prompt_version": None}
    assert release.rows["turns"][1] == {
        **{**here, "turn": 2, "question": "Since when?", "image_positions": []},
        **{"given": "Since 1900.", **unmade},
    }
    assert release.rows["references"] == [
        {**here, "turn": 1, "kind": "caption", "reference": "A kite.", **unmade},
        {**here, "turn": 1, "kind": "key", "reference": "B", **unmade},
    ]
    assert release.rows["choices"] == [
        {**here, "position": 1, "choice": "A boat"},
        {**here, "position": 2, "choice": "A kite"},
    ]
    assert [row["title"] for row in release.rows["images"]] == [None]
    assert HIDDEN.turns[0].reference is None


def test_the_id_is_of_the_content_and_the_edition() -> None:
    both = [KITE, HIDDEN]
    release = imported_release("x", DEV, both)
    assert imported_release("x", DEV, both) == release
    others = [
        imported_release("x", DEV, [HIDDEN, KITE]),
        imported_release("x", replace(DEV, language="cn"), both),
        imported_release("x", replace(DEV, split="test"), both),
        imported_release("y", DEV, both),
    ]
    assert len({release.release_id, *(each.release_id for each in others)}) == 5


TEXT = st.text(max_size=5)
REFERENCES = st.dictionaries(st.sampled_from(get_args(ReferenceKind)), TEXT)
TURNS = st.lists(st.tuples(TEXT, REFERENCES, st.none() | TEXT), min_size=1, max_size=3).map(
    lambda turns: tuple(
        Turn(number, question, (), references, said)
        for number, (question, references, said) in enumerate(turns, start=1)
    )
)
TUPLES = st.lists(TEXT).map(tuple)
ITEMS = st.lists(
    st.builds(Item, TEXT, TURNS, TUPLES, TUPLES, st.none() | TEXT, st.dictionaries(TEXT, TEXT)),
    max_size=3,
    unique_by=lambda item: item.item_id,
)


@given(ITEMS)
def test_items_come_back_from_their_rows_as_they_were(items: list[Item]) -> None:
    release = imported_release("x", DEV, items)
    assert items_of_release(release.rows) == items
    # As the tables give them back: without the release, a MAP as pairs.
    rows = {
        table: [
            {name: value for name, value in row.items() if name != "release_id"}
            for row in release.rows[table]
        ]
        for table in RELEASE_TABLES
    }
    for row in rows["items"]:
        row["labels"] = list(row["labels"].items())
    assert id_of_release("x", NOBODY, rows, DEV) == release.release_id
