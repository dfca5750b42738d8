"""Request keys: the ids of a stage's answers in the ledger."""

from dataclasses import replace
from typing import NamedTuple

from resources.llm.ledger import Ledger
from resources.llm.model_spec import ModelSpec
from resources.llm.registry import Registry
from resources.llm.request import ChatRequest, request_key


class KeyedRequest(NamedTuple):
    """A request with the model it is sent to, its canonical form, and the key of its answer."""

    request: ChatRequest
    spec: ModelSpec
    canonical: dict[str, object]
    key: str


class RequestKeys:
    """The keys of one stage's requests, as the ledger's decisions were when it was made."""

    def __init__(self, registry: Registry, ledger: Ledger, stage: str):
        self._registry, self._stage = registry, stage
        self._renewals = ledger.renewals()

    def keyed(self, request: ChatRequest) -> KeyedRequest:
        """The request with its key, as decisions to ask it again have changed it."""
        spec = self._registry.model(request.model)
        renewal = sum(
            decision.covers(spec.answerer(), self._stage, request.prompt_version)
            for decision in self._renewals
        )
        renewed = replace(request, renewal=renewal) if renewal != request.renewal else request
        canonical = renewed.canonical(spec)
        return KeyedRequest(request, spec, canonical, request_key(canonical))
