"""Task categories of three-turn conversations: merges synonymous task names (ConvBench, 3, ii)."""

from collections import defaultdict

import dagster as dg
from pydantic import Field

from assets.common.settings import AssetConfig
from assets.common.tables import report, table_asset, write_rows
from assets.dialogue.three_turns import three_turns
from methods.convbench.drafting import CAPABILITIES, categories_of
from resources.embedding.embedder import Embedder
from resources.warehouse import Warehouse

TABLE = "dialogue.turn_categories"


class TurnCategoriesSettings(AssetConfig):
    """Settings of categories: the similarity from which two task names are one category."""

    tau: float = Field(
        0.75, ge=-1, le=1, description="Names at this cosine or above are one category."
    )


@table_asset(TABLE, kinds={"pytorch"}, deps=[three_turns])
def turn_categories(
    config: TurnCategoriesSettings,
    warehouse: dg.ResourceParam[Warehouse],
    embedder: dg.ResourceParam[Embedder],
) -> dg.MaterializeResult:
    """The category of each task name, separately for the turns perception, reasoning and creation."""
    counts: dict[str, dict[str, int]] = defaultdict(dict)
    for row in warehouse.read("dialogue/turn_tasks").to_pylist():
        counts[CAPABILITIES[row["turn"] - 1]][row["name"]] = row["n_turns"]
    rows, details = [], {}
    for capability, names in counts.items():
        categorized = categories_of(names, embedder.encode(list(names)), config.tau)
        rows += [{"capability": capability, **named._asdict()} for named in categorized]
        details[f"names of {capability}"] = len(names)
        details[f"categories of {capability}"] = len({named.category for named in categorized})
    table = write_rows(warehouse, {TABLE: rows})
    return report(table, {**details, "embedding model": embedder.name})
