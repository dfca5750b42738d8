"""Errors of many servers: the kind of each by its words, and the setting that the user is told."""

import pytest
from selectolax.lexbor import LexborHTMLParser

from methods.untrusted_html import parse_html
from resources.llm import server_errors
from resources.llm.error_advice import advised
from resources.llm.error_kinds import kind_of, passes, refused_parameter, refuses_schema
from resources.llm.ledger.batch_state import FailedRequest
from resources.llm.server_errors import ServerError, error_in_reply, read_error
from tests.resources.llm.entries import batch_result, spec_of

NGINX_403 = "<html><head><title>403 Forbidden</title></head><body><h1>403</h1>nginx</body></html>"
TPM = "Rate limit reached for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, "

MESSAGES: dict[tuple[str, int], list[str]] = {
    ("refused", 400): ["Content Exists Risk", "输入内容违反了使用政策"],
    ("refused", 500): ["It was filtered due to Azure OpenAI's content management policy."],
    ("auth", 400): [
        "Account balance is insufficient",
        "Authentication Error, LiteLLM Virtual Key expected. Received=hello",
    ],
    ("auth", 403): [
        "API key is invalid",
        "Country not supported.",
        "Out of call volume quota. Quota will be replenished in 2.22:12:30.",
    ],
    ("auth", 429): ["Rate limit exceeded: free-models-per-day"],
    ("rate_limited", 429): [
        f"{TPM}Used 29000. You can increase your rate limit by adding a payment method.",
        "image input is not supported at this rate: rate limit reached",
    ],
    ("too_long", 400): [
        "This model supports a maximum of 16 images per request",
        "The model does not support images larger than 5 MB",
        "Please reduce the length of the messages or completion.",
        "The decoder prompt (length 10127) is longer than the maximum model length of 8192.",
        "The prompt (total length 25938) is too long to fit into the model (context length 4).",
        "max_tokens must be at least 1, got -186.",
    ],
    ("text_only", 400): [
        "Invalid content type. image_url is only supported by certain models.",  # OpenAI
        "some-model is not a multimodal model",  # vLLM
        "Failed to deserialize: unknown variant `image_url`, expected `text`",  # DeepSeek
        "Image input modality is not enabled for models/gemma-3-1b-it",  # Gemini
        "This model only supports text input",
        "该模型不支持图片输入",
    ],
    ("text_only", 404): ["No endpoints found that support image input"],  # OpenRouter
    ("text_only", 500): [
        "this model is missing data required for image input"  # Ollama
    ],
    ("text_only", 501): ["This server does not support multimodal"],
    ("bad_request", 400): [
        "messages: roles must alternate between user and assistant",
        "The temperature in Oslo must be wrong, said the image.",
        "Invalid image: Field required.",
        "Image format not supported",
        "image/tiff images are not supported formats",
        "The image is not supported type: use PNG",
        "图片格式不支持",
        "The picture shows a schema of a response.",
        "Unable to generate parser for this template.",
    ],
    ("server_error", 500): ["The image could not be decoded"],
    ("server_error", 503): [
        "The model is overloaded. Please try again later.",
        "Failed to parse grammar: the server is loading",
    ],
}
"""By kind and status, the message of an error in the frame of OpenAI's."""


def framed(message: str | None, **fields: object) -> dict[str, object]:
    return {"error": {"message": message, **fields}}


def google(status: str, quota: str) -> list[object]:
    violations = [{"quotaId": f"GenerateRequestsPer{quota}PerProjectPerModel"}]
    said = "You exceeded your current quota, please check your plan and billing details."
    return [framed(said, code=429, status=status, details=[{"violations": violations}])]


ECHO = {"loc": ["body", "messages", 0], "msg": "str", "input": "too many tokens; violates policy"}
BODIES: dict[str, list[tuple[int, object]]] = {
    "refused": [
        (400, framed("PROHIBITED_CONTENT", status="INVALID_ARGUMENT")),
        (400, {"code": "InvalidParameter.SensitiveText", "message": "It may contain information."}),
        (422, {"detail": "NSFW content detected"}),
        (451, {"error": "Unavailable for legal reasons: content restricted"}),
    ],
    "auth": [
        (401, framed("Incorrect API key provided.", code="invalid_api_key")),
        (429, google("RESOURCE_EXHAUSTED", "Day")),
        (403, {"code": "AccountOverdueError", "message": "Your account has an overdue balance."}),
        (403, {"detail": "Invalid token"}),
        (403, framed("Permission denied: Consumer has been suspended.", status="PERMISSION_DENIED")),
        (403, framed("Project `p` does not have access to model `g`", code="model_not_found")),
    ],
    "rate_limited": [
        (429, google("RESOURCE_EXHAUSTED", "Minute")),
        (429, ""),
    ],
    "too_long": [
        (400, framed("Invalid 'messages[0]': string too long.", code="string_above_max_length")),
        (400, framed("Prompt exceeds max length", code="1261")),
        (422, {"error": "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 and 512"}),
    ],
    "bad_request": [
        (403, NGINX_403),
        (403, {"message": "Forbidden"}),
        (404, {"detail": "Not Found"}),
        (422, {"detail": [ECHO]}),
        (400, framed("Unprocessable", flagged_input="This violates the content policy.")),
        (400, framed("Invalid value.", code="invalid_value", param="messages[1].content")),
        (400, framed("Invalid value.", code="invalid_value", param="tools")),
        (400, framed("Role?", code="unsupported_value", param="messages[0].role")),
        (400, framed(None, code={"a": 1})),
        (400, None),
    ],
    "server_error": [
        (529, {"type": "error", **framed("Overloaded", type="overloaded_error")}),
        (502, "<html>Bad Gateway</html>"),
    ],
    "timeout": [(408, "<html>Request Timeout</html>")],
}  # fmt: skip
"""By kind, status and body of other errors."""

CASES = [
    *((*known, framed(message)) for known, messages in MESSAGES.items() for message in messages),
    *((kind, *error) for kind, errors in BODIES.items() for error in errors),
]


@pytest.mark.parametrize(("kind", "status", "body"), CASES, ids=str)
def test_an_error_is_known_by_status_type_code_and_text(kind, status, body):
    error = read_error(status, body)

    assert kind_of(error) == kind
    assert passes(error) == (kind in ("timeout", "rate_limited", "server_error"))
    assert not refuses_schema(error)


def base_resp(code: int, message: str) -> dict[str, object]:
    return {"base_resp": {"status_code": code, "status_msg": message}}


@pytest.mark.parametrize(
    ("body", "kind", "message"),
    [
        (base_resp(1008, "insufficient balance"), "auth", "insufficient balance"),
        (base_resp(1026, "new_sensitive content"), "refused", "new_sensitive content"),
        (
            {"error_code": 336104, "error_msg": "prompt is too long"},
            "too_long",
            "prompt is too long",
        ),
        ({"error_code": 7, "error_msg": "gargle"}, "bad_response", "gargle"),
        ({"code": 500, "msg": "down", "success": False}, "server_error", "down"),
        (framed("Overloaded", code=503), "server_error", "Overloaded"),
    ],
)
def test_an_error_in_a_reply_of_status_200_counts_as_what_it_says(body, kind, message):
    error, in_batch = error_in_reply(body), batch_result(body, spec_of())

    assert error is not None and (kind_of(error), error.message) == (kind, message)
    assert isinstance(in_batch, FailedRequest)
    assert (in_batch.kind, in_batch.again) == (kind, passes(error))


@pytest.mark.parametrize(
    "body",
    [
        {"choices": [{"message": {"content": "B"}}], **base_resp(0, "")},
        {"choices": [{"message": {"content": ""}}], **base_resp(0, "")},
        {"choices": [{"message": {"content": "B"}}], "error": None},
        {"choices": [{"message": {"content": ""}}], "msg": "Done."},
        {"choices": []},
    ],
)
def test_a_reply_without_words_of_an_error_holds_none(body):
    assert error_in_reply(body) is None


RAW = {"raw": '{"error": {"message": "broken"}}'}
HTML = "<html><head><title>Oh</title><style>p {}</style></head><body><p>broken</p></body></html>"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"error": "broken picture"}, "broken picture"),
        ({"msg": "broken picture", "code": 7}, "broken picture"),
        ({"errors": [{"message": "broken"}, {"message": "picture"}]}, "broken; picture"),
        ({"detail": [{"loc": ["body", "messages", 0], "msg": "broken"}]}, "messages.0: broken"),
        (framed("Provider returned error", metadata=RAW), "Provider returned error: broken"),
        ("broken picture\n", "broken picture"),
        (HTML, "Oh - broken"),
        ({"fault": {"faultstring": "x"}}, "x"),
        (None, ""),
    ],
)
def test_the_words_of_an_error_are_found_wherever_the_server_puts_them(body, message):
    assert read_error(400, body).message == message


def test_no_field_of_an_error_keeps_a_large_body():
    text = "x" * 1_000_000
    for body in ({"error": {"message": text, "code": text}}, text, {"a": text}):
        assert max(len(str(field)) for field in read_error(400, body)) == 20_000


def test_html_is_parsed_once_in_a_message_of_many_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []

    def parse(html: str, *limits: int, **options: bool) -> LexborHTMLParser:
        parsed.append(html)
        return parse_html(html, *limits, **options)

    monkeypatch.setattr(server_errors, "parse_html", parse)
    texts: object = "<p>broken</p>"
    for _ in range(4):
        texts = [texts] * 5

    error = error_in_reply({"choices": [{"error": texts}]})

    assert error is not None and error.message.startswith("broken")
    assert len(parsed) == 1


IT = {"api_key_env": "IT_KEY"}
NOT_TAKEN = "is not supported with this model."


def error_of(message: str, status: int = 400, **fields: object) -> ServerError:
    return read_error(status, framed(message, **fields))


SMALLER = "set a smaller `token_limit: {tokens: ...}`"
REFUSED: dict[tuple[str, str], list[ServerError]] = {
    ("max_tokens", "set `token_limit: {name: max_completion_tokens}`"): [
        error_of(f"Unsupported parameter: 'max_tokens' {NOT_TAKEN}", param="max_tokens")
    ],
    ("max_completion_tokens", "set `token_limit: {name: max_tokens}`"): [
        error_of("This is no field of mine", param="max_completion_tokens")
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
    ],
    ("stop", "leave out stop"): [
        error_of("cannot unmarshal number into Go struct field ChatCompletionRequest.stop of type"),
        error_of("Argument not supported on this model: stop"),
    ],
    ("reasoning_effort", "leave out reasoning"): [
        error_of("Unrecognized request argument supplied: reasoning_effort"),
        error_of("invalid reasoning value: 'minimal' (must be \"high\")"),
        error_of("Budget 0 is invalid. This model only works in thinking mode."),
    ],
    ("top_k", "take top_k out of extra_body"): [
        error_of("Unknown parameter: 'top_k'.", code="unknown_parameter", param="top_k"),
        error_of("Extra inputs are not permitted, field: 'top_k', value: 5"),
    ],
    ("foo", "take foo out of extra_body"): [
        read_error(400, {"detail": [{"type": "extra_forbidden", "loc": ["body", "foo"]}]})
    ],
}
"""By field and setting, what servers say of the field."""


@pytest.mark.parametrize(
    ("field", "setting", "error"),
    [(*named, error) for named, errors in REFUSED.items() for error in errors],
    ids=lambda value: value.message if isinstance(value, ServerError) else "",
)
def test_a_refused_field_is_named_with_the_setting_to_change(field, setting, error):
    assert (kind_of(error), refused_parameter(error)) == ("bad_parameter", field)
    advice = advised(error, spec_of(**IT, extra_body={"top_k": 5}))
    assert advice.startswith(f"The server does not take {field} as it is sent: {setting}")
    assert "in the entry it of models.yaml" in advice
    assert not passes(error)


@pytest.mark.parametrize(
    "error",
    [
        *(error_of("Failed to parse grammar", status) for status in (400, 500)),
        error_of("No parser. JSON schema conversion failed:\nError resolving ref #/x"),
        error_of('response_format type must be one of "text" or "json_object", but got: x'),
        error_of("Unsupported JSON schema keyword: patternProperties"),
        error_of("guided_json is not supported: backend error", 422),
        error_of("Structured outputs are not supported for this model"),
        error_of("Invalid parameter: 'response_format' of type 'json_schema' is not supported."),
        error_of("Invalid schema for response_format 'reply': In =()", param="response_format"),
        error_of("This response_format type is unavailable now"),
    ],
    ids=lambda error: error.message,
)
def test_a_schema_that_is_refused_names_the_setting(error):
    assert refuses_schema(error) and kind_of(error) == "bad_parameter" and not passes(error)
    assert "set `structured_output: false` in the entry it" in advised(error, spec_of(**IT))


UNKNOWN = "The server does not know the model it-1: correct `model` in the entry it of models.yaml"
NOWHERE = "Nothing answers at this address: correct base_url, which often ends in /v1, in the entry"


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (error_of("The model `x` does not exist.", 404, code="model_not_found"), UNKNOWN),
        (error_of('model "it-1" not found, try pulling it first', 404), UNKNOWN),
        (error_of("models/it-1 is not found for API version v1main.", 404), UNKNOWN),
        (error_of("model: it-1", 404), UNKNOWN),
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
        (error_of("File Not Found", 404, type="not_found_error"), NOWHERE),
        (read_error(404, "Cannot POST /chat/completions"), NOWHERE),
    ],
    ids=lambda value: value.message if isinstance(value, ServerError) else "",
)  # fmt: skip
def test_other_errors_name_what_to_change(error, advice):
    assert advice in advised(error, spec_of(**IT))


@pytest.mark.parametrize(
    "error",
    [
        read_error(404, "The deployment blue was deleted"),
        read_error(404, {"message": "No weights."}),
        error_of("Invalid value.", code="invalid_value", param="messages[1].content"),
        read_error(400, None),
    ],
)
def test_an_error_about_the_request_itself_has_no_advice(error):
    assert kind_of(error) == "bad_request"
    assert advised(error, spec_of(**IT)) == ""


def test_no_part_of_a_key_is_shown(monkeypatch):
    key = "sk-0123456789abcdef" * 3
    monkeypatch.setenv("IT_KEY", key)

    advice = advised(error_of(f"max_tokens: Field required\n for {key}"), spec_of(**IT))
    assert "***" in advice and "\n" not in advice
    # Nor is a part of it taken for the name of a field.
    assert "0123" not in advice + advised(error_of(f"Unknown parameter: '{key}'"), spec_of(**IT))
