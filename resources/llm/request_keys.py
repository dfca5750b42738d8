"""Request keys: cache keys by which a stage's answers are stored in the ledger."""

from dataclasses import replace
from typing import NamedTuple

from resources.llm.ledger import Ledger
from resources.llm.model_spec import ModelSpec
from resources.llm.registry import Registry
from resources.llm.request import ChatRequest, request_key


class KeyedRequest(NamedTuple):
    """A request with its model's entry, its canonical form, and the key of its answer."""

    request: ChatRequest
    spec: ModelSpec
    canonical: dict[str, object]
    key: str


class RequestKeys:
    """Computes the keys of one stage's requests. Decisions to re-ask are read once, at creation."""

    def __init__(self, registry: Registry, ledger: Ledger, stage: str):
        self._registry, self._stage = registry, stage
        self._renewals = ledger.renewals()

    def keyed(self, request: ChatRequest) -> KeyedRequest:
        """Compute the key of a request. Each decision to re-ask that covers it changes the key."""
        spec = self._registry.model(request.model)
        renewal = sum(
            decision.covers(spec.answerer(), self._stage, request.prompt_version)
            for decision in self._renewals
        )
        renewed = replace(request, renewal=renewal) if renewal != request.renewal else request
        canonical = renewed.canonical(spec)
        return KeyedRequest(request, spec, canonical, request_key(canonical))
