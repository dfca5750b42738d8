"""What servers say in their errors, and what is made of it: a kind of failure, a setting to change."""

import pytest

from resources.llm.error_advice import advised
from resources.llm.error_kinds import kind_of, passes, refused_parameter
from resources.llm.model_spec import ModelSpec
from resources.llm.server_errors import read_error


def entry(**fields: object) -> ModelSpec:
    return ModelSpec.model_validate({"name": "it", "provider": "openai", "model": "it-1", **fields})


def openai(message: str, code: str | None = None, param: str | None = None) -> dict:
    return {
        "error": {
            "message": message,
            "type": "invalid_request_error",
            "param": param,
            "code": code,
        }
    }


def vllm(message: str) -> dict:
    return {"error": {"message": message, "type": "BadRequestError", "param": None, "code": 400}}


def flat(message: str) -> dict:
    return {"object": "error", "message": message, "type": "BadRequestError", "code": 400}


def google(message: str, status: str = "INVALID_ARGUMENT", **details: object) -> list:
    return [{"error": {"code": 400, "message": message, "status": status, **details}}]


def quota(of: str) -> list:
    return google(
        "You exceeded your current quota, please check your plan and billing details.",
        "RESOURCE_EXHAUSTED",
        details=[{"violations": [{"quotaId": f"GenerateRequestsPer{of}PerProjectPerModel"}]}],
    )


# The prompt is too long


@pytest.mark.parametrize(
    "body",
    [
        openai("Too long.", "context_length_exceeded", "messages"),
        openai("Your input exceeds the context window of this model. Please adjust your input."),
        openai("Invalid 'messages[0].content': string too long.", "string_above_max_length"),
        vllm(
            "This model's maximum context length is 4096 tokens. However, you requested 4472 tokens "
            "(376 in the messages, 4096 in the completion). Please reduce the length."
        ),
        vllm(
            "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context "
            "length is 4096 tokens and your request has 20 input tokens (4096 > 4096 - 20)."
        ),
        vllm("The decoder prompt (length 10127) is longer than the maximum model length of 8192."),
        vllm(
            "The prompt (total length 25938) is too long to fit into the model (context length 4)."
        ),
        vllm("max_tokens must be at least 1, got -186."),
        vllm("At most 1 image(s) may be provided in one prompt."),
        flat("The input (61709 tokens) is longer than the model's context length (40960 tokens)."),
        flat("Requested token count exceeds the model's maximum context length of 32768 tokens."),
        flat("Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens)."),
        {
            "error": "the request exceeds the available context size. try increasing the context size"
        },
        google(
            "The input token count (134123) exceeds the maximum number of tokens allowed (131072)."
        ),
        openai("prompt is too long: 213462 tokens > 200000 maximum"),
        openai("input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"),
    ],
)
def test_what_does_not_fit_into_the_context_is_too_long(body):
    error = read_error(400, body)

    assert kind_of(error) == "too_long"
    assert not passes(error)


# A field is refused

NOT_TAKEN = "is not supported with this model."


@pytest.mark.parametrize(
    ("body", "field", "setting"),
    [
        (
            openai(f"Unsupported parameter: 'max_tokens' {NOT_TAKEN}", "unsupported_parameter", "max_tokens"),  # noqa: E501
            "max_tokens",
            "set `token_limit: {name: max_completion_tokens}`",
        ),
        (
            openai("'max_completion_tokens' is no field of mine", "unknown_parameter", "max_completion_tokens"),  # noqa: E501
            "max_completion_tokens",
            "set `token_limit: {name: max_tokens}`",
        ),
        (
            openai("max_tokens is too large: 32000. This model supports at most 16384.", None, "max_tokens"),  # noqa: E501
            "max_tokens",
            "set a smaller `token_limit: {tokens: ...}`",
        ),
        (
            openai("max_tokens: 99999 > 64000, which is the maximum allowed number of output tokens"),
            "max_tokens",
            "set a smaller `token_limit: {tokens: ...}`",
        ),
        (openai("max_tokens: Field required"), "max_tokens", "set `token_limit: {tokens: 1024}`"),
        (
            openai("Unsupported value: 'temperature' does not support 0 with this model.", "unsupported_value", "temperature"),  # noqa: E501
            "temperature",
            "set `temperature: none`",
        ),
        (openai("`temperature` is deprecated for this model."), "temperature", "set `temperature: none`"),  # noqa: E501
        (
            openai("`temperature` and `top_p` cannot both be specified for this model."),
            "temperature",
            "set `temperature: none`",
        ),
        (openai(f"Unsupported parameter: 'top_p' {NOT_TAKEN}"), "top_p", "leave out top_p"),
        (google('Invalid JSON payload received. Unknown name "seed": Cannot find field.'), "seed", "leave out seed"),  # noqa: E501
        (
            vllm("json: cannot unmarshal number into Go struct field ChatCompletionRequest.stop of type"),  # noqa: E501
            "stop",
            "leave out stop",
        ),
        (openai("Unrecognized request argument supplied: reasoning_effort"), "reasoning_effort", "leave out reasoning"),  # noqa: E501
        (openai('"llama3" does not support thinking'), "reasoning_effort", "leave out reasoning"),
        (openai("invalid reasoning value: 'minimal' (must be \"high\")"), "reasoning_effort", "leave out reasoning"),  # noqa: E501
        (google("Budget 0 is invalid. This model only works in thinking mode."), "reasoning_effort", "leave out reasoning"),  # noqa: E501
        (
            vllm("[{'type': 'literal_error', 'loc': ('body', 'reasoning_effort'), 'msg': 'Input'}]"),
            "reasoning_effort",
            "leave out reasoning",
        ),
        (
            openai("Invalid parameter: 'response_format' of type 'json_schema' is not supported."),
            "response_format",
            "set `structured_output: false`",
        ),
        (
            openai("Invalid schema for response_format 'reply': In context=()", None, "response_format"),  # noqa: E501
            "response_format",
            "set `structured_output: false`",
        ),
        (
            vllm("The provided JSON schema contains features not supported by xgrammar."),
            "response_format",
            "set `structured_output: false`",
        ),
        (vllm("top_k must be -1 (disable), or at least 1, got 0. (parameter=top_p, value=0)"), "top_p", "leave out top_p"),  # noqa: E501
        (openai("Unknown parameter: 'top_k'.", "unknown_parameter", "top_k"), "top_k", "take top_k out of extra_body"),  # noqa: E501
        (openai("This response_format type is unavailable now"), "response_format", "set `structured_output: false`"),  # noqa: E501
        (
            {"message": {"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"]}]}},
            "seed",
            "leave out seed",
        ),
        (openai("Argument not supported on this model: stop"), "stop", "leave out stop"),
        (openai("openai does not support parameters: ['seed'], for model=it."), "seed", "leave out seed"),  # noqa: E501
        (openai("'stop' is not supported with this model."), "stop", "leave out stop"),
        (openai("Extra inputs are not permitted, field: 'top_k', value: 5"), "top_k", "take top_k out of extra_body"),  # noqa: E501
        (openai("Input validation error: `temperature` must be strictly positive"), "temperature", "set `temperature: none`"),  # noqa: E501
        (
            openai("Range of max_tokens should be [1, 2048]"),
            "max_tokens",
            "set a smaller `token_limit: {tokens: ...}`",
        ),
        (openai("top_k: Extra inputs are not permitted"), "top_k", "take top_k out of extra_body"),
        ({"detail": [{"type": "extra_forbidden", "loc": ["body", "foo"]}]}, "foo", "take foo out of extra_body"),  # noqa: E501
    ],
)  # fmt: skip
def test_a_refused_field_is_named_with_the_setting_to_change(body, field, setting):
    error = read_error(400, body)

    assert kind_of(error) == "bad_parameter"
    assert refused_parameter(error) == field
    said = advised(error, entry())
    assert said.startswith(f"The server does not take {field} as it is sent: {setting}")
    assert "in the entry it of models.yaml" in said
    assert not passes(error)


@pytest.mark.parametrize(
    "body",
    [
        openai("Invalid value for 'messages[1].content'.", "invalid_value", "messages[1].content"),
        openai("Unsupported value: 'messages[0].role' does not support 'system'.", "unsupported_value", "messages[0].role"),  # noqa: E501
        openai("The temperature in Oslo must be wrong, said the image."),
        openai("Invalid image: Field required."),
        vllm("Invalid 'image': cannot identify image file"),
        "Bad Request",
        None,
        [],
        {"error": {"message": None, "code": {"a": 1}}},
    ],
)  # fmt: skip
def test_an_error_about_what_was_asked_is_a_bad_request(body):
    error = read_error(400, body)

    assert kind_of(error) == "bad_request"
    assert advised(error, entry()) == ""


def test_a_field_of_extra_body_is_taken_out_of_it():
    spec = entry(extra_body={"top_k": 5})
    error = read_error(400, openai("Unrecognized request argument supplied: top_k"))

    assert "take top_k out of extra_body in the entry it" in advised(error, spec)


# Other kinds


@pytest.mark.parametrize(
    "body",
    [
        openai("The response was filtered.", "content_filter"),
        openai("Your input image may contain content that is not allowed by our safety system."),
        openai("Your request was rejected as a result of our safety system."),
        openai(
            "Invalid prompt: flagged as potentially violating our usage policy.", "invalid_prompt"
        ),
        openai("The response was filtered due to Azure OpenAI's content management policy."),
        openai("Output blocked by content filtering policy"),
    ],
)
def test_a_safety_stop_is_refused(body):
    assert kind_of(read_error(400, body)) == "refused"


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (401, openai("Incorrect API key provided.", "invalid_api_key")),
        (403, openai("Country not supported.")),
        (402, {"error": {"message": "Insufficient Balance"}}),
        (429, openai("You exceeded your current quota.", "insufficient_quota")),
        (429, quota("Day")),
        (400, google("API key not valid. Please pass a valid API key.")),
        (400, openai("Your credit balance is too low to access the Anthropic API.")),
    ],
)
def test_a_key_that_is_no_good_or_used_up_stops_the_run(status, body):
    error = read_error(status, body)

    assert kind_of(error) == "auth"
    assert not passes(error)


def test_the_quota_of_a_minute_passes():
    error = read_error(429, quota("Minute"))

    assert kind_of(error) == "rate_limited"
    assert passes(error)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (404, openai("The model `x` does not exist or you do not have access.", "model_not_found")),
        (404, vllm("The model `it-1` does not exist.")),
        (404, openai('model "it-1" not found, try pulling it first')),
        (404, google("models/it-1 is not found for API version v1main, or is not supported.")),
        (404, openai("model: it-1")),
    ],
)
def test_an_unknown_model_names_the_setting(status, body):
    error = read_error(status, body)

    assert kind_of(error) == "bad_request"
    assert advised(error, entry()).startswith(
        "The server does not know the model it-1: correct `model` in the entry it of models.yaml"
    )


def test_an_address_where_nothing_answers_names_base_url():
    said = advised(read_error(404, "404 page not found"), entry())

    assert said == (
        "Nothing answers at this address: correct base_url, which often ends in /v1, in the entry it "
        "of models.yaml (it says: 404 page not found)."
    )


def test_too_many_images_name_the_number_that_is_taken():
    error = read_error(400, vllm("At most 3 image(s) may be provided in one prompt."))

    assert advised(error, entry()).startswith("Set `max_images: 3`, and `many_images: grid`")
    none = read_error(400, vllm("At most 0 image(s) may be provided in one prompt."))
    assert advised(none, entry()).startswith(
        "The server takes no images for it-1: set `max_images: 0`"
    )


def test_an_error_that_repeats_a_key_is_shown_without_it(monkeypatch):
    monkeypatch.setenv("IT_KEY", "sk-0123456789abcdef")
    error = read_error(400, openai("max_tokens: Field required\n for sk-0123456789abcdef"))

    said = advised(error, entry(api_key_env="IT_KEY"))

    assert "sk-0" not in said and "***" in said and "\n" not in said


def test_nor_is_a_part_of_a_key_taken_for_the_name_of_a_field(monkeypatch):
    monkeypatch.setenv("IT_KEY", "0123456789abcdef" * 4)
    error = read_error(400, openai(f"Unknown parameter: '{'0123456789abcdef' * 4}'"))

    assert "0123456" not in advised(error, entry(api_key_env="IT_KEY"))
