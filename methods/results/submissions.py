"""Submissions: one model's answers in the file format that a benchmark's own evaluation reads.

The formats are those of MMBench's server (a spreadsheet with a row for each pass), of the released
scorers of MMIU, ConvBench and MMDU, and of AlignMMBench's responses. Held-out references are never
written.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import yaml

from methods.choice.alphabet import LETTERS, NO_CHOICE
from methods.choice.lettered import SHIFT, choices_in_order, question_and_hint, shifted
from methods.choice.published import are_indexes
from methods.convbench.published import TURN_NAMES
from methods.convbench.scores import N_GIVEN, N_TURNS
from methods.evaluation.asking import PLAIN
from methods.evaluation.items import Item
from methods.evaluation.published import PublishedItem
from methods.mmbench.published import HINT, STEP
from methods.mmbench.taxonomy import L2, L3
from methods.mmdu.published import mmdu_record
from methods.mmiu.published import RecordIds, mmiu_record
from methods.mmiu.taxonomy import TASK
from methods.naming import number_of, unique_names
from methods.release import Edition, held_out
from methods.release_card import RELEASES, Card, benchmark_of, edition_of

Answers = Mapping[tuple[str, str, int], str | None]
"""The text of each answer by item, trial and turn. A missing answer is None or has no key."""
SERVED = "ABCD"
"""The choices for which MMBench's server has columns."""
ABILITIES = (L3, L2)
_SPLIT = "split"
_UNSAFE = re.compile(r"[^\w.+@=,()-]+|^\.+")
_DATASET = re.compile(r"(?:MMBench|MMDU|MMIU)\w*")
"""File names of published files that are names of VLMEvalKit's data sets."""
MOST_NAME = 100
"""The most bytes of a file or folder name in UTF-8. Two names in one, an extension and the end of a
temporary name (38) have less than 255 bytes, the most that file systems take."""


class Sheet(NamedTuple):
    """A table of a spreadsheet. Numbers are written as numbers, and no text as a formula."""

    header: Sequence[str]
    rows: Iterable[Sequence[str | int]]


class Submission(NamedTuple):
    """The files of one model by their paths, and notes for the user, one sentence each."""

    files: Mapping[str, Sheet | str]
    notes: Sequence[str] = ()


class SubmissionInput(NamedTuple):
    """The inputs of a submission. `model` and `dataset` are used in file names."""

    items: Sequence[Item]
    edition: Edition
    model: str
    dataset: str
    answers: Answers

    def answer(self, item: Item, trial: str = PLAIN, turn: int = 1) -> str | None:
        """Return the text of an answer, or None if it is missing."""
        return self.answers.get((item.item_id, trial, turn))


def submission(inputs: SubmissionInput) -> Submission | None:
    """Make the files that the benchmark's own evaluation reads; None if no format is known."""
    form = FORMS.get(inputs.edition.benchmark or "")
    return form(inputs) if form else None


def file_names(names: Iterable[str]) -> dict[str, str]:
    """Map each name to a unique file or folder name."""
    distinct = list(dict.fromkeys(names))
    return dict(zip(distinct, unique_names(map(file_name, distinct)), strict=True))


def file_name(name: str) -> str:
    """Convert a name to a file or folder name of at most `MOST_NAME` bytes."""
    return _UNSAFE.sub("-", name).encode()[:MOST_NAME].decode(errors="ignore") or "-"


def dataset_name(card: Card) -> str:
    """Return VLMEvalKit's name of the data set of an imported release; for others the release id.

    It is the name of the imported file, such as `MMBench_DEV_EN_V11.tsv`, if that is a name of a data
    set. Otherwise the name of MMBench is made from its split and language.
    """
    settings = (card.get("settings") or {}).get(RELEASES) or {}
    stem = str(settings.get("file", "")).partition(".")[0]
    edition = edition_of(card)
    if edition.origin != "imported":
        return str(card["release_id"])
    if _DATASET.fullmatch(stem):
        return stem
    if edition.benchmark == "mmbench" and edition.split and edition.language:
        language = edition.language.upper()
        named = "CN" if language.startswith("ZH") else language
        return f"MMBench_{file_name(edition.split.upper())}_{file_name(named)}"
    return {"mmdu": "MMDU", "mmiu": "MMIU"}.get(benchmark_of(card) or "", str(card["release_id"]))


# --- Multiple choice -------------------------------------------------------------------------------


def _mmbench(inputs: SubmissionInput) -> Submission:
    """A spreadsheet with a row for every pass, as VLMEvalKit writes it and the server reads it."""
    letters = LETTERS[: max([len(SERVED), *(len(item.choices) for item in inputs.items)])]
    labels = [
        name for name in (*ABILITIES, _SPLIT) if any(name in item.labels for item in inputs.items)
    ]
    numbered = are_indexes(item.item_id for item in inputs.items)
    header = ("index", "question", "hint", *letters, *labels, "prediction")
    passes = [(item, shift) for item in inputs.items for shift in range(len(item.choices))]
    without = sum(_of_pass(inputs, item, shift) is None for item, shift in passes)

    def rows() -> Iterator[Sequence[str | int]]:
        for place, item in enumerate(inputs.items, start=1):
            index = int(item.item_id) if numbered else place
            question, hint = question_and_hint(item.turns[0].question, HINT, len(item.image_ids))
            for shift in range(len(item.choices)):
                answer = _of_pass(inputs, item, shift)
                yield (
                    index + shift * STEP,
                    question,
                    hint,
                    *choices_in_order(item.choices, shifted(len(item.choices), shift)),
                    *[""] * (len(letters) - len(item.choices)),
                    *(item.labels.get(name, "") for name in labels),
                    NO_CHOICE if answer is None else answer,
                )

    notes = []
    if without:
        notes.append(
            f"{without} of {len(passes)} passes have no answer (lost, declined by a filter, or not "
            f"asked after a miss) and say {NO_CHOICE}, which is none of the choices."
        )
    if not numbered:
        notes.append(
            "Its ids are not numbers, so that index has the places of its questions: a server knows "
            "only those of the published files."
        )
    lacking = [name for name in ABILITIES if name not in labels]
    if lacking:
        notes.append(
            f"The release has no label {' and no '.join(lacking)}, which MMBench's server splits "
            "scores by."
        )
    more = sum(len(item.choices) > len(SERVED) for item in inputs.items)
    if more:
        notes.append(
            f"{number_of(more, 'question')} with more than four choices: MMBench's server has columns "
            "for A to D."
        )
    return Submission({f"{inputs.model}_{inputs.dataset}.xlsx": Sheet(header, rows())}, notes)


def _of_pass(inputs: SubmissionInput, item: Item, shift: int) -> str | None:
    return inputs.answer(item, f"{SHIFT}{shift}")


def _mmiu(inputs: SubmissionInput) -> Submission:
    """A JSON file for each task, at `task/model/`, with the records and the model's answers."""
    ids = RecordIds()
    records = [mmiu_record(_published(item, inputs.edition), ids) for item in inputs.items]
    model = inputs.model
    while any(model in record for record in records):
        # The scorer reads the answer from a field with the model's name, which must be unused.
        model += "-"
    of_tasks: dict[str, list[dict[str, Any]]] = {}
    for item, record in zip(inputs.items, records, strict=True):
        of_tasks.setdefault(record[TASK], []).append({**record, model: inputs.answer(item) or ""})
    folders = file_names(of_tasks)
    files = {
        f"{folders[task]}/{model}/metadata_info.json": json.dumps(of_task)
        for task, of_task in of_tasks.items()
    }
    notes = _empty(
        inputs, [(item, PLAIN, 1) for item in inputs.items], "which MMIU's scorer reads as Z"
    )
    without = sum(record["output"] is None for record in records)
    if without:
        notes.append(
            f"{number_of(without, 'record')} without output, the right answer, which the release lacks "
            "or holds out: MMIU's scorer leaves them out."
        )
    return Submission(files, notes)


# --- Open questions and dialogues ------------------------------------------------------------------


def _alignmmbench(inputs: SubmissionInput) -> Submission:
    """A line {question_id, predict} for each question."""
    questions = [(item, PLAIN, item.turns[-1].turn) for item in inputs.items]
    lines = [
        json.dumps({"question_id": item.item_id, "predict": inputs.answer(item, trial, turn) or ""})
        for item, trial, turn in questions
    ]
    notes = _empty(inputs, questions, "which the judge reads as it is")
    return Submission({f"{inputs.model}.jsonl": "".join(f"{line}\n" for line in lines)}, notes)


def _convbench(inputs: SubmissionInput) -> Submission:
    """A YAML file for each setting and conversation, named by the conversation's row number."""
    files = {}
    questions = []
    for setting, (trial, n_given) in enumerate(N_GIVEN.items()):
        turns = range(n_given + 1, N_TURNS + 1)
        for place, item in enumerate(inputs.items, start=1):
            text_of_turn = {turn: inputs.answer(item, trial, turn) for turn in turns}
            if all(text is None for text in text_of_turn.values()):
                # The scorer counts a missing file as a loss.
                continue
            questions += [(item, trial, turn) for turn in turns]
            answers = {
                f"{TURN_NAMES[turn - 1]}_turn_answer": text_of_turn[turn] or "" for turn in turns
            }
            files[f"{inputs.model}/{setting}/{place}.yaml"] = yaml.safe_dump(
                answers, allow_unicode=True, sort_keys=False
            )
    n_due = len(inputs.items) * len(N_GIVEN)
    notes = _empty(inputs, questions, "which the judge reads as it is")
    if len(files) < n_due:
        notes.append(
            f"{n_due - len(files)} of {n_due} conversations have no answer and no file: ConvBench's "
            "scorer counts them as losses."
        )
    notes.append(
        "Files are numbered by the places of items in the release, as the scorer numbers the rows of "
        "ConvBench.xlsx: it has to be the whole sheet."
    )
    return Submission(files, notes)


def _mmdu(inputs: SubmissionInput) -> Submission:
    """A JSON file for each dialogue: the authors' record with the model's answers in it."""
    names = file_names(item.item_id for item in inputs.items)
    files = {}
    for item in inputs.items:
        record = mmdu_record(_published(item, inputs.edition))
        for turn, message in zip(item.turns, record["conversations"][1::2], strict=True):
            message["value"] = inputs.answer(item, PLAIN, turn.turn) or ""
        files[f"{inputs.model}/{names[item.item_id]}.json"] = json.dumps(record)
    questions = [(item, PLAIN, turn.turn) for item in inputs.items for turn in item.turns]
    notes = _empty(inputs, questions, "which the judge reads as it is")
    renamed = sum(name != safe for name, safe in names.items())
    if renamed:
        notes.append(
            f"{number_of(renamed, 'dialogue')} with an id that names no file: MMDU's scorer looks for "
            "it by its id."
        )
    return Submission(files, notes)


def _published(item: Item, edition: Edition) -> PublishedItem:
    """The item as a published record, without held-out references. Images are named by SHA-256."""
    turns = item.turns
    if held_out(edition):
        turns = tuple(replace(turn, references={}) for turn in turns)
    return PublishedItem(
        item.item_id, turns, item.image_ids, item.choices, item.group_id, item.labels
    )


def _empty(
    inputs: SubmissionInput, questions: Sequence[tuple[Item, str, int]], effect: str
) -> list[str]:
    """Make a note on the number of missing answers; empty if there are none."""
    without = sum(inputs.answer(*place) is None for place in questions)
    if not without:
        return []
    return [
        f"{without} of {len(questions)} answers are none (lost or declined) and empty, {effect}."
    ]


FORMS: Mapping[str, Callable[[SubmissionInput], Submission]] = {
    "mmbench": _mmbench,
    "mmiu": _mmiu,
    "alignmmbench": _alignmmbench,
    "convbench": _convbench,
    "mmdu": _mmdu,
}
"""The function that writes the format of each benchmark's own evaluation."""
