"""Asking anew what was answered: of one model, in one stage, with one prompt.

What belongs here: deciding it, and saying what it covers. The decision stands in the ledger and is
part of the key of every request that it covers (`model_calls.py`). So each is asked once more, a run
that was stopped goes on where it was, and the earlier answers stay.
"""

from collections.abc import Sequence

from methods.errors import UserError
from methods.naming import nearest
from resources.llm.ledger import Ledger, Renewal
from resources.llm.registry import Registry

Kind = tuple[str, str, str, str, int]
"""Endpoint, model, stage, prompt version, and how many answers there are of these."""


class RenewalError(UserError):
    """Nothing would be asked anew; the message says what there is."""


def ask_anew(
    ledger: Ledger,
    registry: Registry,
    model: str | None,
    stage: str | None,
    prompt: str | None,
    *,
    unread: bool = False,
) -> str:
    """Ask anew from now on what fits all that is given; returns a sentence with the number of answers.

    `model` is an entry of models.yaml, `stage` an asset (`evaluate/answers`), `prompt` a prompt or one
    version of it (`mmdu/judge`, `mmdu/judge@4bf65a46`). With `unread`, only what could not be read.
    Raises RenewalError, RegistryError.
    """
    answerer = registry.model(model).answerer() if model else None
    renewal = Renewal(answerer, stage and stage.replace("/", "."), prompt)
    if renewal == Renewal(None, None, None):
        raise RenewalError("Say what to ask anew: a model, a stage or a prompt.")
    if unread:
        return _again(ledger.forget_unread(renewal))
    kinds = ledger.kinds()
    covered = sum(
        n_calls
        for endpoint, of_model, of_stage, version, n_calls in kinds
        if renewal.covers(f"{endpoint} {of_model}", of_stage, version)
    )
    if not covered:
        raise RenewalError(_nothing(kinds, renewal))
    ledger.renew(renewal)
    return (
        f"{covered} answer{'s are' if covered > 1 else ' is'} asked for anew when the assets that use "
        f"{'them' if covered > 1 else 'it'} are materialized; the earlier ones stay in the ledger."
    )


def _again(n_answers: int) -> str:
    if not n_answers:
        raise RenewalError(
            "The ledger has no such answer that could not be read: what a changed address, entry or "
            "prompt makes another request is asked by itself in the next run."
        )
    return (
        f"{n_answers} answer{'s' if n_answers > 1 else ''} that could not be read "
        f"{'are' if n_answers > 1 else 'is'} asked for again when the assets are materialized; what "
        "was read stays."
    )


def _nothing(kinds: Sequence[Kind], renewal: Renewal) -> str:
    """Which of what was given has no answer, and what is called like it."""
    versions = {version for *_, version, _ in kinds}
    asked = {
        "model": (renewal.model, {f"{endpoint} {model}" for endpoint, model, *_ in kinds}),
        "stage": (renewal.stage, {stage for _, _, stage, _, _ in kinds}),
        "prompt": (
            renewal.prompt,
            {*versions, *(version.partition("@")[0] for version in versions)},
        ),
    }
    for what, (name, known) in asked.items():
        if name and name not in known:
            return f"The ledger has no answer of the {what} {name}; {nearest(name, known)}."
    return "The ledger has answers of each of these, and none of all together: leave one out."
