"""Faults that are planted into clean dialogues, one at a time, to measure what the rules find."""

from collections.abc import Iterator
from typing import NamedTuple

from methods.quality.outcome import NEAR_DUPLICATE, REPEATED, RULES, DialogueContent
from methods.quality.rules import RuleLimits, by_rules
from tests.methods.quality.clean_pairs import clean, dialogue
from tests.methods.quality.faults import FAULTS


class Found(NamedTuple):
    """Of one check: planted faults, those of them it found, and pairs that it names without one."""

    check: str
    n_planted: int
    n_found: int
    n_wrong: int

    @property
    def precision(self) -> float:
        """The share of what it names that is a fault."""
        named = self.n_found + self.n_wrong
        return self.n_found / named if named else 0.0

    @property
    def recall(self) -> float:
        """The share of the faults that it names."""
        return self.n_found / self.n_planted


def planted() -> Iterator[tuple[list[DialogueContent], tuple[str, str], tuple[str, ...]]]:
    """The clean dialogues with one fault: where it is, and the checks that are to find it."""
    dialogues = clean()
    writers = dialogues[:-1]
    for number, fault in enumerate(FAULTS):
        of, turn = number % len(writers), number // len(writers) % len(writers[0].pairs)
        pair = writers[of].pairs[turn]
        changed = pair._replace(**{fault.where: fault.change(getattr(pair, fault.where))})
        pairs = [changed if each is pair else each for each in writers[of].pairs]
        yield (
            [writers[of]._replace(pairs=pairs)],
            (pair.dialogue_id, pair.question_id),
            fault.of,
        )
    for of in (0, 1, 2):
        first, second, *_ = writers[of].pairs
        for again in (
            second._replace(question=first.question),
            second._replace(question=first.question.replace("?", ", would you say?")),
        ):
            pairs = [again if each is second else each for each in writers[of].pairs]
            yield (
                [writers[of]._replace(pairs=pairs)],
                (again.dialogue_id, again.question_id),
                (REPEATED,),
            )


def figures() -> list[Found]:
    """What each rule finds of the faults, and what it names without one, the clean pairs among it."""
    counted = {check: [0, 0, 0] for check in RULES}

    def count(dialogues, faults) -> None:
        for place, evidence in by_rules(dialogues, RuleLimits(most_alike=MOST_ALIKE)).items():
            for check in RULES:
                is_fault, is_named = check in faults.get(place, ()), evidence[check] is not None
                counted[check][0] += is_fault
                counted[check][1] += is_fault and is_named
                counted[check][2] += is_named and not is_fault

    count(clean(), {})
    for dialogues, place, of in planted():
        count(dialogues, {place: of})
    count(*asked_too_often())
    return [Found(check, *counts) for check, counts in counted.items()]


MOST_ALIKE = 4


def asked_too_often() -> tuple[list[DialogueContent], dict[tuple[str, str], tuple[str, ...]]]:
    """Dialogues that all ask nearly the same: all but the first few of them are too many."""
    openings = ("Describe", "Please describe", "Describe")
    made = [
        dialogue(
            f"again{number}",
            [
                (
                    f"{openings[number % 3]} the way in which light and shadow fall on the ground in "
                    f"<image-{1 + number % 2}> and what this does for the mood of the whole scene.",
                    "It falls from the left, and the mood is calm.",
                )
            ],
        )
        for number in range(12)
    ]
    faults = {
        (each.dialogue_id, each.pairs[0].question_id): (NEAR_DUPLICATE,)
        for each in made[MOST_ALIKE:]
    }
    return made, faults
