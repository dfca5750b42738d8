"""Golden files of a release of two dialogues: MMDU JSON, card, attribution."""

from collections.abc import Callable
from pathlib import Path

from methods.mmdu.export import mmdu_record
from resources.images.store import ImageStore
from resources.reports.release_folder import image_name, write_release

TURNS = [
    ("Image1: <ImageHere>, Image2: <ImageHere>. Compare them.", "<image-1> is “älter”."),
    ("And <image-2>?", "Newer."),
]


def pixel(colour: bytes) -> bytes:
    """A GIF of one pixel, the same bytes whatever library is installed."""
    return b"GIF89a\1\0\1\0\x80\0\0" + colour + b"\0\0\0,\0\0\0\0\1\0\1\0\0\2\2D\1\0;"


def test_its_files_are_what_they_were(tmp_path: Path, golden: Callable[[str, str], None]) -> None:
    store = ImageStore(tmp_path / "images")
    ids = [store.put(pixel(colour)).image_id for colour in (b"\xff\0\0", b"\0\0\xff")]
    paths = [image_name(store, image_id) for image_id in ids]
    records = [mmdu_record("d1", paths, TURNS), mmdu_record("d2", paths[:1], TURNS[1:])]
    images = [
        {
            "image_id": image_id,
            "title": f"File {number}",
            "page_url": f"https://en.wikipedia.org/wiki/{number}",
            "attribution": "=Somebody, 2020",
            "licence": "CC BY-SA 4.0",
            "licence_url": None,
            "artist": "Ünal",
        }
        for number, image_id in enumerate(ids, start=1)
    ]

    exported = write_release(
        tmp_path / "releases", "r1", records, images, {"release_id": "r1", "n_items": 2}, store
    )

    assert {Path(each.path).name for each in exported} == {
        "dialogues.json",
        "card.json",
        "attribution.csv",
    }
    for each in exported:
        path = tmp_path / "releases" / each.path
        golden(f"release/{path.name}", path.read_text())
