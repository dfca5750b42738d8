"""Multiple choice: items written from entries (MMBench, 3.2), their translations, and multi-image
questions made of samples (MMIU, 3.2).
"""

from assets.choice.items import items
from assets.choice.mmiu_items import mmiu_items
from assets.choice.translations import translations

ASSETS = [items, translations, mmiu_items]

__all__ = ["ASSETS", "items", "mmiu_items", "translations"]
