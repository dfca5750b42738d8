"""What the lead sees of a store: agreement, disputes, holds, decisions that are needed."""

import pytest

from methods.review.agreement import people_rows
from methods.review.ratings import ratings_of
from resources.review import lead
from resources.review.accounts import Accounts
from tests.resources.review.review_queue import item, queue, rewritten, with_rules, work


@pytest.fixture
def store(tmp_path):
    return with_rules(tmp_path, "default: {annotators: 2, expert: disagreement}", queue(12))


def both(store, item_id, first="accept", second="accept", **more):
    assert work(store, "ann", verdict_=first, item_id=item_id) == item_id
    assert work(store, "bob", verdict_=second, item_id=item_id, **more) == item_id


@pytest.mark.files_alone
def test_a_dispute_is_what_annotators_differ_in_until_an_expert_decides(store):
    both(store, "item-0")
    work(store, "cid", verdict_="reject", item_id="item-1")
    # What was decided on an earlier content is no vote on this one.
    store.update_queue([item(number, version=int(number == 1)) for number in range(12)])
    both(store, "item-1", "accept", "reject")
    both(store, "item-2", "accept", "edit", edits=rewritten(store, "item-2", "Other."))
    found = store.overview()
    assert [(each.item_id, each.status, each.votes) for each in found.disputes] == [
        ("item-1", "round_2", (("ann", "accept"), ("bob", "reject"))),
        ("item-2", "round_2", (("ann", "accept"), ("bob", "edit"))),
    ]
    work(store, "eve", "expert", item_id="item-1")
    work(store, "eve", "expert", "reject", item_id="item-2")
    [left] = store.overview().disputes
    # The expert rejected what an annotator accepted: it goes back, and nobody's vote stands.
    assert (left.item_id, left.status) == ("item-2", "to_rework")


@pytest.mark.files_alone
def test_agreement_is_that_of_the_method_over_all_items(store):
    for number in range(8):
        both(store, f"item-{number}", "accept", "reject" if number % 3 == 0 else "accept")
    rows = store.overview().agreement
    items, rules = store.items(), store.rules()
    expected = people_rows(
        ratings_of(items, store.decisions(), rules), seed=0, n_resamples=lead.RESAMPLES
    )
    assert rows == expected
    [raw] = [row for row in rows if (row["raters"], row["measure"]) == ("ann|bob", "raw")]
    assert (raw["n_items"], raw["value"]) == (8, 5 / 8)


def test_a_comment_stays_hidden_from_who_must_decide_whatever_becomes_of_its_author(store):
    accounts = Accounts(store.path)
    for name, role in {"ann": "annotator", "bob": "annotator", "ada": "admin"}.items():
        accounts.add(name, role)
    work(store, "ann", verdict_="reject", item_id="item-0")
    store.comment("item-0", "ann", "I reject it.")
    store.comment("item-0", "ada", "Until Friday.")

    def texts(reader: str, role: str) -> list[str]:
        return [comment.text for comment in store.visible_comments("item-0", reader, role)]

    accounts.set_role("ann", "expert")
    assert texts("ann", "expert") == texts("ada", "admin") == ["I reject it.", "Until Friday."]
    assert texts("bob", "annotator") == ["Until Friday."]
    accounts.erase("ann")
    assert texts("bob", "annotator") == ["Until Friday."]
    work(store, "bob", item_id="item-0")
    assert texts("bob", "annotator") == ["I reject it.", "Until Friday."]


def test_needed_decisions_are_counted_by_round(store):
    both(store, "item-0", "accept", "reject")  # An expert's turn.
    both(store, "item-1")
    work(store, "ann", item_id="item-2")
    with store._store.snapshot() as connection:
        needed = lead.needed_decisions(connection, store.rules())
    # Nine items lack two, one lacks one. Of two items past round 1 one went to an expert, so five of
    # the ten that are open are expected to, beside the one that waits.
    assert needed == {1: 19, 2: 6}


def test_a_hold_that_nobody_renews_hangs_and_can_be_released(store, time):
    lock = store.lock_item("ann", "annotator", item_id="item-3")
    store.save_draft(lock.claim, {"note": "begun"})
    store.lock_item("bob", "annotator", item_id="item-4")
    time.pass_by(600)
    store.renew_lock(store.lock_item("bob", "annotator", item_id="item-4").claim)

    hanging, working = store.holds()
    assert (hanging.annotator, hanging.item_id, hanging.hangs) == ("ann", "item-3", True)
    assert hanging.quiet_seconds == pytest.approx(600, abs=5)
    assert (working.annotator, working.hangs) == ("bob", False)

    assert store.release("item-3", "ann") and not store.release("item-3", "ann")
    assert [hold.annotator for hold in store.holds()] == ["bob"]
    assert not store.renew_lock(lock.claim)
    again = store.lock_item("ann", "annotator", item_id="item-3")
    assert store.draft(again.claim)[0] == {"note": "begun"}
