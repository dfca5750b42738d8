"""Calls and charges as a person reads them: a filter, a page of a list, one entry.

What belongs here: the form of questions and answers. Who answers is `reading.py`.
"""

from typing import NamedTuple


class Filter(NamedTuple):
    """Which calls are listed; None is any. `run` is the beginning of a run's id, `cost_usd` the least.

    `text` stands in the request, the reply, the reasoning or the detail, in upper or lower case.
    """

    stage: str | None = None
    model: str | None = None
    endpoint: str | None = None
    outcome: str | None = None
    run: str | None = None
    cost_usd: float | None = None
    text: str | None = None


class Place(NamedTuple):
    """Where a page begins: below this `seq` of calls and this one of charges; None is at the newest."""

    call: int | None = None
    charge: int | None = None


class Name(NamedTuple):
    """A row of the ledger: the call of a key, or one of the charges, by its `seq`."""

    key: str
    charge: int | None = None

    def __str__(self) -> str:
        return self.key if self.charge is None else f"{self.key}-{self.charge}"


class Listed(NamedTuple):
    """A row of a page.

    `opening` has the first characters of the reply, `reasoning` those of the reasoning where there is
    no reply. `seconds` is None for a charge, `detail` for a call.
    """

    name: Name
    stage: str
    model: str
    endpoint: str
    outcome: str
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float
    run: str
    created_at: str
    opening: str
    reasoning: str | None
    seconds: float | None
    detail: str | None


class Page(NamedTuple):
    """Rows, the newest first. `n_looked` rows were looked at for them, back to `looked_back_to`.

    `older` is where the next page begins; None when there is nothing older.
    """

    rows: list[Listed]
    n_looked: int
    looked_back_to: str | None
    older: Place | None


class Entry(NamedTuple):
    """One call or charge with its texts; `n_reply` and `n_reasoning` are the characters that there are.

    `request` is None where its row is damaged. `seconds` and `attempts` are None, and
    `detail` says why, for what brought no answer. `answered_as` and `claimed_tokens` are what the reply
    says of itself, where it names another model and where its token counts are not believed.
    """

    name: Name
    provider: str
    endpoint: str
    model: str
    prompt_version: str
    stage: str
    run: str
    via: str
    outcome: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float
    created_at: str
    reply: str
    n_reply: int
    reasoning: str | None
    n_reasoning: int
    answered_as: str | None
    claimed_tokens: int | None
    request: dict[str, object] | None
    seconds: float | None
    attempts: int | None
    detail: str | None
