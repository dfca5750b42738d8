"""What all stages of one run share when they ask models.

What belongs here: the registry, the ledger, the image store, the run's money and retries, and each
model's limits. Asking is `gateway.py` (many requests) and `model_calls.py` (one request).
"""

from dataclasses import dataclass, field

from resources.images.store import ImageStore
from resources.llm.budget import Budget, RetryBudget
from resources.llm.clients import Launcher
from resources.llm.ledger import Ledger
from resources.llm.limits import ModelLimits
from resources.llm.registry import ModelSpec, Registry


@dataclass
class RunContext:
    """One run's view of the models; `run` is its id, `launcher` starts the offline model server."""

    registry: Registry
    ledger: Ledger
    images: ImageStore
    launcher: Launcher
    run: str
    budget: Budget
    retries: RetryBudget = field(default_factory=RetryBudget)
    _limits: dict[str, ModelLimits] = field(default_factory=dict)

    def limits(self, spec: ModelSpec) -> ModelLimits:
        """The limits of one model, the same object for every stage that asks it."""
        if spec.name not in self._limits:
            self._limits[spec.name] = ModelLimits(
                spec.concurrency, spec.requests_per_minute, spec.tokens_per_minute
            )
        return self._limits[spec.name]
