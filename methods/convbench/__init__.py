"""ConvBench: perception, reasoning and creation in three turns, in three settings (ConvBench, 4)."""

from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import Any

from methods.convbench import published as published_forms
from methods.convbench.comparing import (
    COMPARE_CONVERSATION_PROMPT,
    COMPARE_TURN_PROMPT,
    GRADE_PROMPT,
    JudgingScope,
)
from methods.convbench.scores import (
    DIMENSIONS,
    GRADES,
    METRICS,
    N_GIVEN,
    SINGLE_TURN_METRICS,
    TASK_LABELS,
    missing_reference,
)
from methods.evaluation.asking import PLAIN, Asking, AskingLimits, SkippedTurn, Transcript
from methods.evaluation.benchmark import Benchmark
from methods.evaluation.dialogue import ask_dialogue
from methods.evaluation.items import Item
from methods.evaluation.judging import Judging
from methods.evaluation.metrics import Metric
from methods.evaluation.missing_images import ask_with_missing_images
from methods.prompts.messages import IMAGE_HERE


class Convbench(Benchmark):
    """ConvBench: an image and three instructions that build on each other. A judge compares each answer
    and the whole conversation with the reference, in both orders.

    The conversation is asked in three settings: with the model's own history, with the reference of the
    first turn, and with the references of the first two. The gain of the latter two measures the error
    that earlier turns cause. A turn without a reference can be asked but not judged, and a setting that
    needs this reference is skipped.

    The judge reads the item's caption instead of the image if there is one. Settings of the judge:
    `focus` adds the focus points of the creation turn; `turn_judgments` adds the judgments of the turns
    when conversations are compared; `later_turns` shows the turns after the judged one, as in the
    paper; `grades` also asks for grades from 1 to 10. With `single_turn` each instruction is asked
    without the turns before. Each setting has its own version.
    """

    name = "convbench"
    context_policies = ("truncate",)
    dimensions = DIMENSIONS
    label_metrics = {(label,): f"S{turn}" for turn, label in TASK_LABELS.items()}
    published = published_forms

    def __init__(
        self,
        *,
        focus: bool = True,
        turn_judgments: bool = True,
        later_turns: bool = True,
        single_turn: bool = False,
        grades: bool = False,
    ):
        self._single_turn = single_turn
        self._comparing = JudgingScope(
            trials=(PLAIN,) if single_turn else tuple(N_GIVEN),
            focus=focus,
            turn_judgments=turn_judgments,
            later_turns=later_turns,
            conversation=not single_turn,
            grades=grades,
        )
        self.answer_version = "single-turn@1" if single_turn else "three-settings@1"
        options = {
            "without-focus": not focus,
            "without-turn-judgments": not turn_judgments,
            "without-later-turns": not later_turns,
            "single-turn": single_turn,
            "graded": grades,
        }
        self.judge_version = " ".join(["pairwise@4", *(name for name, on in options.items() if on)])
        self.judge_prompts: Sequence[str] = (
            COMPARE_TURN_PROMPT,
            *(() if single_turn else (COMPARE_CONVERSATION_PROMPT,)),
            *((GRADE_PROMPT,) if grades else ()),
        )
        metrics = SINGLE_TURN_METRICS if single_turn else METRICS
        names = {metric.name for metric in metrics}
        self.metrics: Sequence[Metric] = (
            *metrics,
            *(grade for grade in GRADES if grades and grade.name.removesuffix(" grade") in names),
        )

    def ask(self, item: Item, limits: AskingLimits) -> Generator[Asking, Any, None]:
        """Ask the three settings one after the other, or each turn alone.

        The first request of a setting can equal a request of another one, if the model's answer is the
        reference; the ledger then answers it.
        """
        yield from ask_with_missing_images(
            item, lambda without_pictures: self._ask(without_pictures, limits)
        )

    def judge(self, item: Item, transcript: Transcript) -> Judging:
        """Compare every answered turn with its reference, then each whole conversation."""
        return (yield from self._comparing.judge(item, transcript))

    def _ask(self, item: Item, limits: AskingLimits) -> Generator[Asking, Any, None]:
        if self._single_turn:
            for turn in item.turns:
                yield from ask_dialogue(_alone(item, turn.turn), limits)
            return
        for trial, n_given in N_GIVEN.items():
            if why := missing_reference(item, trial):
                for turn in item.turns:
                    yield SkippedTurn(trial, turn.turn, why, no_reference=True)
            else:
                yield from ask_dialogue(_with_given(item, n_given), limits, trial)


def _with_given(item: Item, n_given: int) -> Item:
    """The item with references as the answers of its first turns."""
    turns = (
        replace(turn, given=turn.reference) if turn.turn <= n_given else turn for turn in item.turns
    )
    return replace(item, turns=tuple(turns))


def _alone(item: Item, number: int) -> Item:
    """A single turn with all images up to it; images of earlier turns are placed before its text."""
    turn = item.turns[number - 1]
    before = [position for turn in item.turns[: number - 1] for position in turn.image_positions]
    moved = replace(
        turn,
        question=f"{IMAGE_HERE}\n" * len(before) + turn.question,
        image_positions=(*before, *turn.image_positions),
    )
    return replace(item, turns=(moved,))
