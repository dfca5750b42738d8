"""Multiple choice: items of MMBench's form, written from the project's own entries (MMBench, 3.2)."""

from assets.choice.items import items

ASSETS = [items]

__all__ = ["ASSETS", "items"]
