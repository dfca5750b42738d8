"""The sample corpus in the repository is what its generator writes."""

from pathlib import Path

import pytest
from PIL import Image, UnidentifiedImageError

from tests.sample_corpus.__main__ import FOLDER, write_corpus
from tests.sample_corpus.entries import load_entries

pytestmark = pytest.mark.slow

TEXTS = ["categories.jsonl", "shards/sample-a.tsv", "shards/sample-b.tsv"]
IMAGES = sorted(path.name for path in (FOLDER / "images").iterdir())
(TRUNCATED,) = (entry.image for entry in load_entries() if entry.fault == "truncated")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The corpus, generated into a folder that holds a picture of a former one."""
    folder = tmp_path_factory.mktemp("sample-corpus")
    (folder / "images").mkdir()
    (folder / "images" / "gone.png").write_bytes(b"former")
    write_corpus(folder)
    return folder


def pixels(path: Path) -> tuple[tuple[int, int], bytes]:
    with Image.open(path) as image:
        return image.size, image.convert("RGB").tobytes()


def test_the_generator_writes_the_committed_files_and_no_others(written: Path) -> None:
    files = {str(path.relative_to(written)) for path in written.rglob("*") if path.is_file()}
    assert files == {*TEXTS, *(f"images/{name}" for name in IMAGES)}
    assert len(IMAGES) == 44


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_is_the_committed_one_byte_for_byte(written: Path, name: str) -> None:
    assert (written / name).read_bytes() == (FOLDER / name).read_bytes()


@pytest.mark.parametrize("name", [name for name in IMAGES if name != TRUNCATED])
def test_a_picture_is_the_committed_one_pixel_for_pixel(written: Path, name: str) -> None:
    # Another version of Pillow may compress the same pixels to other bytes.
    assert pixels(written / "images" / name) == pixels(FOLDER / "images" / name)


def test_the_picture_that_is_damaged_on_purpose_is_cut_off(written: Path) -> None:
    for folder in (written, FOLDER):
        with Image.open(folder / "images" / TRUNCATED) as image:
            assert image.size == (400, 320)
            with pytest.raises((OSError, UnidentifiedImageError), match="truncated"):
                image.load()
