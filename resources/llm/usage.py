"""Token usage, calls and cost of a stage, and unusual properties of its replies."""

from collections import Counter
from contextvars import ContextVar
from dataclasses import dataclass, field, fields

from resources.llm.finish_reasons import end_of
from resources.llm.request import Completion, Failure, Outcome

NAMES_SHOWN = 5
"""The most names that a list in the metadata shows, the most frequent ones."""
requests_of_item: ContextVar[list[int] | None] = ContextVar("requests_of_item", default=None)
"""The number of requests of the item that the current task works on."""
ALL_MODELS = ""
"""The lane of all items if models are not isolated from each other."""


@dataclass
class Usage:
    """Counts of one stage. Tokens and cost are those of sent calls, also of failed ones, without
    cache hits.
    """

    calls: int = 0
    cache_hits: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0
    failures: Counter[str] = field(default_factory=Counter)
    run_cost_usd: float = 0.0
    """The cost of the run up to the end of this stage, in US dollars."""
    outcomes_of: Counter[str] = field(default_factory=Counter)
    """Outcomes by model."""
    sent_of: Counter[str] = field(default_factory=Counter)
    """Outcomes of requests that were sent, by model."""
    other_models: Counter[str] = field(default_factory=Counter)
    """Outcomes whose reply names another model than the requested one, by that name."""
    unknown_ends: Counter[str] = field(default_factory=Counter)
    """Answers with an unknown finish reason, by that reason."""
    not_believed: int = 0
    """Outcomes whose reply has implausible token counts."""
    from_reasoning_field: int = 0
    """Answers that came in the field for reasoning."""
    stage: str = ""
    """The stage, named by an asset's table; empty if it makes no model calls."""
    unread: int = 0
    """Replies that could not be parsed, even after repairs."""
    without_schema: int = 0
    """Answers to requests that were sent without their JSON schema, as the server refused it."""
    timeouts: int = 0
    """Attempts that timed out. The server may have worked on them."""
    failed_attempts: int = 0
    """Attempts that got no answer, for any reason."""
    sent_again: int = 0
    """Attempts after the first one of a request."""
    last_error: str = ""
    """Why the latest attempt failed; empty if it got an answer."""

    def count(self, outcome: Outcome, model: str) -> None:
        """Add the outcome of a request.

        Args:
            outcome: The outcome.
            model: The model, an entry of models.yaml.
        """
        self.outcomes_of[model] += 1
        if item := requests_of_item.get():
            item[0] += 1
        if not outcome.cached and not (isinstance(outcome, Failure) and outcome.kind == "given_up"):
            self.sent_of[model] += 1
        if outcome.answered_as:
            self.other_models[outcome.answered_as] += 1
        self.not_believed += outcome.claimed_tokens is not None
        if isinstance(outcome, Completion) and end_of(outcome.finish_reason) == "unknown":
            self.unknown_ends[outcome.finish_reason] += 1
        self.from_reasoning_field += (
            not isinstance(outcome, Failure) and outcome.reasoning == outcome.text
        )
        if isinstance(outcome, Failure):
            self.failures[outcome.kind] += 1
        elif outcome.cached:
            self.cache_hits += 1
        else:
            self.calls += 1
        if outcome.cached:
            return
        self.prompt_tokens += outcome.prompt_tokens
        self.completion_tokens += outcome.completion_tokens
        self.cost_usd += outcome.cost_usd

    def add(self, later: "Usage") -> None:
        """Add the counts of a later part of the same stage."""
        for count in fields(self):
            if count.name not in ("stage", "run_cost_usd", "last_error"):
                total = getattr(self, count.name) + getattr(later, count.name)
                setattr(self, count.name, total)
        self.run_cost_usd = later.run_cost_usd

    def requests_of(self, model: str) -> tuple[int, int]:
        """Count the finished requests to a model (or ALL_MODELS), and those that were sent."""
        if model == ALL_MODELS:
            return self.outcomes_of.total(), self.sent_of.total()
        return self.outcomes_of[model], self.sent_of[model]

    def metadata(self) -> dict[str, int | float | str]:
        """Return the counts by their names in the UI; unusual replies only if there are any."""
        odd: dict[str, int | str] = {
            "replies that name another model": self.other_models.total(),
            "models that they name": _most(self.other_models),
            "answers with an unknown finish reason": _most(self.unknown_ends),
            "replies with implausible token counts": self.not_believed,
            "answers without a JSON schema, which the server refused": self.without_schema,
            "attempts that timed out": self.timeouts,
            "attempts after the first": self.sent_again,
            "answers in the field for reasoning": self.from_reasoning_field,
        }
        return {
            **{name: value for name, value in odd.items() if value},
            "calls": self.calls,
            "cache hits": self.cache_hits,
            "failed calls": self.failures.total(),
            "prompt tokens": self.prompt_tokens,
            "completion tokens": self.completion_tokens,
            "cost (USD)": round(self.cost_usd, 6),
            "cost of the run so far (USD)": round(self.run_cost_usd, 6),
            **({"could not be read": self.advice} if self.unread else {}),
        }

    @property
    def advice(self) -> str:
        """Advice on replies that could not be parsed; empty if there are none."""
        return unread_sentence(self.stage, self.unread) if self.unread else ""


def _most(names: Counter[str]) -> str:
    return ", ".join(f"{name} ({n})" for name, n in names.most_common(NAMES_SHOWN))


def re_ask_unread_command(stage: str) -> str:
    """Return the command that invalidates only the unparseable answers of a stage."""
    return f"vlm-loom model re-ask --stage {stage.replace('.', '/')} --unread"


def unread_sentence(stage: str, n: int) -> str:
    """Describe unparseable replies in one sentence, and how to request them again.

    Args:
        stage: The stage.
        n: The number of replies.
    """
    return (
        f"{n} {'replies' if n > 1 else 'reply'} could not be read: correct the model's server, its "
        f"entry in models.yaml or the prompt; then {re_ask_unread_command(stage)} has "
        f"{'these' if n > 1 else 'it'} asked for again in the next run, and nothing that was read."
    )
