"""Candidate images for the questions of AlignMMBench's tasks, found by keywords (AlignMMBench, 3.2 and
A.6.1).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import dagster as dg
from pydantic import Field, field_validator

from assets.cluster.duplicates import duplicates
from assets.cluster.splits import NO_BENCHMARK_ENTRIES, left_out_of_benchmarks, splits
from assets.common.drops import reasons
from assets.common.generation import failed_row, write_with_failures
from assets.common.progress import StepProgress
from assets.common.settings import AssetConfig
from assets.common.tables import report, table_asset, write_rows
from assets.ingest import entries
from methods.alignmmbench.candidates import NO_KEYWORD, DroppedEntry, SearchableEntry
from methods.alignmmbench.candidates import candidates as candidates_of
from methods.alignmmbench.tasks import KEYWORDS, Seen, phrase, seen_keywords
from methods.batched import batched
from methods.validation import require_known
from resources.embedding.embedder import ImageEncoder
from resources.files.rows import known_images
from resources.images.store import ImageStore
from resources.warehouse import Warehouse

VECTORS = "rewrite.picture_vectors"
BATCH_SIZE = 128
"""Images that are encoded and stored at once: a killed run encodes at most this many again."""


class ImageSearchResult(NamedTuple):
    """Keywords that were found in each image, and metadata for the run: the distribution of the
    cosine similarities, which helps to choose the threshold.
    """

    seen: Seen
    details: dict[str, object]


def keywords_by_image(
    context: dg.AssetExecutionContext,
    warehouse: Warehouse,
    image_store: ImageStore,
    encoder: ImageEncoder,
    image_ids: Sequence[str],
    keywords: Mapping[str, Sequence[str]],
    min_similarity: float,
) -> ImageSearchResult:
    """Find the keywords that each image shows. Vectors of images that were encoded before are
    reused.
    """
    import numpy as np

    encoded = warehouse.select(VECTORS, "image_id", encoder=encoder.name)["image_id"].to_pylist()
    new = sorted({*image_ids} - {*encoded})
    progress = StepProgress(context, "pictures")
    for done, batch in enumerate(batched(new, BATCH_SIZE)):
        vectors = encoder.encode_pictures([image_store.read(image_id) for image_id in batch])
        rows = [
            {"image_id": image_id, "encoder": encoder.name, "vector": vector.tolist()}
            for image_id, vector in zip(batch, vectors, strict=True)
        ]
        write_rows(warehouse, {VECTORS: rows}, {"encoder": encoder.name, "image_id": batch})
        progress.update(done * BATCH_SIZE + len(batch), len(new))
    stored = warehouse.select(VECTORS, "image_id", "vector", order="image_id", encoder=encoder.name)
    vector_of = dict(zip(stored["image_id"].to_pylist(), stored["vector"].to_pylist(), strict=True))
    unique_ids = sorted(set(image_ids))
    pictures = np.array([vector_of[image_id] for image_id in unique_ids], dtype=np.float32)
    phrases = encoder.encode([phrase(word) for words in keywords.values() for word in words])
    similarity = pictures @ phrases.T
    keywords_seen = seen_keywords(unique_ids, similarity, keywords, min_similarity)
    middle, most = np.quantile(similarity.max(axis=1), [0.5, 0.95])
    return ImageSearchResult(
        keywords_seen,
        {
            "picture encoder": encoder.name,
            "pictures encoded": len(new),
            "pictures that show a keyword": len(keywords_seen),
            "cosine with the nearest keyword": f"median {middle:.3f}, 95 % below {most:.3f}",
        },
    )


TABLE = "rewrite.candidates"


class CandidatesSettings(AssetConfig):
    """Settings of the image search: keywords, excluded images and the image encoder."""

    keywords: dict[str, list[str]] = Field(
        {},
        description="Keywords by task that replace those of the task, for example {Chart: [bar "
        "graph]}.",
    )
    excluded: str = Field(
        "",
        description="File with the SHA-256 or MD5 of one image in each line. These images are "
        "never used.",
    )
    excluded_releases: list[str] = Field(
        [],
        description="Releases, for example imported ones, whose images are never used.",
    )
    picture_encoder: str = Field(
        "",
        description="A CLIP-like sentence-transformers model or its folder, such as clip-ViT-B-32: "
        "keywords are searched in images, too. Empty: in texts only.",
    )
    picture_similarity: float = Field(
        0.27,
        ge=-1,
        le=1,
        description="Least cosine similarity at which an image shows a keyword. The useful range "
        "depends on the encoder.",
    )

    @field_validator("keywords")
    @classmethod
    def _require_keywords(cls, keywords: dict[str, list[str]]) -> dict[str, list[str]]:
        require_known("task", keywords, KEYWORDS)
        for task, words in keywords.items():
            if not all(word.strip() for word in words):
                raise ValueError(f"a keyword of {task} is empty")
        return keywords


@table_asset(
    TABLE,
    side_tables=["rewrite.failed", VECTORS],
    kinds={"image"},
    deps=[entries, duplicates, splits],
)
def candidates(
    context: dg.AssetExecutionContext,
    config: CandidatesSettings,
    warehouse: dg.ResourceParam[Warehouse],
    image_store: dg.ResourceParam[ImageStore],
) -> dg.MaterializeResult:
    """Images for each of AlignMMBench's tasks. They are found by keywords in caption, title and
    categories, and in the image itself if an encoder is set. Duplicates, near-duplicates and excluded
    images are left out.
    """
    rows = warehouse.read("rewrite/pictured").to_pylist()
    if not rows:
        raise dg.Failure(NO_BENCHMARK_ENTRIES, allow_retries=False)
    pictured = [
        SearchableEntry(
            row["entry_id"], row["image_id"], (row["caption"], row["title"], *row["categories"])
        )
        for row in rows
    ]
    groups = {
        row["image_id"]: row["group_id"]
        for row in warehouse.read("rewrite/near_groups").to_pylist()
    }
    keywords = {**KEYWORDS, **config.keywords}
    known_digests = _excluded(config, warehouse)
    excluded = known_digests | {row["image_id"] for row in rows if row["md5"] in known_digests}
    image_search = ImageSearchResult({}, {})
    if config.picture_encoder:
        image_search = keywords_by_image(
            context,
            warehouse,
            image_store,
            ImageEncoder(config.picture_encoder),
            [picture.image_id for picture in pictured],
            keywords,
            config.picture_similarity,
        )
    chosen = candidates_of(pictured, keywords, groups, excluded, image_search.seen)
    # An entry without any keyword was never a candidate, so it is not listed as dropped.
    dropped = [_dropped(removed) for removed in chosen.removed if removed.reason != NO_KEYWORD]
    selected = [candidate._asdict() for candidate in chosen.candidates]
    table = write_with_failures(warehouse, TABLE, selected, dropped)
    n_by_task = Counter(candidate.task for candidate in chosen.candidates)
    tasks_without = ", ".join(task for task in keywords if not n_by_task[task])
    details = {
        "entries": len(pictured),
        **left_out_of_benchmarks(warehouse),
        "pictures to exclude": len(known_digests),
        **image_search.details,
        **reasons(Counter(removed.reason for removed in chosen.removed)),
        **{f"pictures for {task}": n_by_task[task] for task in sorted(n_by_task)},
        **({"warning": f"No picture was found for {tasks_without}."} if tasks_without else {}),
    }
    return report(table, details, images=image_store)


def _excluded(settings: CandidatesSettings, warehouse: Warehouse) -> set[str]:
    """Return the digests (SHA-256 or MD5) of images that are never used.

    Raises UserError for a file that cannot be read, and dg.Failure for an unknown release.
    """
    digests = known_images(Path(settings.excluded).expanduser()) if settings.excluded else set()
    names = settings.excluded_releases
    rows = warehouse.read("rewrite/released_images", {"names": names}).to_pylist()
    if absent := sorted(set(names) - {row["name"] for row in rows}):
        raise dg.Failure(
            f"excluded_releases names {', '.join(absent)}, but no such release is current: import it "
            "or take it out.",
            allow_retries=False,
        )
    return {*digests, *(row["image_id"] for row in rows if row["image_id"])}


def _dropped(removed: DroppedEntry) -> dict[str, object]:
    where = {"set_id": removed.image_id, "call_key": None}
    instead = f" Entry {removed.instead} is used in its place." if removed.instead else ""
    detail = f"The image {removed.image_id} is not used.{instead}"
    return failed_row(TABLE, where, f"entry {removed.entry_id}", removed.reason, detail)
