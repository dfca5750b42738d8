"""Capability checks of a model by requests: text, images, structured output, a long prompt, speed.

Each check sends new requests, because stored answers may describe an earlier state of the server.
"""

import io
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from PIL import Image as Picture

from dagster_project.model_measures import (
    TokenRate,
    context_settings,
    image_settings,
    room_for_prompt,
    slots_of,
    speed_settings,
)
from methods.json_text import from_json
from methods.prompts.messages import Image, Message, Part, Text
from resources.images.store import ImageStore
from resources.llm.estimate import CHARACTERS_PER_TOKEN, text_tokens
from resources.llm.gateway import Gateway
from resources.llm.model_calls import AuthError, ModelCalls
from resources.llm.model_spec import ModelSpec
from resources.llm.request import KEPT_KINDS, ChatRequest, Completion, Failure, Outcome

VERSION = "check-model@1"
PARAMS = {"temperature": 0.0, "max_tokens": 2048}
"""The same parameters as in the stages, so that the check finds those that a server rejects."""
MANY_IMAGES = 20
FEWER_IMAGES = (16, 8, 4, 2)
LONG_TOKENS = 8_000
"""Context length to test if the model's entry has no `context_tokens`."""
_FULL = 0.9
"""Share of the context that the long prompt fills, chosen by hand: the estimate of its tokens may be
too low.
"""
_READ = 0.75
"""If the server counts less than this share of the estimated tokens, it has truncated the prompt."""
_SIDE = 256
"""Pixels of a side of the test images, which are square."""
_CODE_WORD = "heron"
_COLOUR = Text("Say in one word what colour this is.")
_OF_IMAGES = ("one image", "many images", "image tokens")
TOGETHER = 4
"""Requests sent at the same time, to measure how many the server processes in parallel."""
_QUOTED = 60
"""Characters of an answer that the result quotes."""
SCHEMA = {
    "type": "object",
    "properties": {"colour": {"type": "string"}},
    "required": ["colour"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class ModelCheckResult:
    """The result of one check: whether it works (None: not tried), a message, and its cost.

    `settings` are fields for the model's entry in models.yaml, with the values that the check found.
    """

    what: str
    works: bool | None
    message: str
    tokens: int = 0
    cost_usd: float = 0.0
    settings: Mapping[str, Any] = field(default_factory=dict)


def check(gateway: Gateway, spec: ModelSpec) -> Iterator[ModelCheckResult]:
    """Run all checks of a model; if text does not work, the other checks are skipped.

    Raises the errors of `ModelCalls.outcome_of`, except for a refused key, which is a result.

    Args:
        gateway: The gateway of the model.
        spec: The entry of the model.
    """
    with tempfile.TemporaryDirectory(prefix="vlm-loom-check-") as folder:
        # The test images are not needed later, so they are kept out of the workspace's store.
        gateway.context.images = ImageStore(Path(folder))
        tries = _ModelCheck(gateway, spec)
        text = tries.text()
        yield text
        if not text.works:
            for what in (*_OF_IMAGES, "JSON schema", "long prompt", "speed"):
                yield ModelCheckResult(what, None, "since text does not work")
            return
        if spec.max_images == 0:
            for what in _OF_IMAGES:
                yield ModelCheckResult(what, None, "since max_images is 0")
        else:
            yield tries.one_image()
            yield tries.many_images()
            yield tries.image_tokens()
        yield tries.schema()
        yield tries.long_prompt()
        yield tries.speed()


def most_images(gateway: Gateway, spec: ModelSpec) -> int:
    """Find how many images a model takes in one request, after `check` failed with many images.

    Args:
        gateway: A gateway that has the model.
        spec: The model's entry, which takes at least one image.

    Returns:
        The largest number of `FEWER_IMAGES` that the model answers, or 1.
    """
    with tempfile.TemporaryDirectory(prefix="vlm-loom-check-") as folder:
        gateway.context.images = ImageStore(Path(folder))
        return _ModelCheck(gateway, spec).most_images()


class _ModelCheck:
    def __init__(self, gateway: Gateway, spec: ModelSpec):
        self._gateway, self._spec = gateway, spec
        self._when = int(time.time())
        self._one_image: Outcome | None = None

    def text(self) -> ModelCheckResult:
        return _plain("text", self._ask(Text("Say in one word what colour grass has.")))

    def one_image(self) -> ModelCheckResult:
        self._one_image = self._ask(*self._pictures(1), _COLOUR)
        finding = _plain("one image", self._one_image)
        if isinstance(self._one_image, Failure) and self._one_image.kind == "text_only":
            return replace(finding, settings={"max_images": 0})
        return finding

    def many_images(self) -> ModelCheckResult:
        spec = self._spec
        n_images = min(MANY_IMAGES, spec.max_images) if spec.many_images == "fail" else MANY_IMAGES
        question = Text("Say how many images there are.")
        finding = _plain(f"{n_images} images", self._ask(*self._pictures(n_images), question))
        sent = f"as a {spec.many_images}; " if n_images > spec.max_images else ""
        return replace(finding, message=sent + finding.message)

    def image_tokens(self) -> ModelCheckResult:
        """Measure the tokens of an image by prompts with a small image, a large image and no image."""
        what, spec = "image tokens", self._spec
        if not isinstance(self._one_image, Completion):
            return ModelCheckResult(what, None, "since one image does not work")
        outcomes = (self._ask(_COLOUR), self._ask(*self._pictures(1, spec.max_side), _COLOUR))
        tokens = sum(each.prompt_tokens + each.completion_tokens for each in outcomes)
        cost = sum(each.cost_usd for each in outcomes)
        small, none, large = (each.prompt_tokens for each in (self._one_image, *outcomes))
        if not all(isinstance(each, Completion) for each in outcomes) or min(small, large) <= none:
            remark = "the server does not say how many tokens a prompt with an image has"
            return ModelCheckResult(what, False, remark, tokens, cost)
        settings = image_settings(spec, small - none, large - none)
        remark = f"{small - none} for {_SIDE} pixels a side, {large - none} for {spec.max_side}"
        return ModelCheckResult(what, True, remark, tokens, cost, settings)

    def speed(self) -> ModelCheckResult:
        """Measure the tokens per second of one request, and how many requests run in parallel."""
        what, n = "speed", min(TOGETHER, self._spec.concurrency)
        alone, first = self._timed(1)
        together, others = self._timed(n)
        tokens = sum(each.prompt_tokens + each.completion_tokens for each in (*first, *others))
        cost = sum(each.cost_usd for each in (*first, *others))
        if failed := [each for each in (*first, *others) if _is_lost(each)]:
            return replace(_plain(what, failed[0]), tokens=tokens, cost_usd=cost)
        slots = slots_of(alone, together, n)
        at_once = f"at least {n}" if slots is None else str(slots)
        remark = f"{alone.per_second:.0f} tokens of an answer a second, {at_once} at once"
        settings = speed_settings(self._spec, alone, slots, self._spec.longest_answer(PARAMS))
        return ModelCheckResult(what, True, remark, tokens, cost, settings)

    def _timed(self, n: int) -> tuple[TokenRate, list[Outcome]]:
        """Send `n` requests with long answers at the same time; return total rate and outcomes."""
        began = time.monotonic()
        outcomes = self._ask_all(
            [(Text(f"Count from {10 * n + number} to 99 in words."),) for number in range(n)]
        )
        pace = TokenRate(sum(each.completion_tokens for each in outcomes), time.monotonic() - began)
        return pace, outcomes

    def schema(self) -> ModelCheckResult:
        """Check structured output with a JSON schema, even if the entry switches it off."""
        models, said_so = self._gateway.registry.models, self._spec.structured_output
        models[self._spec.name] = self._spec.model_copy(update={"structured_output": True})
        try:
            outcome = self._ask(Text("Say in JSON what colour grass has."), schema=SCHEMA)
        finally:
            models[self._spec.name] = self._spec
        finding = _plain("JSON schema", outcome)
        works = isinstance(outcome, Completion) and _fits(outcome.text)
        is_off = said_so is False
        settings: dict[str, object] = {}
        if works:
            remark = "set `structured_output: true` to use it" if is_off else "used"
        elif is_off:
            return replace(finding, works=False, message="leave `structured_output: false`")
        elif isinstance(outcome, Failure) and outcome.kind != "bad_parameter":
            return finding
        else:
            refused = isinstance(outcome, Failure)
            reason = "the server refuses it" if refused else "the reply is not held to it"
            remark = f"set `structured_output: false`, as {reason}"
            settings = {"structured_output": False}
        return replace(
            finding, works=works, message=f"{remark} ({finding.message})", settings=settings
        )

    def long_prompt(self) -> ModelCheckResult:
        """Check a prompt that fills the context: its end asks for a word from its beginning."""
        n_tokens = int((self._spec.context_tokens or LONG_TOKENS) * _FULL)
        opening = f"The code word is {_CODE_WORD}. "
        closing = " Say in one word what the code word is."
        length = n_tokens * CHARACTERS_PER_TOKEN - len(opening) - len(closing)
        filling = ("The lake lay still. " * (length // 20 + 1))[: max(0, length)]
        outcome = self._ask(Text(opening + filling + closing))
        finding = _plain(f"{text_tokens(opening + filling + closing)} tokens", outcome)
        repeats_word = isinstance(outcome, Completion) and _CODE_WORD in outcome.text.lower()
        if isinstance(outcome, Failure):
            return replace(finding, settings=context_settings(outcome.detail))
        if repeats_word or not finding.works or outcome.prompt_tokens >= n_tokens * _READ:
            return finding
        room = room_for_prompt(outcome.prompt_tokens)
        remark = (
            f"the server read {outcome.prompt_tokens} tokens, and the beginning was not among them: "
            "give it a longer context (Ollama: OLLAMA_CONTEXT_LENGTH), or set `context_tokens: "
            f"{room}` in the entry {self._spec.name} of models.yaml"
        )
        settings = {"context_tokens": room}
        return replace(finding, works=False, message=remark, settings=settings)

    def most_images(self) -> int:
        """Return the number of images that one request may have, by trying fewer and fewer."""
        for n_images in FEWER_IMAGES:
            question = Text("Say how many images there are.")
            if isinstance(self._ask(*self._pictures(n_images), question), Completion):
                return n_images
        return 1

    def _pictures(self, n_images: int, side: int = _SIDE) -> list[Image]:
        """Create images of one colour each."""
        ids = []
        for number in range(n_images):
            buffer = io.BytesIO()
            Picture.new("RGB", (side, side), (250 - 12 * number, 12 * number, 90)).save(
                buffer, "PNG"
            )
            ids.append(self._gateway.context.images.put(buffer.getvalue()).image_id)
        return [Image(image_id) for image_id in ids]

    def _ask(self, *parts: Part, schema: dict[str, object] | None = None) -> Outcome:
        return self._ask_all([parts], schema)[0]

    def _ask_all(
        self, prompts: Sequence[tuple[Part, ...]], schema: dict[str, object] | None = None
    ) -> list[Outcome]:
        name, when = self._spec.name, self._when
        requests = [
            ChatRequest(name, (Message("user", parts),), VERSION, PARAMS, schema, replicate=when)
            for parts in prompts
        ]
        try:
            outcomes, _ = self._gateway.map("check-model", requests, ModelCalls.outcome_of)
        except AuthError as refused:
            return [Failure("", "auth", str(refused)) for _ in requests]
        return outcomes


def _plain(what: str, outcome: Outcome) -> ModelCheckResult:
    """Return a result that counts any answer as success."""
    tokens = outcome.prompt_tokens + outcome.completion_tokens
    if isinstance(outcome, Completion):
        text = " ".join(outcome.text.split())
        remark = f'"{text if len(text) <= _QUOTED else text[:_QUOTED] + "..."}"'
        remark += ", after reasoning" if outcome.reasoning else ""
        return ModelCheckResult(what, True, remark, tokens, outcome.cost_usd)
    return ModelCheckResult(
        what, False, f"{outcome.kind}: {outcome.detail}", tokens, outcome.cost_usd
    )


def _is_lost(outcome: Outcome) -> bool:
    """Tell whether there is no answer. A truncated answer counts: it measures the speed, too."""
    return isinstance(outcome, Failure) and outcome.kind not in KEPT_KINDS


def _fits(text: str) -> bool:
    try:
        return isinstance(from_json(text)["colour"], str)
    except (ValueError, LookupError, TypeError):
        return False
