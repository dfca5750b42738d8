"""Queries give rows in a stated order, each value in the column of its name, and rows of one kind."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from resources.warehouse import Warehouse, declared_columns, sql_text
from tests.assets.filled import put

Row = dict[str, Any]

VALUES: Row = {
    **{"status": "judged", "form": "floor", "subset_label": "", "subset_value": "", "place": 0},
    **{"value": 50.0, "ci_low": 1.0, "ci_high": 99.0, "coverage": 0.9, "parameters": 7.0},
    **{"rank": 3, "rank_low": 2, "rank_high": 4, "why": None, "reference_rank": 8, "n_clusters": 7},
    **{"n_turns": 99, "n_items": 8, "n_judged": 20, "n_failed": 2, "n_refused": 3, "n_empty": 6},
    **{
        "n_truncated": 4,
        "n_reasoning_only": 5,
        "n_models": 2,
        "seed": 9,
        "tau": 0.5,
        "held_out": 0.4,
    },
    **{"ordinal": 1, "turn": 1, "position": 1, "size": 2, "replicate": 0, "access": "open"},
    **{"winner": "tie", "reason": None, "stage": "answers", "trained_on": ["x", "y"], "n_units": 3},
    **{"difference": 10.0, "p": 0.1, "p_holm": 0.2, "kind": "benchmark", "origin": "built"},
    **{"review_policy": "all", "review_share": 0.3, "revision": 4, "score": 6.0},
}
"""Values of columns. A text is the name of its column, and a number after it where rows differ."""
OF_TABLE: dict[str, Row] = {
    "evaluate.answers": {"status": "answered", "call_key": "answer_call_key"},
    "evaluate.extractions": {"value": "reading"},
    "evaluate.second_readings": {"value": "reading"},
    "evaluate.failed": {"reason": "unread"},
    "evaluate.score_queue": {"item_id": "queue", "kind": "pair"},
    "release.references": {"kind": "answer"},
}
"""Values of columns that mean something else in a table."""


@dataclass(frozen=True)
class Query:
    """A query or a view, and a row that it shows.

    Attributes:
        tables: The tables that have the row. One with `?` need not have it.
        order: Columns that order the result. One with `-` descends, without a value last; one with
            `+` is of a key or shown, and does not order.
        keys: Columns in which alone two rows may differ.
        params: Parameters of the query, and values of the row.
        values: Further values of the row, by column, or by table and column.
        others: Values with which the row is not shown, or several of them by a name.
        also: Further rows of tables, which differ from the row.
        shown: Texts and numbers of the result that have another name than in the row.
    """

    name: str
    tables: str
    order: str = ""
    keys: str = ""
    params: Row = field(default_factory=dict)
    values: Row = field(default_factory=dict)
    others: Row = field(default_factory=dict)
    also: dict[str, Row] = field(default_factory=dict)
    shown: Row = field(default_factory=dict)

    @property
    def text(self) -> str:
        return sql_text(self.name) if "/" in self.name else ""


R = {"release_id": "release_id 1"}
EVERY = ["release_id", "release_id 1", "release_id 2"]
ANSWER = "release_id model item_id trial turn"
SCORED = "evaluate.scores evaluate.ranks? evaluate.models?"
JUDGED = {"evaluate.scores": {"form": "judged", "value": 44.0}}
OF_RESULT: Row = {"label": "{model}", "trained_on": "x, y"}
NO_REFERENCE: Row = {"evaluate.observations.status": "no_reference", "value": None}
PART: Row = {"place": 1, "form": "common", "subset_label": "label"}
QUEUE = "evaluate.score_queue evaluate.answers release.turns release.references"
UNQUEUED = {"question": "?", "answer": "?", "reference": "?", "release.references.kind": "key"}
GIVEN: Row = {"evaluate.answers.status": "given"}
ASKED_TWICE: dict[str, Row] = {"evaluate.answers": {"trial": "another"}}
CALLS = {"answer": "evaluate.answers", "extractor": "evaluate.extractions"}
CALLS |= {"judge": "evaluate.judgments", "question": "release.turns"}
CALLS |= {"reference": "release.references"}
OF_CALLS = [(of, name) for of in CALLS for name in ("prompt_version", "call_key")]
QUERIES = [
    Query(
        "evaluate/observed_of",
        "evaluate.observations evaluate.answers evaluate.judgments?",
        "judge judge_version model item_id trial turn part metric",
        params={**R, "models": ["model", "model 1", "model 2"]},
        values={"evaluate.judgments.provider": "judge_provider"},
        others={"model": "another", "no reference": NO_REFERENCE},
        shown={"judge_provider": "judge_provider"},
    ),
    Query(
        "evaluate/overall",
        SCORED,
        "benchmark release_id judge judge_version -value n_refused model",
        params={"release_ids": EVERY},
        others={"release_id": "another", **PART},
        also={"evaluate.scores": {"form": "all_items", "value": 33.0, "n_items": 20}},
        shown={"release": "{release_id}", "label": "{model}", "metric": "metric/aggregation"}
        | {"all_items": 33.0, "n_without_picture": 12, "n_no_answer": 15},
    ),
    Query(
        *("evaluate/overall_of", SCORED, "-value model judge judge_version", "release_id", R),
        others=PART,
    ),
    Query(
        *("evaluate/pair_counts_of", "evaluate.pairs", "judge judge_version", "release_id", R),
        shown={"n": 1},
    ),
    Query(
        "evaluate/pairs_of",
        "evaluate.pairs release.items",
        "judge judge_version ordinal +item_id turn model_a model_b",
        params=R,
        values={"answer_a_call_key": None, "answer_b_call_key": None, "group_id": None},
        shown={"cluster": "{item_id}"},
    ),
    Query(
        *("evaluate/queued_answers", QUEUE, ANSWER, ANSWER),
        values={
            "content": '{"question": "question", "answer": "answer", "reference": "reference"}'
        },
        others=UNQUEUED,
        shown={"queue_id": "queue"},
    ),
    Query(
        *("evaluate/queued_pairs", f"{QUEUE} evaluate.judgments", ANSWER),
        params={"orders": ["part"]},
        values={
            "content": '{"question": "question", "a": "answer", "b": "reference"}',
            "scores": [("better", 1.0), ("clearer", 0.0)],
        },
        others={**UNQUEUED, "scores": [], "part": "grade"},
        also={"evaluate.judgments": {"replicate": 1}},
        shown={"queue_id": "queue", "place": "A", "dimension": "better"},
    ),
    Query(
        "evaluate/readings_of",
        "evaluate.extractions evaluate.answers evaluate.failed?",
        *("", ANSWER, R),
        shown={"value": "reading", "reason": "unread"},
    ),
    Query(
        "evaluate/second_readings_of",
        "evaluate.second_readings evaluate.answers",
        *("", ANSWER, R),
        shown={"value": "reading"},
    ),
    Query(
        "evaluate/report_paths",
        "evaluate.reports release.current",
        "name +release_id +path",
        values={"n_models": 1},
        others={"n_models": 0},
    ),
    Query(
        *("evaluate/results_of", SCORED),
        "judge judge_version place subset_label subset_value -value n_refused model",
        *("release_id", R),
        values={"subset_label": "label", "subset_value": "value"},
        others={"form": "common"},
        also=JUDGED,
        shown={**OF_RESULT, "judged_only": 44.0},
    ),
    Query(
        *("evaluate/results_of", SCORED, "form -value n_refused model"),
        *("judge judge_version metric aggregation model", R),
        shown=OF_RESULT,
    ),
    Query(
        "evaluate/score_candidates",
        f"{QUEUE.partition(' ')[2]} evaluate.judgments release.current release.items",
        "benchmark model item_id turn trial +answer",
        params={"n_answers": 50, "n_seed": 0, "apart": ["apart"], "orders": ["part"]},
        values={"evaluate.answers.status": "refused"},
        others={
            "model": "apart",
            "evaluate.answers.answer": None,
            "release.references.kind": "key",
        },
        also={"evaluate.judgments": {"part": "grade"}},
        shown={"is_pair": True},
    ),
    Query("evaluate/subsets_of", "evaluate.smallest_subsets", "size +judge", "release_id", R),
    Query(
        *("evaluate/unjudgeable_of", "evaluate.answers", "model", "release_id", R),
        others=GIVEN,
        also=ASKED_TWICE,
    ),
    Query(
        "evaluate/unjudged",
        "evaluate.answers release.references",
        "benchmark release_id model",
        params={"judges": ["judge"]},
        others=GIVEN,
        also=ASKED_TWICE,
    ),
    Query(
        *("evaluate.leaderboard", SCORED),
        "benchmark release_id judge judge_version place metric aggregation -value n_refused model",
        others={"form": "common", "subset_label": "label"},
        also=JUDGED,
        shown={"release": "{release_id}", "metric": "{metric}/{aggregation}", "ranks": "2-4"}
        | {"label": "{model}", "judged_only": 44.0, "related": "family"},
    ),
    Query(
        "evaluate.training_effects",
        "evaluate.comparisons evaluate.models evaluate.scores",
        "release_id judge judge_version place +metric",
        "metric aggregation",
        values={"model": "second"},
        others={"evaluate.comparisons.form": "common", "evaluate.scores.form": "common"}
        | {"evaluate.scores.subset_label": "label"},
        also={
            "evaluate.models": {"model": "first", "trained_on": ["x", "y", "z"]},
            "evaluate.scores": {"model": "first", "value": 60.0},
        },
        shown={"before": "second", "after": "first", "trained_on": "z"}
        | {"value_before": 50.0, "value_after": 60.0},
    ),
    Query(
        *("evaluate.candidates", "evaluate.answers", "release_id model"),
        values={"settings": [("model", "served")]},
        others={"settings": None},
        shown={"label": "{model}"},
    ),
    Query(
        "evaluate.provenance",
        "evaluate.observations evaluate.answers evaluate.judgments? evaluate.extractions? "
        "release.releases? release.items release.turns release.references? release.images?",
        keys=f"{ANSWER} judge judge_version replicate part",
        values={f"{CALLS[of]}.{name}": f"{of}_{name}" for of, name in OF_CALLS}
        | {"evaluate.observations.call_key": "judge_call_key"}
        | {"evaluate.judgments.provider": "judge_provider"},
        others={"not judged": NO_REFERENCE},
        also={"release.references": {"kind": "key", "reference": "?", "call_key": "?"}},
        shown={f"{of}_{name}": f"{of}_{name}" for of, name in OF_CALLS}
        | {"release": "{release_id}", "item": "{item_id}", "provider": "judge_provider"}
        | {"answer_status": "answered", "reading": "reading"},
    ),
]
NAMES = [f"{query.name} {query.order}".rstrip() for query in QUERIES]


def row_of(query: Query, differing: Row) -> Row:
    texts = {
        name: name
        for table in query.tables.replace("?", "").split()
        for name, kind, _ in declared_columns()[table]
        if kind == "VARCHAR"
    }
    return {**texts, **VALUES, **query.params, **query.values, **differing}


def value_of(query: Query, name: str, step: int) -> Any:
    if name == "form":
        return ("common", "floor")[step - 1]
    value = row_of(query, {})[name]
    return f"{name} {step}" if isinstance(value, str) else value + step


def result_of(warehouse: Warehouse, query: Query, *rows: Row, without: str = "") -> list[Row]:
    """What a query gives where its tables have the rows, one of each key."""
    rules = warehouse.read("rules").to_pylist()
    keys = {rule["table_name"]: rule["key"] for rule in rules[::-1] if rule["key"]}
    tables: dict[str, list[Row]] = {}
    for table in query.tables.replace("?", "").split():
        of_key = {}
        for row in rows:
            own = {
                name.removeprefix(f"{table}."): value
                for name, value in row.items()
                if name.startswith(f"{table}.")
            }
            for also in ({}, query.also.get(table, {})):
                of_table = {**row, **OF_TABLE.get(table, {}), **own, **also}
                names = keys.get(table, [*of_table])
                of_key[tuple(str(of_table.get(name)) for name in names)] = of_table
        tables[table] = [*of_key.values()] if table != without else []
    put(warehouse, tables)
    if "/" in query.name:
        return warehouse.read(query.name, query.params).to_pylist()
    return warehouse.select(query.name).to_pylist()


def shown_of(query: Query, row: Row) -> Row:
    named = {
        name: value.format(**row) if isinstance(value, str) else value
        for name, value in query.shown.items()
    }
    return {**row, **named}


def neighbours(query: Query) -> Iterator[tuple[str, Row, Row]]:
    """Two rows that a column orders and all later ones would order the other way, and two rows that
    differ in one column of a key."""
    order = query.order.split()
    for place, column in enumerate(order):
        later, earlier = (
            {
                name.strip("+-"): value_of(
                    query, name.strip("+-"), 3 - step if name[0] == "-" else step
                )
                for name in order[place:]
            }
            for step in (2, 1)
        )
        name = column.strip("+-")
        first, second = {**later, name: earlier[name]}, {**earlier, name: later[name]}
        if column[0] != "+":
            yield name, first, second
        if column[0] == "-":
            yield f"{name} without", first, {**second, name: None}
    for name in query.keys.split():
        yield f"{name} alone", *({name: value_of(query, name, step)} for step in (1, 2))


@pytest.mark.parametrize("query", QUERIES, ids=NAMES)
def test_a_row_has_its_place_in_the_order_and_the_values_of_its_columns(
    query: Query, empty_warehouse: Warehouse
) -> None:
    for label, *differing in neighbours(query):
        rows = [row_of(query, each) for each in differing]
        found = result_of(empty_warehouse, query, *rows[::-1])
        shown = [shown_of(query, row) for row in rows if query.params.items() <= row.items()]
        names = [
            name
            for name in found[0].keys() & shown[0].keys()
            if not isinstance(found[0][name], list)
        ]
        results = [[{name: row[name] for name in names} for row in of] for of in (found, shown)]
        if not query.order:
            results = [sorted(of, key=str) for of in results]
        assert results[0] == results[1], label


@pytest.mark.parametrize("query", QUERIES, ids=NAMES)
def test_a_row_of_another_kind_is_not_shown_nor_one_that_lacks_a_part(
    query: Query, empty_warehouse: Warehouse
) -> None:
    for name, value in query.others.items():
        row = row_of(query, value if isinstance(value, dict) else {name: value})
        assert result_of(empty_warehouse, query, row) == [], name
    for table in query.tables.split():
        of_others = result_of(empty_warehouse, query, row_of(query, {}), without=table.strip("?"))
        assert len(of_others) == table.endswith("?"), table


@pytest.mark.parametrize("query", [each for each in QUERIES if "shown_" in each.text])
def test_an_archived_model_is_not_shown(query: Query, empty_warehouse: Warehouse) -> None:
    row = row_of(query, {})
    archived = {"judge": "", "release_id": "", "state": "archived"}
    for model, n_shown in (("another", 1), (row.get("model_a") or row["model"], 0)):
        put(empty_warehouse, {"evaluate.archive": [{**archived, "model": model}]})
        assert len(result_of(empty_warehouse, query, row)) == n_shown


@pytest.mark.parametrize("query", [each for each in QUERIES if "answer_call_key IS" in each.text])
def test_an_answer_of_a_file_has_no_call(query: Query, empty_warehouse: Warehouse) -> None:
    row = row_of(query, {"evaluate.answers.call_key": None, "answer_call_key": None})
    assert len(result_of(empty_warehouse, query, row)) == 1
    assert result_of(empty_warehouse, query, row, without="evaluate.answers") == []
