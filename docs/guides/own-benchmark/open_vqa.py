"""Open questions about images: a judge says how well the answer matches the reference, 1 to 5.

MMBench (Tables 7 and 8) scores open questions so. The file of questions has the form of `counting.py`.
"""

from collections.abc import Generator, Sequence
from typing import Any

from counting import QuestionFile

from methods.evaluation.asking import PLAIN, Asking, AskingLimits, Transcript
from methods.evaluation.benchmark import Benchmark
from methods.evaluation.dialogue import ask_dialogue
from methods.evaluation.items import Item, Turn
from methods.evaluation.judged_turns import judge_turns, numbered_question
from methods.evaluation.judging import JudgeRequest, Judging, Judgment, JudgmentKey
from methods.evaluation.metrics import Metric
from methods.evaluation.metrics.mean import Mean
from methods.evaluation.rating import RATING, REASON, read_rating
from methods.prompts.parsing import ParseError, object_schema

LOWEST, HIGHEST = 1, 5
MATCH = "Match"
MATCH_PROMPT = "open_vqa/match"
MATCH_SCHEMA = object_schema(
    {
        REASON: {"type": "string"},
        RATING: {"type": "integer", "enum": list(range(LOWEST, HIGHEST + 1))},
    }
)


class OpenVqaBenchmark(Benchmark):
    """One open question an item, with a short reference."""

    name = "open_vqa"
    answer_version = "once@1"
    judge_version = "match@1"
    judge_prompts: Sequence[str] = (MATCH_PROMPT,)
    dimensions: Sequence[str] = (MATCH,)
    score_range = (LOWEST, HIGHEST)
    metrics: Sequence[Metric] = (Mean(name=MATCH, lowest=LOWEST, highest=HIGHEST),)
    published = QuestionFile()

    def ask(self, item: Item, limits: AskingLimits) -> Generator[Asking, Any, None]:
        """The question with its images."""
        yield from ask_dialogue(item, limits)

    def judge(self, item: Item, transcript: Transcript) -> Judging:
        """The judge's score of an answer with a reference."""

        def request(turn: Turn, reference: str, answer: str) -> JudgeRequest:
            data = {"question": numbered_question(turn), "reference": reference, "answer": answer}
            place = JudgmentKey(PLAIN, turn.turn, MATCH)
            return JudgeRequest(place, MATCH_PROMPT, data, (), read_match, MATCH_SCHEMA)

        return (yield from judge_turns(item, transcript, self.dimensions, request))


def read_match(reply: str) -> Judgment:
    """Read the score of a judge's reply.

    Args:
        reply: The reply.

    Returns:
        The score, 1 to 5, with its reason.

    Raises:
        ParseError: As `read_rating`; `out_of_range` also for scores over 5.
    """
    rating = read_rating(reply)
    if rating.score > HIGHEST:
        raise ParseError("out_of_range", f"The rating is {rating.score:g}, outside 1 to {HIGHEST}.")
    return Judgment({MATCH: rating.score}, rating.score, rating.explanation)


benchmark = OpenVqaBenchmark()
