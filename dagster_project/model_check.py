"""What a model can do, found out by asking it: text, images, a schema, a long prompt.

What belongs here: the requests, and what their outcomes say. Each check sends new requests: what a
server could do last month is not asked of the ledger.
"""

import io
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from PIL import Image as Picture

from methods.json_text import from_json
from methods.prompts.messages import Image, Message, Part, Text
from resources.images.store import ImageStore
from resources.llm.estimate import CHARACTERS_PER_TOKEN, text_tokens
from resources.llm.gateway import Gateway
from resources.llm.model_calls import AuthError, ModelCalls
from resources.llm.model_spec import ModelSpec
from resources.llm.request import ChatRequest, Completion, Failure, Outcome

VERSION = "check-model@1"
PARAMS = {"temperature": 0.0, "max_tokens": 2048}
"""What the stages ask for, so that what a server does not take of it is found out."""
MANY_IMAGES = 20
FEWER_IMAGES = (16, 8, 4, 2)
LONG_TOKENS = 8_000
"""Tokens of the long prompt where the entry does not say what the model takes."""
_FULL = 0.9
"""Part of the context that the long prompt fills: an estimate of its tokens may be too low."""
_READ = 0.75
"""Part of the long prompt's tokens, as estimated, that a server counts if it read all of it."""
ANSWER_TOKENS = 2048
"""Tokens of the context that are kept for the answer, or half of a smaller context."""
_SIDE = 256
_CODE_WORD = "heron"
_QUOTED = 60
"""Characters of an answer that are shown."""
SCHEMA = {
    "type": "object",
    "properties": {"colour": {"type": "string"}},
    "required": ["colour"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Finding:
    """Whether something works (None: not tried), what is to be said of it, and what it cost.

    `settings` are fields of the entry that make it work, or make use of it.
    """

    what: str
    works: bool | None
    said: str
    tokens: int = 0
    cost_usd: float = 0.0
    settings: Mapping[str, Any] = field(default_factory=dict)


def check(gateway: Gateway, spec: ModelSpec) -> Iterator[Finding]:
    """Try one thing after another; text first, and nothing else where it does not work.

    Raises what `ModelCalls.outcome_of` raises, but for a refused key, which is a finding.
    """
    with tempfile.TemporaryDirectory(prefix="vlm-loom-check-") as folder:
        # The pictures are of no use later, so the home's store does not get them.
        gateway.context.images = ImageStore(Path(folder))
        tries = _Tries(gateway, spec)
        text = tries.text()
        yield text
        if not text.works:
            for what in ("one image", "many images", "JSON schema", "long prompt"):
                yield Finding(what, None, "since text does not work")
            return
        yield tries.one_image()
        yield tries.many_images()
        yield tries.schema()
        yield tries.long_prompt()


def room_for_prompt(context: int) -> int:
    """The tokens that a prompt may have in a context of so many tokens, so that an answer fits, too."""
    return context - min(ANSWER_TOKENS, context // 2)


def most_images(gateway: Gateway, spec: ModelSpec) -> int:
    """How many images a model takes in one request, where it does not take as many as `check` tries.

    Args:
        gateway: A gateway that has the model.
        spec: The model's entry, which takes at least one image.

    Returns:
        The largest number of `FEWER_IMAGES` that is answered, or 1.
    """
    with tempfile.TemporaryDirectory(prefix="vlm-loom-check-") as folder:
        gateway.context.images = ImageStore(Path(folder))
        return _Tries(gateway, spec).most_images()


class _Tries:
    def __init__(self, gateway: Gateway, spec: ModelSpec):
        self._gateway, self._spec = gateway, spec
        self._when = int(time.time())

    def text(self) -> Finding:
        return _plain("text", self._ask(Text("Say in one word what colour grass has.")))

    def one_image(self) -> Finding:
        asked = self._ask(*self._pictures(1), Text("Say in one word what colour this is."))
        return _plain("one image", asked)

    def many_images(self) -> Finding:
        spec = self._spec
        n_images = min(MANY_IMAGES, spec.max_images) if spec.many_images == "fail" else MANY_IMAGES
        question = Text("Say how many images there are.")
        finding = _plain(f"{n_images} images", self._ask(*self._pictures(n_images), question))
        sent = f"as a {spec.many_images}; " if n_images > spec.max_images else ""
        return replace(finding, said=sent + finding.said)

    def schema(self) -> Finding:
        """A reply held to a schema, whether or not the entry says that the server can."""
        models, said_so = self._gateway.registry.models, self._spec.structured_output
        models[self._spec.name] = self._spec.model_copy(update={"structured_output": True})
        try:
            outcome = self._ask(Text("Say in JSON what colour grass has."), schema=SCHEMA)
        finally:
            models[self._spec.name] = self._spec
        finding = _plain("JSON schema", outcome)
        works = isinstance(outcome, Completion) and _fits(outcome.text)
        if works:
            remark = (
                finding.said
                if said_so
                else f"set `structured_output: true` to use it ({finding.said})"
            )
        elif isinstance(outcome, Completion):
            change = "set" if said_so else "leave"
            remark = (
                f"{change} `structured_output: false`, as the reply is not held to it "
                f"({finding.said})"
            )
        else:
            remark = (
                finding.said if said_so else f"leave `structured_output: false` ({finding.said})"
            )
        settings = {"structured_output": True} if works else {}
        return replace(finding, works=works, said=remark, settings=settings)

    def long_prompt(self) -> Finding:
        """A prompt about as long as the context, whose beginning is asked for at its end."""
        n_tokens = int((self._spec.context_tokens or LONG_TOKENS) * _FULL)
        opening = f"The code word is {_CODE_WORD}. "
        closing = " Say in one word what the code word is."
        length = n_tokens * CHARACTERS_PER_TOKEN - len(opening) - len(closing)
        filling = ("The lake lay still. " * (length // 20 + 1))[: max(0, length)]
        outcome = self._ask(Text(opening + filling + closing))
        finding = _plain(f"{text_tokens(opening + filling + closing)} tokens", outcome)
        seen = isinstance(outcome, Completion) and _CODE_WORD in outcome.text.lower()
        if seen or not finding.works or outcome.prompt_tokens >= n_tokens * _READ:
            return finding
        room = room_for_prompt(outcome.prompt_tokens)
        remark = (
            f"the server read {outcome.prompt_tokens} tokens, and the beginning was not among them: "
            "give it a longer context (Ollama: OLLAMA_CONTEXT_LENGTH), or set `context_tokens: "
            f"{room}` in the entry {self._spec.name} of models.yaml"
        )
        settings = {"context_tokens": room}
        return replace(finding, works=False, said=remark, settings=settings)

    def most_images(self) -> int:
        """Images of a request that the model takes, by trying fewer and fewer."""
        for n_images in FEWER_IMAGES:
            question = Text("Say how many images there are.")
            if isinstance(self._ask(*self._pictures(n_images), question), Completion):
                return n_images
        return 1

    def _pictures(self, n_images: int) -> list[Image]:
        """Pictures of one colour each."""
        ids = []
        for number in range(n_images):
            buffer = io.BytesIO()
            Picture.new("RGB", (_SIDE, _SIDE), (250 - 12 * number, 12 * number, 90)).save(
                buffer, "PNG"
            )
            ids.append(self._gateway.context.images.put(buffer.getvalue()).image_id)
        return [Image(image_id) for image_id in ids]

    def _ask(self, *parts: Part, schema: dict[str, object] | None = None) -> Outcome:
        messages = (Message("user", parts),)
        request = ChatRequest(
            self._spec.name, messages, VERSION, PARAMS, schema, replicate=self._when
        )
        try:
            (outcome,), _ = self._gateway.map("check-model", [request], ModelCalls.outcome_of)
        except AuthError as refused:
            return Failure("", "auth", str(refused))
        return outcome


def _plain(what: str, outcome: Outcome) -> Finding:
    """A finding that any answer is good for."""
    tokens = outcome.prompt_tokens + outcome.completion_tokens
    if isinstance(outcome, Completion):
        text = " ".join(outcome.text.split())
        remark = f'"{text if len(text) <= _QUOTED else text[:_QUOTED] + "..."}"'
        remark += ", after reasoning" if outcome.reasoning else ""
        return Finding(what, True, remark, tokens, outcome.cost_usd)
    return Finding(what, False, f"{outcome.kind}: {outcome.detail}", tokens, outcome.cost_usd)


def _fits(text: str) -> bool:
    try:
        return isinstance(from_json(text)["colour"], str)
    except (ValueError, LookupError, TypeError):
        return False
