"""What pictures show, by a CLIP-like encoder: the keywords of AlignMMBench's tasks in them.

What belongs here: which pictures are encoded, and in what portions their vectors are kept. Which
keyword a picture shows is decided by `methods/alignmmbench/tasks.py`.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import dagster as dg

from assets.common.progress import StepProgress
from assets.common.tables import rows_to_arrow
from methods.alignmmbench.tasks import Seen, cosines, phrase, seen_keywords
from methods.batched import batched
from resources.embedding.picture_encoder import PictureEncoder
from resources.images.store import ImageStore
from resources.warehouse import Warehouse

TABLE = "rewrite.picture_vectors"
PORTION = 128
"""Pictures encoded and stored at once: a run that is killed loses at most this many."""


class Looked(NamedTuple):
    """What was seen, and what is said of it: best cosines show where a threshold can lie."""

    seen: Seen
    details: dict[str, object]


def look_at(
    context: dg.AssetExecutionContext,
    warehouse: Warehouse,
    image_store: ImageStore,
    encoder: PictureEncoder,
    image_ids: Sequence[str],
    keywords: Mapping[str, Sequence[str]],
    at_least: float,
) -> Looked:
    """The keywords that each picture shows; a picture that was encoded before is not encoded again."""
    import numpy as np

    known = warehouse.select(TABLE, "image_id", encoder=encoder.name)["image_id"].to_pylist()
    new = sorted({*image_ids} - {*known})
    progress = StepProgress(context, "pictures")
    for done, portion in enumerate(batched(new, PORTION)):
        vectors = encoder.encode_pictures([image_store.read(image_id) for image_id in portion])
        rows = [
            {"image_id": image_id, "encoder": encoder.name, "vector": vector.tolist()}
            for image_id, vector in zip(portion, vectors, strict=True)
        ]
        warehouse.replace(
            TABLE, rows_to_arrow(TABLE, rows), {"encoder": encoder.name, "image_id": portion}
        )
        progress.update(done * PORTION + len(portion), len(new))
    stored = warehouse.select(TABLE, "image_id", "vector", order="image_id", encoder=encoder.name)
    vector_of = dict(zip(stored["image_id"].to_pylist(), stored["vector"].to_pylist(), strict=True))
    looked_at = sorted(set(image_ids))
    pictures = np.array([vector_of[image_id] for image_id in looked_at], dtype=np.float32)
    phrases = encoder.encode([phrase(word) for words in keywords.values() for word in words])
    similarity = cosines(pictures, phrases)
    best = np.concatenate([part.max(axis=1) for part in similarity])
    seen = seen_keywords(looked_at, similarity, keywords, at_least)
    middle, most = np.quantile(best, [0.5, 0.95])
    return Looked(
        seen,
        {
            "picture encoder": encoder.name,
            "pictures encoded": len(new),
            "pictures that show a keyword": len(seen),
            "cosine with the nearest keyword": f"median {middle:.3f}, 95 % below {most:.3f}",
        },
    )
