"""Golden files: the asset graph, the leaderboard of fixed scores, and a release of two dialogues."""

import csv
import io
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from assets.common.tables import rows_to_arrow
from dagster_project.definitions import defs
from methods.evaluation.statistics.estimates import PSEUDO_CLUSTERS
from resources.images.store import ImageStore
from resources.publishing.release_folder import write_release
from resources.warehouse import Warehouse


def test_nodes_and_edges_are_what_they_were(golden: Callable[[str, str], None]) -> None:
    graph = defs.resolve_asset_graph()
    checks = defaultdict(list)
    for key in graph.asset_check_keys:
        checks[key.asset_key].append(key.name)
    lines = []
    for key in sorted(graph.get_all_asset_keys()):
        node = graph.get(key)
        kind = "" if node.is_materializable else ", external"
        by = f", by {node.partitions_def.name}" if hasattr(node.partitions_def, "name") else ""
        lines.append(f"{key.to_user_string()} ({node.group_name}{kind}{by})")
        lines += [f"  <- {each.to_user_string()}" for each in sorted(node.parent_keys)]
        lines += [f"  check {name}" for name in sorted(checks[key])]
    golden("asset_graph.txt", "\n".join(lines))


PLACES = [(name, how) for name in ("Overall Score", "Richness") for how in ("micro", "macro")]


def score(
    model: str, dimension: str, aggregation: str, form: str, value: float | None
) -> dict[str, object]:
    interval = (None, None) if value is None else (value - 0.5, value + 0.5)
    place = PLACES.index((dimension, aggregation))
    return {
        **{"benchmark": "mmdu", "release_id": "r1", "model": model, "provider": "mock"},
        **{"judge": "judge", "judge_version": "mmdu/judge@4bf65a46", "place": place},
        **{"metric": dimension, "aggregation": aggregation, "form": form},
        **{"subset_label": "", "subset_value": "", "value": value},
        **{"ci_low": interval[0], "ci_high": interval[1], "n_clusters": 2},
        **{"method": None if value is None else PSEUDO_CLUSTERS, "n_items": 2, "n_turns": 4},
        **dict.fromkeys(("n_units", "n_judged"), 0 if value is None else 3),
        **{"n_failed": 1, "n_refused": 3 if value is None else 0},
        **dict.fromkeys(("n_truncated", "n_reasoning_only", "n_empty"), 0),
    }


def test_its_rows_are_what_they_were(tmp_path: Path, golden: Callable[[str, str], None]) -> None:
    warehouse = Warehouse(tmp_path / "warehouse.duckdb")
    rows = [
        score(model, dimension, aggregation, form, None if model == "refuser" else value + bonus)
        for model, bonus in (("careless", 0.0), ("careful", 2.25), ("refuser", 0.0))
        for dimension, value in (("Richness", 4.0), ("Overall Score", 5.5))
        for aggregation in ("micro", "macro")
        for form in ("floor", "judged")
    ]
    warehouse.replace("evaluate.scores", rows_to_arrow("evaluate.scores", rows))

    found = warehouse.select("evaluate.leaderboard")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(found.column_names)
    writer.writerows(row.values() for row in found.to_pylist())
    golden("leaderboard.csv", text.getvalue())


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
