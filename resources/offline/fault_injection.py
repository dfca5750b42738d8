"""Faults that the next chat calls are to have, as calls of a paid API fail and models write; and counts
of the calls."""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from resources.offline.chat_request import IMAGE_NAME, ApiError, BadRequest

STATUS, TIMEOUT, RESET = "status", "timeout", "reset"
WITHOUT_ANSWER = (STATUS, TIMEOUT, RESET)
TRUNCATED_JSON, EMPTY_CHOICES, CONTENT_FILTER = "truncated_json", "empty_choices", "content_filter"
UNTRANSLATED = "untranslated"
"""A translation is its source; other answers are as they are."""
CUT_OFF = "cut_off"
"""The text ends in its middle, as a token limit ends it: its finish reason is `length`."""
_LABEL = re.compile(r"^(?:\*\*)?([QA])(\d+)(?:\*\*)?: *", re.MULTILINE)
_LABEL_WORDS = {"Q": "Question", "A": "Answer"}
REFUSAL = "I'm sorry, but I can't help with that."
OFFER = "Let me know if you would like me to look at anything in more detail!"
NO_IMAGE = "<image-99>"


def _labelled(text: str) -> str:
    return _LABEL.sub(
        lambda match: f"### {match[1]}{match[2]}:\n**{_LABEL_WORDS[match[1]]}:** ", text
    )


def _wrong_image(text: str) -> str:
    match = IMAGE_NAME.search(text)
    return IMAGE_NAME.sub(NO_IMAGE, text, count=1) if match else f"{text} {NO_IMAGE} shows it, too."


WRITING_FAULTS: Mapping[str, Callable[[str], str]] = {
    CUT_OFF: lambda text: text[: len(text) // 2],
    "labels": _labelled,
    "fence": lambda text: f"```markdown\n{text}\n```",
    "closing_offer": lambda text: f"{text}\n\n{OFFER}",
    "wrong_image": _wrong_image,
    "plain_image": lambda text: IMAGE_NAME.sub(r"the Image \1", text),
    "added_image": lambda text: f"{text} <ImageHere>",
    "refusal": lambda text: REFUSAL,
}
"""How each fault makes the text over: headings with labels, a fence around all of it, an offer of more
help, a picture that is not there, pictures by plain numbers, an added picture, a refusal."""
KINDS = (
    *WITHOUT_ANSWER,
    *(TRUNCATED_JSON, EMPTY_CHOICES, CONTENT_FILTER, UNTRANSLATED),
    *WRITING_FAULTS,
)
_FIELDS = {"kind", "status", "retry_after", "count", "model", "task"}


@dataclass
class Fault:
    """One kind of fault, and how many more calls, of which model and task, are to fail with it."""

    kind: str
    status: int
    left: int
    retry_after: str | None
    model: str | None
    task: str | None

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
    if not isinstance(kind, str) or kind not in KINDS:
        raise BadRequest(f"A fault's kind must be one of {KINDS}.")
    if not isinstance(status, int) or not 400 <= status <= 599:
        raise BadRequest("A fault's status must be an integer from 400 to 599.")
    if not isinstance(count, int) or count < 1:
        raise BadRequest("A fault's count must be a positive integer.")
    texts: dict[str, str | None] = {}
    for name in ("retry_after", "model", "task"):
        text = payload.get(name)
        if not isinstance(text, str | None):
            raise BadRequest(f"A fault's {name} must be a string or null.")
        texts[name] = text
    return Fault(kind, status, count, **texts)


class FaultInjector:
    """The queued faults and the counts of calls; used from the event loop only."""

    def __init__(self) -> None:
        self._faults: list[Fault] = []
        self._by_model: Counter[str] = Counter()
        self._injected = 0
        self._in_flight = 0
        self._max_in_flight = 0

    def queue(self, fault: Fault) -> None:
        """Let the next matching calls fail with a fault."""
        self._faults.append(fault)

    def begin(self, model: str, task: str | None = None) -> Fault | None:
        """Count a call that starts, and return the fault it fails with, if any."""
        self._by_model[model] += 1
        self._in_flight += 1
        self._max_in_flight = max(self._max_in_flight, self._in_flight)
        for fault in self._faults:
            if fault.model in (None, model) and fault.task in (None, task):
                self._injected += 1
                fault.left -= 1
                self._faults = [other for other in self._faults if other.left > 0]
                return fault
        return None

    def end(self) -> None:
        """Count a call that ended."""
        self._in_flight -= 1

    def stats(self) -> dict[str, object]:
        """Return the body of `GET /stats`."""
        return {
            "calls": sum(self._by_model.values()),
            "by_model": dict(sorted(self._by_model.items())),
            "faults": self._injected,
            "max_in_flight": self._max_in_flight,
        }
