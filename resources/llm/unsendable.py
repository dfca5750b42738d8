"""Requests that are not sent, since the server would not take them: so says the model's entry, or what
the server refused before.

What belongs here: deciding that before anything is paid, with a sentence that says what to change.
"""

from collections import defaultdict
from typing import NamedTuple

from resources.llm.estimate import prompt_tokens, texts_of
from resources.llm.model_spec import ModelSpec
from resources.llm.request import ChatRequest, Failure


def unsendable(request: ChatRequest, spec: ModelSpec, key: str) -> Failure | None:
    """The failure of a request with more images or a longer prompt than the model takes."""
    if request.images_done(spec) == "fail":
        n_images = len(request.image_ids)
        return Failure(key, "too_long", f"{n_images} images, {spec.name} takes {spec.max_images}.")
    if spec.context_tokens is None:
        return None
    likely = prompt_tokens(request, spec)
    if likely <= spec.context_tokens:
        return None
    return Failure(
        key,
        "too_long",
        f"The prompt has about {likely} tokens, {spec.name} takes {spec.context_tokens} "
        "(context_tokens in models.yaml).",
    )


LONGER = 4
"""How many times the text of a refused request another text has that is certainly longer: a token has
one character of some texts and four of others."""


class _Sent(NamedTuple):
    """What a server may count of a request. How much an image counts is the server's to know."""

    text: str
    image_ids: tuple[str, ...]
    n_answer: int

    @classmethod
    def of(cls, request: ChatRequest, spec: ModelSpec) -> "_Sent":
        answer = spec.longest_answer(request.params)
        return cls("".join(texts_of(request)), tuple(request.image_ids), answer)

    def is_longer(self, other: "_Sent") -> bool:
        """Whether it has all images of the other, and its text or so much text of its own."""
        return (
            self.n_answer >= other.n_answer
            and self.image_ids[: len(other.image_ids)] == other.image_ids
            and (self.text.startswith(other.text) or _size(self.text) >= LONGER * _size(other.text))
        )


def _size(text: str) -> int:
    """Bytes: a letter that takes several is a token more often than one that takes one."""
    return len(text.encode("utf-8", "replace"))


class RefusedLengths:
    """Requests that servers refused as too long in this run, by entry: no longer one is sent."""

    def __init__(self) -> None:
        self._of = defaultdict[str, list[_Sent]](list)

    def add(self, request: ChatRequest, spec: ModelSpec) -> None:
        """The server refused this request as too long."""
        sent = _Sent.of(request, spec)
        others = [each for each in self._of[spec.name] if not each.is_longer(sent)]
        self._of[spec.name] = [*others, sent]

    def failure(self, request: ChatRequest, spec: ModelSpec, key: str) -> Failure | None:
        """The failure of a request that is longer than one that was refused."""
        if spec.name not in self._of:
            return None
        if not any(map(_Sent.of(request, spec).is_longer, self._of[spec.name])):
            return None
        return Failure(
            key,
            "too_long",
            "The server refused a shorter prompt as too long in this run: set context_tokens, or a "
            f"smaller token_limit.tokens or max_side, in the entry {spec.name} of models.yaml.",
        )
