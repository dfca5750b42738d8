"""Whose answer it is: two servers never share answers, and what is re-asked is asked once more."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from methods.errors import UserError
from methods.prompts.messages import Message
from resources.llm.ledger import ReAskDecision
from resources.llm.re_ask import re_ask
from resources.llm.request import ChatRequest, Completion
from tests.doubles.openai_api import ScriptedApi, scripted
from tests.resources.llm.entries import AskingGateway, gateway_of

NORTH = Message.from_text("user", "Which way is north?")


@pytest.fixture
def one(api: ScriptedApi) -> ScriptedApi:
    api.answers(content="Of one.")
    return api


@pytest.fixture
def two() -> Iterator[ScriptedApi]:
    with scripted() as api:
        api.answers(content="Of two.")
        yield api


def gateway(folder: Path, one: str, two: str, **of_two: object) -> AskingGateway:
    entry = {"model": "shared"}
    return gateway_of(
        folder, {"one": {**entry, "base_url": one}, "two": {**entry, "base_url": two, **of_two}}
    )


def question(model: str = "one", **fields: Any) -> ChatRequest:
    return ChatRequest(model, (NORTH,), "test/question@1", {"temperature": 0.0}, **fields)


def texts(gateway: AskingGateway, *requests: ChatRequest, stage: str = "s") -> list[str]:
    outcomes, _ = gateway.ask(stage, requests)
    assert all(isinstance(outcome, Completion) for outcome in outcomes), outcomes
    return [outcome.text for outcome in outcomes if isinstance(outcome, Completion)]


BLUE = {"extra_headers": {"X-Route": "blue"}}


def test_two_servers_with_a_model_of_one_name_give_their_own_answers(tmp_path, one, two):
    asked = gateway(tmp_path, one.url, f"{two.url}?deployment=A&key=k1", **BLUE)

    assert texts(asked, question("one"), question("two")) == ["Of one.", "Of two."]
    assert {call.endpoint: call.response for call in asked.ledger} == {
        one.url: "Of one.",
        f"{two.url}?deployment=A (x-route: blue)": "Of two.",
    }


def test_what_is_asked_anew_is_asked_once_more_and_nothing_is_lost(tmp_path, one):
    one.says("First.", "Second.")
    asked = gateway(tmp_path, one.url, one.url)
    assert texts(asked, question(), stage="evaluate.answers") == ["First."]

    told, stages = re_ask(asked.ledger, asked.registry, "one", "evaluate/answers", None)
    assert stages == ["evaluate.answers"]

    assert told.startswith("1 answer is asked for again")
    for _ in range(2):
        assert texts(asked, question(), stage="evaluate.answers") == ["Second."]
    # Another stage is not covered, and an entry of another name for the same server and model is.
    assert texts(asked, question(), stage="dialogue.answers") == ["First."]
    assert texts(asked, question("two"), stage="evaluate.answers") == ["Second."]
    assert sorted(call.response for call in asked.ledger) == ["First.", "Second."]


@pytest.mark.parametrize(
    ("renewal", "covered"),
    [
        (ReAskDecision("m", None, None), True),
        (ReAskDecision("n", None, None), False),
        (ReAskDecision(None, "s", None), True),
        (ReAskDecision(None, None, "mmdu/judge"), True),
        (ReAskDecision(None, None, "mmdu/judge@2"), False),
        (ReAskDecision("m", "s", "mmdu/judge"), True),
        (ReAskDecision("m", "t", "mmdu/judge"), False),
    ],
)
def test_a_renewal_covers_what_fits_all_that_it_names(renewal, covered):
    assert renewal.covers("m", "s", "mmdu/judge@1") is covered


def test_only_answers_of_the_server_that_an_entry_names_are_asked_anew(tmp_path, one, two):
    asked = gateway(tmp_path, one.url, two.url)
    texts(asked, question("one"))

    with pytest.raises(
        UserError, match="The ledger has no answer of the model .* shared; the nearest is"
    ):
        re_ask(asked.ledger, asked.registry, "two", None, None)

    texts(asked, question("two"))
    assert re_ask(asked.ledger, asked.registry, "two", None, None)[0].startswith("1 answer is")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((None, None, None), "Nothing is selected. Pass --model, --stage or --prompt."),
        (("one", None, "mmdu/judge"), "prompt mmdu/judge; there are test/question, test/question@1."),
        ((None, "t", None), "The ledger has no answer of the stage t; there is s."),
        (("three", None, None), "There is no model 'three' in models.yaml; there are one, two."),
    ],
)  # fmt: skip
def test_what_would_ask_nothing_anew_is_refused_with_what_there_is(tmp_path, one, given, said):
    asked = gateway(tmp_path, one.url, one.url)
    texts(asked, question())

    with pytest.raises(UserError) as refused:
        re_ask(asked.ledger, asked.registry, *given)  # type: ignore[arg-type]

    assert said in str(refused.value)
    assert asked.ledger.renewals() == []
