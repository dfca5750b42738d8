"""Read-only access to the ledger of model calls: pages of calls, one call, and the values to filter by.

A ledger may have a million calls, so no query reads all of them: each one reads a limited number of
rows, and the result says where it stopped.
"""

import heapq
import json
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from sqlalchemy import ColumnElement, Connection, bindparam, func, literal_column, select, text

from methods.json_text import from_json
from resources.llm.ledger.calls import readable, why_no_answer
from resources.llm.ledger.file import CALLS, CHARGES, LEDGER
from resources.llm.request import KEPT_KINDS
from resources.migrations import StoreError
from resources.stores import look
from resources.stores.address import is_there


def texts_of(request: Mapping[str, object]) -> Iterator[str]:
    """Yield the texts of a canonical request's messages; nothing if the request has another format."""
    messages = request.get("messages")
    for message in messages if isinstance(messages, list) else ():
        parts = message.get("parts") if isinstance(message, dict) else None
        yield from (part for part in parts or () if isinstance(part, str))


def _holds(
    text: str, reply: str, reasoning: str | None, detail: str | None, packed: bytes | None
) -> bool:
    """Tell whether one of the texts, or the compressed request, contains `text`, ignoring case."""
    wanted = text.casefold()
    if any(wanted in (part or "").casefold() for part in (reply, reasoning, detail)):
        return True
    return packed is not None and _in_request(text, packed)


def _in_request(text: str, packed: bytes) -> bool:
    try:
        request = zlib.decompress(packed).decode()
        # The text is searched in the JSON string first: most requests need not be parsed.
        if json.dumps(text, ensure_ascii=False)[1:-1].casefold() not in request.casefold():
            return False
        return any(text.casefold() in part.casefold() for part in texts_of(from_json(request)))
    except (zlib.error, ValueError, AttributeError):
        return False


class CallFilter(NamedTuple):
    """The filter of a list of calls; None means any.

    Attributes:
        run: The beginning of a run's id.
        cost_usd: The lowest cost.
        text: Text of the request, the reply, the reasoning or the detail, case-insensitive.
    """

    stage: str | None = None
    model: str | None = None
    endpoint: str | None = None
    outcome: str | None = None
    run: str | None = None
    cost_usd: float | None = None
    text: str | None = None


class LedgerCursor(NamedTuple):
    """The position where a page begins: rows with a lower `seq` of calls and of charges.
    None begins at the newest row.
    """

    call: int | None = None
    charge: int | None = None


class LedgerRowId(NamedTuple):
    """The id of a ledger row: a call by its key, or a charge by its key and `seq`."""

    key: str
    charge: int | None = None

    def __str__(self) -> str:
        return self.key if self.charge is None else f"{self.key}-{self.charge}"


class LedgerRow(NamedTuple):
    """A row of a page of calls.

    Attributes:
        opening: The first characters of the reply.
        reasoning: The first characters of the reasoning, if there is no reply.
        seconds: The time of the call; None for a charge.
        detail: Why a billed request (charge) brought no answer; None for a call.
    """

    name: LedgerRowId
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


class LedgerPage(NamedTuple):
    """A page of rows, the newest first. `n_looked` rows were read to find them, back
    to the time `looked_back_to`.

    `older` is the beginning of the next page; None if there are no older rows.
    """

    rows: list[LedgerRow]
    n_looked: int
    looked_back_to: str | None
    older: LedgerCursor | None


class LedgerEntry(NamedTuple):
    """One call or charge with its texts.

    Attributes:
        n_reply: The length of the reply in characters.
        n_reasoning: The length of the reasoning in characters.
        request: The canonical request; None if its row is damaged.
        seconds: The time of the call; None for a charge.
        attempts: The number of attempts; None for a charge.
        detail: Why a charge brought no answer.
        answered_as: The model that the reply names, if it is another one.
        claimed_tokens: Token counts of the reply that are not plausible.
    """

    name: LedgerRowId
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
    image_tokens: int | None
    request: dict[str, object] | None
    seconds: float | None
    attempts: int | None
    detail: str | None


LOOKED_THROUGH = 200_000
"""The most rows that are read for one page."""
LOOKED_THROUGH_FOR_TEXT = 20_000
"""The most rows that are read for one page if the filter has a text, which must be searched in each
row."""
LOOKED_FOR_SECONDS = 3.0
"""Seconds after which the search for a page stops: a file that is not in the disk cache is read
slowly."""
NEWEST = 5_000
"""The number of newest calls whose stages, models, endpoints and runs are offered as filters."""
OPENING = 300
"""Characters of a reply that a list shows."""
SHOWN = 100_000
"""Characters of a reply, and of its reasoning, that `entry` reads."""
SAME_REQUEST = 20
"""The most charges of one request that are listed."""
_HERE = Path(__file__).parent
_LISTED = (
    *("seq", "key", "stage", "model", "endpoint", "outcome", "prompt_tokens", "completion_tokens"),
    *("cost_usd", "run", "created_at", f"substr(response, 1, {OPENING})"),
    f"CASE response WHEN '' THEN substr(reasoning, 1, {OPENING}) END",
)
_SHOWN = {
    **{
        name: name
        for name in (
            *("provider", "endpoint", "model", "prompt_version", "stage", "run", "via", "outcome"),
            *("finish_reason", "prompt_tokens", "completion_tokens", "cost_usd", "created_at"),
            *("answered_as", "claimed_tokens", "image_tokens"),
        )
    },
    "reply": f"substr(response, 1, {SHOWN})",
    "n_reply": "length(response)",
    "reasoning": f"substr(reasoning, 1, {SHOWN})",
    "n_reasoning": "coalesce(length(reasoning), 0)",
}
"""Fields of an entry, each with its SQL expression."""
_SHOWN_OF = {
    "call": {"seconds": "seconds", "attempts": "attempts", "detail": "NULL"},
    "charge": {"seconds": "NULL", "attempts": "NULL", "detail": "detail"},
}
Text = Literal["reply", "reasoning"]
_TEXTS: Mapping[Text, str] = {"reply": "response", "reasoning": "reasoning"}
T = TypeVar("T")


class LedgerReader:
    """Reads the ledger at `path` while other processes write it.

    No file is created or changed. Each method raises StoreError if the ledger does not exist, is
    damaged or has another version.
    """

    def __init__(self, path: Path):
        self.path = path

    def page(self, wanted: CallFilter, before: LedgerCursor, n_rows: int) -> LedgerPage:
        """Read the newest rows that match a filter.

        Args:
            wanted: The filter.
            before: The position after which rows are read.
            n_rows: The number of rows.

        Returns:
            The page.
        """

        def question(connection: Connection) -> LedgerPage:
            bound = LOOKED_THROUGH if wanted.text is None else LOOKED_THROUGH_FOR_TEXT
            cursor, matches = dict[str, int | None](before._asdict()), list[tuple[str, int]]()
            n_looked, looked_back_to = 0, None
            until = time.monotonic() + LOOKED_FOR_SECONDS
            # One more row than needed is read, to know whether there are older ones.
            newest_first = _newest_first(connection, wanted, before, bound + 1)
            for created_at, kind, seq, fits in newest_first:
                n_looked, looked_back_to, cursor[kind] = n_looked + 1, created_at, seq
                if fits:
                    matches.append((kind, seq))
                if len(matches) == n_rows or n_looked == bound or time.monotonic() > until:
                    break
            older = None if next(newest_first, None) is None else LedgerCursor(**cursor)
            return LedgerPage(_listed(connection, matches), n_looked, looked_back_to, older)

        return self._ask(question)

    def entry(self, name: LedgerRowId) -> LedgerEntry | None:
        """Read one call or charge.

        Args:
            name: The id of the row. A key without a call means the newest charge of that key.

        Returns:
            The entry; None if there is no such row.
        """

        def question(connection: Connection) -> LedgerEntry | None:
            if name.charge is None:
                entry = _entry(connection, "call", CALLS.c.key == name.key)
                if entry is not None:
                    return entry
                newest = _charges_of(connection, name.key)
                if not newest:
                    return None
                return _entry(connection, "charge", CHARGES.c.seq == newest[0].charge)
            where = CHARGES.c.seq == name.charge, CHARGES.c.key == name.key
            return _entry(connection, "charge", *where)

        return self._ask(question)

    def whole_text(self, name: LedgerRowId, kind: Text) -> str | None:
        """Read the complete reply or reasoning of a call or charge.

        Args:
            name: The id of the row.
            kind: Which of the two texts.

        Returns:
            The text, or None.
        """

        def question(connection: Connection) -> str | None:
            table = CALLS if name.charge is None else CHARGES
            query = select(table.c[_TEXTS[kind]]).where(table.c.key == name.key)
            if name.charge is not None:
                query = query.where(table.c.seq == name.charge)
            text: str | None = connection.execute(query).scalar()
            return text

        return self._ask(question)

    def same_request(self, key: str) -> list[LedgerRowId]:
        """List the call of a key and its recent charges: every reply to one request."""

        def question(connection: Connection) -> list[LedgerRowId]:
            calls = connection.execute(select(CALLS.c.key).where(CALLS.c.key == key)).scalars()
            return [*map(LedgerRowId, calls), *_charges_of(connection, key)]

        return self._ask(question)

    def names(self) -> dict[str, list[str]]:
        """List the distinct values of `stage`, `model`, `endpoint` and `run` of the newest calls."""

        def question(connection: Connection) -> dict[str, list[str]]:
            names: dict[str, list[str]] = {"stage": [], "model": [], "endpoint": [], "run": []}
            for kind, name in connection.execute(text(_sql("names_in_use")), {"n_newest": NEWEST}):
                names[kind].append(name)
            return names

        return self._ask(question)

    def _ask(self, question: Callable[[Connection], T]) -> T:
        if not is_there(self.path):
            raise StoreError(
                f"There is no ledger {self.path} yet: the first call to a model makes it "
                "(vlm-loom demo)."
            )
        try:
            return look(LEDGER, self.path, question)
        except OSError as error:
            raise StoreError(
                f"{self.path} cannot be read ({error}): make it a file that you may read."
            ) from None


def _sql(name: str) -> str:
    return (_HERE / f"{name}.sql").read_text(encoding="utf-8")


def _newest_first(
    connection: Connection, wanted: CallFilter, before: LedgerCursor, most: int
) -> Iterator[tuple[str, str, int, bool]]:
    """Yield (time, kind, seq, whether it matches the filter) of calls and charges, the newest first: at
    most `most` of each kind.
    """
    conditions: Mapping[str, object] = {
        **wanted._asdict(),
        "cost": wanted.cost_usd,
        "most": most,
    }

    def rows(kind: str, limit: int | None) -> Iterator[tuple[str, str, int, bool]]:
        cursor = connection.execute(text(_sql(f"newest_{kind}s")), {**conditions, "before": limit})
        for seq, created_at, fits, *texts in cursor:
            matches = bool(fits) and (wanted.text is None or _holds(wanted.text, *texts))
            yield created_at, kind, seq, matches

    return heapq.merge(
        rows("call", before.call),
        rows("charge", before.charge),
        key=lambda row: row[0],
        reverse=True,
    )


def _listed(connection: Connection, hits: list[tuple[str, int]]) -> list[LedgerRow]:
    rows: dict[tuple[str, int], LedgerRow] = {}
    for kind, more in (("call", "seconds, NULL"), ("charge", "NULL, substr(detail, 1, 300)")):
        seqs = [seq for row_kind, seq in hits if row_kind == kind]
        query = text(f"SELECT {', '.join(_LISTED)}, {more} FROM {kind}s WHERE seq IN :seqs")
        listed = query.bindparams(bindparam("seqs", expanding=True))
        for seq, key, *row in connection.execute(listed, {"seqs": seqs}):
            rows[kind, seq] = LedgerRow(LedgerRowId(key, seq if kind == "charge" else None), *row)
    return [rows[place] for place in hits]


def _entry(connection: Connection, kind: str, *where: ColumnElement[bool]) -> LedgerEntry | None:
    fields = _SHOWN | _SHOWN_OF[kind]
    table = CALLS if kind == "call" else CHARGES
    columns = table.c.seq, table.c.key, table.c.request, *map(literal_column, fields.values())
    record = connection.execute(select(*columns).select_from(table).where(*where)).fetchone()
    if record is None:
        return None
    seq, key, packed, *row = record
    name = LedgerRowId(key, seq if kind == "charge" else None)
    values: dict[str, Any] = dict(zip(fields, row, strict=True))
    if kind == "call" and values["outcome"] in KEPT_KINDS:
        values["detail"] = why_no_answer(values["outcome"], values["completion_tokens"])
    return LedgerEntry(name=name, request=readable(packed), **values)


def _charges_of(connection: Connection, key: str) -> list[LedgerRowId]:
    """List the charges of a request, the newest first. As charges have no index, only the newest
    LOOKED_THROUGH are searched.
    """
    newest = select(func.max(CHARGES.c.seq)).scalar_subquery()
    query = (
        select(CHARGES.c.seq)
        .where(CHARGES.c.seq > newest - LOOKED_THROUGH, CHARGES.c.key == key)
        .order_by(CHARGES.c.seq.desc())
        .limit(SAME_REQUEST)
    )
    return [LedgerRowId(key, seq) for seq in connection.execute(query).scalars()]
