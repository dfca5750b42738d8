"""The image store: one file for one content, the forms shown from it, and files that were damaged."""

import base64
import hashlib
import io
import os
import shutil
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest
from PIL import Image

from resources.images import store as image_store
from resources.images.store import (
    DerivedImages,
    FileStates,
    ImageDamaged,
    ImageNotStored,
    ImageStore,
    StoredImage,
    _Cache,
)
from tests.methods.ingest.pictures_drawn import encoded
from tests.resources.images.upload_double import PICTURE
from tests.shared import PROCESSES


def flat(
    colour: object = "red", size: tuple[int, int] = (40, 20), mode: str = "RGB"
) -> Image.Image:
    return Image.new(mode, size, colour)


def shown(url: str) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2])))


def files(store: ImageStore) -> list[Path]:
    return [path for path in store.root.rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    ("format_name", "extension"),
    [("JPEG", "jpg"), ("PNG", "png"), ("WEBP", "webp"), ("GIF", "gif")],
)
def test_an_image_stands_under_the_hash_of_its_bytes(store, format_name, extension):
    mime = f"image/{format_name.lower()}"
    data = encoded(flat(), format_name)
    digest = hashlib.sha256(data).hexdigest()
    path = f"{digest[:2]}/{digest}.{extension}"
    assert store.put(data) == StoredImage(digest, path, mime, 40, 20, len(data))
    assert store.path(digest) == store.root / path
    assert store.read(digest) == data
    assert files(store) == [store.root / path]


def test_a_write_that_fails_leaves_nothing_behind(store, monkeypatch):
    def full(descriptor: int) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="no space"):
        store.put(encoded(flat()))
    assert files(store) == []


@pytest.mark.parametrize("image_id", ["0" * 64, "", "../../etc/passwd", "a" * 63 + "/", "A" * 64])
def test_an_id_that_is_not_there_or_is_none(store, image_id):
    for use in (store.path, store.read, store.thumbnail, lambda id_: store.jpeg_base64(id_, 64)):
        with pytest.raises(ImageNotStored):
            use(image_id)


def _put_all(root: Path) -> list[StoredImage]:
    store = ImageStore(root)
    return [store.put(encoded(flat((shade, 0, 0)))) for shade in range(20)]


def test_many_writers_of_the_same_images_all_succeed(store):
    with ProcessPoolExecutor(4, PROCESSES) as pool:
        results = list(pool.map(_put_all, [store.root] * 8))
    assert all(result == results[0] for result in results)
    assert len(files(store)) == 20
    for stored in results[0]:
        assert hashlib.sha256(store.read(stored.image_id)).hexdigest() == stored.image_id


def test_a_thumbnail_is_a_small_jpeg_made_once(store):
    image_id = store.put(encoded(flat(size=(400, 200)))).image_id
    thumbnail = store.thumbnail(image_id)
    image = Image.open(io.BytesIO(thumbnail))
    assert (image.format, image.size) == ("JPEG", (96, 48))
    store.path(image_id).unlink()
    assert store.thumbnail(image_id) is thumbnail
    with pytest.raises(ImageNotStored):
        store.thumbnail(image_id, side=32)


@pytest.mark.parametrize("format_name", ["PNG", "JPEG"])
def test_a_fitting_rgb_image_is_shown_byte_for_byte(store, format_name):
    data = encoded(flat(), format_name)
    image_id = store.put(data).image_id
    url = store.jpeg_base64(image_id, 40)
    assert url == f"data:image/{format_name.lower()};base64,{base64.b64encode(data).decode()}"
    # It is at hand in this size now.
    assert store.are_at_hand([image_id], 40) and not store.are_at_hand([image_id], 64)
    assert not store.are_at_hand([image_id, "0" * 64], 40)


def test_a_large_image_is_shown_smaller_never_a_small_one_larger(store):
    large = store.put(encoded(flat(size=(400, 200)))).image_id
    url = store.jpeg_base64(large, 100)
    assert url.startswith("data:image/jpeg;base64,")
    assert shown(url).size == (100, 50)
    small = store.put(encoded(flat(mode="L", colour=9))).image_id
    assert shown(store.jpeg_base64(small, 1000)).size == (40, 20)
    # A grid is made for each size.
    grids = (store.grid_base64([large, small], side) for side in (64, 128))
    assert [max(shown(grid).size) for grid in grids] == [64, 128]


def test_a_grid_decodes_an_image_once_however_often_it_shows_it(store, monkeypatch):
    image_id = store.put(encoded(flat())).image_id
    ids_read: list[str] = []
    read = store.read
    monkeypatch.setattr(store, "read", lambda image: ids_read.append(image) or read(image))
    store.grid_base64([image_id] * 50, 400)
    assert ids_read == [image_id]


def test_a_photo_lying_on_its_side_is_shown_upright(store):
    image = flat("black", size=(40, 20))
    exif = image.getexif()
    exif[0x0112] = 6
    image_id = store.put(encoded(image, "JPEG", exif=exif)).image_id
    assert shown(store.jpeg_base64(image_id, 64)).size == (20, 40)
    assert Image.open(io.BytesIO(store.thumbnail(image_id, 10))).size == (5, 10)


def test_the_cache_drops_what_was_used_longest_ago():
    cache: _Cache[str] = _Cache(max_bytes=10)
    made: list[str] = []
    sizes = {"a": 4, "b": 4, "c": 4, "larger than all": 11}

    def get(key: str) -> str:
        return cache.get(key, lambda: made.append(key) or "x" * sizes[key])

    for key in ("a", "b", "a", "c", "a", "b"):
        get(key)
    assert made == ["a", "b", "c", "b"]
    for _ in range(2):
        assert len(get("larger than all")) == 11
    assert made[4:] == ["larger than all"] * 2


def all_at_once(n: int, ask: Callable[[int], object]) -> list:
    """What `ask` gives each of `n` threads that call it at the same moment, or raises for it."""
    barrier = threading.Barrier(n)

    def one(number: int) -> object:
        barrier.wait(30)
        try:
            return ask(number)
        except Exception as error:
            return error

    with ThreadPoolExecutor(n) as pool:
        return list(pool.map(one, range(n)))


def test_what_many_ask_for_at_once_is_made_once_and_an_error_reaches_all_of_them():
    cache: _Cache[str] = _Cache(max_bytes=10)
    made: list[str] = []

    def make(text: str) -> str:
        made.append(text)
        time.sleep(0.2)
        if not text:
            raise OSError("broken data stream")
        return text

    errors = all_at_once(16, lambda _: cache.get("a", lambda: make("")))
    assert [str(error) for error in errors] == ["broken data stream"] * 16
    assert made == [""] and "a" not in cache
    # It is tried again next time.
    assert all_at_once(16, lambda _: cache.get("a", lambda: make("owl"))) == ["owl"] * 16
    assert made == ["", "owl"] and "a" in cache


# --- Files that are no longer what was stored ------------------------------------------------------


def cut(path: Path) -> None:
    path.write_bytes(b"")


def change(path: Path) -> None:
    """As many bytes as before, and one of them another."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 255
    path.write_bytes(data)


def change_at_the_same_time(path: Path) -> None:
    """As a copying program does that keeps times: in a file of its own."""
    before = path.stat()
    other = path.with_name("other")
    shutil.copy(path, other)
    change(other)
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.replace(path)


@pytest.mark.parametrize("again", [False, True], ids=["this process", "another one"])
@pytest.mark.parametrize("damage", [cut, change, change_at_the_same_time])
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


@pytest.mark.parametrize("damage", [cut, change, change_at_the_same_time])
def test_storing_the_image_again_mends_it(store, damage):
    image_id = store.put(PICTURE).image_id
    damage(store.path(image_id))
    for writer in (store, ImageStore(store.root)):
        writer.put(PICTURE)
        assert writer.read(image_id) == store.read(image_id) == PICTURE


def test_a_file_is_checked_once_and_again_when_its_state_has_changed(store, monkeypatch):
    checked = []
    digest = image_store.hashlib.file_digest
    monkeypatch.setattr(
        image_store.hashlib, "file_digest", lambda *args: checked.append(args) or digest(*args)
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
