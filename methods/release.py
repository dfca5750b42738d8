"""Dataset releases: the rows of the release tables, and the release id, a hash of the content.

The same content gives the same id.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from methods.ids import content_id
from methods.prompts.messages import IMAGE_HERE

Rows = Mapping[str, Sequence[Mapping[str, Any]]]
"""Rows by table name."""

RELEASE_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,59}")
"""The pattern of valid names. The release id begins with the name and is used as a folder name."""

RELEASE_TABLES = ("items", "turns", "choices", "references", "images")
"""The tables of schema `release` whose rows are hashed for the release id."""
_LATER_TABLES = ("choices",)
_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "items": {"group_id": None, "labels": {}},
    "turns": {"given": None},
    "references": {"kind": "answer"},
}
"""Columns that early versions did not have, and the values that stand for their rows."""


@dataclass(frozen=True)
class Origin:
    """The call that generated a text: its ledger key and prompt version; None if a person wrote it."""

    call_key: str | None = None
    prompt_version: str | None = None


@dataclass(frozen=True)
class ApprovedDialogue:
    """An approved dialogue: its content after review, and its reviewers."""

    item_id: str
    set_id: str
    revision: int
    reviewers: tuple[str, ...]
    image_ids: tuple[str, ...]
    turns: tuple[Mapping[str, Any], ...]
    generated: tuple[Mapping[str, Any], ...] | None = None
    """The turns before any edit; None if nobody edited them."""


@dataclass(frozen=True)
class ReviewPolicy:
    """Which items people must review ("none", "sample" or "all"), and the share of a sample."""

    policy: str
    share: float


@dataclass(frozen=True)
class Edition:
    """The benchmark, split, language and source of a release.

    None for missing or unknown values; an instruction set has no benchmark.
    """

    benchmark: str | None = None
    split: str | None = None
    language: str | None = None
    origin: Literal["built", "imported"] = "built"
    held_out: bool = False
    """Whether the user who imported the release asked to keep its references in this workspace."""

    @property
    def columns(self) -> dict[str, str | None]:
        """The edition as columns of `release.releases`."""
        return {name: value for name, value in vars(self).items() if name != "held_out"}


HELD_OUT = "test"
"""The split of built benchmarks whose references (answers) are not exported from the workspace."""


@dataclass(frozen=True)
class Release:
    """Rows of the release tables, by table name."""

    release_id: str
    rows: dict[str, list[dict[str, Any]]]
    originals: tuple[Origin, ...] = ()
    """The calls that generated the dialogues, also those whose texts people edited."""


def image_positions(questions: Sequence[str]) -> Iterator[tuple[int, ...]]:
    """Yield the numbers of the images that each question first shows.

    `<ImageHere>` placeholders are numbered from 1 through the whole dialogue.
    """
    shown = 0
    for question in questions:
        n_new = question.count(IMAGE_HERE)
        yield tuple(range(shown + 1, shown + n_new + 1))
        shown += n_new


class ReleaseRows:
    """The rows of the release tables, item by item.

    `add_item` begins an item. All other rows are those of the item that was added last.
    """

    def __init__(self) -> None:
        self.tables: dict[str, list[dict[str, Any]]] = {table: [] for table in RELEASE_TABLES}
        self._item_id = ""

    def add_item(
        self,
        ordinal: int,
        item_id: str,
        revision: int,
        reviewers: Sequence[str],
        labels: Mapping[str, str],
        *,
        set_id: str | None = None,
        group_id: str | None = None,
    ) -> None:
        self._item_id = item_id
        self._add(
            "items",
            set_id=set_id,
            group_id=group_id,
            ordinal=ordinal,
            revision=revision,
            reviewers=list(reviewers),
            labels=dict(labels),
        )

    def add_turn(
        self,
        turn: int,
        question: str,
        image_positions: Iterable[int],
        asked_by: Origin,
        given_answer: str | None = None,
    ) -> None:
        positions = list(image_positions)
        values = {"question": question, "image_positions": positions, "given": given_answer}
        self._add("turns", turn=turn, **values, **vars(asked_by))

    def add_reference(self, turn: int, kind: str, reference: str, written_by: Origin) -> None:
        self._add("references", turn=turn, kind=kind, reference=reference, **vars(written_by))

    def add_choices(self, choices: Sequence[str]) -> None:
        for position, choice in enumerate(choices, start=1):
            self._add("choices", position=position, choice=choice)

    def add_images(
        self, image_ids: Sequence[str], source: Callable[[str], Mapping[str, Any]]
    ) -> None:
        """Add the images of the item, each with the source columns of its id."""
        for position, image_id in enumerate(image_ids, start=1):
            self._add("images", position=position, image_id=image_id, **source(image_id))

    def _add(self, table: str, **values: Any) -> None:
        self.tables[table].append({"item_id": self._item_id, **values})


def build_release(
    name: str,
    dialogues: Sequence[ApprovedDialogue],
    reviewed: ReviewPolicy,
    questions: Mapping[str, Origin],
    answers: Mapping[str, Origin],
    sources: Mapping[tuple[str, str], Mapping[str, Any]],
) -> Release:
    """Build the rows of a release from approved dialogues.

    Args:
        name: The name of the release.
        dialogues: The dialogues.
        reviewed: The policy under which they were approved.
        questions: The origin of the text of each question, by question id.
        answers: The origin of the text of each answer, by question id.
        sources: The source columns of `images`, by (set id, image id).

    Returns:
        The release with the rows of `RELEASE_TABLES`, in order of item id.
    """
    ordered = sorted(dialogues, key=lambda dialogue: dialogue.item_id)
    rows = ReleaseRows()
    for ordinal, dialogue in enumerate(ordered, start=1):
        rows.add_item(
            ordinal,
            dialogue.item_id,
            dialogue.revision,
            dialogue.reviewers,
            {},
            set_id=dialogue.set_id,
        )
        positions = image_positions([turn["question"] for turn in dialogue.turns])
        for number, (turn, entering) in enumerate(
            zip(dialogue.turns, positions, strict=True), start=1
        ):
            origin = _origin(dialogue, turn, "question", questions)
            answered = _origin(dialogue, turn, "answer", answers)
            rows.add_turn(number, turn["question"], entering, origin)
            rows.add_reference(number, "answer", turn["answer"], answered)
        of_set = {image_id: sources[dialogue.set_id, image_id] for image_id in dialogue.image_ids}
        rows.add_images(dialogue.image_ids, of_set.__getitem__)
    originals = {
        origins[turn["question_id"]]: None
        for dialogue in ordered
        for turn in dialogue.turns
        for origins in (questions, answers)
        if turn.get("question_id") in origins
    }
    release = with_release_ids(name, reviewed, Edition(), rows.tables)
    return replace(release, originals=tuple(originals))


def with_release_ids(name: str, reviewed: ReviewPolicy, edition: Edition, rows: Rows) -> Release:
    """Give rows the id of their release, which is a hash of their content.

    Args:
        name: The name of the release.
        reviewed: The policy under which its items were approved.
        edition: The benchmark, split and language.
        rows: The rows by table, without the id.
    """
    release_id = id_of_release(name, reviewed, rows, edition)
    return Release(
        release_id,
        {
            table: [{"release_id": release_id, **row} for row in table_rows]
            for table, table_rows in rows.items()
        },
    )


def counts_of(rows: Rows) -> dict[str, int]:
    """Count the items, turns and images of a release.

    Args:
        rows: The rows of `RELEASE_TABLES`.

    Returns:
        The columns of the card that have these numbers.
    """
    return {
        "n_items": len(rows["items"]),
        "n_turns": len(rows["turns"]),
        "n_images": len({row["image_id"] for row in rows["images"]}),
    }


def id_of_release(name: str, reviewed: ReviewPolicy, rows: Rows, edition: Edition) -> str:
    """Compute the id of a release from its whole content.

    The hash includes the texts, the reviewers, the review policy, the model call of each text and the
    source of each image. Left out are tables, columns and editions that earlier versions did not have,
    if they are empty or at their defaults (`_DEFAULTS`), so that old releases keep their id. Held-out
    references are left out, too: otherwise anyone with the other rows could try answers until the id
    fits. An edited reference still changes the id, because the revision of its item is hashed.

    Args:
        name: The name of the release.
        reviewed: The review policy.
        rows: The rows of `RELEASE_TABLES`, without their `release_id`.
        edition: Benchmark, split, language, and whether answers are held out.

    Returns:
        The name with the first ten hex digits of the hash.
    """
    rows = exported_rows(rows, edition)
    hashed = {
        table: [_without_defaults(table, row) for row in table_rows]
        for table, table_rows in rows.items()
        if table_rows or table not in _LATER_TABLES
    }
    whole = edition == Edition(edition.benchmark)
    edition_fields = vars(edition) if edition.held_out else edition.columns
    parts = [hashed] if whole else [hashed, edition_fields]
    return f"{name}-{content_id('release', name, vars(reviewed), *parts)[:10]}"


def held_out(edition: Edition) -> bool:
    """Whether the references of a release are held out: not exported from the workspace.

    That is the case for the test split of built benchmarks, and for imported releases if the user who
    imported them asked for it.
    """
    return edition.held_out or (edition.split == HELD_OUT and edition.origin == "built")


def exported_rows(rows: Rows, edition: Edition) -> Rows:
    """Select the rows that may leave the workspace.

    Args:
        rows: The rows of a release.
        edition: The edition, which says whether answers are held out.

    Returns:
        The rows, without references if they are held out.
    """
    return {**rows, "references": []} if held_out(edition) else rows


def _without_defaults(table: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """Remove columns that have their default value from a row."""
    # The tables return a MAP as pairs.
    plain = {**row, "labels": dict(row["labels"])} if "labels" in row else row
    defaults = _DEFAULTS.get(table, {})
    return {
        column: value
        for column, value in plain.items()
        if column not in defaults or value != defaults[column]
    }


def _origin(
    dialogue: ApprovedDialogue, turn: Mapping[str, Any], text: str, origins: Mapping[str, Origin]
) -> Origin:
    """The origin of a turn's `text` ("question" or "answer"); empty if a person edited the text."""
    question_id = turn.get("question_id", "")
    generated = dialogue.turns if dialogue.generated is None else dialogue.generated
    # An edited text differs from the text that the call generated.
    unedited = [row[text] for row in generated if row.get("question_id") == question_id]
    return origins.get(question_id, Origin()) if turn[text] in unedited else Origin()
