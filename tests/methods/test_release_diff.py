"""Two releases compared: by hand, one difference of each kind."""

from typing import Any

import pytest

from methods import release_diff
from methods.release_diff_text import difference_in_words
from methods.release_diff_text import score as score_in_words

CARD = {
    **{"release_id": "mmdu-1", "name": "mmdu", "kind": "benchmark", "provider": "openai"},
    **{"n_items": 1, "n_turns": 1, "n_images": 1, "review_policy": "none", "review_share": 0.0},
    **{"created_at": "2026-03-02", "project_version": "0.1.0", "writers": ["gpt-4o"]},
    "settings": {"cluster.clusters": {"tau": 0.75, "min_size": 2}},
    "corpus": [{"wit_shard": "a", "fingerprint": "1"}, {"wit_shard": "b", "fingerprint": "1"}],
    "prompt_versions": ["mmdu/questions@1"],
}


def contents(items, card=None, **of) -> release_diff.ReleaseContents:
    """A release of `items`: (set id, item id) to its questions with their references."""
    rows: dict[str, list[dict[str, Any]]] = {
        table: [] for table in ("items", "turns", "choices", "references", "images")
    }
    about = {"reviewers": of.get("reviewers", ["ann"]), "labels": of.get("labels", {})}
    for (set_id, item), turns in items.items():
        key = {"item_id": item}
        rows["items"].append({**key, "set_id": set_id, "group_id": of.get("group"), **about})
        rows["choices"] += [
            {**key, "position": n, "choice": choice}
            for n, choice in enumerate(of.get("choices", ()), start=1)
        ]
        rows["images"] += [
            {**key, "position": n, "image_id": image}
            | {name: of.get(name) for name in ("artist", "licence")}
            for n, image in enumerate(of.get("images", "x"), start=1)
        ]
        for number, (question, reference) in enumerate(turns, start=1):
            here = {**key, "turn": number}
            places = of.get("positions", [1]) if number == 1 else []
            asked = {"question": question, "given": of.get("given"), "image_positions": places}
            rows["turns"].append({**here, **asked})
            for kind in of.get("kinds", ["answer"]):
                rows["references"].append({**here, "kind": kind, "reference": reference})
    return release_diff.ReleaseContents({**CARD, **(card or {})}, rows, of.get("scores", []))


def score(model: str, value: float | None, version: str = "judge@1") -> dict[str, Any]:
    interval = {"ci_low": value and value - 1, "ci_high": value and value + 1}
    asked = {"model": model, "judge": "j", "judge_version": version}
    return {**asked, "value": value, **interval}


ONE = {("s", "i"): [("Q", "A")]}


def test_the_same_release_has_no_difference() -> None:
    one = contents(ONE)
    found = release_diff.difference(one, one)
    turns = {"added": 0, "removed": 0, "questions": 0, "references": 0}
    assert found == release_diff.ReleaseDifference([], [], [], 1, turns, {}, {"i": "i"}, [], [])
    said = difference_in_words("a", "b", found, 0)
    assert "0 added, 0 removed, 0 changed, 1 the same" in said and "another: nothing." in said


def test_dialogues_are_matched_by_id_else_by_set() -> None:
    first = contents(
        {
            ("s1", "same"): [("Q", "A")],
            ("s2", "edited"): [("Q1", "A1"), ("Q2", "A2")],
            ("s3", "old"): [("Q", "A"), ("Q2", "A2"), ("Q3", "A3")],
            ("s4", "gone"): [("Q", "A"), ("Q2", "A2")],
        }
    )
    second = contents(
        {
            ("s1", "same"): [("Q", "A")],
            ("s2", "edited"): [("Q1", "A1"), ("Q2", "B2")],
            ("s3", "new"): [("P", "A"), ("Q2", "A2")],
            ("s5", "more"): [("Q", "A")],
        }
    )
    found = release_diff.difference(first, second)
    assert found.added == [release_diff.ItemChange("s5", ("more",), "1 turn", "Q")]
    assert found.removed == [release_diff.ItemChange("s4", ("gone",), "2 turns", "Q")]
    reference = release_diff.ContentChange("reference", 2, ("A2",), ("B2",))
    question = release_diff.ContentChange("question", 1, ("Q",), ("P",))
    gone = release_diff.ContentChange("turn removed", 3, ("Q3",), ())
    what = "turn removed 3; question of turn 1"
    assert found.changed == [
        release_diff.ItemChange("s2", ("edited",), "reference of turn 2", "Q1", (reference,)),
        release_diff.ItemChange("s3", ("old", "new"), what, "P", (question, gone)),
    ]
    assert found.n_same == 1
    assert found.kinds == {"reference": 1, "question": 1, "turn removed": 1}
    assert found.common == {"same": "same"}
    # Added: of `more`. Removed: turn 3 of s3 and both of `gone`.
    assert found.turns == {"added": 1, "removed": 3, "questions": 1, "references": 1}


def changes(one: dict[str, Any], other: dict[str, Any]) -> release_diff.ReleaseDifference:
    """One item of one turn in two releases, with these things said of it."""
    return release_diff.difference(*(contents(ONE, **of) for of in (one, other)))


def test_what_is_only_said_of_an_item_leaves_it_to_be_asked_and_judged_alike():
    for of in (
        *({"reviewers": ["eve"]}, {"labels": {"task": "Counting"}}, {"group": "g"}),
        *({"artist": "Ann"}, {"licence": "CC0"}),
    ):
        found = changes({}, of)
        assert len(found.changed) == 1 and found.common == {"i": "i"}


def test_what_the_releases_were_made_by_is_compared_value_by_value() -> None:
    other = {
        "settings": {"cluster.clusters": {"tau": 0.6, "min_size": 2}},
        "corpus": [{"wit_shard": "b", "fingerprint": "2"}, {"wit_shard": "c", "fingerprint": "1"}],
        "prompt_versions": ["mmdu/questions@2"],
        # The page of a diff has these elsewhere.
        **{"n_items": 2, "n_turns": 3, "n_images": 4},
    }
    found = release_diff.difference(contents({}), contents({}, other))
    assert "another: Prompts, shard a, shard b" in difference_in_words("a", "b", found, 0)
    assert found.made_by == [
        ("Prompts", "mmdu/questions@1", "mmdu/questions@2"),
        ("shard `a`", "1", "–"),
        ("shard `b`", "1", "2"),
        ("shard `c`", "–", "1"),
        ("setting `cluster.clusters.tau`", "0.75", "0.6"),
    ]
    imported = {"benchmark": "mmdu", "split": "test", "language": "en", "origin": "imported"}
    assert release_diff.difference(contents(ONE), contents(ONE, imported)).made_by[:2] == [
        ("Benchmark", "mmdu", "mmdu, split test, language en"),
        ("Origin", "built", "imported"),
    ]


def test_what_one_of_two_releases_alone_was_made_by_is_compared_with_nothing() -> None:
    checked = contents({}, {"quality": {"pass": 3, "drop": 1}})
    for first, second, place in ((checked, contents({}), 1), (contents({}), checked, 2)):
        rows = {row[0]: row for row in release_diff.difference(first, second).made_by}
        assert "75" in rows["Checks of pairs"][place]
        assert rows["Checks of pairs"][3 - place] == "–"


def test_scores_stand_side_by_side_under_one_version_of_the_judges_prompt() -> None:
    first = contents({}, scores=[score("a", 80.0), score("b", 50.0), score("c", None)])
    second = contents({}, scores=[score("a", 82.5), score("b", 51.0, "judge@2"), score("c", 9.0)])
    found = release_diff.difference(first, second)
    assert [each[:3] for each in found.scores] == [
        *((model, "j", "judge@1") for model in "abc"),
        ("b", "j", "judge@2"),
    ]
    assert [[row and row["value"] for row in each[3:]] for each in found.scores] == [
        [80.0, 82.5],
        [50.0, None],
        [None, 9.0],
        [None, 51.0],
    ]


@pytest.mark.parametrize(
    ("one", "other", "what", "n_questions", "n_references"),
    [
        ({}, {"choices": ["A kite", "A boat"]}, "choices", 0, 0),
        ({"choices": ["A", "B"]}, {"choices": ["B", "A"]}, "order of choices", 0, 0),
        ({}, {"given": "A boat."}, "given of turn 1", 1, 0),
        ({}, {"positions": []}, "entering images of turn 1", 0, 0),
        ({}, {"kinds": ["answer", "caption"]}, "caption of turn 1", 0, 1),
        ({}, {"kinds": ["answer", "focus"]}, "focus of turn 1", 0, 1),
        ({"kinds": ["key"]}, {"kinds": ["focus"]}, "key of turn 1; focus of turn 1", 0, 1),
        ({}, {"images": "y"}, "images", 0, 0),
        ({"images": "xy"}, {"images": "yx"}, "order of images", 0, 0),
    ],
)
def test_what_any_benchmark_asks_and_judges_by_is_compared(
    one, other, what, n_questions, n_references
):
    found = changes(one, other)
    assert [each.what for each in found.changed] == [what]
    assert (found.turns["questions"], found.turns["references"]) == (n_questions, n_references)
    assert found.common == {} and found.n_same == 0


def test_imported_items_have_no_set_and_are_matched_by_their_id_alone() -> None:
    first, second = contents({(None, "a"): [("Q", "A")]}), contents({(None, "b"): [("Q", "A")]})
    found = release_diff.difference(first, second)
    assert found.added == [release_diff.ItemChange(None, ("b",), "1 turn", "Q")]
    assert found.removed == [release_diff.ItemChange(None, ("a",), "1 turn", "Q")]


def test_a_score_without_an_interval_stands_alone() -> None:
    known = {**score("a", 61.0), "ci_low": 50.0, "ci_high": 70.0}
    assert score_in_words(known) == "61.0 (50.0 - 70.0)"
    assert [score_in_words({**known, bound: None}) for bound in ("ci_low", "ci_high")] == [
        "61.0"
    ] * 2
    assert score_in_words(score("a", None)) == score_in_words(None) == "–"
