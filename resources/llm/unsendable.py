"""Requests that are not sent, since the model's entry says that the server would not take them.

What belongs here: deciding that before anything is paid, with a sentence that says what to change.
"""

from resources.llm.estimate import prompt_tokens
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
