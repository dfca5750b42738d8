"""A gateway for dry runs: forecasts the calls of a run and their likely cost.

The ledger answers known requests; the mock model server answers all others, so that later stages have
data to work on. Nothing is written to the ledger.
"""

import math
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from resources.images.store import ImageStore
from resources.llm.attempt import make_body
from resources.llm.canary import Canaries
from resources.llm.clients import Launcher
from resources.llm.estimate import (
    COMPLETION_TOKENS,
    TOKENS_PER_WORD,
    highest_cost,
    likely_prompt_tokens,
)
from resources.llm.finish_reasons import CUT_OFF
from resources.llm.gateway import Gateway
from resources.llm.ledger import Ledger
from resources.llm.model_calls import ModelCalls
from resources.llm.model_spec import ModelSpec
from resources.llm.registry import Registry
from resources.llm.reply import Reply, read_reply
from resources.llm.request import ChatRequest, Completion, Failure, Outcome
from resources.llm.request_body import unsendable
from resources.llm.request_keys import KeyedRequest
from resources.llm.usage import Usage

MOCK_MODEL = ModelSpec.model_validate(
    {"name": "mock", "provider": "mock", "model": "offline-careful"}
)


def _mock_of(spec: ModelSpec) -> ModelSpec:
    """Return the mock model that answers for a model in a dry run."""
    itself = {"model": spec.model, "token_limit": spec.token_limit}
    sent = {"max_side": spec.max_side, "detail": spec.detail}
    return MOCK_MODEL.model_copy(update=sent | (itself if spec.provider == "mock" else {}))


@dataclass
class Forecast:
    """The calls that a stage would send to a model: likely counts and the highest possible cost."""

    usage: Usage = field(default_factory=Usage)
    at_most_usd: float = 0.0
    possible_calls: int = 0
    """Further calls that real answers may make necessary; `at_most_usd` includes their costs."""


class DryGateway(Gateway):
    """Sends nothing to a provider and needs no key. `forecasts` has the calls that a run would make."""

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
        self.forecasts: dict[tuple[str, str], Forecast] = defaultdict(Forecast)
        """Forecast by stage and candidate or model, in the order of the first request."""
        self.stand_in_answers: dict[str, Completion] = {}
        """Answers of the mock server by the request's key. They take the place of the ledger."""

    def model_calls(self, stage: str, trials: Canaries) -> ModelCalls:
        """Create model calls that only forecast."""
        return DryModelCalls(self, stage, trials)


class DryModelCalls(ModelCalls):
    """Answers from the ledger, or from the mock model server at the price of the real model."""

    def __init__(self, gateway: DryGateway, stage: str, trials: Canaries):
        super().__init__(gateway.context, stage, trials)
        self.gateway = gateway
        self._means: dict[str, float | None] = {}
        """Mean tokens of this stage's answers in the ledger, by model; None without answers."""

    async def outcome_of(self, request: ChatRequest) -> Outcome:
        """Get the outcome, and count it in the forecast of its stage and model."""
        outcome = await super().outcome_of(request)
        self._forecast(request).usage.count(outcome, request.model)
        return outcome

    def foresee(self, answer_key: str | None, request: Callable[[], ChatRequest]) -> None:
        """Count a request that a mock answer does not need, but a real answer may need."""
        if answer_key not in self.gateway.stand_in_answers:
            return
        possible = request()
        spec = self.context.registry.model(possible.model)
        forecast = self._forecast(possible)
        forecast.possible_calls += 1
        forecast.at_most_usd += highest_cost(possible, spec, spec.mode)

    def _forecast(self, request: ChatRequest) -> Forecast:
        return self.gateway.forecasts[self.stage, request.candidate or request.model]

    def _keep_readings(self) -> None:
        """Store nothing."""

    async def _resolve(self, keyed: KeyedRequest) -> Outcome | None:
        request, spec, _, key = keyed
        stand_in_answers = self.gateway.stand_in_answers
        outcome = self._kept(key) or stand_in_answers.get(key)
        if outcome:
            return replace(outcome, cached=True)
        if too_long := unsendable(request, spec, key):
            return too_long
        self._forecast(request).at_most_usd += highest_cost(request, spec, spec.mode)
        stand_in = _mock_of(spec)
        client = await self._clients.client(stand_in)
        limits = self.context.limits(stand_in)
        async with limits.attempt(0, self._breaker(keyed._replace(spec=stand_in))):
            sent_at = time.monotonic()
            body = await make_body(request, stand_in, self.context.images)
            response = await client.chat.post(body)
            limits.answered(sent_at)
            reply = read_reply(response.content, spec.name, lambda: 0)
        images = self.context.images
        prompt = likely_prompt_tokens(
            request, spec, lambda image_id: images.sent_size(image_id, spec.max_side)
        )
        tokens = prompt, self._likely_completion(request, spec, reply)
        cost = spec.cost(*tokens, spec.mode)
        if spec.provider == "mock" and reply.finish_reason == CUT_OFF:
            return Failure(key, "truncated", "", *tokens, cost, reply.finish_reason)
        # Each evaluated model gets a different answer, so that each one needs its own judgment.
        text = reply.text if request.task else f"{reply.text}\n({spec.name})"
        answer = Completion(key, text, reply.finish_reason, *tokens, cost, cached=False)
        stand_in_answers[key] = answer
        return answer

    def _likely_completion(self, request: ChatRequest, spec: ModelSpec, reply: Reply) -> int:
        """Estimate the completion tokens: from the mock reply, the ledger's mean, or the requested
        length.
        """
        if spec.provider == "mock":
            return reply.completion_tokens
        if spec.name not in self._means:
            self._means[spec.name] = self.context.ledger.mean_completion(self.stage, spec.model)
        mean = self._means[spec.name]
        if mean is not None:
            return round(mean)
        if request.n_words is not None:
            likely = math.ceil(request.n_words * TOKENS_PER_WORD)
            return min(likely, spec.longest_answer(request.params))
        return COMPLETION_TOKENS
