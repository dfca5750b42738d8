"""The real model of texts, which encodes a text once in a run of the tests."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from resources.embedding.embedder import Embedder


class RememberingEmbedder(Embedder):
    """The packaged model; most tests encode texts that an earlier one has encoded."""

    def __init__(self) -> None:
        super().__init__()
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if new:
            self._vectors.update(zip(new, super().encode(new), strict=True))
        return np.stack([self._vectors[text] for text in texts]) if texts else super().encode([])
