"""Count the items and tokens of a release, for reports and files of results."""

from collections.abc import Sequence

from methods.evaluation.items import Item
from methods.release_statistics import CategoryCounts, shares, token_classes
from resources.llm.estimate import picture_tokens, text_tokens
from resources.llm.model_spec import ModelSpec
from resources.warehouse import Warehouse


def release_counts(
    warehouse: Warehouse, release_id: str, items: Sequence[Item]
) -> list[CategoryCounts]:
    """Count the items of a release by kind, label and class of tokens.

    Args:
        warehouse: The tables.
        release_id: The id of the release.
        items: The items of the release.

    Returns:
        The counts. Tokens of images are those of GPT-4o, for images whose size is known.
    """
    sizes = warehouse.read("evaluate/image_sizes_of", {"release_id": release_id}).to_pylist()
    spec = ModelSpec.model_validate({"name": "GPT-4o", "provider": "openai", "model": "gpt-4o"})
    image_tokens = {
        row["image_id"]: picture_tokens(spec, row["width"], row["height"]) for row in sizes
    }
    return [*shares(items), *token_classes(items, text_tokens, image_tokens)]
