"""The keys of a stage's requests: under which its answers stand in the ledger.

What belongs here: what a request is known by besides its own form: decisions to ask it anew, and the
key that it had before the ledger knew who answers (docs/decisions/0024). The form is `request.py`.
"""

from dataclasses import replace
from typing import NamedTuple

from resources.llm.ledger import Ledger
from resources.llm.model_spec import ModelSpec
from resources.llm.registry import Registry
from resources.llm.request import ChatRequest, request_key


class KeyedRequest(NamedTuple):
    """A request with the model it is sent to, its canonical form, and the keys of its answers.

    `earlier_key` is the key that it had before the ledger knew who answers; None where an answer under
    that key may be another server's.
    """

    request: ChatRequest
    spec: ModelSpec
    canonical: dict[str, object]
    key: str
    earlier_key: str | None

    @property
    def keys(self) -> list[str]:
        """The keys that it may have been answered under, its own first."""
        return [self.key] if self.earlier_key is None else [self.key, self.earlier_key]


class RequestKeys:
    """The keys of one stage's requests, as the ledger's decisions were when it was made."""

    def __init__(self, registry: Registry, ledger: Ledger, stage: str):
        self._registry, self._stage = registry, stage
        self._renewals = ledger.renewals()
        self._earlier_endpoints = ledger.earlier_endpoints()

    def of(self, request: ChatRequest) -> KeyedRequest:
        """The request with its keys, as decisions to ask it anew have changed them."""
        spec = self._registry.model(request.model)
        renewal = sum(
            each.covers(spec.answerer(), self._stage, request.prompt_version)
            for each in self._renewals
        )
        canonical = replace(request, renewal=renewal).canonical(spec)
        earlier_key = None
        endpoint = self._earlier_endpoints.get((spec.provider, spec.model))
        if (
            endpoint
            and endpoint == canonical.get("endpoint")
            and not (renewal or request.replicate)
        ):
            without = {name: part for name, part in canonical.items() if name != "endpoint"}
            earlier_key = request_key(without)
        return KeyedRequest(request, spec, canonical, request_key(canonical), earlier_key)
