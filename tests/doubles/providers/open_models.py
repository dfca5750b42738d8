"""vLLM, SGLang, Ollama: servers of open models, which need no key and ignore unknown fields."""

from typing import Any

from tests.doubles.providers.provider import (
    THOUGHT,
    Asked,
    Provider,
    Refused,
    answer,
    refusal,
    tokens,
)


class Vllm(Provider):
    """vLLM with a model that thinks; `most_images` is its option --limit-mm-per-prompt."""

    context = 32_768
    most_images = 8
    efforts = ("none", "low", "medium", "high")

    def error(self, message: str, kind: str = "BadRequestError", code: int = 400) -> Refused:
        return refusal(code, message, kind, code=code)

    def check(self, asked: Asked) -> None:
        if asked.fields["model"] != self.model:
            said = f"The model `{asked.fields['model']}` does not exist."
            raise self.error(said, "NotFoundError", 404)
        effort = asked.fields.get("reasoning_effort", "low")
        if effort not in self.efforts:
            raise self.error(
                "[{'type': 'literal_error', 'loc': ('body', 'reasoning_effort'), 'msg': \"Input should "
                f"be 'none', 'low', 'medium' or 'high'\", 'input': '{effort}'}}]"
            )
        if len(asked.pictures) > self.most_images:
            raise self.error(f"At most {self.most_images} image(s) may be provided in one prompt.")
        self.check_context(asked)

    def check_context(self, asked: Asked) -> None:
        prompt, limit = asked.prompt_tokens, self.limit(asked) or 0
        if prompt >= self.context:
            raise self.error(
                f"This model's maximum context length is {self.context} tokens. However, your request "
                f"has {prompt} input tokens. Please reduce the length of the input messages."
            )
        if prompt + limit > self.context:
            raise self.error(
                f"'max_tokens' or 'max_completion_tokens' is too large: {limit}. This model's maximum "
                f"context length is {self.context} tokens and your request has {prompt} input tokens "
                f"({limit} > {self.context} - {prompt})."
            )

    def thought(self, asked: Asked) -> str:
        """What the model thinks, unless its chat template is told not to."""
        told = asked.fields.get("chat_template_kwargs", {}).get("enable_thinking", True)
        return THOUGHT if told and asked.fields.get("reasoning_effort") != "none" else ""

    def completion(self, asked: Asked) -> dict[str, Any]:
        thought = self.thought(asked)
        text, used, finish = self.within_limit(asked, answer(asked), thought)
        message: dict[str, Any] = {"role": "assistant", "content": text or None, "tool_calls": []}
        if thought:
            message["reasoning_content"] = thought
        return self.body(asked, message, finish, used)


class Sglang(Vllm):
    """SGLang: errors without a frame and wordings of its own; any name of a model will do."""

    def error(self, message: str, kind: str = "BadRequestError", code: int = 400) -> Refused:
        said = {"object": "error", "message": message, "type": kind, "param": None, "code": code}
        return Refused(code, said)

    def check(self, asked: Asked) -> None:
        asked.fields["model"] = self.model
        super().check(asked)

    def check_context(self, asked: Asked) -> None:
        prompt, limit = asked.prompt_tokens, self.limit(asked) or 0
        if prompt >= self.context:
            raise self.error(
                f"The input ({prompt} tokens) is longer than the model's context length "
                f"({self.context} tokens)."
            )
        if prompt + limit >= self.context:
            raise self.error(
                f"Requested token count exceeds the model's maximum context length of {self.context} "
                f"tokens. You requested a total of {prompt + limit} tokens: {prompt} tokens from the "
                f"input messages and {limit} tokens for the completion."
            )


class Ollama(Provider):
    """Ollama: knows `max_tokens` alone, and drops the beginning of what is longer than its context."""

    context = 4_096
    limit_fields = ("max_tokens",)
    thinks = True

    def check(self, asked: Asked) -> None:
        if asked.fields["model"] != self.model:
            said = f'model "{asked.fields["model"]}" not found, try pulling it first'
            raise refusal(404, said, "not_found_error")
        effort = asked.fields.get("reasoning_effort", "")
        if effort not in ("", "none", "low", "medium", "high"):
            must = '(must be "high", "medium", "low", or "none")'
            raise refusal(400, f"invalid reasoning value: '{effort}' {must}")
        if effort not in ("", "none") and not self.thinks:
            raise refusal(400, f'"{self.model}" does not support thinking')

    def completion(self, asked: Asked) -> dict[str, Any]:
        room = 4 * (self.context - (asked.prompt_tokens - len(asked.text) // 4))
        asked.text = asked.text[-room:]
        thought = THOUGHT if asked.fields.get("reasoning_effort") != "none" and self.thinks else ""
        text, used, finish = self.within_limit(asked, answer(asked), thought)
        if tokens(text) == 0:
            finish = "length"
        message = {"role": "assistant", "content": text}
        if thought:
            message["reasoning"] = thought
        return self.body(asked, message, finish, used)
