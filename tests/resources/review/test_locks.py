"""Who gets what to decide, for how long, and what becomes of what they began."""

from dataclasses import replace

import pytest

from methods.review.decisions import StaleDecision
from resources.review import claims
from resources.review.claims import LOCK_SECONDS, LockLost
from resources.review.store import ReviewStore
from tests.resources.review.review_queue import (
    item,
    queue,
    rewritten,
    status,
    verdict,
    with_rules,
    work,
)


class Time:
    """Time as the store sees it; `pass_by` moves it on."""

    def __init__(self, monkeypatch):
        self.passed, self.now = 0.0, claims.now
        monkeypatch.setattr(claims, "now", lambda later=0.0: self.now(self.passed + later))

    def pass_by(self, seconds):
        self.passed += seconds


@pytest.fixture
def time(monkeypatch):
    return Time(monkeypatch)


@pytest.fixture
def store(tmp_path):
    store = ReviewStore(tmp_path / "review.sqlite")
    store.offer(queue(3))
    return store


@pytest.fixture
def blind(tmp_path):
    store = with_rules(tmp_path, "default: {annotators: 2}")
    store.offer(queue(3))
    return store


class TestClaims:
    def test_one_item_one_person(self, store):
        given = [store.claim(name, "annotator").item_id for name in ("ann", "bob", "cat")]

        assert given == ["item-0", "item-1", "item-2"]
        assert store.claim("dan", "annotator") is None
        assert store.claim("dan", "annotator", item_id="item-1") is None

    def test_two_annotators_are_exactly_two_people(self, blind):
        given = [blind.claim(name, "annotator").item_id for name in ("ann", "bob", "cat")]
        assert given == ["item-0", "item-0", "item-1"]

        work(blind, "ann")
        # One has decided, one holds it: it is nobody else's.
        assert blind.claim("dan", "annotator", item_id="item-0") is None
        assert blind.claim("ann", "annotator", item_id="item-0") is None

    def test_a_reload_gives_the_same_claim_with_its_time_anew(self, store, time):
        claim = store.claim("ann", "annotator")
        time.pass_by(LOCK_SECONDS - 1)

        for again in (
            store.claim("ann", "annotator", item_id="item-0"),
            store.claim("ann", "annotator"),
        ):
            assert replace(again, expires_at="") == replace(claim, expires_at="")
            assert again.expires_at > claim.expires_at
        time.pass_by(LOCK_SECONDS - 1)
        assert store.renew(claim.token)

    def test_what_is_asked_for_by_kind_or_name(self, store):
        store.offer([*queue(3), item(7, kind="reference")])

        assert store.claim("ann", "annotator", kind="reference").item_id == "item-7"
        assert store.claim("ann", "annotator", item_id="item-2").item_id == "item-2"
        assert store.claim("ann", "annotator", kind="dialogue") is None
        assert store.claim("ann", "annotator", item_id="item-9") is None

    def test_nobody_decides_an_item_twice_or_in_both_rounds(self, store):
        for name in ("item-0", "item-1", "item-2"):
            assert work(store, "ann") == name

        assert store.claim("ann", "annotator") is None
        assert store.claim("ann", "expert") is None
        assert store.claim("eve", "expert").item_id == "item-0"

    def test_annotators_do_round_1_and_experts_round_2(self, store):
        assert store.claim("eve", "expert") is None
        assert store.claim("eve", "admin", item_id="item-0") is None
        work(store, "ann")
        assert store.claim("bob", "annotator", item_id="item-0") is None

        claim = store.claim("eve", "admin")
        assert (claim.item_id, claim.round) == ("item-0", 2)

    def test_the_expert_is_given_the_content_that_round_1_left(self, store):
        better = rewritten(store, "item-0", "Better")
        work(store, "ann", verdict_="edit", edits=better)

        claim = store.claim("eve", "expert")
        course = store.course("item-0")
        assert course.item["content"] == better
        assert claim.content_hash == course.item["content_hash"] != item(0)["content_hash"]

    def test_skipped_it_is_somebody_elses(self, store):
        assert work(store, "ann", verdict_="skip") == "item-0"

        assert store.claim("ann", "annotator", item_id="item-0") is None
        assert store.claim("ann", "annotator").item_id == "item-1"
        assert store.claim("bob", "annotator").item_id == "item-0"
        assert status(store, "item-0") == "round_1"

    def test_an_expert_who_skips_leaves_it_to_another_expert(self, store):
        work(store, "ann")
        work(store, "eve", "expert", "skip")

        assert store.claim("eve", "expert") is None
        assert store.claim("fay", "expert").item_id == "item-0"

    def test_sent_back_by_an_expert_it_comes_first_to_annotators(self, store):
        work(store, "ann", item_id="item-2")
        work(store, "eve", "expert", "reject")

        assert store.claim("eve", "annotator", item_id="item-2") is None
        claim = store.claim("ann", "annotator")
        assert (claim.item_id, claim.round) == ("item-2", 1)
        with pytest.raises(StaleDecision, match="was rejected"):
            store.decide(claim.token, verdict(claim, "ann"))
        edits = rewritten(store, "item-2", "Mended")
        store.decide(claim.token, verdict(claim, "ann", "edit", edits))

        assert store.claim("fay", "expert").item_id == "item-2"
        assert work(store, "eve", "expert") is None
        work(store, "fay", "expert")
        assert status(store, "item-2") == "approved"

    def test_rejected_by_annotators_it_is_taken_up_by_one_who_asks_for_it(self, store):
        work(store, "ann", verdict_="reject")

        assert store.claim("bob", "annotator").item_id == "item-1"
        assert store.claim("bob", "annotator", item_id="item-0").round == 1
        assert store.claim("cat", "annotator", item_id="item-0") is None


class TestLocks:
    def test_an_expired_one_holds_nothing_and_cannot_decide(self, store, time):
        claim = store.claim("ann", "annotator", item_id="item-0")
        time.pass_by(LOCK_SECONDS + 1)

        with pytest.raises(LockLost, match="expired"):
            store.decide(claim.token, verdict(claim, "ann"))
        assert not store.renew(claim.token)
        assert store.decisions() == []
        assert work(store, "bob", item_id="item-0") == "item-0"
        with pytest.raises(LockLost):
            store.decide(claim.token, verdict(claim, "ann"))

    def test_renewed_it_holds(self, store, time):
        claim = store.claim("ann", "annotator")
        for _ in range(3):
            time.pass_by(LOCK_SECONDS - 1)
            assert store.renew(claim.token)

        assert store.claim("bob", "annotator", item_id="item-0") is None
        assert store.decide(claim.token, verdict(claim, "ann")) == 1

    def test_let_go_it_is_anybodys(self, store):
        claim = store.claim("ann", "annotator")
        store.let_go(claim.token)

        assert not store.renew(claim.token)
        with pytest.raises(LockLost):
            store.decide(claim.token, verdict(claim, "ann"))
        assert store.claim("bob", "annotator").item_id == "item-0"

    @pytest.mark.parametrize("changes", [{"reviewer": "bob"}, {"item_id": "item-1"}, {"round": 2}])
    def test_it_is_for_one_person_item_and_round(self, store, changes):
        claim = store.claim("ann", "annotator")

        with pytest.raises(LockLost, match="another"):
            store.decide(claim.token, verdict(claim, "ann", **changes))
        assert store.decisions() == []

    def test_a_token_nobody_was_given_does_nothing(self, store):
        claim = store.claim("ann", "annotator")

        assert not store.renew("made up")
        store.let_go("made up")
        with pytest.raises(LockLost):
            store.decide("made up", verdict(claim, "ann"))
        assert store.decide(claim.token, verdict(claim, "ann")) == 1

    def test_a_changed_item_is_not_decided_and_is_claimed_anew(self, store):
        claim = store.claim("ann", "annotator")
        store.offer([item(0, version=1)])

        with pytest.raises(StaleDecision, match="has changed"):
            store.decide(claim.token, verdict(claim, "ann"))
        # Nor by one who holds it, with the content's old hash or its new one.
        again = store.claim("ann", "annotator", item_id="item-0")
        assert again.token != claim.token
        with pytest.raises(StaleDecision):
            store.decide(again.token, verdict(claim, "ann"))
        assert store.decide(again.token, verdict(again, "ann")) == 1

    def test_an_answer_that_was_lost_may_be_asked_for_again(self, store):
        claim = store.claim("ann", "annotator")
        decision = verdict(claim, "ann")

        assert store.decide(claim.token, decision) == store.decide(claim.token, decision)
        assert len(store.decisions()) == 1


class TestDrafts:
    def test_a_draft_outlives_reload_expiry_and_the_process(self, store, time):
        claim = store.claim("ann", "annotator")
        assert store.draft(claim.token) is None
        store.save_draft(claim.token, {"note": "“half”"})
        store.save_draft(claim.token, {"note": "“more”"})
        time.pass_by(LOCK_SECONDS + 1)
        # Typed when the claim had just expired.
        store.save_draft(claim.token, {"note": "“all” 字"})
        store.close()

        again = ReviewStore(store.path).claim("ann", "annotator", item_id="item-0")
        assert again.token != claim.token
        assert store.draft(again.token) == {"note": "“all” 字"}

    def test_each_has_their_own(self, blind):
        ann, bob = (blind.claim(name, "annotator") for name in ("ann", "bob"))
        assert ann.item_id == bob.item_id
        blind.save_draft(ann.token, {"by": "ann"})

        assert blind.draft(bob.token) is None

    def test_that_of_an_old_content_is_not_one_of_the_new(self, store):
        claim = store.claim("ann", "annotator")
        store.save_draft(claim.token, {"on": "old"})
        store.offer([item(0, version=1)])

        again = store.claim("ann", "annotator", item_id="item-0")
        assert store.draft(again.token) is None

        store.offer(queue(1))
        back = store.claim("ann", "annotator", item_id="item-0")
        assert store.draft(back.token) == {"on": "old"}

    def test_decided_it_is_gone(self, store):
        claim = store.claim("ann", "annotator")
        store.save_draft(claim.token, {"on": "this"})
        store.decide(claim.token, verdict(claim, "ann"))

        assert store.draft(claim.token) is None
        with pytest.raises(LockLost):
            store.save_draft(claim.token, {"on": "this"})


class TestQuotas:
    def test_no_more_a_day_than_the_quota_of_the_kind(self, tmp_path, monkeypatch):
        store = with_rules(tmp_path, "kinds: {rewrite: {quota: 2}}")
        store.offer([*queue(4), item(8, kind="reference"), item(9, kind="reference")])
        assert [work(store, "ann") for _ in range(2)] == ["item-0", "item-1"]

        # Enough rewrites for today; other kinds and other people go on.
        assert store.claim("ann", "annotator", kind="rewrite") is None
        assert store.claim("ann", "annotator", item_id="item-3") is None
        assert work(store, "ann") == "item-8"
        assert work(store, "bob") == "item-2"

        monkeypatch.setattr(claims, "today", lambda: "9999-01-01")
        assert work(store, "ann") == "item-3"

    def test_what_is_held_counts_and_what_is_skipped_does_not(self, tmp_path):
        store = with_rules(tmp_path, "default: {quota: 2}")
        store.offer(queue(5))

        work(store, "ann", verdict_="skip")
        for name in ("item-1", "item-2"):
            assert store.claim("ann", "annotator", item_id=name).item_id == name
        assert store.claim("ann", "annotator", item_id="item-3") is None
        # What one holds already one may go on with.
        assert store.claim("ann", "annotator", item_id="item-2").item_id == "item-2"


class TestBlindness:
    def seen(self, store, annotator, role="annotator"):
        return [each.reviewer for each in store.visible_to("item-0", annotator, role)]

    def test_the_others_decision_is_seen_when_both_have_decided(self, blind):
        work(blind, "ann", item_id="item-0")

        assert self.seen(blind, "ann") == ["ann"]
        assert self.seen(blind, "bob") == []
        assert self.seen(blind, "eve", "expert") == []
        assert self.seen(blind, "root", "admin") == ["ann"]

        work(blind, "bob", verdict_="reject", item_id="item-0")
        for name, role in [("ann", "annotator"), ("cat", "annotator"), ("eve", "expert")]:
            assert self.seen(blind, name, role) == ["ann", "bob"]
        assert [each.reviewer for each in blind.course("item-0").first] == ["ann", "bob"]

    def test_what_was_said_of_an_earlier_content_is_not_seen_before_the_new_is_decided(self, blind):
        for name in ("ann", "bob"):
            work(blind, name, item_id="item-0")
        blind.offer([item(0, version=1)])

        assert self.seen(blind, "cat") == []
        assert self.seen(blind, "ann") == ["ann"]

    def test_of_an_item_that_was_never_offered_one_sees_ones_own(self, blind):
        assert blind.visible_to("item-9", "ann", "annotator") == []
