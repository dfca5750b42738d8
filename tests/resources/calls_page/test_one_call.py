"""One call over HTTP: what was asked with its pictures, what came, which rows were made; two calls."""

import re
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from resources.images.store import ImageStore
from resources.llm.ledger import Call
from resources.warehouse import Warehouse, declared_columns, sql_text
from resources.web.addresses import CALLS
from tests.assets.filled import put
from tests.doubles.one_colour import one_colour
from tests.resources.calls_page.ledgers import ask, call, charge, keep, page, request_of, words
from tests.resources.page_outline import outline

pytestmark = pytest.mark.slow

HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(2)></p></main><b>bold</b>{{ 7 * 7 }}"
    "\u202eback\u2066\x00\x07\x1b[31m\ufeff &lt;i&gt; "
)


def stored(home: Path, colour: str) -> str:
    return ImageStore(home / "images").put(one_colour(colour, (640, 400))).image_id


def test_each_kind_of_call_is_shown_with_all_that_is_known_of_it_and_two_side_by_side(
    home: Path, port: int, golden: Callable[[str, str], None]
) -> None:
    one = call(
        7,
        "A red ground, and a tower.",
        request_of("What is seen here?", schema={"type": "object"}, max_side=1024, replicate=2),
        reasoning="It is red, so I say so.",
        via="batch",
        attempts=3,
    )
    odd = {"answered_as": "gpt-4o-mini<b>", "claimed_tokens": 2**31 - 1}
    hotter = {**request_of("What is heard here?"), "params": {"temperature": 1.0}}
    two = call(2, "A blue ground, and a tower.", hotter, model="eyes-2", **odd)
    cut_off = {"outcome": "reasoning_only", "finish_reason": "length", "reasoning": "thinking on"}
    none = call(3, "", **cut_off)
    lost = charge(1, "The provider's filter withheld the answer.", "half a", reasoning="why not")
    empty = {"request": lost.request, "outcome": "empty"}
    others = [charge(number, "Empty answer.", **empty, **odd) for number in (2, 3)]
    keep(home, one, two, none, lost, *others)
    row = {"set_id": "set-1", "question_id": "q000", "call_key": one.key}
    put(Warehouse(home / "warehouse.duckdb"), {"dialogue.answers": [row]})
    before = (home / "warehouse.duckdb").read_bytes()
    # A key without an answer is that of the newest loss.
    pages = [f"/{one.key}", f"/{two.key}", f"/{none.key}", f"/{lost.key}-1", f"/{lost.key}"]
    sources = [ask(port, f"{CALLS}{name}")[1] for name in (*pages, f"?a={one.key}&b={two.key}")]
    golden("calls/one_call.txt", "\n\n".join(map(outline, sources)))
    assert (home / "warehouse.duckdb").read_bytes() == before
    marked = [re.findall(rf"<{tag}>([a-z]+)</{tag}>", sources[-1]) for tag in ("del", "ins")]
    assert marked == [["red", "seen"], ["blue", "heard"]], "of words that both have none"
    assert ask(port, f"{CALLS}/{lost.key}-4")[0].status == 404


def test_pictures_stand_in_their_place_and_one_that_is_missing_or_damaged_is_said(
    home: Path, port: int
) -> None:
    red, blue = stored(home, "red"), stored(home, "blue")
    ImageStore(home / "images").path(blue).write_bytes(b"\x89PNG no more")
    gone = "f" * 64
    pictures = [{"image": image_id} for image_id in (red, blue, gone, "../../etc/passwd")]
    one = call(1, request=request_of("First:", pictures[0], "Second:", *pictures[1:]))
    keep(home, one)
    _, source = ask(port, f"{CALLS}/{one.key}")
    assert (
        f"First: {red[:8]} Second: {blue[:8]} cannot be read: its file is damaged "
        f"{gone[:8]} is not in the image store any more" in words(source)
    )
    assert source.count('<img src="data:image/jpeg;base64,') == 1


def test_a_request_of_another_form_is_shown_as_it_is(home: Path, port: int) -> None:
    parts = [{"role": 1, "parts": [1, {"x": []}, None]}]
    for messages in (None, "text", {"role": "user"}, [1, None], parts, [{}]):
        one = call(1, request={**request_of("x"), "messages": messages, "params": [1]})
        keep(home, one)
        assert "params [1]" in page(port, f"{CALLS}/{one.key}")
        assert ask(port, f"{CALLS}?a={one.key}&b={one.key}")[0].status == 200
    assert ask(port, f"{CALLS}?text=zebra")[0].status == 200


def test_hostile_text_is_shown_as_text_wherever_it_stands(home: Path, port: int) -> None:
    fields = dict.fromkeys(("model", "endpoint", "stage", "run", "finish_reason", "via"), HOSTILE)
    one = call(
        1,
        HOSTILE,
        {
            **request_of(HOSTILE, {"image": HOSTILE}, {HOSTILE: HOSTILE}),
            "params": {HOSTILE: HOSTILE},
            "schema": {HOSTILE: HOSTILE},
            HOSTILE: HOSTILE,
        },
        reasoning=HOSTILE,
        **fields,
        prompt_version=HOSTILE,
        provider=HOSTILE,
    )
    two = charge(2, HOSTILE, HOSTILE, outcome=HOSTILE, **fields)
    keep(home, one, two)
    for path in (
        CALLS,
        f"{CALLS}?a={one.key}",
        f"{CALLS}/{one.key}",
        f"{CALLS}/{two.key}",
        f"{CALLS}?a={one.key}&b={two.key}-1",
    ):
        answer, source = ask(port, path)
        assert answer.status == 200
        assert "<script" not in source and "<b>" not in source and "onerror=alert(2)>" not in source
        assert "49" not in words(source).split()
        shown = source.partition("<main")[2]
        # What acts without being seen is named where a text is shown.
        assert "U+202E" in shown and "U+0007" in shown and "U+001B" in shown
        assert "\x07" not in words(source) and "\x1b" not in words(source)


def test_a_reply_and_a_request_of_five_megabytes_are_cut_and_are_there_as_text(
    home: Path, port: int
) -> None:
    request = request_of("x" * 5_000_000)
    one = call(1, "word " * 1_000_000, request, reasoning="w" * 5_000_000)
    keep(home, one)
    answer, source = ask(port, f"{CALLS}/{one.key}")
    assert answer.status == 200
    assert len(source) < 450_000
    for of in ("reply", "reasoning", "message"):
        assert f"4,900,000 more characters of the {of}" in source
    for of, whole in (("reply", one.response), ("reasoning", one.reasoning)):
        assert f'<a href="{CALLS}/{one.key}/{of}">All of it, as text</a>' in source
        answer, text = ask(port, f"{CALLS}/{one.key}/{of}")
        assert (answer.getheader("content-type"), text) == ("text/plain; charset=utf-8", whole)
    # Without the style of the page.
    assert len(ask(port, CALLS)[1].partition("<main")[2]) < 20_000
    # The whole text is shown as text, if any is.
    lost = charge(1, "Withheld.", HOSTILE)
    keep(home, lost)
    answer, text = ask(port, f"{CALLS}/{lost.key}-1/reply")
    assert (answer.status, text) == (200, HOSTILE)
    assert answer.getheader("x-content-type-options") == "nosniff"
    for nothing in (f"{lost.key}/reply", f"{lost.key}-1/reasoning", f"{'0' * 64}/reply"):
        assert ask(port, f"{CALLS}/{nothing}")[0].status == 404


def test_tables_that_are_being_written_of_another_version_or_damaged_are_one_sentence(
    home: Path, port: int
) -> None:
    one = call(1)
    keep(home, one)
    warehouse = Warehouse(home / "warehouse.duckdb")
    warehouse.check()
    with duckdb.connect(home / "warehouse.duckdb"):
        text = page(port, f"{CALLS}/{one.key}")
    assert "The tables are being written at the moment: look again" in text
    with warehouse.database.locked():
        assert "The tables are being written" in page(port, f"{CALLS}/{one.key}")
    with duckdb.connect(home / "warehouse.duckdb") as connection:
        connection.execute("UPDATE main.schema_version SET version = 999")
    assert "has version 999 and this version of vlm-loom knows" in page(port, f"{CALLS}/{one.key}")
    (home / "warehouse.duckdb").write_bytes(b"no database" * 1000)
    assert "is not a DuckDB file, or is damaged" in page(port, f"{CALLS}/{one.key}")


def test_every_table_that_names_calls_is_asked() -> None:
    asked = sql_text("ledger/rows_of_call")
    naming = {
        (table, column)
        for table, columns in declared_columns().items()
        for column, _, _ in columns
        # Observations are made of rows that name the same calls; views show rows of the tables.
        if column.endswith("call_key")
        and not table.startswith(("ledger.", "evaluate.shown_"))
        and table != "evaluate.observations"
    } - {("evaluate.provenance", f"{of}_call_key") for of in _OF_PROVENANCE}
    assert naming
    for table, column in naming:
        assert f"FROM {table} WHERE {column} = $key" in asked


_OF_PROVENANCE = ("answer", "extractor", "judge", "question", "reference")
"""A view of the other tables."""


def test_choosing_two_calls_keeps_the_filter_and_needs_no_script(home: Path, port: int) -> None:
    one, two = call(1), call(2)
    keep(home, one, two)
    _, first = ask(port, f"{CALLS}?stage=dialogue.answers")
    assert f"{CALLS}?stage=dialogue.answers&amp;a={one.key}" in first
    _, second = ask(port, f"{CALLS}?stage=dialogue.answers&a={one.key}")
    assert "Choose the call to compare with" in second
    assert f"&amp;a={one.key}&amp;b={two.key}" in second


def test_texts_of_any_form_are_compared_as_far_as_that_is_quick(home: Path, port: int) -> None:
    def compared(one: Call, two: Call) -> str:
        keep(home, one, two)
        return page(port, f"{CALLS}?a={one.key}&b={two.key}")

    for number, before, after in (
        (1, "a b " * 50_000, "b a " * 50_000),
        (3, "word " * 1_000_000, "word" * 1_000_000),
    ):
        text = compared(call(number, before), call(number + 1, after))
        assert "more characters are not compared here." in text

    def asked(word: str) -> dict[str, object]:
        return {
            **request_of("x"),
            "messages": [{"role": "user", "parts": [f"{word} " * 3000]} for _ in range(20)],
        }

    text = compared(call(5, request=asked("one")), call(6, request=asked("two")))
    assert "Too much text to compare word by word" in text
