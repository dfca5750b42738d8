"""Queries and views of the evaluation on tables of a few rows, worked by hand."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from itertools import product

import duckdb
import pytest

from dagster_project import results
from methods.evaluation.constant_scores import constant_scores_sentence
from tests.assets.filled import put
from tests.assets.query_rows import Row, Rows, asked, full, picked, rows_with

Tables = duckdb.DuckDBPyConnection


def test_a_tie_is_half_a_win_of_both(tables: Tables) -> None:
    """For judge `j` of version `v`, the first model wins one of two against the other: 3/4 and 1/4."""
    winners = {
        ("release_id", "j", "v"): ("model_a", "tie"),
        ("release_id", "j", "w"): ("model_b", "model_b"),
        ("release_id", "k", "v"): ("tie",),
        ("another", "j", "v"): ("model_b", "model_b"),
        ("release_id", "archived", "v"): ("model_b", "model_b"),
    }
    rows = [
        {"release_id": release_id, "judge": judge, "judge_version": version}
        | {"item_id": f"{n}", "winner": winner}
        for (release_id, judge, version), of in winners.items()
        for n, winner in enumerate(of)
    ]
    # A pair that was not judged counts for neither.
    unjudged = {"item_id": "l", "status": "not_judged", "winner": None, "reason": "empty"}
    pairs = [{**rows[0], **unjudged}, *rows[::-1]]
    archive = [{"judge": "archived"}]
    found = asked(
        tables, "evaluate/pair_shares_of", {"evaluate.pairs": pairs, "evaluate.archive": archive}
    )
    assert [(*row.values(),) for row in found] == [
        ("j", "v", "model_a", "model_b", 2, 0.75),
        ("j", "v", "model_b", "model_a", 2, 0.25),
        ("j", "w", "model_a", "model_b", 2, 0),
        ("j", "w", "model_b", "model_a", 2, 1),
        ("k", "v", "model_a", "model_b", 1, 0.5),
        ("k", "v", "model_b", "model_a", 1, 0.5),
    ]


ASKED = {
    **{"temperature": "0", "seed": "none", "prompt": "dialogue@1", "context_policy": "fail"},
    **{"max_images": "50", "server": "https://one.example/v1", "model": "qwen", "version": "qwen"},
}


def labels(tables: Tables, *candidates: tuple[str, Mapping[str, str]]) -> dict[str, str]:
    """The label of each candidate with scores, asked with ASKED and what differs."""
    answers = [
        {"model": model, "item_id": str(place), "settings": [*{**ASKED, **changed}.items()]}
        for place, (model, changed) in enumerate(candidates)
    ]
    # On another release they were asked in another way.
    hot = [*{**ASKED, "temperature": "0.9"}.items()]
    answers.append({**answers[-1], "release_id": "another", "settings": hot})
    scores = [{"model": model} for model in {model for model, _ in candidates}]
    rows: Rows = {"evaluate.answers": answers, "evaluate.scores": scores}
    return {row["model"]: row["label"] for row in asked(tables, "evaluate/overall", rows)}


ELSEWHERE = {"server": "https://two.example/v1", "max_images": "8", "version": "qwen-0501"}


@pytest.mark.parametrize(
    ("candidates", "shown"),
    [
        pytest.param(
            [("cold", {}), ("warm", {"temperature": "0.7", "seed": "3"})],
            {"cold": "cold (T=0)", "warm": "warm (T=0.7, seed=3)"},
            id="only what differs",
        ),
        pytest.param([("a", {}), ("b", {})], {"a": "a", "b": "b"}, id="same settings"),
        pytest.param(
            [("a", {}), ("b", ELSEWHERE), ("c", {**ELSEWHERE, "model": "llama"})],
            {
                "a": "a (max_images=50, server=https://one.example/v1, version=qwen)",
                "b": "b (max_images=8, server=https://two.example/v1, version=qwen-0501)",
                "c": "c",
            },
            id="servers, limits and versions of one model",
        ),
        pytest.param(
            [("a", {}), ("a", {"temperature": "0.7"}), ("b", {})],
            {"a": "a (T=0 or 0.7)", "b": "b (T=0)"},
            id="asked in two ways",
        ),
    ],
)
def test_a_label_names_what_differs(tables, candidates, shown) -> None:
    assert labels(tables, *candidates) == shown


def test_an_archived_model_keeps_the_labels_until_scores_are_made_without_it(tables) -> None:
    answers = [
        {"model": model, "settings": [*{**ASKED, "temperature": temperature}.items()]}
        for model, temperature in (("cold", "0"), ("warm", "0.7"))
    ]
    scores = [{"model": "cold"}, {"model": "warm"}]
    rows: Rows = {"evaluate.answers": answers, "evaluate.archive": [{"model": "warm"}]}
    for scored, expected in ((scores, ["cold (T=0)", "warm (T=0.7)"]), (scores[:1], ["cold"])):
        found = asked(tables, "evaluate.candidates", rows | {"evaluate.scores": scored})
        assert [row["label"] for row in found] == expected


def test_an_archived_model_is_not_named_as_one_without_scores(tables: Tables) -> None:
    """`m` is archived everywhere, `n` on one of two releases; `o` has scores on the other one, and `p`
    on none. The third release is no benchmark."""
    current = [{"release_id": each, "name": each} for each in "tsr"]
    releases = [*current[1:], {**current[0], "benchmark": None}, {"release_id": "earlier"}]
    rows: Rows = {"release.current": current, "release.releases": releases}
    rows["evaluate.archive"] = [
        {"model": "m"},
        {"model": "n", "release_id": "r"},
        # Only its judgments by `j` are.
        {"model": "p", "judge": "j"},
    ]
    rows["evaluate.scores"] = [{"model": "o", "release_id": "s"}]
    lacking = asked(tables, "evaluate/unscored", rows, models=[*"ponm"])
    assert picked(lacking, "release_id model") == [("r", "o"), ("r", "p"), ("s", "n"), ("s", "p")]


def test_repetitions_of_a_judge_are_averaged_and_what_has_no_reference_counts_in_no_score(
    tables: Tables,
) -> None:
    """The judge repeated its judgment of turn 1 twice, and once it failed. Another release lacks the
    picture of the item, which is lost there."""
    observed = rows_with(
        "turn replicate status value",
        (1, 2, "judged", 3.0),
        (1, 0, "judged", 8.0),
        (1, 1, "failed", None),
        (2, 0, "no_reference", None),
        (3, 0, "empty", None),
        (4, 0, "judged", 7.0),
        (4, 1, "failed", None),
    )
    observed.append({"release_id": "s", "status": "no_picture", "value": None})
    answers: list[Row] = [*({"turn": turn} for turn in range(1, 5)), {"release_id": "s"}]
    rows = {"evaluate.answers": answers, "evaluate.observations": observed}
    found = asked(tables, "evaluate/observed_of", rows)
    assert picked(found, "turn status value replicates is_lost") == [
        (1, "judged", 5.5, [8.0, 3.0], False),
        (3, "empty", None, None, False),
        (4, "judged", 7.0, None, False),
    ]
    (lost,) = asked(tables, "evaluate/observed_of", rows, release_id="s")
    assert lost["is_lost"]


def test_the_sample_browser_counts_what_items_and_answers_have(tables: Tables) -> None:
    """Item `k` comes first and has nothing. Another release has the items, too."""
    answers: list[Row] = [{"item_id": "i", "answer": text} for text in ("A", "AA")]
    failed = {"status": "failed", "answer": None, "item_id": "i"}
    answers += [{**failed, "model": model} for model in ("n", "archived")]
    answers.append({**answers[0], "item_id": "k"})
    rows: Rows = {
        "release.items": [{"item_id": item, "ordinal": n} for n, item in ((2, "i"), (1, "k"))],
        "release.turns": [{"turn": 1, "question": "Q"}, {"turn": 2, "question": "QQQ"}],
        "release.references": [
            {"kind": kind, "reference": "R" * n} for kind, n in (("key", 1), ("answer", 5))
        ],
        "release.images": [{"position": position} for position in (1, 2, 3)],
        "evaluate.answers": [{**row, "trial": f"{n}"} for n, row in enumerate(answers)],
    }
    rows = {table: [{"item_id": "i", **row} for row in of] for table, of in rows.items()}
    rows = {table: [*of, *({**row, "release_id": "s"} for row in of)] for table, of in rows.items()}
    rows["evaluate.archive"] = [{"model": "archived"}]
    counts = asked(tables, "evaluate/site_counts", rows)
    assert [tuple(row.values()) for row in counts] == [(0, 0, 0, 0), (2, 3, 4, 6)]
    of_answers = asked(tables, "evaluate/site_answer_counts", rows)
    assert sorted(tuple(row.values()) for row in of_answers) == [
        (1, "model", ["answered"], 1),
        (2, "model", ["answered"], 3),
        (2, "n", ["failed"], 0),
    ]


def test_the_groups_whose_wordings_differ_most_are_those_of_a_model_judge_and_version(
    tables: Tables,
) -> None:
    """Of `m` under judge `j`, `g4` deviates most. The others deviate equally: two of them are shown."""
    of = {"analysis": "prompt_sensitivity", "subset_label": "group", "subset_value": "g1"}
    of |= {"judge": "j", "judge_version": "v", "subject": "m"}
    deviations = {"g1": 2.0, "g2": 2.0, "g3": 2.0, "g4": 3.0}
    others: list[Row] = [{"subject": "l"}, {"judge_version": "w"}, {"judge": "k"}]
    spreads = [{**of, "subset_value": group, "value": value} for group, value in deviations.items()]
    spreads += [{**of, **other, "value": 1.0} for other in others]
    spreads += [{**of, "value": 9.0, "release_id": "s"}]
    spreads += [{**of, "value": 9.0, "subset_label": "style"}]
    spreads += [{**of, "subject": "even", "value": 0.0}]
    findings = [{**row, "measure": "deviation"} for row in spreads]
    findings += [{**row, "measure": "mean", "value": 10 * row["value"]} for row in spreads]
    items = [
        {"item_id": f"{group} {n}", "group_id": group, "ordinal": n}
        for group, n in (("g4", 2), ("g4", 1), ("g1", 3), ("g2", 4), ("g3", 5))
    ]
    items.append({**items[0], "release_id": "s", "item_id": "another"})
    observed = {"model": "m", "judge": "j", "judge_version": "v", "item_id": "g4 1"}
    near: list[Row] = [{"model": "o"}, {"judge": "l"}, {"judge_version": "x"}, {"metric": "other"}]
    near += [{"item_id": "other"}, {"release_id": "s"}]
    values = [
        {"value": 3.0},
        {"value": 6.0, "replicate": 1},
        *({**of, "value": 0.0} for of in near),
    ]
    rows = {"evaluate.findings": findings[::-1], "release.items": items}
    rows["evaluate.observations"] = [{**observed, **value} for value in values]
    widest = asked(tables, "evaluate/widest_groups_of", rows, n_groups=3, metric="metric")
    columns = "judge judge_version model group_id mean deviation item_id value"
    assert picked(widest, columns) == [
        ("j", "v", "l", "g1", 10.0, 1.0, "g1 3", None),
        ("j", "v", "m", "g4", 30.0, 3.0, "g4 1", 4.5),
        ("j", "v", "m", "g4", 30.0, 3.0, "g4 2", None),
        ("j", "v", "m", "g1", 20.0, 2.0, "g1 3", None),
        ("j", "v", "m", "g2", 20.0, 2.0, "g2 4", None),
        ("j", "w", "m", "g1", 10.0, 1.0, "g1 3", None),
        ("k", "v", "m", "g1", 10.0, 1.0, "g1 3", None),
    ]


def test_the_view_of_an_analysis_has_its_findings_alone(tables: Tables) -> None:
    names = ("language_gaps", "prompt_sensitivity", "model_groups", "judge_quality")
    names += ("extraction_quality", "task_clusters")
    findings = [{"analysis": name} for name in names]
    for name in names:
        found = asked(tables, f"evaluate.{name}", {"evaluate.findings": findings})
        assert [row["analysis"] for row in found] == [name]


@pytest.mark.parametrize(
    ("other", "models"),
    [
        *[({}, []), ({"kind": "key"}, []), ({"kind": "caption"}, ["model"])],
        *[
            ({"release_id": "s"}, ["model"]),
            ({"item_id": "k"}, ["model"]),
            ({"turn": 2}, ["model"]),
        ],
    ],
)
def test_an_answer_is_judged_by_the_answer_or_key_of_its_turn(tables, other, models) -> None:
    rows = {"evaluate.answers": [{}], "release.references": [other]}
    found = asked(tables, "evaluate/unjudgeable_of", rows)
    assert [row["model"] for row in found] == models


def test_what_was_given_awaits_no_judge(tables: Tables) -> None:
    """Turn 1 was given to every model. Turn 2 of `n` was lost, that of `o` judged, that of `q`, which
    is from a file, too, and the judge failed on that of `p`; of `m` it is left to judge."""
    given = {"turn": 1, "status": "given"}
    lost = {"status": "failed", "answer": None}
    of_file = {"model": "q", "turn": 2, "call_key": None, "answer_call_key": None}
    answers = [{**given, "model": model} for model in "mnopq"]
    answers += [{"model": model, "turn": 2} for model in "mop"]
    answers += [{**lost, "model": "n", "turn": 2}, of_file]
    # Each differs from a result on the answer of `m` by one column.
    near: list[Row] = [{"release_id": "s"}, {"model": "x"}, {"item_id": "k"}, {"trial": "u"}]
    near.append({"turn": 1})
    near_judgments = [*near, {"judge": "l"}, {"answer_call_key": "an earlier call"}]
    near_failures = [*near, {"asked": "l"}, {"stage": "answers"}]
    judgments: list[Row] = [{"model": "o", "turn": 2}, {**of_file, "call_key": "x"}]
    judgments += [{"model": "m", "turn": 2, **other} for other in near_judgments]
    failure = {"turn": 2, "stage": "judgments", "asked": "judge"}
    failures = [{**failure, "model": "p"}]
    failures += [{**failure, "model": "m", **other} for other in near_failures]
    rows: Rows = {"evaluate.judgments": judgments, "evaluate.failed": failures}
    rows |= {"evaluate.answers": answers, "release.references": [{"turn": n} for n in (1, 2)]}
    (waiting,) = asked(tables, "evaluate/unjudged", rows)
    assert picked([waiting], "release_id model judge") == [("release_id", "m", "judge")]


@pytest.mark.parametrize(
    ("archived", "n_shown"),
    [
        # Of 4 answers, and 8 judgments, failures and missing results by the two judges; of 4 pairs.
        ({"model": "n"}, (2, 4, 4, 4, 0)),
        ({"model": "m", "release_id": "r"}, (3, 6, 6, 6, 2)),
        ({"judge": "j"}, (4, 4, 4, 4, 2)),
        ({"judge": "j", "release_id": "s"}, (4, 6, 6, 6, 3)),
        ({"model": "n", "judge": "j", "release_id": "r"}, (4, 7, 7, 7, 3)),
        ({"model": "n", "state": "left the profile"}, (2, 4, 4, 4, 0)),
        ({"model": "n", "state": "kept"}, (4, 8, 8, 8, 4)),
    ],
)
def test_what_is_archived_is_not_shown_and_everything_else_is(tables, archived, n_shown) -> None:
    """Two models with answers on two releases, each judged by two judges, which also compare them."""
    models = [{"release_id": release_id, "model": model} for release_id in "rs" for model in "mn"]
    judged = [{**of, "judge": judge, "asked": judge} for of in models for judge in "jk"]
    pairs = [{**of, "model_a": "m", "model_b": "n"} for of in judged if of["model"] == "m"]
    rows = {"answers": models, "pairs": pairs, **dict.fromkeys(("judgments", "failed"), judged)}
    rows |= {"missing": judged, "archive": [archived]}
    full = {f"evaluate.{name}": of for name, of in rows.items()}
    names = ("answers", "judgments", "failed", "missing", "pairs")
    shown = (len(asked(tables, f"evaluate.shown_{name}", full)) for name in names)
    assert tuple(shown) == n_shown


def test_a_training_effect_is_of_two_models_that_differ_by_more_training_alone(tables) -> None:
    before: Row = {"backbone": "b", "parameters": 7, "trained_on": ["x"]}
    changes: dict[str, Row] = {
        "after": {},
        "larger": {"parameters": 13},
        "of another backbone": {"backbone": "c"},
        "of other data": {"trained_on": ["y", "z"]},
        "of the same data": {"trained_on": ["x"]},
    }
    models = [{"model": "before", **before}] + [
        {"model": model, **before, "trained_on": ["x", "y"], **of} for model, of in changes.items()
    ]
    comparisons = [{"first": model, "second": "before"} for model in changes]
    rows = {"evaluate.models": models, "evaluate.comparisons": comparisons}
    rows["evaluate.scores"] = [{"model": row["model"]} for row in models]
    effects = asked(tables, "evaluate.training_effects", rows)
    assert picked(effects, "before after trained_on") == [("before", "after", "y")]


def test_people_score_an_answer_with_all_that_was_shown_up_to_its_turn(tables: Tables) -> None:
    """Two pictures in the first turn and one in the second, of two releases of which one is current.

    Each has two items, answered by two models in two trials. Answers to `k` are compared in pairs.
    """
    of_item = [{"release_id": release, "item_id": item} for release in "rz" for item in "ik"]
    turns = [
        {**of, "turn": turn, "image_positions": shown}
        | {"question": f"Q {of} {turn}", "reference": f"R {of} {turn}"}
        for of in of_item
        for turn, shown in ((1, [1, 2]), (2, [3]))
    ]
    answers = [
        {**of, "model": model, "trial": trial, "answer": f"{model} {trial} {of}"}
        | {"part": "A" if of["item_id"] == "k" else "answer"}
        for of in turns
        for model in "mn"
        for trial in ("plain", "shift-1")
    ]
    images = [{**of, "position": n, "image_id": f"{of} {n}"} for of in of_item for n in (1, 2, 3)]
    rows: Rows = {"release.items": of_item, "release.images": images, "release.turns": turns}
    rows |= {"release.references": turns, "evaluate.answers": answers}
    rows |= {"evaluate.judgments": answers, "release.current": [{"release_id": "r"}]}
    drawn: Row = {"n_answers": 50, "apart": ["n"], "orders": ["A"]}
    candidates = asked(tables, "evaluate/score_candidates", rows, **drawn)
    found = {row["answer"]: row for row in candidates}
    current = [row for row in answers if (row["release_id"], row["model"]) == ("r", "m")]
    assert found.keys() == {row["answer"] for row in current} and len(current) == 8
    for row in current:
        candidate, of = found[row["answer"]], {"release_id": "r", "item_id": row["item_id"]}
        assert picked([candidate], "question reference is_pair") == [
            (row["question"], row["reference"], row["item_id"] == "k")
        ]
        assert candidate["image_ids"] == [f"{of} {n}" for n in range(1, row["turn"] + 2)]
        place = {name: row[name] for name in ("item_id", "model", "trial", "release_id")}
        before = [
            {name: each[name] for name in ("question", "reference", "answer")}
            for each in answers
            if each["turn"] < row["turn"] and place.items() <= each.items()
        ]
        assert candidate["earlier"] == (before if row["item_id"] == "k" else [])
    rows["release.current"] = [{"name": each, "release_id": each} for each in "rz"]
    drawn["n_answers"] = 1
    assert len(asked(tables, "evaluate/score_candidates", rows, **drawn)) == 2


Score = Callable[[int, str], float]


def judged(
    n_items: int,
    score: Score,
    *,
    models: Sequence[str] = ("m", "n"),
    parts: Sequence[str] = ("answer",),
    answer: str = "answer of {model}",
    version: str = "v",
) -> Rows:
    """Each model answered so many items; `score` is of the item and the part."""
    places = [{"item_id": f"i{n}", "model": model} for n in range(n_items) for model in models]
    judgments = [
        {**place, "part": part, "score": score(n, part), "judge_version": version.format(**place)}
        for n, place in enumerate(places)
        for part in parts
    ]
    answers = [{**place, "answer": answer.format(**place)} for place in places]
    return {"evaluate.answers": answers, "evaluate.judgments": judgments}


def test_a_judge_with_one_score_is_marked_with_its_numbers(tables: Tables) -> None:
    rows = judged(20, lambda n, _: 5.0 if n else 7.0)
    (row,) = asked(tables, "evaluate.constant_judges", rows)
    of = [{"release_id": "s"}, {"judge": "k"}, {"judge_version": "w"}, {}]
    rows["evaluate.scores"] = [{"judge_version": "v", **other} for other in of]
    board = asked(tables, "evaluate.leaderboard", rows)
    marked = [each for each in board if each["constant_score"] == 5]
    assert picked(marked, "release judge judge_version trained_on") == [
        ("release_id", "judge", "v", [])
    ]
    found = asked(tables, "evaluate/overall", rows, release_ids=["release_id", "s"])
    assert [each["constant_score"] for each in found].count(5.0) == 1
    assert row["judge"] == "judge" and row["constant_share"] == 39 / 40
    assert constant_scores_sentence(row) == (
        "Judge judge on release_id: 97 % of its scores of 40 different answers to 20 items are 5, so "
        "they do not tell the models apart. Read some of its judgments, or take another judge."
    )


@pytest.mark.parametrize(
    ("is_constant", "of"),
    [
        # Equal scores of 30 answers to 5 items, and 19 of 20 scores that are equal.
        (True, {"n_items": 5, "score": lambda *_: 10.0, "models": "abcdef"}),
        (True, {"n_items": 20, "score": lambda n, _: 5.0 + (n % 20 == 0)}),
        # The mean score of the answer that two of three models gave is that of the other answer.
        (
            True,
            {"n_items": 20, "score": lambda n, _: (4.0, 6.0, 5.0)[n % 3]}
            | {"models": ["ax", "ay", "b"], "answer": "{model[0]}"},
        ),
        # All tens on a few items may be deserved.
        (False, {"n_items": 3, "score": lambda *_: 10.0}),
        (False, {"n_items": 7, "score": lambda *_: 10.0, "models": "abcd"}),
        (False, {"n_items": 4, "score": lambda *_: 10.0, "models": [f"m{n}" for n in range(9)]}),
        # One answer in ten has another score.
        (False, {"n_items": 20, "score": lambda n, _: 5.0 + (n % 10 == 0)}),
        # Equal answers deserve equal scores, and one model is told apart from nobody.
        (False, {"n_items": 20, "score": lambda *_: 5.0, "answer": "B"}),
        (False, {"n_items": 40, "score": lambda *_: 5.0, "models": ["m"]}),
        (False, {"n_items": 40, "score": lambda *_: 5.0, "version": "{model}@1"}),
        # Who wins in both orders does not win by its place.
        (False, {"n_items": 20, "score": lambda *_: 1.0, "parts": ["model-first", "model-second"]}),
    ],
)
def test_scores_of_enough_answers_to_enough_items_are_constant(tables, is_constant, of) -> None:
    assert len(asked(tables, "evaluate.constant_judges", judged(**of))) == is_constant


@pytest.mark.parametrize("verdict", [1.0, 0.5, 0.0])
def test_a_judge_that_has_one_verdict_whatever_it_compares_is_marked(tables, verdict) -> None:
    """The first place wins, loses or ties: the model's share depends on its place alone."""
    rows = judged(
        10,
        lambda _, part: verdict if part == "model-first" else 1 - verdict,
        parts=["model-first", "model-second"],
    )
    (row,) = asked(tables, "evaluate.constant_judges", rows)
    assert row["constant_score"] == verdict


def test_the_printed_leaderboard_marks_it_and_says_why_at_the_end(
    empty_warehouse, monkeypatch, capsys
):
    rows = judged(20, lambda *_: 5.0) | {"release.current": [{}]}
    put(empty_warehouse, full(rows | {"evaluate.scores": [{"judge_version": "v", "n_items": 20}]}))
    monkeypatch.setattr(results, "warehouse_of_home", lambda: empty_warehouse)

    results.show_results(["judge"])

    printed = capsys.readouterr().out
    assert "judge judge (constant scores), provider provider)" in printed
    assert (
        printed.rstrip()
        .splitlines()[-1]
        .startswith("Judge judge on release_id: 100 % of its scores of 40")
    )


def test_a_turn_rests_on_its_answer_and_on_each_call_of_its_judge_once(tables: Tables) -> None:
    """Turn 1 has two judgments by call `c` and one by `b`; turn 2 is a prediction, read by rule."""
    calls = {1: ["c", "c", "b"], 2: [None]}
    observed: list[Row] = [
        {"turn": turn, "part": f"{n}", "call_key": call}
        for turn, of in calls.items()
        for n, call in enumerate(of)
    ]
    observed += [
        {"turn": turn, "status": status, "value": None}
        for turn, status in ((3, "no_reference"), (4, "no_picture"))
    ]
    answers: list[Row] = [{"turn": 1}, *({"turn": turn, "call_key": None} for turn in (2, 3, 4))]
    rows = {"evaluate.answers": answers, "evaluate.observations": observed}
    found = asked(tables, "evaluate/call_keys_of", rows)
    assert picked(found, "turn answer judge_calls") == [
        (1, "answer_call_key", ["b", "c"]),
        (2, hashlib.md5(b"answer").hexdigest(), None),
    ]


def test_a_rule_and_a_judge_say_what_they_observed_of_an_example(tables: Tables) -> None:
    """The rule read no letter of turn 2, and item `k` is no example."""
    observed = {"A": 1.0, "B": 0.0}
    rows: list[Row] = [{"metric": metric, "value": observed[metric]} for metric in "BA"]
    rows += [{"turn": 2, "status": "empty", "value": None}, {"item_id": "k"}]
    items = [{"item_id": item, "ordinal": n} for n, item in enumerate("ik", start=1)]
    observations = [{"item_id": "i", "judge": "rule", **row} for row in rows]
    tables_of: Rows = {"release.items": items, "evaluate.observations": observations}
    (row,) = asked(tables, "evaluate/example_rules_of", tables_of, n_items=1)
    assert (row["item_id"], row["turn"]) == ("i", 1)
    assert [(each["key"], each["value"]) for each in row["scores"]] == [*observed.items()]


def test_a_judged_score_and_a_rank_are_of_the_whole_key_of_a_score(tables: Tables) -> None:
    """Every score differs from each other one in a column, and its judged score says in which ones."""
    names = ("release_id", "model", "judge", "judge_version", "metric", "aggregation")
    keys = [dict(zip(names, of, strict=True)) for of in product("rs", "mn", "jk", "vw", "EF", "ab")]
    by = [
        {**key, "subset_label": label, "subset_value": value}
        for key in keys
        for label, value in (("", ""), ("x", "1"), ("x", "2"), ("y", "1"))
    ]
    scores = [
        {**row, "form": form, "value": float(n), "ci_low": float(n), "ci_high": float(n)}
        for n, row in enumerate(by)
        for form in ("floor", "judged")
    ]
    ranks = [{**key, "rank": n, "rank_low": n, "rank_high": n} for n, key in enumerate(keys, 1)]
    rows = {"evaluate.scores": scores, "evaluate.ranks": ranks}
    found = [row for row in asked(tables, "evaluate.results", rows) if row["form"] == "floor"]
    assert [row["judged_only"] for row in found] == [row["value"] for row in found]
    assert [row["rank"] for row in found] == [int(row["value"]) // 4 + 1 for row in found]
    assert len(found) == len(by) == 256


def test_a_call_is_of_all_candidates_that_it_answered_for(tables: Tables) -> None:
    """Two candidates share call `c`, which answered for both in two turns; `q` is of another call."""
    calls = {("p", 1): "c", ("o", 1): "c", ("o", 2): "c", ("q", 1): "d", ("o", 3): "e"}
    answers = [
        {"model": model, "turn": turn, "call_key": call, "settings": [("model", model)]}
        for (model, turn), call in calls.items()
    ]
    there = [{**row, "release_id": "s", "model": f"{row['model']} there"} for row in answers[3:]]
    rows = {"evaluate.answers": [*answers, *there]}
    found = asked(tables, "evaluate/labels_of_calls", rows, keys=["d", "c"])
    assert picked(found, "key label") == [("c", "o, p"), ("d", "q, q there")]


def test_each_call_behind_scores_is_of_who_was_asked(tables: Tables) -> None:
    """Turn 1 was given; that of turn 2 was read by `x` and judged twice; 3 and 4 are predictions."""
    answers: list[Row] = [{"turn": 1, "status": "given"}, {"turn": 2}]
    answers += [{"turn": turn, "call_key": None} for turn in (3, 4)]
    by_rule = {"extractor": "rule", "call_key": None, "answer_call_key": None}
    readings: list[Row] = [{"turn": 2}, {"turn": 3, **by_rule}, {"turn": 4, **by_rule}]
    judgments = [{"turn": 2, "part": part} for part in "BA"]
    rows = {"evaluate.answers": answers, "evaluate.extractions": readings}
    found = asked(tables, "evaluate/calls_behind", {**rows, "evaluate.judgments": judgments})
    assert picked(found, "role asked call_key") == [
        ("answer", "model", "answer_call_key"),
        *[("answer", "model", None)] * 2,
        *[("judge", "judge", "judge_call_key")] * 2,
        ("reader", "extractor", "extractor_call_key"),
        *[("reader", "rule", None)] * 2,
    ]


def test_passes_of_an_item_are_those_that_were_asked_in_their_order(tables: Tables) -> None:
    """Of `i`, the first pass was not read, the third one was lost, and the last two were not asked."""
    statuses = {"shift-4": "given", "shift-3": "not_asked", "shift-2": "failed"}
    statuses |= {"shift-1": "answered", "shift-0": "answered"}
    answers = [
        {"item_id": "i", "trial": trial, "status": status}
        | {"answer": "A." if status in ("given", "answered") else None}
        for trial, status in statuses.items()
    ]
    answers += [{"item_id": "k", "trial": trial} for trial in ("shift-0", "shift-1")]
    readings = [("i", "shift-1", "B"), ("k", "shift-0", "C")]
    rows: Rows = {
        "evaluate.answers": answers,
        "evaluate.extractions": rows_with("item_id trial value", *readings),
    }
    found = asked(tables, "evaluate/first_readings_of", rows)
    assert picked(found, "reading n_asked lost") == [(None, 3, True), ("C", 2, False)]
    passes = [(each["trial"], each["reading"]) for each in found[0]["passes"]]
    assert passes == [("shift-0", None), ("shift-1", "B"), ("shift-2", None)]


def test_filters_flag_an_item_before_its_statistics_do(tables: Tables) -> None:
    rows: Rows = {
        "release.items": [{}],
        "evaluate.item_statistics": [{"flags": ["hard", "easy"]}],
        "evaluate.flagged_items": [{"filter": name} for name in ("wrong_item", "text_only")],
    }
    found = asked(tables, "evaluate/flags_of", rows)
    assert [row["flag"] for row in found] == ["text_only", "wrong_item", "easy", "hard"]


def test_judgments_of_a_queued_answer_are_averaged_by_judge_and_version(tables: Tables) -> None:
    """Two models gave the same answer, judged under two versions; the second one was judged twice."""
    judgments = [("m", "v", 0, {"d": 9}), ("n", "w", 0, {"d": 1}), ("n", "w", 1, {"d": 5})]
    rows: Rows = {
        "evaluate.answers": [{"model": model} for model in "mn"],
        "evaluate.judgments": rows_with("model judge_version replicate scores", *judgments),
    }
    rows |= {f"release.{name}": [{}] for name in ("turns", "references")}
    found = asked(tables, "evaluate/judged_scores", {**rows, "evaluate.score_queue": [{}]})
    assert picked(found, "judge score") == [("judge v", 9), ("judge w", 3)]


def test_current_releases_are_reported_first_and_the_others_by_name_and_age(tables: Tables) -> None:
    """With their languages: their own one, else those of the pages of their images.

    The others have a report already, or scores as `scored` has them; `unseen` has neither.
    """
    releases = rows_with(
        "release_id name created_at language",
        ("other", "b", "2026-04-01", None),
        ("old", "a", "2026-01-01", "fr"),
        ("new", "a", "2026-02-01", None),
        ("current", "z", "2026-03-01", None),
        ("scored", "c", "2026-03-01", None),
        ("unseen", "a", "2026-03-01", None),
    )
    languages = [("1", "1", "en"), ("2", "2", "en"), ("3", "3", "de")]
    pages = rows_with("page_id page_url language", *languages)
    images = [
        {"release_id": release_id, "page_url": page["page_url"], "position": n}
        for release_id in ("old", "new")
        for n, page in enumerate(pages, 1)
    ]
    rows: Rows = {"release.releases": releases, "release.current": releases[3:4]}
    rows |= {"evaluate.reports": releases[:3], "evaluate.scores": releases[4:5]}
    rows |= {"release.images": images, "ingest.pages": pages}
    reported = asked(tables, "evaluate/reported_releases", rows)
    assert picked(reported, "release_id is_current languages") == [
        ("current", True, []),
        ("new", False, ["de", "en"]),
        ("old", False, ["fr"]),
        ("other", False, []),
        ("scored", False, []),
    ]


def test_an_image_of_several_items_counts_once_in_the_categories_of_pages(tables: Tables) -> None:
    """So a category never has more images than the release. An image is of a page that is gone."""
    images = [
        {"item_id": item, "position": n, "image_id": f"{n}", "page_url": page}
        for item in "ij"
        for n, page in enumerate(("first", "second", "gone"), 1)
    ]
    pages = [
        {"page_id": page, "page_url": page, "categories": categories}
        for page, categories in {"first": ["Art", "Boats"], "second": ["Boats", "Cats"]}.items()
    ]
    rows = {"release.images": images, "ingest.pages": pages}
    found = asked(tables, "evaluate/page_categories_of", rows, n_categories=2)
    assert found == [{"category": "Boats", "n": 2}, {"category": "Art", "n": 1}]
