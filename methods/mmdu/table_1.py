"""Dataset statistics of dialogues built here, next to Table 1 and Figure 4 of the MMDU paper."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from methods.image_sets.spec import Kind
from methods.words import n_words


class DialogueStatistics(NamedTuple):
    """Counts of one dialogue.

    Attributes:
        n_images: The number of images.
        questions: The texts of the questions.
        answers: The texts of the answers.
        n_several: The number of questions on several images.
        n_some: The number of questions on some, but not all, images of a larger set.
        n_following: The number of questions that follow up an earlier turn.
        tokens: The number of image and text tokens.
    """

    n_images: int
    questions: Sequence[str]
    answers: Sequence[str]
    n_several: int
    n_some: int
    n_following: int
    tokens: int


PAPER_DIALOGUES: Mapping[Kind, int] = {"benchmark": 110, "instruction": 45_000}
"""The number of dialogues in the paper's benchmark and in its instruction set."""
FIGURES = (
    "Turns, mean",
    "Turns, most",
    "Dialogues of up to 10 turns",
    "Dialogues of 11 to 15 turns",
    "Dialogues of 16 to 20 turns",
    "Dialogues of more than 20 turns",
    "Images, mean",
    "Images, most",
    "Dialogues of 2 images",
    "Dialogues of 3 to 10 images",
    "Dialogues of more than 10 images",
    "Questions on several images",
    "Questions on one image",
    "Questions on some images of a larger set",
    "Questions that go on from an earlier turn",
    "Image and text tokens, mean",
    "Image and text tokens, most",
    "Words of a question, mean",
    "Words of a question, most",
    "Words of an answer, mean",
    "Words of an answer, most",
)
PAPER: Mapping[Kind, Mapping[str, str]] = {
    "benchmark": {
        "Turns, mean": "15",
        "Turns, most": "27",
        "Dialogues of up to 10 turns": "10.0 %",
        "Dialogues of 11 to 15 turns": "22.7 %",
        "Dialogues of 16 to 20 turns": "42.7 %",
        "Dialogues of more than 20 turns": "24.6 %",
        "Images, mean": "3.8",
        "Images, most": "20",
        "Dialogues of 2 images": "47.3 %",
        "Dialogues of 3 to 10 images": "46.3 %",
        "Dialogues of more than 10 images": "6.3 %",
        "Questions on several images": "62.9 %",
        "Questions on one image": "27.1 %",
        "Image and text tokens, mean": "8,200",
        "Image and text tokens, most": "18,000",
    },
    "instruction": {
        "Turns, mean": "9",
        "Turns, most": "27",
        "Images, mean": "3",
        "Images, most": "5",
        "Questions on several images": "90.0 %",
        "Questions on one image": "9.8 %",
        "Image and text tokens, mean": "5,000",
        "Image and text tokens, most": "17,000",
        "Words of a question, mean": "31",
        "Words of a question, most": "91",
        "Words of an answer, mean": "368",
        "Words of an answer, most": "1,518",
    },
}
"""The values of Table 1 and Figure 4. For the instruction set, the shares of questions on several
images and on one image are 369k and 40k of 410k pairs."""


def figures_of(dialogues: Sequence[DialogueStatistics]) -> dict[str, str]:
    """Compute the statistics in `FIGURES`, formatted as in the paper, of at least one dialogue."""
    turns = [len(dialogue.questions) for dialogue in dialogues]
    images = [dialogue.n_images for dialogue in dialogues]
    tokens = [dialogue.tokens for dialogue in dialogues]
    questions = [n_words(text) for dialogue in dialogues for text in dialogue.questions]
    answers = [n_words(text) for dialogue in dialogues for text in dialogue.answers]
    n_several = sum(dialogue.n_several for dialogue in dialogues)
    shown = (
        f"{fmean(turns):.1f}",
        str(max(turns)),
        *_shares(turns, (0, 10, 15, 20)),
        f"{fmean(images):.1f}",
        str(max(images)),
        *_shares(images, (1, 2, 10)),
        _percent(n_several / sum(turns)),
        _percent(1 - n_several / sum(turns)),
        _percent(sum(dialogue.n_some for dialogue in dialogues) / sum(turns)),
        _percent(sum(dialogue.n_following for dialogue in dialogues) / sum(turns)),
        f"{fmean(tokens):,.0f}",
        f"{max(tokens):,}",
        f"{fmean(questions):.0f}",
        str(max(questions)),
        f"{fmean(answers):.0f}",
        f"{max(answers):,}",
    )
    return dict(zip(FIGURES, shown, strict=True))


def _shares(values: Sequence[int], over: Sequence[int]) -> list[str]:
    """The share of values greater than each number in `over`, but not greater than the next number."""
    above = [sum(value > least for value in values) for least in over] + [0]
    return [
        _percent((here - beyond) / len(values))
        for here, beyond in zip(above, above[1:], strict=False)
    ]


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
