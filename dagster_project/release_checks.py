"""Asset checks of releases: what benchmarks and instruction sets may not share.

What belongs here: conditions on the releases in force. What a release may not share is refused before
it is frozen, too (`assets/release/releases.py`); the check sees what was imported or pinned since.
"""

import dagster as dg

from assets.release.overlap import NAMES, blocking, counted, in_numbers, shared_in_force
from methods.markdown import code, table
from resources.images.store import ImageStore
from resources.warehouse import Warehouse

N_SHOWN = 20


@dg.asset_check(
    asset=dg.AssetKey(["release", "releases"]),
    name="no_overlap",
    blocking=True,
    description="No benchmark in force, built or imported, shares a page, an image, a near-duplicate, "
    "or a question with its answer, with an instruction set in force, and no imported one an answer.",
)
def no_overlap(
    warehouse: dg.ResourceParam[Warehouse],
    image_store: dg.ResourceParam[ImageStore],
) -> dg.AssetCheckResult:
    """Blocking: a score on what a model was trained on says nothing."""
    current = warehouse.read("release/current").to_pylist()
    kinds = {row["release_id"]: row["kind"] for row in current}
    imported = {row["release_id"] for row in current if row["origin"] == "imported"}
    found = shared_in_force(warehouse, image_store, kinds, imported)
    forbidden = blocking(found)
    first = [
        (NAMES[each.kind], code(each.what[:80]), code(each.benchmark), code(each.instruction))
        for each in forbidden[:N_SHOWN]
    ]
    lines = table(("kind", "what", "benchmark", "instruction set"), first)
    told = (
        f"Benchmarks and instruction sets in force share {in_numbers(forbidden)}: run the jobs from "
        "cluster to release, and unpin or retire what is not made anew."
    )
    return dg.AssetCheckResult(
        passed=not forbidden,
        description=told if forbidden else None,
        metadata={
            **counted(found),
            "first of them": dg.MetadataValue.md("\n".join(lines) if first else "none"),
        },
    )
