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


LONGER = 1.25
"""How many times the text or the images of a refused request a longer one has: one that has little more
may be fewer tokens."""


class _Length(NamedTuple):
    """What a server may count of a request; `n_more_bytes` are those of letters that take several."""

    n_characters: int
    n_more_bytes: int
    n_images: int
    n_answer: int

    @classmethod
    def of(cls, request: ChatRequest, spec: ModelSpec) -> "_Length":
        text = "".join(texts_of(request))
        n_more_bytes = len(text.encode("utf-8", "replace")) - len(text)
        answer = spec.longest_answer(request.params)
        return cls(len(text), n_more_bytes, len(request.image_ids), answer)

    def has_all_of(self, other: "_Length") -> bool:
        """Whether nothing of it is less than the other's."""
        return all(own >= its for own, its in zip(self, other, strict=True))

    def exceeds(self, other: "_Length") -> bool:
        """Whether nothing of it is less than the other's, and its text or its images are many more."""
        return self.has_all_of(other) and (
            sum(self[:2]) >= LONGER * sum(other[:2])
            or self.n_images >= LONGER * max(other.n_images, 1)
        )


class RefusedLengths:
    """Requests that servers refused as too long in this run, by entry: no longer one is sent.

    Texts in another script, more of one and less of another, are not compared: they are sent.
    """

    def __init__(self) -> None:
        self._of = defaultdict[str, list[_Length]](list)

    def add(self, request: ChatRequest, spec: ModelSpec) -> None:
        """The server refused this request as too long."""
        length = _Length.of(request, spec)
        others = [each for each in self._of[spec.name] if not each.has_all_of(length)]
        self._of[spec.name] = [*others, length]

    def failure(self, request: ChatRequest, spec: ModelSpec, key: str) -> Failure | None:
        """The failure of a request that is longer than one that was refused."""
        if spec.name not in self._of:
            return None
        length = _Length.of(request, spec)
        if not any(map(length.exceeds, self._of[spec.name])):
            return None
        return Failure(
            key,
            "too_long",
            "The server refused a shorter prompt as too long in this run: set context_tokens, or a "
            f"smaller token_limit.tokens or max_side, in the entry {spec.name} of models.yaml.",
        )
