"""Generation of dialogues on image sets (MMDU, 2.2, B.2), and of three-turn conversations on single
images (ConvBench, 3).

One module per asset. Prompts are in `methods/mmdu/prompts` and `methods/convbench/prompts`.
"""

from assets.dialogue.answers import answers
from assets.dialogue.dialogues import dialogues
from assets.dialogue.instructions import instructions
from assets.dialogue.questions import questions
from assets.dialogue.summaries import summaries
from assets.dialogue.three_turns import three_turns
from assets.dialogue.turn_categories import turn_categories
from assets.dialogue.turn_references import turn_references

ASSETS = [
    *(summaries, questions, answers, dialogues),
    *(instructions, three_turns, turn_references, turn_categories),
]
