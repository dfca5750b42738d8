"""Who gets what to decide, for how long, and what becomes of what they began."""

from dataclasses import replace

import pytest

from methods.review.decisions import StaleDecision
from resources.review import locks
from resources.review.accounts import Accounts
from resources.review.locks import LOCK_SECONDS, MOST_DECIDED, MOST_LOCKS, DecidedOften, LockLost
from resources.review.store import ReviewStore
from tests.resources.review.review_queue import (
    item,
    queue,
    rewritten,
    rows,
    status,
    verdict,
    with_rules,
    work,
)


class TestLocking:
    def test_a_reload_gives_the_same_lock_renewed(self, store, time):
        lock = store.lock_item("ann", "annotator")
        time.pass_by(LOCK_SECONDS - 1)

        for again in (
            store.lock_item("ann", "annotator", item_id="item-0"),
            store.lock_item("ann", "annotator"),
        ):
            assert replace(again, expires_at="") == replace(lock, expires_at="")
            assert again.expires_at > lock.expires_at
        for _ in range(2):
            time.pass_by(LOCK_SECONDS - 1)
            assert store.renew_lock(lock.claim)
        assert store.lock_item("bob", "annotator", item_id="item-0") is None

    def test_who_opens_many_items_keeps_the_last_ones(self, store, time):
        store.update_queue(queue(MOST_LOCKS + 3))
        held = {}
        for number in range(MOST_LOCKS + 2):
            if number == MOST_LOCKS:
                assert store.renew_lock(held[0].claim)
            held[number] = store.lock_item("ann", "annotator", item_id=f"item-{number}")
            time.pass_by(0.1)
        ended = [number for number, lock in held.items() if not store.renew_lock(lock.claim)]
        assert ended == [1, 2], "the first one was renewed"
        assert store.lock_item("bob", "annotator").item_id == "item-1"
        # The draft of an ended lock is kept.
        store.save_draft(held[1].claim, {"note": "x"})

    @pytest.mark.parametrize("jump", [-1.0, -365 * 24 * 3600.0])
    def test_a_clock_set_back_neither_ends_a_lock_nor_makes_it_last_longer(self, store, time, jump):
        lock = store.lock_item("ann", "annotator")
        time.pass_by(jump)
        # For this process and for another one.
        for each in (store, ReviewStore(store.path)):
            assert each.renew_lock(lock.claim)
            assert each.lock_item("bob", "annotator", item_id="item-0") is None
            assert each.page()[0][0].locked_by == ("ann",)
        time.pass_by(LOCK_SECONDS + 1)
        assert not store.renew_lock(lock.claim)
        assert work(store, "bob", item_id="item-0") == "item-0"

    def test_what_is_asked_for_by_kind_or_name(self, store):
        store.update_queue([*queue(3), item(7, kind="reference")])

        assert store.lock_item("ann", "annotator", kind="reference").item_id == "item-7"
        assert store.lock_item("ann", "annotator", item_id="item-2").item_id == "item-2"
        assert store.lock_item("ann", "annotator", kind="dialogue") is None
        assert store.lock_item("ann", "annotator", item_id="item-9") is None
        # Of what is assigned, too, the kind that is asked for comes first.
        store.update_queue([*queue(3), *(item(n, kind="reference") for n in (7, 8))])
        store.assign("bob", "annotator", "ada")
        assert store.lock_item("bob", "annotator", kind="reference").item_id == "item-8"

    def test_nobody_decides_an_item_twice_or_in_both_rounds(self, store):
        for name in ("item-0", "item-1", "item-2"):
            assert work(store, "ann") == name

        assert store.lock_item("ann", "annotator") is None
        assert store.lock_item("ann", "expert") is None
        lock = store.lock_item("eve", "admin")
        assert (lock.item_id, lock.round) == ("item-0", 2)

    def test_sent_back_by_an_expert_it_comes_first_to_annotators(self, store):
        work(store, "ann", item_id="item-2")
        work(store, "eve", "expert", "reject")

        assert store.lock_item("eve", "annotator", item_id="item-2") is None
        lock = store.lock_item("ann", "annotator")
        assert (lock.item_id, lock.round) == ("item-2", 1)
        with pytest.raises(StaleDecision, match="was rejected"):
            store.decide(lock.token, verdict(lock, "ann"))
        edits = rewritten(store, "item-2", "Mended")
        store.decide(lock.token, verdict(lock, "ann", "edit", edits))

        assert store.lock_item("fay", "expert").item_id == "item-2"
        assert work(store, "eve", "expert") is None
        work(store, "fay", "expert")
        assert status(store, "item-2") == "approved"

    def test_a_person_decides_an_item_a_number_of_times(self, store):
        for _ in range(MOST_DECIDED):
            assert work(store, "ann", verdict_="reject", item_id="item-0") == "item-0"
        with pytest.raises(DecidedOften, match="decided this item 20 times"):
            work(store, "ann", verdict_="reject", item_id="item-0")
        assert len(store.decisions(revoked=True)) == MOST_DECIDED
        assert work(store, "ann", verdict_="skip", item_id="item-0") == "item-0"
        assert work(store, "ann", verdict_="skip", item_id="item-0") is None
        for name, item_id in (("bob", "item-0"), ("ann", "item-1")):
            assert work(store, name, verdict_="reject", item_id=item_id) == item_id


class TestLocks:
    def test_it_is_for_one_person_item_and_round_and_expires(self, store, time):
        lock = store.lock_item("ann", "annotator", item_id="item-0")
        for changes in ({"reviewer": "bob"}, {"item_id": "item-1"}, {"round": 2}):
            with pytest.raises(LockLost, match="another"):
                store.decide(lock.token, verdict(lock, "ann", **changes))
        time.pass_by(LOCK_SECONDS + 1)

        with pytest.raises(LockLost, match="expired"):
            store.decide(lock.token, verdict(lock, "ann"))
        assert not store.renew_lock(lock.claim)
        assert store.decisions() == []
        assert work(store, "bob", item_id="item-0") == "item-0"
        with pytest.raises(LockLost):
            store.decide(lock.token, verdict(lock, "ann"))

    def test_a_person_does_not_decide_in_a_round_that_their_new_role_does_not(self, store):
        accounts = Accounts(store.path)
        accounts.add("eve", "expert")
        work(store, "ann", item_id="item-0")
        lock = store.lock_item("eve", "expert")
        store.save_draft(lock.claim, {"note": "half"})
        accounts.set_role("eve", "annotator")

        assert not store.renew_lock(lock.claim) and store.holds() == []
        # A request that began as an expert's locks the item again.
        again = store.lock_item("eve", "expert")
        for each in (lock, again):
            with pytest.raises(LockLost):
                store.decide(each.token, verdict(each, "eve"))
        accounts.set_role("eve", "expert")
        back = store.lock_item("eve", "expert")
        assert store.draft(back.claim)[0] == {"note": "half"}
        accounts.set_role("eve", "admin")  # who decides in the same round
        assert store.decide(back.token, verdict(back, "eve")) == 2

    def test_a_changed_item_is_not_decided_and_may_be_locked_again(self, store):
        lock = store.lock_item("ann", "annotator")
        store.update_queue([item(0, version=1)])

        with pytest.raises(StaleDecision, match="has changed"):
            store.decide(lock.token, verdict(lock, "ann"))
        again = store.lock_item("ann", "annotator", item_id="item-0")
        assert again.token != lock.token
        with pytest.raises(StaleDecision):
            store.decide(again.token, verdict(lock, "ann"))
        assert store.decide(again.token, verdict(again, "ann")) == 1


class TestDrafts:
    def test_a_draft_outlives_reload_expiry_and_the_process(self, store, time):
        lock = store.lock_item("ann", "annotator")
        assert store.draft(lock.claim)[0] is None
        store.save_draft(lock.claim, {"note": "“half”"})
        store.save_draft(lock.claim, {"note": "“more”"})
        time.pass_by(LOCK_SECONDS + 1)
        store.update_queue(queue(3))
        # Typed when the lock had just expired.
        store.save_draft(lock.claim, {"note": "“all” 字"})
        store.close()

        again = ReviewStore(store.path).lock_item("ann", "annotator", item_id="item-0")
        assert again.token != lock.token
        assert store.draft(again.claim)[0] == {"note": "“all” 字"}

    def test_that_of_an_old_content_is_not_one_of_the_new_and_decided_it_is_gone(self, store):
        lock = store.lock_item("ann", "annotator")
        store.save_draft(lock.claim, {"on": "old"})
        store.update_queue([item(0, version=1)])
        again = store.lock_item("ann", "annotator", item_id="item-0")
        assert store.draft(again.claim)[0] is None

        store.update_queue(queue(1))
        back = store.lock_item("ann", "annotator", item_id="item-0")
        assert store.draft(back.claim)[0] == {"on": "old"}
        decided = verdict(back, "ann")
        # An answer that was lost may be asked for again.
        assert store.decide(back.token, decided) == store.decide(back.token, decided) == 1
        assert store.draft(back.claim)[0] is None and rows(store, "SELECT * FROM drafts") == []
        with pytest.raises(LockLost):
            store.save_draft(back.claim, {"on": "this"})

    def test_a_decision_deletes_no_draft_of_another_person(self, blind):
        ann, bob = (blind.lock_item(name, "annotator") for name in ("ann", "bob"))
        for lock in (ann, bob):
            blind.save_draft(lock.claim, {"of": lock.annotator})
        blind.decide(ann.token, verdict(ann, "ann"))
        assert ann.item_id == bob.item_id
        assert blind.draft(bob.claim)[0] == {"of": "bob"}


@pytest.mark.files_alone
class TestQuotas:
    def test_no_more_a_day_than_the_quota_of_the_kind(self, tmp_path, monkeypatch):
        references = [item(number, kind="reference") for number in (8, 9)]
        store = with_rules(tmp_path, "kinds: {rewrite: {quota: 2}}", [*queue(4), *references])
        assert [work(store, "ann") for _ in range(2)] == ["item-0", "item-1"]

        # Enough rewrites for today; other kinds and other people go on.
        assert store.lock_item("ann", "annotator", kind="rewrite") is None
        assert store.lock_item("ann", "annotator", item_id="item-3") is None
        assert store.why_not("ann", "annotator", "item-3") == "quota"
        assert work(store, "ann") == "item-8"
        assert work(store, "bob") == "item-2"

        monkeypatch.setattr(locks, "today", lambda _: "9999-01-01")
        assert work(store, "ann") == "item-3"


@pytest.mark.files_alone
class TestWhyNot:
    """The one cause for which a person gets no lock on an item."""

    def why(self, store, name, item_id="item-0", role="annotator"):
        assert store.lock_item(name, role, item_id=item_id) is None
        return store.why_not(name, role, item_id)

    def test_what_oneself_has_done(self, blind):
        work(blind, "ann", item_id="item-0")
        work(blind, "ann", verdict_="skip", item_id="item-1")
        assert self.why(blind, "ann") == "decided"
        assert self.why(blind, "ann", "item-1") == "skipped"
        for name in ("bob", "cat"):
            assert blind.lock_item(name, "annotator", item_id="item-1")
        assert self.why(blind, "dan", "item-1") == "locked", "as many as it needs have it"
        work(blind, "bob", item_id="item-0")
        assert self.why(blind, "bob") == "decided", "an expert's turn, and also this"

    def test_whose_turn_it_is(self, store):
        assert self.why(store, "eve", role="expert") == "annotators"
        work(store, "ann", item_id="item-0")
        assert self.why(store, "bob") == "expert"
        work(store, "eve", "expert", item_id="item-0")
        assert self.why(store, "bob") == "done"
        store.update_queue(queue(3)[1:])
        assert self.why(store, "bob") == "done", "withdrawn"

    def test_what_is_assigned_is_kept_also_when_it_is_open_at_its_persons(self, store):
        store.assign("ann", "annotator", "ada")
        assert self.why(store, "bob") == "assigned"
        assert store.lock_item("ann", "annotator", item_id="item-0")
        assert self.why(store, "bob") == "assigned"
        store.assign("cat", "annotator", "ada")
        assert self.why(store, "cat") == "locked", "hers, too, and one person decides it"
        work(store, "ann", verdict_="reject", item_id="item-1")
        lock = store.lock_item("bob", "annotator", item_id="item-1")
        assert lock.round == 1, "rejected it is kept for nobody"
        with pytest.raises(StaleDecision, match="was rejected"):
            store.decide(lock.token, verdict(lock, "bob"))
        assert self.why(store, "dan", "item-1") == "locked"

    def test_the_calibration(self, tmp_path):
        store = with_rules(tmp_path, "calibration: {items: 1, hits: 1}", queue(3))
        work(store, "ann", item_id="item-0")
        work(store, "eve", "expert", item_id="item-0")
        assert store.make_gold(1, "ada") == 1
        assert self.why(store, "new", "item-1") == "calibration"
        lock = store.lock_item("new", "annotator")
        store.decide(lock.token, verdict(lock, "new"))
        assert self.why(store, "new", lock.item_id) == "decided", "as of any other item"
