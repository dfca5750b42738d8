"""Replies are held to a JSON schema where the server can; one that refuses it is asked without it."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from methods.prompts.messages import Message
from resources.llm.canary import FIRST_RESULTS, Canary
from resources.llm.request import ChatRequest, Completion, Failure
from tests.doubles.odd_api import Asked, answering
from tests.resources.llm.entries import spec_of
from tests.resources.llm.loopback import gateway_of

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
REQUESTS = [
    ChatRequest("it", (Message.from_text("user", f"Question {number}?"),), "q@1", schema=SCHEMA)
    for number in range(12)
]


@pytest.mark.parametrize(
    ("fields", "is_sent"),
    [
        ({}, True),
        ({"structured_output": False}, False),
        ({"structured_output": True, "reasoning": "low"}, True),
        ({"reasoning": "low"}, False),
        ({"mode": "batch"}, False),
        ({"provider": "mock"}, False),
    ],
)
def test_the_schema_is_sent_unless_it_may_do_harm(fields: dict, is_sent: bool) -> None:
    assert spec_of(**fields).sends_schema() is is_sent
    # Answers of entries that do not say are found under their earlier keys.
    silent, off = (spec_of(structured_output=value) for value in (None, False))
    assert REQUESTS[0].canonical(silent) == REQUESTS[0].canonical(off)


def refuses(asked: Asked, part: bytes, status: int = 400) -> None:
    """Refuses the schema of requests in which this stands."""
    if part in asked.body:
        asked.send(b'{"error": {"message": "Failed to parse grammar"}}', status)
    else:
        asked.says()


def test_a_refused_schema_costs_one_more_request_and_is_counted(tmp_path: Path) -> None:
    with answering(partial(refuses, part=b"json_schema", status=500)) as api:
        gateway = gateway_of(tmp_path, {"it": {"base_url": api.url, "concurrency": 1}})
        (first,), _ = gateway.ask("s", REQUESTS[:1])
        outcomes, usage = gateway.ask("s", REQUESTS)
        n_received = len(api.received)

    assert isinstance(first, Completion)
    assert all(isinstance(each, Completion) for each in outcomes)
    # The first one twice; then each once without the schema, but for the first, which is cached.
    assert n_received == 2 + 11
    assert usage.without_schema == 11 and usage.sent_again == 0
    refused = "answers without a JSON schema, which the server refused"
    assert usage.metadata()[refused] == 11


def test_another_schema_is_tried_by_itself(tmp_path: Path) -> None:
    odd = replace(REQUESTS[0], schema={"type": "string", "pattern": "a"})
    with answering(partial(refuses, part=b"pattern")) as api:
        gateway = gateway_of(tmp_path, {"it": {"base_url": api.url, "concurrency": 1}})
        gateway.ask("s", [odd])
        _, usage = gateway.ask("s", REQUESTS[1:2])
        last = api.received[-1].body

    assert usage.without_schema == 0 and b"json_schema" in last


def test_an_entry_that_wants_schemas_is_told_of_the_refusal(tmp_path: Path) -> None:
    with answering(partial(refuses, part=b"json_schema")) as api:
        models = {"it": {"base_url": api.url, "structured_output": True}}
        gateway = gateway_of(tmp_path, models)
        (outcome,), _ = gateway.map("s", REQUESTS[:1], lambda calls, each: calls.outcome_of(each))

    assert isinstance(outcome, Failure) and outcome.kind == "bad_parameter"
    assert "set `structured_output: false`" in outcome.detail


@pytest.mark.parametrize(("structured", "is_named"), [(False, True), (True, False)])
def test_a_stage_that_is_lost_to_unparseable_replies_names_the_setting(
    structured: bool, is_named: bool
) -> None:
    trial = Canary("s", spec_of(structured_output=structured))
    for _ in range(FIRST_RESULTS):
        trial.add(("wrong_numbering", "Q2 is missing."))

    assert trial.given_up is not None
    assert ("structured_output: true" in trial.given_up) is is_named
