"""Queries and views of the evaluation on tables of a few rows, worked by hand."""

import hashlib
from collections.abc import Callable, Sequence
from itertools import product

import duckdb
import pytest

from assets.evaluate.archive import archived_models
from dagster_project import results
from methods.evaluation.constant_scores import constant_scores_sentence
from resources.warehouse import Warehouse
from tests.assets.filled import put
from tests.assets.query_rows import asked

HERE = {"benchmark": "b", "release_id": "r"}
COUNTS = ("judged", "refused", "failed", "truncated", "reasoning_only", "empty")
NO_TURNS = {f"n_{name}": 0 for name in COUNTS}


@pytest.fixture
def warehouse(empty_warehouse: Warehouse) -> Warehouse:
    """One current release."""
    put(empty_warehouse, {"release.current": [{"name": "n", **HERE}]})
    return empty_warehouse


def test_a_tie_is_half_a_win_of_both(warehouse: Warehouse) -> None:
    """For judge `j` of version `v`, `m` wins one of two against `n`: 3/4 and 1/4."""
    pair = {"model_a": "m", "model_b": "n", "status": "judged"}
    names = ("release_id", "judge", "judge_version")
    winners = {
        ("r", "j", "v"): ("model_a", "tie"),
        ("r", "j", "w"): ("model_b", "model_b"),
        ("r", "k", "v"): ("tie", "tie"),
        ("s", "j", "v"): ("model_b", "model_b"),
        ("r", "archived", "v"): ("model_b", "model_b"),
    }
    rows = [
        {**pair, **dict(zip(names, place, strict=True)), "item_id": item, "winner": winner}
        for place, of in winners.items()
        for item, winner in zip("ik", of, strict=True)
    ]
    # A pair that was not judged counts for neither.
    rows.append(
        {**rows[0], "item_id": "l", "status": "not_judged", "winner": None, "reason": "empty"}
    )
    archived = {"model": "", "judge": "archived", "release_id": "", "state": "archived"}
    put(warehouse, {"evaluate.pairs": rows[::-1], "evaluate.archive": [archived]})
    shares = warehouse.read("evaluate/pair_shares_of", {"release_id": "r"}).to_pylist()
    assert [(*row.values(),) for row in shares] == [
        ("j", "v", "m", "n", 2, 0.75),
        ("j", "v", "n", "m", 2, 0.25),
        ("j", "w", "m", "n", 2, 0),
        ("j", "w", "n", "m", 2, 1),
        ("k", "v", "m", "n", 2, 0.5),
        ("k", "v", "n", "m", 2, 0.5),
    ]


def test_results_name_models_with_the_settings_that_differ(warehouse: Warehouse) -> None:
    """A server differs only where it serves the same model. On another release `n` is `x`, too."""
    settings = {
        ("r", "m"): [("model", "x"), ("temperature", "0"), ("server", "a")],
        ("r", "n"): [("model", "y"), ("temperature", "1"), ("server", "b")],
        ("s", "n"): [("model", "x"), ("temperature", "1"), ("server", "b")],
    }
    of = {**HERE, **NO_TURNS, "form": "floor", "subset_label": "", "place": 0, "status": "refused"}
    rows = [
        {**of, "release_id": release_id, "model": model, "settings": each}
        for (release_id, model), each in settings.items()
    ]
    put(warehouse, {"evaluate.answers": rows, "evaluate.scores": rows})
    results = warehouse.read("evaluate/overall", {"release_ids": ["r"]}).to_pylist()
    assert {row["model"]: row["label"] for row in results} == {"m": "m (T=0)", "n": "n (T=1)"}


def test_an_archived_model_is_not_named_as_one_without_scores(warehouse: Warehouse) -> None:
    """`m` is archived everywhere, `n` on one of two releases; `o` has scores on the other one, and `p`
    on none. The third release is no benchmark."""
    card = {"benchmark": "b", "kind": "benchmark", "origin": "imported", "review_policy": "none"}
    releases = [{**card, "name": f"name {each}", "release_id": each} for each in "rstz"]
    releases[2] |= {"benchmark": None, "kind": "instruction"}
    hidden = {"judge": "", "state": "archived"}
    archive = [
        {**hidden, "model": "m", "release_id": ""},
        {**hidden, "model": "n", "release_id": "r"},
        # Only its judgments by `j` are.
        {**hidden, "model": "p", "release_id": "", "judge": "j"},
    ]
    scores = [{**HERE, **NO_TURNS, "model": "o", "form": "floor", "release_id": "s"}]
    tables = {"release.releases": releases, "release.current": releases[2::-1]}
    put(warehouse, {**tables, "evaluate.archive": archive, "evaluate.scores": scores})
    lacking = warehouse.read("evaluate/unscored", {"models": [*"ponm"]}).to_pylist()
    assert [(row["release_id"], row["model"]) for row in lacking] == [
        *[("r", "o"), ("r", "p"), ("s", "n"), ("s", "p")]
    ]


def test_repetitions_of_a_judge_are_averaged_and_what_has_no_reference_counts_in_no_score(
    warehouse,
):
    """The judge repeated its judgment of turn 1 twice, and once it failed. Another release lacks the
    picture of the item, which is lost there."""
    place = {**HERE, "model": "m", "item_id": "i", "trial": "plain"}
    observed = [
        {**place, "turn": turn, "replicate": replicate, "status": status, "value": value}
        for turn, replicate, status, value in (
            (1, 2, "judged", 3.0),
            (1, 0, "judged", 8.0),
            (1, 1, "failed", None),
            (2, 0, "no_reference", None),
            (3, 0, "empty", None),
            (4, 0, "judged", 7.0),
            (4, 1, "failed", None),
        )
    ]
    answers = [{**place, "status": "answered", "answer": "A.", "turn": n} for n in range(1, 5)]
    elsewhere = {"release_id": "s", "value": None}
    answers.append({**answers[0], **elsewhere})
    observed.append({**observed[0], **elsewhere, "status": "no_picture"})
    put(warehouse, {"evaluate.answers": answers, "evaluate.observations": observed})
    rows, lost = (
        warehouse.read(
            "evaluate/observed_of", {"release_id": release_id, "models": ["m"]}
        ).to_pylist()
        for release_id in "rs"
    )
    assert [row["is_lost"] for row in [*rows, *lost]] == [False, False, False, True]
    names = ("turn", "status", "value", "replicates")
    assert [tuple(row[name] for name in names) for row in rows] == [
        (1, "judged", 5.5, [8.0, 3.0]),
        (3, "empty", None, None),
        (4, "judged", 7.0, None),
    ]


def test_the_sample_browser_counts_what_items_and_answers_have(warehouse: Warehouse) -> None:
    """Item `k` comes first and has nothing. Another release has the items, too."""
    items = [{**HERE, "item_id": item, "ordinal": n} for n, item in ((2, "i"), (1, "k"))]
    of = {**HERE, "item_id": "i", "turn": 1}
    turns = [{**of, "question": "Q"}, {**of, "turn": 2, "question": "QQQ"}]
    references = [
        {**of, "kind": kind, "reference": "R" * n} for kind, n in (("key", 1), ("answer", 5))
    ]
    answers = [{**of, "model": "m", "status": "answered", "answer": text} for text in ("A", "AA")]
    answers += [{**of, "model": model, "status": "failed"} for model in ("n", "archived")]
    answers += [{**answers[0], "item_id": "k"}]
    tables: dict[str, list[dict[str, object]]] = {
        "release.items": items,
        "release.turns": turns,
        "release.references": references,
        "release.images": [{**of, "position": position} for position in (1, 2, 3)],
        "evaluate.answers": [{**row, "trial": f"{n}"} for n, row in enumerate(answers)],
    }
    rows = {
        table: [*rows, *({**row, "release_id": "s"} for row in rows)]
        for table, rows in tables.items()
    }
    archived = [{"model": "archived", "judge": "", "release_id": "", "state": "archived"}]
    put(warehouse, {**rows, "evaluate.archive": archived})
    counts = warehouse.read("evaluate/site_counts", {"release_id": "r"}).to_pylist()
    assert [tuple(row.values()) for row in counts] == [(0, 0, 0, 0), (2, 3, 4, 6)]
    of_answers = warehouse.read("evaluate/site_answer_counts", {"release_id": "r"}).to_pylist()
    assert sorted(tuple(row.values()) for row in of_answers) == [
        (1, "m", ["answered"], 1),
        (2, "m", ["answered"], 3),
        (2, "n", ["failed"], 0),
    ]


def test_the_groups_whose_wordings_differ_most_are_those_of_a_model_judge_and_version(
    warehouse: Warehouse,
) -> None:
    """Of `m` under judge `j`, `g4` deviates most. The others deviate equally: two of them are shown."""
    of = {**HERE, "analysis": "prompt_sensitivity", "subset_label": "group", "unit": "items"}
    of |= {"judge": "j", "judge_version": "v", "subject": "m", "metric": "Rating"}
    deviations = {"g1": 2.0, "g2": 2.0, "g3": 2.0, "g4": 3.0}
    others = [{"subject": "l"}, {"judge_version": "w"}, {"judge": "k"}]
    spreads = [{**of, "subset_value": group, "value": value} for group, value in deviations.items()]
    spreads += [{**of, **other, "subset_value": "g1", "value": 1.0} for other in others]
    spreads += [{**of, "subset_value": "g1", "value": 9.0, "release_id": "s"}]
    spreads += [{**of, "subset_value": "g1", "value": 9.0, "subset_label": "style"}]
    spreads += [{**of, "subject": "even", "subset_value": "g1", "value": 0.0}]
    findings = [{**row, "measure": "deviation"} for row in spreads]
    findings += [{**row, "measure": "mean", "value": 10 * row["value"]} for row in spreads]
    items = [
        {**HERE, "item_id": f"{group} {n}", "group_id": group, "ordinal": n}
        for group, n in (("g4", 2), ("g4", 1), ("g1", 3), ("g2", 4), ("g3", 5))
    ]
    observed = {**HERE, "model": "m", "judge": "j", "judge_version": "v", "metric": "Rating"}
    observed |= {"item_id": "g4 1", "status": "judged", "call_key": "call"}
    near = [{"model": "o"}, {"judge": "l"}, {"judge_version": "x"}, {"metric": "other"}]
    near += [{"item_id": "other"}, {"release_id": "s"}]
    values = [
        {"value": 3.0},
        {"value": 6.0, "replicate": 1},
        *({**of, "value": 0.0} for of in near),
    ]
    put(
        warehouse,
        {
            "evaluate.findings": findings[::-1],
            "release.items": [
                *items,
                *({**row, "release_id": "s", "item_id": "another"} for row in items[:1]),
            ],
            "evaluate.observations": [{**observed, "replicate": 0, **value} for value in values],
        },
    )
    params = {"release_id": "r", "n_groups": 3, "metric": "Rating"}
    names = ("judge", "judge_version", "model", "group_id", "mean", "deviation", "item_id", "value")
    widest = warehouse.read("evaluate/widest_groups_of", params).to_pylist()
    assert [tuple(row[name] for name in names) for row in widest] == [
        ("j", "v", "l", "g1", 10.0, 1.0, "g1 3", None),
        ("j", "v", "m", "g4", 30.0, 3.0, "g4 1", 4.5),
        ("j", "v", "m", "g4", 30.0, 3.0, "g4 2", None),
        ("j", "v", "m", "g1", 20.0, 2.0, "g1 3", None),
        ("j", "v", "m", "g2", 20.0, 2.0, "g2 4", None),
        ("j", "w", "m", "g1", 10.0, 1.0, "g1 3", None),
        ("k", "v", "m", "g1", 10.0, 1.0, "g1 3", None),
    ]


def test_the_view_of_an_analysis_has_its_findings_alone(warehouse: Warehouse) -> None:
    names = ("language_gaps", "prompt_sensitivity", "model_groups", "judge_quality")
    names += ("extraction_quality", "task_clusters")
    put(warehouse, {"evaluate.findings": [{"analysis": name, "value": 1.0} for name in names]})
    for name in names:
        found = warehouse.select(f"evaluate.{name}").to_pylist()
        assert [row["analysis"] for row in found] == [name]


@pytest.mark.parametrize(
    ("other", "models"),
    [
        *[({}, []), ({"kind": "key"}, []), ({"kind": "caption"}, ["m"])],
        *[({"release_id": "s"}, ["m"]), ({"item_id": "k"}, ["m"]), ({"turn": 2}, ["m"])],
    ],
)
def test_an_answer_is_judged_by_the_answer_or_key_of_its_turn(warehouse, other, models) -> None:
    turn = {**HERE, "model": "m", "item_id": "i", "turn": 1, "status": "answered", "answer": "A."}
    reference = {**turn, "kind": "answer", **other}
    put(warehouse, {"evaluate.answers": [turn], "release.references": [reference]})
    found = warehouse.read("evaluate/unjudgeable_of", {"release_id": "r"}).to_pylist()
    assert [row["model"] for row in found] == models


def test_what_was_given_awaits_no_judge(warehouse: Warehouse) -> None:
    """Turn 1 was given to every model. Turn 2 of `n` was lost, that of `o` judged, that of `q`, which
    is from a file, too, and the judge failed on that of `p`; of `m` it is left to judge."""
    place = {**HERE, "item_id": "i", "trial": "t"}
    references = [{**place, "turn": turn, "kind": "answer"} for turn in (1, 2)]
    put(warehouse, {"release.references": references})
    given = {**place, "turn": 1, "status": "given", "answer": "A."}
    answered = {**place, "turn": 2, "status": "answered", "answer": "B.", "call_key": "call"}
    lost = {**place, "turn": 2, "status": "failed", "answer": None}
    answers = [{**given, "model": model} for model in "mnopq"]
    answers += [{**answered, "model": model} for model in "mop"] + [{**lost, "model": "n"}]
    answers.append(of_file := {**answered, "model": "q", "call_key": None})
    put(warehouse, {"evaluate.answers": answers})
    judgment = {**answered, "judge": "j", "answer_call_key": "call"}
    failure = {**answered, "stage": "judgments", "asked": "j"}
    # Each differs from a result on the answer of `m` by one column.
    near = [{"release_id": "s"}, {"model": "x"}, {"item_id": "k"}, {"trial": "u"}, {"turn": 1}]
    near_judgments = [*near, {"judge": "l"}, {"answer_call_key": "an earlier call"}]
    near_failures = [*near, {"asked": "l"}, {"stage": "answers"}]
    put(
        warehouse,
        {
            "evaluate.judgments": [
                {**judgment, "model": "o"},
                {**of_file, "judge": "j", "call_key": "x"},
            ]
            + [{**judgment, "model": "m", **other} for other in near_judgments],
            "evaluate.failed": [{**failure, "model": "p"}]
            + [{**failure, "model": "m", **other} for other in near_failures],
        },
    )
    waiting = warehouse.read("evaluate/unjudged", {"judges": ["j"]}).to_pylist()
    assert waiting == [{**HERE, "model": "m", "judge": "j"}]


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
def test_what_is_archived_is_not_shown_and_everything_else_is(warehouse, archived, n_shown):
    """Two models with answers on two releases, each judged by two judges, which also compare them."""
    models = [{"release_id": release_id, "model": model} for release_id in "rs" for model in "mn"]
    by_judges = [{**of, "judge": judge, "asked": judge} for of in models for judge in "jk"]
    pairs = [
        {"release_id": release_id, "judge": judge, "model_a": "m", "model_b": "n", "turn": 1}
        for release_id in "rs"
        for judge in "jk"
    ]
    put(
        warehouse,
        {
            "evaluate.answers": [{**of, "status": "refused"} for of in models],
            "evaluate.judgments": by_judges,
            "evaluate.failed": [{**of, "stage": "judgments"} for of in by_judges],
            "evaluate.missing": [{**of, "stage": "judgments"} for of in by_judges],
            "evaluate.pairs": [{**of, "status": "judged", "winner": "tie"} for of in pairs],
            "evaluate.archive": [
                {"model": "", "judge": "", "release_id": "", "state": "archived", **archived}
            ],
        },
    )
    names = ("answers", "judgments", "failed", "missing", "pairs")
    assert tuple(warehouse.count(f"evaluate.shown_{name}") for name in names) == n_shown


def test_a_training_effect_is_of_two_models_that_differ_by_more_training_alone(warehouse):
    before: dict[str, object] = {"backbone": "b", "parameters": 7, "trained_on": ["x"]}
    changes: dict[str, dict[str, object]] = {
        "after": {},
        "larger": {"parameters": 13},
        "of another backbone": {"backbone": "c"},
        "of other data": {"trained_on": ["y", "z"]},
        "of the same data": {"trained_on": ["x"]},
    }
    models = [{"model": "before", **before}] + [
        {"model": model, **before, "trained_on": ["x", "y"], **of} for model, of in changes.items()
    ]
    by = {**HERE, **NO_TURNS, "form": "floor", "subset_label": ""}
    scores = [{**by, "model": row["model"]} for row in models]
    comparisons = [{**by, "first": model, "second": "before"} for model in changes]
    evaluated = {"evaluate.scores": scores, "evaluate.comparisons": comparisons}
    put(warehouse, {"evaluate.models": models, **evaluated})
    (effect,) = warehouse.select("evaluate.training_effects").to_pylist()
    assert (effect["before"], effect["after"], effect["trained_on"]) == ("before", "after", "y")


def test_a_model_is_not_asked_where_a_person_archived_it(warehouse: Warehouse) -> None:
    archived = [
        {"model": "everywhere", "judge": "", "release_id": ""},
        {"model": "here", "judge": "", "release_id": "r"},
        {"model": "elsewhere", "judge": "", "release_id": "s"},
        {"model": "under a judge", "judge": "j", "release_id": "r"},
        {"model": "not listed", "judge": "", "release_id": "", "state": "left the profile"},
        {"model": "kept", "judge": "", "release_id": "", "state": "kept"},
    ]
    put(warehouse, {"evaluate.archive": [{"state": "archived", **row} for row in archived]})
    assert archived_models(warehouse, "r") == {"everywhere", "here"}


def test_people_score_an_answer_with_all_that_was_shown_up_to_its_turn(warehouse):
    """Two pictures in the first turn and one in the second, of two releases of which one is current.

    Each has two items, answered by two models in two trials. Answers to `k` are compared in pairs.
    """
    of_item = [{"release_id": release, "item_id": item} for release in "rz" for item in "ik"]
    turns = [
        {**of, "turn": turn, "image_positions": shown, "kind": "answer"}
        | {"question": f"Q {of} {turn}", "reference": f"R {of} {turn}"}
        for of in of_item
        for turn, shown in ((1, [1, 2]), (2, [3]))
    ]
    answers = [
        {
            **of,
            "model": model,
            "trial": trial,
            "status": "answered",
            "answer": f"{model} {trial} {of}",
        }
        | {"benchmark": "b", "part": "A" if of["item_id"] == "k" else "answer"}
        for of in turns
        for model in "mn"
        for trial in ("plain", "shift-1")
    ]
    images = [{**of, "position": n, "image_id": f"{of} {n}"} for of in of_item for n in (1, 2, 3)]
    tables = {"release.items": of_item, "release.images": images, "release.turns": turns}
    tables |= {"release.references": turns, "evaluate.answers": answers}
    put(warehouse, {**tables, "evaluate.judgments": answers})
    drawn: dict[str, object] = {"n_answers": 50, "n_seed": 0, "apart": ["n"], "orders": ["A"]}
    found = {
        row["answer"]: row for row in warehouse.read("evaluate/score_candidates", drawn).to_pylist()
    }
    current = [row for row in answers if (row["release_id"], row["model"]) == ("r", "m")]
    assert found.keys() == {row["answer"] for row in current} and len(current) == 8
    for row in current:
        candidate, of = found[row["answer"]], {"release_id": "r", "item_id": row["item_id"]}
        assert [candidate[name] for name in ("question", "reference", "is_pair")] == [
            *(row["question"], row["reference"], row["item_id"] == "k")
        ]
        assert candidate["image_ids"] == [f"{of} {n}" for n in range(1, row["turn"] + 2)]
        place = {name: row[name] for name in ("item_id", "model", "trial", "release_id")}
        before = [
            {name: each[name] for name in ("question", "reference", "answer")}
            for each in answers
            if each["turn"] < row["turn"] and place.items() <= each.items()
        ]
        assert candidate["earlier"] == (before if row["item_id"] == "k" else [])
    current = [{"name": release_id, "release_id": release_id} for release_id in "rz"]
    put(warehouse, {"release.current": current})
    of_each = warehouse.read("evaluate/score_candidates", {**drawn, "n_answers": 1}).to_pylist()
    assert len(of_each) == 2


JUDGED = {**HERE, "judge": "j", "judge_version": "v", "replicate": 0, "trial": "plain", "turn": 1}
Score = Callable[[int, str], float]


def judge(
    warehouse: Warehouse,
    n_items: int,
    score: Score,
    *,
    models: Sequence[str] = ("m", "n"),
    parts: Sequence[str] = ("answer",),
    answer: str = "answer of {model}",
    version: str = "v",
) -> list[dict[str, object]]:
    """What is marked where each model answered so many items; `score` is of the item and the part."""
    places = [(f"i{n}", model) for n in range(n_items) for model in models]
    answers = [
        {**HERE, "item_id": item, "model": model, "trial": "plain", "turn": 1, "status": "answered"}
        | {"answer": answer.format(model=model)}
        for item, model in places
    ]
    judgments = [
        {**JUDGED, "item_id": item, "model": model, "part": part, "score": score(n, part)}
        | {"judge_version": version.format(model=model)}
        for n, (item, model) in enumerate(places)
        for part in parts
    ]
    put(warehouse, {"evaluate.answers": answers, "evaluate.judgments": judgments})
    return warehouse.select("evaluate.constant_judges").to_pylist()


def test_a_judge_with_one_score_is_marked_with_its_numbers(warehouse: Warehouse) -> None:
    (row,) = judge(warehouse, 20, lambda n, _: 5.0 if n else 7.0)
    of = [{"release_id": "s"}, {"judge": "k"}, {"judge_version": "w"}, {}]
    score = {**JUDGED, **NO_TURNS, "form": "floor", "subset_label": "", "place": 0}
    scores = [{**score, **other} for other in of]
    put(warehouse, {"evaluate.scores": scores})
    marked = warehouse.select("evaluate.leaderboard", constant_score=5).to_pylist()
    assert [(each["release"], each["judge"], each["judge_version"]) for each in marked] == [
        ("r", "j", "v")
    ] and marked[0]["trained_on"] == []
    rows = warehouse.read("evaluate/overall", {"release_ids": ["r", "s"]}).to_pylist()
    assert [each["constant_score"] for each in rows].count(5.0) == 1
    assert row["judge"] == "j" and row["constant_share"] == 39 / 40
    assert constant_scores_sentence(row) == (
        "Judge j on r: 97 % of its scores of 40 different answers to 20 items are 5, so they do not "
        "tell the models apart. Read some of its judgments, or take another judge."
    )


@pytest.mark.parametrize(
    "of",
    [
        # Equal scores of 30 answers to 5 items, and 19 of 20 scores that are equal.
        {"n_items": 5, "score": lambda *_: 10.0, "models": "abcdef"},
        {"n_items": 20, "score": lambda n, _: 5.0 + (n % 20 == 0)},
        # The mean score of the answer that two of three models gave is that of the other answer.
        {"n_items": 20, "score": lambda n, _: (4.0, 6.0, 5.0)[n % 3], "models": ["ax", "ay", "b"]}
        | {"answer": "{model[0]}"},
    ],
)
def test_scores_of_enough_answers_to_enough_items_are_constant(warehouse, of) -> None:
    assert len(judge(warehouse, **of)) == 1


@pytest.mark.parametrize(
    "of",
    [
        # All tens on a few items may be deserved.
        {"n_items": 3, "score": lambda *_: 10.0},
        {"n_items": 7, "score": lambda *_: 10.0, "models": "abcd"},
        {"n_items": 4, "score": lambda *_: 10.0, "models": [f"m{n}" for n in range(9)]},
        # One answer in ten has another score.
        {"n_items": 20, "score": lambda n, _: 5.0 + (n % 10 == 0)},
        # Equal answers deserve equal scores, and one model is told apart from nobody.
        {"n_items": 20, "score": lambda *_: 5.0, "answer": "B"},
        {"n_items": 40, "score": lambda *_: 5.0, "models": ["m"]},
        {"n_items": 40, "score": lambda *_: 5.0, "version": "{model}@1"},
        # Who wins in both orders does not win by its place.
        {"n_items": 20, "score": lambda *_: 1.0, "parts": ["model-first", "model-second"]},
    ],
)
def test_few_or_different_scores_are_not(warehouse: Warehouse, of: dict) -> None:
    assert judge(warehouse, **of) == []


@pytest.mark.parametrize("verdict", [1.0, 0.5, 0.0])
def test_a_judge_that_has_one_verdict_whatever_it_compares_is_marked(warehouse, verdict):
    """The first place wins, loses or ties: the model's share depends on its place alone."""
    (row,) = judge(
        warehouse,
        10,
        lambda _, part: verdict if part == "model-first" else 1 - verdict,
        parts=["model-first", "model-second"],
    )
    assert row["constant_score"] == verdict


def test_the_printed_leaderboard_marks_it_and_says_why_at_the_end(warehouse, monkeypatch, capsys):
    judge(warehouse, 20, lambda *_: 5.0)
    of = {**HERE, **NO_TURNS, "judge": "j", "judge_version": "v", "provider": "p", "n_items": 20}
    score = {
        **of,
        "model": "m",
        "place": 0,
        "form": "floor",
        "subset_label": "",
        "subset_value": "",
    }
    put(warehouse, {"release.current": [{"name": "n", **HERE}], "evaluate.scores": [score]})
    monkeypatch.setattr(results, "warehouse_of_home", lambda: warehouse)

    results.show_results(["j"])

    printed = capsys.readouterr().out
    assert "judge j (constant scores), provider p)" in printed
    assert printed.rstrip().splitlines()[-1].startswith("Judge j on r: 100 % of its scores of 40")


def test_a_model_that_was_asked_about_all_items_is_not_listed_as_asked_about_some(warehouse):
    card = {"kind": "benchmark", "origin": "imported", "review_policy": "none", "n_items": 2}
    items = {"all": "ik", "some": "i"}
    answers = [
        {**HERE, "model": model, "item_id": item, "trial": trial, "status": "failed"}
        for model, of in items.items()
        for item in of
        for trial in ("plain", "shift-1")
    ]
    put(warehouse, {"release.releases": [{**card, **HERE}], "evaluate.answers": answers})
    (row,) = warehouse.read("evaluate/asked_items").to_pylist()
    assert (row["model"], row["n_asked"], row["n_items"]) == ("some", 1, 2)


def test_a_turn_rests_on_its_answer_and_on_each_call_of_its_judge_once(
    warehouse: Warehouse,
) -> None:
    """Turn 1 has two judgments by call `c` and one by `b`; turn 2 is a prediction, read by rule."""
    place = {**HERE, "model": "m", "judge": "j", "judge_version": "v", "item_id": "i", "trial": "t"}
    answer = {**place, "status": "answered", "answer": "A."}
    calls = {1: ["c", "c", "b"], 2: [None]}
    judged = [
        {**place, "turn": turn, "part": f"{n}", "status": "judged", "value": 1.0, "call_key": call}
        for turn, of in calls.items()
        for n, call in enumerate(of)
    ]
    lacking = [
        {**place, "turn": turn, "status": status}
        for turn, status in ((3, "no_reference"), (4, "no_picture"))
    ]
    answers = [{**answer, "turn": 1, "call_key": "answer"}]
    answers += [{**answer, "turn": turn, "call_key": None} for turn in (2, 3, 4)]
    put(warehouse, {"evaluate.answers": answers, "evaluate.observations": [*judged, *lacking]})
    rows = warehouse.read("evaluate/call_keys_of", {"release_id": "r"}).to_pylist()
    of_text = hashlib.md5(b"A.").hexdigest()
    assert [(row["turn"], row["answer"], row["judge_calls"]) for row in rows] == [
        (1, "answer", ["b", "c"]),
        (2, of_text, None),
    ]


def test_a_rule_and_a_judge_say_what_they_observed_of_an_example(warehouse: Warehouse) -> None:
    """The rule read no letter of turn 2, and item `k` is no example."""
    place = {**HERE, "model": "m", "item_id": "i", "trial": "plain", "judge": "rule", "turn": 1}
    observed = {"A": 1.0, "B": 0.0}
    rows = [
        {**place, "metric": metric, "status": "judged", "value": value, "replicate": 0}
        for metric, value in reversed(observed.items())
    ]
    rows += [{**place, "turn": 2, "status": "empty", "replicate": 0}, {**rows[0], "item_id": "k"}]
    items = [{**place, "item_id": item, "ordinal": n} for n, item in enumerate("ik", start=1)]
    put(warehouse, {"release.items": items, "evaluate.observations": rows})
    first = {"release_id": "r", "n_items": 1}
    (row,) = warehouse.read("evaluate/example_rules_of", first).to_pylist()
    assert (row["item_id"], row["turn"]) == ("i", 1)
    assert [(each["key"], each["value"]) for each in row["scores"]] == [*observed.items()]


def test_a_judged_score_and_a_rank_are_of_the_whole_key_of_a_score(warehouse: Warehouse) -> None:
    """Every score differs from each other one in a column, and its judged score says in which ones."""
    names = ("release_id", "model", "judge", "judge_version", "metric", "aggregation")
    keys = [dict(zip(names, of, strict=True)) for of in product("rs", "mn", "jk", "vw", "EF", "ab")]
    by = [
        {**NO_TURNS, **key, "n_turns": 1, "subset_label": label, "subset_value": value}
        for key in keys
        for label, value in (("", ""), ("x", "1"), ("x", "2"), ("y", "1"))
    ]
    scores = [
        {**row, "form": form, "value": float(n), "ci_low": float(n), "ci_high": float(n)}
        for n, row in enumerate(by)
        for form in ("floor", "judged")
    ]
    ranks = [{**key, "rank": n, "rank_low": n, "rank_high": n} for n, key in enumerate(keys, 1)]
    put(warehouse, {"evaluate.scores": scores, "evaluate.ranks": ranks})
    rows = warehouse.select("evaluate.results", form="floor").to_pylist()
    assert [row["judged_only"] for row in rows] == [row["value"] for row in rows]
    assert [row["rank"] for row in rows] == [int(row["value"]) // 4 + 1 for row in rows]
    assert len(rows) == len(by) == 256


def test_a_call_is_of_all_candidates_that_it_answered_for(warehouse: Warehouse) -> None:
    """Two candidates share call `c`, which answered for both in two turns; `q` is of another call."""
    calls = {("p", 1): "c", ("o", 1): "c", ("o", 2): "c", ("q", 1): "d", ("o", 3): "e"}
    answers = [
        {**HERE, "model": model, "item_id": "i", "trial": "plain", "turn": turn}
        | {"status": "failed", "call_key": call, "settings": [("model", model)]}
        for (model, turn), call in calls.items()
    ]
    there = [{**row, "release_id": "s", "model": f"{row['model']} there"} for row in answers[3:]]
    put(warehouse, {"evaluate.answers": [*answers, *there]})
    rows = warehouse.read("evaluate/labels_of_calls", {"keys": ["d", "c"]}).to_pylist()
    assert [(row["key"], row["label"]) for row in rows] == [("c", "o, p"), ("d", "q, q there")]


def test_each_call_behind_scores_is_of_who_was_asked(warehouse: Warehouse) -> None:
    """Turn 1 was given; that of turn 2 was read by `x` and judged twice; 3 and 4 are predictions."""
    place = {**HERE, "model": "m", "item_id": "i", "trial": "plain"}
    calls = {1: ("given", None), 2: ("answered", "c"), 3: ("answered", None), 4: ("answered", None)}
    answers = [
        {**place, "turn": turn, "status": status, "answer": "A.", "call_key": call}
        for turn, (status, call) in calls.items()
    ]
    readers = {2: ("x", "read", "c"), 3: ("rule", None, None), 4: ("rule", None, None)}
    extractions = [
        {**place, "turn": turn, "extractor": name, "call_key": call, "answer_call_key": of}
        for turn, (name, call, of) in readers.items()
    ]
    judgment = {**place, "turn": 2, "judge": "j", "answer_call_key": "c", "call_key": "judged"}
    judgments = [{**judgment, "part": part} for part in "BA"]
    tables = {"evaluate.extractions": extractions, "evaluate.judgments": judgments}
    put(warehouse, {**tables, "evaluate.answers": answers})
    rows = warehouse.read("evaluate/calls_behind", {"release_id": "r"}).to_pylist()
    names = ("role", "candidate", "asked", "call_key")
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("answer", "m", "m", "c"),
        *[("answer", "m", "m", None)] * 2,
        *[("judge", "m", "j", "judged")] * 2,
        *[("reader", "m", "rule", None)] * 2,
        ("reader", "m", "x", "read"),
    ]


def test_passes_of_an_item_are_those_that_were_asked_in_their_order(warehouse: Warehouse) -> None:
    """Of `i`, the first pass was not read, the third one was lost, and the last two were not asked."""
    trials = {"shift-4": "given", "shift-3": "not_asked", "shift-2": "failed"}
    trials |= {"shift-1": "answered", "shift-0": "answered"}
    place = {**HERE, "model": "m", "item_id": "i", "turn": 1}
    answers = [
        {**place, "trial": trial, "status": status}
        | {"answer": "A." if status in ("given", "answered") else None}
        for trial, status in trials.items()
    ]
    reading = {**place, "trial": "shift-1", "extractor": "rule", "value": "B"}
    of_k = [
        {**place, "item_id": "k", "trial": trial, "status": "answered", "answer": "A."}
        for trial in ("shift-0", "shift-1")
    ]
    readings = [reading, {**reading, "item_id": "k", "trial": "shift-0", "value": "C"}]
    put(warehouse, {"evaluate.answers": [*answers, *of_k], "evaluate.extractions": readings})
    rows = warehouse.read("evaluate/first_readings_of", {"release_id": "r"}).to_pylist()
    passes = {"shift-0": None, "shift-1": "B", "shift-2": None}
    assert [(row["reading"], row["n_asked"], row["lost"]) for row in rows] == [
        (None, 3, True),
        ("C", 2, False),
    ]
    found = [(each["trial"], each["reading"]) for each in rows[0]["passes"]]
    assert found == [*passes.items()]


def test_filters_flag_an_item_before_its_statistics_do(warehouse: Warehouse) -> None:
    item = {**HERE, "item_id": "i", "ordinal": 1}
    statistics = {"flags": ["hard", "easy"], "n_right": 1, "discrimination": 0.5}
    flagged = [{**item, "filter": name, "answers": "[]"} for name in ("wrong_item", "text_only")]
    tables = {"release.items": [item], "evaluate.flagged_items": flagged}
    put(warehouse, {**tables, "evaluate.item_statistics": [{**item, **statistics}]})
    rows = warehouse.read("evaluate/flags_of", {"release_id": "r"}).to_pylist()
    assert [row["flag"] for row in rows] == ["text_only", "wrong_item", "easy", "hard"]


def test_of_several_judgments_of_a_queued_answer_the_mean_counts(
    tables: duckdb.DuckDBPyConnection,
) -> None:
    rows = {"evaluate.judgments": [{"replicate": n, "scores": [("d", n)]} for n in (1, 3)]}
    others = ("release.turns", "release.references", "evaluate.answers", "evaluate.score_queue")
    rows |= {table: [{}] for table in others}
    (row,) = asked(tables, "evaluate/judged_scores", rows)
    assert row["score"] == 2
