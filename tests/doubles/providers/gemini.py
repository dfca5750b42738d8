"""Gemini's OpenAI-compatible endpoint: errors in a list, as Google writes them, and bare choices."""

from typing import Any

from tests.doubles.providers.provider import KEY, Asked, Provider, Refused, answer, tokens

FIELDS = {
    *("model", "max_tokens", "max_completion_tokens", "temperature", "top_p", "stop", "n"),
    *("response_format", "reasoning_effort", "extra_body"),
}


def error(status: int, message: str, state: str, *details: dict[str, Any]) -> Refused:
    said = {"code": status, "message": message, "status": state, "details": list(details)}
    return Refused(status, [{"error": said}])


class Gemini(Provider):
    """A Gemini model that thinks within the limit of the answer; `of_a_day`: which quota is used up."""

    context = 1_048_576
    fields = FIELDS
    reasoning_tokens = 128
    must_think = True
    of_a_day = True

    def admit(self, headers: dict[str, str]) -> None:
        if headers.get("authorization") != f"Bearer {KEY}":
            said = "API key not valid. Please pass a valid API key."
            raise error(400, said, "INVALID_ARGUMENT")
        if self.exhausted:
            each = "Day" if self.of_a_day else "Minute"
            quota = f"GenerateRequestsPer{each}PerProjectPerModel-FreeTier"
            said = "You exceeded your current quota, please check your plan and billing details."
            failure = {"@type": "type.googleapis.com/google.rpc.QuotaFailure"}
            violated = {**failure, "violations": [{"quotaId": quota}]}
            raise error(429, said, "RESOURCE_EXHAUSTED", violated)

    def check(self, asked: Asked) -> None:
        model = asked.fields["model"].removeprefix("models/")
        if model != self.model:
            said = f"models/{model} is not found for API version v1main, or is not supported."
            raise error(404, said, "NOT_FOUND")
        for name in asked.fields:
            if name not in self.fields:
                said = f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.'
                raise error(400, said, "INVALID_ARGUMENT")
        if asked.fields.get("reasoning_effort") == "none" and self.must_think:
            said = "Budget 0 is invalid. This model only works in thinking mode."
            raise error(400, said, "INVALID_ARGUMENT")
        if asked.prompt_tokens > self.context:
            said = (
                f"The input token count ({asked.prompt_tokens}) exceeds the maximum number of tokens "
                f"allowed ({self.context})."
            )
            raise error(400, said, "INVALID_ARGUMENT")

    def completion(self, asked: Asked) -> dict[str, Any]:
        if self.withholds:
            return self.body(asked, None, "content_filter: PROHIBITED_CONTENT", 0)
        text, limit = answer(asked), self.limit(asked)
        thinking = 0 if asked.fields.get("reasoning_effort") == "none" else self.reasoning_tokens
        if limit is not None and limit < thinking + tokens(text):
            return self.body(asked, {"role": "assistant"}, "length", 0)
        return self.body(asked, {"role": "assistant", "content": text}, "stop", tokens(text))
