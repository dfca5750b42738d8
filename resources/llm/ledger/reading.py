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

from sqlalchemy import ColumnElement, Connection, Table, and_, case, func, null, select

from methods.json_text import from_json
from resources.llm.ledger.calls import ANSWERED, readable, why_no_answer
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


class LedgerPage(NamedTuple):
    """A page of rows, the newest first. `n_looked` rows were read to find them, back
    to the time `looked_back_to`.

    `older` is the beginning of the next page; None if there are no older rows.
    """

    rows: list["LedgerEntry"]
    n_looked: int
    looked_back_to: str | None
    older: LedgerCursor | None


class LedgerEntry(NamedTuple):
    """One call or charge with the beginning of its texts; `calls.py` says what the other fields are.

    Attributes:
        n_reply: The length of the whole reply in characters.
        n_reasoning: The length of the whole reasoning in characters.
        request: The canonical request; None in a list, and if its row is damaged.
        seconds: The time of the call; None for a charge.
        attempts: The number of attempts; None for a charge.
        detail: Why a charge brought no answer.
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
_TABLES: Mapping[str, Table] = {"call": CALLS, "charge": CHARGES}
_COLUMNS = (
    *("provider", "endpoint", "model", "prompt_version", "stage", "run", "via", "outcome"),
    *("finish_reason", "prompt_tokens", "completion_tokens", "cost_usd", "created_at"),
    *("answered_as", "claimed_tokens", "image_tokens"),
)
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
            charge = name.charge
            if charge is None:
                calls = _entries(connection, "call", SHOWN, CALLS.c.key == name.key)
                if calls:
                    return next(iter(calls.values()))
                charge = next((newest.charge for newest in _charges_of(connection, name.key)), None)
            where = CHARGES.c.seq == charge, CHARGES.c.key == name.key
            return _entries(connection, "charge", SHOWN, *where).get(charge or 0)

        entry = self._ask(question)
        if entry is not None and entry.outcome in KEPT_KINDS and entry.name.charge is None:
            return entry._replace(detail=why_no_answer(entry.outcome, entry.completion_tokens))
        return entry

    def whole_text(self, name: LedgerRowId, kind: Text) -> str | None:
        """Read the complete reply or reasoning of a call or charge.

        Args:
            name: The id of the row.
            kind: Which of the two texts.
        """

        table = CALLS if name.charge is None else CHARGES
        query = select(table.c[_TEXTS[kind]]).where(table.c.key == name.key)
        if name.charge is not None:
            query = query.where(table.c.seq == name.charge)
        text: str | None = self._ask(lambda connection: connection.execute(query).scalar())
        return text

    def same_request(self, key: str) -> list[LedgerRowId]:
        """List the call of a key and its recent charges: every reply to one request."""

        query = select(CALLS.c.key).where(CALLS.c.key == key)
        return self._ask(
            lambda connection: [
                *map(LedgerRowId, connection.execute(query).scalars()),
                *_charges_of(connection, key),
            ]
        )

    def names(self) -> dict[str, list[str]]:
        """List the distinct values of `stage`, `model`, `endpoint` and `run` of the newest calls."""

        names = ("stage", "model", "endpoint", "run")

        def question(connection: Connection) -> dict[str, list[str]]:
            rows: list[Any] = []
            for table in _TABLES.values():
                newest = select(*(table.c[name] for name in names)).order_by(table.c.seq.desc())
                rows += connection.execute(newest.limit(NEWEST))
            return {name: sorted({row[place] for row in rows}) for place, name in enumerate(names)}

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


def _newest_first(
    connection: Connection, wanted: CallFilter, before: LedgerCursor, most: int
) -> Iterator[tuple[str, str, int, bool]]:
    """Yield (time, kind, seq, whether it matches the filter) of calls and charges, the newest first: at
    most `most` of each kind.
    """

    def rows(kind: str, limit: int | None) -> Iterator[tuple[str, str, int, bool]]:
        columns = _TABLES[kind].c
        # Whether a row fits is a result, not a condition: the reader knows at how many it has looked.
        fits = and_(True, *_conditions(wanted, _TABLES[kind]))
        query = select(columns.seq, columns.created_at, case((fits, 1), else_=0))
        if wanted.text is not None:
            names = ("response", "reasoning", "detail", "request")
            query = query.add_columns(
                *(case((fits, columns[name])) if name in columns else null() for name in names)
            )
        if limit is not None:
            query = query.where(columns.seq < limit)
        cursor: Any = connection.execute(query.order_by(columns.seq.desc()).limit(most))
        for seq, created_at, is_fitting, *texts in cursor:
            matches = bool(is_fitting) and (wanted.text is None or _holds(wanted.text, *texts))
            yield created_at, kind, seq, matches

    return heapq.merge(
        rows("call", before.call),
        rows("charge", before.charge),
        key=lambda row: row[0],
        reverse=True,
    )


def _conditions(wanted: CallFilter, table: Table) -> Iterator[ColumnElement[bool]]:
    """Yield the conditions of a filter, without that on texts."""
    for name in ("stage", "model", "endpoint"):
        if (value := getattr(wanted, name)) is not None:
            yield table.c[name] == value
    if wanted.outcome == "lost":
        yield table.c.outcome != ANSWERED
    elif wanted.outcome is not None:
        yield table.c.outcome == wanted.outcome
    if wanted.run is not None:
        yield func.substr(table.c.run, 1, len(wanted.run)) == wanted.run
    if wanted.cost_usd is not None:
        yield table.c.cost_usd >= wanted.cost_usd


def _listed(connection: Connection, hits: list[tuple[str, int]]) -> list[LedgerEntry]:
    entries = {}
    for kind, table in _TABLES.items():
        seqs = [seq for row_kind, seq in hits if row_kind == kind]
        entries[kind] = _entries(connection, kind, OPENING, table.c.seq.in_(seqs))
    return [entries[kind][seq] for kind, seq in hits]


def _entries(
    connection: Connection, kind: str, n_characters: int, *where: ColumnElement[bool]
) -> dict[int, LedgerEntry]:
    """Read rows by `seq`, with the first characters of their texts. Only whole rows have requests."""
    columns = _TABLES[kind].c
    texts = {
        "reply": func.substr(columns.response, 1, n_characters),
        "n_reply": func.length(columns.response),
        "reasoning": func.substr(columns.reasoning, 1, n_characters),
        "n_reasoning": func.coalesce(func.length(columns.reasoning), 0),
        "request": columns.request if n_characters == SHOWN else null(),
    }
    for name in ("seconds", "attempts", "detail"):
        texts[name] = columns[name] if name in columns else null()
    query = select(
        *(columns[name] for name in ("seq", "key", *_COLUMNS)),
        *(text.label(name) for name, text in texts.items()),
    )
    entries = {}
    for row in connection.execute(query.where(*where)).mappings():
        values: dict[str, Any] = {**row, "request": row["request"] and readable(row["request"])}
        seq = values.pop("seq")
        row_id = LedgerRowId(values.pop("key"), seq if kind == "charge" else None)
        entries[seq] = LedgerEntry(name=row_id, **values)
    return entries


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
