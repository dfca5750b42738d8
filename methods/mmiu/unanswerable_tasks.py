"""The tasks with unanswerable questions, and the strategies of each task (MMIU, Table 7 of A.4).

The table has 20 tasks. It lists visual-ordering without a strategy, so 19 tasks have strategies. Tables
7 and 2 of the paper disagree: key words are replaced in 5 tasks (by the shares of Table 2 in 4), all
images are shuffled in 9 (10), and the question or images are made irrelevant in 16 (15).
"""

from collections.abc import Mapping
from typing import Literal

from methods.mmiu.taxonomy import TASKS

Strategy = Literal[
    "replace key word",
    "replace answer image",
    "replace other images",
    "shuffle all images",
    "irrelevant question or images",
]
KEY_WORD: Strategy = "replace key word"
ANSWER_IMAGE: Strategy = "replace answer image"
OTHER_IMAGES: Strategy = "replace other images"
SHUFFLE: Strategy = "shuffle all images"
IRRELEVANT: Strategy = "irrelevant question or images"

CANNOT = "The question cannot be answered."
"""A choice of all questions of these tasks: right in unanswerable questions, wrong in the others."""

_TABLE_7: Mapping[str, tuple[Strategy, ...]] = {
    "CR": (KEY_WORD, IRRELEVANT),
    "T2IR": (KEY_WORD, ANSWER_IMAGE, IRRELEVANT),
    "VCo": (ANSWER_IMAGE,),
    "VO": (),
    "GAR": (SHUFFLE, IRRELEVANT),
    "TL": (KEY_WORD, ANSWER_IMAGE, IRRELEVANT),
    "TO": (SHUFFLE,),
    "VidCap": (SHUFFLE, IRRELEVANT),
    "HE": (OTHER_IMAGES, SHUFFLE, IRRELEVANT),
    "IQASC": (KEY_WORD, ANSWER_IMAGE, OTHER_IMAGES, IRRELEVANT),
    "ISTE": (OTHER_IMAGES, IRRELEVANT),
    "ITRSC": (KEY_WORD, ANSWER_IMAGE, OTHER_IMAGES, IRRELEVANT),
    "JPS": (OTHER_IMAGES, SHUFFLE, IRRELEVANT),
    "MAR": (OTHER_IMAGES, IRRELEVANT),
    "3DE": (ANSWER_IMAGE, OTHER_IMAGES, SHUFFLE, IRRELEVANT),
    "3DOD": (OTHER_IMAGES, SHUFFLE),
    "3DPE": (OTHER_IMAGES, SHUFFLE, IRRELEVANT),
    "3DSR": (ANSWER_IMAGE, OTHER_IMAGES, SHUFFLE, IRRELEVANT),
    "3DCR": (ANSWER_IMAGE, IRRELEVANT),
    "3DIR": (ANSWER_IMAGE, IRRELEVANT),
}
_NAMES = {task.abbreviation: task.name for task in TASKS}
STRATEGIES_OF = {_NAMES[short]: strategies for short, strategies in _TABLE_7.items() if strategies}
"""The strategies by the name of the task."""
