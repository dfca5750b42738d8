"""The mock server keeps the form that a request asks for: token limit, JSON schema, context."""

import json
from typing import Any

import pytest

from methods.mmdu.judging import GRADES_SCHEMA, parse_grades
from methods.prompts.parsing import numbered_schema, object_schema, parse_numbered
from resources.llm.error_kinds import kind_of
from resources.llm.server_errors import read_error
from resources.mock_server.chat_completion import chat_body
from resources.mock_server.chat_request import BadRequest
from tests.resources.mock_server.mock_drawings import (
    draw,
    labelled_parts,
    prompt_messages,
    text_part,
)

PICTURES = [draw("red", "white"), draw("blue", "yellow")]
QUESTIONS = (
    "<questions>\nQ1: Describe <image-1>.\nQ2: Compare <image-1> and <image-2>.\n</questions>"
)


def asked(task: str, context: int = 128_000, **more: Any) -> dict:
    said = {
        "answers": "<question>Compare <image-1> and <image-2>.</question>",
        "unseen": QUESTIONS,
        "judge": "<question>What is it?</question>\n<reference>Red.</reference>\n"
        "<answer>It is red, and round.</answer>",
    }.get(task, "")
    messages = prompt_messages(
        "Write exactly 2 questions.", [*labelled_parts(PICTURES), text_part(said)]
    )
    payload = {"model": "offline-writer", "messages": messages, "metadata": {"task": task}, **more}
    return chat_body(payload, context)


def text_of(body: dict) -> str:
    return body["choices"][0]["message"]["content"]


def held_to(schema: object) -> dict[str, object]:
    shape = {"name": "reply", "schema": schema, "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": shape}}


# --- The token limit -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_a_reply_ends_at_the_limit_and_says_so(name: str) -> None:
    whole = asked("answers")
    used = whole["usage"]["completion_tokens"]
    short = asked("answers", **{name: 20})

    assert whole["choices"][0]["finish_reason"] == "stop"
    assert short["choices"][0]["finish_reason"] == "length"
    # Four characters are a token.
    assert text_of(short) == text_of(whole)[:80]
    assert short["usage"]["completion_tokens"] == 20
    assert short["usage"]["total_tokens"] == short["usage"]["prompt_tokens"] + 20
    assert text_of(asked("answers", **{name: used})) == text_of(whole), "a limit that is enough"


@pytest.mark.parametrize("limit", [0, -1, 2.5, "many", True])
def test_a_limit_that_is_none_is_refused(limit: object) -> None:
    with pytest.raises(BadRequest, match="max_tokens"):
        asked("answers", max_tokens=limit)


# --- The schema ----------------------------------------------------------------------------------


def test_what_a_task_says_is_the_schemas_object() -> None:
    for task, letter in (("questions", "Q"), ("unseen", "A")):
        plain = text_of(asked(task))
        structured = text_of(asked(task, **held_to(numbered_schema(letter, 2))))

        assert list(json.loads(structured)) == [f"{letter}1", f"{letter}2"]
        texts = parse_numbered(plain, letter, 2)
        assert parse_numbered(structured, letter, 2) == texts, "the same texts in another form"
    grades = text_of(asked("judge", **held_to(GRADES_SCHEMA)))
    assert list(json.loads(grades)) == list(GRADES_SCHEMA["properties"])
    assert parse_grades(grades) == parse_grades(text_of(asked("judge")))


def test_a_schema_that_no_task_fills_is_refused_by_name() -> None:
    with pytest.raises(BadRequest, match="fills no schema with height"):
        asked("answers", **held_to(object_schema({"height": {"type": "integer"}})))
    with pytest.raises(BadRequest, match="must be that of an object"):
        asked("answers", **held_to({"type": "array"}))


# --- The context ---------------------------------------------------------------------------------


def test_a_prompt_that_is_too_long_is_refused_in_the_words_that_the_gateway_knows() -> None:
    used = asked("answers")["usage"]["prompt_tokens"]
    asked("answers", context=used + 100, max_tokens=100)

    with pytest.raises(BadRequest) as caught:
        asked("answers", context=used - 1)
    assert f"maximum context length is {used - 1} tokens" in str(caught.value)
    assert kind_of(read_error(400, caught.value.body())) == "too_long"

    with pytest.raises(
        BadRequest, match=rf"requested {used + 101} tokens \({used} in the messages"
    ):
        asked("answers", context=used + 100, max_tokens=101)
