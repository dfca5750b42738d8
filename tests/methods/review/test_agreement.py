"""From decisions to rows: which decisions are blind ratings, what is compared, what review took."""

from typing import Any

import pytest

from methods.review import Decision, QueueItem
from methods.review.agreement import JudgeScore, judge_rows, people_rows
from methods.review.process import RuleBook
from methods.review.ratings import Rating, agreed_labels, blind_decisions, effort_rows, ratings_of
from tests.resources.review.review_queue import item_with, verdict

BOTH = RuleBook.model_validate({"default": {"annotators": 2}})
ALONE = RuleBook()


def decided(of: QueueItem, event_id: int, who: str, says: str, **changed: Any) -> Decision:
    return verdict(of, who, says, event_id=event_id, **changed)


REWRITE = item_with({"original": "How many?", "rewrite": "Count them."}, item_id="r", set_id="s")
OWL = {"text": "t", "category": "owl", "categories": ["owl", "map"]}
CATEGORY = item_with(OWL, "category", "c")


def test_round_1_is_blind_until_as_many_as_it_needs_have_decided():
    edits = {**REWRITE["content"], "rewrite": "Say how many."}
    said = [
        decided(REWRITE, 1, "ann", "accept"),
        decided(REWRITE, 2, "ann", "reject", reason="incomplete"),  # She thought again.
        decided(REWRITE, 3, "cy", "skip"),
        decided(REWRITE, 4, "bob", "reject", reason="other"),
        decided(REWRITE, 5, "eve", "reject", round=2, reason="other"),
        decided(REWRITE, 6, "bob", "edit", edits=edits),
        decided(REWRITE, 7, "dan", "accept"),
    ]
    assert [each.event_id for each in blind_decisions(reversed(said), 2)] == [2, 4]
    assert [each.event_id for each in blind_decisions(said, 1)] == [1]
    assert [each.event_id for each in blind_decisions(said[4:5], 2)] == []


def test_only_decisions_on_what_the_item_says_now_are_ratings():
    said = [
        decided(REWRITE, 1, "ann", "accept"),
        decided(REWRITE, 2, "bob", "reject", reason="other", content_hash="of before"),
        decided(item_with({}, item_id="elsewhere"), 3, "cy", "accept"),
        decided(REWRITE, 4, "dan", "reject", reason="other"),
    ]
    assert ratings_of([REWRITE], said, BOTH) == [
        Rating("rewrite", "verdict", "r", "s", "ann", "accept"),
        Rating("rewrite", "verdict", "r", "s", "dan", "reject"),
    ]
    assert [each.rater for each in ratings_of([REWRITE], said, ALONE)] == ["ann"]


def test_a_label_is_the_one_chosen_or_the_one_accepted_and_none_when_rejected():
    edits = {**CATEGORY["content"], "category": "map"}
    content = {"question": "?", "choices": {}, "output": "B", "choice": "B"}
    extraction = item_with(content, "extraction", "x")
    said = [
        decided(CATEGORY, 1, "ann", "accept"),
        decided(CATEGORY, 2, "bob", "edit", edits=edits),
        decided(extraction, 3, "ann", "edit", edits={**extraction["content"], "choice": "Z"}),
        decided(extraction, 4, "bob", "reject", reason="other"),
    ]
    found = ratings_of([CATEGORY, extraction], said, BOTH)
    assert [(each.dimension, each.rater, each.value) for each in found] == [
        ("verdict", "ann", "accept"),
        ("category", "ann", "owl"),
        ("verdict", "bob", "edit"),
        ("category", "bob", "map"),
        ("verdict", "ann", "edit"),
        ("choice", "ann", "Z"),
        ("verdict", "bob", "reject"),
    ]
    # Without a set of its own, an item is one.
    assert {each.cluster for each in found} == {"c", "x"}


def test_a_label_that_people_fill_in_has_no_verdict_and_is_theirs_if_they_agree():
    def blank(name: str) -> QueueItem:
        content = {"question": "?", "choices": {}, "output": "B", "choice": None}
        return item_with(content, "extraction", name)

    def chosen(of: QueueItem, event: int, who: str, letter: str) -> Decision:
        return decided(of, event, who, "edit", edits={**of["content"], "choice": letter})

    one, two, three = blank("1"), blank("2"), blank("3")
    said = [
        *(chosen(one, 1, "ann", "B"), chosen(one, 2, "bob", "B")),
        *(chosen(two, 3, "ann", "B"), chosen(two, 4, "bob", "Z")),
        *(chosen(three, 5, "ann", "Z"), decided(three, 6, "bob", "reject", reason="other")),
    ]
    found = ratings_of([one, two, three], said, BOTH)
    assert {each.dimension for each in found} == {"choice"} and len(found) == 5
    assert agreed_labels(found) == {"1": "B", "3": "Z"}


def test_scores_are_rated_by_dimension_and_have_no_verdict():
    one = item_with({"question": "?", "scores": {"Richness": None}}, "score", "one")
    edits = {"question": "?", "scores": {"Richness": 7}}
    said = [decided(one, 1, "ann", "edit", edits=edits), decided(one, 2, "bob", "reject")]
    assert ratings_of([one], said, BOTH) == [Rating("score", "Richness", "one", "one", "ann", 7.0)]


def by_name(rows: list[dict[str, Any]]) -> dict[tuple, dict]:
    found = {(row["kind"], row["dimension"], row["raters"], row["measure"]): row for row in rows}
    assert len(found) == len(rows)
    return found


def verdicts(**of_person: str) -> list[Rating]:
    """Verdicts of each person on items 0, 1, …: a for accept, r for reject, a dot for none."""
    return [
        Rating("rewrite", "verdict", f"item {number}", f"item {number}", who, value)
        for who, values in of_person.items()
        for number, value in enumerate(values)
        if value != "."
    ]


def test_labels_are_compared_by_pair_and_for_all_together():
    given = verdicts(ann="aarr..", bob="aar.a.", cy="...rra")
    rows = by_name(people_rows(given, seed=0, n_resamples=200))
    assert {raters for _, _, raters, _ in rows} == {"all", "ann|bob", "ann|cy", "bob|cy"}
    of = ("rewrite", "verdict")
    assert rows[(*of, "ann|bob", "raw")]["value"] == 1
    # Items 0 to 2: a says a, a, r and b the same: p_o = 1, so that kappa is 1.
    assert rows[(*of, "ann|bob", "cohen_kappa")]["value"] == 1
    assert rows[(*of, "ann|bob", "cohen_kappa")]["n_items"] == 3
    # One item both rated, one label: no kappa.
    assert rows[(*of, "ann|cy", "raw")]["value"] == 1
    alone = rows[(*of, "ann|cy", "cohen_kappa")]
    assert (alone["value"], alone["low"], alone["high"]) == (None, None, None)
    assert alone["reason"] == "Both gave every item the same one label."
    # Five items have two ratings (item 5 has one); they agree on four of them.
    assert rows[(*of, "all", "raw")]["value"] == 4 / 5
    assert rows[(*of, "all", "raw")]["n_items"] == 5
    # Ratings a 5, r 5: P_e = 1/2, kappa = (4/5 - 1/2) / (1/2).
    assert rows[(*of, "all", "fleiss_kappa")]["value"] == pytest.approx(0.6)


def test_people_who_rated_nothing_in_common_have_no_row_and_all_say_why():
    rows = by_name(people_rows(verdicts(ann="aa..", bob="..rr"), seed=0, n_resamples=200))
    assert {raters for _, _, raters, _ in rows} == {"all"}
    assert {row["reason"] for row in rows.values()} == {"No item was rated by two."}
    assert {row["n_items"] for row in rows.values()} == {0}


def scores(**of_person: tuple[int, ...]) -> list[Rating]:
    return [
        Rating("score", "Richness", f"item {number}", f"item {number}", who, float(value))
        for who, values in of_person.items()
        for number, value in enumerate(values)
    ]


def test_scores_are_correlated_by_pair_and_have_ordinal_alpha_for_all():
    given = scores(ann=(1, 5, 9, 3), bob=(2, 6, 10, 4))
    rows = by_name(people_rows(given, seed=0, n_resamples=200))
    of = ("score", "Richness")
    for measure in ("pearson", "spearman", "kendall"):
        assert rows[(*of, "ann|bob", measure)]["value"] == pytest.approx(1)
    assert rows[(*of, "ann|bob", "mae")]["value"] == 1
    assert rows[(*of, "all", "raw")]["value"] == 0
    assert rows[(*of, "all", "krippendorff_ordinal")]["value"] > 0.8
    assert not {"cohen_kappa", "fleiss_kappa"} & {measure for *_, measure in rows}


def test_each_judge_is_compared_with_the_mean_of_people():
    given = scores(ann=(1, 5, 9, 3), bob=(3, 7, 9, 3))  # Means 2, 6, 9, 3.
    judged = [
        JudgeScore(f"item {number}", "strict", "Richness", points)
        for number, points in enumerate((1, 5, 8, 2))
    ]
    judged += [
        JudgeScore("item 0", "absent", "Creativity", 4),
        JudgeScore("nobody's", "strict", "Richness", 4),
        JudgeScore("item 1", "rare", "Richness", 9),
    ]
    rows = by_name(judge_rows(given, judged, seed=0, n_resamples=200))
    of = ("score", "Richness")
    against = "people|judge:strict"
    assert rows[(*of, against, "mae")]["value"] == 1
    assert rows[(*of, against, "mae")]["n_items"] == 4
    assert rows[(*of, against, "pearson")]["value"] == pytest.approx(1)
    assert rows[(*of, "people|judge:rare", "mae")]["value"] == 3  # 9 against the mean of 5 and 7.
    assert rows[(*of, "people|judge:rare", "kendall")]["reason"].startswith("A correlation needs")
    assert {raters for _, _, raters, _ in rows} == {against, "people|judge:rare"}
    # Scores alone.
    assert judge_rows(verdicts(ann="aa"), [JudgeScore("item 0", "j", "verdict", 1)], seed=0) == []


def test_no_two_pairs_are_written_alike_whatever_their_names():
    names = {"a|b": "aa", "c": "aa", "a": "aa", "b|c": "aa", "b\\|c": "aa", "all": "aa"}
    names |= {"a\\": "aa", "a|b\\": "aa"}
    rows = by_name(people_rows(verdicts(**names), seed=0, n_resamples=200))
    pairs = {raters for _, _, raters, _ in rows}
    assert len(pairs) == 1 + 8 * 7 / 2 and r"a\\|a\|b\\" in pairs


def test_effort_counts_decisions_seconds_and_reasons_of_each_person_and_round():
    said = [
        decided(REWRITE, 1, "ann", "accept", seconds=10.0, content_hash="of before", reason="?"),
        decided(REWRITE, 2, "ann", "reject", seconds=40.0, reason="incomplete"),
        decided(REWRITE, 3, "ann", "reject", reason="incomplete"),
        decided(REWRITE, 4, "ann", "skip", seconds=900.0),
        decided(REWRITE, 5, "bob", "reject", round=2, reason="factual_error"),
        decided(item_with({}, item_id="gone"), 6, "ann", "accept", seconds=1.0),
    ]
    ann, bob = effort_rows([REWRITE, CATEGORY], said)
    assert ann == {
        **{"kind": "rewrite", "round": 1, "reviewer": "ann", "n_decisions": 3, "n_skipped": 1},
        **{"median_seconds": 25.0, "reasons": {"incomplete": 2}},
    }
    assert bob == {
        **{"kind": "rewrite", "round": 2, "reviewer": "bob", "n_decisions": 1, "n_skipped": 0},
        **{"median_seconds": None, "reasons": {"factual_error": 1}},
    }
