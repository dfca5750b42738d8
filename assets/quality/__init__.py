"""Quality: checks of generated question-answer pairs before people review them."""

from assets.quality.checks import checks

ASSETS = [checks]

__all__ = ["ASSETS", "checks"]
