"""The embedding model in a separate process, which loads it in the background.

Importing sentence-transformers takes seconds of one core. A build starts this process before it
ingests, so that the model is loaded when the texts are ready.
"""

import os
import subprocess
import sys
import weakref
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from methods.clustering.languages import Tokenized
from resources.embedding.embedder import (
    PACKAGED,
    TORCH,
    Embedder,
    EmbedderError,
    require_known_backend,
)
from resources.files import home

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class EmbedderProcess(Embedder):
    """An Embedder whose model is loaded and run by another process.

    Its methods also raise EmbedderError if that process has ended. It starts with the first call or
    `load_ahead`, and ends when this object is deleted or this process ends, even if killed.
    """

    _pipe: Connection | None = None
    _process: "subprocess.Popen[bytes]"

    def load_ahead(self) -> None:
        """Begin to load the model, and return at once. Errors are raised by the first call."""
        if self._pipe is None:
            self._start()

    @property
    def device(self) -> str:
        return self._ask("device")

    def encode(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        return self._ask("encode", list(texts))

    def are_truncated(self, texts: Sequence[str]) -> list[bool]:
        return self._ask("are_truncated", list(texts))

    def tokenized(self, texts: Sequence[str]) -> Tokenized:
        return self._ask("tokenized", list(texts))

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
        own_end, child_end = Pipe()
        # Not by multiprocessing, which would import this process's main module in the child. The
        # child has its own session, so that Ctrl-C in the terminal only reaches the run, which
        # then closes the connection.
        paths = [str(home.REPO_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(child_end.fileno())],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            pass_fds=[child_end.fileno()],
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        child_end.close()
        self._pipe = own_end
        weakref.finalize(self, _end, self._process, own_end)
        own_end.send((self.model, self.backend, self.wanted_device))
        return own_end


def text_embedder() -> EmbedderProcess:
    """Start the configured model: `LOOM_EMBEDDER`, `LOOM_EMBEDDER_BACKEND` and `LOOM_EMBEDDER_DEVICE`.

    The defaults are the packaged model, torch, and the best available device. Raises EmbedderError if
    there is no such backend.
    """
    backend = os.environ.get("LOOM_EMBEDDER_BACKEND") or TORCH
    require_known_backend(backend)
    return EmbedderProcess(
        os.environ.get("LOOM_EMBEDDER") or PACKAGED,
        backend,
        os.environ.get("LOOM_EMBEDDER_DEVICE") or None,
    )


def _end(process: "subprocess.Popen[bytes]", connection: Connection) -> None:
    connection.close()
    process.kill()
    process.wait()


def main(descriptor: int) -> None:
    """Load the model, then answer one call after the other until the parent closes the connection."""
    connection = Connection(descriptor)
    # The parent may end at any time.
    with suppress(EOFError, OSError):
        embedder = Embedder(*connection.recv())
        # If loading fails, the first call fails in the same way and returns the error.
        with suppress(Exception):
            embedder.load_ahead()
        while True:
            name, texts = connection.recv()
            try:
                attribute = getattr(embedder, name)
                answer = attribute(*texts) if texts else attribute
            except Exception as error:
                answer = error
            connection.send(answer)


if __name__ == "__main__":
    main(int(sys.argv[1]))
