"""Export of all review data to one file (decisions, revisions, comments, effort, gold), and import."""

import csv
import io
import json
import shlex
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from methods.errors import UserError
from methods.ids import ID_LENGTH, canonical_json, content_id
from methods.json_text import from_json, is_unicode
from methods.review import KINDS, Decision, QueueItem, by_item, source_hash_of
from methods.review.decisions import (
    MOST_CHARACTERS,
    MOST_SECONDS,
    check_reason,
    check_texts,
    moment,
)
from methods.review.process import ROLE_OF_ROUND, review_state
from methods.review.ratings import effort_rows
from methods.spreadsheet_cells import csv_file, unmarked_rows
from methods.validation import first_fault
from resources.files.bounded import BoundedReadError, open_file, read_member
from resources.files.parquet_records import open_parquet, read_records
from resources.review.accounts import ROLES, Accounts
from resources.review.credentials import folded_name
from resources.review.gold import NewGold, gold_id_of
from resources.review.loading import (
    Ended,
    LoadResult,
    comment_key,
    decision_key,
    stored_counterparts,
)
from resources.review.revocations import MAX_REASON
from resources.review.store import ReviewStore
from review.item_texts import item_texts

Row = dict[str, Any]


class DumpError(UserError):
    """A dump cannot be imported; the message says why in one sentence."""


def _plausible(time: str, info: ValidationInfo) -> str:
    """Validate a time: neither too early nor after `now` of the validation context."""
    moment(time, (info.context or {})["now"])
    return time


_Time = Annotated[str, AfterValidator(_plausible)]


class _Row(BaseModel):
    """A row of a table of the dump."""

    model_config = ConfigDict(extra="forbid")

    @field_validator("*")
    @classmethod
    def _is_storable(cls, value: Any) -> Any:
        if isinstance(value, str) and ("\x00" in value or not is_unicode(value)):
            raise ValueError("NUL and half a character (a lone surrogate) cannot be stored")
        return value


class _Decision(_Row):
    """A stored decision, with its revocation if it has one (`ended_*`). `edits` is JSON."""

    event_id: int
    item_id: str = Field(min_length=1)
    content_hash: str = Field(pattern=rf"^[0-9a-f]{{{ID_LENGTH}}}$")
    round: int = Field(ge=1, le=2)
    reviewer: str = Field(min_length=1)
    verdict: Literal["accept", "edit", "reject", "skip"]
    edits: str | None
    reason: str | None
    note: str | None
    seconds: float | None = Field(ge=0, le=MOST_SECONDS, allow_inf_nan=False)
    decided_at: _Time
    source_hash: str | None
    ended_by: str | None
    ended_for: str | None = Field(max_length=MAX_REASON)
    ended_at: _Time | None


class _Comment(_Row):
    """A stored comment."""

    comment_id: int
    item_id: str = Field(min_length=1)
    author: str = Field(min_length=1)
    addressee: str | None
    text: str = Field(max_length=MOST_CHARACTERS)
    written_at: _Time

    @field_validator("text")
    @classmethod
    def _has_words(cls, text: str) -> str:
        if not text.strip():
            raise ValueError("a comment is not empty")
        return text


class _ExpectedDecision(BaseModel):
    """An expert's decision on an item, as `expected_of` in methods/review/gold.py returns it."""

    model_config = ConfigDict(extra="forbid")
    verdict: Literal["accept", "edit", "reject"]
    content: dict[str, Any] | None


class _Gold(_Row):
    """A stored gold item, a copy of `of_item`. `expected` is JSON."""

    item_id: str = Field(min_length=1)
    of_item: str = Field(min_length=1)
    expected: str
    made_by: str = Field(min_length=1)
    made_at: _Time


COLUMNS: dict[str, tuple[str, ...]] = {
    "decisions": tuple(_Decision.model_fields),
    "revisions": ("event_id", "item_id", "reviewer", "round", "part", "before", "after"),
    "comments": tuple(_Comment.model_fields),
    "effort": (
        *("kind", "round", "reviewer", "n_decisions", "n_skipped", "median_seconds"),
        "reasons",
    ),
    "gold": tuple(_Gold.model_fields),
}
"""Table -> its columns. Revisions and effort are computed from decisions, and not imported."""


class DumpLoadResult(NamedTuple):
    """What was stored, and the numbers of decisions that were left out.

    `without_item`: their item was never in the queue of this store. `of_other_gold`: they are on gold
    items whose original item is not in this store with the same content.
    """

    stored: LoadResult
    without_item: int = 0
    of_other_gold: int = 0


# --- Out -------------------------------------------------------------------------------------------


def tables(store: ReviewStore) -> dict[str, list[Row]]:
    """Make all tables of the dump; rows are ordered by time."""
    decided = store.decisions(revoked=True)
    ended = store.revocations()
    items = {item_id: store.item(item_id) for item_id in {each.item_id for each in decided}}
    known_items = {item_id: item for item_id, item in items.items() if item is not None}
    rows: dict[str, list[Row]] = {name: [] for name in COLUMNS}
    for decision in decided:
        end = ended.get(decision.event_id or 0)
        edits = None if decision.edits is None else json.dumps(decision.edits, ensure_ascii=False)
        rows["decisions"].append(
            {
                **vars(decision),
                "edits": edits,
                "source_hash": decision.source_hash or source_hash_of(decision),
                "ended_by": end and end.person,
                "ended_for": end and end.reason,
                "ended_at": end and end.revoked_at,
            }
        )
    rows["revisions"] = list(_revisions(known_items, decided))
    rows["comments"] = [vars(each) for each in store.comments()]
    in_force = [each for each in decided if each.event_id not in ended]
    rows["effort"] = [
        {**row, "reasons": json.dumps(row["reasons"], sort_keys=True)}
        for row in effort_rows(known_items.values(), in_force)
    ]
    rows["gold"] = store.gold()
    return rows


def _revisions(items: dict[str, QueueItem], decided: Iterable[Decision]) -> Iterator[Row]:
    """Yield a row for each text that a decision changed, with the text before and after."""
    contents = {(item_id, item["content_hash"]): item["content"] for item_id, item in items.items()}
    for decision in decided:
        before = contents.get((decision.item_id, decision.content_hash))
        if decision.edits is None or decision.item_id not in items:
            continue
        contents[decision.item_id, content_id(decision.edits)] = decision.edits
        if before is None:
            continue
        kind = items[decision.item_id]["kind"]
        old, new = (
            {text.name: text.text for text in item_texts(kind, content)}
            for content in (before, decision.edits)
        )
        for part in dict.fromkeys([*old, *new]):
            if old.get(part) != new.get(part):
                yield {
                    **{name: getattr(decision, name) for name in COLUMNS["revisions"][:4]},
                    "part": part,
                    "before": old.get(part),
                    "after": new.get(part),
                }


MOST_BYTES_OF_A_TABLE = 1_000_000_000
"""Maximum size of an unpacked table of an imported dump, in bytes."""


def _from_csv(data: bytes) -> Iterator[Row]:
    # The default limit of a cell is smaller than the longest text that the app accepts.
    csv.field_size_limit(max(csv.field_size_limit(), len(data)))
    text = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig", newline="")
    rows = unmarked_rows(csv.reader(text, strict=True))
    columns = next(rows, [])
    if "item_id" not in columns:
        raise ValueError("a table has no column item_id")
    for number, row in enumerate(rows, start=1):
        if len(row) != len(columns):
            raise ValueError(f"row {number} has {len(row)} cells, and the header {len(columns)}")
        yield {
            name: cell if cell or name == "text" else None
            for name, cell in zip(columns, row, strict=True)
        }


def _jsonl(columns: tuple[str, ...], rows: list[Row]) -> bytes:
    lines = (json.dumps({name: row[name] for name in columns}, ensure_ascii=False) for row in rows)
    return "".join(f"{line}\n" for line in lines).encode()


def _from_jsonl(data: bytes) -> Iterator[Row]:
    for line in io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="\n"):
        if line != "\n":
            row = from_json(line)
            if not isinstance(row, dict):
                raise ValueError("a line is not a JSON object")
            yield row


def _parquet(columns: tuple[str, ...], rows: list[Row]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {
        **dict.fromkeys(
            ("event_id", "comment_id", "round", "n_decisions", "n_skipped"), pa.int64()
        ),
        **dict.fromkeys(("seconds", "median_seconds"), pa.float64()),
    }
    schema = pa.schema([(name, types.get(name, pa.string())) for name in columns])
    data = io.BytesIO()
    named = [{name: row[name] for name in columns} for row in rows]
    pq.write_table(pa.Table.from_pylist(named, schema), data)
    return data.getvalue()


def _from_parquet(data: bytes) -> Iterator[Row]:
    file = io.BytesIO(data)
    for batch in read_records(file, open_parquet(file), MOST_BYTES_OF_A_TABLE):
        yield from batch.to_pylist()


Writer = Callable[[tuple[str, ...], list[Row]], bytes]
Reader = Callable[[bytes], Iterator[Row]]
FORMS: dict[str, tuple[Writer, Reader]] = {
    "csv": (csv_file, _from_csv),
    "jsonl": (_jsonl, _from_jsonl),
    "parquet": (_parquet, _from_parquet),
}
"""Format -> (writer, reader) of a table."""


def dump_file(store: ReviewStore, form: str) -> bytes:
    """Make the dump: a zip archive with one file for each table.

    Args:
        store: The review store.
        form: The format of the tables.

    Returns:
        The bytes, the same for the same store.
    """
    write = FORMS[form][0]
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, rows in tables(store).items():
            # Without a time of writing, so that the same data gives the same bytes.
            entry = zipfile.ZipInfo(f"{name}.{form}")
            archive.writestr(entry, write(COLUMNS[name], rows), zipfile.ZIP_DEFLATED)
    return data.getvalue()


# --- Back ------------------------------------------------------------------------------------------


def load(path: Path, store: ReviewStore, accounts: Accounts) -> DumpLoadResult:
    """Import the decisions, comments and gold items of a dump in one transaction.

    Existing rows do not change, but a decision that was taken back or ended in the dump ends here, too.
    New decisions on an item are left out if later ones are stored here that contradict them.
    Decisions on items that this store lacks are left out and counted; import the same file again once
    the items are in the queue.

    Args:
        path: The dump.
        store: The review store.
        accounts: The accounts.

    Returns:
        The counts.

    Raises:
        DumpError: The file is not valid; the message names the table and row.
    """
    current_time = store.time()
    contents: dict[str, dict[str, Any]] = {}
    ended = store.revocations()
    stored = {each.source_hash: each for each in store.decisions(revoked=True)}
    in_force = {key: each for key, each in stored.items() if each.event_id not in ended}
    names = _Names(accounts)
    decided = _rows(path, "decisions", _Decision, current_time)
    gold = _gold(path, store, names, current_time)
    copies = {new.item["item_id"]: new.item for new in gold}
    items = {
        item_id: copies.get(item_id) or store.item(item_id)
        for item_id in {row.item_id for row in decided}
    }
    # Dumps of earlier versions have no gold items, so recognize them by their ids, too.
    golden = {gold_id_of(item) for item in items.values() if item is not None}
    golden |= {row.item_id for row in _rows(path, "gold", _Gold, current_time)}
    without_item = of_other_gold = 0
    read_rows: list[tuple[str, _Decision, Decision]] = []
    for number, row in enumerate(decided, start=1):
        place, item = f"{path}, decisions, row {number}", items[row.item_id]
        if item is None:
            of_other_gold += row.item_id in golden
            without_item += row.item_id not in golden
            continue
        read_rows.append((place, row, _decision(place, row, item, contents, current_time)))
    written = [
        row.model_dump(exclude={"comment_id"})
        for row in _rows(path, "comments", _Comment, current_time)
    ]
    people = {folded_name(account.name) for account in accounts.all()}
    stored_decisions = stored_counterparts(
        [decision_key(each) for _, _, each in read_rows],
        map(decision_key, stored.values()),
        people,
    )
    decisions: list[tuple[Decision, Ended | None]] = []
    new: list[Decision] = []
    for (place, row, decision), own in zip(read_rows, stored_decisions, strict=True):
        end = None
        # The person of a known decision may have been renamed since.
        if own is None:
            reviewer = names.stored_name(row.reviewer, ROLE_OF_ROUND[row.round])
            decision = replace(decision, reviewer=reviewer)
        counterpart = decision if own is None else in_force.get(own.identity)
        if counterpart is not None and row.ended_at and row.ended_by:
            by_reviewer = row.ended_by == row.reviewer
            by = counterpart.reviewer if by_reviewer else names.stored_name(row.ended_by, "admin")
            end = by, row.ended_for, row.ended_at
        if own is None:
            source = decision.source_hash or source_hash_of(decision)
            same = stored.setdefault(source, decision)
            if _outcome(same) != _outcome(decision):
                raise DumpError(f"{place}: source_hash is that of another decision: correct it.")
            if same is decision and end is None:
                new.append(decision)
        decisions.append((decision, end))
    stored_comments = stored_counterparts(
        map(comment_key, written), [comment_key(vars(each)) for each in store.comments()], people
    )
    for comment, known_comment in zip(written, stored_comments, strict=True):
        if known_comment is None:
            comment["author"] = names.stored_name(comment["author"])
            addressee = comment["addressee"]
            comment["addressee"] = names.stored_name(addressee) if addressee else None
    names.require_all(path)
    _require_others_in_round_2(path, store, new, items)
    return DumpLoadResult(store.load(decisions, written, gold), without_item, of_other_gold)


def _outcome(decision: Decision) -> str:
    """Return a decision's item, content, round, verdict and edits, without person and time."""
    on = [decision.item_id, decision.content_hash, decision.round]
    return canonical_json([*on, decision.verdict, decision.edits])


def _require_others_in_round_2(
    path: Path,
    store: ReviewStore,
    new: list[Decision],
    items: dict[str, QueueItem | None],
) -> None:
    """Raise DumpError if a person would have decided both rounds of an item."""
    rules, before = store.rules(), by_item(store.decisions({each.item_id for each in new}))
    for item_id, added in by_item(new).items():
        item = items[item_id]
        if item is None:
            continue
        state = review_state(item, [*before[item_id], *added], rules.rules_for(item["kind"]))
        first, second = (
            {each.reviewer for each in state.counted if each.round == round} for round in (1, 2)
        )
        if both := sorted(first & second & {each.reviewer for each in added}):
            raise DumpError(
                f"{path}: {both[0]} would have decided item {item_id} in both rounds, and somebody "
                "else must decide round 2: take that decision out of the file."
            )


class _Names:
    """Maps names in a dump to accounts; collects names without an account or the needed role."""

    def __init__(self, accounts: Accounts):
        self._accounts = accounts
        self._lacking: dict[str, tuple[str, str | None, str]] = {}
        """Folded name -> (name, role of the account or None without one, needed role)."""

    def stored_name(self, account_name: str, role: str = ROLES[0]) -> str:
        """Return the account's spelling of a name, or the name itself if there is no account. `role` is
        the role that the person needed for what they did."""
        account = self._accounts.get(account_name)
        name = account_name if account is None else account.name
        if account is None or not account.may(role):
            key, own = folded_name(name), account.role if account else None
            first, _, before = self._lacking.get(key, (name, own, role))
            self._lacking[key] = first, own, max(before, role, key=ROLES.index)
        return name

    def require_all(self, path: Path) -> None:
        """Raise DumpError with all names that have no account or too low a role."""
        missing = [(name, role) for name, own, role in self._lacking.values() if own is None]
        if missing:
            people = ", ".join(repr(name) for name, _ in missing)
            adding = " && ".join(
                f"vlm-loom review account add {shlex.quote(name)} --role {role}"
                for name, role in missing
            )
            raise DumpError(
                f"{path}: There is no account {people}, and decisions and comments need one: run "
                f"{adding} and load the file again."
            )
        if self._lacking:
            people = ", ".join(
                f"{name!r} is {own} here and did what only {role} may do"
                for name, own, role in self._lacking.values()
            )
            changing = " && ".join(
                f"vlm-loom review account role {shlex.quote(name)} {role}"
                for name, _, role in self._lacking.values()
            )
            raise DumpError(
                f"{path}: {people}. If the file is right, run {changing} and load the file again."
            )


def _gold(path: Path, store: ReviewStore, names: _Names, current_time: datetime) -> list[NewGold]:
    """Read gold items that this store lacks, if it has their original items with the same content."""
    new = []
    for number, row in enumerate(_rows(path, "gold", _Gold, current_time), start=1):
        item = store.item(row.of_item)
        if store.item(row.item_id) is not None or item is None or gold_id_of(item) != row.item_id:
            continue
        try:
            expected = _ExpectedDecision.model_validate(from_json(row.expected)).model_dump()
            content = expected["content"]
            if (expected["verdict"] == "reject") != (content is None):
                raise ValueError("the content is that of an item which is not rejected")
            if expected["verdict"] == "edit":
                KINDS[item["kind"]].check(content, item["content"])
            elif content is not None and content_id(content) != item["content_hash"]:
                raise ValueError("the content of an accepted item is not that of the item")
        except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
            reason = str(error).split("\n")[0].rstrip(".")
            raise DumpError(f"{path}, gold, row {number}: expected: {reason}.") from None
        made_by = names.stored_name(row.made_by, "admin")
        copy: QueueItem = {**item, "item_id": row.item_id}
        new.append(NewGold(copy, row.of_item, expected, made_by, row.made_at))
    return new


def _rows(path: Path, table: str, model: type[BaseModel], current_time: datetime) -> list[Any]:
    """Read and validate the rows of a table of the dump. Raises DumpError."""
    try:
        with open_file(path) as file, zipfile.ZipFile(file) as archive:
            named = [name for name in archive.namelist() if name.partition(".")[0] == table]
            if not named and table == "gold":  # a file of an earlier version
                return []
            if len(named) > 1:
                raise DumpError(
                    f"{path} has the table {table} {len(named)} times ({', '.join(named)}): give a "
                    "file that vlm-loom review dump wrote."
                )
            form = named[0].partition(".")[2] if named else ""
            if form not in FORMS:
                raise DumpError(
                    f"{path} has no table {table}: give a file that vlm-loom review dump wrote."
                )
            data = read_member(archive, named[0], MOST_BYTES_OF_A_TABLE)
        rows = []
        for number, row in enumerate(FORMS[form][1](data), start=1):
            try:
                rows.append(model.model_validate(row, context={"now": current_time}))
            except ValidationError as error:
                where, fault = first_fault(error, model)
                raise DumpError(
                    f"{path}, {table}, row {number}: {where}: {fault.rstrip('.')}."
                ) from None
    except BoundedReadError as error:
        raise DumpError(f"{path} cannot be read: {error.detail}.") from None
    except (
        *(OSError, ValueError, zipfile.BadZipFile, csv.Error),
        NotImplementedError,  # a zip file of a later version
        *(OverflowError, KeyError),  # a time in Parquet after the year 9999 or in an unknown zone
    ) as error:
        raise DumpError(
            f"{path} cannot be read ({error}): give a file that vlm-loom review dump wrote."
        ) from None
    return rows


def _decision(
    place: str,
    row: _Decision,
    item: QueueItem,
    contents: dict[str, dict[str, Any]],
    current_time: datetime,
) -> Decision:
    """Make the decision of a row; check that its edits fit the item's content. Raises DumpError."""
    kind, edits = KINDS[item["kind"]], None
    try:
        edits = None if row.edits is None else from_json(row.edits)
        if (row.verdict == "edit") != (edits is not None):
            raise ValueError("edits are given with the verdict edit, and with no other")
        if (row.ended_at is None) != (row.ended_by is None):
            raise ValueError("ended_at and ended_by belong together")
        if row.verdict == "reject":
            check_reason(row.reason, row.note)
        on = contents.get(row.content_hash, item["content"])
        check_texts(edits, row.reason, row.note, on)
        if edits is not None:
            contents.setdefault(item["content_hash"], item["content"])
            if row.content_hash in contents:
                kind.check(edits, contents[row.content_hash])
            # The edited content is unknown, since the item has changed: only check its keys.
            elif not isinstance(edits, dict) or edits.keys() != item["content"].keys():
                raise ValueError("edits have the keys of another kind")
            kind.texts(edits)
            contents[content_id(edits)] = edits
    except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
        raise DumpError(f"{place}: {str(error).rstrip('.')}.") from None
    values = row.model_dump(exclude={"ended_by", "ended_for", "ended_at", "event_id"})
    return Decision(**values | {"edits": edits})
