"""Review as it is specified: what an item awaits, when a decision is valid, and its outcome."""

from dataclasses import replace
from itertools import permutations
from string import ascii_uppercase

import pytest

from methods.ids import content_id
from methods.review import ResolutionPolicy, StaleDecision, check_decision, resolve, source_hash_of
from methods.review.process import RuleBook, Rules, in_sample, review_state
from tests.resources.review.review_queue import item_with, verdict
from tests.resources.review.review_queue import verdict as decided

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
CAT_MENDS = ("cat", *MENDED[1:])
SENT_BACK_AGAIN = [*SENT_BACK, MENDED, ("eve", 2, "reject", BEST)]
AS_BEFORE = [*SENT_BACK_AGAIN, ("bob", 1, "edit", BEST, AS_QUEUED)]
APART = Rules(annotators=2, expert="disagreement")
ALWAYS, NEVER = (Rules(expert="sample", expert_share=share) for share in (1.0, 0.0))


@pytest.mark.parametrize(
    ("rules", "steps", "awaited", "excluded"),
    [
        (ONE, [SKIP, BOB], ("round_2", 1), "bob"),
        (ONE, [ACCEPT, ("eve", 2, "skip", AS_QUEUED)], ("round_2", 1), "ann eve"),
        # On a content that the annotator has replaced, and on one that never was.
        (ONE, [EDIT, EVE], ("round_2", 1), "ann"),
        # Imported: nobody took turns, and nothing is lost by it.
        (ONE, [EVE, ACCEPT], ("approved", 0), ""),
        # The last decision counts. Other people may have made earlier ones.
        (ONE, [ACCEPT, BOB_EDITS, REJECT], ("rejected", 0), ""),
        # Two annotators are two people.
        (TWO, [ACCEPT, EDIT], ("round_1", 1), "ann"),
        (TWO, [REJECT, BOB, EVE_REJECTS], ("rejected", 0), "eve"),
        # An expert sends it back: another than the expert mends it, another than who mended looks.
        (ONE, [*SENT_BACK, MENDED, ("eve", 2, "accept", BEST)], ("approved", 0), ""),
        (ONE, [*SENT_BACK, ("ann", 1, "skip", BETTER)], ("to_rework", 1), "ann eve"),
        (ONE, [*SENT_BACK, ("bob", 1, "reject", BETTER)], ("rejected", 0), "eve"),
        # Back to the very content that was queued: what was said of it then does not count now.
        (ONE, AS_BEFORE, ("round_2", 1), "ann bob"),
        (ONE, [*SENT_BACK, MENDED, ("bob", 1, "accept", BETTER)], ("round_2", 1), "ann"),
        # An edit made before the rejection mends nothing.
        (ONE, [MENDED, *SENT_BACK], ("to_rework", 1), "eve"),
        # One person is enough to mend what two annotated.
        (TWO, [EDIT, BOB_AGREES, SENT_BACK[1], CAT_MENDS], ("round_2", 1), "ann bob cat"),
        # What annotators rejected may be taken up, and needs an expert then.
        (Rules(expert="none"), [REJECT, ("bob", *EDIT[1:])], ("round_2", 1), "ann bob"),
        # What is not sampled nobody sees unless somebody decided.
        (Rules(sample=0.0), [("ann", 1, "accept", BEST)], ("not_sampled", 0), ""),
        (Rules(sample=0.0), [EVE], ("round_1", 1), "eve"),
        (ALWAYS, [ACCEPT], ("round_2", 1), "ann"),
        (NEVER, [ACCEPT], ("approved", 0), ""),
        # Where two disagree an expert decides; equal edits agree.
        (APART, [EDIT, BOB_EDITS], ("round_2", 1), "ann bob"),
        (APART, [EDIT, BOB_AGREES], ("approved", 0), ""),
        (APART, [REJECT, BOB], ("round_2", 1), "ann bob"),
    ],
)
def test_what_is_awaited_and_of_whom_it_is_not(rules, steps, awaited, excluded):
    reached = state(rules, *steps)
    assert (reached.status, reached.excluded) == (awaited, frozenset(excluded.split()))


@pytest.mark.parametrize(
    ("rules", "steps", "content", "revision", "counted"),
    [
        (ONE, [EDIT, ("eve", 2, "edit", BETTER, BEST)], BEST, 2, "ann eve"),
        (TWO, [EDIT], AS_QUEUED, 0, "ann"),
        (TWO, [EDIT, BOB_AGREES], BETTER, 1, "ann bob"),
        (TWO, [EDIT, BOB_REJECTS, ("eve", 2, "edit", AS_QUEUED, BETTER)], BETTER, 1, "ann bob eve"),
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
    rules = {"default": {"expert": "none"}, "kinds": {"dialogue": {"annotators": 2}}}
    book = RuleBook.model_validate(rules)

    assert book.rules_for("dialogue") == Rules(annotators=2, expert="all")
    assert book.rules_for("rewrite") == Rules(expert="none")
    assert RuleBook().rules_for("rewrite") == Rules(annotators=1, expert="all", quota=None)
    assert [book.people(kind, 1) for kind in ("dialogue", "rewrite", None)] == [2, 1, 2]


TURN = {"question": "What stands in <image-1>?", "answer": "A red tower."}
DIALOGUE = {"image_ids": ["a", "b"], "turns": [TURN]}
EDITED = {"image_ids": ["a", "b"], "turns": [TURN | {"answer": "A blue tower, as in <image-2>."}]}


def item(content=DIALOGUE, kind="dialogue"):
    return item_with(content, kind, image_ids=["a", "b"])


def decision(round, verdict, *, on=DIALOGUE, by=None, **more):
    return decided(item(on), by or ("ann", "eve")[round - 1], verdict, round=round, **more)


def record(**changes):
    made = {"item_id": "item", "content_hash": content_id(DIALOGUE), "round": 1, "reviewer": "ann"}
    return made | {"verdict": "accept", "decided_at": "2026-01-01T00:00:00+00:00"} | changes


def edit(**changes):
    return record(verdict="edit", edits=DIALOGUE | changes)


CHOICES = {"image_ids": [], "question": "What?", "hint": None, "answer": "A", "category": "objects"}
NONE, ALL = ResolutionPolicy("none"), ResolutionPolicy("all")
NO_EXPERT = Rules(expert="disagreement")


def test_what_people_are_demanded_for_waits_for_all_of_them():
    both = [decision(1, "accept"), decision(2, "accept")]
    approved = resolve(item(), both, ALL)
    assert (approved.status, approved.revision, approved.content) == ("approved", 0, DIALOGUE)
    assert approved.content_hash == content_id(DIALOGUE)
    assert approved.reviewers == ("ann", "eve")
    skipped = [decision(1, "skip", event_id=1), decision(2, "skip", event_id=2)]
    for few in ([], both[:1], both[1:], skipped):
        assert resolve(item(), few, ALL).status == "pending"
    assert resolve(item(), both, ALL, TWO).status == "pending"
    assert resolve(item(), skipped, NONE).reviewers == ("policy:none", "policy:none")


@pytest.mark.parametrize(
    ("kind", "content", "edits", "fault"),
    [
        (
            "dialogue",
            {"image_ids": [], "turns": [TURN | {"question_id": "q1"}]},
            {"turns": [TURN | {"question_id": {"x": ["y"]}}]},
            "edits, turns 1: only the question and the answer of a turn may change",
        ),
        (
            "multiple_choice",
            CHOICES | {"choices": {"A": "A mill", "B": "A ship"}},
            {"choices": {letter: letter for letter in ascii_uppercase[:16]}},
            "edits, choices: there are at most 10 choices",
        ),
        # Of an imported file only the keys could be checked.
        ("multiple_choice", CHOICES | {"choices": {"A": "A", "B": "B"}}, {"choices": 5}, "choices"),
        ("rewrite", AS_QUEUED, {"original": "Other."}, "edits, original: only rewrite may change"),
    ],
)
@pytest.mark.parametrize("policy", [NONE, ALL])
def test_a_stored_edit_that_is_not_valid_is_not_approved(kind, content, edits, fault, policy):
    """Earlier versions accepted such edits."""
    edited = content | edits
    both = [decision(1, "edit", on=content, edits=edited), decision(2, "accept", on=edited)]
    resolution = resolve(item(content, kind), both, policy)
    assert (resolution.status, resolution.revision) == ("pending", 1)
    assert fault in resolution.fault
    reworked = [*both, decision(2, "edit", on=edited, edits=content)]
    valid = resolve(item(content, kind), reworked, policy)
    assert (valid.status, valid.fault) == ("approved", None)


class TestPolicy:
    @pytest.mark.parametrize("policy", [NONE, ALL, ResolutionPolicy("sample", 0.5)])
    @pytest.mark.parametrize("round", [1, 2])
    @pytest.mark.parametrize("rules", [Rules(), TWO, NO_EXPERT])
    def test_a_rejection_in_either_round_stands_above_policy(self, policy, round, rules):
        rejection = decision(round, "reject", reason="incomplete", event_id=1)
        resolution = resolve(item(), [rejection], policy, rules)

        # Of two blind annotators one may reject and the other not: it is open, and never approved.
        open_yet = rules is TWO and round == 1 and resolution.demanded
        assert resolution.status == ("pending" if open_yet else "rejected")
        # The reason is that of the last rejection.
        last = decision(2, "reject", reason="factual_error", event_id=2)
        assert resolve(item(), [rejection, last], policy).reason == "factual_error"

    def test_it_fills_the_rounds_nobody_decided_and_signs_them(self):
        assert resolve(item(), [], NONE).reviewers == ("policy:none", "policy:none")
        resolution = resolve(item(), [decision(1, "edit", edits=EDITED)], NONE)
        assert (resolution.status, resolution.content) == ("approved", EDITED)
        assert resolution.reviewers == ("ann", "policy:none")

    @pytest.mark.parametrize("policy", [NONE, ResolutionPolicy("sample", 0.0)])
    @pytest.mark.parametrize("rules", [ONE, NO_EXPERT])
    @pytest.mark.parametrize(
        "rejected",
        [SENT_BACK, [ACCEPT, EVE_REJECTS], [REJECT], [REJECT, ("eve", 2, "reject", AS_QUEUED)]],
    )
    @pytest.mark.parametrize("reviewer", ["ann", "bob"])
    def test_it_does_not_accept_the_rework_of_a_rejected_item(
        self, policy, rules, rejected, reviewer
    ):
        content = BETTER if rejected is SENT_BACK else AS_QUEUED
        steps = [*rejected, (reviewer, 1, "edit", content, BEST)]
        assert resolve(ITEM, said(*rejected), policy, rules).status == "rejected"
        assert resolve(ITEM, said(*steps), policy, rules).status == "pending"
        # Rejected and changed once more.
        again = [("eve", 2, "reject", BEST), (reviewer, 1, "edit", BEST, AS_QUEUED)]
        assert resolve(ITEM, said(*steps, *again), policy, rules).status == "pending"
        approved = resolve(ITEM, said(*steps, ("eve", 2, "accept", BEST)), policy, rules)
        assert (approved.status, approved.content) == ("approved", BEST)
        assert approved.reviewers[-2:] == (reviewer, "eve")

    def test_it_does_not_settle_what_annotators_disagree_on(self):
        rejection = decision(1, "reject", by="ann", reason="incomplete", event_id=1)
        apart = [rejection, decision(1, "edit", edits=EDITED, by="bob", event_id=2)]

        assert resolve(item(), apart, NONE, TWO).status == "pending"
        by_expert = decision(2, "edit", edits=EDITED, event_id=3)
        settled = resolve(item(), [*apart, by_expert], NONE, TWO)
        assert (settled.content, settled.reason) == (EDITED, None)
        assert settled.reviewers == ("ann", "bob", "eve")

    def test_it_cannot_say_what_only_people_know(self):
        unscored = {"image_ids": [], "question": "Q", "reference": "R", "answer": "A"}
        unscored |= {"dimensions": ["Wit"], "lowest": 1, "highest": 10, "scores": {"Wit": None}}
        scored = unscored | {"scores": {"Wit": 7}}
        given = decision(1, "edit", on=unscored, edits=scored)

        resolution = resolve(item(unscored, "score"), [], NONE)
        assert (resolution.status, resolution.reviewers) == ("pending", ())
        assert resolve(item(unscored, "score"), [given], NONE).status == "approved"

    def test_a_sample_has_its_share_and_the_rest_is_let_through_by_its_name(self):
        policy = ResolutionPolicy("sample", 0.25)
        outcomes = [resolve(item() | {"item_id": f"item-{n}"}, [], policy) for n in range(400)]
        demanded = [each for each in outcomes if each.demanded]

        # 100 expected; the standard deviation is sqrt(400 * 0.25 * 0.75) = 8.7.
        assert 74 <= len(demanded) <= 126
        assert {(each.status, each.reviewers) for each in demanded} == {("pending", ())}
        rest = {(each.status, each.reviewers) for each in outcomes if not each.demanded}
        assert rest == {("approved", ("policy:sample", "policy:sample"))}


class TestCheckDecision:
    def test_a_valid_record_becomes_a_decision(self):
        more = {"reviewer": " ann ", "seconds": 4, "note": " "}
        checked = check_decision(edit(turns=EDITED["turns"]) | more, item())

        assert (checked.verdict, checked.edits, checked.seconds) == ("edit", EDITED, 4.0)
        assert (checked.note, checked.event_id) == (None, None)
        assert (checked.reviewer, checked.decided_at) == ("ann", record()["decided_at"])

    @pytest.mark.parametrize(
        ("wrong", "says"),
        [
            (record(item_id="other"), "item_id is 'other'"),
            (record(verdict="fine"), "verdict is one of accept, edit, reject, skip"),
            (record(round=3), "round is 1 or 2"),
            (record(round=True), "round is 1 or 2, not True"),
            (record(reviewer=" "), "reviewer is missing"),
            (record(reviewer=" Policy:accept"), "is the name of a policy"),
            (record(content_hash=None), "content_hash is missing"),
            (record(verdict="reject"), "reject needs a reason"),
            (record(verdict="reject", reason="other"), "other needs a note"),
            (record(verdict="skip", edits=EDITED), "verdict skip: set the verdict to edit"),
            (record(note=7), "note is a text"),
            (record(seconds=float("nan")), "seconds is a number"),
            (record(decided_at="yesterday"), "decided_at is a time"),
            (record(edits=EDITED), "edits are given with the verdict accept"),
            (record(verdict="edit"), "give the whole content"),
            (edit(turns=[TURN | {"answer": "<image-3>."}]), "turns 1 answer: <image-3> is none"),
            (edit(turns=[TURN | {"answer": "a \u202e b"}]), "turns 1 answer: U\\+202E is"),
            (edit(turns=[TURN | {"answer": "a\U000e0062"}]), "turns 1 answer: U\\+E0062 is"),
            (record(note="a\0b"), "note: U\\+0000 is an invisible control character"),
            (edit(turns=[TURN | {"answer": "x" * 500_000}]), "bytes and may have 500,000"),
            (record(reason="x" * 4_001), "the reason has 4,001 characters and may have 4,000"),
            (record(note="x" * 4_001), "the note has 4,001 characters and may have 4,000"),
            *(
                (record(**{name: value}), name)
                for name in (
                    "item_id",
                    "round",
                    "verdict",
                    "reason",
                    "note",
                    "seconds",
                    "decided_at",
                )
                for value in ("x" * 9_999, ["x" * 9_999])
            ),
            (record(reviewer="policy:" + "x" * 9_999), "name of a policy"),
            (record(verdict="reject", reason="x" * 3_000), "reason is one of"),
        ],
    )
    def test_an_invalid_record_is_refused_with_one_sentence(self, wrong, says):
        with pytest.raises(ValueError, match=says) as refused:
            check_decision(wrong, item())
        assert not isinstance(refused.value, StaleDecision)
        assert "\n" not in str(refused.value)
        assert len(str(refused.value)) < 300

    def test_a_rejection_has_one_of_five_reasons_and_a_skip_needs_none(self):
        for reason in ("factual_error", "does_not_follow", "incomplete", "common_sense_error"):
            assert check_decision(record(verdict="reject", reason=reason), item()).reason == reason
        other = record(verdict="reject", reason="other", note="The page was vandalized.")
        assert check_decision(other, item()).note == "The page was vandalized."
        skipped = check_decision(record(verdict="skip", edits={}), item())
        assert (skipped.verdict, skipped.edits) == ("skip", None)

    def test_an_edit_keeps_control_characters_that_the_content_has(self):
        content = {**DIALOGUE, "turns": [TURN | {"answer": "a \u202e b"}]}
        changed = {**DIALOGUE, "turns": [TURN | {"answer": "a \u202e c"}]}
        shown = item(content)
        record_ = record(verdict="edit", edits=changed, content_hash=shown["content_hash"])
        assert check_decision(record_, shown).edits == changed

    def test_a_record_about_another_content_is_stale(self):
        with pytest.raises(StaleDecision, match="export it again"):
            check_decision(record(content_hash=content_id(EDITED)), item())
        with pytest.raises(StaleDecision) as refused:
            check_decision(record(content_hash="x" * 9_999), item())
        assert len(str(refused.value)) < 300


def test_a_decision_is_known_by_what_it_says_and_not_by_its_place():
    made = decision(1, "accept")
    assert source_hash_of(replace(made, event_id=7, source_hash="x")) == source_hash_of(made)
    assert source_hash_of(replace(made, round=2)) != source_hash_of(made)
