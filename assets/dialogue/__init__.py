"""Generation: image sets to dialogues, by summary, question, answer, composition (MMDU, 2.2, B.2).

One module an asset. Prompts stand in `methods/mmdu/prompts`.
"""

from assets.dialogue.answers import answers
from assets.dialogue.dialogues import dialogues
from assets.dialogue.questions import questions
from assets.dialogue.summaries import summaries

ASSETS = [summaries, questions, answers, dialogues]

__all__ = ["ASSETS", "answers", "dialogues", "questions", "summaries"]
