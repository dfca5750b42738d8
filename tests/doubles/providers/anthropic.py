"""Anthropic's OpenAI-compatible endpoint: much is ignored, `max_tokens` is required."""

from typing import Any

from tests.doubles.providers.provider import KEY, Asked, Provider, refusal

IGNORED = ("response_format", "seed", "reasoning_effort", "metadata")
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
        for name in IGNORED:
            asked.fields.pop(name, None)

    def completion(self, asked: Asked) -> dict[str, Any]:
        if self.withholds:
            return self.body(asked, {"role": "assistant", "content": ""}, "refusal", 1)
        return super().completion(asked)
