"""The world of the choice tests: items on one image in two languages, and on several, released."""

import dagster as dg
import pytest

from tests.assets.choice.released import N_DERIVED, N_ITEMS
from tests.assets.conftest import CopyWorld
from tests.assets.world import ANY_ASSETS, World, released_after

MADE = dg.AssetSelection.assets(
    *(["choice", name] for name in ("items", "translations", "mmiu_items"))
)


@pytest.fixture(scope="session")
def written(released: World, copied: CopyWorld) -> World:
    """Not to be changed: tests go on from copies."""
    world = copied(released)
    settings = {"items": {"n_items": N_ITEMS}, "mmiu_items": {"n_derived": N_DERIVED}}
    world.write_settings({"choice": settings})
    return released_after(world, lambda made: made.run(ANY_ASSETS, assets=MADE))
