"""The embedding model in a process of its own: the same vectors and sentences, nothing left behind."""

import gc
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from resources.embedding.embedder import Embedder, EmbedderError
from resources.embedding.process import EmbedderProcess

pytestmark = pytest.mark.slow

TEXTS = ["a lighthouse on a rocky shore", "", "\ud800 half a character", "où 字 " * 400]


def gone(pid: int) -> bool:
    """Whether the process has ended; a process whose parent has not looked yet has, too."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def wait_until_gone(pid: int) -> None:
    """Fail unless the process ends in a minute."""
    until = time.monotonic() + 60
    while not gone(pid):
        assert time.monotonic() < until, "the process of the model outlived who asked it"
        time.sleep(0.05)


def test_it_gives_the_models_vectors_is_started_again_when_killed_and_ends_with_the_object():
    itself, embedder = Embedder(), EmbedderProcess()

    assert np.array_equal(embedder.encode(TEXTS), itself.encode(TEXTS))
    assert embedder.are_truncated(TEXTS) == itself.are_truncated(TEXTS)
    assert (embedder.name, embedder.device) == (itself.name, itself.device)

    os.kill(embedder._process.pid, signal.SIGKILL)
    with pytest.raises(EmbedderError, match=r"has ended \(exit code -9; .*: run the step again"):
        embedder.encode(["text"])
    assert embedder.encode(["text"]).shape == (1, 384)

    pid = embedder._process.pid
    del embedder
    gc.collect()
    assert gone(pid)


def test_a_model_that_cannot_be_loaded_is_the_same_sentence_and_only_when_a_text_comes(tmp_path):
    process = EmbedderProcess(str(tmp_path))
    process.load_ahead()

    with pytest.raises(EmbedderError) as other:
        process.encode(["text"])
    with pytest.raises(EmbedderError) as itself:
        Embedder(str(tmp_path)).encode(["text"])

    assert str(other.value) == str(itself.value)


def test_the_process_ends_when_who_asked_is_killed():
    asking = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import time\n"
            "from resources.embedding.process import EmbedderProcess\n"
            "embedder = EmbedderProcess()\n"
            "embedder.encode(['text'])\n"
            "print(embedder._process.pid, flush=True)\n"
            "time.sleep(600)\n",
        ],
        stdout=subprocess.PIPE,
    )
    assert asking.stdout is not None
    pid = int(asking.stdout.readline())
    assert not gone(pid)

    asking.kill()
    asking.communicate()

    wait_until_gone(pid)
