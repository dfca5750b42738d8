"""Judging a dialogue turn by turn: all turns with an answer and a reference, in one step."""

from collections.abc import Callable, Sequence

from methods.evaluation.asking import PLAIN, Transcript
from methods.evaluation.items import Item, Turn
from methods.evaluation.judging import (
    JudgeRequest,
    Judging,
    Observation,
    judgment_observations,
    unjudged_observations,
)
from methods.prompts.messages import with_image_numbers


def judge_turns(
    item: Item,
    transcript: Transcript,
    metrics: Sequence[str],
    request: Callable[[Turn, str, str], JudgeRequest],
) -> Judging:
    """Judge each turn of an item that a model was asked.

    A reference turn is not the model's and is not judged. A turn without a reference, or without an
    answer, becomes an observation with that status.

    Args:
        item: The item.
        transcript: The model's answers.
        metrics: The names of the scores that a judgment has.
        request: Makes the request from a turn, its reference and the answer.

    Returns:
        A generator: it yields the requests, is sent the judgments, and returns the observations.
    """
    requests: list[JudgeRequest] = []
    observations: list[Observation] = []
    for turn in item.turns:
        if turn.given is not None:
            continue
        answer = transcript.answer(PLAIN, turn.turn)
        if turn.reference is None:
            observations += [
                Observation(metric, PLAIN, turn.turn, "no_reference") for metric in metrics
            ]
        elif answer.text is None:
            observations += unjudged_observations(metrics, PLAIN, turn.turn, answer)
        else:
            requests.append(request(turn, turn.reference, answer.text))
    judgments = yield requests
    for request_made, judgment in zip(requests, judgments, strict=True):
        observations += judgment_observations(metrics, request_made.place, judgment)
    return observations


def numbered_question(turn: Turn) -> str:
    """The question of a turn with its images by number: `<image-1>`."""
    return with_image_numbers(turn.question, turn.image_positions)


def seen_turns(item: Item, transcript: Transcript) -> list[dict[str, str]]:
    """List the turns of an item as the model saw them, with its own answers or reference answers.

    The requests of the later turns of a long dialogue share these texts.

    Args:
        item: The item.
        transcript: The model's answers.

    Returns:
        `question` and `answer` of each turn, in the order of the turns.
    """
    return [
        {
            "question": numbered_question(turn),
            "answer": with_image_numbers(
                turn.given or transcript.answer(PLAIN, turn.turn).text or ""
            ),
        }
        for turn in item.turns
    ]
