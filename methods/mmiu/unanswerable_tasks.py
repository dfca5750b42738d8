"""The tasks with unanswerable questions and their strategies (MMIU, Table 7 of A.4).

The table lists visual-ordering without a strategy, so 19 tasks have one. By the table, key words are
replaced in 5 tasks, all images are shuffled in 9 and replaced in 16; the shares of Table 2 imply 4, 10
and 15.
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
"""The choice that is right in an unanswerable question, and wrong in the others of its task."""

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
"""Strategies by the name of the task."""
