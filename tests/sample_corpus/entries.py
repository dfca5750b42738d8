"""The entries of the corpus, read from `topics/*.toml`."""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TOPICS = Path(__file__).parent / "topics"
CLOSING = "This entry is synthetic."
WORDS = range(80, 141)
FAULTS = ("columns", "encoding", "truncated", "missing")


@dataclass(frozen=True)
class Entry:
    """One page of the invented encyclopaedia with its picture.

    ``draw`` holds the details of the picture and is None where the entry shares the picture of
    another one, or has none; ``fault`` names the damage done to the entry on purpose.
    """

    topic: str
    scene: str
    title: str
    image: str
    size: tuple[int, int]
    caption: str
    alt: str
    categories: list[str]
    context: str
    language: str = "en"
    section: str = ""
    section_text: str = ""
    fault: str | None = None
    draw: dict[str, Any] | None = field(default=None, compare=False)


def load_entries() -> list[Entry]:
    """Every entry, topic by topic in the order of the files.

    Raises ValueError if a text has too few or too many words or does not say that it is synthetic.
    """
    entries = []
    for path in sorted(TOPICS.glob("*.toml")):
        topic = tomllib.loads(path.read_text(encoding="utf-8"))
        for raw in topic["entry"]:
            # Texts are wrapped in the files for the sake of readers; in a row they are one line.
            raw["context"] = " ".join(raw["context"].split())
            raw["size"] = tuple(raw["size"])
            entry = Entry(topic=path.stem, scene=topic["scene"], **raw)
            _check(entry)
            entries.append(entry)
    return entries


def _check(entry: Entry) -> None:
    count = len(entry.context.split())
    if count not in WORDS:
        raise ValueError(f"{entry.title}: the text has {count} words, not {WORDS[0]}-{WORDS[-1]}")
    if not entry.context.endswith(CLOSING):
        raise ValueError(f"{entry.title}: the text does not end with {CLOSING!r}")
    if entry.fault not in (None, *FAULTS):
        raise ValueError(f"{entry.title}: the fault {entry.fault!r} is not one of {FAULTS}")
    if not 3 <= len(entry.categories) <= 5:
        raise ValueError(f"{entry.title}: there are not 3 to 5 categories")
