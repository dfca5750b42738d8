"""Changes of mind: which decisions end, what the status becomes, and that nothing is rewritten."""

import pytest
from sqlalchemy.exc import IntegrityError

from methods.review import resolve
from methods.review.process import Rules
from methods.review.resolution import ResolutionPolicy
from resources.review.revocations import MAX_REASON, MOST_TAKEN_BACK, RevocationError
from resources.review.store import ReviewStore
from tests.resources.review.review_queue import (
    assert_follows_from_events,
    change,
    columns,
    item,
    rewritten,
    status,
    work,
)
from tests.resources.review.review_queue import rows as query_rows


def rows(store: ReviewStore, table: str = "events") -> list[tuple]:
    return query_rows(store, f"SELECT * FROM {table} ORDER BY 1")


def last(store: ReviewStore, person: str) -> int:
    return store.last_decision(person).event_id


def test_decisions_on_an_item_are_taken_back_a_number_of_times(store):
    """Those on another item are not counted."""
    for _ in range(MOST_TAKEN_BACK):
        work(store, "ann", item_id="item-0")
        assert store.may_take_back("item-0", "ann") != []
        store.take_back("item-0", last(store, "ann"), "ann")
    work(store, "ann", item_id="item-0")
    assert (store.may_take_back("item-0", "ann"), store.last_decision("ann")) == ([], None)
    with pytest.raises(RevocationError, match="taken back 10 decisions on this item"):
        store.take_back("item-0", store.decisions(["item-0"])[0].event_id, "ann")
    work(store, "ann", item_id="item-1")
    store.take_back("item-1", last(store, "ann"), "ann")


def test_ones_own_decision_ends_and_becomes_a_draft(store):
    edited = {**item(0)["content"], "rewrite": "Better."}
    work(store, "ann", verdict_="edit", edits=edited, item_id="item-0", note="so", seconds=7.0)
    before, decided = rows(store), store.decided()
    assert status(store, "item-0") == "round_2"

    store.take_back("item-0", last(store, "ann"), "ann")

    assert rows(store) == before, "no event is changed"
    assert (status(store, "item-0"), store.decisions()) == ("round_1", [])
    assert len(store.decisions(revoked=True)) == 1
    # What follows from decisions is made again.
    assert (decided.n_decisions, store.decided().n_decisions) == (1, 0)
    assert store.decided().fingerprint != decided.fingerprint
    lock = store.lock_item("ann", "annotator", item_id="item-0")
    draft = store.draft(lock.claim)[0]
    said = {"content": edited, "verdict": "edit", "note": "so", "seconds": 7.0, "reason": None}
    assert draft == said
    # The same decision may be made again, and a skip taken back, too.
    store.unlock(lock.claim)
    work(store, "ann", verdict_="skip", item_id="item-0")
    assert store.lock_item("ann", "annotator", item_id="item-0") is None
    skipped = store.decided().fingerprint
    store.take_back("item-0", last(store, "ann"), "ann")
    assert store.decided().fingerprint != skipped, "the second end as the first"
    work(store, "ann", verdict_="edit", edits=edited, item_id="item-0", note="so")
    assert status(store, "item-0") == "round_2"
    with pytest.raises(RevocationError):
        store.take_back("item-0", before[-1][0], "ann")
    assert_follows_from_events(store)


@pytest.mark.files_alone
def test_what_somebody_built_on_stays_and_what_is_anothers_or_of_another_item(store):
    work(store, "ann", item_id="item-0")
    mine = last(store, "ann")
    for person, item_id in (("bob", "item-0"), ("ann", "item-1")):
        with pytest.raises(RevocationError, match="no such decision"):
            store.take_back(item_id, mine, person)
    assert len(store.decisions()) == 1
    work(store, "eve", "expert", item_id="item-0")

    assert store.last_decision("ann") is None
    with pytest.raises(RevocationError, match="Somebody else has decided"):
        store.take_back("item-0", mine, "ann")
    # The expert's own is the last one.
    store.take_back("item-0", last(store, "eve"), "eve")
    assert status(store, "item-0") == "round_2"
    store.take_back("item-0", mine, "ann")
    assert status(store, "item-0") == "round_1"


@pytest.mark.files_alone
def test_a_rework_is_taken_back_as_the_earlier_decisions_are_on_other_content(store):
    work(store, "bob", verdict_="edit", edits=rewritten(store, "item-0", "1"), item_id="item-0")
    work(store, "eve", "expert", verdict_="reject", item_id="item-0")
    work(store, "ann", verdict_="edit", edits=rewritten(store, "item-0", "2"), item_id="item-0")
    assert status(store, "item-0") == "round_2"
    store.take_back("item-0", last(store, "ann"), "ann")
    assert status(store, "item-0") == "to_rework"


@pytest.mark.files_alone
def test_with_two_annotators_nobody_takes_back_who_may_know_the_others(blind):
    work(blind, "ann", verdict_="reject", item_id="item-0")
    work(blind, "dan", verdict_="skip", item_id="item-0")  # says nothing of a decision
    blind.take_back("item-0", last(blind, "ann"), "ann")
    lock = blind.lock_item("ann", "annotator", item_id="item-0")
    assert blind.draft(lock.claim)[0]["reason"] == "incomplete"
    work(blind, "ann", verdict_="reject", item_id="item-0")
    second = last(blind, "ann")
    work(blind, "bob", item_id="item-0")

    for name, event_id in (("ann", second), ("bob", second + 1)):
        assert blind.last_decision(name) is None
        with pytest.raises(RevocationError, match="in the same round"):
            blind.take_back("item-0", event_id, name)
    assert status(blind, "item-0") == "round_2"


def test_an_item_is_opened_again_for_a_reason_and_the_release_follows(store):
    work(store, "bob", verdict_="skip", item_id="item-0")
    work(store, "ann", item_id="item-0")
    work(store, "eve", "expert", item_id="item-0")

    def outcome() -> str:
        decisions = store.decisions(["item-0"])
        return resolve(item(0), decisions, ResolutionPolicy("all"), Rules()).status

    assert (status(store, "item-0"), outcome()) == ("approved", "approved")
    with pytest.raises(RevocationError, match="needs a reason"):
        store.reopen("item-0", "ada", 2, "  ")
    store.reopen("item-0", "ada", 2, "The date is wrong.")
    assert (status(store, "item-0"), outcome()) == ("round_2", "pending")
    with pytest.raises(RevocationError, match="no decision of this round"):
        store.reopen("item-0", "ada", 2, "again")
    store.reopen("item-0", "ada", 1, "x" * (MAX_REASON + 1))
    assert (status(store, "item-0"), outcome()) == ("round_1", "pending")

    ended = store.revocations("item-0")
    assert [(each.person, each.reason) for _, each in sorted(ended.items())] == [
        ("ada", "x" * MAX_REASON),
        ("ada", "The date is wrong."),
    ]
    # Both may decide again, each in their round.
    assert work(store, "ann", item_id="item-0") == "item-0"
    assert work(store, "eve", "expert", item_id="item-0") == "item-0"
    assert status(store, "item-0") == "approved"


def test_what_is_stored_is_never_changed_or_deleted(store):
    work(store, "ann", item_id="item-0")
    store.comment("item-0", "ann", "Is it?")
    store.take_back("item-0", last(store, "ann"), "ann")
    store.assign("ann", "annotator", "ada", share=0.5)
    for table in ("events", "revocations", "comments", "assignments"):
        before = rows(store, table)
        for statement in (
            *(f"UPDATE {table} SET {name} = '7'" for name in columns(store, table)),
            f"DELETE FROM {table}",
        ):
            with pytest.raises(IntegrityError, match="append-only"):
                change(store, statement)
        assert rows(store, table) == before != []
