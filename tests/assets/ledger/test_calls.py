"""The ledger in the warehouse: what was paid for, summed by hand, and whatever rests on no call."""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import dagster as dg
import duckdb
import pytest

from assets.common.tables import rows_to_arrow
from dagster_project.definitions import defs
from resources.llm.ledger import Call, Charge, Ledger
from resources.llm.ledger.check import keys_of_calls
from resources.warehouse import Warehouse, WarehouseError, declared_columns, sql_text
from resources.warehouse.absent_files import n_absent_calls
from tests.assets.filled import put
from tests.assets.world import Result, Row, check
from tests.resources.llm.entries import call, charge

pytestmark = pytest.mark.slow

# One day for the writer and the judge, and the beginning of the next.
CALLS = [
    # key, model, stage, via, prompt and completion tokens, USD, seconds, when
    ("a", "gpt-4o", "dialogue.answers", "live", 1000, 100, 0.25, 1.5, "2026-01-01T08:00:00.000+00:00"),
    ("b", "gpt-4o", "dialogue.answers", "batch", 3000, 300, 0.5, 2.5, "2026-01-01T23:59:59.999+00:00"),
    ("c", "gpt-4o", "dialogue.answers", "live", 500, 50, 0.125, 0.5, "2026-01-02T00:00:00.000+00:00"),
    ("d", "mini", "evaluate.answers", "live", 200, 20, 0.0625, 1.0, "2026-01-01T12:00:00.000+00:00"),
    # Written an hour east of Greenwich: by UTC it is still the first of January.
    ("e", "gpt-4o", "evaluate.judgments", "live", 40, 4, 1.0, 3.0, "2026-01-02T00:30:00.000+01:00"),
]  # fmt: skip
CHARGES = [
    # `b` was charged twice before it was answered, `f` never was.
    ("b", "gpt-4o", "dialogue.answers", "batch", 3000, 0, 0.375, "2026-01-01T22:00:00.000+00:00"),
    ("b", "gpt-4o", "dialogue.answers", "batch", 3000, 1, 0.375, "2026-01-01T23:00:00.000+00:00"),
    ("f", "mini", "evaluate.answers", "live", 70, 0, 0.03125, "2026-01-03T09:00:00.000+00:00"),
]
FIRST, SECOND, THIRD = (date(2026, 1, day) for day in (1, 2, 3))
COSTS = [
    # day, stage, model, answered, lost, prompt, completion, USD, seconds
    (THIRD, "evaluate.answers", "mini", 0, 1, 70, 0, 0.03125, 0.0),
    (SECOND, "dialogue.answers", "gpt-4o", 1, 0, 500, 50, 0.125, 0.5),
    (FIRST, "dialogue.answers", "gpt-4o", 2, 2, 10_000, 401, 1.5, 4.0),
    (FIRST, "evaluate.judgments", "gpt-4o", 1, 0, 40, 4, 1.0, 3.0),
    (FIRST, "evaluate.answers", "mini", 1, 0, 200, 20, 0.0625, 1.0),
]
"""In the view's order: the latest day first, then what cost most."""
FIELDS = ("key", "model", "stage", "via", "prompt_tokens", "completion_tokens", "cost_usd")


def answered(*row: object) -> Call:
    return call(attempts=1, **dict(zip((*FIELDS, "seconds", "created_at"), row, strict=True)))


def lost(*row: object) -> Charge:
    return charge(0, **dict(zip((*FIELDS, "created_at"), row, strict=True)))


class Mirror:
    """A home with a ledger, its stage's job and what that leaves in the warehouse."""

    def __init__(self, home: Path, instance: dg.DagsterInstance):
        self.home, self.instance = home, instance

    @property
    def ledger(self) -> Ledger:
        return Ledger(self.home / "ledger.sqlite")

    @property
    def warehouse(self) -> Warehouse:
        return Warehouse(self.home / "warehouse.duckdb")

    def fill(self) -> None:
        """The calls and charges above."""
        self.ledger.add([*(answered(*row) for row in CALLS), *(lost(*row) for row in CHARGES)])

    def run(self) -> Result:
        result = defs.resolve_job_def("ledger").execute_in_process(
            instance=self.instance, raise_on_error=False
        )
        assert result.success
        return result

    def rows(self, text: str) -> list[Row]:
        return self.warehouse.sql(text).to_pylist()


@pytest.fixture(autouse=True)
def warehouses_stay_open() -> None:
    """Not here, where the file is read by others, too."""


@pytest.fixture
def mirror(loom_home: Path) -> Iterator[Mirror]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield Mirror(loom_home, instance)


# What is in it


def test_every_call_and_charge_is_a_row_with_what_it_cost(mirror: Mirror) -> None:
    mirror.fill()

    mirror.run()

    rows = mirror.rows("SELECT * FROM ledger.calls ORDER BY key, status, created_at")
    assert [row["key"] for row in rows if row["status"] == "answered"] == [*"abcde"]
    assert [row["key"] for row in rows if row["status"] == "lost"] == [*"bbf"]
    first = {name: value for name, value in rows[0].items() if value is not None}
    assert first.pop("created_at") == datetime(2026, 1, 1, 8, tzinfo=UTC)
    assert first == {
        **{"provider": "openai", "endpoint": "https://api.openai.com/v1", "run": "run-1"},
        **{"prompt_version": "mmdu/answers@12345678", "key": "a", "status": "answered"},
        **{"via": "live", "stage": "dialogue.answers"},
        **{"model": "gpt-4o", "outcome": "answered", "finish_reason": "stop", "attempts": 1},
        **{"prompt_tokens": 1000, "completion_tokens": 100, "cost_usd": 0.25, "seconds": 1.5},
    }
    last = rows[-1]
    assert (last["seconds"], last["attempts"]) == (None, None)
    assert (last["finish_reason"], last["cost_usd"]) == ("content_filter", 0.03125)
    # Nothing that was said is in the warehouse.
    said = {"request", "response", "reasoning"}
    assert last.keys() == set(Call._fields) - said | {"status"}


def test_costs_are_the_sums_by_day_of_utc_stage_and_model_wherever_the_machine_stands(mirror):
    mirror.fill()

    mirror.run()

    found = mirror.rows("SELECT * EXCLUDE (provider) FROM ledger.costs")
    assert [tuple(row.values()) for row in found] == COSTS
    assert mirror.rows("SELECT DISTINCT provider FROM ledger.costs") == [{"provider": "openai"}]
    for zone in ("America/Los_Angeles", "Asia/Tokyo"):
        with duckdb.connect(str(mirror.warehouse.path)) as connection:
            connection.execute(f"SET TimeZone = '{zone}'")
            days = connection.execute("SELECT day FROM ledger.costs").fetchall()
        assert [day for (day,) in days] == [row[0] for row in COSTS]


def test_an_account_that_makes_no_sense_is_refused(mirror: Mirror) -> None:
    sound = {
        **{**answered(*CALLS[0])._asdict(), "status": "answered"},
        "created_at": datetime(2026, 1, 1, tzinfo=UTC),
    }
    mirror.warehouse.replace("ledger.calls", rows_to_arrow("ledger.calls", [sound]))

    for nonsense in (
        {"status": "failed"},
        {"via": "pigeon"},
        {"key": ""},
        {"prompt_tokens": -1},
        {"completion_tokens": -1},
        {"cost_usd": -0.01},
        {"seconds": None},
        {"created_at": None},
    ):
        rows = rows_to_arrow("ledger.calls", [sound | nonsense])
        with pytest.raises(WarehouseError, match="constraint"):
            mirror.warehouse.replace("ledger.calls", rows)
    assert mirror.warehouse.count("ledger.calls") == 1


# Again


def test_a_growing_ledger_is_followed_and_a_lost_one_too(mirror: Mirror) -> None:
    mirror.fill()
    mirror.run()
    late = "2026-01-03T10:00:00.000+00:00"
    mirror.ledger.add([answered("f", "mini", "evaluate.answers", "live", 70, 7, 0.5, 2.0, late)])

    mirror.run()

    costs = mirror.rows("SELECT * EXCLUDE (provider) FROM ledger.costs")
    third = (THIRD, "evaluate.answers", "mini", 1, 1, 140, 7, 0.53125, 2.0)
    assert [tuple(row.values()) for row in costs] == [third, *COSTS[1:]]

    for file in mirror.home.glob("ledger.sqlite*"):
        file.unlink()
    mirror.run()
    assert mirror.warehouse.count("ledger.calls") == 0


# What rests on it


def test_an_answer_that_no_call_gave_is_named_and_stops_nothing(mirror: Mirror) -> None:
    mirror.fill()
    # `f` was charged for and never answered; a filter's refusal and a failure claim no answer.
    answers = [
        ("answered", "d", "A lighthouse."),
        ("answered", "f", "A windmill."),
        ("refused", "nowhere", "I would rather not."),
        ("refused", "f", None),
        ("failed", "nowhere else", None),
    ]
    rows = [
        {"turn": turn, "status": status, "call_key": key, "answer": answer}
        for turn, (status, key, answer) in enumerate(answers, 1)
    ]
    # Of each pair one model gave no answer.
    pairs = [
        {"model_a": "m", "model_b": "n", "status": "no_answer_b"}
        | {"answer_a_call_key": "lost a", "answer_b_call_key": "failed"},
        {"model_a": "n", "model_b": "m", "status": "no_answer_a"}
        | {"answer_a_call_key": "failed", "answer_b_call_key": "lost b"},
    ]
    put(mirror.warehouse, {"evaluate.answers": rows, "evaluate.pairs": pairs})

    evaluation = check(mirror.run(), "ledger/calls", "calls_known")

    assert not evaluation.passed and not evaluation.blocking
    shown = {name: entry.value for name, entry in evaluation.metadata.items()}
    assert shown.pop("first of them") == ["f", "nowhere", "lost a", "lost b"]
    assert shown == {"unknown": 4, "evaluate.answers": 2, "evaluate.pairs": 2}
    # The same is said of the workspace, where a charge is a call of the ledger as well.
    calls = keys_of_calls(mirror.home / "ledger.sqlite")
    assert n_absent_calls(mirror.warehouse.path, calls) == 1


def test_calls_of_another_workspaces_release_are_not_missed_and_a_lost_one_is_named_once(mirror):
    mirror.fill()
    elsewhere = {"call_key": "elsewhere"}
    answer = {"status": "answered", "call_key": "nowhere", "answer": "A lighthouse."}
    put(
        mirror.warehouse,
        {
            "release.turns": [elsewhere],
            "release.references": [{**elsewhere, "kind": "answer"}],
            "evaluate.answers": [answer],
            "evaluate.judgments": [{"call_key": "e", "answer_call_key": "nowhere"}],
        },
    )

    evaluation = check(mirror.run(), "ledger/calls", "calls_known")

    shown = {name: entry.value for name, entry in evaluation.metadata.items()}
    tables = {"evaluate.answers": 1, "evaluate.judgments": 1}
    assert shown == {"unknown": 1, **tables, "first of them": ["nowhere"]}
    assert "The ledger lacks 1 call of" in (said := evaluation.description or "")
    assert "(nowhere):" in said


def test_every_table_that_names_a_call_is_asked_for_it() -> None:
    asked = set(re.findall(r"call_key FROM (\w+\.\w+)", sql_text("ledger/unknown_calls")))
    # What repeats the calls of other tables, or of another workspace's.
    releases = {"release.turns", "release.references"}
    views = {"evaluate.provenance", "evaluate.observations"}
    losses = {
        f"{stage}.failed" for stage in ("dialogue", "rewrite", "choice", "quality", "evaluate")
    }
    naming = {
        table
        for table, columns in declared_columns().items()
        if any(name.endswith("call_key") for name, _, _ in columns)
    }
    shown = {table for table in naming if table.startswith("evaluate.shown_")}
    assert asked == naming - views - shown - losses - releases
