"""The list of model calls over HTTP: order, pages, filters, and what it says where there is nothing."""

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from urllib.parse import urlencode

import pytest
from sqlalchemy import Connection

from resources.llm.ledger import Ledger, reading
from resources.llm.ledger.file import LEDGER
from resources.stores import look
from resources.warehouse import Warehouse
from resources.web.addresses import CALLS, calls_of
from tests.assets.filled import put
from tests.resources.calls_page.ledgers import ask, at, call, charge, keep, page, request_of, words
from tests.resources.page_outline import outline

pytestmark = pytest.mark.slow


def listed(port: int, **asked: object) -> list[str]:
    answer, text = ask(port, f"{CALLS}?{urlencode(asked)}" if asked else CALLS)
    assert answer.status == 200
    return [each.strip() for each in re.findall(r'<td class="words" dir="auto">(.*?)</td>', text)]


def test_calls_and_charges_stand_together_the_newest_first_under_labels_of_models(
    home: Path, port: int, golden: Callable[[str, str], None]
) -> None:
    keep(
        home,
        call(60, "", reasoning="Thinking of it.", outcome="reasoning_only"),
        call(62, "A red ground.\n\nAnd more."),
        charge(61, "Empty.", "second", outcome="empty"),
        charge(63, "The filter withheld it."),
        call(1),
    )
    answers = [
        {
            **{"model": name, "release_id": release_id, "item_id": "i", "turn": 1},
            **{"call_key": key, "settings": [("model", "eyes-1"), ("temperature", temperature)]},
            "status": "refused",
        }
        for release_id, name, key, temperature in (
            ("r", "cold", call(1).key, "0"),
            ("r", "warm", "other", "0.7"),
            # On another release it was asked otherwise, by another call.
            ("s", "cold", "later", "0.3"),
            ("s", "warm", "last", "0.7"),
        )
    ]
    put(Warehouse(home / "warehouse.duckdb"), {"evaluate.answers": answers})
    golden("calls/list.txt", outline(ask(port, CALLS)[1]))


@pytest.mark.parametrize("jumps", [1, 37], ids=["a clock that goes on", "a clock that jumps"])
def test_pages_follow_each_other_and_no_call_is_on_two_of_them(
    home: Path, port: int, jumps: int
) -> None:
    times = [{"created_at": at(number * jumps % 120)} for number in range(120)]
    ledger = Ledger(home / "ledger.sqlite")
    ledger.add([call(number, f"reply {number}", **times[number]) for number in range(120)])
    ledger.add(
        [charge(number, "Lost.", f"lost {number}", **times[number]) for number in range(0, 120, 10)]
    )
    ledger.close()
    seen, address = list[str](), CALLS
    while address:
        _, text = ask(port, address)
        seen += re.findall(r"(?:reply|lost) \d+", text)
        older = re.search(r'rel="next" href="([^"]+)"', text)
        address = older[1].replace("&amp;", "&") if older else ""
        # A call that comes meanwhile is above what was read.
        keep(home, call(200 + len(seen), "came meanwhile"))
    assert len(seen) == len(set(seen)) == 132


def test_how_many_rows_a_page_looks_at_is_bounded_and_said(
    home: Path, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "LOOKED_THROUGH_FOR_TEXT", 30)
    keep(home, *(call(number, f"reply {number}") for number in range(70)))
    text = page(port, f"{CALLS}?text=reply+7")
    assert "No call fits." in text
    assert "0 shown; looked through 30 calls, back to 2026-03-01 00:40:00" in text
    _, source = ask(port, f"{CALLS}?text=reply+7")
    for _ in range(2):
        (older,) = re.findall(r'rel="next" href="([^"]+)"', source)
        _, source = ask(port, older.replace("&amp;", "&"))
    assert "reply 7" in source
    assert 'rel="next"' not in source
    # Without a text the same page looks further.
    assert "looked through" not in page(port, f"{CALLS}?stage=dialogue.answers")
    monkeypatch.setattr(reading, "LOOKED_FOR_SECONDS", -1.0)
    assert "looked through 1 call, back to 2026-03-01 01:09:00" in page(
        port, f"{CALLS}?text=reply+7"
    )


def test_each_filter_lets_through_what_it_says(home: Path, port: int) -> None:
    keep(
        home,
        call(1, "judged", stage="evaluate.judgments", run="run-two"),
        call(2, "other model", model="eyes-2"),
        call(3, "elsewhere", endpoint="https://elsewhere.example/v1"),
        call(4, "dear", cost_usd=0.5),
        call(5, "cut off", outcome="truncated", finish_reason="length"),
        charge(6, "Lost.", "lost words"),
    )
    for name, value, reply in (
        ("stage", "evaluate.judgments", "judged"),
        ("model", "eyes-2", "other model"),
        ("endpoint", "https://elsewhere.example/v1", "elsewhere"),
        ("cost", "0.5", "dear"),
        ("run", "run-t", "judged"),  # the beginning of a run's id is enough
        ("outcome", "truncated", "cut off"),
    ):
        assert listed(port, **{name: value}) == [reply]
    assert len(listed(port, outcome="refused")) == 1
    assert len(listed(port, outcome="lost")) == 2, "every outcome but an answer"
    assert listed(port, stage="evaluate.judgments", model="eyes-2") == []
    assert ask(port, calls_of("evaluate.judgments"))[0].status == 200


def test_a_text_is_found_in_replies_reasonings_details_and_requests(home: Path, port: int) -> None:
    keep(
        home,
        call(1, "The LIGHTHOUSE stands."),
        call(2, "no", reasoning="a lighthouse, I think"),
        call(3, "asked", request=request_of('Is the "Lighthouse"\nred?')),
        charge(4, "The lighthouse was withheld."),
        call(5, "nothing of it"),
        call(6, "Älteste Mühle"),
    )
    assert len(listed(port, text="lighthouse")) == 4
    assert listed(port, text='"lighthouse"\nred') == ["asked"]
    assert listed(port, text="ÄLTESTE mühle") == ["Älteste Mühle"]
    # The names of a request's fields are no text of it.
    assert listed(port, text="parts") == []


def test_values_of_the_newest_calls_are_offered_and_a_filter_stays_in_the_form(
    home: Path, port: int
) -> None:
    keep(home, call(1), call(2, model="eyes-2", request=request_of("two")))
    _, text = ask(port, f"{CALLS}?model=eyes-2&text=%22%3E%3Cb%3E&cost=0.001")
    assert '<option value="eyes-1"></option><option value="eyes-2"></option>' in text
    assert 'value="eyes-2" list="names-model"' in text
    assert 'value="&#34;&gt;&lt;b&gt;"' in text
    assert 'name="cost" value="0.001"' in text


def test_a_bad_parameter_is_one_sentence(home: Path, port: int) -> None:
    keep(home, call(1))
    for asked, sentence in (
        ("cost=much", "The cost much is not an amount of US dollars. Example: 0.01."),
        ("cost=nan", "The cost nan is not an amount of US dollars"),
        ("cost=-1", "The cost -1 is not an amount of US dollars"),
        ("outcome=good", "There is no outcome good: it is one of answered, unread, refused,"),
        ("before=1", "before=1 is not a place in the list"),
        ("before=9" * 30, "is not a place in the list"),
        ("a=1", "The first call '1' is not a key of the ledger"),
        ("b=%3Cscript%3E", "The second call '<script>' is not a key of the ledger"),
        ("text=" + "x" * 501, "text has 501 characters: 500 may be given."),
        ("stage=" + "%F0" * 501, "stage has"),
    ):
        answer, text = ask(port, f"{CALLS}?{asked}")
        assert answer.status == 400
        assert sentence in words(text)
    # A strange one is no error.
    for asked in (
        *("stage=%00", "text=%ff%fe", "text=%25%5f%27", "before=.", "before=999999999999999999.1"),
        *("cost=1e300", "unknown=1&stage=a&stage=b", "run=%ed%a0%80", "=", "&&&"),
    ):
        assert ask(port, f"{CALLS}?{asked}")[0].status == 200, asked


def test_without_a_ledger_the_page_says_so_and_makes_none(home: Path, port: int) -> None:
    # The root of the pages leads to the calls.
    for path in ("/loom", "/loom/"):
        answer, _ = ask(port, path)
        assert (answer.status, answer.headers["location"]) == (307, CALLS)
    answer, text = ask(port, CALLS)
    assert answer.status == 503
    assert "There is no ledger" in text and "yet: the first call to a model makes it" in text
    assert list(home.iterdir()) == []
    keep(home, call(1, "it is here now"))
    assert listed(port) == ["it is here now"]
    # A damaged one is one sentence.
    (home / "ledger.sqlite").write_bytes(b"no database at all" * 100)
    answer, text = ask(port, CALLS)
    assert answer.status == 503
    assert "file is not a database" in text and "vlm-loom workspace restore" in text


def test_what_a_run_commits_is_listed_while_it_has_the_ledger_open_and_no_file_changes(
    home: Path, port: int
) -> None:
    ledger = Ledger(home / "ledger.sqlite")
    ledger.add([call(1, "before")])
    assert listed(port) == ["before"]
    with closing(sqlite3.connect(home / "ledger.sqlite", isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("UPDATE calls SET response = 'half done'")
        assert listed(port) == ["before"], "who writes is not waited for"
        writer.execute("ROLLBACK")
    ledger.add([call(2, "meanwhile")])
    assert listed(port) == ["meanwhile", "before"]
    ledger.close()
    # Reading makes and changes no file.
    before = {path.name: path.read_bytes() for path in home.iterdir()}
    for path in (CALLS, f"{CALLS}?text=before", f"{CALLS}/{call(1).key}"):
        assert ask(port, path)[0].status == 200
    assert {path.name: path.read_bytes() for path in home.iterdir()} == before


def test_a_ledger_that_is_written_while_it_is_looked_at_is_looked_at_again(home: Path) -> None:
    keep(home, call(1, "before"))
    found = list[list[str]]()

    def replies(connection: Connection) -> list[str]:
        found.append(list(connection.exec_driver_sql("SELECT response FROM calls").scalars()))
        if len(found) == 1:
            keep(home, call(2, "meanwhile"))
        return found[-1]

    assert look(LEDGER, home / "ledger.sqlite", replies) == ["before", "meanwhile"]
    assert len(found) == 2


def test_every_page_comes_with_the_policy(home: Path, port: int) -> None:
    keep(home, call(1))
    for path in (CALLS, f"{CALLS}/{'0' * 64}", f"{CALLS}?cost=x"):
        answer, text = ask(port, path)
        policy = (answer.getheader("content-security-policy") or "").split("; ")
        assert "default-src 'none'" in policy
        assert "form-action 'self'" in policy
        assert "sandbox allow-popups allow-popups-to-escape-sandbox allow-forms" in policy
        assert not [part for part in policy if part.startswith(("script-src", "connect-src"))]
        assert answer.getheader("x-content-type-options") == "nosniff"
        assert "<script" not in text
