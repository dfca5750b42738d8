"""Models behind a provider's key: OpenAI's, Anthropic's and Gemini's, by OpenAI-compatible endpoints.

Anthropic ignores much and requires `max_tokens`; Gemini sends errors in a list, and bare choices.
"""

from typing import Any

from tests.doubles.providers.provider import KEY, Asked, Provider, Refused, answer, refusal, tokens

OPENAI_FIELDS = {
    *("model", "max_tokens", "max_completion_tokens", "temperature", "top_p", "seed", "stop"),
    *("response_format", "n", "metadata", "store", "user", "service_tier"),
}


class Gpt4o(Provider):
    """GPT-4o: takes no field that it does not know, and a schema only in the strict form."""

    context = 128_000
    longest = 16_384
    fields = OPENAI_FIELDS

    def admit(self, headers: dict[str, str]) -> None:
        sent = headers.get("authorization", "").removeprefix("Bearer ")
        if sent != KEY:
            raise refusal(401, f"Incorrect API key provided: {sent}.", code="invalid_api_key")
        if self.exhausted:
            said = "You exceeded your current quota, please check your plan and billing details."
            raise refusal(429, said, "insufficient_quota", code="insufficient_quota")

    def check(self, asked: Asked) -> None:
        if asked.fields["model"] != self.model:
            unknown = f"The model `{asked.fields['model']}` does not exist"
            raise refusal(
                404, f"{unknown} or you do not have access to it.", code="model_not_found"
            )
        for name in asked.fields:
            if name not in self.fields:
                raise refusal(400, f"Unrecognized request argument supplied: {name}")
        if (asked.schema or {}).get("additionalProperties", False) is not False:
            said = (
                "Invalid schema for response_format 'reply': In context=(), "
                "'additionalProperties' is required to be supplied and to be false."
            )
            raise refusal(400, said, param="response_format")
        if (limit := self.limit(asked) or 0) > self.longest:
            said = (
                f"max_tokens is too large: {limit}. This model supports at most {self.longest} "
                f"completion tokens, whereas you provided {limit}."
            )
            raise refusal(400, said, param="max_tokens", code="invalid_value")
        if asked.prompt_tokens > self.context:
            said = (
                f"This model's maximum context length is {self.context} tokens. However, your messages "
                f"resulted in {asked.prompt_tokens} tokens. Please reduce the length of the messages."
            )
            raise refusal(400, said, param="messages", code="context_length_exceeded")

    def completion(self, asked: Asked) -> dict[str, Any]:
        if self.withholds:
            message = {"role": "assistant", "content": None, "refusal": "I can't help with that."}
            return self.body(asked, message, "stop", 8)
        return super().completion(asked)


class OpenAIReasoning(Gpt4o):
    """A model that reasons before it answers, unseen, and within the limit of the answer."""

    context = 400_000
    longest = 128_000
    fields = OPENAI_FIELDS | {"reasoning_effort"}
    reasoning_tokens = 256

    def check(self, asked: Asked) -> None:
        if "max_tokens" in asked.fields:
            said = (
                "Unsupported parameter: 'max_tokens' is not supported with this model. "
                "Use 'max_completion_tokens' instead."
            )
            raise refusal(400, said, param="max_tokens", code="unsupported_parameter")
        if (given := asked.fields.get("temperature", 1)) != 1:
            said = (
                f"Unsupported value: 'temperature' does not support {given:g} with this model. "
                "Only the default (1) value is supported."
            )
            raise refusal(400, said, param="temperature", code="unsupported_value")
        for name in ("top_p", "stop"):
            if name in asked.fields:
                said = f"Unsupported parameter: '{name}' is not supported with this model."
                raise refusal(400, said, param=name, code="unsupported_parameter")
        if self.withholds:
            said = (
                "Invalid prompt: your prompt was flagged as potentially violating our usage policy. "
                "Please try again with a different prompt."
            )
            raise refusal(400, said, code="invalid_prompt")
        super().check(asked)

    def completion(self, asked: Asked) -> dict[str, Any]:
        thinking = 0 if asked.fields.get("reasoning_effort") == "none" else self.reasoning_tokens
        text, limit = answer(asked), self.limit(asked)
        if limit is not None and limit < thinking + tokens(text):
            # Billed in full: the limit was used by reasoning that is never shown.
            return self.body(asked, {"role": "assistant", "content": ""}, "length", limit)
        used = thinking + tokens(text)
        return self.body(asked, {"role": "assistant", "content": text}, "stop", used)


ANTHROPIC_IGNORES = ("response_format", "seed", "reasoning_effort", "metadata")
"""Fields that are taken and have no effect."""


class Anthropic(Provider):
    """A Claude model of those that take no temperature."""

    context = 200_000
    longest = 64_000

    def admit(self, headers: dict[str, str]) -> None:
        if headers.get("authorization") != f"Bearer {KEY}":
            raise refusal(401, "invalid x-api-key", "authentication_error")
        if self.exhausted:
            raise refusal(400, "Your credit balance is too low to access the Anthropic API.")

    def check(self, asked: Asked) -> None:
        if asked.fields["model"] != self.model:
            raise refusal(404, f"model: {asked.fields['model']}", "not_found_error")
        limit = self.limit(asked)
        if limit is None:
            raise refusal(400, "max_tokens: Field required")
        if limit > self.longest:
            raise refusal(
                400,
                f"max_tokens: {limit} > {self.longest}, which is the maximum allowed number of output "
                f"tokens for {self.model}",
            )
        if "temperature" in asked.fields:
            raise refusal(400, "`temperature` is deprecated for this model.")
        if asked.prompt_tokens > self.context:
            most = f"{asked.prompt_tokens} tokens > {self.context} maximum"
            raise refusal(400, f"prompt is too long: {most}")
        for name in ANTHROPIC_IGNORES:
            asked.fields.pop(name, None)

    def completion(self, asked: Asked) -> dict[str, Any]:
        if self.withholds:
            return self.body(asked, {"role": "assistant", "content": ""}, "refusal", 1)
        return super().completion(asked)


GEMINI_FIELDS = {
    *("model", "max_tokens", "max_completion_tokens", "temperature", "top_p", "stop", "n"),
    *("response_format", "reasoning_effort", "extra_body"),
}


def google_error(status: int, message: str, state: str, *details: dict[str, Any]) -> Refused:
    said = {"code": status, "message": message, "status": state, "details": list(details)}
    return Refused(status, [{"error": said}])


class Gemini(Provider):
    """A Gemini model that thinks within the limit of the answer."""

    context = 1_048_576
    fields = GEMINI_FIELDS
    reasoning_tokens = 128
    must_think = True

    def admit(self, headers: dict[str, str]) -> None:
        if headers.get("authorization") != f"Bearer {KEY}":
            said = "API key not valid. Please pass a valid API key."
            raise google_error(400, said, "INVALID_ARGUMENT")
        if self.exhausted:
            quota = "GenerateRequestsPerDayPerProjectPerModel-FreeTier"
            said = "You exceeded your current quota, please check your plan and billing details."
            failure = {"@type": "type.googleapis.com/google.rpc.QuotaFailure"}
            violated = {**failure, "violations": [{"quotaId": quota}]}
            raise google_error(429, said, "RESOURCE_EXHAUSTED", violated)

    def check(self, asked: Asked) -> None:
        model = asked.fields["model"].removeprefix("models/")
        if model != self.model:
            said = f"models/{model} is not found for API version v1main, or is not supported."
            raise google_error(404, said, "NOT_FOUND")
        for name in asked.fields:
            if name not in self.fields:
                said = f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.'
                raise google_error(400, said, "INVALID_ARGUMENT")
        if asked.fields.get("reasoning_effort") == "none" and self.must_think:
            said = "Budget 0 is invalid. This model only works in thinking mode."
            raise google_error(400, said, "INVALID_ARGUMENT")
        if asked.prompt_tokens > self.context:
            said = (
                f"The input token count ({asked.prompt_tokens}) exceeds the maximum number of tokens "
                f"allowed ({self.context})."
            )
            raise google_error(400, said, "INVALID_ARGUMENT")

    def completion(self, asked: Asked) -> dict[str, Any]:
        if self.withholds:
            return self.body(asked, None, "content_filter: PROHIBITED_CONTENT", 0)
        text, limit = answer(asked), self.limit(asked)
        thinking = 0 if asked.fields.get("reasoning_effort") == "none" else self.reasoning_tokens
        if limit is not None and limit < thinking + tokens(text):
            return self.body(asked, {"role": "assistant"}, "length", 0)
        return self.body(asked, {"role": "assistant", "content": text}, "stop", tokens(text))
