"""A damaged, deleted or later ledger: one sentence, before money is spent or before more is."""

import shutil
import sqlite3
import zlib
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from resources.llm.ledger import Ledger
from resources.llm.ledger.batch_state import BatchState
from resources.llm.ledger.check import check_all, require_sound
from resources.llm.ledger.file import CALLS
from resources.llm.ledger.ledger import ReAskDecision
from resources.migrations import StoreError
from tests.doubles.openai_api import Api, serving
from tests.resources.llm.damaged_ledgers import HARMS, entry, fill
from tests.resources.llm.entries import BATCH_ITEM, call, gateway_of, questions

CONCURRENCY = 4


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LOOM_WORKSPACE", str(tmp_path))
    return tmp_path / "ledger.sqlite"


def ask_over(path: Path, n: int, at_20: Callable[[], object] = lambda: None) -> tuple[str, int]:
    """The sentence that `n` requests end with, and how many were sent, the 20th of which is noticed."""
    heard: list[str] = []

    def hear(_key: str, text: str) -> None:
        heard.append(text)
        if len(heard) == 20:
            at_20()

    def ask() -> None:
        with closing(gateway_of(path.parent, {"it": entry})) as gateway:
            gateway.ask("s", questions(n))

    with serving(Api(heard=hear)) as url:
        entry = {"base_url": url, "concurrency": CONCURRENCY}
        return refused(path, ask), len(heard)


def refused(path: Path, ask: Callable[[], object]) -> str:
    with pytest.raises(StoreError) as caught:
        ask()
    said = str(caught.value)
    assert said.startswith(f"{path} ") and said.endswith(".") and "\n" not in said
    return said


@pytest.mark.parametrize("harm", HARMS)
def test_a_damaged_ledger_is_refused_with_advice_and_the_whole_check_names_what_is_wrong(
    harm, path
):
    fill(path)
    require_sound(path)
    assert check_all(path) == (102, 18, [])
    HARMS[harm](path)

    said = refused(path, lambda: require_sound(path))
    assert "restore a backup (vlm-loom workspace restore)" in said
    findings = check_all(path)
    assert findings.wrong and all("\n" not in each for each in findings.wrong)
    assert ask_over(path, 1)[1] == 0, "refused before a request is sent"


def test_a_sound_ledger_that_a_killed_process_left_is_used(path):
    fill(path, 20)
    writer = Ledger(path)
    writer.add([call(1000)])
    killed = path.parent / "killed" / "ledger.sqlite"
    killed.parent.mkdir()
    for end in ("", "-wal"):
        shutil.copyfile(f"{path}{end}", f"{killed}{end}")
    writer.close()

    require_sound(killed)

    assert check_all(killed) == (18, 3, [])


def _replace(path: Path) -> None:
    path.with_name("other.sqlite").replace(path)


@pytest.mark.parametrize("harm", [Path.unlink, _replace], ids=["deleted", "replaced"])
def test_a_ledger_that_is_taken_away_ends_the_stage_before_the_next_request(harm, path):
    fill(path.with_name("other.sqlite"), 3)
    other = path.with_name("other.sqlite").read_bytes()

    said, n_sent = ask_over(path, 400, lambda: harm(path))

    assert "was deleted or replaced while it was in use" in said
    # What was being sent at that moment still arrives.
    assert n_sent <= 20 + 2 * CONCURRENCY
    assert path.read_bytes() == other if harm is _replace else not path.exists()


def test_a_deleted_ledger_is_noticed_by_who_opens_another_connection(path):
    ledger = Ledger(path)
    ledger.close()
    path.unlink()

    refused(path, lambda: len(ledger))

    assert not path.exists()


def test_an_answer_that_can_never_be_kept_stops_all_requests(path):
    def drop() -> None:
        with closing(sqlite3.connect(path, timeout=60)) as connection:
            connection.execute("ALTER TABLE charges RENAME TO other")
            connection.execute("ALTER TABLE calls RENAME TO others")

    said, n_sent = ask_over(path, 400, drop)

    assert "is damaged (no such table" in said
    assert n_sent <= 20 + 3 * CONCURRENCY


@pytest.mark.parametrize("statement", ["integrity_check", 'FROM "calls"'])
def test_a_full_disk_is_not_taken_for_damage(path, monkeypatch, statement):
    """Restoring a backup, which is the advice for a damaged ledger, would lose paid answers."""
    fill(path)
    full = sqlite3.OperationalError("disk I/O error")
    full.sqlite_errorcode = sqlite3.SQLITE_IOERR_SHMSIZE

    class OnFullDisk(sqlite3.Connection):
        def execute(self, sql: str, *parameters: object) -> sqlite3.Cursor:
            if statement in sql:
                raise full
            return super().execute(sql, *parameters)

    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=OnFullDisk))
    with pytest.raises(StoreError, match=r"cannot be read \(disk I/O error\)"):
        check_all(path)


@pytest.mark.parametrize(
    ("change", "column"),
    [
        ("request = x'00'", "request"),
        ("response = CAST(x'fffea5a5' AS TEXT)", "response"),
        ("reasoning = CAST(x'a5a5' AS TEXT)", "reasoning"),
        ("cost_usd = 'abc'", "cost_usd"),
    ],
)
def test_a_value_that_is_none_of_its_column_is_found(path, change, column):
    fill(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"UPDATE calls SET {change} WHERE seq = 3")

    assert check_all(path).wrong == [f"row 3 of calls has a {column} that cannot be read"]
    if "TEXT" in change:
        undecodable = f"is damaged .Could not decode to UTF-8 column '{column}'."
        with pytest.raises(StoreError, match=undecodable):
            list(Ledger(path))


RE_ASK_ALL = ReAskDecision(None, None, None)


@pytest.mark.parametrize("content", [b"\0", zlib.compress(b"{"), zlib.compress(b"[]")])
@pytest.mark.parametrize(
    "read",
    [
        list,
        lambda ledger: list(ledger.calls([entry(1).key])),
        lambda ledger: ledger.forget_unread(RE_ASK_ALL),
        lambda ledger: BatchState(ledger).item(BATCH_ITEM.key),
        lambda ledger: BatchState(ledger).waiting(BATCH_ITEM.batch),
    ],
    ids=["all", "some", "unread", "batch item", "batch"],
)
def test_a_request_that_cannot_be_read_is_one_sentence_with_the_advice(path, content, read):
    fill(path)
    with closing(Ledger(path)) as ledger:
        BatchState(ledger).add_batch(BATCH_ITEM.batch, "it", [BATCH_ITEM])
        with closing(sqlite3.connect(path)) as connection, connection:
            for table in ("calls", "batch_items"):
                connection.execute(f"UPDATE {table} SET request = ?", [content])
            connection.execute("UPDATE calls SET outcome = 'unread'")

        said = refused(path, lambda: read(ledger))

    assert "is damaged (the request of the row " in said
    assert "cannot be read): restore a backup (vlm-loom workspace restore)" in said


@pytest.mark.slow
def test_a_request_that_cannot_be_read_on_a_server_has_the_advice_for_a_server(
    path, postgres, monkeypatch
):
    monkeypatch.setenv("LOOM_STORES", postgres.database())
    with closing(Ledger(path)) as ledger:
        ledger.add([entry(1)])
        with ledger._store.transaction() as connection:
            connection.execute(CALLS.update().values(request=b"\0"))

        with pytest.raises(StoreError, match="is damaged .*: restore it with pg_restore"):
            list(ledger)


def test_a_ledger_without_a_byte_is_no_new_one(path):
    fill(path)
    path.write_bytes(b"")

    with pytest.raises(StoreError, match="is empty, but it had content: restore a backup"):
        Ledger(path)
    assert path.read_bytes() == b""


def test_a_new_ledger_takes_nothing_that_a_deleted_one_left_beside_it(path):
    still_open = Ledger(path)
    assert len(still_open) == 0
    fill(path)
    path.unlink()
    assert path.with_name(f"{path.name}-wal").stat().st_size > 0

    with closing(Ledger(path)) as again:
        assert len(again) == 0
    assert check_all(path) == (0, 0, [])
    still_open.close()
