"""The HTTP body of a request to a model, and checks for requests that its server would refuse."""

import json
import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace

from methods.ids import canonical_json
from methods.prompts.messages import Image, Message, evenly, in_a_grid, with_images_at
from resources.images.store import ImageStore
from resources.llm.estimate import grid_sides, image_tokens, prompt_tokens, text_tokens, texts_of
from resources.llm.model_spec import ModelSpec
from resources.llm.request import ChatRequest, Failure
from resources.settings.prompts import require_task

Json = dict[str, object]


def wire_body(request: ChatRequest, spec: ModelSpec, images: "ImageStore | _Marks") -> Json:
    """Make the body of a chat completion request, for a live call or a line of a batch.

    Only the mock model server gets the prompt's task, in `metadata`.

    Args:
        request: The request.
        spec: The entry of its model.
        images: The source of its images, as data URLs.

    Raises:
        ImageNotStored: An image is missing in the store.
        PromptError: A request to the mock model server has no task.
    """
    grid = request.image_ids if request.images_done(spec) == "grid" else []

    def url_of(image_id: str) -> str:
        if grid:
            return images.grid_base64(grid, spec.max_side * grid_sides(len(grid)))
        return images.jpeg_base64(image_id, spec.max_side)

    body: Json = {
        "model": spec.model,
        "messages": [_message(message, spec, url_of) for message in _shown(request, spec)],
        **spec.params(request.params),
    }
    if request.schema and spec.sends_schema():
        shape = {"name": "reply", "schema": request.schema, "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": shape}
    if spec.provider == "mock" and request.task is not None:
        body["metadata"] = {"task": require_task(request.task, request.prompt_version)}
    return body


def _shown(request: ChatRequest, spec: ModelSpec) -> Sequence[Message]:
    """Reduce the images of the messages to those that the model takes: as a grid or as a sample.

    With `many_images: fail`, a request with too many images is not sent at all.
    """
    match request.images_done(spec):
        case "grid":
            return in_a_grid(request.messages)
        case "sample":
            places = evenly(len(request.image_ids), spec.max_images)
            return with_images_at(request.messages, places)
        case _:
            return request.messages


def _message(message: Message, spec: ModelSpec, url_of: Callable[[str], str]) -> Json:
    """Make a message with its texts and images in order. The store caches the data URLs of images."""
    content: list[Json] = []
    for part in message.parts:
        if isinstance(part, Image):
            image_url = {"url": url_of(part.image_id), "detail": spec.detail}
            content.append({"type": "image_url", "image_url": image_url})
        else:
            content.append({"type": "text", "text": part.text})
    # A message without images is sent as a string: some servers accept nothing
    # else outside user messages.
    text = "".join(str(part["text"]) for part in content if part["type"] == "text")
    has_images = any(part["type"] == "image_url" for part in content)
    return {"role": message.role, "content": content if has_images else text}


def unsendable(request: ChatRequest, spec: ModelSpec, key: str) -> Failure | None:
    """Check whether a request has more images or a longer prompt than the model takes.

    Args:
        request: The request that is to be sent.
        spec: The entry of its model.
        key: Its key in the ledger, for the failure.

    Returns:
        A failure of the kind `text_only` or `too_long`; None for a request that may be sent.
    """
    if request.image_ids and spec.max_images == 0:
        return Failure(
            key,
            "text_only",
            f"The request has images, and {spec.name} takes none (max_images: 0 in models.yaml).",
        )
    if request.images_done(spec) == "fail":
        n_images = len(request.image_ids)
        return Failure(key, "too_long", f"{n_images} images, {spec.name} takes {spec.max_images}.")
    if spec.context_tokens is None:
        return None
    likely, images = prompt_tokens(request, spec), ""
    if request.image_ids and spec.counts_images():
        images = (
            f", {image_tokens(spec)} for each image of the largest size by image_tokens among them"
        )
    elif request.image_ids:
        # The token count of an image at this server is a guess, and not a reason to refuse the request.
        likely = text_tokens("".join(texts_of(request)))
    if likely <= spec.context_tokens:
        return None
    settings = "context_tokens and image_tokens" if images else "context_tokens"
    return Failure(
        key,
        "too_long",
        f"The prompt has about {likely} tokens{images}, and {spec.name} takes {spec.context_tokens} "
        f"(context_tokens): correct {settings} of its entry in models.yaml, or send less.",
    )


class RefusedSchemas:
    """JSON schemas that servers refused in this run, for entries without `structured_output`."""

    def __init__(self) -> None:
        self._refused: set[tuple[str, str]] = set()

    def add(self, request: ChatRequest) -> None:
        """Record that the server refused the schema of a request."""
        self._refused.add((request.model, canonical_json(request.schema)))

    def fitting(self, request: ChatRequest) -> ChatRequest:
        """Return the request, without its schema if the server has refused that schema."""
        if not self._refused or request.schema is None:
            return request
        is_refused = (request.model, canonical_json(request.schema)) in self._refused
        return replace(request, schema=None) if is_refused else request


class ImagesRefused(Exception):
    """The request is not sent, because the server refused an earlier request for its images."""


class RefusedImages:
    """Models whose server refused the first images of this run. They get no more images in this run.

    If a model has answered a request with images before, a refusal only fails its own request.
    """

    def __init__(self) -> None:
        self._refused: dict[str, str] = {}
        self._answered: set[str] = set()

    def answered(self, request: ChatRequest) -> None:
        """Record that the server answered a request."""
        if request.image_ids:
            self._answered.add(request.model)

    def add(self, request: ChatRequest, detail: str) -> None:
        """Record that the server refused a request because of its images.

        Args:
            request: The request.
            detail: The message of the failure.
        """
        if request.image_ids and request.model not in self._answered:
            self._refused[request.model] = detail

    def check(self, request: ChatRequest) -> None:
        """Raise ImagesRefused for a request with images to a model whose server refused images."""
        if request.image_ids and (detail := self._refused.get(request.model)):
            raise ImagesRefused(f"Not sent. {detail}")


_MARK = secrets.token_hex(16)
"""A placeholder that occurs in no text: it is random in each process, and never leaves the process."""


class _Marks:
    """Replaces each data URL by a placeholder while the JSON is encoded; `filled` inserts the URLs.

    Escaping the long URLs would take longer than encoding the rest.
    """

    def __init__(self, images: ImageStore):
        self._images = images
        self._urls: list[str] = []

    def jpeg_base64(self, image_id: str, max_side: int) -> str:
        self._urls.append(self._images.jpeg_base64(image_id, max_side))
        return _MARK

    def grid_base64(self, image_ids: Sequence[str], max_side: int) -> str:
        self._urls.append(self._images.grid_base64(image_ids, max_side))
        return _MARK

    def filled(self, body: str) -> str:
        """Replace the placeholders in the JSON of a body by the URLs, in order."""
        first, *others = body.split(_MARK)
        pairs = zip(self._urls, others, strict=True)
        return "".join([first, *(part for pair in pairs for part in pair)])


class RequestTooLarge(Exception):
    """A request's body is larger than its model's entry allows; it is not sent."""


def encoded_body(request: ChatRequest, spec: ModelSpec, images: ImageStore) -> bytes:
    """Encode the body of a request as ASCII JSON on one line.

    Args:
        request: The request.
        spec: The entry of its model.
        images: The store with its images.

    Raises:
        RequestTooLarge: The body exceeds the model's limit.
        ImageNotStored: An image is missing in the store.
    """
    marks = _Marks(images)
    json_ = json.dumps(wire_body(request, spec, marks), separators=(",", ":"), allow_nan=False)
    body = marks.filled(json_)
    if len(body) > spec.max_request_bytes:
        raise RequestTooLarge(
            f"The request has {len(body)} bytes, and max_request_bytes of {spec.name} allows "
            f"{spec.max_request_bytes}: raise it, or send smaller images (max_side) or fewer."
        )
    return body.encode()
