"""Errors in the words of many servers and languages, by the kind that they are."""

import pytest

from resources.llm.error_kinds import kind_of, passes, refused_parameter
from resources.llm.server_errors import error_in_reply, read_error

WORDINGS: dict[str, list[tuple[int, object]]] = {
    "refused": [
        (
            400,
            {
                "error": {
                    "message": "Your request was blocked by our guardrails.",
                    "type": "guardrail_intervened",
                }
            },
        ),
        (
            403,
            {
                "error": {
                    "message": "This content may violate our Acceptable Use Policy",
                    "code": "content_blocked",
                }
            },
        ),
        (
            400,
            {
                "error": {
                    "code": "1301",
                    "message": "系统检测到输入或生成内容可能包含不安全或敏感内容，请您避免输入易产生敏感内容的提示语，感谢您的配合。",  # noqa: E501
                }
            },
        ),
        (422, {"detail": "NSFW content detected"}),
        (
            400,
            {
                "error": {
                    "message": "The prompt was flagged for: sexual/minors",
                    "type": "moderation_error",
                }
            },
        ),
        (
            400,
            {
                "code": "InvalidParameter.SensitiveText",
                "message": "The input text may contain sensitive information.",
            },
        ),
        (451, {"error": "Unavailable for legal reasons: content restricted"}),
        (400, {"error": {"message": "Request was rejected by the safety filter"}}),
        (400, {"error": {"message": "输入内容违反了使用政策"}}),
        (400, {"error": {"message": "PROHIBITED_CONTENT", "status": "INVALID_ARGUMENT"}}),
        (400, {"error": {"message": "{'error': 'Blocked by Amazon Bedrock Guardrails'}"}}),
        (
            500,
            {
                "error": {
                    "message": "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."  # noqa: E501
                }
            },
        ),
        (
            400,
            {
                "error": {
                    "message": "Your input image may contain content that is not allowed by our safety system."  # noqa: E501
                }
            },
        ),
        (403, "The request was rejected because it may contain harmful content"),
    ],
    "auth": [
        (429, {"error": {"code": "1113", "message": "您的账户已欠费，请充值后重试。"}}),
        (402, {"error": {"message": "This request requires more credits, or fewer max_tokens."}}),
        (403, {"error": {"message": "Your credit balance is exhausted"}}),
        (
            400,
            {
                "type": "error",
                "error": {
                    "type": "invalid_request_error",
                    "message": "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",  # noqa: E501
                },
            },
        ),
        (
            429,
            {
                "error": {
                    "message": "Monthly spend limit reached for this workspace",
                    "type": "limit_error",
                }
            },
        ),
        (
            403,
            {
                "code": "AccountOverdueError",
                "message": "The request failed because your account has an overdue balance.",
            },
        ),
        (403, {"error": "用户额度不足, 剩余额度: ¥0.00"}),
        (401, {"error": "invalid x-api-key"}),
        (403, {"detail": "Invalid token"}),
        (403, {"error": {"message": "API key is invalid"}}),
        (403, {"message": "The security token included in the request is invalid."}),
        (
            403,
            {
                "error": {
                    "code": 403,
                    "message": "Permission denied: Consumer has been suspended.",
                    "status": "PERMISSION_DENIED",
                }
            },
        ),
        (
            403,
            {
                "error": {
                    "message": "Project `p` does not have access to model `gpt-5`",
                    "code": "model_not_found",
                }
            },
        ),
        (
            429,
            {
                "error": {
                    "message": "Rate limit reached for requests per day (RPD): Limit 200, Used 200. Please try again in 7m12s."  # noqa: E501
                }
            },
        ),
        (
            403,
            {
                "error": {
                    "message": "Out of call volume quota. Quota will be replenished in 2.22:12:30."
                }
            },
        ),
        (400, {"error": {"message": "Account balance is insufficient"}}),
        (
            403,
            {"code": 30001, "message": "Sorry, your account balance is insufficient", "data": None},
        ),
        (429, {"error": {"message": "You have run out of credits. Please top up"}}),
    ],
    "rate_limited": [
        (
            429,
            {
                "error": {
                    "message": "Rate limit reached for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 2s. Visit https://platform.openai.com/account/rate-limits to learn more. You can increase your rate limit by adding a payment method to your account at https://platform.openai.com/account/billing."  # noqa: E501
                }
            },
        ),
        (
            429,
            {
                "error": {
                    "message": "Requests rate limit exceeded, please try again later.",
                    "code": "limit_requests",
                }
            },
        ),
        (429, {"error": {"code": "1302", "message": "您当前使用该API的并发数过高，请降低并发"}}),
        (429, {"message": "Too Many Requests"}),
        (429, ""),
        (
            429,
            {
                "error": {
                    "type": "rate_limit_error",
                    "message": "This request would exceed your account's rate limit. Please try again later.",  # noqa: E501
                }
            },
        ),
        (
            429,
            {
                "error": {
                    "message": "Request was throttled: quota of 100 requests per minute for model x"
                }
            },
        ),
        (429, {"error": {"message": "Token limit per minute exceeded", "code": "throttling"}}),
        (
            400,
            {
                "code": "Throttling.RateQuota",
                "message": "Requests rate limit exceeded, please try again later.",
            },
        ),
    ],
    "too_long": [
        (400, {"error": {"message": "This model supports a maximum of 16 images per request"}}),
        (400, {"error": {"message": "The number of images (12) exceeds the limit of 10"}}),
        (400, {"message": "请求的图片数量超过限制，最多支持 5 张"}),
        (400, {"error": {"message": "Only one image is allowed per message"}}),
        (
            422,
            {
                "error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 512 `max_new_tokens`",  # noqa: E501
                "error_type": "validation",
            },
        ),
        (400, {"error": {"code": "1261", "message": "Prompt exceeds max length"}}),
        (400, {"error": {"message": "Total tokens of image and text exceed max message tokens"}}),
        (400, {"error": {"message": "输入长度超过模型最大上下文长度限制"}}),
        (400, {"error": {"message": "Requested tokens (9000) exceed context window of 4096"}}),
        (
            500,
            {
                "error": {
                    "message": "the request exceeds the available context size (4096 tokens), try increasing it",  # noqa: E501
                    "type": "exceed_context_size_error",
                }
            },
        ),
        (400, {"error": {"message": "Image size exceeds the limit of 20MB"}}),
        (400, {"error": {"message": "image too large: 9000x9000, max 8000 pixels"}}),
        (413, "<html><head><title>413 Request Entity Too Large</title></head></html>"),
        (400, {"error": {"message": "Please reduce the length of the messages or completion."}}),
        (
            400,
            {
                "error": {
                    "message": "prompt token count of 140000 exceeds the limit of 128000",
                    "code": "model_max_prompt_tokens_exceeded",
                }
            },
        ),
        (
            400,
            {
                "error": {
                    "message": "max_prompt_tokens: prompt is 40000 tokens, larger than model limit 32768"  # noqa: E501
                }
            },
        ),
        (
            400,
            {
                "error": {
                    "message": "Your messages resulted in 9001 tokens, but this model takes 8192 at most"  # noqa: E501
                }
            },
        ),
        (400, {"message": "Input length 5000 exceeds maximum allowed token size 4000"}),
    ],
    "bad_request": [
        (
            403,
            "<html><head><title>403 Forbidden</title></head><body><center><h1>403 Forbidden</h1></center><hr><center>nginx</center></body></html>",  # noqa: E501
        ),
        (403, {"message": "Forbidden"}),
        (403, ""),
        (400, {"error": "invalid image url"}),
        (404, {"detail": "Not Found"}),
        (400, {"error": {"message": "messages: roles must alternate between user and assistant"}}),
        (400, {"error": {"message": "Could not process image"}}),
        (405, "Method Not Allowed"),
        (
            422,
            {
                "detail": [
                    {
                        "loc": ["body", "messages", 0, "content"],
                        "msg": "str type expected",
                        "input": "too many tokens; violates policy",
                    }
                ]
            },
        ),
    ],
    "bad_parameter": [
        (
            400,
            {
                "error": {
                    "message": "max_tokens is too large: 32000. This model supports at most 16384 completion tokens",  # noqa: E501
                    "param": "max_tokens",
                }
            },
        ),
        (400, {"error": {"message": "`temperature` must be a float between 0 and 2"}}),
    ],
    "server_error": [
        (500, {"error": "CUDA out of memory"}),
        (503, {"error": {"message": "The model is overloaded. Please try again later."}}),
        (529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
        (502, "<html>Bad Gateway</html>"),
        (500, ""),
    ],
}


@pytest.mark.parametrize(
    ("kind", "status", "body"),
    [(kind, status, body) for kind, cases in WORDINGS.items() for status, body in cases],
)
def test_an_error_is_known_by_status_type_code_and_text(
    kind: str, status: int, body: object
) -> None:
    error = read_error(status, body)

    assert kind_of(error) == kind
    assert passes(error) == (kind in ("rate_limited", "server_error"))
    assert (refused_parameter(error) is not None) == (kind == "bad_parameter")


def test_a_quota_of_a_week_is_no_rate():
    error = read_error(429, {"error": "you have reached your weekly usage limit, upgrade"})

    assert kind_of(error) == "auth" and not passes(error)


@pytest.mark.parametrize(
    ("body", "kind", "message"),
    [
        (
            {"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}},
            "auth",
            "insufficient balance",
        ),
        (
            {"base_resp": {"status_code": 1026, "status_msg": "input new_sensitive content"}},
            "refused",
            "input new_sensitive content",
        ),
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
        {
            "choices": [{"message": {"content": "B"}}],
            "base_resp": {"status_code": 0, "status_msg": ""},
        },
        {
            "choices": [{"message": {"content": ""}}],
            "base_resp": {"status_code": 0, "status_msg": ""},
        },
        {"choices": [{"message": {"content": "B"}}], "error": None},
        {"choices": []},
        {"id": "x"},
    ],
)
def test_a_reply_without_words_of_an_error_holds_none(body: dict[str, object]) -> None:
    assert error_in_reply(body) is None


def test_what_a_server_repeats_of_the_request_says_nothing_about_the_error() -> None:
    echo = "This prompt violates the content policy and has too many tokens."
    error = read_error(400, {"error": {"message": "Unprocessable", "flagged_input": echo}})

    assert kind_of(error) == "bad_request"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"error": "broken picture"}, "broken picture"),
        ({"detail": "broken picture"}, "broken picture"),
        ({"msg": "broken picture", "code": 7}, "broken picture"),
        ({"errors": [{"message": "broken"}, {"message": "picture"}]}, "broken; picture"),
        ({"errors": ["broken", "picture"]}, "broken; picture"),
        ({"detail": [{"loc": ["body", "messages", 0], "msg": "broken"}]}, "messages.0: broken"),
        (
            {
                "error": {
                    "message": "Provider returned error",
                    "metadata": {"raw": '{"error": {"message": "broken"}}'},
                }
            },
            "Provider returned error: broken",
        ),
        ("broken picture\n", "broken picture"),
        (
            "<html><head><title>Oh</title><style>p {}</style></head><body><p>broken</p></body></html>",
            "Oh - broken",
        ),
        ({"fault": {"faultstring": "x"}}, "x"),
        (None, ""),
        ([], ""),
    ],
)
def test_the_words_of_an_error_are_found_wherever_the_server_puts_them(
    body: object, message: str
) -> None:
    assert read_error(400, body).message == message
