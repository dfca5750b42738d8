"""Requests as they go over the wire, in the form of the OpenAI protocol."""

from methods.messages import Image
from resources.image_store import ImageStore
from resources.llm.request import ChatRequest


def wire_messages(
    request: ChatRequest, images: ImageStore, max_side: int
) -> list[dict[str, object]]:
    """Messages with text and images in their order; an image is inlined, encoded once by the store.

    Raises resources.image_store.ImageNotStored.
    """
    wire: list[dict[str, object]] = []
    for message in request.messages:
        content: list[dict[str, object]] = []
        for part in message.parts:
            if isinstance(part, Image):
                url = images.jpeg_base64(part.image_id, max_side)
                content.append({"type": "image_url", "image_url": {"url": url}})
            else:
                content.append({"type": "text", "text": part.text})
        # A text alone goes as a string: some servers take nothing else outside user messages.
        text = "".join(str(part["text"]) for part in content if part["type"] == "text")
        has_images = any(part["type"] == "image_url" for part in content)
        wire.append({"role": message.role, "content": content if has_images else text})
    return wire
