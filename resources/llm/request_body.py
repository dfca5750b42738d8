"""A request's body in bytes, of a size that the model's server takes.

What belongs here: JSON as bytes, and the limit on their number, the same for live and batched requests.
What is in the body is `wire.py`.
"""

import json

from resources.images.store import ImageStore
from resources.llm.model_spec import ModelSpec
from resources.llm.request import ChatRequest
from resources.llm.wire import wire_body


class RequestTooLarge(Exception):
    """A request's body is larger than its model's entry allows; it is not sent."""


def encoded_body(request: ChatRequest, spec: ModelSpec, images: ImageStore) -> bytes:
    """The body of a request as ASCII, on one line.

    Raises RequestTooLarge, resources.images.store.ImageNotStored.
    """
    body = json.dumps(wire_body(request, spec, images), separators=(",", ":"), allow_nan=False)
    if len(body) > spec.max_request_bytes:
        raise RequestTooLarge(
            f"The request has {len(body)} bytes, and max_request_bytes of {spec.name} allows "
            f"{spec.max_request_bytes}: raise it, or send smaller images (max_side) or fewer."
        )
    return body.encode()
