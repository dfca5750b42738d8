"""Multiple choice: items of MMBench's form, written from the project's own entries (MMBench, 3.2), and
their translations."""

from assets.choice.items import items
from assets.choice.translations import translations

ASSETS = [items, translations]

__all__ = ["ASSETS", "items", "translations"]
