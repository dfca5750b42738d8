"""The process as it is specified: what an item awaits after which decisions, and who is not asked."""

import random
from itertools import count, permutations

import pytest

from methods.ids import content_id
from methods.review.decisions import Decision
from methods.review.process import RuleBook, Rules, in_sample, item_status, review_state

AS_QUEUED = {"original": "Describe it.", "rewrite": "What is it?"}
BETTER = AS_QUEUED | {"rewrite": "What does it show?"}
BEST = AS_QUEUED | {"rewrite": "What can be seen here?"}
ITEM = {
    "item_id": "item",
    "kind": "rewrite",
    "content": AS_QUEUED,
    "content_hash": content_id(AS_QUEUED),
    "image_ids": [],
}
ONE = Rules()
TWO = Rules(annotators=2)


def said(*steps):
    """Decisions in order: (reviewer, round, verdict, content decided on[, edits])."""
    return [
        Decision(
            item_id="item",
            content_hash=content_id(on),
            round=round,
            reviewer=reviewer,
            verdict=verdict,
            edits=edits[0] if edits else None,
            reason="incomplete" if verdict == "reject" else None,
            note=None,
            seconds=None,
            decided_at="2026-01-01T00:00:00+00:00",
            event_id=event_id,
        )
        for event_id, (reviewer, round, verdict, on, *edits) in enumerate(steps, start=1)
    ]


def status(rules, *steps):
    return item_status(ITEM, said(*steps), rules)


def state(rules, *steps):
    return review_state(ITEM, said(*steps), rules)


ACCEPT = ("ann", 1, "accept", AS_QUEUED)
EDIT = ("ann", 1, "edit", AS_QUEUED, BETTER)
REJECT = ("ann", 1, "reject", AS_QUEUED)


class TestOneAnnotatorAndAnExpert:
    @pytest.mark.parametrize(
        ("steps", "awaited"),
        [
            ([], ("round_1", 1)),
            ([ACCEPT], ("round_2", 1)),
            ([EDIT], ("round_2", 1)),
            ([REJECT], ("rejected", 0)),
            ([("ann", 1, "skip", AS_QUEUED)], ("round_1", 1)),
            ([ACCEPT, ("eve", 2, "skip", AS_QUEUED)], ("round_2", 1)),
            ([ACCEPT, ("eve", 2, "accept", AS_QUEUED)], ("approved", 0)),
            ([ACCEPT, ("eve", 2, "edit", AS_QUEUED, BETTER)], ("approved", 0)),
            ([ACCEPT, ("eve", 2, "reject", AS_QUEUED)], ("to_rework", 1)),
            ([EDIT, ("eve", 2, "accept", BETTER)], ("approved", 0)),
            # On a content that the annotator has replaced, and on one that never was.
            ([EDIT, ("eve", 2, "accept", AS_QUEUED)], ("round_2", 1)),
            ([("ann", 1, "accept", BEST)], ("round_1", 1)),
            # Imported: nobody took turns, and nothing is lost by it.
            ([("eve", 2, "accept", AS_QUEUED)], ("round_1", 1)),
            ([("eve", 2, "accept", AS_QUEUED), ACCEPT], ("approved", 0)),
            ([("eve", 2, "reject", AS_QUEUED)], ("to_rework", 1)),
            ([REJECT, ACCEPT], ("round_2", 1)),
            ([ACCEPT, ("bob", 1, "reject", AS_QUEUED)], ("rejected", 0)),
        ],
    )
    def test_what_is_awaited(self, steps, awaited):
        assert status(ONE, *steps) == awaited

    def test_the_expert_decides_on_what_the_annotator_made_of_it(self):
        assert state(ONE, EDIT).item["content"] == BETTER
        assert state(ONE, EDIT).item["content_hash"] == content_id(BETTER)
        done = state(ONE, EDIT, ("eve", 2, "edit", BETTER, BEST))
        assert (done.item["content"], done.revision) == (BEST, 2)
        assert [each.reviewer for each in done.counted] == ["ann", "eve"]

    def test_decisions_on_other_items_are_not_this_ones(self):
        other = ITEM | {"item_id": "other"}

        assert item_status(other, said(REJECT), ONE) == ("round_1", 1)

    def test_the_order_of_events_counts_not_that_of_the_list(self):
        steps = said(EDIT, ("ann", 1, "edit", AS_QUEUED, BEST), ("eve", 2, "accept", BEST))

        for listed in permutations(steps):
            assert review_state(ITEM, listed, ONE).item["content"] == BEST


class TestTwoAnnotators:
    BOB_TOO = ("bob", *ACCEPT[1:])
    BOB_EDITS = ("bob", 1, "edit", AS_QUEUED, BEST)
    BOB_REJECTS = ("bob", *REJECT[1:])

    def test_both_are_needed_and_one_person_is_not_two(self):
        assert status(TWO) == ("round_1", 2)
        assert status(TWO, ACCEPT) == ("round_1", 1)
        assert status(TWO, ACCEPT, EDIT) == ("round_1", 1)
        assert status(TWO, ACCEPT, self.BOB_TOO) == ("round_2", 1)

    @pytest.mark.parametrize("expert", ["none", "disagreement", "sample", "all"])
    @pytest.mark.parametrize(
        "steps", [(ACCEPT, BOB_EDITS), (EDIT, BOB_EDITS), (REJECT, BOB_TOO), (EDIT, BOB_REJECTS)]
    )
    def test_where_they_disagree_an_expert_decides_on_what_they_had_before_them(
        self, expert, steps
    ):
        reached = state(Rules(annotators=2, expert=expert, expert_share=0), *steps)

        assert reached.status == ("round_2", 1)
        assert reached.item == ITEM
        assert [each.reviewer for each in reached.annotator_decisions] == ["ann", "bob"]
        assert reached.revision == 0

    def test_equal_edits_agree(self):
        same = ("bob", 1, "edit", AS_QUEUED, BETTER)
        agreed = state(Rules(annotators=2, expert="disagreement"), EDIT, same)

        assert agreed.status == ("approved", 0)
        assert (agreed.item["content"], agreed.revision) == (BETTER, 1)

    def test_the_expert_may_take_one_of_both_or_neither(self):
        for final, outcome in [
            (("eve", 2, "accept", AS_QUEUED), AS_QUEUED),
            (("eve", 2, "edit", AS_QUEUED, BETTER), BETTER),
        ]:
            done = state(TWO, EDIT, self.BOB_REJECTS, final)
            assert (done.status, done.item["content"]) == (("approved", 0), outcome)

    def test_what_an_annotator_and_the_expert_reject_goes_to_nobody(self):
        rejects = ("eve", 2, "reject", AS_QUEUED)

        assert status(TWO, REJECT, self.BOB_TOO, rejects) == ("rejected", 0)
        assert status(TWO, EDIT, self.BOB_EDITS, rejects) == ("to_rework", 1)
        assert status(TWO, REJECT, self.BOB_REJECTS) == ("rejected", 0)


class TestWhoIsNotAsked:
    def excluded(self, rules, *steps):
        return set(state(rules, *steps).excluded)

    def test_nobody_twice_in_a_round_nor_in_both(self):
        assert self.excluded(TWO) == set()
        assert self.excluded(TWO, ACCEPT) == {"ann"}
        assert self.excluded(TWO, ACCEPT, ("bob", *REJECT[1:])) == {"ann", "bob"}
        assert self.excluded(ONE, ("eve", 2, "accept", AS_QUEUED)) == {"eve"}

    def test_nobody_what_they_skipped_in_that_round(self):
        skipped = ("ann", 1, "skip", AS_QUEUED)

        assert self.excluded(ONE, skipped) == {"ann"}
        assert self.excluded(ONE, skipped, ("bob", *ACCEPT[1:])) == {"bob"}
        assert self.excluded(ONE, ACCEPT, ("eve", 2, "skip", AS_QUEUED)) == {"ann", "eve"}

    def test_what_is_finished_is_asked_of_nobody(self):
        assert self.excluded(ONE, ACCEPT, ("eve", 2, "accept", AS_QUEUED)) == set()

    def test_another_content_is_anybodys(self):
        other = ITEM | {"content": BEST, "content_hash": content_id(BEST)}
        reached = review_state(other, said(ACCEPT, ("bob", 1, "skip", AS_QUEUED)), ONE)

        assert (reached.status, reached.excluded) == (("round_1", 1), frozenset())


class TestRework:
    SENT_BACK = (EDIT, ("eve", 2, "reject", BETTER))
    MENDED = ("ann", 1, "edit", BETTER, BEST)

    def test_it_is_mended_on_the_content_that_was_rejected_and_goes_to_an_expert_again(self):
        back = state(ONE, *self.SENT_BACK)
        assert (back.status, back.item["content"]) == (("to_rework", 1), BETTER)
        # The annotator may mend it, the expert may not.
        assert back.excluded == {"eve"}

        mended = state(ONE, *self.SENT_BACK, self.MENDED)
        assert (mended.status, mended.item["content"]) == (("round_2", 1), BEST)
        assert mended.excluded == {"ann"}

        done = state(ONE, *self.SENT_BACK, self.MENDED, ("eve", 2, "accept", BEST))
        assert (done.status, done.revision) == (("approved", 0), 2)
        assert [each.reviewer for each in done.counted] == ["ann", "eve", "ann", "eve"]

    def test_mended_again_and_again(self):
        again = (*self.SENT_BACK, self.MENDED, ("eve", 2, "reject", BEST))
        assert status(ONE, *again) == ("to_rework", 1)

        # Back to the very content that was queued: what was said of it then does not count now.
        back = (*again, ("bob", 1, "edit", BEST, AS_QUEUED))
        assert status(ONE, *back) == ("round_2", 1)
        assert state(ONE, *back).excluded == {"ann", "bob"}
        assert status(ONE, *back, ("eve", 2, "accept", AS_QUEUED)) == ("approved", 0)

    def test_an_edit_made_before_the_rejection_mends_nothing(self):
        assert status(ONE, self.MENDED, *self.SENT_BACK) == ("to_rework", 1)

    def test_an_edit_of_another_content_mends_nothing(self):
        assert status(ONE, *self.SENT_BACK, ("bob", 1, "edit", AS_QUEUED, BEST)).name != (
            "approved"
        )
        assert state(ONE, *self.SENT_BACK, ("bob", 1, "edit", BEST, BETTER)).item["content"] == (
            BETTER
        )

    def test_rejected_again_by_an_annotator_it_is_given_up(self):
        assert status(ONE, *self.SENT_BACK, ("bob", 1, "reject", BETTER)) == ("rejected", 0)

    def test_skipped_it_waits_for_another(self):
        skipped = state(ONE, *self.SENT_BACK, ("ann", 1, "skip", BETTER))

        assert skipped.status == ("to_rework", 1)
        assert skipped.excluded == {"ann", "eve"}

    def test_what_annotators_rejected_may_be_taken_up_and_needs_an_expert_then(self):
        rules = Rules(expert="none")

        assert status(rules, REJECT) == ("rejected", 0)
        assert status(rules, REJECT, ("bob", 1, "edit", AS_QUEUED, BETTER)) == ("round_2", 1)

    def test_one_person_is_enough_to_mend_what_two_annotated(self):
        steps = (
            EDIT,
            ("bob", 1, "edit", AS_QUEUED, BETTER),
            ("eve", 2, "reject", BETTER),
            ("cat", 1, "edit", BETTER, BEST),
        )

        assert status(TWO, *steps) == ("round_2", 1)
        assert state(TWO, *steps).excluded == {"ann", "bob", "cat"}


class TestShares:
    def test_a_share_is_about_that_share(self):
        ids = [content_id("item", number) for number in range(4000)]

        # 4,000 draws of 0.25: 1,000 on average, 27 standard deviation; five of them to each side.
        assert 863 < sum(in_sample("sample", each, 0.25) for each in ids) < 1137
        assert not any(in_sample("sample", each, 0.0) for each in ids)
        assert all(in_sample("sample", each, 1.0) for each in ids)

    def test_a_larger_share_has_all_of_a_smaller_one(self):
        ids = [content_id("item", number) for number in range(500)]
        small, large = ({each for each in ids if in_sample("sample", each, s)} for s in (0.2, 0.6))

        assert small < large

    def test_what_is_not_sampled_nobody_sees_unless_somebody_decided(self):
        rules = Rules(sample=0.0)

        assert status(rules) == ("not_sampled", 0)
        assert status(rules, ACCEPT) == ("round_2", 1)
        assert status(rules, ("ann", 1, "accept", BEST)) == ("not_sampled", 0)

    @pytest.mark.parametrize(("share", "awaited"), [(0.0, ("approved", 0)), (1.0, ("round_2", 1))])
    def test_the_experts_share(self, share, awaited):
        assert status(Rules(expert="sample", expert_share=share), ACCEPT) == awaited


class TestRules:
    def test_a_kind_has_its_own_or_the_default_ones(self):
        book = RuleBook.model_validate(
            {"default": {"expert": "none"}, "kinds": {"dialogue": {"annotators": 2}}}
        )

        assert book.rules_for("dialogue") == Rules(annotators=2, expert="all")
        assert book.rules_for("rewrite") == Rules(expert="none")
        assert RuleBook().rules_for("rewrite") == Rules(annotators=1, expert="all", quota=None)


def test_whatever_is_decided_the_laws_hold():
    for seed in range(100):
        the_laws_hold(seed)


def the_laws_hold(seed):
    random_ = random.Random(seed)
    rules = Rules(
        annotators=random_.choice([1, 2]),
        expert=random_.choice(["none", "disagreement", "sample", "all"]),
        expert_share=0.5,
    )
    contents, numbers = [AS_QUEUED], count()
    steps = []
    for _ in range(12):
        before = state(rules, *steps)
        round, rejected = before.status.round, before.status.name in ("rejected", "to_rework")
        if round is None:
            break
        # What is rejected is not accepted as it is: the store refuses that.
        verdict = random_.choice(["edit", "reject", "skip", "edit" if rejected else "accept"])
        free = [name for name in "abcdefgh" if name not in before.excluded]
        on = before.item["content"]
        step = (random_.choice(free), round, verdict, on)
        if verdict == "edit":
            contents.append(AS_QUEUED | {"rewrite": f"{next(numbers)}"})
            step = (*step, contents[-1])
        after = state(rules, *steps, step)
        if after.status == before.status and after.status.name != "rejected":
            assert verdict == "skip", "a decision brings the item on"
            assert after.excluded == before.excluded | {step[0]}
        assert [each.event_id for each in before.counted] == [
            each.event_id for each in after.counted[: len(before.counted)]
        ], "what was counted goes on to count"
        steps.append(step)
    reached = state(rules, *steps)
    assert reached.item["content"] in contents
    assert reached.revision <= sum(step[2] == "edit" for step in steps)
    if reached.status.name == "approved":
        last = reached.counted[-1]
        assert last.verdict in ("accept", "edit")
        for name in "abcdefgh":
            rounds = {each.round for each in reached.counted if each.reviewer == name}
            assert len(rounds) < 2, "nobody does both rounds"
