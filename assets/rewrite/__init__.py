"""Rewriting: prompts in other words, same meaning, other style; and open questions that are drafted to
be asked in several wordings (AlignMMBench, 3.2)."""

from assets.rewrite.candidates import candidates
from assets.rewrite.contexts import contexts
from assets.rewrite.rewrites import rewrites
from assets.rewrite.seed_rewrites import seed_rewrites
from assets.rewrite.seeds import seeds

ASSETS = [rewrites, candidates, seeds, seed_rewrites, contexts]
