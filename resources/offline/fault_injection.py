"""Fault injection, and counts of the calls.

What belongs here: the queue of faults that the next chat calls and batches are to fail with, and the
server's statistics. With them a test makes the server fail in the ways that a paid API fails. No
model is called.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from resources.offline.errors import ApiError, BadRequest
from resources.offline.writing_faults import WRITING_FAULTS

STATUS, TRUNCATED_JSON, EMPTY_CHOICES = "status", "truncated_json", "empty_choices"
UNTRANSLATED = "untranslated"
CONTENT_FILTER, TIMEOUT, RESET = "content_filter", "timeout", "reset"
BATCH_ITEM_STATUS = "batch_item_status"
BATCH_EXPIRE, BATCH_FAIL, BATCH_LOST = "batch_expire", "batch_fail", "batch_lost"
# An answer can be empty, filtered or wrong in a batch too; a connection of its own it does not have.
_ANSWER_KINDS = (EMPTY_CHOICES, CONTENT_FILTER, UNTRANSLATED, *WRITING_FAULTS)
_CALL_KINDS = (STATUS, TRUNCATED_JSON, TIMEOUT, RESET, *_ANSWER_KINDS)
_ITEM_KINDS = (BATCH_ITEM_STATUS, *_ANSWER_KINDS)
_BATCH_KINDS = (BATCH_EXPIRE, BATCH_FAIL, BATCH_LOST)
KINDS = (*_CALL_KINDS, BATCH_ITEM_STATUS, *_BATCH_KINDS)
_FIELDS = {"kind", "status", "retry_after", "count", "model", "task"}


@dataclass
class Fault:
    """One kind of fault, and how many more calls, of which model and task, are to fail with it.

    What is left of `batch_expire` is how many requests the next batch leaves unanswered; of
    `batch_item_status`, how many requests of the next batches fail; of `batch_fail` and
    `batch_lost`, how many batches. `untranslated` gives a translation that is its source, and other
    answers as they are; the faults of `writing_faults.py` give an answer with something wrong in it.
    """

    kind: str
    status: int
    retry_after: str | None
    model: str | None
    left: int
    task: str | None = None

    def error(self) -> ApiError:
        """Return the error of a call that fails with this fault."""
        kind = "rate_limit_error" if self.status == 429 else "server_error"
        return ApiError(self.status, "This fault was asked for at /faults.", kind, self.kind)


def read_fault(payload: dict[str, object]) -> Fault:
    """Read a fault from the body of `POST /faults`."""
    unknown = set(payload) - _FIELDS
    if unknown:
        raise BadRequest(f"A fault has no field {sorted(unknown)}; it has {sorted(_FIELDS)}.")
    kind = payload.get("kind", STATUS)
    status = payload.get("status", 500)
    count = payload.get("count", 1)
    retry_after = payload.get("retry_after")
    model = payload.get("model")
    if not isinstance(kind, str) or kind not in KINDS:
        raise BadRequest(f"A fault's kind must be one of {KINDS}.")
    if not isinstance(status, int) or not 400 <= status <= 599:
        raise BadRequest("A fault's status must be an integer from 400 to 599.")
    if not isinstance(count, int) or count < 1:
        raise BadRequest("A fault's count must be a positive integer.")
    if retry_after is not None and not isinstance(retry_after, str):
        raise BadRequest("A fault's retry_after must be a string or null.")
    if model is not None and not isinstance(model, str):
        raise BadRequest("A fault's model must be a string or null.")
    task = payload.get("task")
    if task is not None and not isinstance(task, str):
        raise BadRequest("A fault's task must be a string or null.")
    return Fault(kind, status, retry_after, model, count, task)


class FaultInjector:
    """The queued faults and the counts of calls; used from the event loop only."""

    def __init__(self) -> None:
        self._faults: list[Fault] = []
        self._by_model: Counter[str] = Counter()
        self._batched = 0
        self._injected = 0
        self._in_flight = 0
        self._max_in_flight = 0

    def queue(self, fault: Fault) -> None:
        """Let the next matching calls or batches fail with a fault."""
        self._faults.append(fault)

    def begin(self, model: str, task: str | None = None) -> Fault | None:
        """Count a call that starts, and return the fault it fails with, if any."""
        self._by_model[model] += 1
        self._in_flight += 1
        self._max_in_flight = max(self._max_in_flight, self._in_flight)
        return self._take(_CALL_KINDS, model, task)

    def begin_item(self, model: str | None, task: str | None = None) -> Fault | None:
        """Count a batch's request that starts, and return the fault it fails with, if any."""
        self._batched += 1
        return self._take(_ITEM_KINDS, model, task)

    def begin_batch(self, model: str | None) -> Fault | None:
        """Return the fault that a whole batch fails with, if any."""
        return self._take(_BATCH_KINDS, model)

    def end(self) -> None:
        """Count a call that ended."""
        self._in_flight -= 1

    def stats(self) -> dict[str, object]:
        """Return the body of `GET /stats`."""
        return {
            "calls": sum(self._by_model.values()),
            "batched": self._batched,
            "by_model": dict(sorted(self._by_model.items())),
            "faults": self._injected,
            "max_in_flight": self._max_in_flight,
        }

    def _take(
        self, kinds: tuple[str, ...], model: str | None, task: str | None = None
    ) -> Fault | None:
        """Use up one of the first fault of these kinds that concerns this model and task."""
        for fault in self._faults:
            concerned = fault.model in (None, model) and fault.task in (None, task)
            if fault.kind in kinds and concerned:
                self._injected += 1
                if fault.kind == BATCH_EXPIRE:
                    # Its count is of the requests of one batch, which uses the fault up.
                    self._faults.remove(fault)
                else:
                    fault.left -= 1
                    self._faults = [other for other in self._faults if other.left > 0]
                return fault
        return None
