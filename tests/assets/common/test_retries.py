"""What may be lost, and which failures are tried again: those that may pass, where nobody looks on."""

import ast
import errno
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import dagster as dg
import psycopg2
import pytest

from assets.common import failures
from assets.common.drops import FAILED_CALLS, is_retry_worthwhile, require_few_lost
from assets.common.failures import MAX_RETRIES, RETRY_SECONDS, StoreAway, plain_errors, unattended
from assets.common.isolation import Isolation
from assets.common.tables import SOURCES, table_asset
from methods.errors import PromptUnusable, UserError
from methods.prompts.prompt_template import TemplateError
from resources.files.home import REPO_ROOT, reports_path
from resources.llm.canary import ModelGivenUp, PromptGivenUp
from resources.llm.model_calls import BatchPending, WaitingForBatch
from resources.migrations import StoreError
from resources.warehouse import Warehouse
from resources.warehouse.lake_connection import LakeLost

DOWN = "The server is down: run this again later."


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The process of a launched run, which does not wait."""
    monkeypatch.setattr(failures, "RETRY_SECONDS", 0)
    unattended.set()
    yield
    unattended.clear()


def made(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    raised: Callable[[], BaseException],
    times: int,
    table: str = "ledger.costs",
) -> tuple[dg.ExecuteInProcessResult, int]:
    """A step that raises so many times, run; how often it was begun."""
    begun = []
    monkeypatch.setitem(SOURCES, table, SOURCES.get(table))

    def flaky(warehouse: dg.ResourceParam[Warehouse]) -> dg.MaterializeResult:
        """Rows of a server that is down now and then."""
        begun.append(1)
        if len(begun) <= times:
            raise raised()
        return dg.MaterializeResult()

    result = dg.materialize(
        [table_asset(table)(flaky)],
        resources={"warehouse": Warehouse(tmp_path / "warehouse.duckdb")},
        raise_on_error=False,
    )
    return result, len(begun)


def passing() -> Exception:
    return ModelGivenUp(DOWN, passing=True)


@pytest.mark.usefixtures("launched")
def test_a_passing_failure_is_tried_again_until_it_has_passed(tmp_path, monkeypatch):
    result, n_begun = made(tmp_path, monkeypatch, passing, times=2)
    assert result.success
    assert n_begun == 3
    assert [event.event_type_value for event in result.all_events].count("STEP_UP_FOR_RETRY") == 2


@pytest.mark.usefixtures("launched")
@pytest.mark.parametrize(("n_retries", "seconds"), [(0, 60), (1, 120)])
def test_a_retry_waits_a_minute_and_the_next_one_two(monkeypatch, n_retries, seconds):
    monkeypatch.setattr(failures, "RETRY_SECONDS", RETRY_SECONDS)
    step = SimpleNamespace(op_execution_context=SimpleNamespace(retry_number=n_retries))
    with pytest.raises(dg.RetryRequested) as raised, failures.retry_transient_failures(step):
        raise dg.Failure(DOWN)
    assert raised.value.seconds_to_wait == seconds


@pytest.mark.usefixtures("launched")
def test_retries_are_bounded_and_the_last_failure_says_its_sentence(tmp_path, monkeypatch):
    result, n_begun = made(tmp_path, monkeypatch, passing, times=99)
    assert not result.success
    assert n_begun == MAX_RETRIES + 1
    (failure,) = [event for event in result.all_events if event.is_step_failure]
    assert failure.step_failure_data.user_failure_data.description == DOWN
    assert failure.step_failure_data.error.cause is None, "no traceback of the code that raised it"


@pytest.mark.usefixtures("launched")
@pytest.mark.parametrize(
    "raised",
    [
        lambda: UserError("The setting is wrong: correct it."),
        lambda: ModelGivenUp("The replies cannot be read: correct the prompt."),
        lambda: dg.Failure("Too many were lost.", allow_retries=False),
        lambda: WaitingForBatch("It waits for a batch."),
        lambda: ZeroDivisionError("a mistake in the code"),
        # Ctrl-C, SIGTERM and Terminate in the UI.
        KeyboardInterrupt,
    ],
)
def test_what_stays_wrong_is_not_tried_again(tmp_path, monkeypatch, raised):
    result, n_begun = made(tmp_path, monkeypatch, raised, times=99)
    assert not result.success
    assert n_begun == 1


@pytest.mark.usefixtures("launched")
def test_a_step_that_fails_by_itself_is_tried_again_before_it_is_lost(tmp_path, monkeypatch):
    warehouse = Warehouse(tmp_path / "warehouse.duckdb")
    result, n_begun = made(tmp_path, monkeypatch, passing, 1, "evaluate.provenance")
    assert result.success and n_begun == 2
    assert warehouse.count("evaluate.not_made") == 0
    result, n_begun = made(tmp_path, monkeypatch, passing, 99, "evaluate.provenance")
    assert result.success and n_begun == MAX_RETRIES + 1
    assert warehouse.count("evaluate.not_made") == 1


def test_dagsters_database_that_is_away_is_tried_again_and_is_no_fault_of_code(monkeypatch):
    monkeypatch.setenv("LOOM_STORES", "postgresql://loom@127.0.0.1/loom")
    error = RuntimeError("too many retries for DB connection")
    error.__cause__ = psycopg2.OperationalError("connection refused")
    isolation = Isolation("evaluate.scores")
    for block in (isolation.release("one"), isolation.step(retried=False)):
        with pytest.raises(RuntimeError), block:
            raise error
    # Nor is a full disk.
    with pytest.raises(OSError, match="No space"), isolation.step(retried=False):
        raise OSError(errno.ENOSPC, "No space")
    with pytest.raises(StoreAway) as raised, plain_errors():
        raise error
    assert raised.value.allow_retries and raised.value.description == (
        "The database of LOOM_STORES cannot be used (connection refused): start its server, or correct "
        "the address."
    )


@pytest.mark.parametrize(
    ("lost", "worth"),
    [
        ({"unreachable": 10}, True),
        ({"timeout": 3, "unread": 5}, True),
        # Five of a hundred may be lost, six were for good.
        ({"timeout": 3, "unread": 6}, False),
        ({"unread": 10}, False),
        ({"auth": 10}, False),
        # Not sent any more to a server that was down; to one whose replies could not be read.
        ({"server_error": 20, "given_up": 80}, True),
        ({"unread": 20, "given_up": 80}, False),
        ({}, False),
    ],
)
def test_losses_are_worth_a_retry_if_few_would_be_left(lost: dict[str, int], worth: bool) -> None:
    assert is_retry_worthwhile(Counter(lost), 100, 0.05) is worth


def test_a_package_of_an_extra_that_is_not_installed_is_one_sentence() -> None:
    with pytest.raises(dg.Failure) as raised, failures.plain_errors():
        raise ImportError("no model") from ModuleNotFoundError("torch", name="torch.nn")
    assert 'run `pip install "vlm-loom[build]"`' in str(raised.value.description)
    with pytest.raises(ModuleNotFoundError), failures.plain_errors():
        raise ModuleNotFoundError("other", name="other")


def test_every_failure_says_whether_it_may_pass() -> None:
    """Dagster takes a failure that says nothing for one that may."""
    silent = []
    for folder in ("assets", "dagster_project", "extras"):
        for path in (REPO_ROOT / folder).rglob("*.py"):
            for call in ast.walk(ast.parse(path.read_text())):
                if not isinstance(call, ast.Call) or ast.unparse(call.func) != "dg.Failure":
                    continue
                if "allow_retries" not in {each.arg for each in call.keywords}:
                    silent.append(f"{path.name}: {ast.unparse(call)[:60]}")
    assert silent == []


@pytest.mark.parametrize(
    ("lost", "n_all", "max_share"),
    [
        # A fifth of five is one.
        ({"truncated": 1}, 5, 0.2),
        # 29 of a hundred are 0.29, though 0.29 * 100 is less than 29 for a computer.
        ({"truncated": 20, "missing": 9}, 100, 0.29),
        ({"truncated": 5}, 5, 1.0),
        ({}, 5, 0.0),
        ({}, 0, 0.2),
    ],
    ids=["a fifth", "29 of 100", "all, if all may be", "none", "none of none"],
)
def test_as_much_as_the_limit_may_be_lost(lost, n_all, max_share):
    require_few_lost("birds.owls", "images", lost, n_all, max_share)


def test_the_failure_says_of_what_how_much_why_and_what_may_be() -> None:
    with pytest.raises(dg.Failure) as raised:
        lost = {"missing": 1, "truncated": 3, "empty": 1}
        require_few_lost("birds.owls", "images", lost, 10, 0.2)
    assert raised.value.description == (
        "birds.owls keeps its earlier rows: 5 of 10 images were lost (3 truncated, 1 empty, "
        f"1 missing), and at most 20% may be. {FAILED_CALLS}"
    )
    shown = {name: entry.value for name, entry in raised.value.metadata.items()}
    assert (shown["lost"], shown["of"], shown["limit"]) == (5, 10, 0.2)
    rows = shown["reasons"].splitlines()[2:]
    assert rows == ["| truncated | 3 |", "| empty | 1 |", "| missing | 1 |"]
    # Another attempt would lose the same.
    assert not raised.value.allow_retries


@pytest.mark.parametrize(
    ("error", "kept", "kept_while_asking"),
    [
        (ZeroDivisionError(), True, True),
        (PromptUnusable("It cannot be read."), True, True),
        # A benchmark's own fault, or its prompt's.
        (KeyError("no such label"), True, True),
        (TemplateError("The prompt toy/extract cannot be filled in."), True, True),
        (PromptGivenUp("It stopped asking judge with the prompt mmdu/judge."), True, True),
        # What ends the calls of all releases: a ledger, a key, a budget, a server.
        (StoreError("The ledger is damaged."), True, False),
        (UserError("The key was refused."), True, False),
        (ModelGivenUp("It stopped asking judge."), True, False),
        # What is no failure.
        (WaitingForBatch("It waits."), False, False),
        (BatchPending(), False, False),
        # What is so of all releases: it is said once.
        (OSError(errno.ENOSPC, "No space"), False, False),
        (LakeLost("The catalogue of the lake does not answer."), False, False),
        (OSError(errno.EROFS, "Read-only file system", str(reports_path())), False, False),
    ],
)
def test_what_one_release_may_keep_from_the_others(error, kept, kept_while_asking):
    for asking, is_kept in ((False, kept), (True, kept_while_asking)):
        isolation = Isolation("evaluate.scores")
        try:
            with isolation.release("one", asking=asking):
                raise error
        except type(error):
            assert not is_kept and isolation.lost == {}
        else:
            assert is_kept and list(isolation.lost) == ["one"]
        with isolation.release("another"):
            pass
        assert "another" not in isolation.lost
