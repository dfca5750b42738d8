"""The fingerprint of a table: equal for equal rows in any order, another one for any other value."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from resources.warehouse import TableWrite, Warehouse, arrow_schema, declared_columns

pytestmark = pytest.mark.slow

DIALOGUES = "dialogue.dialogues"
FAILED = "dialogue.failed"
TURN = {"question_id": "q1", "question": "What is it?", "answer": "A kite."}
DIALOGUE: dict[str, Any] = {
    **{"set_id": "s", "dialogue_id": "d1", "kind": "benchmark", "n_images": 2, "n_turns": 1},
    **{"image_ids": ["i1", "i2"], "turns": [TURN]},
}
FAILURE = {
    **{"stage": "answers", "set_id": "s", "subject": "d1", "reason": "refused", "detail": "no"},
    "call_key": "k",
}


@pytest.fixture
def warehouse(empty_warehouse: Warehouse) -> Iterator[Warehouse]:
    with empty_warehouse.kept_open():
        yield empty_warehouse


def of(warehouse: Warehouse, table: str, *rows: dict[str, Any]) -> str:
    """The fingerprint of `table` with these rows alone."""
    warehouse.replace(table, pa.Table.from_pylist(list(rows), schema=arrow_schema(table)))
    return warehouse.fingerprint(table)


def test_equal_rows_have_equal_fingerprints_in_any_order_and_in_any_file(
    warehouse, empty_tables, tmp_path
):
    rows = [DIALOGUE | {"dialogue_id": f"d{number}"} for number in range(5)]

    first = of(warehouse, DIALOGUES, *rows)

    assert of(warehouse, DIALOGUES, *rows[::-1]) == first
    other = Warehouse(Path(shutil.copy(empty_tables, tmp_path / "other.duckdb")))
    assert of(other, DIALOGUES, *rows[2:], *rows[:2]) == first
    assert of(warehouse, DIALOGUES, *rows[1:]) != first


def test_any_other_value_is_another_fingerprint(warehouse):
    other = DIALOGUE | {"dialogue_id": "d2"}
    changes = [
        *({}, {"set_id": "t"}, {"kind": "instruction"}, {"n_images": 3}),
        *({"image_ids": ["i2", "i1"]}, {"image_ids": ["i1", "i2", "i3"]}),
        *({"turns": [TURN | {"answer": "A kite"}]}, {"turns": [TURN, TURN]}),
        # The same texts in other places.
        {"turns": [TURN | {"question": TURN["answer"], "answer": TURN["question"]}]},
        {"set_id": "d1", "dialogue_id": "s"},
    ]
    made = {of(warehouse, DIALOGUES, DIALOGUE | change, other) for change in changes}
    assert len(made) == len(changes)


def test_equal_rows_count_each_time_and_no_text_is_not_an_empty_one(warehouse):
    """Also an even number of times, which an exclusive or would not see."""
    rows = [[FAILURE] * times for times in range(5)]
    # Columns with the same values, each as often, of which others belong together.
    rows.append([FAILURE, FAILURE | {"subject": "d2", "reason": "cut", "call_key": "l"}])
    rows.append([FAILURE | {"subject": "d2"}, FAILURE | {"reason": "cut", "call_key": "l"}])
    rows += [[FAILURE | {"call_key": key}] for key in (None, "", "None")]
    rows.append([FAILURE | {"subject": "d2"}] * 2)

    assert len({of(warehouse, FAILED, *each) for each in rows}) == len(rows)


def test_a_slice_is_its_own_rows_whatever_the_others_are(warehouse):
    def failures(set_id: str, *reasons: str) -> TableWrite:
        rows = [FAILURE | {"set_id": set_id, "reason": reason} for reason in reasons]
        table = pa.Table.from_pylist(rows, schema=arrow_schema(FAILED))
        return TableWrite(FAILED, table, {"set_id": set_id})

    warehouse.replace_all([failures("a", "refused"), failures("b", "refused", "cut")])
    before = warehouse.fingerprint(FAILED, {"set_id": "b"})
    whole = warehouse.fingerprint(FAILED)

    warehouse.replace_all([failures("a", "cut")])

    assert warehouse.fingerprint(FAILED, {"set_id": "b"}) == before
    assert warehouse.fingerprint(FAILED, {"set_id": ["b"]}) == before
    assert warehouse.fingerprint(FAILED) != whole
    assert warehouse.fingerprint(FAILED, {"set_id": ["a", "b"]}) == warehouse.fingerprint(FAILED)
    assert warehouse.fingerprint(FAILED, {"set_id": "c"}) == of(warehouse, FAILED)

    warehouse.replace_all([failures("b", "cut", "refused")])
    assert warehouse.fingerprint(FAILED, {"set_id": "b"}) == before, "only the order is another"


def test_a_view_has_the_fingerprint_of_its_rows(warehouse):
    score = (
        "INSERT INTO evaluate.scores VALUES "
        "('mmdu', 'r', ?, 'j', 'p@1', 'mock', 'Overall Score', 'micro', 0, 'floor', '', '', "
        "50, 40, 60, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 'bootstrap percentiles', NULL)"
    )
    made = [warehouse.fingerprint("evaluate.leaderboard")]
    for model in ("careful", "careless"):
        with warehouse.database.connection() as connection:
            connection.execute(score, [model])
        made.append(warehouse.fingerprint("evaluate.leaderboard"))

    assert len(set(made)) == 3
    assert warehouse.fingerprint("evaluate.leaderboard") == made[-1]
    assert all(map(warehouse.fingerprint, declared_columns())), "each has one, also without rows"
