"""A reply that cannot be read is asked for again, twice at most, and each asking is kept."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from methods.prompts.messages import Message
from methods.prompts.parsing import parse_numbered
from resources.llm.ledger import Ledger
from resources.llm.parsed_reply import ParsedReply, complete_and_parse
from resources.llm.re_ask import ReAskError, re_ask
from resources.llm.registry import Registry, load_registry
from resources.llm.request import ChatRequest
from tests.doubles.openai_api import ScriptedApi
from tests.resources.llm.entries import charges_of, gateway_of

REQUEST = ChatRequest("m", (Message.from_text("user", "Ask two questions."),), "test/q@1")


@pytest.fixture
def writer(api: ScriptedApi) -> ScriptedApi:
    api.says("Q1: Why?\nQ2: How?")
    return api


Ask = Callable[..., ParsedReply[list[str]]]


@pytest.fixture
def ask(tmp_path: Path, writer: ScriptedApi) -> Ask:
    def asked(request: ChatRequest = REQUEST) -> ParsedReply[list[str]]:
        gateway = gateway_of(tmp_path, {"m": {"base_url": writer.url}})

        async def read(session, request):
            return await complete_and_parse(
                session, request, lambda reply: parse_numbered(reply, "Q", 2)
            )

        (reply,), _ = gateway.map("s", [request], read)
        return reply

    return asked


def calls(tmp_path: Path) -> dict[str, str]:
    """Prompt version -> key of every call in the ledger, in the order they were made."""
    ledger = Ledger(tmp_path / "ledger.sqlite")
    return {call.prompt_version: call.key for call in ledger}


def test_a_reply_that_cannot_is_asked_for_again_with_what_is_wrong_with_it(ask, writer, tmp_path):
    writer.says("Q1: Why?", "Q1: Why?\nQ2: How?")

    reply = ask()

    assert reply.value == ["Why?", "How?"]
    first, second = (sent["messages"][-1]["content"] for sent in writer.received)
    assert second.startswith(f"{first}\n\nAgain:")
    assert "Expected Q1 to Q2, the reply has Q1." in second
    # A row of its own, and what was read names the call that it was read from.
    kept = calls(tmp_path)
    (repaired,) = kept.keys() - {"test/q@1"}
    assert repaired.startswith("test/q@1+repair@") and kept[repaired] == reply.key
    assert ask() == reply and len(writer.received) == 2, "never again"


def test_after_two_repairs_it_is_lost_and_all_three_calls_are_kept(ask, writer, tmp_path):
    cold = replace(REQUEST, params={"temperature": 0.0, "max_tokens": 50})
    writer.says("no", "no again", "never")

    reply = ask(cold)

    assert reply.value is None and reply.loss is not None
    assert reply.loss[0] == "wrong_numbering"
    assert [len(sent["messages"]) for sent in writer.received] == [1, 1, 1]
    # A model that repeats itself is asked more warmly, and without its reply.
    assert [sent["temperature"] for sent in writer.received] == [0.0, 0.4, 0.8]
    assert all("no again" not in str(sent["messages"]) for sent in writer.received)
    ledger = Ledger(tmp_path / "ledger.sqlite")
    assert {call.response for call in ledger} == {"no", "no again", "never"}
    assert ledger.find([reply.key])[reply.key].text == "never"


def test_what_could_not_be_read_is_asked_again_when_somebody_says_so_and_nothing_else(
    ask, writer, tmp_path
):
    ledger = Ledger(tmp_path / "ledger.sqlite")

    def registry() -> Registry:
        return load_registry(tmp_path / "models.yaml")

    good = replace(REQUEST, prompt_version="test/q@2")
    assert ask(good).value == ["Why?", "How?"]
    with pytest.raises(ReAskError, match="no such answer that could not be read"):
        re_ask(ledger, registry(), None, "s", None, unread=True)
    # The first of them has been given.
    writer.says("", "no", "no again", "never", "Q1: Who?\nQ2: Where?")
    assert ask().loss and ask().loss and ledger.count_unread() == {"s": 1}
    sent = len(writer.received)

    told, stages = re_ask(ledger, registry(), "m", "s", "test/q@1", unread=True)
    assert stages == ["s"]

    assert told.startswith("1 answer that could not be read is asked for again")
    assert ask(good).value == ["Why?", "How?"] and len(writer.received) == sent
    assert ask().value == ["Who?", "Where?"] and len(writer.received) == sent + 1
    # Paid for all the same, and kept as what they were.
    (charge,) = charges_of(ledger)
    assert (charge.response, charge.outcome) == ("no", "unread")
    ledger.close()


def test_a_reply_whose_repair_was_cut_off_could_not_be_read(ask, writer, tmp_path):
    writer.answers("length", content="Q1: Wh")
    cut_off = writer._replies
    writer.says("no")
    writer._replies += cut_off
    assert ask().loss[0] == "truncated"

    # The next run has both from the ledger.
    assert ask().loss[0] == "truncated" and len(writer.received) == 2
    ledger = Ledger(tmp_path / "ledger.sqlite")
    re_ask(ledger, load_registry(tmp_path / "models.yaml"), "m", None, None, unread=True)
    ledger.close()
    writer.says("", "", "Q1: Who?\nQ2: Where?")
    assert ask().value == ["Who?", "Where?"]


def test_a_reply_that_a_later_parser_reads_is_not_asked_again(ask, writer, tmp_path, monkeypatch):
    writer.says("Warum? Wie?")
    assert ask().value is None
    ledger = Ledger(tmp_path / "ledger.sqlite")
    assert ledger.count_unread() == {"s": 1}
    monkeypatch.setitem(globals(), "parse_numbered", lambda reply, letter, n: reply.split())

    assert ask().value == ["Warum?", "Wie?"]

    assert ledger.count_unread() == {} and len(writer.received) == 3
    ledger.close()


def test_a_call_that_fails_is_not_repaired(ask, writer):
    writer.says(None)

    reply = ask()

    assert reply.loss == ("empty", "Empty answer, finished by stop.")
    assert len(writer.received) == 1
