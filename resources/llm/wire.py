"""Requests in the JSON format of the OpenAI protocol."""

from methods.prompts.many_images import Grid, Shown, all_shown, in_a_grid, sampled
from methods.prompts.messages import Image
from resources.images.store import ImageStore
from resources.llm.estimate import grid_sides
from resources.llm.model_spec import ModelSpec
from resources.llm.request import ChatRequest
from resources.prompts import require_task

Json = dict[str, object]


def wire_body(request: ChatRequest, spec: ModelSpec, images: ImageStore) -> Json:
    """The body of a chat completion request, sent live or as a line of a batch.

    The offline model server is told the prompt's task in `metadata`; no other provider is. Raises
    resources.images.store.ImageNotStored, resources.prompts.PromptError where that task is missing.
    """
    body: Json = {
        "model": spec.model,
        "messages": [_message(message, spec, images) for message in _shown(request, spec)],
        **spec.params(request.params),
    }
    if request.schema and spec.structured_output:
        shape = {"name": "reply", "schema": request.schema, "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": shape}
    if spec.provider == "offline" and request.task is not None:
        body["metadata"] = {"task": require_task(request.task, request.prompt_version)}
    return body


def _shown(request: ChatRequest, spec: ModelSpec) -> list[Shown]:
    """The messages with no more images than the model takes, as the request or the entry says.

    Where the entry says `fail`, such a request is not sent at all (`unsendable.py`).
    """
    match request.images_done(spec):
        case "grid":
            return in_a_grid(request.messages)
        case "sample":
            return sampled(request.messages, spec.max_images)
        case _:
            return all_shown(request.messages)


def _message(message: Shown, spec: ModelSpec, images: ImageStore) -> Json:
    """Text and images in their order; an image is a data URL that the store encodes once."""
    content: list[Json] = []
    for part in message.parts:
        if isinstance(part, Image):
            content.append(_picture(images.jpeg_base64(part.image_id, spec.max_side), spec))
        elif isinstance(part, Grid):
            side = spec.max_side * grid_sides(len(part.image_ids))
            content.append(_picture(images.grid_base64(part.image_ids, side), spec))
        else:
            content.append({"type": "text", "text": part.text})
    # Text alone is sent as a string: some servers accept nothing else outside user messages.
    text = "".join(str(part["text"]) for part in content if part["type"] == "text")
    has_images = any(part["type"] == "image_url" for part in content)
    return {"role": message.role, "content": content if has_images else text}


def _picture(url: str, spec: ModelSpec) -> Json:
    return {"type": "image_url", "image_url": {"url": url, "detail": spec.detail}}
