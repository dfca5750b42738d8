"""Pictures and texts in one space, by a CLIP-like model."""

import numpy as np
import pytest
from PIL import Image

from resources.embedding.embedder import EmbedderError, ImageEncoder, packaged_weights
from tests.doubles.tiny_clip import make_tiny_clip
from tests.methods.ingest.pictures_drawn import encoded


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> ImageEncoder:
    return ImageEncoder(str(make_tiny_clip(tmp_path_factory.mktemp("clip") / "tiny")))


def test_pictures_and_texts_are_unit_vectors_of_one_length(encoder):
    pictures = encoder.encode_pictures(
        [
            encoded(Image.new("RGB", (40, 90), "red")),
            encoded(Image.new("RGBA", (90, 40), "blue")),
            encoded(Image.new("L", (33, 33)), "JPEG"),
        ]
    )
    texts = encoder.encode(["a picture of a map", "地图"])

    assert pictures.shape == (3, 16) and texts.shape == (2, 16)
    np.testing.assert_allclose(np.linalg.norm(np.vstack([pictures, texts]), axis=1), 1, atol=1e-6)


def test_equal_pictures_have_equal_vectors_whatever_stands_beside_them(encoder):
    red, blue = (encoded(Image.new("RGB", (40, 40), name)) for name in ("red", "blue"))
    together = encoder.encode_pictures([red, blue, red])

    np.testing.assert_allclose(together[0], together[2], atol=1e-6)
    np.testing.assert_allclose(together[1], encoder.encode_pictures([blue])[0], atol=1e-6)
    assert not np.allclose(together[0], together[1], atol=1e-3)


def test_a_model_of_texts_alone_is_one_sentence():
    with pytest.raises(EmbedderError, match=r"takes no pictures: set picture_encoder of rewrite"):
        ImageEncoder(str(packaged_weights())).encode_pictures([encoded(Image.new("RGB", (40, 40)))])
