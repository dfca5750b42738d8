"""A stored file that is no longer what was stored is named, and written again when it returns."""

import io
import os
import shutil
from pathlib import Path

import pytest
from PIL import Image

from resources.images import store as image_store
from resources.images import store as store_module
from resources.images.store import DerivedImages, FileStates, ImageDamaged, ImageStore
from tests.resources.images.upload_double import PICTURE


def cut(path: Path) -> None:
    path.write_bytes(b"")


def changed(path: Path) -> None:
    """As many bytes as before, and one of them another."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 255
    path.write_bytes(data)


def changed_at_the_same_time(path: Path) -> None:
    """As a copying program does that keeps times: in a file of its own."""
    before = path.stat()
    other = path.with_name("other")
    shutil.copy(path, other)
    changed(other)
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.replace(path)


@pytest.fixture
def store(tmp_path: Path) -> ImageStore:
    return ImageStore(tmp_path / "images")


@pytest.mark.parametrize("again", [False, True], ids=["this process", "another one"])
@pytest.mark.parametrize("damage", [cut, changed, changed_at_the_same_time])
def test_a_damaged_file_is_one_sentence_that_names_it(store, damage, again):
    image_id = store.put(PICTURE).image_id
    path = store.path(image_id)
    assert store.read(image_id) == PICTURE
    damage(path)
    reader = ImageStore(store.root) if again else store
    for use in (
        reader.path,
        reader.read,
        reader.thumbnail,
        lambda one: reader.jpeg_base64(one, 64),
    ):
        with pytest.raises(ImageDamaged) as caught:
            use(image_id)
        said = str(caught.value)
        assert str(path) in said and f"its {path.stat().st_size} bytes" in said
        assert "(vlm-loom run build), which fetches it again" in said and "\n" not in said
        assert said.endswith(
            "import its release again (vlm-loom release import) if that was imported."
        )
        assert caught.value.image_id == image_id
    assert not reader.has(image_id)


@pytest.mark.parametrize("damage", [cut, changed, changed_at_the_same_time])
def test_storing_the_image_again_mends_it(store, damage):
    image_id = store.put(PICTURE).image_id
    damage(store.path(image_id))
    for writer in (store, ImageStore(store.root)):
        writer.put(PICTURE)
        assert writer.read(image_id) == store.read(image_id) == PICTURE


def test_a_file_is_checked_once_and_again_when_its_state_has_changed(store, monkeypatch):
    checked = []
    digest = store_module.hashlib.file_digest
    monkeypatch.setattr(
        store_module.hashlib, "file_digest", lambda *args: checked.append(args) or digest(*args)
    )
    image_id = ImageStore(store.root).put(PICTURE).image_id
    for _ in range(3):
        assert store.has(image_id)
    assert len(checked) == 1
    os.utime(store.path(image_id), ns=(1, 1))
    for _ in range(3):
        assert store.path(image_id).read_bytes() == store.read(image_id)
    assert len(checked) == 2
    other = ImageStore(store.root)
    other.whole.remember(store.whole.get([image_id]))
    assert other.has(image_id) and len(checked) == 2


def test_states_are_bounded(monkeypatch):
    monkeypatch.setattr(image_store, "REMEMBERED", 2)
    states = FileStates()
    for number in range(3):
        states.remember({f"{number}": image_store.FileState(number, 0, 0)})
    assert list(states.get(["0", "1", "2"])) == ["1", "2"]


@pytest.mark.parametrize(
    ("form", "most_pixels", "why"),
    [("PNG", None, "cannot be decoded to its end"), ("WEBP", 30_000, "decompression bomb")],
)
def test_an_image_that_cannot_be_decoded_is_named(form, most_pixels, why, store, monkeypatch):
    """Its bytes are those that were stored. `put` lets Pillow open a PNG, but not a WebP."""
    file = io.BytesIO()
    Image.linear_gradient("L").save(file, form)
    image_id = store.put(file.getvalue()[:-100]).image_id
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", most_pixels)
    for use in (
        store.thumbnail,
        lambda one: store.jpeg_base64(one, 64),
        lambda one: store.grid_base64([one], 64),
        DerivedImages(store).open,
    ):
        with pytest.raises(
            ImageDamaged, match=f"image {image_id} cannot be used .*{why}"
        ) as caught:
            use(image_id)
        assert caught.value.image_id == image_id
