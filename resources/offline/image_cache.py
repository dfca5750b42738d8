"""Decoding the images of requests, with a cache of their facts.

What belongs here: decoding `data:` URLs, and keeping what was measured in an image by the hash of
its URL. Part of the offline stand-in; no model is called.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
import threading
from collections import OrderedDict

from PIL import Image, UnidentifiedImageError

from resources.offline.errors import BadRequest
from resources.offline.image_facts import Facts, analyse

KEEP = 4096

_seen: OrderedDict[str, Facts] = OrderedDict()
_lock = threading.Lock()


def picture_facts(url: str) -> tuple[str, Facts]:
    """Return the hash and the facts of the picture a `data:` URL carries.

    A picture seen before is neither decoded nor measured again.
    """
    key = hashlib.sha256(url.encode("utf-8", "surrogatepass")).hexdigest()
    with _lock:
        if key in _seen:
            _seen.move_to_end(key)
            return key, _seen[key]
    facts = _measure(_decoded(url))
    with _lock:
        _seen[key] = facts
        while len(_seen) > KEEP:
            _seen.popitem(last=False)
    return key, facts


def _decoded(url: str) -> bytes:
    head, comma, payload = url.partition(",")
    if not (comma and head.startswith("data:image/") and head.endswith(";base64")):
        raise BadRequest(
            "image_url must be a base64 data:image URL; this offline server fetches nothing."
        )
    try:
        return base64.b64decode(payload, validate=True)
    except (binascii.Error, ValueError):
        raise BadRequest("The base64 of an image_url cannot be decoded.") from None


def _measure(data: bytes) -> Facts:
    try:
        with Image.open(io.BytesIO(data)) as image:
            return analyse(image)
    except (UnidentifiedImageError, Image.DecompressionBombError):
        raise BadRequest("The image data is not a picture that can be read.") from None
    except (OSError, ValueError, SyntaxError, EOFError) as error:
        raise BadRequest(f"The image data is damaged: {error}.") from None
