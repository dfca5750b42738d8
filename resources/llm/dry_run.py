"""A gateway that asks no provider: what a run would ask, and what that is likely to cost.

What the ledger has is answered from it; for everything else the offline server stands in, so that the
stages after it have something to go on. Nothing is kept. What belongs here: that stand-in and the
account of it. What is run on it is `dagster_project/dry_run.py`.
"""

from collections import defaultdict
from dataclasses import dataclass, field, replace

from resources.images.store import ImageStore
from resources.llm.attempt import exchange, make_body
from resources.llm.clients import Launcher
from resources.llm.estimate import COMPLETION_TOKENS, highest_cost, prompt_tokens
from resources.llm.gateway import Gateway
from resources.llm.ledger import Ledger
from resources.llm.registry import ModelSpec, Registry
from resources.llm.request import ChatRequest, Completion, Outcome
from resources.llm.session import Session, too_many_images
from resources.llm.usage import Usage

STAND_IN = ModelSpec.model_validate(
    {"name": "stand-in", "provider": "offline", "model": "offline-careful"}
)


@dataclass
class Foreseen:
    """What a stage would ask a model: likely counts, and dollars that it cannot pass."""

    usage: Usage = field(default_factory=Usage)
    at_most_usd: float = 0.0


class DryGateway(Gateway):
    """Sends nothing to a provider and needs no key; `foreseen` has what it would have come to."""

    needs_keys = False

    def __init__(
        self,
        registry: Registry,
        profile: str,
        ledger: Ledger,
        images: ImageStore,
        *,
        launcher: Launcher,
    ):
        super().__init__(registry, profile, ledger, images, launcher=launcher)
        self.foreseen: dict[tuple[str, str], Foreseen] = defaultdict(Foreseen)
        """(stage, model of the registry) -> its account, in the order they were asked."""
        self.stood_in_for: dict[str, Completion] = {}
        """What the stand-in said, by the request's key: a run would find it in its ledger."""

    def session(self, stage: str) -> Session:
        """A session that foresees."""
        return DrySession(self, stage)


class DrySession(Session):
    """Answers from the ledger, or by the stand-in at the price of the model that would be asked."""

    def __init__(self, gateway: DryGateway, stage: str):
        super().__init__(gateway.context, stage)
        self.gateway = gateway
        self._usual: dict[str, int] = {}

    async def complete(self, request: ChatRequest) -> Outcome:
        """The outcome, entered into the account of its stage and model."""
        outcome = await super().complete(request)
        self.gateway.foreseen[self.stage, request.model].usage.count(outcome)
        return outcome

    async def _settle(
        self, request: ChatRequest, spec: ModelSpec, canonical: dict[str, object], key: str
    ) -> Outcome | None:
        stood_in_for = self.gateway.stood_in_for
        known = self.context.ledger.find([key]).get(key) or stood_in_for.get(key)
        if known:
            return replace(known, cached=True)
        if too_many := too_many_images(request, spec, key):
            return too_many
        account = self.gateway.foreseen[self.stage, request.model]
        account.at_most_usd += highest_cost(request, spec, spec.mode)
        stand_in = STAND_IN.model_copy(update={"max_side": spec.max_side})
        client = await self._clients.of(stand_in)
        async with self.context.limits(stand_in).attempt(0):
            body = await make_body(request, stand_in, self.context.images)
            reply = await exchange(client, body, lambda: 0)
        tokens = prompt_tokens(request, spec), self._usual_completion(spec)
        cost = spec.cost(*tokens, spec.mode)
        # Two models do not say the same, and each of their answers is judged.
        said = f"{reply.text}\n({spec.name})"
        answer = Completion(key, said, reply.finish_reason, *tokens, cost, cached=False)
        stood_in_for[key] = answer
        return answer

    def _usual_completion(self, spec: ModelSpec) -> int:
        """Tokens of the answers that this stage had from this model, where it had any."""
        if spec.name not in self._usual:
            mean = self.context.ledger.mean_completion(self.stage, spec.model)
            self._usual[spec.name] = round(mean) if mean else COMPLETION_TOKENS
        return self._usual[spec.name]
