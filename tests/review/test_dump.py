"""Everything that people did, out and back, in each form."""

import csv
import io
import json
import zipfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dagster_project.cli import main as loom
from resources.files import bounded
from resources.review.accounts import Accounts
from resources.review.gold import gold_id_of
from resources.review.loading import DumpError
from resources.review.store import ReviewStore
from review import dump_tables
from review.dump import dump_file, tables
from review.dump_tables import COLUMNS, FORMS
from review.load import load
from tests.resources.review.account_clock import CHEAP
from tests.resources.review.review_queue import (
    item,
    item_with,
    queue,
    status,
    verdict,
    with_rules,
    work,
)
from tests.review.pages import make_site, signed_in

Row = dict[str, Any]
PEOPLE = {"ann": "annotator", "bob": "annotator", "eve": "expert", "ada": "admin"}
FORMULAS = ("=", "+", "-", "@")
FORMULA = '=HYPERLINK("http://x","y")\r\n\'+1, “字” <b>'


def home(path: Path, n_items: int = 4, **more: str) -> tuple[ReviewStore, Accounts]:
    """A store with items, and people, of whom `more` have these roles."""
    store = with_rules(path, "default: {annotators: 1, expert: all}", queue(n_items))
    accounts = Accounts(store.path, hasher=CHEAP)
    for name, role in {**PEOPLE, **more}.items():
        accounts.add(name, role)
    return store, accounts


@pytest.fixture
def worked(tmp_path: Path) -> ReviewStore:
    """Decisions of every verdict, one taken back, an item opened again, comments."""
    store, _ = home(tmp_path / "worked")
    edits = {**item(0)["content"], "rewrite": FORMULA}
    work(store, "ann", verdict_="edit", edits=edits, item_id="item-0", note=FORMULA, seconds=2.5)
    work(store, "eve", "expert", item_id="item-0", seconds=0.0, note="bad\r=1+1\u2028")
    work(store, "ann", verdict_="reject", item_id="item-1")
    work(store, "ann", verdict_="skip", item_id="item-2")
    work(store, "bob", item_id="item-2")
    work(store, "bob", item_id="item-3")
    last = store.last_decision("bob")
    store.take_back("item-3", last.event_id, "bob")
    store.reopen("item-0", "ada", 2, FORMULA)
    store.comment("item-0", "ann", FORMULA)
    store.comment("item-0", "eve", "To you.", "ann")
    return store


def without_ids(store: ReviewStore) -> dict[str, list[Row]]:
    return {
        name: [{key: row[key] for key in row if key != "comment_id"} for row in rows]
        for name, rows in tables(store).items()
    }


def statuses(store: ReviewStore) -> list[str]:
    return [status(store, f"item-{number}") for number in range(4)]


@pytest.fixture
def golden(worked: ReviewStore) -> ReviewStore:
    """Two gold items, and a new person's decision on each."""
    for _ in range(2):
        work(worked, "eve", "expert")
    assert worked.make_gold(5, "ada") == 2
    for row, says in zip(worked.gold(), ("accept", "reject"), strict=True):
        more = {"seconds": 1.0, "decided_at": "2026-02-01T00:00:00+00:00"}
        assert worked.append([verdict(worked.item(row["item_id"]), "new", says, **more)]) == (1, 0)
    return worked


@pytest.mark.parametrize("form", FORMS)
def test_it_is_read_back_whole(golden, tmp_path, form):
    if form == "csv":
        with zipfile.ZipFile(io.BytesIO(dump_file(golden, form))) as archive:
            texts = [archive.read(name).decode("utf-8-sig") for name in archive.namelist()]
        rows = [row for text in texts for row in csv.reader(io.StringIO(text, newline=""))]
        assert not [cell for row in rows for cell in row if cell.lstrip().startswith(FORMULAS)]
    # A note as long as the app takes.
    work(golden, "bob", item_id="item-3", note="n" * 200_000)
    file = tmp_path / "review.zip"
    file.write_bytes(dump_file(golden, form))
    store, accounts = home(tmp_path / "other", new="annotator")

    assert load(file, store) == ((11, 2, 0, 0, ()), 0, 0)

    assert without_ids(store) == without_ids(golden)
    assert statuses(store) == statuses(golden)
    people = store.overview().gold.people
    assert people == golden.overview().gold.people and people[0][:2] == ("new", 2)
    assert dump_file(store, form) == file.read_bytes()
    # Again, and into the store it came from, it adds nothing.
    for each in (store, golden):
        assert load(file, each) == ((0, 0, 13, 0, ()), 0, 0)


def test_decisions_on_what_a_home_lacks_are_left_out_counted_and_added_later(
    golden, tmp_path, monkeypatch, capsys
):
    file, old = tmp_path / "review.zip", tmp_path / "old.zip"
    file.write_bytes(dump_file(golden, "jsonl"))
    with zipfile.ZipFile(file) as archive, zipfile.ZipFile(old, "w") as without:
        for name in archive.namelist():
            if name != "gold.jsonl":
                without.writestr(name, archive.read(name))
    store, accounts = home(tmp_path / "other", new="annotator")
    # A file of an earlier version has no gold items.
    assert load(old, store) == ((8, 2, 0, 0, ()), 0, 2)
    # The advice works: gold made here has the same ids.
    assert store.make_gold(5, "ada") == 2
    assert load(old, store) == ((2, 0, 10, 0, ()), 0, 0)

    copied = {row["of_item"] for row in golden.gold()}
    store, _ = home(tmp_path / "fourth", 0, new="annotator")
    here = [each for each in queue(4) if each["item_id"] not in copied]
    store.update_queue(here)
    n_here = len(golden.decisions({each["item_id"] for each in here}, revoked=True))
    monkeypatch.setenv("LOOM_WORKSPACE", str(store.path.parent))
    assert loom(["review", "load", str(file)]) == 1
    said = capsys.readouterr()
    assert f"{n_here} decisions and 2 comments added" in said.out
    assert f"{8 - n_here} decisions were left out" in said.err
    assert "2 decisions on gold items were left out" in said.err
    store.update_queue(queue(4))
    assert loom(["review", "load", str(file)]) == 0
    assert len(store.decisions(revoked=True)) == 10


def test_all_missing_names_are_said_at_once_with_the_command_that_adds_them(worked, tmp_path):
    worked.comment("item-1", "ada", "An administrator may do this as an annotator may.")
    file = tmp_path / "review.zip"
    file.write_bytes(dump_file(worked, "jsonl"))
    store = with_rules(tmp_path / "bare", "default: {annotators: 1, expert: all}", queue(4))
    bare = Accounts(store.path)
    with pytest.raises(DumpError) as caught:
        load(file, store)
    assert store.decisions(revoked=True) == [] and store.comments() == []
    commands = str(caught.value).partition("run ")[2].partition(" and load")[0].split(" && ")
    assert sorted(commands) == sorted(
        f"vlm-loom review account add {name} --role {role}" for name, role in PEOPLE.items()
    )
    for command in commands:
        words = command.split()
        bare.add(words[4], words[6])
    assert load(file, store).stored.decisions == 6


def test_the_tables_say_what_was_done(worked):
    made = tables(worked)
    sizes = {"decisions": 6, "revisions": 1, "comments": 2, "effort": 2, "gold": 0}
    assert {name: len(rows) for name, rows in made.items()} == sizes
    for name, rows in made.items():
        assert all(set(row) >= set(COLUMNS[name]) for row in rows)
    (revision,) = made["revisions"]
    found = [revision[name] for name in ("part", "before", "after")]
    assert found == ["rewrite", "Rewrite 0.0", FORMULA]
    assert [row["ended_for"] for row in made["decisions"] if row["ended_by"]] == [FORMULA, None]
    # What was taken back or opened again took effort that does not count.
    effort = {row["reviewer"]: row["n_decisions"] for row in made["effort"]}
    assert effort == {"ann": 2, "bob": 1}


@pytest.mark.parametrize(
    ("table", "change", "fault"),
    [
        ("decisions", {"edits": None}, "edits are given with the verdict edit"),
        ("decisions", {"edits": "NaN"}, "edits are given with the verdict edit"),
        ("decisions", {"content_hash": "0" * 20, "edits": '{"a": 5}'}, "keys of another kind"),
        ("decisions", {"seconds": "nan"}, "decisions, row 1: seconds: "),
        ("decisions", {"ended_by": "bob"}, "'bob' is annotator here and did what only admin"),
        ("decisions", {"ended_by": None}, "ended_at and ended_by belong together"),
        ("decisions", {"round": 2}, "review account role ann expert and load the file again"),
        ("decisions", {"note": "\x1b[31m"}, "U+001B is an invisible control character"),
        ("decisions", {"source_hash": "\ud800"}, "row 1: source_hash: NUL and half a character"),
        ("decisions", {"verdict": "reject", "edits": None, "reason": "ugly"}, "reason is one of "),
        ("comments", {"text": " \n"}, "comments, row 1: text: a comment is not empty"),
        ("comments", {"addressee": "mallory"}, "There is no account 'mallory'"),
    ],
)
def test_what_does_not_fit_is_said_and_nothing_is_stored(worked, tmp_path, table, change, fault):
    store, accounts = home(tmp_path / "other")
    made = {
        name: [{column: row[column] for column in COLUMNS[name]} for row in rows]
        for name, rows in tables(worked).items()
    }
    ended_at = made["decisions"][0]["decided_at"]
    made["decisions"][0] |= {"ended_at": ended_at, "ended_by": "ada"}
    made[table][0] |= change
    with pytest.raises(DumpError) as caught:
        load(written(tmp_path / "review.zip", **made), store)

    assert fault in str(caught.value)
    assert (store.decisions(revoked=True), store.comments()) == ([], [])


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_edits_are_checked_against_the_content_that_another_row_makes(tmp_path, order):
    choices = {"A": "A mill", "B": "A ship"}
    content = {"image_ids": [], "question": "What?", "hint": None, "choices": choices}
    queued = item_with(content | {"answer": "A", "category": "objects"}, "multiple_choice")
    store, _ = home(tmp_path / "from")
    other, _ = home(tmp_path / "to")
    for each in (store, other):
        each.update_queue([queued])
    edited = queued["content"] | {"question": "Which?"}
    further = edited | {"choices": {letter: letter for letter in ascii_uppercase[:16]}}
    first = verdict(queued, "ann", "edit", edited)
    second = verdict(item_with(edited), "eve", "edit", further, round=2)
    store.append([first, second])
    rows = decisions_of(store, queued["item_id"])

    with pytest.raises(DumpError, match="choices: there are at most 10 choices: remove the"):
        load(written(tmp_path / "review.zip", [rows[place] for place in order]), other)

    assert other.decisions() == []


def test_a_turn_that_an_annotator_removed_and_the_expert_took_back_is_loaded(tmp_path):
    turns = [{"question": "What?", "answer": str(n), "question_id": f"q{n}"} for n in range(2)]
    queued = item_with({"image_ids": [], "turns": turns}, "dialogue")
    store, _ = home(tmp_path / "from")
    other, _ = home(tmp_path / "to")
    for each in (store, other):
        each.update_queue([queued])
    shorter = queued["content"] | {"turns": turns[:1]}
    back = verdict(item_with(shorter), "eve", "edit", queued["content"], round=2)
    store.append([verdict(queued, "ann", "edit", shorter), back])
    assert load(written(tmp_path / "f.zip", decisions_of(store, "item")), other)[0].decisions == 2


def written(path: Path, decisions: list[Row], comments: Sequence[Row] = (), **more: Any) -> Path:
    """A file with these decisions."""
    made = {"decisions": decisions, "comments": comments, **more}
    rows = {name: "\n".join(map(json.dumps, made[name])) for name in made}
    path.write_bytes(archived(*((f"{name}.jsonl", rows[name]) for name in rows)))
    return path


def decisions_of(store: ReviewStore, item_id: str) -> list[Row]:
    return [
        {name: row[name] for name in COLUMNS["decisions"]}
        for row in tables(store)["decisions"]
        if row["item_id"] == item_id
    ]


@pytest.mark.parametrize(
    ("expected", "fault"),
    [
        ({"verdict": "edit", "scores": {"clarity": "5"}}, "scores clarity: this is a whole number"),
        ({"verdict": "accept", "scores": {"clarity": 4}}, "accepted item is not that of the item"),
    ],
)
def test_gold_that_no_decision_can_be_compared_with_is_refused(tmp_path, expected, fault):
    store, accounts = home(tmp_path / "other")
    texts = dict.fromkeys(("question", "reference", "answer"), "Text")
    scale = {"dimensions": ["clarity"], "lowest": 0, "highest": 10, "scores": {"clarity": None}}
    scored = item_with({"image_ids": [], **texts, **scale}, "score")
    store.update_queue([scored])
    content = {**scored["content"], "scores": expected["scores"]}
    row = {"item_id": gold_id_of(scored), "of_item": scored["item_id"], "made_by": "ada"}
    row["expected"] = json.dumps({"verdict": expected["verdict"], "content": content})
    row["made_at"] = "2026-01-01T00:00:00+00:00"
    with pytest.raises(DumpError, match=f"gold, row 1: expected: .*{fault}"):
        load(written(tmp_path / "gold.zip", [], gold=[row]), store)
    assert store.gold() == []


def test_nobody_decides_both_rounds_of_an_item(worked, tmp_path):
    (first,) = [row for row in decisions_of(worked, "item-2") if row["verdict"] == "accept"]
    again = {**first, "round": 2, "source_hash": "0" * 20}
    store, accounts = home(tmp_path / "other")
    accounts.set_role("bob", "expert")
    with pytest.raises(DumpError, match="bob would have decided item item-2 in both rounds"):
        load(written(tmp_path / "both.zip", [first, again]), store)
    assert load(written(tmp_path / "first.zip", [first]), store).stored.decisions == 1
    with pytest.raises(DumpError, match="somebody else must decide round 2"):
        load(written(tmp_path / "second.zip", [first, again]), store)
    by_eve = written(tmp_path / "eve.zip", [first, {**again, "reviewer": "eve"}])
    assert load(by_eve, store).stored.decisions == 1
    assert status(store, "item-2") == "approved"


@pytest.mark.parametrize(
    ("by", "now"),
    [("bob", "taken back"), ("ada", "opened again"), ("eve", None), ("mallory", None)],
)
def test_a_stored_decision_that_ended_elsewhere_ends_here_too(worked, tmp_path, by, now):
    (skip, first) = decisions_of(worked, "item-2")
    end = {"ended_by": by, "ended_for": None, "ended_at": first["decided_at"]}
    file = written(tmp_path / "ended.zip", [skip, {**first, **end}])
    if now is None:  # Only administrators end a decision of somebody else.
        with pytest.raises(DumpError, match=by):
            load(file, worked)
        assert status(worked, "item-2") == "round_2"
        return
    assert load(file, worked) == ((0, 0, 2, 1, ()), 0, 0)
    assert status(worked, "item-2") == "round_1"
    assert decisions_of(worked, "item-2")[1]["ended_by"] == by
    # Neither the same file again nor one in which it counts changes anything.
    for again in (file, written(tmp_path / "before.zip", [skip, first])):
        assert load(again, worked) == ((0, 0, 2, 0, ()), 0, 0)
    assert status(worked, "item-2") == "round_1"


DAY = "2026-01-{:02}T00:00:00+00:00"
HISTORY = [("bob", 1, "accept", "bob"), ("ann", 1, "accept", None), ("eve", 2, "reject", None)]
"""Decisions on an item by day: person, round, verdict, and the person who ended it."""
OTHER = ("bob", 1, "reject", None)
IN_FORCE = (*HISTORY[0][:3], None)


def without_ends(rows: list[Row]) -> list[Row]:
    """The decisions with who ended them, but not when: each store ended its own."""
    return [{name: row[name] for name in row if name != "ended_at"} for row in rows]


@pytest.mark.parametrize(
    ("here", "there", "stored"),
    [
        # The same, and what continues the other.
        (HISTORY, HISTORY, (0, 3, 0)),
        ([], HISTORY, (3, 0, 0)),
        (HISTORY[:1], HISTORY, (2, 1, 0)),
        (HISTORY, HISTORY[:1], (0, 1, 0)),
        ([IN_FORCE], HISTORY, (2, 1, 1)),
        (HISTORY, [IN_FORCE], (0, 1, 0)),
        # Each has something that the other lacks.
        (HISTORY, [OTHER], None),
        (HISTORY[:1], HISTORY[1:], None),
        (HISTORY[:1], [IN_FORCE, HISTORY[1]], None),
        ([IN_FORCE, HISTORY[1]], HISTORY[:1], None),
    ],
)
def test_an_item_has_the_history_of_one_of_the_two_stores(tmp_path, here, there, stored):
    stores = []
    for name, history in (("here", here), ("there", there)):
        store, _ = home(tmp_path / name)
        on = store.item("item-0")
        days = {(person, says): DAY.format(n) for n, (person, _, says, _) in enumerate(HISTORY, 1)}
        for person, round, says, end in history:
            at = days.get((person, says), DAY.format(9))
            store.append([verdict({**on, "round": round}, person, says, decided_at=at)])
            if end is not None:
                store.take_back("item-0", store.last_decision(end).event_id, end)
        stores.append(store)
    target, source = stores
    file = tmp_path / "review.zip"
    file.write_bytes(dump_file(source, "jsonl"))
    before = decisions_of(target, "item-0")

    result = load(file, target).stored

    (n_added, n_known, n_ended) = stored or (0, 0, 0)
    diverged = () if stored else ("item-0",)
    assert result == (n_added, 0, n_known, n_ended, diverged)
    is_new = n_added or n_ended
    there = decisions_of(source, "item-0")
    assert without_ends(decisions_of(target, "item-0")) == without_ends(there if is_new else before)
    assert status(target, "item-0") == status(source if is_new else target, "item-0")


@pytest.mark.parametrize("change", [("erase", "bob"), ("rename", "bob", "robert")])
@pytest.mark.parametrize("changed_in", ["here", "there"])
def test_decisions_of_who_has_another_name_now_are_known_and_end(tmp_path, changed_in, change):
    there, people_there = home(tmp_path / "there")
    here, people_here = home(tmp_path / "here")
    there.append([verdict(there.item("item-0"), "bob", decided_at=DAY.format(2))])
    file = tmp_path / "review.zip"
    file.write_bytes(dump_file(there, "jsonl"))
    assert load(file, here).stored.decisions == 1
    people = people_here if changed_in == "here" else people_there
    act, *names = change
    getattr(people, act)(*names)
    # Somebody else may have that name later.
    people.add("bob", "annotator")
    there.reopen("item-0", "ada", 1, "Look again.")
    file.write_bytes(dump_file(there, "jsonl"))
    before = [each.reviewer for each in here.decisions(revoked=True)]
    assert load(file, here) == ((0, 0, 1, 1, ()), 0, 0)
    assert [each.reviewer for each in here.decisions(revoked=True)] == before
    assert status(here, "item-0") == "round_1"


def test_a_decision_is_in_one_row_and_has_a_source_hash_of_its_own(worked, tmp_path):
    own, (other,) = (decisions_of(worked, f"item-{n}") for n in (2, 1))
    claimed = {**own[-1], "round": 2, "reviewer": "eve", "source_hash": other["source_hash"]}
    with pytest.raises(DumpError, match="of eve on item item-2 has the source_hash of another"):
        load(written(tmp_path / "claimed.zip", [*own, claimed]), worked)
    twice = written(tmp_path / "equal.zip", [*own, {**own[0], "event_id": 99}])
    with pytest.raises(DumpError, match="row 3: an earlier row has the same decision: remove one"):
        load(twice, worked)


def test_times_in_other_forms_are_stored_in_utc(tmp_path):
    store, _ = home(tmp_path / "one")
    row = {"item_id": "item-0", "addressee": None, "comment_id": 1, "author": "ann", "text": "So."}
    times = [
        "2026-01-01T14:00:00+14:00",
        "20260102T000000Z",
        "2026-01-03",
        "2026-01-04T00:00:00.5Z",
    ]
    comments = [{**row, "written_at": time} for time in times]
    load(written(tmp_path / "times.zip", [], comments), store)
    stored = [each.written_at for each in store.comments()]
    assert stored == [DAY.format(n) for n in (1, 2, 3)] + ["2026-01-04T00:00:00.500000+00:00"]


def test_two_people_who_say_the_same_at_the_same_time_are_both_loaded(tmp_path):
    store, accounts = home(tmp_path / "one")
    on = store.item("item-0")
    at = "2026-01-01T00:00:00+00:00"
    store.append([verdict(on, name, decided_at=at) for name in ("ann", "bob")])
    decisions = decisions_of(store, "item-0")
    said = {"item_id": "item-0", "addressee": None, "text": "Same.", "written_at": at}
    comments = [
        {**said, "comment_id": number, "author": name} for number, name in enumerate(("ann", "bob"))
    ]
    file = written(tmp_path / "both.zip", decisions, comments)
    other, people = home(tmp_path / "two")
    # The first is already there alone, and is not taken for the other.
    alone = written(tmp_path / "alone.zip", decisions[:1], comments[:1] * 2)
    assert load(alone, other) == ((1, 1, 1, 0, ()), 0, 0), "twice in the file"
    assert load(file, other) == ((1, 1, 2, 0, ()), 0, 0)
    assert sorted(each.reviewer for each in other.decisions()) == ["ann", "bob"]
    assert sorted(each.author for each in other.comments()) == ["ann", "bob"]
    assert load(file, store) == ((0, 2, 2, 0, ()), 0, 0)
    for name in ("ann", "bob"):
        people.erase(name)
    assert load(file, other) == ((0, 0, 4, 0, ()), 0, 0)


def archived(*members: tuple[str, bytes | str]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return data.getvalue()


def damaged(data: bytes, harm: str) -> bytes:
    """The first member of an archive with wrong bytes, or said to be encrypted."""
    if harm == "damaged":
        first = 30 + len("decisions.csv")
        return data[:first] + b"\xff" * 8 + data[first + 8 :]
    changed = bytearray(data)
    # The flags stand at this offset of a member's header and of its entry in the list.
    for place in (0, data.index(b"PK\x01\x02") + 2):
        changed[place + 6] |= 1
    return bytes(changed)


OTHER, ROWS = "give a file that vlm-loom review dump wrote", b"item_id\n" + b"a\n" * 1000


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"nothing", OTHER),
        (archived(("decisions.txt", "x")), OTHER),
        (archived(("decisions.csv", ""), ("decisions.csv", "")), f"decisions 2 times .*{OTHER}"),
        (archived(("decisions.csv", ""), ("decisions.jsonl", "")), "csv, decisions.jsonl"),
        (damaged(archived(("decisions.csv", ROWS)), "damaged"), f"cannot be read .*{OTHER}"),
        (damaged(archived(("decisions.csv", ROWS)), "encrypted"), f"cannot be read .*{OTHER}"),
        (archived(("decisions.csv", ROWS * 15_000)), "more than the 20000000 allowed"),
    ],
    ids=["bytes", "member", "twice", "two forms", "damaged", "encrypted", "too large"],
)
def test_what_is_no_dump_is_one_sentence(tmp_path, data, says):
    file = tmp_path / "review.zip"
    file.write_bytes(data)
    with pytest.raises(DumpError, match=says):
        load(file, home(tmp_path / "other")[0])


@pytest.mark.parametrize("form", FORMS)
def test_a_table_has_a_limit_of_rows(worked, tmp_path, monkeypatch, form):
    file = tmp_path / "review.zip"
    file.write_bytes(dump_file(worked, form))
    n_rows = len(tables(worked)["decisions"])
    monkeypatch.setattr(dump_tables, "MOST_ROWS", n_rows)
    assert load(file, worked).stored.n_known == n_rows + 2
    monkeypatch.setattr(dump_tables, "MOST_ROWS", n_rows - 1)
    with pytest.raises(DumpError, match=f"a table has more than {n_rows - 1} rows"):
        load(file, worked)


def parquet_dump(path: Path, table: pa.Table) -> Path:
    data = io.BytesIO()
    pq.write_table(table, data, compression="zstd")
    others = ((f"{name}.jsonl", "") for name in ("comments", "gold"))
    path.write_bytes(archived(("decisions.parquet", data.getvalue()), *others))
    return path


def test_equal_rows_of_parquet_unpack_to_a_multiple_of_their_size(worked, tmp_path, monkeypatch):
    row = {**decisions_of(worked, "item-1")[0], "item_id": "unknown"}
    file = parquet_dump(tmp_path / "equal.zip", pa.Table.from_pylist([row] * 1_000))
    assert load(file, worked).without_item == 1_000
    monkeypatch.setattr(bounded, "SMALL_UNPACKED", 100_000)
    monkeypatch.setattr(bounded, "MOST_TIMES", 10)
    with pytest.raises(DumpError, match="its records have more than 100,000 bytes, decoded"):
        load(file, worked)


@pytest.mark.parametrize("value", [[], b"a", datetime(2026, 1, 1)])
def test_a_column_of_parquet_has_texts_or_numbers(worked, tmp_path, value):
    row = {**decisions_of(worked, "item-1")[0], "note": value}
    file = parquet_dump(tmp_path / "typed.zip", pa.Table.from_pylist([row]))
    with pytest.raises(DumpError, match="a column has neither texts nor numbers"):
        load(file, worked)


def test_the_commands_and_the_button(worked, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("LOOM_WORKSPACE", str(worked.path.parent))
    out = tmp_path / "out.zip"
    assert loom(["review", "dump", "--out", str(out), "--format", "jsonl"]) == 0
    assert loom(["review", "dump", "--out", str(out)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert loom(["review", "load", str(out)]) == 0
    assert "0 decisions and 0 comments added, 8 known already" in capsys.readouterr().out

    site = make_site(tmp_path / "site")
    ada = signed_in(site, "ada")
    assert "/dump/csv" in ada.get("/").text
    for reader in (signed_in(site, "anna"), signed_in(site, "eva")):
        assert "/dump/" not in reader.get("/").text
        assert reader.get("/dump/csv").status_code == 403
    for form in FORMS:
        answer = ada.get(f"/dump/{form}")
        assert answer.content == dump_file(site.store, form)
        assert answer.headers["content-type"] == "application/zip"
    assert ada.get("/dump/exe").status_code == 404
