"""Releases, built and imported: rows, names and ids."""

from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.errors import UserError
from methods.evaluation.items import Item, ReferenceKind, Turn
from methods.ids import content_id
from methods.imported_release import NOBODY, imported_name, imported_release, require_name
from methods.release import (
    RELEASE_TABLES,
    ApprovedDialogue,
    Edition,
    Origin,
    ReviewPolicy,
    build_release,
    id_of_release,
    image_positions,
)
from methods.release_items import items_of_release


def turn(question_id: str, question: str, answer: str) -> dict[str, str]:
    return {"question_id": question_id, "question": question, "answer": answer}


BRIDGES = ApprovedDialogue(
    item_id="item-b",
    set_id="set-1",
    revision=1,
    reviewers=("ann", "eve"),
    image_ids=("sha-x", "sha-y"),
    turns=(
        turn("q1", "Image1: <ImageHere>. What is in <image-1>?", "A bridge."),
        turn("q2", "Image2: <ImageHere>. And here?", "Another."),
        {"question": "Which is older?", "answer": "<image-1>."},
    ),
)
MILLS = replace(
    BRIDGES,
    item_id="item-a",
    set_id="set-2",
    revision=0,
    image_ids=("sha-x",),
    turns=(turn("q9", "Image1: <ImageHere>. What?", "A mill."),),
)
QUESTIONS = {"q1": Origin("call-1", "mmdu/questions@1"), "q2": Origin("call-2", "mmdu/questions@1")}
ANSWERS = {"q1": Origin("call-3", "mmdu/answers@1")}


def source(title: str) -> dict[str, str]:
    return {"title": title, "page_url": f"https://example.org/{title}", "licence": "CC BY 4.0"}


SOURCES = {
    ("set-1", "sha-x"): source("Bridge"),
    ("set-1", "sha-y"): source("Viaduct"),
    # The same image stands on another page in another set.
    ("set-2", "sha-x"): source("Mill"),
}

ALL = ReviewPolicy("all", 1.0)


def build(*dialogues: ApprovedDialogue, name="mmdu", reviewed=ALL):
    return build_release(name, dialogues, reviewed, QUESTIONS, ANSWERS, SOURCES)


def values(release, table: str, *columns: str) -> list[tuple]:
    return [tuple(row[name] for name in columns) for row in release.rows[table]]


def test_items_stand_in_the_order_of_their_ids_with_those_who_reviewed_them():
    columns = ("ordinal", "item_id", "set_id", "revision", "reviewers", "labels")
    assert values(build(BRIDGES, MILLS), "items", *columns) == [
        (1, "item-a", "set-2", 0, ["ann", "eve"], {}),
        (2, "item-b", "set-1", 1, ["ann", "eve"], {}),
    ]


def test_a_turn_has_its_images_and_its_texts_have_the_calls_that_wrote_them():
    columns = ("turn", "question", "image_positions", "call_key", "prompt_version")
    assert values(build(BRIDGES), "turns", *columns) == [
        (1, "Image1: <ImageHere>. What is in <image-1>?", [1], "call-1", "mmdu/questions@1"),
        (2, "Image2: <ImageHere>. And here?", [2], "call-2", "mmdu/questions@1"),
        # A turn that a person added: no call is behind it.
        (3, "Which is older?", [], None, None),
    ]
    columns = ("turn", "kind", "reference", "call_key", "prompt_version")
    assert values(build(BRIDGES), "references", *columns) == [
        (1, "answer", "A bridge.", "call-3", "mmdu/answers@1"),
        (2, "answer", "Another.", None, None),
        (3, "answer", "<image-1>.", None, None),
    ]
    two_at_once = image_positions(["<ImageHere><ImageHere> Which?", "<ImageHere> And this?"])
    assert list(two_at_once) == [(1, 2), (3,)]


def test_a_text_that_a_person_changed_has_no_call_behind_it_and_its_turns_other_text_keeps_its_own():
    # Also where a person gave it the text of another turn.
    edited = dict(BRIDGES.turns[0], question=BRIDGES.turns[1]["question"])
    release = build(replace(BRIDGES, turns=(edited, *BRIDGES.turns[1:]), generated=BRIDGES.turns))
    asked, answered = release.rows["turns"], release.rows["references"]
    assert [row["call_key"] for row in asked] == [None, "call-2", None]
    assert [row["call_key"] for row in answered] == ["call-3", None, None]
    # The calls behind edited texts stay known to the release.
    assert {*release.originals} == {*QUESTIONS.values(), *ANSWERS.values()}


def test_an_image_has_its_position_and_the_page_of_its_own_set():
    release = build(BRIDGES, MILLS)
    assert values(release, "images", "item_id", "position", "image_id", "title") == [
        ("item-a", 1, "sha-x", "Mill"),
        ("item-b", 1, "sha-x", "Bridge"),
        ("item-b", 2, "sha-y", "Viaduct"),
    ]
    here = {"release_id": release.release_id, "item_id": "item-b", "position": 1}
    assert release.rows["images"][1] == {**here, "image_id": "sha-x", **source("Bridge")}


def test_the_same_content_is_the_same_release_in_any_order_and_every_image_has_a_source():
    assert build(BRIDGES, MILLS) == build(MILLS, BRIDGES)
    # An image without a source is an error never a row without one.
    with pytest.raises(KeyError):
        build_release("mmdu", [BRIDGES], ALL, QUESTIONS, ANSWERS, {})


def test_other_content_is_another_release():
    first, second, third = BRIDGES.turns
    changes = [
        {"turns": (first, second)},
        {"turns": (dict(first, answer="A ford."), second, third)},
        {"turns": (first, third, second)},
        *({"image_ids": ("sha-y", "sha-x")}, {"reviewers": ("ann", "policy:none")}),
        {"item_id": "item-c"},
    ]
    ids = {build(replace(BRIDGES, **each)).release_id for each in ({}, *changes)}
    ids.add(build(BRIDGES, MILLS).release_id)
    # What was demanded of people: once they had to be there, and once they happened to be.
    demands = [ReviewPolicy("none", 0.0), ReviewPolicy("sample", 0.1), ReviewPolicy("sample", 0.2)]
    ids |= {build(BRIDGES, reviewed=reviewed).release_id for reviewed in demands}
    assert len(ids) == 11
    digits = [build(BRIDGES, name=name).release_id[-10:] for name in ("mmdu", "mmdu-instruct")]
    assert digits[0] != digits[1]


def test_every_row_of_every_table_carries_the_release():
    release = build(BRIDGES, MILLS)
    for table, rows in release.rows.items():
        assert {row["release_id"] for row in rows} == ({release.release_id} if rows else set())
        assert build().rows[table] == []
        assert bool(rows) == (table != "choices"), "dialogues have no choices"


def rows_of(*dialogues: ApprovedDialogue) -> dict[str, list[dict]]:
    """Their rows as the tables have them, without the release."""
    return {
        table: [{name: row[name] for name in row if name != "release_id"} for row in rows]
        for table, rows in build(*dialogues).rows.items()
    }


def test_the_id_is_that_which_the_first_version_gave():
    """By hand: name, policy and rows as they were before items had labels and turns could be given."""
    rows = rows_of(BRIDGES, MILLS)
    before = {
        table: [
            {name: row[name] for name in row if name not in ("labels", "group_id", "given", "kind")}
            for row in rows[table]
        ]
        for table in ("items", "turns", "references", "images")
    }
    digits = content_id("release", "mmdu", {"policy": "all", "share": 1.0}, before)[:10]
    assert build(BRIDGES, MILLS).release_id == f"mmdu-{digits}"


def test_the_id_of_a_held_out_split_tells_nobody_the_keys():
    """Whoever has every other row would else try keys until the id is right."""
    rows = rows_of(BRIDGES)
    other = [{**row, "reference": f"{row['reference']} And more."} for row in rows["references"]]

    def ids(edition: Edition) -> set[str]:
        given = (rows, {**rows, "references": other}, {**rows, "references": []})
        return {id_of_release("mmbench-test", ALL, each, edition) for each in given}

    assert len(ids(Edition("mmbench", "test"))) == 1
    assert len(ids(Edition("mmbench", "dev"))) == 3
    assert len(ids(Edition("mmbench", "test", origin="imported"))) == 3
    revised = {**rows, "items": [{**row, "revision": 7} for row in rows["items"]]}
    held = Edition("mmbench", "test")
    assert id_of_release("t", ALL, revised, held) != id_of_release("t", ALL, rows, held)


def test_what_is_at_its_default_is_not_hashed_and_what_says_something_is():
    rows = rows_of(BRIDGES)
    release_id = id_of_release("mmdu", ALL, rows, Edition("mmdu"))
    assert release_id == build(BRIDGES).release_id == id_of_release("mmdu", ALL, rows, Edition())

    def with_column(table: str, **more: object) -> str:
        changed = {**rows, table: [{**row, **more} for row in rows[table]]}
        return id_of_release("mmdu", ALL, changed, Edition("mmdu"))

    # As the tables give them: NULLs, and a MAP as pairs.
    assert with_column("items", group_id=None, labels=[]) == release_id
    assert with_column("turns", given=None) == release_id
    others = [
        with_column("items", group_id="g"),
        with_column("items", labels={"task": "Counting"}),
        with_column("items", labels=[("task", "Memes")]),
        with_column("turns", given="A bridge."),
        with_column("references", kind="caption"),
        id_of_release("mmdu", ALL, rows, Edition("mmdu", origin="imported")),
        id_of_release("mmdu", ALL, rows, Edition("mmdu", split="dev")),
        id_of_release("mmdu", ALL, rows, Edition("mmdu", language="en")),
        id_of_release("mmdu", ALL, {**rows, "choices": [{"choice": "A kite"}]}, Edition("mmdu")),
    ]
    assert len({release_id, *others}) == 1 + len(others)


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


def test_a_name_is_made_of_what_is_known_and_can_name_a_folder() -> None:
    names = {
        "mmdu-imported": Edition("mmdu"),
        "mmdu-test": Edition("mmdu", "test"),
        "mmdu-en": Edition("mmdu", language="en"),
        "mmbench-dev-cn": Edition("mmbench", "DEV", "CN"),
    }
    for name, edition in names.items():
        assert imported_name(edition) == name
        require_name(name)
    for name in ("", "a/b", "..", ".a", "A", "a b", "a\n", "ü", "a" * 61):
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
