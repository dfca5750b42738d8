"""What an address of the page asks for, parsed.

What belongs here: the parameters, their checks, and addresses made from them again. Whatever a person
or a link may write there is either understood or a QueryError.
"""

import math
import re
from collections.abc import Mapping
from typing import NamedTuple, get_args
from urllib.parse import urlencode

from methods.errors import UserError
from resources.llm.ledger.calls import ANSWERED, UNREAD
from resources.llm.ledger.entries import Filter, Name, Place
from resources.llm.request import FailureKind
from resources.reports.addresses import CALLS

OUTCOMES = (ANSWERED, UNREAD, *get_args(FailureKind), "lost")
"""`lost` is every outcome but an answer."""
LONGEST = 500
"""Characters of a parameter."""
_NAME = re.compile(r"([0-9a-f]{64})(?:-([0-9]{1,18}))?")
_PLACE = re.compile(r"([0-9]{0,18})\.([0-9]{0,18})")
_NAMES = {"a": "The first call", "b": "The second call"}


class QueryError(UserError):
    """An address asks for what there cannot be; the message says which part, and what it may be."""


class Query(NamedTuple):
    """A page of the list: its filter, where it begins, the first of two calls to compare if chosen."""

    wanted: Filter
    before: Place
    a: Name | None

    def address(self, **changes: object) -> str:
        """The address of this page with changes: `before` (a place), `a`, or a field of the filter."""
        given = {**self.wanted._asdict(), "before": self.before, "a": self.a, **changes}
        given["cost"] = given.pop("cost_usd")
        place = given.pop("before")
        if place and place != Place():
            given["before"] = ".".join("" if seq is None else str(seq) for seq in place)
        asked = urlencode({name: value for name, value in given.items() if value not in (None, "")})
        return f"{CALLS}?{asked}" if asked else CALLS


def query_of(params: Mapping[str, str]) -> Query:
    """The page of the list that the parameters ask for; unknown ones are ignored. Raises QueryError."""
    given = {name: params[name].strip() or None for name in params}
    for name, value in given.items():
        if value is not None and len(value) > LONGEST:
            raise QueryError(f"{name[:40]} has {len(value)} characters: {LONGEST} may be given.")
    outcome = given.get("outcome")
    if outcome is not None and outcome not in OUTCOMES:
        raise QueryError(f"There is no outcome {outcome}: it is one of {', '.join(OUTCOMES)}.")
    wanted = Filter(
        stage=given.get("stage"),
        model=given.get("model"),
        endpoint=given.get("endpoint"),
        outcome=outcome,
        run=given.get("run"),
        cost_usd=_cost(given.get("cost")),
        text=given.get("text"),
    )
    return Query(wanted, _place(given.get("before")), chosen(given, "a"))


def chosen(params: Mapping[str, str | None], which: str) -> Name | None:
    """The call that parameter `a` or `b` names. Raises QueryError."""
    value = (params.get(which) or "").strip()
    return name_of(value, _NAMES[which]) if value else None


def name_of(value: str, what: str = "The call") -> Name:
    """The row of the ledger that `value` names. Raises QueryError."""
    match = _NAME.fullmatch(value)
    if match is None:
        raise QueryError(
            f"{what} {value[:80]!r} is no key of the ledger: it has 64 digits and letters from a to f."
        )
    key, charge = match.groups()
    return Name(key, None if charge is None else int(charge))


def _cost(value: str | None) -> float | None:
    if value is None:
        return None
    try:
        cost = float(value)
    except ValueError:
        cost = math.nan
    if not (math.isfinite(cost) and cost >= 0):
        raise QueryError(f"The cost {value} is no number of US dollars: say 0.01, for example.")
    return cost


def _place(value: str | None) -> Place:
    if value is None:
        return Place()
    match = _PLACE.fullmatch(value)
    if match is None:
        raise QueryError(f"before={value} is no place in the list: follow the links of the page.")
    call, charge = (int(seq) if seq else None for seq in match.groups())
    return Place(call, charge)
