"""What is queued is what people see: pages, counts, changed and withdrawn items."""

import random

import pytest

from resources.review import items
from resources.review.items import Filters, StatusCount
from resources.review.locks import LOCK_SECONDS
from resources.review.rules import RulesError
from resources.review.store import ReviewStore
from tests.resources.review.review_queue import (
    assert_follows_from_events,
    item,
    kept,
    queue,
    rewritten,
    status,
    verdict,
    with_rules,
    work,
)

pytestmark = pytest.mark.slow


@pytest.fixture
def store(tmp_path):
    return ReviewStore(tmp_path / "review.sqlite")


def shown(store, **filters):
    return [each.item_id for each in store.page(Filters(**filters))[0]]


class TestQueue:
    def test_an_item_comes_back_as_it_was_queued_and_an_offer_says_what_it_changed(self, store):
        queued = item(9, set_id="set", context={"why": ["all models fail"]})
        assert store.update_queue(queue(4)) == (4, 0, 0)
        assert store.update_queue(queue(4)) == (0, 0, 0)
        assert store.update_queue([item(0), item(1, version=1), queued]) == (1, 1, 2)
        assert store.item("item-9") == queued
        assert store.item("item-7") is store.state("item-7") is None
        assert store.update_queue(queue(4)) == (2, 1, 1)

    def test_a_kind_is_replaced_alone_and_keeps_its_place_in_the_queue(self, store):
        store.update_queue([*queue(2), item(7, kind="reference")])
        for number, kind in ((8, "reference"), (9, "rewrite")):
            queued = [item(number + 10 * n, kind=kind) for n in range(2)]
            assert store.update_queue(queued, [kind]).new == 2
        assert shown(store) == ["item-9", "item-19", "item-8", "item-18"]

    def test_withdrawn_items_are_kept_not_shown_and_not_decided(self, store):
        store.update_queue(queue(3))
        work(store, "ann")
        lock = store.lock_item("ann", "annotator", item_id="item-2")
        store.update_queue([item(1)])

        assert shown(store) == ["item-1"]
        assert store.progress() == [StatusCount("rewrite", "round_1", 1)]
        assert store.item("item-0") == item(0)
        with pytest.raises(ValueError, match="no decision in this round"):
            store.decide(lock.token, verdict(lock, "ann"))
        assert [each.item_id for each in store.decisions()] == ["item-0"]

        store.update_queue(queue(2))
        assert status(store, "item-0") == "round_2"

    def test_an_item_with_another_content_is_awaited_again(self, store):
        store.update_queue(queue(1))
        work(store, "ann")
        work(store, "eve", "expert")
        assert status(store, "item-0") == "approved"

        store.update_queue([item(0, version=1)])
        assert status(store, "item-0") == "round_1"
        assert work(store, "ann") == "item-0"

        # What only helps may change, and the decisions stay.
        helped = item(0, context={"captions": ["A tower"]})
        assert store.update_queue([helped]) == (0, 1, 0)
        assert status(store, "item-0") == "approved"
        assert store.update_queue(queue(1)) == (0, 0, 0)
        store.update_queue([helped])
        assert store.item("item-0") == helped


class TestPages:
    def test_pages_follow_the_order_of_the_offer(self, store):
        store.update_queue([item(number) for number in (3, 1, 2, 0)])
        store.lock_item("ann", "annotator")

        first, second = store.page(limit=2)[0]
        assert (first.title, first.people_needed, first.locked_by) == ("Question 3?", 1, ("ann",))
        assert second.locked_by == ()

        for offset, expected in ((0, ["item-3", "item-1", "item-2"]), (3, ["item-0"]), (6, [])):
            page, n_items = store.page(offset=offset, limit=3)
            assert ([each.item_id for each in page], n_items) == (expected, 4)

    def test_pages_show_what_matches_and_count_up_to_a_number(self, store, monkeypatch, time):
        monkeypatch.setattr(items, "MOST_COUNTED", 4)
        store.update_queue([*queue(9), item(20, kind="reference")])
        work(store, "ann")
        store.lock_item("bob", "annotator")

        for filters, expected in (
            ({"kind": "reference"}, ["item-20"]),
            ({"status": "round_2"}, ["item-0"]),
            ({"reviewer": "ann"}, ["item-0"]),
            ({"reviewer": "bob"}, ["item-1"]),
            ({"text": "REWRITE 1"}, ["item-1"]),
            ({"text": "rewrite", "kind": "reference"}, []),
        ):
            assert shown(store, **filters) == expected

        def n_items(**filters):
            return store.page(Filters(**filters), limit=3)[1]

        assert (n_items(), n_items(kind="rewrite"), n_items(status="round_2")) == (10, 9, 1)
        assert n_items(kind="reference", status="round_2") == 0
        assert n_items(reviewer="ann") == 1
        assert n_items(text="rewrite") == 4, "and there are more"
        second, counted = store.page(Filters(text="rewrite"), offset=6, limit=3)
        assert (len(second), counted) == (3, 9)
        time.pass_by(LOCK_SECONDS + 1)
        assert shown(store, reviewer="bob") == []
        assert {each.locked_by for each in store.page()[0]} == {()}

    def test_texts_of_any_script_are_found_and_what_is_searched_for_is_no_pattern(self, store):
        wanted = item(1)
        wanted["content"] |= {"original": "Où est la TOUR ? 红色的塔"}
        store.update_queue([item(0), wanted])

        assert shown(store, text="OÙ EST LA tour") == ["item-1"]
        # Of many words the ten longest are searched for.
        assert shown(store, text="tour " * 20 + "x 红色的塔 " + " ".join("abcdefghi")) == []
        assert shown(store, text="où est la tour 红色的塔 " + "est où " * 20) == ["item-1"]
        assert shown(store, text="红色") == ["item-1"]
        # Every word, in any order; a part of a text without spaces is one word.
        assert shown(store, text="tour où") == ["item-1"]
        assert shown(store, text="tour nowhere") == []
        for text in ("塔色", "%", "_", "' OR 1 --", "\\", "*"):
            assert shown(store, text=text) == []


class TestRules:
    def test_other_rules_hold_for_what_was_decided_before_and_for_stores_open_since(self, tmp_path):
        store = with_rules(tmp_path, "", queue(1))
        work(store, "ann")
        assert status(store, "item-0") == "round_2"
        before = store.decided().fingerprint

        with_rules(tmp_path, "kinds: {rewrite: {annotators: 2, expert: none}}")

        assert status(store, "item-0") == "round_1"
        assert store.decided().fingerprint != before
        assert store.rules().rules_for("rewrite").annotators == 2
        work(store, "bob")
        assert status(store, "item-0") == "approved"

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("default: {annotators: yes}", "is true .*yes, no, on and off.* may be 1 or 2"),
            ("default: {expert: no}", "expert is false .* none, disagreement, sample or all"),
            ("default: {sample: 1.5}", "sample is 1.5, and may be a number from 0 to 1"),
            ("gold: 0.9", "gold is 0.9, and may be a number from 0 to 0.5"),
            ("priorities: [quality, luck]", 'priorities.1 is "luck", .*disagreement, quality and'),
            ("kinds: {dialogue: 2}", "kinds.dialogue is 2, and may be rules, such as"),
            ("kinds: {dialogue: {quota: 0}}", "kinds.dialogue.quota is 0, and may be a whole"),
            ("default: [", "is not YAML: line 1: "),
            ("default: {? [a] : 1}", "not YAML: line 1: found unhashable key"),
            ("- default", "whole file is .*rules by their names"),
            ("kinds: {novel: {}}", "no kind 'novel'"),
            ("prioritys: []", "no such key; the nearest is priorities"),
            ("gold: 0.1\nkinds: {}\ngold: 0.2", "key gold is there twice, in line 1 and in line 3"),
        ],
    )
    @pytest.mark.files_alone
    def test_rules_that_cannot_be_read_are_refused_in_one_sentence(self, tmp_path, text, says):
        with pytest.raises(RulesError, match=says) as refused:
            with_rules(tmp_path, text)
        for word in ("\n", "Input should", "valid dict", "unicode string"):
            assert word not in str(refused.value)


def test_what_is_kept_is_what_the_events_make(tmp_path):
    random_ = random.Random(0)
    store = with_rules(
        tmp_path,
        "default: {annotators: 2, expert: sample, expert_share: 0.5, sample: 0.9}\n"
        "kinds: {reference: {annotators: 1}}",
    )
    versions = [0] * 12
    for step in range(150):
        if step % 30 == 0:
            versions[random_.randrange(12)] += 1
            queued = [
                item(number, version=version, kind=("rewrite", "reference")[number % 2])
                for number, version in enumerate(versions)
                if random_.random() < 0.9
            ]
            random_.shuffle(queued)
            store.update_queue(queued)
        annotator, role = random_.choice(
            [("ann", "annotator"), ("bob", "annotator"), ("cat", "annotator"), ("eve", "expert")]
        )
        lock = store.lock_item(annotator, role)
        if lock is None:
            continue
        to_rework = status(store, lock.item_id) == "to_rework"
        said = random_.choice(["edit", "reject", "skip", *["accept"] * (not to_rework)])
        key = "rewrite" if store.item(lock.item_id)["kind"] == "rewrite" else "reference"
        content = store.state(lock.item_id).item["content"]
        edits = content | {key: f"Text {random_.randrange(3)}"} if said == "edit" else None
        store.decide(lock.token, verdict(lock, annotator, said, edits))
    assert len({row[3] for row in kept(store)[0]}) >= 3, "many statuses were reached"
    assert_follows_from_events(store)


def test_decisions_made_elsewhere_move_items_too(store):
    store.update_queue(queue(2))
    lock = store.lock_item("ann", "annotator")
    decision = verdict(lock, "bob", "edit", rewritten(store, "item-0", "Better"))

    assert store.append([decision, decision]) == (1, 1)

    assert status(store, "item-0") == "round_2"
    assert store.state("item-0").item["content"]["rewrite"] == "Better"
    with pytest.raises(ValueError, match="no decision in this round"):
        store.decide(lock.token, verdict(lock, "ann"))
