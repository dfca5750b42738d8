"""A field that a server refuses gives its model up at once, live and in batches, with the setting."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from resources.llm.batches import read_results
from resources.llm.canary import ModelGivenUp
from resources.llm.gateway import Gateway
from resources.llm.ledger.batch_state import BatchItem, BatchState
from resources.llm.model_calls import ModelCalls
from resources.llm.model_spec import ModelSpec
from resources.llm.request import Failure, request_key
from tests.doubles.openai_api import ScriptedApi, scripted
from tests.resources.llm.loopback import gateway_of, questions


def spec_of(**fields: object) -> ModelSpec:
    return ModelSpec.model_validate({"name": "it", "provider": "openai", "model": "it-1", **fields})


def error(message: str, code: str, param: str) -> dict:
    return {"error": {"message": message, "type": "error", "param": param, "code": code}}


@pytest.fixture
def api() -> Iterator[ScriptedApi]:
    with scripted() as running:
        yield running


def gateway(folder: Path, url: str) -> Gateway:
    return gateway_of(folder, {"it": {"base_url": url}, "other": {"base_url": url, "model": "it"}})


def test_a_refused_field_gives_the_model_up_at_its_first_result(tmp_path, api):
    said = "Unsupported value: 'temperature' does not support 0 with this model."
    api.refuses(said, 400, param="temperature", code="unsupported_value")

    with pytest.raises(ModelGivenUp) as caught:
        gateway(tmp_path, api.url).ask("s", questions(50, temperature=0))

    assert str(caught.value) == (
        "s stopped asking it: The server does not take temperature as it is sent: set `temperature: "
        f"none` in the entry it of models.yaml (it says: {said.rstrip('.')})."
    )
    # Those that were in flight, and none of the others.
    assert len(api.received) <= 20


def test_where_models_are_asked_apart_it_ends_its_own_requests_only(tmp_path, api):
    api.refuses("max_tokens: Field required", 400)

    asked = [*questions(50, temperature=0), *questions(50, "other", temperature=0)]
    outcomes, _ = gateway(tmp_path, api.url).map(
        "s", asked, ModelCalls.complete, apart=lambda each: each.model
    )

    kinds = [each.kind for each in outcomes if isinstance(each, Failure)]
    assert set(kinds) == {"bad_parameter", "given_up"} and len(kinds) == 100


def test_a_field_refused_in_a_batch_is_told_once_and_the_requests_may_be_sent_anew(tmp_path):
    opened = gateway(tmp_path, "http://127.0.0.1:9/v1")
    opened.registry.models["it"] = spec_of(base_url="http://127.0.0.1:9/v1", mode="batch")
    spec = opened.registry.models["it"]
    canonical = [request.canonical(spec) for request in questions(50, temperature=0)]
    items = {
        request_key(form): BatchItem(
            request_key(form), "b", 1, "waiting", None, None, "s", "r", "q@1", form
        )
        for form in canonical
    }
    said = "Unsupported value: 'temperature' does not support 0 with this model."
    answer = {"status_code": 400, "body": error(said, "unsupported_value", "temperature")}
    lines = [json.dumps({"custom_id": key, "response": answer}).encode() for key in items]
    state = BatchState(opened.ledger)
    state.add_batch("b", "it", list(items.values()))
    state.store_results("b", read_results(lines, items, spec))

    with pytest.raises(ModelGivenUp, match="set `temperature: none`"):
        opened.ask("s", questions(50, temperature=0))

    assert [state.item(key) for key in items] == [None] * 50
