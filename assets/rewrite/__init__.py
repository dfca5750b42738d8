"""Rewriting: prompts in other words, same meaning, other style (AlignMMBench, 3.2)."""

from assets.rewrite.rewrites import rewrites

ASSETS = [rewrites]

__all__ = ["ASSETS", "rewrites"]
