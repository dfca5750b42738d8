"""Building releases of dialogues: a benchmark and an instruction set (MMDU, 2)."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from assets.release.built import BuiltRelease, BuiltReleases, Licences, Row, sources
from methods.choice.languages import SOURCE_LANGUAGE
from methods.json_text import from_json
from methods.mmdu.composing import without_places
from methods.quality.filtering import without_turns
from methods.quality.outcome import (
    DIALOGUES_LEFT_OUT,
    DROP,
    EDITED,
    PAIRS_LEFT_OUT,
    PAIRS_WITH_DIALOGUES,
    UNCHECKED,
    DialogueContent,
    QuestionAnswerPair,
    WriterContext,
    counts,
)
from methods.quality.rule_findings import RuleFinding, apply_rules, counts_of, in_words
from methods.quality.rules import RuleLimits
from methods.release import ApprovedDialogue, Edition, Origin, ReviewPolicy, build_release
from resources.warehouse import Warehouse

PairFindings = Mapping[tuple[str, str], Row]
"""Rows of `quality.checks` by dialogue and question."""
LimitsOfLanguage = Callable[[str], RuleLimits]


class ReleaseDialogues(NamedTuple):
    """Dialogues for a release, and the counts of its card."""

    dialogues: list[ApprovedDialogue]
    counts: dict[str, int]


def apply_checks(
    dialogues: Sequence[ApprovedDialogue], findings: PairFindings, *, leave_out: bool
) -> ReleaseDialogues:
    """Count the pairs of question and answer that the checks drop, and remove them if `leave_out`.

    A pair that people edited was not checked, so it stays. A follow-up is dropped with the pair that it
    refers to. If too few pairs of a dialogue are left, the whole dialogue is removed, and its remaining
    pairs are counted, too.
    """
    released, rows, counted = [], [], Counter({UNCHECKED: 0})
    for dialogue in dialogues:
        of_turns = [_row_of(dialogue, turn, findings) for turn in dialogue.turns]
        rows += [row for row in of_turns if row is not None]
        counted[UNCHECKED] += of_turns.count(None)
        dropped, dropped_ids = [], set()
        # Pairs are in order, so a follow-up to a dropped follow-up is dropped, too.
        for place, row in enumerate(of_turns):
            if row and (row["outcome"] == DROP or row["follows"] in dropped_ids):
                dropped.append(place)
                dropped_ids.add(row["question_id"])
        if not (leave_out and dropped):
            released.append(dialogue)
            continue
        counted[PAIRS_LEFT_OUT] += len(dropped)
        rest = without_turns(dialogue.turns, dialogue.image_ids, dropped)
        if rest is None:
            counted[DIALOGUES_LEFT_OUT] += 1
            counted[PAIRS_WITH_DIALOGUES] += len(dialogue.turns) - len(dropped)
            continue
        # Image placeholders that moved to a question are no edit: the generated text gets them, too.
        generated = [
            {**turn, "question": rest.entering.get(turn["question_id"], "") + turn["question"]}
            for turn in dialogue.generated or dialogue.turns
        ]
        released.append(
            replace(
                dialogue,
                turns=tuple(rest.turns),
                image_ids=tuple(rest.image_ids),
                generated=tuple(generated),
            )
        )
    return ReleaseDialogues(released, {**counts(rows), **counted})


def _row_of(
    dialogue: ApprovedDialogue, turn: Mapping[str, str], findings: PairFindings
) -> Row | None:
    """Return the check results of a turn's pair, or None if people edited its texts."""
    row = findings.get((dialogue.item_id, turn.get("question_id", "")))
    return row if _is_unedited(dialogue, turn) else None


def _is_unedited(dialogue: ApprovedDialogue, turn: Mapping[str, str]) -> bool:
    return dialogue.generated is None or turn in dialogue.generated


def _findings_in_edits(
    dialogues: Sequence[ApprovedDialogue], written: Mapping[str, Row], limits: LimitsOfLanguage
) -> list[RuleFinding]:
    """Apply the rules to edited pairs; `written` has the language and sources of each dialogue.

    An answer may be based on the sources of its dialogue's images and on all generated texts.
    """
    edit_findings = []
    for dialogue in dialogues:
        edited = {
            number
            for number, turn in enumerate(dialogue.turns, start=1)
            if not _is_unedited(dialogue, turn)
        }
        if not edited:
            continue
        row = written.get(dialogue.item_id, {"language": SOURCE_LANGUAGE, "sources": []})
        contexts = [WriterContext(**source) for source in row["sources"]]
        pairs = [
            QuestionAnswerPair(
                dialogue.item_id,
                str(number),
                number,
                without_places(turn["question"]),
                turn["answer"],
            )
            for number, turn in enumerate(dialogue.turns, start=1)
        ]
        generated = [
            turn[key] for turn in dialogue.generated or () for key in ("question", "answer")
        ]
        content = DialogueContent(dialogue.item_id, pairs, contexts, len(dialogue.image_ids))
        grounds = [*(text for source in contexts for text in source), *generated]
        edit_findings += apply_rules(content, limits(row["language"]), edited, grounds)
    return edit_findings


BENCHMARK = "mmdu"
NAMES = {"benchmark": BENCHMARK, "instruction": f"{BENCHMARK}-instruct"}


def built_dialogues(
    warehouse: Warehouse, reviewed: ReviewPolicy, licences: Licences, limits: LimitsOfLanguage
) -> BuiltReleases:
    """Build the releases of dialogues: one for each kind that has approved dialogues.

    Findings of the rules in pairs that people edited are counted on the dataset card and reported as a
    warning.

    Args:
        warehouse: The tables.
        reviewed: The review policy.
        licences: The licences that leave items out.
        limits: The limits of the rules for a language.
    """
    origins = warehouse.read("release/origins").to_pylist()
    providers = sorted({origin["provider"] for origin in origins})
    by_question, by_image = _origins(origins), sources(warehouse)
    check_findings = {
        (row["dialogue_id"], row["question_id"]): row
        for row in warehouse.read("quality/found").to_pylist()
    }
    written = {row["dialogue_id"]: row for row in warehouse.read("quality/dialogues").to_pylist()}
    warnings = []
    releases, absent = [], {}
    counts: dict[str, int] = {}
    for kind, name in NAMES.items():
        approved = _approved(warehouse, kind)
        if not approved:
            absent[name] = f"No dialogue of kind {kind} is approved"
            continue
        approved = licences.allowed(
            name,
            approved,
            lambda one: [by_image[one.set_id, image_id] for image_id in one.image_ids],
            kind,
        )
        if not approved:
            absent[name] = licences.none_left(name)
            continue
        dialogues, of_checks = apply_checks(
            approved, check_findings, leave_out=kind == "instruction"
        )
        counts |= {f"{name}, checks: {what}": n for what, n in of_checks.items()}
        if not dialogues:
            absent[name] = f"The checks leave no dialogue of kind {kind}"
            continue
        if n_edited := sum(
            not _is_unedited(dialogue, turn) for dialogue in dialogues for turn in dialogue.turns
        ):
            of_checks[EDITED] = n_edited
        if in_edits := _findings_in_edits(dialogues, written, limits):
            of_checks |= counts_of(in_edits)
            warnings.append(
                f"Rules find in pairs of {name} that people edited: {in_words(in_edits)}."
            )
        release = build_release(name, dialogues, reviewed, *by_question, by_image)
        edition = Edition(BENCHMARK if kind == "benchmark" else None)
        releases.append(BuiltRelease(name, edition, release, providers, of_checks))
    return BuiltReleases(releases, absent, counts, warnings)


def _approved(warehouse: Warehouse, kind: str) -> list[ApprovedDialogue]:
    dialogues = []
    for row in warehouse.read("release/approved_dialogues", {"kind": kind}).to_pylist():
        content = from_json(row["content"])
        dialogues.append(
            ApprovedDialogue(
                row["item_id"],
                row["set_id"],
                row["revision"],
                tuple(row["reviewers"]),
                tuple(content["image_ids"]),
                tuple(content["turns"]),
                tuple(from_json(row["generated"])["turns"]),
            )
        )
    return dialogues


def _origins(rows: list[Row]) -> tuple[dict[str, Origin], dict[str, Origin]]:
    """Return the model call and prompt version of questions, and of answers, by question id."""
    origins = [
        {
            row["question_id"]: Origin(row[f"{text}_call_key"], row[f"{text}_prompt_version"])
            for row in rows
        }
        for text in ("question", "answer")
    ]
    return origins[0], origins[1]
