"""Errors in the words of llama.cpp, LiteLLM and other servers that people start themselves."""

import json
import re
from pathlib import Path

import pytest

from resources.llm.error_advice import advised
from resources.llm.error_kinds import kind_of, passes, refuses_schema
from resources.llm.model_spec import ModelSpec
from resources.llm.server_errors import ServerError, read_error

REPLIES = Path("../shared/data/real_replies/llama_server_replies.txt")
SPEC = ModelSpec.model_validate(
    {"name": "it", "provider": "openai", "model": "it-1", "api_key_env": "IT_KEY"}
)


def error_of(status: int, message: str, **fields: object) -> ServerError:
    return read_error(status, {"error": {"message": message, **fields}})


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "Failed to parse grammar"),
        (500, "Failed to parse grammar"),
        (400, "No parser. JSON schema conversion failed:\nError resolving ref #/x"),
        (400, "JSON schema conversion failed: Pattern must start with '^'"),
        (400, 'response_format type must be one of "text" or "json_object", but got: json_schema'),
        (400, "Unsupported JSON schema keyword: patternProperties"),
        (422, "guided_json is not supported: backend error"),
        (400, "Structured outputs are not supported for this model"),
    ],
)
def test_a_schema_that_is_refused_names_the_setting(status: int, message: str) -> None:
    error = error_of(status, message)

    assert refuses_schema(error) and kind_of(error) == "bad_parameter" and not passes(error)
    assert "set `structured_output: false` in the entry it" in advised(error, SPEC)


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "Unable to generate parser for this template."),
        (503, "Failed to parse grammar: the server is loading"),
        (400, "The picture shows a schema of a response."),
    ],
)
def test_other_errors_are_not_about_the_schema(status: int, message: str) -> None:
    assert not refuses_schema(error_of(status, message))


@pytest.mark.parametrize(
    ("status", "message", "kind", "advice"),
    [
        (
            400,
            "/chat/completions: Invalid model name passed in model=it-1. Call `/v1/models` to view available models for your key.",  # noqa: E501
            "bad_request",
            "The server does not know the model it-1",
        ),
        (
            400,
            "litellm.BadRequestError: LLM Provider NOT provided. You passed model=it-1",
            "bad_request",
            "The server does not know the model it-1",
        ),
        (
            404,
            "litellm.NotFoundError: OpenAIException - The model `x` does not exist.",
            "bad_request",
            "The server does not know the model it-1",
        ),
        (
            401,
            "Authentication Error, Invalid proxy server token passed. Key Hash (Token)=a",
            "auth",
            "set IT_KEY to a key that it accepts",
        ),
        (
            400,
            "Authentication Error, LiteLLM Virtual Key expected. Received=hello",
            "auth",
            "set IT_KEY to a key that it accepts",
        ),
        (
            401,
            "key not allowed to access model. This key can only access models=['a']",
            "auth",
            "The key may not use the model it-1",
        ),
        (
            400,
            "Budget has been exceeded! Current cost: 0.1, Max budget: 0.05",
            "auth",
            "no balance or quota left",
        ),
        (
            400,
            "Input length (9030) exceeds max_model_len (4096).",
            "too_long",
            "Set context_tokens",
        ),
        (
            400,
            "Input length 9030 exceeds model's maximum context length 4096.",
            "too_long",
            "Set context_tokens",
        ),
        (
            400,
            "Field 'temperature': [json.exception.type_error.302] type must be number",
            "bad_parameter",
            "set `temperature: none`",
        ),
    ],
)
def test_words_of_proxies_and_local_servers(
    status: int, message: str, kind: str, advice: str
) -> None:
    error = error_of(status, message)

    assert kind_of(error) == kind
    assert advice in advised(error, SPEC)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "404 page not found",
        {"detail": "Not Found"},
        {"error": {"message": "File Not Found", "type": "not_found_error"}},
        "<html><title>404 Not Found</title><h1>404 Not Found</h1><hr>nginx</html>",
        "Cannot POST /chat/completions",
    ],
)
def test_a_404_without_words_of_an_api_is_an_address_where_nothing_answers(body: object) -> None:
    assert advised(read_error(404, body), SPEC).startswith("Nothing answers at this address")


@pytest.mark.parametrize("body", ["The deployment blue was deleted", {"message": "No weights."}])
def test_a_404_with_a_message_is_shown_as_it_is(body: object) -> None:
    assert advised(read_error(404, body), SPEC) == ""


KINDS = {
    **{"image": "text_only", "bad image": "text_only", "too long": "too_long"},
    **dict.fromkeys(("bad schema", "schema pattern", "response_format unknown"), "bad_parameter"),
    **{"temperature text": "bad_parameter", "assistant twice": "bad_request"},
    "not json": "server_error",
}
"""Failure kinds of the odd requests whose answers of llama.cpp's server are in the samples."""


@pytest.mark.skipif(not REPLIES.exists(), reason="the shared samples are not here")
def test_what_the_server_of_llama_cpp_answers() -> None:
    lines = [re.match(r"(.{26}) (\d{3}) +\S+ (.*)", line) for line in REPLIES.open()]
    kinds = {
        line[1].strip(): kind_of(read_error(int(line[2]), json.loads(line[3])))
        for line in lines
        if line and int(line[2]) >= 400
    }
    assert kinds == KINDS
