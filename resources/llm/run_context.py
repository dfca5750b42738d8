"""The context that all stages of a run share for model calls."""

from dataclasses import dataclass, field

from resources.images.store import ImageStore
from resources.llm.budget import Budget
from resources.llm.clients import Launcher
from resources.llm.ledger import Ledger
from resources.llm.model_spec import ModelSpec
from resources.llm.rate_limits import WINDOW, ModelLimits, SlidingMinute
from resources.llm.registry import Registry
from resources.llm.request_body import RefusedImages, RefusedSchemas
from resources.llm.usage import ALL_MODELS


@dataclass
class RunContext:
    """The state of one run for model calls. `run` is its id, `launcher` starts the mock server."""

    registry: Registry
    ledger: Ledger
    images: ImageStore
    launcher: Launcher
    run: str
    budget: Budget
    refused_images: RefusedImages = field(default_factory=RefusedImages)
    refused_schemas: RefusedSchemas = field(default_factory=RefusedSchemas)
    _limits: dict[str, ModelLimits] = field(default_factory=dict)

    def limits(self, spec: ModelSpec) -> ModelLimits:
        """Return the rate limits of a model. All stages share the same object."""
        if spec.name not in self._limits:
            self._limits[spec.name] = ModelLimits(
                spec.concurrency,
                _minute(spec.requests_per_minute),
                _minute(spec.tokens_per_minute),
                min(spec.timeouts.whole, spec.timeouts.first_byte),
            )
        return self._limits[spec.name]

    def in_flight(self, model: str) -> int:
        """Count the requests in flight to a model of the registry, or to ALL_MODELS."""
        limits_of_models = (
            self._limits.values() if model == ALL_MODELS else [self._limits.get(model)]
        )
        return sum(limits.in_flight for limits in limits_of_models if limits)


def _minute(limit: int | None) -> SlidingMinute | None:
    return None if limit is None else SlidingMinute(limit, WINDOW)
