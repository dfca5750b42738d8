"""Invalidate cached answers of a model, a stage or a prompt, so that they are requested again.

A renewal changes the key of every request that it covers: each request is sent once more, an
interrupted run resumes, and the earlier answers stay in the ledger.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from methods.errors import UserError
from methods.naming import nearest
from resources.llm.ledger import Ledger, ReAskDecision
from resources.llm.registry import Registry

Kind = tuple[str, str, str, str, int]
"""Endpoint, model, stage, prompt version, and the number of their answers."""


class ReAskPlan(NamedTuple):
    """The answers that will be requested again: a message with their number, and the stages that use
    them.
    """

    message: str
    stages: list[str]


class ReAskError(UserError):
    """No answer matches; the message names existing ones."""


def re_ask(
    ledger: Ledger,
    registry: Registry,
    model: str | None,
    stage: str | None,
    prompt: str | None,
    *,
    unread: bool = False,
) -> ReAskPlan:
    """Invalidate the answers that match all given arguments.

    Args:
        ledger: The ledger, which stores the decision.
        registry: The models.
        model: An entry of models.yaml.
        stage: An asset with model calls, such as `evaluate/answers`.
        prompt: A prompt or one version of it (`mmdu/judge`, `mmdu/judge@4bf65a46`).
        unread: Whether only unparseable answers are invalidated.

    Raises:
        ReAskError: No answer matches; the message names existing ones.
        RegistryError: There is no such model.
    """
    answerer = registry.model(model).answerer() if model else None
    renewal = ReAskDecision(answerer, stage and stage.replace("/", "."), prompt)
    if renewal == ReAskDecision(None, None, None):
        raise ReAskError("Nothing is selected. Pass --model, --stage or --prompt.")
    if unread:
        return _again(ledger.forget_unread(renewal))
    kinds = ledger.kinds()
    covered = [
        (of_stage, n_calls)
        for endpoint, of_model, of_stage, version, n_calls in kinds
        if renewal.covers(f"{endpoint} {of_model}", of_stage, version)
    ]
    if not covered:
        raise ReAskError(_nothing(kinds, renewal))
    ledger.renew(renewal)
    n_answers = sum(n_calls for _, n_calls in covered)
    return ReAskPlan(
        f"{n_answers} answer{'s are' if n_answers > 1 else ' is'} asked for again when the assets that "
        f"use {'them' if n_answers > 1 else 'it'} are materialized; the earlier ones stay in the "
        "ledger.",
        sorted({of_stage for of_stage, _ in covered}),
    )


def _again(n_answers: Mapping[str, int]) -> ReAskPlan:
    if not n_answers:
        raise ReAskError(
            "The ledger has no such answer that could not be read: what a changed address, entry or "
            "prompt makes another request is asked by itself in the next run."
        )
    n = sum(n_answers.values())
    return ReAskPlan(
        f"{n} answer{'s' if n > 1 else ''} that could not be read {'are' if n > 1 else 'is'} asked for "
        "again when the assets are materialized; what was read stays.",
        sorted(n_answers),
    )


def _nothing(kinds: Sequence[Kind], renewal: ReAskDecision) -> str:
    """Name the argument that matches no answer, with similar names."""
    versions = {version for *_, version, _ in kinds}
    filters = {
        "model": (renewal.model, {f"{endpoint} {model}" for endpoint, model, *_ in kinds}),
        "stage": (renewal.stage, {stage for _, _, stage, _, _ in kinds}),
        "prompt": (
            renewal.prompt,
            {*versions, *(version.partition("@")[0] for version in versions)},
        ),
    }
    for what, (name, names) in filters.items():
        if name and name not in names:
            return f"The ledger has no answer of the {what} {name}; {nearest(name, names)}."
    return "The ledger has answers of each of these, and none of all together: leave one out."
