"""Golden files of a release of two dialogues: MMDU JSON and TSV, card, attribution, tables."""

from collections.abc import Callable
from pathlib import Path

from resources.images.store import ImageStore
from resources.publishing.release_folder import write_release

CARD = {
    "release_id": "r1",
    "name": "mmdu",
    "kind": "benchmark",
    "n_items": 2,
    "n_turns": 3,
    "n_images": 2,
    "review_policy": "sample",
    "review_share": 0.25,
    "provider": "openai",
    "created_at": "2026-03-02T09:14:55+00:00",
    "parent": "r0",
    "settings": '{"cluster.clusters":{"min_size":2,"tau":0.75},"review.approved":{"require":"all"}}',
    "prompt_versions": ["mmdu/answers@6ed86f0e", "mmdu/questions@1f6c02ab"],
    "writers": ["gpt-4o"],
    "corpus": [{"wit_shard": "wit|0", "fingerprint": "1-abc"}],
    "project_version": "0.1.0",
}
FIRST = "Image1: <ImageHere>, Image2: <ImageHere>. Compare them."


def pixel(colour: bytes) -> bytes:
    """A GIF of one pixel, the same bytes whatever library is installed."""
    return b"GIF89a\1\0\1\0\x80\0\0" + colour + b"\0\0\0,\0\0\0\0\1\0\1\0\0\2\2D\1\0;"


def image(item_id: str, position: int, image_id: str, **more: object) -> dict[str, object]:
    return {
        "item_id": item_id,
        "position": position,
        "image_id": image_id,
        "title": f"File {position}",
        "page_url": f"https://en.wikipedia.org/wiki/{position}",
        "attribution": "=Somebody, 2020",
        "licence": "CC BY-SA 4.0",
        "licence_url": None,
        "artist": "Ünal",
        **more,
    }


def test_its_files_are_what_they_were(tmp_path: Path, golden: Callable[[str, str], None]) -> None:
    store = ImageStore(tmp_path / "images")
    red, blue = (store.put(pixel(colour)).image_id for colour in (b"\xff\0\0", b"\0\0\xff"))
    turns = [("d1", 1, FIRST, "<image-1> is “älter”."), ("d1", 2, "And <image-2>?", "Newer.")]
    turns.append(("d2", 1, "<ImageHere> Which?", "A red one."))
    rows = {
        "items": [
            {"item_id": "d1", "ordinal": 1, "group_id": None, "labels": {}},
            {"item_id": "d2", "ordinal": 2, "group_id": None, "labels": {"topic": "Türme"}},
        ],
        "turns": [
            {"item_id": i, "turn": n, "question": q, "image_positions": shown, "given": None}
            for (i, n, q, _), shown in zip(turns, ([1, 2], [], [1]), strict=True)
        ],
        "choices": [],
        "references": [
            {"item_id": i, "turn": n, "kind": "answer", "reference": said}
            for i, n, _, said in turns
        ],
        "images": [image("d1", 1, red), image("d1", 2, blue), image("d2", 1, red)],
    }

    exported = write_release(tmp_path / "releases", CARD, rows, store)

    assert len(exported) == 6
    for each in exported:
        path = tmp_path / "releases" / each.path
        golden(f"release/{path.name}", path.read_text())
