"""Model inference on one item: sends the requests of the benchmark's `ask` to one candidate."""

from collections.abc import Generator
from typing import Any, NamedTuple

from assets.evaluate.candidates import LETTER_WORDS, Candidate
from methods.choice.alphabet import NO_CHOICE
from methods.evaluation.asking import (
    Answer,
    AnswerRequest,
    Asking,
    AskingLimits,
    ContextPolicy,
    ExtractionRequest,
    ReferenceTurn,
    SkippedTurn,
    with_policy,
)
from methods.evaluation.benchmark import Benchmark
from methods.evaluation.candidates import BASELINE
from methods.evaluation.items import Item
from methods.evaluation.judging import RULE
from resources.llm.model_calls import ModelCalls
from resources.llm.parsed_reply import complete_and_parse
from resources.llm.request import LENGTH_KINDS, ChatRequest
from resources.settings.prompts import prompt

PARAMS = {"temperature": 0.0, "max_tokens": 2048}
"""Sampling parameters for models under evaluation and for judges: as repeatable as the provider allows.
"""

Row = dict[str, Any]


class AnswerRun(NamedTuple):
    """One candidate and the item that it answers."""

    candidate: Candidate
    item: Item


class ItemAnswers(NamedTuple):
    """Rows of one item: of `evaluate.answers`, `evaluate.extractions` and `evaluate.failed`."""

    answers: list[Row]
    extractions: list[Row]
    failed: list[Row]
    n_lost: int
    """Turns without an answer or extraction that count against `max_failed_share`."""


async def answer_item(
    calls: ModelCalls, benchmark: Benchmark, run: AnswerRun, extractor: str, policy: ContextPolicy
) -> ItemAnswers:
    """Make all requests of the benchmark about one item.

    A reply without an answer, or a failed extraction, also becomes a row, with its reason.

    Args:
        calls: The model calls of the stage.
        benchmark: The benchmark.
        run: The candidate and the item.
        extractor: The model that extracts answers.
        policy: What to do with dialogues that do not fit the model's context; rows record it.

    Returns:
        Answers, extractions and failures.
    """
    driver = _Driver(calls, benchmark, run, extractor, policy)
    await driver.drive(benchmark.ask(run.item, AskingLimits(policy, prompt)))
    return ItemAnswers(driver.answers, driver.extractions, driver.failed, driver.n_lost)


def answer_version(benchmark: Benchmark) -> str:
    """Return the version of a benchmark's requests: its own version and those of its prompts."""
    prompts = (prompt(name).version for name in benchmark.question_prompts)
    return " ".join([benchmark.answer_version, *prompts])


def extraction_request(extractor: str, step: ExtractionRequest) -> ChatRequest:
    """Make the request for answer extraction.

    Args:
        extractor: The model that extracts answers.
        step: The extraction that the benchmark yielded.

    Returns:
        The request.
    """
    template = prompt(step.prompt)
    return ChatRequest(
        model=extractor,
        messages=template.render(**step.data),
        prompt_version=template.version,
        params=PARAMS,
        task=template.task,
        n_words=LETTER_WORDS,
    )


class _Driver:
    """Executes the steps that one `ask` generator yields, and collects the rows."""

    def __init__(
        self,
        calls: ModelCalls,
        benchmark: Benchmark,
        run: AnswerRun,
        extractor: str,
        policy: ContextPolicy,
    ):
        self.answers: list[Row] = []
        self.extractions: list[Row] = []
        self.failed: list[Row] = []
        self.n_lost = 0
        self._calls, self._run, self._extractor = calls, run, extractor
        self._version = answer_version(benchmark)
        self._named = with_policy(self._version, policy)
        self._policy = policy
        self._key_of: dict[tuple[str, int], str | None] = {}
        self._ended_by_model: set[str] = set()

    async def drive(self, asking: Generator[Asking, Any, None]) -> None:
        came: Answer | str | None = None
        while True:
            try:
                step = asking.send(came)
            except StopIteration:
                return
            came = None
            match step:
                case AnswerRequest():
                    came = await self._ask(step)
                case ExtractionRequest():
                    came = await self._extract(step)
                case ReferenceTurn(trial, turn, text):
                    self._add({"trial": trial, "turn": turn, "status": "given", "answer": text})
                case SkippedTurn(trial, turn, why, no_reference):
                    lost = not no_reference and trial not in self._ended_by_model
                    reason = "no_reference" if no_reference else "not_asked"
                    self._lose(trial, turn, reason, why, lost)
                    self._add({"trial": trial, "turn": turn, "status": "not_asked", "answer": None})

    async def _ask(self, ask: AnswerRequest) -> Answer:
        # The request does not name the context policy: a short enough dialogue is the same request
        # under every policy.
        reply = await self._run.candidate.answer(self._calls, ask, self._run.item, self._version)
        too_long = reply.loss is not None and reply.loss[0] in LENGTH_KINDS
        if too_long and ask.can_be_shorter:
            # The benchmark asks again with a shorter dialogue, and that request is recorded.
            return Answer(reply.row["status"], call_key=reply.row["call_key"], too_long=True)
        self._key_of[ask.trial, ask.turn] = reply.row["call_key"]
        left_out = {
            "turns_left_out": ask.turns_left_out or None,
            "images_left_out": ask.images_left_out or None,
        }
        self._add({"trial": ask.trial, "turn": ask.turn, **left_out, **reply.row})
        if reply.loss is not None:
            reason, detail = reply.loss
            if reply.final:
                self._ended_by_model.add(ask.trial)
            self._lose(ask.trial, ask.turn, reason, detail, not reply.final, reply.row["call_key"])
        row = reply.row
        return Answer(row["status"], row["answer"], row["call_key"], too_long)

    async def _extract(self, step: ExtractionRequest) -> str | None:
        key = self._key_of[step.trial, step.turn]
        turn_key = {"trial": step.trial, "turn": step.turn, "answer_call_key": key}
        by_rule = step.by_rule
        if by_rule is None and step.choices and self._run.candidate.provider == BASELINE:
            # A baseline's text that no rule reads is the reference of another question, so no model
            # needs to read it.
            by_rule = NO_CHOICE
        if by_rule is not None:
            self.extractions.append({**turn_key, "extractor": RULE, "value": by_rule})
            self._calls.foresee(key, lambda: extraction_request(self._extractor, step))
            return by_rule
        request = extraction_request(self._extractor, step)
        reply = await complete_and_parse(self._calls, request, step.read)
        made_by = {"call_key": reply.key, "prompt_version": reply.prompt_version}
        self.extractions.append(
            {**turn_key, "extractor": self._extractor, "value": reply.value, **made_by}
        )
        if reply.loss is not None:
            self._lose(step.trial, step.turn, *reply.loss, True, reply.key, self._extractor)
        return reply.value

    def _add(self, row: Row) -> None:
        fixed = {
            **dict.fromkeys(("call_key", "turns_left_out", "images_left_out")),
            "prompt_version": self._named,
        }
        settings = row.get("settings")
        if settings is not None:
            row = {**row, "settings": [*settings.items(), ("context_policy", self._policy)]}
        self.answers.append({**fixed, **row})

    def _lose(
        self,
        trial: str,
        turn: int,
        reason: str,
        detail: str,
        lost: bool,
        key: str | None = None,
        model: str | None = None,
    ) -> None:
        """Add a row of `evaluate.failed`. `lost` says whether it counts in `n_lost`; `model` is the
        model that was asked, if it was not the candidate.
        """
        self.n_lost += lost
        self.failed.append(
            {
                "trial": trial,
                "turn": turn,
                "asked": model or self._run.candidate.name,
                "reason": reason,
                "detail": detail,
                "call_key": key,
            }
        )
