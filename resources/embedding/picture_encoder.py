"""Pictures and texts to unit vectors of one space, by a CLIP-like sentence-transformers model.

What belongs here: running such a model on pictures. Loading it, and running it on texts, is
`embedder.py`'s. No such model is packaged: a user names one.
"""

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PIL import Image

from resources.embedding.embedder import Embedder, EmbedderError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from sentence_transformers import SentenceTransformer

BATCH = 32
"""Pictures in one pass of the model."""


class PictureEncoder(Embedder):
    """Encodes pictures and texts by one model, so that their cosines say what a picture shows."""

    elsewhere = (
        "set picture_encoder of rewrite/candidates to a CLIP-like sentence-transformers model or its "
        "folder, or to nothing"
    )

    def encode_pictures(self, files: Sequence[bytes]) -> "NDArray[np.float32]":
        """Unit vectors of the pictures in `files`, shape (n, d). Raises EmbedderError."""
        import numpy as np

        pictures = [Image.open(io.BytesIO(file)).convert("RGB") for file in files]
        vectors = self._load().encode(pictures, batch_size=BATCH, show_progress_bar=False)
        return self._units(
            np.asarray(vectors, dtype=np.float32), "pictures", lambda row: f"number {row + 1}"
        )

    def _load(self) -> "SentenceTransformer":
        model = super()._load()
        if "image" not in model.modalities:
            raise EmbedderError(f"The model '{self.name}' takes no pictures: {self.elsewhere}.")
        return model
