"""What the lead sees of a store: agreement, disputes, holds, decisions that are needed."""

import pytest

from methods.review.agreement import people_rows
from methods.review.ratings import ratings_of
from resources.review import lead
from resources.review.accounts import Accounts
from tests.resources.review.review_queue import queue, rewritten, with_rules, work


@pytest.fixture
def store(tmp_path):
    items = [*queue(4, set_id="set"), *queue(12)[4:]]
    return with_rules(tmp_path, "kinds: {rewrite: {annotators: 2, expert: disagreement}}", items)


def both(store, item_id, first="accept", second="accept", **more):
    assert work(store, "ann", verdict_=first, item_id=item_id) == item_id
    assert work(store, "bob", verdict_=second, item_id=item_id, **more) == item_id


@pytest.mark.files_alone
def test_agreement_is_that_of_the_method_over_all_items(store):
    for number in range(lead.FEWEST_IN_COMMON):
        both(store, f"item-{number}", "accept", "reject" if number % 3 == 0 else "accept")
    for name in ("ann", "cid"):  # too few in common to be shown
        work(store, name, item_id="item-9")
    found = store.overview()
    rows = found.agreement
    items, rules = store.items(), store.rules()
    expected = people_rows(
        ratings_of(items, store.decisions(), rules), seed=0, n_resamples=lead.RESAMPLES
    )
    assert rows == [row for row in expected if row["raters"] != "ann|cid"] != expected
    assert found.n_small_pairs == 1
    weeks = [(row["reviewer"], row["n_others"], row["n_same"]) for row in found.weeks]
    assert weeks == [("ann", 6, 4), ("bob", 5, 3), ("cid", 1, 1)]
    [raw] = [row for row in rows if (row["raters"], row["measure"]) == ("ann|bob", "raw")]
    assert (raw["n_items"], raw["value"]) == (5, 3 / 5)


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
    both(store, "item-3", "accept", "edit", edits=rewritten(store, "item-3", "Other."))
    work(store, "eve", "expert", "reject", item_id="item-3")  # An annotator reworks it.
    with store._store.snapshot() as connection:
        needed = lead.needed_decisions(connection, store.rules())
    # Eight items lack two, one lacks one and one a rework. Of three items past round 1 two went to an
    # expert, so six of the nine that are open are expected to, beside those that wait or come back.
    assert needed == {1: 18, 2: 8}
    disputes = store.overview().disputes
    assert [(each.item_id, each.status, each.votes) for each in disputes] == [
        ("item-0", "round_2", (("ann", "accept"), ("bob", "reject"))),
        ("item-3", "to_rework", ()),
    ]


def test_a_hold_that_nobody_renews_hangs_and_can_be_released(store, time):
    lock = store.lock_item("ann", "annotator", item_id="item-3")
    store.save_draft(lock.claim, {"note": "begun"})
    store.lock_item("bob", "annotator", item_id="item-4")
    time.pass_by(600)
    store.renew_lock(store.lock_item("bob", "annotator", item_id="item-4").claim)
    time.pass_by(lead.QUIET_SECONDS - 5)

    hanging, working = store.holds()
    assert (hanging.annotator, hanging.item_id, hanging.hangs) == ("ann", "item-3", True)
    assert hanging.quiet_seconds == pytest.approx(595 + lead.QUIET_SECONDS, abs=5)
    assert (working.annotator, working.hangs) == ("bob", False)

    assert store.release("item-3", "ann") and not store.release("item-3", "ann")
    assert [hold.annotator for hold in store.holds()] == ["bob"]
    assert not store.renew_lock(lock.claim)
    again = store.lock_item("ann", "annotator", item_id="item-3")
    assert store.draft(again.claim)[0] == {"note": "begun"}
