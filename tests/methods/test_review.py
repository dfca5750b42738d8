"""Review as it is specified: what a decision must be, and what two rounds of them come to."""

import pytest

from methods.ids import content_id
from methods.review import (
    Decision,
    StaleDecision,
    awaits,
    check_decision,
    resolve,
    source_hash_of,
    standing,
)

TURN = {"question": "What stands in <image-1>?", "answer": "A red tower."}
DIALOGUE = {"image_ids": ["a", "b"], "turns": [TURN]}
EDITED = {"image_ids": ["a", "b"], "turns": [TURN | {"answer": "A blue tower, as in <image-2>."}]}
REWRITE = {"original": "Describe <image-1>.", "rewrite": "What does <image-1> show?"}


def item(content=DIALOGUE, kind="dialogue"):
    return {
        "item_id": "item",
        "kind": kind,
        "content": content,
        "content_hash": content_id(content),
        "image_ids": ["a", "b"],
    }


def decision(round, verdict, *, on=DIALOGUE, edits=None, reason=None, event_id=None, by=None):
    return Decision(
        item_id="item",
        content_hash=content_id(on),
        round=round,
        reviewer=by or ("ann", "eve")[round - 1],
        verdict=verdict,
        edits=edits,
        reason=reason,
        note=None,
        seconds=None,
        decided_at="2026-01-01T00:00:00+00:00",
        event_id=event_id,
    )


def record(**changes):
    return {
        "item_id": "item",
        "content_hash": content_id(DIALOGUE),
        "round": 1,
        "reviewer": "ann",
        "verdict": "accept",
        "decided_at": "2026-01-01T00:00:00+00:00",
    } | changes


def edit(**changes):
    return record(verdict="edit", edits=DIALOGUE | changes)


class TestResolve:
    def test_two_acceptances_approve_the_content_as_generated(self):
        resolution = resolve(item(), [decision(1, "accept"), decision(2, "accept")], "require")

        assert (resolution.status, resolution.revision) == ("approved", 0)
        assert resolution.content == DIALOGUE
        assert resolution.content_hash == content_id(DIALOGUE)
        assert resolution.reviewers == ("ann", "eve")

    def test_the_expert_accepts_what_the_reviewer_made_of_it(self):
        decisions = [decision(1, "edit", edits=EDITED), decision(2, "accept", on=EDITED)]

        resolution = resolve(item(), decisions, "require")

        assert (resolution.status, resolution.revision) == ("approved", 1)
        assert resolution.content == EDITED
        assert resolution.content_hash == content_id(EDITED)

    def test_each_round_that_edits_is_a_revision(self):
        final = EDITED | {"turns": [TURN | {"answer": "A green tower."}]}
        decisions = [decision(1, "edit", edits=EDITED), decision(2, "edit", on=EDITED, edits=final)]

        resolution = resolve(item(), decisions, "require")

        assert (resolution.revision, resolution.content) == (2, final)

    def test_a_decision_on_a_content_that_no_longer_stands_does_not_count(self):
        before_the_edit = decision(2, "accept", on=DIALOGUE)

        resolution = resolve(
            item(), [decision(1, "edit", edits=EDITED), before_the_edit], "require"
        )

        assert resolution.status == "pending"
        assert resolution.reviewers == ("ann",)

    def test_a_regenerated_item_starts_anew(self):
        decisions = [decision(1, "accept", on=EDITED), decision(2, "accept", on=EDITED)]

        assert resolve(item(), decisions, "require").status == "pending"

    def test_the_last_event_of_a_round_wins_however_they_are_listed(self):
        first = decision(1, "reject", reason="dull", event_id=1)
        second = decision(1, "accept", event_id=2)

        for decisions in ([first, second], [second, first]):
            assert resolve(item(), decisions, "accept").status == "approved"

    @pytest.mark.parametrize("policy", ["accept", "require"])
    @pytest.mark.parametrize("round", [1, 2])
    def test_a_rejection_in_either_round_stands_above_policy(self, round, policy):
        resolution = resolve(item(), [decision(round, "reject", reason="wrong image")], policy)

        assert (resolution.status, resolution.reason) == ("rejected", "wrong image")

    def test_policy_accept_fills_the_rounds_nobody_decided_and_signs_them(self):
        assert resolve(item(), [], "accept").reviewers == ("policy:accept", "policy:accept")
        resolution = resolve(item(), [decision(1, "edit", edits=EDITED)], "accept")
        assert (resolution.status, resolution.content) == ("approved", EDITED)
        assert resolution.reviewers == ("ann", "policy:accept")

    def test_policy_require_waits(self):
        assert resolve(item(), [], "require").status == "pending"
        assert resolve(item(), [decision(1, "accept")], "require").status == "pending"
        assert resolve(item(), [decision(2, "accept")], "require").status == "pending"

    def test_another_policy_is_refused(self):
        with pytest.raises(ValueError, match="accept, require"):
            resolve(item(), [], "sample")

    def test_another_items_decisions_are_not_this_ones(self):
        other = item() | {"item_id": "other"}

        assert resolve(other, [decision(1, "reject", reason="dull")], "accept").status == "approved"


class TestRounds:
    def test_round_two_stands_on_the_edit_of_round_one(self):
        decisions = [decision(1, "edit", edits=EDITED)]

        assert standing(item(), decisions, 1) == item()
        assert standing(item(), decisions, 2) == item(EDITED)

    @pytest.mark.parametrize(
        ("decisions", "first", "second"),
        [
            ([], True, False),
            ([decision(1, "accept")], False, True),
            ([decision(1, "reject", reason="dull")], False, False),
            ([decision(2, "reject", reason="dull")], False, False),
            ([decision(1, "accept"), decision(2, "accept")], False, False),
            ([decision(1, "edit", edits=EDITED), decision(2, "accept")], False, True),
        ],
    )
    def test_what_awaits_a_person(self, decisions, first, second):
        assert awaits(item(), decisions, 1, "require") is first
        assert awaits(item(), decisions, 2, "require") is second

    def test_under_policy_accept_the_expert_need_not_wait(self):
        assert awaits(item(), [], 2, "accept")


class TestCheckDecision:
    def test_a_valid_record_becomes_a_decision(self):
        checked = check_decision(edit(turns=EDITED["turns"]) | {"seconds": 4, "note": " "}, item())

        assert (checked.verdict, checked.edits, checked.seconds) == ("edit", EDITED, 4.0)
        assert (checked.note, checked.event_id) == (None, None)

    @pytest.mark.parametrize(
        ("wrong", "says"),
        [
            (record(item_id="other"), "item_id is 'other'"),
            (record(verdict="fine"), "verdict is one of accept, edit, reject"),
            (record(verdict=None), "verdict is one of"),
            (record(round=3), "round is 1 or 2"),
            (record(round="1"), "round is 1 or 2"),
            (record(round=True), "round is 1 or 2"),
            (record(reviewer=" "), "reviewer is missing"),
            (record(reviewer=None), "reviewer is missing"),
            (record(reviewer="policy:accept"), "may not pose as policy"),
            (record(reviewer=" Policy:accept"), "may not pose as policy"),
            (record(content_hash=None), "content_hash is missing"),
            (record(verdict="reject"), "reject needs a reason"),
            (record(verdict="reject", reason="  "), "reject needs a reason"),
            (record(note=7), "note is a text"),
            (record(seconds=-1), "seconds is a number"),
            (record(seconds=float("nan")), "seconds is a number"),
            (record(decided_at="yesterday"), "decided_at is a time"),
            (record(edits=EDITED), "edits are given and the verdict is accept"),
            (record(verdict="edit"), "edit needs edits"),
            (record(verdict="edit", edits="shorter"), "edit needs edits"),
            (record(verdict="edit", edits={"turns": [TURN]}), "with the keys"),
            (edit(more="x"), "with the keys"),
            (edit(image_ids=["b", "a"]), "may change turns alone"),
            (edit(turns=[]), "at least one turn"),
            (edit(turns={"question": "Q"}), "at least one turn"),
            (edit(turns=["Q"]), "a question and an answer"),
            (edit(turns=[{"question": "Q"}]), "one is missing"),
            (edit(turns=[TURN | {"answer": " "}]), "one is missing"),
            (edit(turns=[TURN | {"answer": 5}]), "one is missing"),
            (edit(turns=[TURN | {"answer": "See <image-3>."}]), "name <image-3>"),
            (edit(turns=[TURN | {"answer": "See <image-0>."}]), "name <image-0>"),
            (edit(turns=[TURN | {"answer": "<ImageHere> It."}]), "add none to answers"),
            (edit(), "change nothing"),
        ],
    )
    def test_an_invalid_record_is_refused_with_one_sentence(self, wrong, says):
        with pytest.raises(ValueError, match=says) as refused:
            check_decision(wrong, item())
        assert not isinstance(refused.value, StaleDecision)
        assert "\n" not in str(refused.value)

    def test_a_record_about_another_content_is_stale(self):
        with pytest.raises(StaleDecision, match="export it again"):
            check_decision(record(content_hash=content_id(EDITED)), item())

    def test_the_expert_decides_on_the_edited_content(self):
        edited = standing(item(), [decision(1, "edit", edits=EDITED)], 2)
        on_edited = record(round=2, content_hash=content_id(EDITED))

        assert check_decision(on_edited, edited).content_hash == content_id(EDITED)
        with pytest.raises(StaleDecision):
            check_decision(record(round=2), edited)

    def test_of_a_rewrite_only_the_rewrite_may_change(self):
        queued = item(REWRITE, "rewrite")
        base = record(verdict="edit", content_hash=content_id(REWRITE))

        better = REWRITE | {"rewrite": "What is in <image-2>?"}
        assert check_decision(base | {"edits": better}, queued).edits == better
        for wrong, says in [
            (REWRITE | {"original": "Other."}, "may change rewrite alone"),
            (REWRITE | {"rewrite": ["What?"]}, "one is missing"),
            (REWRITE | {"rewrite": "See <image-9>."}, "name <image-9>"),
        ]:
            with pytest.raises(ValueError, match=says):
                check_decision(base | {"edits": wrong}, queued)


def test_a_decision_is_known_by_what_it_says_and_not_by_its_place():
    assert source_hash_of(decision(1, "accept", event_id=7)) == source_hash_of(
        decision(1, "accept")
    )
    assert source_hash_of(decision(2, "accept")) != source_hash_of(decision(1, "accept"))
