"""What an error says to the user: the setting to change, and nothing secret."""

import pytest

from resources.llm.error_advice import advised
from resources.llm.error_kinds import kind_of, passes, refused_parameter, refuses_schema
from resources.llm.model_spec import ModelSpec
from resources.llm.server_errors import ServerError, read_error

NOT_TAKEN = "is not supported with this model."


def entry(**fields: object) -> ModelSpec:
    model = {"name": "it", "provider": "openai", "model": "it-1", "api_key_env": "IT_KEY"}
    return ModelSpec.model_validate({**model, **fields})


def error_of(message: str, status: int = 400, **fields: object) -> ServerError:
    return read_error(status, {"error": {"message": message, **fields}})


SMALLER = "set a smaller `token_limit: {tokens: ...}`"
FORBIDDEN_SEED = {"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"]}]}
REFUSED: dict[tuple[str, str], list[ServerError]] = {
    ("max_tokens", "set `token_limit: {name: max_completion_tokens}`"): [
        error_of(f"Unsupported parameter: 'max_tokens' {NOT_TAKEN}", param="max_tokens"),
    ],
    ("max_completion_tokens", "set `token_limit: {name: max_tokens}`"): [
        error_of("This is no field of mine", param="max_completion_tokens"),
    ],
    ("max_tokens", SMALLER): [
        error_of("max_tokens is too large: 32000. At most 16384.", param="max_tokens"),
        error_of("max_tokens: 99999 > 64000, which is the maximum allowed number of output tokens"),
        error_of("Range of max_tokens should be [1, 2048]"),
    ],
    ("max_tokens", "set `token_limit: {tokens: 1024}`"): [error_of("max_tokens: Field required")],
    ("temperature", "set `temperature: none`"): [
        error_of("'temperature' does not support 0 with this model.", param="temperature"),
        error_of("`temperature` is deprecated for this model."),
        error_of("`temperature` and `top_p` cannot both be specified for this model."),
        error_of("Input validation error: `temperature` must be strictly positive"),
        error_of("Field 'temperature': [json.exception.type_error.302] type must be number"),
    ],
    ("top_p", "leave out top_p"): [
        error_of(f"Unsupported parameter: 'top_p' {NOT_TAKEN}"),
        error_of("top_k must be -1 (disable), or at least 1, got 0. (parameter=top_p, value=0)"),
    ],
    ("seed", "leave out seed"): [
        error_of('Invalid JSON payload received. Unknown name "seed": Cannot find field.'),
        error_of("openai does not support parameters: ['seed'], for model=it."),
        read_error(400, {"message": FORBIDDEN_SEED}),
    ],
    ("stop", "leave out stop"): [
        error_of("cannot unmarshal number into Go struct field ChatCompletionRequest.stop of type"),
        error_of("Argument not supported on this model: stop"),
    ],
    ("reasoning_effort", "leave out reasoning"): [
        error_of("Unrecognized request argument supplied: reasoning_effort"),
        error_of('"llama3" does not support thinking'),
        error_of("invalid reasoning value: 'minimal' (must be \"high\")"),
        error_of("Budget 0 is invalid. This model only works in thinking mode."),
        error_of(
            "[{'type': 'literal_error', 'loc': ('body', 'reasoning_effort'), 'msg': 'Input'}]"
        ),
    ],
    ("top_k", "take top_k out of extra_body"): [
        error_of("Unknown parameter: 'top_k'.", code="unknown_parameter", param="top_k"),
        error_of("Extra inputs are not permitted, field: 'top_k', value: 5"),
    ],
    ("foo", "take foo out of extra_body"): [
        read_error(400, {"detail": [{"type": "extra_forbidden", "loc": ["body", "foo"]}]}),
    ],
}
"""By field and setting, what servers say of the field."""


@pytest.mark.parametrize(
    ("field", "setting", "error"),
    [(*named, error) for named, errors in REFUSED.items() for error in errors],
    ids=lambda value: value.message if isinstance(value, ServerError) else "",
)
def test_a_refused_field_is_named_with_the_setting_to_change(
    field: str, setting: str, error: ServerError
) -> None:
    assert (kind_of(error), refused_parameter(error)) == ("bad_parameter", field)
    advice = advised(error, entry(extra_body={"top_k": 5}))
    assert advice.startswith(f"The server does not take {field} as it is sent: {setting}")
    assert "in the entry it of models.yaml" in advice
    assert not passes(error)


@pytest.mark.parametrize(
    "error",
    [
        error_of("Failed to parse grammar"),
        error_of("No parser. JSON schema conversion failed:\nError resolving ref #/x"),
        error_of('response_format type must be one of "text" or "json_object", but got: x'),
        error_of("Unsupported JSON schema keyword: patternProperties"),
        error_of("guided_json is not supported: backend error", 422),
        error_of("Structured outputs are not supported for this model"),
        error_of("Invalid parameter: 'response_format' of type 'json_schema' is not supported."),
        error_of("Invalid schema for response_format 'reply': In =()", param="response_format"),
        error_of("The provided JSON schema contains features not supported by xgrammar."),
        error_of("This response_format type is unavailable now"),
    ],
    ids=lambda error: error.message,
)
def test_a_schema_that_is_refused_names_the_setting(error: ServerError) -> None:
    assert refuses_schema(error) and kind_of(error) == "bad_parameter" and not passes(error)
    assert "set `structured_output: false` in the entry it" in advised(error, entry())


UNKNOWN = "The server does not know the model it-1: correct `model` in the entry it of models.yaml"
NOWHERE = "Nothing answers at this address: correct base_url, which often ends in /v1, in the entry"


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (error_of("The model `x` does not exist.", 404, code="model_not_found"), UNKNOWN),
        (error_of('model "it-1" not found, try pulling it first', 404), UNKNOWN),
        (error_of("models/it-1 is not found for API version v1main.", 404), UNKNOWN),
        (error_of("model: it-1", 404), UNKNOWN),
        (error_of("litellm.NotFoundError: The model `x` does not exist.", 404), UNKNOWN),
        (error_of("/chat/completions: Invalid model name passed in model=it-1."), UNKNOWN),
        (error_of("LLM Provider NOT provided. You passed model=it-1"), UNKNOWN),
        (error_of("Authentication Error, Invalid proxy server token passed.", 401), "set IT_KEY to"),
        (error_of("key not allowed to access model.", 401), "The key may not use the model it-1"),
        (error_of("Budget has been exceeded! Current cost: 0.1"), "no balance or quota left"),
        (error_of("Input length (9030) exceeds max_model_len (4096)."), "Set context_tokens"),
        (error_of("image exceeds 5 MB maximum: 6500712 bytes > 5242880"), "Set a smaller max_side"),
        (error_of("At most 3 image(s) may be provided."), "Set `max_images: 3`, and `many_images:"),
        (error_of("At most 0 image(s) may be provided."), "for it-1: set `max_images: 0`"),
        (read_error(404, "404 page not found"), NOWHERE),
        (read_error(404, {"detail": "Not Found"}), NOWHERE),
        (error_of("File Not Found", 404, type="not_found_error"), NOWHERE),
        (read_error(404, "<html><title>404 Not Found</title><h1>404 Not Found</h1></html>"), NOWHERE),
        (read_error(404, "Cannot POST /chat/completions"), NOWHERE),
    ],
    ids=lambda value: value.message if isinstance(value, ServerError) else "",
)  # fmt: skip
def test_other_errors_name_what_to_change(error: ServerError, advice: str) -> None:
    assert advice in advised(error, entry())


@pytest.mark.parametrize(
    "error",
    [
        read_error(404, "The deployment blue was deleted"),
        read_error(404, {"message": "No weights."}),
        error_of("Invalid value.", code="invalid_value", param="messages[1].content"),
        read_error(400, None),
    ],
)
def test_an_error_about_the_request_itself_has_no_advice(error: ServerError) -> None:
    assert kind_of(error) == "bad_request"
    assert advised(error, entry()) == ""


def test_no_part_of_a_key_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    key = "sk-0123456789abcdef" * 3
    monkeypatch.setenv("IT_KEY", key)

    advice = advised(error_of(f"max_tokens: Field required\n for {key}"), entry())
    assert "***" in advice and "\n" not in advice
    # Nor is a part of it taken for the name of a field.
    assert "0123" not in advice + advised(error_of(f"Unknown parameter: '{key}'"), entry())
