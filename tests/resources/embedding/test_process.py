"""The embedding model in a process of its own: its answers and sentences, and nothing left behind.

The process finds a model that takes no seconds to import; `test_embedder.py` has the real one.
"""

import gc
import os
import signal
import subprocess
import time

import pytest

from resources.embedding.embedder import EmbedderError
from resources.embedding.process import EmbedderProcess
from tests.doubles.scripts import has_ended, start

pytestmark = pytest.mark.slow

MODULES = {
    "sentence_transformers.py": """
import numpy as np

class SentenceTransformer:
    max_seq_length = 4

    def __init__(self, model, device, backend):
        if model == "nowhere":
            raise OSError("no such model")

    def encode(self, texts, **options):
        return np.array([[len(text), 1] for text in texts])

    def tokenizer(self, texts, **options):
        return {"input_ids": [text.split() for text in texts]}
""",
    "transformers/utils/__init__.py": "class logging:\n    disable_progress_bar = staticmethod(int)\n",
    "torch.py": "class cuda:\n    is_available = staticmethod(bool)\n",
}


@pytest.fixture(autouse=True)
def light_model(tmp_path, monkeypatch):
    """A process that this one starts finds the light packages."""
    for name, text in MODULES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")


def test_it_gives_the_models_vectors_is_started_again_when_killed_and_ends_with_the_object():
    embedder = EmbedderProcess("light")

    # Unit vectors of (0, 1) and (3, 1): the length of each text, and 1.
    assert embedder.encode(["", "abc", ""]).tolist() == [
        pytest.approx(each, abs=1e-4) for each in ([0, 1], [0.9487, 0.3162], [0, 1])
    ]
    assert embedder.are_truncated(["a b c d", "a b c d e"]) == [False, True]
    assert (embedder.name, embedder.device) == ("light", "cpu")

    os.kill(embedder._process.pid, signal.SIGKILL)
    with pytest.raises(EmbedderError, match=r"has ended \(exit code -9; .*: run the step again"):
        embedder.encode(["text"])
    assert embedder.encode(["text"]).shape == (1, 2)

    pid = embedder._process.pid
    del embedder
    gc.collect()
    assert has_ended(pid)


def test_a_model_that_cannot_be_loaded_is_a_sentence_and_only_when_a_text_comes():
    process = EmbedderProcess("nowhere")
    process.load_ahead()

    with pytest.raises(EmbedderError, match=r"'nowhere' cannot be loaded on cpu \(no such model\)"):
        process.encode(["text"])


def test_the_process_ends_when_who_asked_is_killed():
    script = """
        import time
        from resources.embedding.process import EmbedderProcess

        embedder = EmbedderProcess("light")
        embedder.encode(["text"])
        print(embedder._process.pid, flush=True)
        time.sleep(600)
    """
    with start(script, stdout=subprocess.PIPE) as asking:
        pid = int(asking.stdout.readline())
        assert not has_ended(pid)
        asking.kill()

    until = time.monotonic() + 60
    while not has_ended(pid):
        assert time.monotonic() < until, "the process of the model outlived who asked it"
        time.sleep(0.05)
