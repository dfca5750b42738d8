"""What processes with one home share when they ask models: limits of a model, budgets of runs.

`SharedLimits` is all that others use of it.
"""

from resources.llm.shared.shared_limits import SharedLimits

__all__ = ["SharedLimits"]
