"""The process as it is specified: what an item awaits after which decisions, and who is not asked."""

from itertools import permutations

import pytest

from methods.ids import content_id
from methods.review.process import RuleBook, Rules, in_sample, review_state
from tests.resources.review.review_queue import item_with, verdict

AS_QUEUED = {"original": "Describe it.", "rewrite": "What is it?"}
BETTER = AS_QUEUED | {"rewrite": "What does it show?"}
BEST = AS_QUEUED | {"rewrite": "What can be seen here?"}
ITEM = item_with(AS_QUEUED)
ONE = Rules()
TWO = Rules(annotators=2)


def said(*steps):
    """Decisions in order: (reviewer, round, verdict, content decided on[, edits])."""
    return [
        verdict(item_with(on), reviewer, says, *edits, round=round, event_id=event_id)
        for event_id, (reviewer, round, says, on, *edits) in enumerate(steps, start=1)
    ]


def state(rules, *steps):
    return review_state(ITEM, said(*steps), rules)


ACCEPT = ("ann", 1, "accept", AS_QUEUED)
EDIT = ("ann", 1, "edit", AS_QUEUED, BETTER)
REJECT = ("ann", 1, "reject", AS_QUEUED)


SKIP = ("ann", 1, "skip", AS_QUEUED)
BOB, BOB_REJECTS = ("bob", *ACCEPT[1:]), ("bob", *REJECT[1:])
BOB_EDITS, BOB_AGREES = ("bob", 1, "edit", AS_QUEUED, BEST), ("bob", *EDIT[1:])
EVE, EVE_REJECTS = ("eve", 2, "accept", AS_QUEUED), ("eve", 2, "reject", AS_QUEUED)
SENT_BACK = [EDIT, ("eve", 2, "reject", BETTER)]
MENDED = ("ann", 1, "edit", BETTER, BEST)
SENT_BACK_AGAIN = [*SENT_BACK, MENDED, ("eve", 2, "reject", BEST)]
AS_BEFORE = [*SENT_BACK_AGAIN, ("bob", 1, "edit", BEST, AS_QUEUED)]
APART = Rules(annotators=2, expert="disagreement")
ALWAYS, NEVER = (Rules(expert="sample", expert_share=share) for share in (1.0, 0.0))


@pytest.mark.parametrize(
    ("rules", "steps", "awaited", "excluded"),
    [
        (ONE, [], ("round_1", 1), ""),
        (ONE, [ACCEPT], ("round_2", 1), "ann"),
        (ONE, [REJECT], ("rejected", 0), ""),
        (ONE, [SKIP], ("round_1", 1), "ann"),
        (ONE, [SKIP, BOB], ("round_2", 1), "bob"),
        (ONE, [ACCEPT, ("eve", 2, "skip", AS_QUEUED)], ("round_2", 1), "ann eve"),
        (ONE, [ACCEPT, EVE], ("approved", 0), ""),
        (ONE, [ACCEPT, ("eve", 2, "edit", AS_QUEUED, BETTER)], ("approved", 0), ""),
        (ONE, [EDIT, ("eve", 2, "accept", BETTER)], ("approved", 0), ""),
        # On a content that the annotator has replaced, and on one that never was.
        (ONE, [EDIT, EVE], ("round_2", 1), "ann"),
        # Imported: nobody took turns, and nothing is lost by it.
        (ONE, [EVE, ACCEPT], ("approved", 0), ""),
        # Two annotators are two people.
        (TWO, [ACCEPT], ("round_1", 1), "ann"),
        (TWO, [ACCEPT, EDIT], ("round_1", 1), "ann"),
        (TWO, [REJECT, BOB, EVE_REJECTS], ("rejected", 0), "eve"),
        (TWO, [EDIT, BOB_EDITS, EVE_REJECTS], ("to_rework", 1), "eve"),
        # An expert sends it back: another than the expert mends it, another than who mended looks.
        (ONE, [*SENT_BACK, MENDED, ("eve", 2, "accept", BEST)], ("approved", 0), ""),
        (ONE, [*SENT_BACK, ("ann", 1, "skip", BETTER)], ("to_rework", 1), "ann eve"),
        (ONE, [*SENT_BACK, ("bob", 1, "reject", BETTER)], ("rejected", 0), "eve"),
        # Back to the very content that was queued: what was said of it then does not count now.
        (ONE, AS_BEFORE, ("round_2", 1), "ann bob"),
        # An edit made before the rejection mends nothing.
        (ONE, [MENDED, *SENT_BACK], ("to_rework", 1), "eve"),
        # One person is enough to mend what two annotated.
        (
            TWO,
            [EDIT, BOB_AGREES, SENT_BACK[1], ("cat", 1, "edit", BETTER, BEST)],
            ("round_2", 1),
            "ann bob cat",
        ),
        # What annotators rejected may be taken up, and needs an expert then.
        (Rules(expert="none"), [REJECT, ("bob", *EDIT[1:])], ("round_2", 1), "ann bob"),
        # What is not sampled nobody sees unless somebody decided.
        (Rules(sample=0.0), [], ("not_sampled", 0), ""),
        (Rules(sample=0.0), [("ann", 1, "accept", BEST)], ("not_sampled", 0), ""),
        (ALWAYS, [ACCEPT], ("round_2", 1), "ann"),
        (NEVER, [ACCEPT], ("approved", 0), ""),
        # Where two disagree an expert decides; equal edits agree.
        (APART, [EDIT, BOB_EDITS], ("round_2", 1), "ann bob"),
        (APART, [EDIT, BOB_AGREES], ("approved", 0), ""),
    ],
)
def test_what_is_awaited_and_of_whom_it_is_not(rules, steps, awaited, excluded):
    reached = state(rules, *steps)
    assert (reached.status, reached.excluded) == (awaited, frozenset(excluded.split()))


@pytest.mark.parametrize(
    ("rules", "steps", "content", "revision", "counted"),
    [
        (ONE, [EDIT], BETTER, 1, "ann"),
        (ONE, [EDIT, ("eve", 2, "edit", BETTER, BEST)], BEST, 2, "ann eve"),
        (TWO, [EDIT, BOB_REJECTS, EVE], AS_QUEUED, 0, "ann bob eve"),
        (TWO, [EDIT, BOB_REJECTS, ("eve", 2, "edit", AS_QUEUED, BETTER)], BETTER, 1, "ann bob eve"),
        (ONE, SENT_BACK, BETTER, 1, "ann eve"),
        (ONE, [*SENT_BACK, MENDED, ("eve", 2, "accept", BEST)], BEST, 2, "ann eve ann eve"),
        # An edit of another content mends nothing.
        (ONE, [*SENT_BACK, ("bob", 1, "edit", BEST, BETTER)], BETTER, 1, "ann eve"),
    ],
)
def test_the_next_decides_on_what_the_last_made_of_it(rules, steps, content, revision, counted):
    reached = state(rules, *steps)
    assert (reached.item["content"], reached.revision) == (content, revision)
    assert reached.item["content_hash"] == content_id(content)
    assert [each.reviewer for each in reached.counted] == counted.split()


def test_decisions_on_other_items_and_of_another_content_are_not_this_ones():
    assert review_state(ITEM | {"item_id": "other"}, said(REJECT), ONE).status == ("round_1", 1)
    other = ITEM | {"content": BEST, "content_hash": content_id(BEST)}
    reached = review_state(other, said(ACCEPT, ("bob", 1, "skip", AS_QUEUED)), ONE)
    assert (reached.status, reached.excluded) == (("round_1", 1), frozenset())


def test_the_order_of_events_counts_not_that_of_the_list():
    steps = said(EDIT, ("ann", 1, "edit", AS_QUEUED, BEST), ("eve", 2, "accept", BEST))

    for listed in permutations(steps):
        assert review_state(ITEM, listed, ONE).item["content"] == BEST


def test_a_share_is_about_that_share_and_a_larger_one_has_all_of_a_smaller_one():
    ids = [content_id("item", number) for number in range(4000)]
    fifth, quarter = ({each for each in ids if in_sample("sample", each, s)} for s in (0.2, 0.25))

    # 4,000 draws of 0.25: 1,000 on average, 27 standard deviation; five of them to each side.
    assert 863 < len(quarter) < 1137
    assert fifth < quarter
    assert not any(in_sample("sample", each, 0.0) for each in ids)
    assert all(in_sample("sample", each, 1.0) for each in ids)


def test_a_kind_has_its_own_rules_or_the_default_ones():
    book = RuleBook.model_validate(
        {"default": {"expert": "none"}, "kinds": {"dialogue": {"annotators": 2}}}
    )

    assert book.rules_for("dialogue") == Rules(annotators=2, expert="all")
    assert book.rules_for("rewrite") == Rules(expert="none")
    assert RuleBook().rules_for("rewrite") == Rules(annotators=1, expert="all", quota=None)
