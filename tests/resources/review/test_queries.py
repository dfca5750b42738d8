"""Queries of the review store on rows written by hand."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Connection, create_engine

from resources.review.statements import sql
from resources.review.tables import METADATA

pytestmark = pytest.mark.files_alone

STANDING = {"item_id": "i", "kind": "rewrite", "status": "round_1", "round": 1, "people": 1}
STANDING |= {"content_hash": "h", "unreserved": 1}
ASSIGNED = {"item_id": "i", "annotator": "ann", "round": 1, "progress": "open"}
LOCK = {"item_id": "i", "annotator": "bob", "round": 1, "content_hash": "h", "expires_at": "3"}
ITEM = {"item_id": "i", "kind": "rewrite", "content_hash": "h", "withdrawn": 0}
EVENT = {"item_id": "i", "reviewer": "ann", "round": 1, "verdict": "accept", "content_hash": "h"}
ASKED = {"reviewer": "ann", "now": "2", "kind": None, "full": "", "any": False, "round": 1}
ASKED |= {"status": "round_1", "item_id": "i", "step": 1}
OTHER = {"item_id": "other", "annotator": "cat", "round": 2, "content_hash": "old"}
NOT_THIS_LOCK = [{"item_id": "other"}, {"annotator": "ann"}, {"round": 2}]
NOT_THIS_LOCK += [{"content_hash": "old"}, {"expires_at": "2"}]


class Rows:
    """The tables of a store in memory."""

    def __init__(self, connection: Connection):
        self.connection = connection
        self.n_rows = 0

    def add(self, table: str, *rows: dict) -> None:
        """Add rows; columns that must have a value and have none get one."""
        for row in rows:
            self.n_rows += 1
            filled = {
                column.name: self.n_rows if "INT" in str(column.type) else f"x{self.n_rows}"
                for column in METADATA.tables[table].columns
                if not column.nullable and column.server_default is None
            }
            self.connection.execute(METADATA.tables[table].insert(), {**filled, **row})

    def ask(self, name: str, lists: tuple[str, ...] = (), **values):
        query = sql(name, lists)
        bound = {
            key: value for key, value in {**ASKED, **values}.items() if key in query._bindparams
        }
        return self.connection.execute(query, bound).all()


@pytest.fixture
def rows() -> Iterator[Rows]:
    engine = create_engine("sqlite://")
    METADATA.create_all(engine)
    with engine.connect() as connection:
        yield Rows(connection)
    engine.dispose()


CHOICES = ("next_item", "this_item", "next_assigned")


@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.parametrize("change", [{}, *NOT_THIS_LOCK], ids=str)
def test_an_item_is_taken_by_locks_of_others_on_this_content(name, change, rows) -> None:
    rows.add("standings", STANDING)
    if name == "next_assigned":
        rows.add("assigned", ASSIGNED)
    rows.add("locks", {**LOCK, **change})
    assert bool(rows.ask(name)) == bool(change)


@pytest.mark.parametrize("name", [*CHOICES, "next_gold"])
@pytest.mark.parametrize(
    ("asked", "is_found"),
    [
        ({}, True),
        ({"kind": "rewrite"}, True),
        ({"kind": "dialogue"}, False),
        ({"full": " dialogue "}, True),
        ({"full": " dialogue rewrite "}, False),
    ],
)
def test_a_kind_that_is_not_wanted_or_full_is_not_given(name, asked, is_found, rows) -> None:
    rows.add("standings", STANDING)
    rows.add("assigned", ASSIGNED)
    rows.add("items", ITEM)
    rows.add("gold", {"item_id": "i", "of_item": "original"})
    assert bool(rows.ask(name, **asked)) == is_found


@pytest.mark.parametrize("name", ["next_item", "this_item"])
def test_a_bar_is_for_one_person_and_item(name, rows) -> None:
    rows.add("standings", STANDING)
    rows.add("bars", {"item_id": "i", "annotator": "bob"}, {"item_id": "other", "annotator": "ann"})
    assert rows.ask(name)
    rows.add("bars", {"item_id": "i", "annotator": "ann"})
    assert not rows.ask(name)


def test_what_is_kept_for_others_is_given_to_whom_it_is_assigned_or_to_anybody(rows) -> None:
    rows.add("standings", {**STANDING, "unreserved": 0})
    for name in ("next_item", "this_item"):
        assert not rows.ask(name)
        assert rows.ask(name, any=True)
    near = [{"item_id": "other"}, {"annotator": "cat"}, {"round": 2}, {"progress": "done"}]
    rows.add("assigned", *({**ASSIGNED, **change} for change in near[:3]))
    rows.add("assigned", {**ASSIGNED, "progress": "done"})
    assert not rows.ask("this_item")
    assert not rows.ask("next_assigned")
    rows.connection.exec_driver_sql("UPDATE assigned SET progress = 'open'")
    assert rows.ask("this_item") == rows.ask("next_assigned") == [("i", 1, "h")]


@pytest.mark.parametrize(
    "change",
    [{}, {"item_id": "other"}, {"annotator": "cat"}, {"round": 2}, {"progress": "done"}],
    ids=str,
)
def test_the_lock_of_whom_it_is_assigned_takes_no_free_place(change, rows) -> None:
    """Two people are needed, and one place is kept; `bob` has it locked."""
    rows.add("standings", {**STANDING, "people": 2})
    rows.add("locks", LOCK)
    rows.add("assigned", {**ASSIGNED, "annotator": "bob", **change})
    assert bool(rows.ask("next_item")) == (not change)
    assert rows.ask("next_item", any=True)
    assert rows.ask("this_item")
    assert not rows.ask("next_item", any=True, status="round_2")


def test_a_rejected_item_is_given_to_one_who_asks_for_it(rows) -> None:
    rows.add("standings", {**STANDING, "status": "rejected", "people": 0, "unreserved": 0})
    assert rows.ask("this_item") == [("i", 1, "h")]
    assert not rows.ask("this_item", item_id="other")
    assert not rows.ask("this_item", round=2)
    assert not rows.ask("next_item", any=True)


def test_the_first_is_that_of_the_highest_priority_then_of_the_queue(rows) -> None:
    for item_id, priority, place in (("a", 1, 1), ("b", 0, 3), ("c", 0, 2)):
        of = {"item_id": item_id, "priority": priority, "place": place}
        # In the order of the assigned the last two have changed places.
        rows.add("standings", {**STANDING, **of})
        rows.add("assigned", {**ASSIGNED, **of, "place": -place})
    assert rows.ask("next_item") == [("c", 1, "h")]
    assert rows.ask("next_assigned") == [("b", 1, "h")]
    assert not rows.ask("next_assigned", reviewer="bob")
    assert not rows.ask("next_assigned", round=2)


def test_gold_is_given_once_and_not_to_who_knows_its_original(rows) -> None:
    for item_id in ("c1", "a2", "b1"):
        rows.add("items", {**ITEM, "item_id": item_id})
        rows.add("gold", {"item_id": item_id, "of_item": f"of {item_id}"})
    assert [rows.ask("next_gold", step=step)[0].item_id for step in (1, 2)] == ["a2", "b1"]
    by_bob = [{**EVENT, "item_id": each, "reviewer": "bob"} for each in ("b1", "of b1")]
    rows.add("events", *by_bob, {**EVENT, "item_id": "of c1"})
    rows.add("events", {**EVENT, "item_id": "a2", "event_id": 90})
    assert rows.ask("next_gold")[0].item_id == "b1"
    # A decision on gold that was taken back is made again; who has seen the original knows it.
    rows.add("events", {**EVENT, "item_id": "of b1", "event_id": 91})
    rows.add("revocations", {"event_id": 91})
    assert not rows.ask("next_gold")
    rows.add("revocations", {"event_id": 90})
    assert [row.item_id for row in rows.ask("next_gold")] == ["a2"]


def test_the_work_of_a_day_is_what_is_decided_and_what_is_locked(rows) -> None:
    rows.add("items", ITEM, {**ITEM, "item_id": "j", "kind": "dialogue"})
    today = {**EVENT, "decided_at": "2"}
    rows.add("events", today, {**today, "decided_at": "1"}, {**today, "verdict": "skip"})
    rows.add("events", {**today, "reviewer": "bob"}, {**today, "event_id": 90})
    rows.add("revocations", {"event_id": 90})
    locks = [{}, {"item_id": "j"}, {"annotator": "bob"}]
    rows.add("locks", *({**LOCK, "annotator": "ann", **change} for change in locks))
    rows.add("items", {**ITEM, "item_id": "k", "kind": "score"})
    rows.add("locks", {**LOCK, "annotator": "ann", "item_id": "k", "expires_at": "2"})
    counts = rows.ask("work_of_day", today="2")
    assert sorted(counts) == [("dialogue", 1), ("rewrite", 2)]


def test_gold_is_made_of_what_experts_decided_the_last_first(rows) -> None:
    statuses = {"a": "approved", "b": "rejected", "c": "round_1", "d": "approved"}
    statuses |= {"e": "approved", "f": "approved"}
    rows.add("standings", *({**STANDING, "item_id": i, "status": s} for i, s in statuses.items()))
    verdicts = {"d": "skip", "e": "accept"}
    for item_id in "babcdef":
        of = {"item_id": item_id, "round": 1 if item_id == "e" else 2}
        rows.add("events", {**EVENT, **of, "verdict": verdicts.get(item_id, "accept")})
    rows.add("gold", {"item_id": "copy", "of_item": "f"})
    assert [row.item_id for row in rows.ask("gold_candidates")] == ["b", "a"]


def test_holds_begin_with_those_that_expire_first(rows) -> None:
    for item_id, expires_at in {"x": "5", "a": "5", "z": "4", "old": "2"}.items():
        rows.add("items", {**ITEM, "item_id": item_id, "title": f"title of {item_id}"})
        rows.add("locks", {**LOCK, "item_id": item_id, "expires_at": expires_at})
    found = rows.ask("holds")
    assert [row.item_id for row in found] == ["z", "a", "x"]
    assert found[0] == ("z", "bob", 1, "4", "rewrite", "title of z")


def test_needed_decisions_are_counted_by_kind(rows) -> None:
    """Of each status one item; the expert decided `done` twice, and took back what `new` was."""
    for status, people in {"round_1": 2, "to_rework": 3, "round_2": 1, "rejected": 0}.items():
        rows.add("standings", {**STANDING, "item_id": status, "status": status, "people": people})
    rows.add("standings", {**STANDING, "item_id": "done", "status": "approved", "people": 0})
    rows.add("standings", {**STANDING, "item_id": "new", "kind": "dialogue"})
    rows.add("events", *({**EVENT, "item_id": "done", "round": 2} for _ in range(2)))
    rows.add("events", {**EVENT, "item_id": "rejected"})
    rows.add("events", {**EVENT, "item_id": "new", "round": 2, "event_id": 90})
    rows.add("revocations", {"event_id": 90})
    assert rows.ask("needed") == [("dialogue", 1, 1, 0, 0, 0, 0), ("rewrite", 5, 1, 1, 4, 1, 2)]


def test_items_rated_twice_are_the_last_ones_in_the_order_of_the_queue(rows) -> None:
    events = {
        "early": [{}, {"reviewer": "bob"}],
        "b": [{}, {"reviewer": "bob"}],
        "a": [{}, {"reviewer": "bob"}],
        "alone": [{}, {}],
        "skipped": [{}, {"reviewer": "bob", "verdict": "skip"}],
        "expert": [{}, {"reviewer": "bob", "round": 2}],
        "changed": [{}, {"reviewer": "bob", "content_hash": "old"}],
        "withdrawn": [{}, {"reviewer": "bob"}],
    }
    for place, item_id in enumerate(reversed(events)):
        of = {"item_id": item_id, "set_id": "s", "place": place}
        of |= {"withdrawn": int(item_id == "withdrawn")}
        rows.add("items", {**ITEM, **of, "kind": "score" if item_id == "a" else "rewrite"})
        rows.add("item_contents", {"item_id": item_id, "item": f"all of {item_id}"})
    for item_id, made in events.items():
        rows.add("events", *({**EVENT, "item_id": item_id, **change} for change in made))
    rows.add("events", {**EVENT, "item_id": "b", "reviewer": "cat"})
    found = rows.ask("rated_twice", ("labelled",), limit=2, labelled=["score"])
    assert [(row.item_id, row.item) for row in found] == [("a", "all of a"), ("b", None)]
    assert found[0][:4] == ("a", "score", "s", "h")


def test_a_dispute_has_the_last_decision_of_each_person_on_what_is_decided_now(rows) -> None:
    reject = {"verdict": "reject", "reason": "wrong"}
    edit = {"verdict": "edit", "reason": None}
    of_two = ({"reviewer": "ann"}, {"reviewer": "bob"})
    no_votes = ({"round": 2}, {"content_hash": "old"}, {"verdict": "skip", "reason": None})
    events = {
        "disputed": ("round_2", [{}, {"reviewer": "bob"}, reject]),
        "first": ("round_2", [{}, {**reject, "reviewer": "bob"}]),
        "edited": ("round_2", [{**edit, **who, "edits": who["reviewer"]} for who in of_two]),
        "equal": ("round_2", [{**edit, **who, "edits": "same"} for who in of_two]),
        "agreed": ("round_2", [reject, {"reviewer": "bob"}, {}]),
        "other": (
            "round_2",
            [{}, *({**reject, "reviewer": "bob", **change} for change in no_votes)],
        ),
        "rework": ("to_rework", [{}, reject]),
        "open": ("round_1", [{}, {**reject, "reviewer": "bob"}]),
    }
    for place, (item_id, (status, made)) in enumerate(events.items()):
        of = {"item_id": item_id, "place": -place}
        rows.add("standings", {**STANDING, **of, "status": status})
        rows.add("items", {**ITEM, **of, "title": f"title of {item_id}"})
        rows.add("events", *({**EVENT, "item_id": item_id, **change} for change in made))
    found = rows.ask("disputes", limit=9)
    assert [(row.item_id, row.reviewer, row.verdict) for row in found] == [
        ("rework", None, None),
        *(("edited", "ann", "edit"), ("edited", "bob", "edit")),
        *(("first", "ann", "accept"), ("first", "bob", "reject")),
        *(("disputed", "bob", "accept"), ("disputed", "ann", "reject")),
    ]
    [row] = rows.ask("disputes", limit=1)
    assert row[:5] == ("rework", "rewrite", "to_rework", "title of rework", 4)


def test_decisions_are_listed_as_they_were_made_without_those_on_gold(rows) -> None:
    for event_id, item_id in ((90, "i"), (91, "gone"), (92, "golden"), (93, "a")):
        rows.add("events", {**EVENT, "item_id": item_id, "event_id": event_id})
    rows.add("items", ITEM, {**ITEM, "item_id": "a", "kind": "dialogue"})
    rows.add("gold", {"item_id": "golden", "of_item": "i"})
    rows.add("events", {**EVENT, "event_id": 80})
    rows.add("revocations", {"event_id": 90, "revocation_id": 7})
    assert [row.kind for row in rows.ask("work")] == ["rewrite", "", "dialogue"]
    # Those that were taken back are among these.
    assert rows.ask("decided") == [
        ("a", "dialogue", "h", 0, "ann", 93, None),
        ("golden", None, None, None, "ann", 92, None),
        ("gone", None, None, None, "ann", 91, None),
        ("i", "rewrite", "h", 0, "ann", 80, None),
        ("i", "rewrite", "h", 0, "ann", 90, 7),
    ]


@pytest.mark.parametrize(
    ("change", "asked"),
    [({}, {}), ({}, {"kind": "rewrite"})]
    + [(change, {}) for change in ({"annotator": "bob"}, {"round": 2}, {"expires_at": "2"})]
    + [({}, {"item_id": "other"}), ({}, {"kind": "dialogue"}), ({"content_hash": "old"}, {})],
    ids=str,
)
def test_the_own_lock_is_one_on_what_is_decided_now(change, asked, rows) -> None:
    rows.add("rules", {"only": 1, "rules": "{}"})
    rows.add("standings", STANDING)
    rows.add("items", ITEM)
    rows.add("locks", {**LOCK, "annotator": "ann", **change})
    [person] = rows.ask("person", **asked)
    is_own = not change and asked in ({}, {"kind": "rewrite"})
    assert (person.rules, person.item_id) == ("{}", "i" if is_own else None)
    assert (person.round, person.content_hash) == ((1, "h") if is_own else (None, None))
    assert (person.has_assigned, person.has_rework) == (0, 0)


def test_a_lock_on_gold_comes_before_those_of_the_queue(rows) -> None:
    rows.add("rules", {"only": 1})
    for place, item_id in ((2, "i"), (1, "first")):
        rows.add("standings", {**STANDING, "item_id": item_id, "place": place})
        rows.add("locks", {**LOCK, "item_id": item_id, "annotator": "ann"})
    assert rows.ask("person", item_id=None)[0].item_id == "first"
    rows.add("gold", {"item_id": "golden"})
    rows.add("locks", {**LOCK, "item_id": "golden", "annotator": "ann"})
    assert rows.ask("person", item_id=None)[0].item_id == "golden"
    assert rows.ask("person", item_id=None, round=2)[0].item_id is None
    for change in ({"annotator": "bob"}, {"round": 2}):
        rows.add("assigned", {**ASSIGNED, **change})
    assert rows.ask("person")[0].has_assigned == 0
    rows.add("assigned", {**ASSIGNED, "progress": "done"})
    rows.add("standings", {**STANDING, "item_id": "back", "status": "to_rework"})
    assert (rows.ask("person")[0].has_assigned, rows.ask("person")[0].has_rework) == (1, 1)


@pytest.mark.parametrize("change", [{}, *({name: value} for name, value in OTHER.items())], ids=str)
def test_a_decision_finds_the_draft_of_its_lock(change, rows) -> None:
    rows.add("locks", {**LOCK, "token": "t"}, {**LOCK, "token": "u", "annotator": "ann"})
    of_draft = {name: LOCK[name] for name in OTHER}
    rows.add("drafts", {**of_draft, **change, "draft": "d"})
    asked = {"token": "t", "annotator": "bob", "source_hash": "s"}
    [found] = rows.ask("decision", **asked)
    assert found[:4] == (None, 1, "h", "3")
    assert (found.known, found.draft, found.status) == (None, None if change else "d", None)
    rows.add("standings", {**STANDING, "item_id": "other"}, {**STANDING, "status": "round_2"})
    rows.add("accounts", {"name": "ann", "role": "admin"}, {"name": "bob", "role": "expert"})
    rows.add("clock", {"only": 1, "ahead": 4.0, "latest": 5.0})
    rows.add("events", {**EVENT, "source_hash": "s", "event_id": 90}, EVENT)
    [found] = rows.ask("decision", **asked)
    assert (found.known, found.status, found.role) == (90, "round_2", "expert")
    assert (found.ahead, found.latest) == (4.0, 5.0)
    for wrong in ({"token": "v"}, {"annotator": "ann"}, {"item_id": "other"}):
        [found] = rows.ask("decision", **{**asked, **wrong})
        assert (found.round, found.role) == (None, None)
