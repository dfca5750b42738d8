"""Patterns for the error messages of model servers, applied to `ServerError.text`.

In that text, names with `_` or camel case are split into words. A pattern is for a kind of error, not
for one server. A comment names a server if only that pattern matches its message.
"""

import re


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


# Content policy

REFUSING_CODES = frozenset(
    (
        "data_inspection_failed",  # Alibaba
        "content_filter",
        "content_policy_violation",
        "invalid_prompt",
        "moderation_blocked",
        "image_content_policy_violation",
        "ResponsibleAIPolicyViolation",
        "1301",  # Zhipu
    )
)
_RULES = (
    r"(polic(y|ies)|guidelines?|usage rules|terms of (use|service)|safety|content|law|regulation)"
)
REFUSED = _any(
    r"content (filter|polic|management|moderat|safety|violat|exists risk|inspection|restrict)",
    r"content .{0,40}(not allowed|inappropriate|blocked|flagged|prohibited|rejected|violat|unsafe)",
    r"(safety|moderation|guardrails?) (system|reason|check|filter|polic|guideline|concern)",
    r"(safety|moderation|guardrails?) (violat|block|interven)",
    r"(for|by|due to|because of) .{0,20}(safety|moderation|guardrail)",
    r"(violat|against|contrary to|not comply|breach)\w* .{0,60}" + _RULES,
    r"(flagged|blocked|rejected|filtered|refused|denied|stopped|intercepted) .{0,60}"
    r"(safety|moderat|polic(y|ies)|guideline|guardrail|inappropriate|harm|sensitive|risk"
    r"|violence|sexual)",
    r"inappropriate|harmful|nsfw|recitation|jailbreak|sexual|self[ -]harm",
    r"(?<!case )(?<!case-)sensitive (content|words?|info|data|material|topic|text)",
    r"contains? .{0,20}sensitive|is sensitive|risk control|high[ -]risk|data inspection",
    r"(unsafe|prohibited) (content|use|prompt)",
    r"敏感|违规|不安全|内容安全|审核|风控|高风险|违法|不当|不合规|违反.{0,12}(政策|规定|规则|法)",
    r"不適切|ポリシーに?違反|부적절|유해|정책.{0,10}위반",
    r"inappropri|unangemessen|richtlinie|inapropiad|inadequad",
)
ACCOUNT_CLOSED = _any(
    r"(account|organi[sz]ation|workspace|api key|your key|team|project)\b.{0,60}"
    r"(suspend|deactivat|terminat|disabled|banned|closed|blocked)",
    r"账(号|户).{0,20}(封|停用|冻结|禁用)",
)
"""A closed account, for example after violations: every request fails."""

# Balance, and the quota of a day or a month

EXHAUSTED_CODES = frozenset(
    (
        *("insufficient_quota", "billing_error", "billing_not_active", "Arrearage", "1113"),
        *("insufficient_balance", "insufficient_credits", "account_overdue", "payment_required"),
        *("exceeded_current_quota_error", "billing_hard_limit_reached", "insufficient_user_quota"),
    )
)
EXHAUSTED = _any(
    r"insufficient (user |account )?(quota|balance|credits?|funds?)",
    r"(balance|credits?|funds?)\b.{0,40}"
    r"(exhausted|depleted|insufficient|run out|used up|too low|empty)",
    r"(out of|no|not enough|zero|negative) (remaining )?(credits?|balance|funds?)\b",
    r"(ran|run|running) out of (credits?|balance|funds?|quota)",
    r"arrear|overdue|in good standing|payment required|billing (hard limit|not active|is disabled)",
    r"spend(ing)? (limit|cap)",
    r"(monthly|budget|credit|usage) (limit|quota|budget|cap).{0,30}(exceed|reach)",
    r"exceed\w* .{0,40}(monthly|budget|spend)|budget (has been )?exceeded",
    r"recharge|\btop[ -]?up\b|can only afford|requires more credits",
    r"(add|buy|purchase) (more )?(credits?|funds?)",
    r"余额不足|余额.{0,10}(不够|为零|耗尽)|欠费|充值|资源包|账户.{0,10}不足",
    r"额度.{0,10}(不足|用尽|耗尽|已用完)|残高|잔액|크레딧.{0,10}부족",
    r"guthaben|saldo (insuf|agot)|solde insuffisant|cr[ée]dit.{0,10}insuff",
)
LONG_PERIOD = _any(
    r"per[ -]?(day|week|month)|\b(daily|weekly|monthly)\b|\b[RT]PD\b",
    r"(session|usage|5[ -]hour|5h) (usage )?limit|每(日|天|周|月)|当日|本周|本月",
)
"""A quota that is restored after hours or days."""
PROBABLY_EXHAUSTED = _any(r"\bquota\b|\bbilling\b|plan limit|payment|subscription|配额|额度|限额")
"""Words that mean an empty account, unless the error is about a rate limit."""

RATE_LIMITED = _any(
    r"rate[ -]?limit|too many (concurrent |simultaneous )?(requests|connections)|throttl",
    r"per ?(minute|second|hour|min|sec)\b|\b[RT]PM\b|concurren|overload|retry (after|delay|info)",
    r"(try|retry) again (in|after|later)|please (retry|slow down)|server (is )?busy|at capacity",
    r"频率|过于频繁|并发|限流|稍后(再试|重试)|繁忙|請稍後|レート制限|混み合|요청이 너무",
)

# Keys

_KEY = r"(api|access|auth\w*|secret|bearer|subscription|security|license)[ -]?(key|token)s?"
_BAD = r"(invalid|incorrect|missing|expired|wrong|malformed|bad|unknown|no|provide \w+)"
BAD_KEY = _any(
    _KEY + r"\b.{0,60}(invalid|not valid|expired|incorrect|missing|wrong|unknown|disabled|revoked)",
    _KEY + r"\b.{0,60}(not found|required|not provided|malformed|rejected|not match)",
    _BAD + r"\b.{0,30}" + _KEY,
    r"(invalid|expired|missing|wrong) token\b",
    r"(invalid|missing|wrong|bad) (credential|authenti|signature|authorization)",
    r"(not |un)authenticated|authentication (failed|error|required|fails)|unauthori[sz]ed",
    r"(密钥|令牌|api ?key|鉴权|认证).{0,20}(无效|错误|失败|过期|不正确|不存在)",
    r"无效的?.{0,10}(密钥|令牌|api ?key)",
)
NO_ACCESS = _any(
    r"(country|region|territory|location).{0,40}(unsupported|not (supported|available)|blocked)",
    r"(not|un)(supported| available).{0,40}(country|region|territory|location)",
    r"(account|organi[sz]ation|workspace|project|subscription|consumer|user|ip( address)?)\b.{0,80}"
    r"(suspend|deactivat|terminat|disabled|banned|closed|inactive|not (active|allowed|enabled))",
    r"(permission|access|not (allowed|authorized|permitted|entitled)).{0,60}"
    r"\b(model|api|project|service)s?\b",
)
"""Messages of a 403 that every request of this account gets."""

# Schemas

REFUSED_SCHEMA = _any(
    r"(invalid|unsupported|unknown)\b.{0,40}\bresponse format",
    r"\bresponse format\b.{0,60}(not|un) ?(supported|available|allowed)",
    r"\bresponse format\b.{0,20}must be one of",  # llama.cpp
    r"unknown name .{1,60} at '.{0,80}response (schema|format)",  # Gemini
    r"json.?schema\b.{0,40}(conversion failed|not supported|not valid|invalid|features not)",
    r"(unsupported|invalid) (json.?schema|grammar)|invalid schema\b",
    r"(failed|unable) to (parse|convert|compile|build|initialize)\b.{0,60}(grammar|json.?schema)",
    r"guided (json|decoding|grammar)\b.{0,60}(not supported|failed|invalid|error)",
    r"structured outputs?\b.{0,40}(not|un) ?(supported|available)",
)
"""The server does not support structured output, or not this JSON schema."""

# Images

_PICTURES = r"(?:image|picture|vision|visual|multi-?modal)s?"
_SENT = r"(?: (?:url|input|content|block|part|message|modalit|understanding|data)\w*)*"
_TAKEN = r"(?:supported|enabled|available|accepted|allowed)"
_TAKE = r"(?:support|accept|take)(?:s|ing)?"
_OF_SOME_IMAGES = (
    r"(?! ?(?:format|type|size|media|generat|larger|bigger|over|above|of|with|in|that|file))"
)
TEXT_ONLY = _any(
    rf"(?<!multiple ){_PICTURES}{_SENT} (?:is |are )?(?:currently )?(?:not |un){_TAKEN}"
    + _OF_SOME_IMAGES,
    rf"(?:not|n.t)(?: currently| yet)? {_TAKE} (?:any |the )?{_PICTURES}{_SENT}\b{_OF_SOME_IMAGES}",
    rf"(?:cannot|unable to) (?:process|handle|see) (?:any )?images?{_SENT}: .{{0,40}}(?:text|model)",
    rf"(?:no|without|lacks?) {_PICTURES}{_SENT} (?:support|capabilit|encoder|tower)",
    r"(?:not|n.t) (?:an? )?(?:multi-?modal|vision|vlm|mllm)\b",
    rf"{_PICTURES}{_SENT} (?:is|are) only {_TAKEN}",
    r"only (?:supports?|accepts?|takes?|handles?) text(?! (?:of|up|with|under|shorter))",
    r"text[ -]only model",
    r"unknown variant .?image url",  # DeepSeek
    r"at most 0 (?:image|picture|media|photo)",  # vLLM
    r"\bmmproj\b|missing data required for image",  # llama.cpp, Ollama
    r"endpoints? found that supports? image",  # OpenRouter
    r"不支持(?:图片|图像|视觉|多模态)(?:输入|理解|内容|消息|能力|数据)?(?!格式|类型|尺寸|的格式)",
    r"(?:图片|图像|视觉|多模态)(?:输入|理解|内容|消息|能力)?(?:不支持|未启用|不可用)|非多模态模型",
    r"画像(?:入力)?(?:に対応していません|はサポートされていません)",
    r"이미지(?: 입력)?[을를은는이가]? ?지원하지 않",
)
"""The model takes no images at all, independent of the status. Messages about the format, size or
number of images must not match."""

# Lengths

LENGTH_CODES = frozenset(
    (
        *("context_length_exceeded", "string_above_max_length", "exceed_context_size_error"),
        *("context_window_exceeded", "request_too_large", "input_too_long", "prompt_too_long"),
    )
)
_N = r"(\d{1,4})\b(?! ?(?:bytes|[KM]i?B|pixels|px))"
_IMAGE = r"(?:image|picture|media|photo)"
IMAGE_COUNT = re.compile(
    rf"at most {_N} {_IMAGE}"
    rf"|supports? (?:up to|at most|a maximum of) {_N} {_IMAGE}"
    rf"|\bimage={_N}"  # vLLM
    rf"|{_IMAGE}s?\b[^.]{{0,60}}?> {_N}"  # Anthropic
    rf"|(?:maximum|limit|up to|max)\b\D{{0,30}}{_N} {_IMAGE}s?"
    rf"|{_IMAGE}s?\b[^.\d]{{0,40}}(?:limit|maximum|max|exceeds?|at most|up to|only)[^.\d]{{0,30}}{_N}"
    r"|最多.{0,10}?(\d{1,4}).{0,3}张",
    re.IGNORECASE,
)
"""A limit on the number of images; one of the groups matches the number."""
TOO_MANY_IMAGES = _any(
    IMAGE_COUNT.pattern,
    r"too (many|much) (images?|pictures?|media|photos?|attachments?|files?|documents?)",
    r"(number|count|amount) of (images?|pictures?|media|photos?)"
    r".{0,60}(exceed|limit|maximum|too|more|greater|at most)",
    r"(only|more than) (one|two|three|\d+) (images?|pictures?)|multiple images",
    r"image limit|limit[ -]mm[ -]per[ -]prompt",
    r"(图片|图像|圖片|画像|이미지).{0,12}(数量|个数|張数|枚数|개수).{0,12}(超|限|上限|초과)",
    r"(图片|图像)过多|画像が多すぎ",
)
IMAGE_SIZE = _any(
    r"images?\b.{0,60}(exceeds?|larger than|too (large|big)|greater than|over).{0,40}"
    r"(MB|bytes|pixels|size|dimension|limit|maximum)",
    r"(image|pixel|dimension)s?\b.{0,60}(exceed|too (large|big))",
    r"max\w* (allowed )?(image )?(size|dimension)",
    r"(图片|图像).{0,10}(过大|太大|尺寸超)",
)
"""An image with too many bytes or pixels. Messages about too many images may match, too."""
TOO_LONG = _any(
    TOO_MANY_IMAGES.pattern,
    IMAGE_SIZE.pattern,
    r"maximum context length",  # OpenAI, vLLM, SGLang, OpenRouter
    r"context (length|window|size|limit)\b.{0,80}(exceed|is only|not enough|overflow|too)",
    r"(exceed|overflow|longer than|larger than|greater than|too long for|too large for|beyond)\w*"
    r".{0,60}(context|model(.s)? maximum|maximum model|max(imum)? (input|model|prompt|sequence))",
    r"too long to fit|too long for (the |this )?(requested )?model",
    r"max tokens must be at least 1, got -",  # vLLM
    r"(prompt|input|conversation|messages?|request|text|context|content)s?( is| are|:)? too long",
    r"(input|prompt)( token)? (length|count|tokens?)\b.{0,60}"
    r"(exceed|longer|greater|more than|over|should be)",
    r"(exceed\w*|over|above|beyond) .{0,40}(input|prompt|context) (token|length|limit)",
    r"(input|prompt|context) length error",
    r"prompt exceeds max length|range of input length|too many (input |prompt )?tokens",
    r"input length and `?max tokens`? exceed",
    r"(shorter|shorten) .{0,20}(input|prompt)|context the overflows|\bn ctx\b|string too long",
    r"reduce .{0,20}(length|prompt|size of the|number of (tokens|messages))",
    r"(上下文|输入|提示|文本|请求).{0,16}(过长|太长|超出|超过|超长)",
    r"(超出|超过).{0,16}(上下文|最大.{0,6}长度|token)",
    r"長すぎ|コンテキスト(長|ウィンドウ)?.{0,10}超|너무 (길|깁)|컨텍스트.{0,12}초과",
    r"zu lang|demasiado larg|trop long",
)
_MORE = (
    r"(exceed|limit|maximum|too (many|large|long)|(more|greater|larger|longer) than|over|at most)"
)
PROBABLY_TOO_LONG = _any(
    rf"tokens?\b.{{0,80}}({_MORE}|must be)",
    rf"{_MORE}\w*.{{0,60}}\btokens?\b",
    r"(payload|body|request( size)?)\b.{0,40}(too (large|big)|exceed|larger)|too large",
    r"长度|過長|超长|トークン|토큰",
)
"""Words about a length that may also mean something else, such as a parameter."""
