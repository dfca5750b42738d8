"""Pictures that are made of others, in the image store, and a note of what they were made of.

What belongs here: opening and keeping them. How a picture is changed is the caller's.
"""

import io
from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

from PIL import Image

from methods.ingest.picture import upright_rgb
from resources.images.store import JPEG_QUALITY, ImageStore

OPEN_AT_ONCE = 16


class DerivedPicture(NamedTuple):
    """A picture of the store that was made of others, and what was done to them."""

    image_id: str
    made_from: tuple[str, ...]
    change: str


class DerivedPictures:
    """Opens pictures of the store and keeps new ones; `made` has a note of each, by id."""

    def __init__(self, store: ImageStore) -> None:
        self.made: dict[str, DerivedPicture] = {}
        self._store = store
        self._opened: OrderedDict[str, Image.Image] = OrderedDict()

    def open(self, image_id: str) -> Image.Image:
        """The picture, upright and RGB. Raises ImageNotStored."""
        if image_id not in self._opened:
            with Image.open(io.BytesIO(self._store.read(image_id))) as image:
                self._opened[image_id] = upright_rgb(image)
            if len(self._opened) > OPEN_AT_ONCE:
                self._opened.popitem(last=False)
        return self._opened[image_id]

    def keep(self, picture: Image.Image, made_from: Sequence[str], change: str) -> str:
        """The id of a picture, stored as JPEG; the same picture is stored once."""
        data = io.BytesIO()
        picture.save(data, "JPEG", quality=JPEG_QUALITY)
        image_id = self._store.put(data.getvalue()).image_id
        # The first note stays: a picture that two tasks make alike is one.
        self.made.setdefault(image_id, DerivedPicture(image_id, tuple(made_from), change))
        return image_id
