"""Canary: stop asking a model in a stage if its first results all fail for the same reason."""

import asyncio
from collections import Counter, defaultdict
from typing import Final, get_args

from methods.errors import PromptUnusable, UserError
from resources.llm.model_spec import ModelSpec
from resources.llm.request import FailureKind
from resources.llm.usage import re_ask_unread_command
from resources.llm.watchdog import waits_for

FIRST_RESULTS = 20
"""A model is given up if this many first results all failed for the same reason."""
FROM_OTHERS = 5
"""At least this many of the failures must be about other candidates than the one with the most
failures: the answers of one candidate must not give up a judge or an extractor for all."""

Loss = tuple[str, str]
"""Why a result failed: a reason code and a sentence."""
HOPELESS: Final = "bad_parameter"
"""The reason that gives a model up at its first result, because all requests have the same
parameters."""
OF_THE_SERVER = frozenset[FailureKind](
    ("auth", "unreachable", "rate_limited", "server_error", "timeout", "bad_response", "expired")
)
"""Reasons that do not depend on the prompt: they give the model up for all prompts."""


class ModelGivenUp(UserError):
    """The first results of a model all failed for one reason: the stage stops asking it."""


class PromptGivenUp(ModelGivenUp, PromptUnusable):
    """The first results of a model with one prompt all failed; other prompts may work."""


class Canary:
    """The first results of one model in a stage. Each `async with` block is one result, which `add`
    counts.

    Until the first results decide, only as many results are begun as are needed for the decision, so
    that a model without useful answers does not get all requests. `given_up` is the reason why the
    model is not asked any more. `prompt` is set if prompts are tried separately.

    If a stage asks a judge or an extractor about several candidates, FROM_OTHERS holds as well. The
    failures before it is met are then more than FIRST_RESULTS, and requests about the candidate with
    the most failures are not sent meanwhile.
    """

    def __init__(self, stage: str, spec: ModelSpec, prompt: str = ""):
        self.given_up: str | None = None
        self._stage, self._model, self._prompt = stage, spec.name, prompt
        self._is_held_to_schemas = spec.sends_schema()
        self._losses: list[Loss] = []
        self._candidates = Counter[str]()
        # All requests of a batch are submitted at once, so stopping would not save anything.
        self._decided = self._batched = spec.mode == "batch"
        self._places = asyncio.Semaphore(max(FIRST_RESULTS, spec.concurrency))

    async def __aenter__(self) -> "Canary":
        if not self._decided:
            waits_for(f"the first results of {self._model}")
            await self._places.acquire()
            if self._decided:
                self._places.release()  # Wake the next waiting task, too.
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *error: object) -> None:
        if kind is not None:
            self._places.release()

    def add(self, loss: Loss | None, candidates: frozenset[str] = frozenset()) -> bool:
        """Count a result.

        Args:
            loss: Its failure, if any.
            candidates: The candidates that the request was about, if the stage has others, too.

        Returns:
            Whether the result gives the model up.
        """
        if loss and loss[0] == HOPELESS and (self._batched or not self._decided):
            first = self.given_up is None
            self.give_up(f"{self._stage} stopped asking {self._model}: {loss[1]}")
            return first
        if self._decided:
            return False
        if loss is None or (self._losses and loss[0] != self._losses[0][0]):
            self._decide()
            return False
        before = self._n_missing()
        self._losses.append(loss)
        self._candidates.update(candidates)
        missing = self._n_missing()
        if missing == before:
            self._places.release()  # Only a result about another candidate can decide.
        if missing:
            return False
        self.give_up(self._sentence())
        return True

    def _n_missing(self) -> int:
        """Return how many more failures, at least, give the model up."""
        n_losses, n_of_one = len(self._losses), max(self._candidates.values(), default=0)
        return max(0, FIRST_RESULTS - n_losses, FROM_OTHERS - (n_losses - n_of_one))

    def reason_not_to_ask(self, candidates: frozenset[str]) -> str | None:
        """Return why a request is not sent; None if it is.

        Args:
            candidates: The candidates that the request is about, if the stage has others, too.
        """
        if self._decided or len(self._losses) < FIRST_RESULTS:
            return self.given_up
        most = max(self._candidates.values())
        suspects = {name for name, n_losses in self._candidates.items() if n_losses == most}
        return self._sentence() if suspects <= candidates else None

    def pass_over(self) -> None:
        """End a block without counting a result."""
        self._places.release()

    def give_up(self, why: str) -> None:
        """Give the model up: it is not asked any more."""
        self.given_up = why
        self._decide()

    def is_of_prompt(self, loss: Loss | None) -> bool:
        """Tell whether a loss gives the model up for this prompt only."""
        hopeless = loss is None or loss[0] == HOPELESS or loss[0] in OF_THE_SERVER
        return bool(self._prompt) and not hopeless

    def _decide(self) -> None:
        self._decided = True
        self._places.release()

    def _sentence(self) -> str:
        reason, detail = self._losses[0]
        # Unparseable answers are stored: they would come from the ledger again
        # unless they are invalidated.
        unread = reason not in get_args(FailureKind)
        then = f", run {re_ask_unread_command(self._stage)}, and" if unread else " and"
        subject = self._model
        if self.is_of_prompt(self._losses[0]):
            subject += f" with the prompt {self._prompt}"
        entry = "its entry in models.yaml"
        if unread and not self._is_held_to_schemas:
            entry += " (structured_output: true, if the server can be held to a JSON schema)"
        return (
            f"{self._stage} stopped asking {subject}, as its first {len(self._losses)} results all "
            f"failed with {reason} ({detail.rstrip('.')}): correct what this names "
            f"(the model's server, {entry} or the prompt){then} run again; what was "
            "answered is kept and costs nothing."
        )


class Canaries:
    """The canaries of a stage's models.

    With `apart`, a model that is given up only ends its own items. With `by_prompt`, each prompt has
    its own canary: if the replies to a prompt cannot be parsed, only the requests with that prompt end.
    """

    def __init__(self, stage: str, *, apart: bool = False, by_prompt: bool = False):
        self.apart = apart
        self._stage, self._by_prompt = stage, by_prompt
        self._canaries: dict[str, dict[str, Canary]] = defaultdict(dict)
        self._given_up: dict[str, str] = {}

    def canary(self, spec: ModelSpec, prompt_version: str) -> Canary:
        """Return the canary of a model: one for the whole stage, or one for each prompt.

        Args:
            spec: The entry of the model.
            prompt_version: The version of the prompt.
        """
        prompt = prompt_version.partition("@")[0] if self._by_prompt else ""
        trials = self._canaries[spec.name]
        if prompt not in trials:
            trials[prompt] = Canary(self._stage, spec, prompt)
            if why := self._given_up.get(spec.name):
                trials[prompt].give_up(why)
        return trials[prompt]

    def give_up(self, spec: ModelSpec, why: str) -> None:
        """Stop asking a model, with any prompt.

        Args:
            spec: The entry of the model.
            why: The reason.
        """
        self._given_up[spec.name] = why
        for trial in self._canaries[spec.name].values():
            if trial.given_up is None:
                trial.give_up(why)
