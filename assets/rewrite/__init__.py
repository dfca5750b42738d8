"""Rewriting: prompts in other words, same meaning, other style (AlignMMBench, 3.2)."""

from assets.rewrite.rewrites import prompts

ASSETS = [prompts]

__all__ = ["ASSETS", "prompts"]
