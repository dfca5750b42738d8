"""A request's key: the same question is the same key, any other question another."""

import json
from dataclasses import replace

import pytest

from methods.ids import canonical_json
from methods.prompts.messages import Image, Message, Text
from resources.llm.request import ChatRequest, request_key
from tests.resources.llm.entries import spec_of

RED, BLUE = "a" * 64, "b" * 64
REQUEST = ChatRequest(
    model="careful",
    messages=(
        Message.from_text("system", "Role: expert."),
        Message("user", (Text("Look:"), Image(RED), Text("and"), Image(BLUE), Text("Which?"))),
    ),
    prompt_version="mmdu/answers@12345678",
    params={"temperature": 0.0, "max_tokens": 100},
)


def key(request: ChatRequest = REQUEST, **entry) -> str:
    return request_key(request.canonical(spec_of(**{"model": "gpt", **entry})))


def with_user_parts(*parts) -> ChatRequest:
    return replace(REQUEST, messages=(REQUEST.messages[0], Message("user", parts)))


def test_a_key_is_the_same_in_every_run_whatever_the_entrys_name_and_the_order_of_parameters():
    assert key() == "fa9ec6389f47a65724bf7934cae770cab27632abfeb5799d0447dfd0b5de61f5"
    backwards = dict(reversed(REQUEST.params.items()))
    assert key(replace(REQUEST, model="another name for it", params=backwards)) == key()


SYSTEM, USER = REQUEST.messages
PARTS = USER.parts
OTHERS: dict[str, ChatRequest] = {
    "prompt version": replace(REQUEST, prompt_version="mmdu/answers@87654321"),
    "parameter's value": replace(REQUEST, params={"temperature": 0.1, "max_tokens": 100}),
    "parameter less": replace(REQUEST, params={"temperature": 0.0}),
    "order of messages": replace(REQUEST, messages=(USER, SYSTEM)),
    "message less": replace(REQUEST, messages=(USER,)),
    "role": replace(REQUEST, messages=(Message.from_text("user", "Role: expert."), USER)),
    "text": with_user_parts(*PARTS[:-1], Text("Where?")),
    "image": with_user_parts(*PARTS[:3], Image(RED), Text("Which?")),
    "order of images": with_user_parts(PARTS[0], Image(BLUE), PARTS[2], Image(RED), PARTS[4]),
    "place of an image": with_user_parts(PARTS[1], PARTS[0], *PARTS[2:]),
    "replicate": replace(REQUEST, replicate=1),
    "text like an image": with_user_parts(PARTS[0], Text(RED), PARTS[2], Text(BLUE), PARTS[4]),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_another_question_has_another_key(other):
    assert key(other) != key()


ROUTED = {"extra_headers": {"X-Route": "blue"}}


@pytest.mark.parametrize(
    "entry",
    [
        *({"model": "gpt-mini"}, {"provider": "mock"}, {"base_url": "http://two/v1"}),
        *({"base_url": "http://one/v1?deployment=A"}, {"identity": "another"}, ROUTED),
        *({"temperature": 0.7}, {"temperature": "none"}, {"top_p": 0.5}, {"seed": 1}),
        *({"stop": ["END"]}, {"reasoning": "low"}, {"extra_body": {"top_k": 5}}),
        {"token_limit": {"tokens": 99}},
    ],
    ids=str,
)
def test_whatever_makes_the_answer_is_part_of_the_key(entry):
    assert key(**{"base_url": "http://one/v1", **entry}) != key(base_url="http://one/v1")


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ({"identity": "int4"}, {"identity": "int4", "base_url": "http://two/v1"}),
        ({"base_url": "http://u:p@one/v1?key=k"}, {}),
        (ROUTED, {"extra_headers": {"x-route": "blue"}}),
        # An identity says who answers.
        (ROUTED, {"identity": "http://one/v1 (x-route: blue)"}),
        # Who asks is no route, nor is a secret.
        ({"extra_headers": {"User-Agent": "us"}}, {}),
        ({"extra_headers": {"X-Title": "t", "X-Api-Key": "k3y"}}, {}),
        # How and at what price it is asked.
        ({"mode": "batch", "concurrency": 2, "price": {"prompt": 1}, "timeouts": {"whole": 9}}, {}),
    ],
)
def test_whatever_does_not_make_the_answer_is_no_part_of_the_key(one, two):
    server = {"base_url": "http://one/v1"}
    assert key(**{**server, **one}) == key(**{**server, **two})


def test_a_variable_that_points_elsewhere_is_another_server(monkeypatch):
    keys = set()
    for url in ("http://one/v1", "http://two/v1"):
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        keys.add(key())
    assert len(keys) == 2


@pytest.mark.parametrize("entry", [{"max_side": 512}, {"detail": "low"}, {"detail": "high"}])
def test_the_size_and_the_detail_of_images_are_part_of_the_question_where_there_are_images(entry):
    assert key(**entry) != key()
    text_alone = with_user_parts(Text("Which?"))
    assert key(text_alone, **entry) == key(text_alone)


def test_a_schema_is_part_of_the_question_where_the_endpoint_is_held_to_it():
    shaped = replace(REQUEST, schema={"type": "object"})

    assert key(shaped, structured_output=True) != key(REQUEST, structured_output=True)
    assert key(shaped) == key(), "an endpoint that is not given it is asked the same"


def test_a_canonical_request_holds_images_by_their_hash_and_survives_json():
    canonical = REQUEST.canonical(spec_of(model="gpt"))

    assert canonical["messages"][1] == {
        "role": "user",
        "parts": ["Look:", {"image": RED}, "and", {"image": BLUE}, "Which?"],
    }
    back = json.loads(canonical_json(canonical))
    assert back == canonical and request_key(back) == key()
    assert "base64" not in canonical_json(canonical)
    with pytest.raises(ValueError):
        key(replace(REQUEST, params={"temperature": float("nan")}))
