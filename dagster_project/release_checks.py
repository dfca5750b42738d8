"""Asset checks of releases: what benchmarks and instruction sets may not share.

What belongs here: conditions on the releases in force. What a release may not share is left out before
it is frozen (`assets/release/overlap.py`), by the same comparison; the check sees what was imported or
pinned since.
"""

import dagster as dg

from assets.release.overlap import NAMES, blocking, counted, in_numbers, shared_in_force
from dagster_project.check_results import N_SHOWN, asset_check, result
from methods.markdown import code, table
from resources.images.store import ImageStore
from resources.warehouse import Warehouse


@asset_check(
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
    overlaps = shared_in_force(
        warehouse, image_store, warehouse.read("release/current").to_pylist()
    )
    forbidden = blocking(overlaps)
    first = [
        (
            NAMES[overlap.kind],
            code(overlap.what[:80]),
            code(f"{overlap.benchmark} {overlap.item}"),
            code(f"{overlap.instruction} {overlap.of}"),
        )
        for overlap in forbidden[:N_SHOWN]
    ]
    lines = table(("kind", "what", "item of the benchmark", "item of the instruction set"), first)
    told = (
        f"Benchmarks and instruction sets in force share {in_numbers(forbidden)}: run the job "
        "release, which leaves that out of the instruction sets, or says which item to take out."
    )
    return result(
        told if forbidden else None,
        {
            **counted(overlaps),
            "first of them": dg.MetadataValue.md("\n".join(lines) if first else "none"),
        },
    )
