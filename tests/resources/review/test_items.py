"""What is queued is what people see: pages, counts, changed and withdrawn items."""

import random

import pytest

from methods.review.process import RuleBook
from resources.review import items
from resources.review.items import Filters, StatusCount
from resources.review.rules import RulesError
from resources.review.store import ReviewStore
from tests.resources.review.review_queue import (
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
    def test_an_item_comes_back_as_it_was_queued(self, store):
        queued = item(1, set_id="set", context={"why": ["all models fail"]})
        store.update_queue([queued])

        assert store.item("item-1") == queued
        assert store.item("item-2") is None
        assert store.state("item-2") is None

    def test_an_offer_says_what_it_changed(self, store):
        assert store.update_queue(queue(4)) == (4, 0, 0)
        assert store.update_queue(queue(4)) == (0, 0, 0)
        assert store.update_queue([item(0), item(1, version=1), item(9)]) == (1, 1, 2)
        assert store.update_queue(queue(4)) == (2, 1, 1)

    def test_withdrawn_items_are_kept_and_not_shown(self, store):
        store.update_queue(queue(2))
        work(store, "ann")
        store.update_queue([item(1)])

        assert shown(store) == ["item-1"]
        assert store.progress() == [StatusCount("rewrite", "round_1", 1)]
        assert store.item("item-0") == item(0)
        assert len(store.decisions(["item-0"])) == 1

        store.update_queue(queue(2))
        assert status(store, "item-0") == "round_2"

    def test_what_was_open_when_it_was_withdrawn_cannot_be_decided(self, store):
        store.update_queue(queue(1))
        lock = store.lock_item("ann", "annotator")
        store.update_queue([])

        with pytest.raises(ValueError, match="no decision in this round"):
            store.decide(lock.token, verdict(lock, "ann"))
        assert store.decisions() == []

    def test_an_item_with_another_content_is_awaited_again(self, store):
        store.update_queue(queue(1))
        work(store, "ann")
        work(store, "eve", "expert")
        assert status(store, "item-0") == "approved"

        store.update_queue([item(0, version=1)])
        assert status(store, "item-0") == "round_1"
        assert work(store, "ann") == "item-0"

        store.update_queue(queue(1))
        assert status(store, "item-0") == "approved"

    def test_what_helps_may_change_and_the_decisions_stay(self, store):
        store.update_queue(queue(1))
        work(store, "ann")

        assert store.update_queue([item(0, context={"captions": ["A tower"]})]) == (0, 0, 0)
        assert status(store, "item-0") == "round_2"
        assert store.item("item-0")["context"] == {"captions": ["A tower"]}


class TestPages:
    def test_pages_follow_the_order_of_the_offer(self, store):
        store.update_queue([item(number) for number in (3, 1, 2, 0)])
        store.lock_item("ann", "annotator")

        first, second = store.page(limit=2)[0]
        assert (first.title, first.people_needed, first.locked_by) == ("Question 3?", 1, ("ann",))
        assert second.locked_by == ()

        pages = [store.page(offset=offset, limit=3) for offset in (0, 3, 6)]
        assert [[each.item_id for each in page] for page, _ in pages] == [
            ["item-3", "item-1", "item-2"],
            ["item-0"],
            [],
        ]
        assert [n_items for _, n_items in pages] == [4, 4, 4]

    def test_pages_count_what_matches_and_of_a_text_up_to_a_number(self, store, monkeypatch):
        monkeypatch.setattr(items, "MOST_COUNTED", 4)
        store.update_queue([*queue(9), item(20, kind="reference")])
        work(store, "ann")

        def n_items(**filters):
            return store.page(Filters(**filters), limit=3)[1]

        assert (n_items(), n_items(kind="rewrite"), n_items(status="round_2")) == (10, 9, 1)
        assert n_items(kind="reference", status="round_2") == 0
        assert n_items(reviewer="ann") == 1
        assert n_items(text="rewrite") == 4, "and there are more"
        second, counted = store.page(Filters(text="rewrite"), offset=6, limit=3)
        assert (len(second), counted) == (3, 9)

    def test_filters(self, store):
        store.update_queue([item(0), item(1), item(2, kind="reference")])
        work(store, "ann")
        store.lock_item("bob", "annotator")

        assert shown(store, kind="reference") == ["item-2"]
        assert shown(store, status="round_2") == ["item-0"]
        assert shown(store, reviewer="ann") == ["item-0"]
        assert shown(store, reviewer="bob") == ["item-1"]
        assert shown(store, text="REWRITE 1") == ["item-1"]
        assert shown(store, text="rewrite", kind="reference") == []

    def test_what_is_searched_for_is_no_pattern(self, store):
        store.update_queue(queue(2))

        for text in ("%", "_", "' OR 1 --", "\\", "*"):
            assert shown(store, text=text) == []

    def test_texts_of_any_script_are_found(self, store):
        wanted = item(1)
        wanted["content"] |= {"original": "Où est la TOUR ? 红色的塔"}
        store.update_queue([item(0), wanted])

        assert shown(store, text="OÙ EST LA tour") == ["item-1"]
        assert shown(store, text="红色") == ["item-1"]
        # Every word, in any order; a part of a text without spaces is one word.
        assert shown(store, text="tour où") == ["item-1"]
        assert shown(store, text="tour nowhere") == []
        assert shown(store, text="塔色") == []


class TestRules:
    def test_other_rules_hold_for_what_was_decided_before_and_for_stores_open_since(self, tmp_path):
        store = with_rules(tmp_path, "")
        store.update_queue(queue(1))
        work(store, "ann")
        assert status(store, "item-0") == "round_2"

        with_rules(tmp_path, "kinds: {rewrite: {annotators: 2, expert: none}}")

        assert status(store, "item-0") == "round_1"
        assert store.rules().rules_for("rewrite").annotators == 2
        work(store, "bob")
        assert status(store, "item-0") == "approved"

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("default: {annotators: 3}", "default.annotators is 3, and may be 1 or 2"),
            ("default: {annotators: yes}", "is true .*yes, no, on and off.* may be 1 or 2"),
            ("default: {expert: no}", "expert is false .* none, disagreement, sample or all"),
            ("default: {sample: 1.5}", "sample is 1.5, and may be a number from 0 to 1"),
            ("gold: 0.9", "gold is 0.9, and may be a number from 0 to 0.5"),
            ("calibration: {items: 0}", "items is 0, and may be a whole number from 1 up"),
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

    @pytest.mark.files_alone
    def test_without_a_file_the_default_rules_hold(self, store):
        assert store.rules() == RuleBook()


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
        kinds = ["accept", "edit", "reject", "skip"]
        if status(store, lock.item_id) == "to_rework":
            kinds.remove("accept")
        said = random_.choice(kinds)
        key = "rewrite" if store.item(lock.item_id)["kind"] == "rewrite" else "reference"
        content = store.state(lock.item_id).item["content"]
        edits = content | {key: f"Text {random_.randrange(3)}"} if said == "edit" else None
        store.decide(lock.token, verdict(lock, annotator, said, edits))
    before = kept(store)
    assert len({row[3] for row in before[0]}) >= 3, "many statuses were reached"

    store.rebuild()

    assert kept(store) == before


def test_decisions_made_elsewhere_move_items_too(store):
    store.update_queue(queue(2))
    lock = store.lock_item("ann", "annotator")
    decision = verdict(lock, "bob", "edit", rewritten(store, "item-0", "Better"))

    assert store.append([decision, decision]) == (1, 1)

    assert status(store, "item-0") == "round_2"
    assert store.state("item-0").item["content"]["rewrite"] == "Better"
    with pytest.raises(ValueError, match="no decision in this round"):
        store.decide(lock.token, verdict(lock, "ann"))
