"""The outcomes of a broken input, and how the record says them."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

_OF_A_MACHINE = {
    r"127\.0\.0\.1(:\d+)?": "HOST",
    r"\b[0-9a-f]{32}\b": "DIGEST",
    # A resolver may be there or not; what a library says is long, and other in its next version.
    r"gaierror\(.*?\)": "gaierror",
    r"CRC check failed [^)]*": "CRC check failed",
    r"\((.{60}).{40,}\)": r"(\1 …)",
}
"""What differs among machines, and what stands in its place."""


class Outcome(Protocol):
    """How it ended. Every method gives a cell of the record's table."""

    def happens(self) -> str: ...

    def said(self) -> str: ...

    def seen(self) -> str: ...


@dataclass(frozen=True)
class Refused:
    """A row or an image is left out; `kind` and `reference` are those of `ingest.rejected`."""

    kind: str
    reference: str
    reason: str
    detail: str

    def happens(self) -> str:
        return f"the {self.kind} is left out"

    def said(self) -> str:
        return f"`{self.reason}` {self.detail}"

    def seen(self) -> str:
        return f"`ingest.rejected`, {self.kind}, {self.reference}"


@dataclass(frozen=True)
class Stopped:
    """The run ends with a sentence at this asset, whose table keeps its rows."""

    asset: str
    sentence: str

    def happens(self) -> str:
        return "the run stops, the table keeps its rows"

    def said(self) -> str:
        return self.sentence

    def seen(self) -> str:
        return f"failure of `{self.asset}`"


@dataclass(frozen=True)
class NotBegun:
    """The run fails with a sentence before its first asset."""

    sentence: str

    def happens(self) -> str:
        return "the run does not start"

    def said(self) -> str:
        return self.sentence

    def seen(self) -> str:
        return "failure of the run"


@dataclass(frozen=True)
class Taken:
    """It is no obstacle."""

    what: str

    def happens(self) -> str:
        return self.what

    def said(self) -> str:
        return ""

    def seen(self) -> str:
        return "`ingest.wit_rows`"


@dataclass(frozen=True)
class Case:
    """A broken input in a few words, and what feeds it, with a folder of its own, to the code."""

    broken: str
    feed: Callable[[Path], Outcome]


def table_line(case: Case, folder: Path) -> str:
    """Feed the input to the code; its line of the table."""
    outcome = case.feed(folder)
    cells = [case.broken, outcome.happens(), outcome.said(), outcome.seen()]
    return f"| {' | '.join(_stable(cell, folder) for cell in cells)} |"


def _stable(text: str, folder: Path) -> str:
    """The same on every machine, and plain text in Markdown."""
    text = " ".join(text.replace(str(folder), "FOLDER").split())
    for machine, everywhere in _OF_A_MACHINE.items():
        text = re.sub(machine, everywhere, text)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|")
