"""Errors in the words of many servers and languages, by the kind that they are."""

import pytest

from resources.llm.error_kinds import kind_of, passes, refused_parameter, refuses_schema
from resources.llm.server_errors import error_in_reply, read_error

NGINX_403 = "<html><head><title>403 Forbidden</title></head><body><h1>403</h1>nginx</body></html>"
TPM = "Rate limit reached for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, "

MESSAGES: dict[tuple[str, int], list[str]] = {
    ("refused", 400): [
        "Content Exists Risk",
        "输入内容违反了使用政策",
    ],
    ("refused", 500): [
        "The response was filtered due to Azure OpenAI's content management policy."
    ],
    ("auth", 400): [
        "Account balance is insufficient",
        "Authentication Error, LiteLLM Virtual Key expected. Received=hello",
        "Budget has been exceeded! Current cost: 0.1, Max budget: 0.05",
    ],
    ("auth", 401): ["key not allowed to access model. This key can only access models=['a']"],
    ("auth", 402): [
        "This request requires more credits, or fewer max_tokens.",
    ],
    ("auth", 403): [
        "API key is invalid",
        "Country not supported.",
        "Out of call volume quota. Quota will be replenished in 2.22:12:30.",
    ],
    ("auth", 429): [
        "Rate limit exceeded: free-models-per-day",
    ],
    ("rate_limited", 429): [
        f"{TPM}Used 29000. You can increase your rate limit by adding a payment method.",
        "image input is not supported at this rate: rate limit reached",
    ],
    ("too_long", 400): [
        "This model supports a maximum of 16 images per request",
        "This model does not support more than 4 images",
        "The model does not support images larger than 5 MB",
        "输入长度超过模型最大上下文长度限制",
        "Please reduce the length of the messages or completion.",
        "This model's maximum context length is 4096 tokens. However, you requested 4472 tokens "
        "(376 in the messages, 4096 in the completion). Please reduce the length.",
        "The decoder prompt (length 10127) is longer than the maximum model length of 8192.",
        "The prompt (total length 25938) is too long to fit into the model (context length 4).",
        "max_tokens must be at least 1, got -186.",
        "prompt is too long: 213462 tokens > 200000 maximum",
    ],
    ("text_only", 400): [
        "Invalid content type. image_url is only supported by certain models.",  # OpenAI
        "some-model is not a multimodal model",  # vLLM
        "At most 0 image(s) may be provided in one prompt.",
        "Failed to deserialize: unknown variant `image_url`, expected `text`",  # DeepSeek
        "Image input modality is not enabled for models/gemma-3-1b-it",  # Gemini
        "This model only supports text input",
        "该模型不支持图片输入",
    ],
    ("text_only", 404): ["No endpoints found that support image input"],  # OpenRouter
    ("text_only", 500): [
        "image input is not supported - hint: you may need to provide the mmproj",  # llama.cpp
        "this model is missing data required for image input",  # Ollama
    ],
    ("text_only", 501): ["This server does not support multimodal"],
    ("bad_request", 400): [
        "messages: roles must alternate between user and assistant",
        "Could not process image",
        "The temperature in Oslo must be wrong, said the image.",
        "Invalid image: Field required.",
        "Invalid 'image': cannot identify image file",
        "Image format not supported",
        "image/tiff images are not supported formats",
        "The image is not supported type: use PNG",
        "The file is not an image",
        "There is no image in the request",
        "图片格式不支持",
        "The picture shows a schema of a response.",
        "Unable to generate parser for this template.",
    ],
    ("bad_parameter", 400): ["`temperature` must be a float between 0 and 2"],
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
        (403, framed("This content may violate our Acceptable Use Policy", code="content_blocked")),
        (400, framed("PROHIBITED_CONTENT", status="INVALID_ARGUMENT")),
        (400, {"code": "InvalidParameter.SensitiveText", "message": "It may contain information."}),
        (422, {"detail": "NSFW content detected"}),
        (451, {"error": "Unavailable for legal reasons: content restricted"}),
    ],
    "auth": [
        (401, framed("Incorrect API key provided.", code="invalid_api_key")),
        (429, google("RESOURCE_EXHAUSTED", "Day")),
        (403, {"code": "AccountOverdueError", "message": "Your account has an overdue balance."}),
        (403, {"error": "用户额度不足, 剩余额度: ¥0.00"}),
        (403, {"detail": "Invalid token"}),
        (403, framed("Permission denied: Consumer has been suspended.", status="PERMISSION_DENIED")),
        (403, framed("Project `p` does not have access to model `g`", code="model_not_found")),
    ],
    "rate_limited": [
        (429, google("RESOURCE_EXHAUSTED", "Minute")),
        (429, framed("Requests rate limit exceeded, try again.", code="limit_requests")),
        (429, framed("您当前使用该API的并发数过高，请降低并发", code="1302")),
        (429, ""),
    ],
    "too_long": [
        (400, framed("Invalid 'messages[0]': string too long.", code="string_above_max_length")),
        (400, framed("Prompt exceeds max length", code="1261")),
        (422, {"error": "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 and 512"}),
        (413, "<html><head><title>413 Request Entity Too Large</title></head></html>"),
    ],
    "bad_request": [
        (403, NGINX_403),
        (403, {"message": "Forbidden"}),
        (400, {"error": "invalid image url"}),
        (404, {"detail": "Not Found"}),
        (422, {"detail": [ECHO]}),
        (400, framed("Unprocessable", flagged_input="This violates the content policy.")),
        (400, framed("Invalid value.", code="invalid_value", param="messages[1].content")),
        (400, framed("Role?", code="unsupported_value", param="messages[0].role")),
        (400, framed(None, code={"a": 1})),
        (400, "Bad Request"),
        (400, None),
    ],
    "bad_parameter": [
        (400, framed("max_tokens is too large: 32000. At most 16384.", param="max_tokens")),
    ],
    "server_error": [
        (500, {"error": "CUDA out of memory"}),
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
def test_an_error_is_known_by_status_type_code_and_text(
    kind: str, status: int, body: object
) -> None:
    error = read_error(status, body)

    assert kind_of(error) == kind
    assert passes(error) == (kind in ("timeout", "rate_limited", "server_error"))
    if kind == "bad_parameter":
        assert refused_parameter(error)
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
    ],
)
def test_an_error_in_a_reply_of_status_200_counts_as_what_it_says(
    body: dict[str, object], kind: str, message: str
) -> None:
    error = error_in_reply(body)

    assert error is not None and (kind_of(error), error.message) == (kind, message)


@pytest.mark.parametrize(
    "body",
    [
        {"choices": [{"message": {"content": "B"}}], **base_resp(0, "")},
        {"choices": [{"message": {"content": ""}}], **base_resp(0, "")},
        {"choices": [{"message": {"content": "B"}}], "error": None},
        {"choices": []},
    ],
)
def test_a_reply_without_words_of_an_error_holds_none(body: dict[str, object]) -> None:
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
def test_the_words_of_an_error_are_found_wherever_the_server_puts_them(
    body: object, message: str
) -> None:
    assert read_error(400, body).message == message
