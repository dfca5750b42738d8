"""MMIU's tasks: 52 in 7 relations between images (MMIU, A.2 and A.3)."""

import re
from collections.abc import Mapping
from typing import NamedTuple


class Task(NamedTuple):
    """A task, its abbreviation, and the relation between images that it tests."""

    name: str
    abbreviation: str
    relation: str


_TASKS: Mapping[str, Mapping[str, str]] = {
    "two-dimensional spatial": {
        "ravens-progressive-matrices": "RPM",
        "jigsaw-puzzle-solving": "JPS",
        "image-captioning-with-spatial-context": "ICSC",
        "icon-question-answering-with-spatial-context": "IQASC",
        "image-text-retrieval-with-spatial-context": "ITRSC",
        "image-spatial-transformation-estimation": "ISTE",
        "homography-estimation": "HE",
        "point-tracking": "PT",
        "single-object-tracking": "SOT",
    },
    "three-dimensional spatial": {
        "threeD-scene-reconstruction": "3DSR",
        "threeD-object-detection": "3DOD",
        "egocentric-video-question-answering": "EVQA",
        "threeD-object-tracking": "3DOT",
        "threeD-pose-estimation": "3DPE",
        "multiview-reasoning": "MR",
        "multiview-action-recognition": "MAR",
        "threeD-depth-estimation": "3DE",
        "threeD-question-answering": "3DQA",
        "threed-cad-recognition": "3DCR",
        "threed-indoor-recognition": "3DIR",
    },
    "discrete temporal": {
        "visual-coherence": "VCo",
        "textual-cloze": "TC",
        "gui-app-recognition": "GuAR",
        "gui-next-action-prediction": "GNAP",
        "visual-cloze": "VClz",
        "visual-ordering": "VO",
    },
    "continuous temporal": {
        "general-action-recognition": "GAR",
        "video-captioning": "VidCap",
        "next-img-prediction": "NIP",
        "temporal-ordering": "TO",
        "meme-video-understanding": "MVU",
        "action-quality-assessment": "AQA",
        "temporal-localization": "TL",
        "mevis": "MEV",
    },
    "low-level semantic": {
        "visual-quality-assessment": "VQA",
        "forensic-detection": "FD",
    },
    "high-level semantic (objective)": {
        "visually-grounded-reasoning": "VGR",
        "image2image-retrieval": "I2IR",
        "sketch2image-retrieval": "S2IR",
        "vehicle-retrieval": "VR",
        "text2image-retrieval": "T2IR",
        "face-retrieval": "FR",
        "handwritten-retrieval": "HR",
        "person-reid": "PR",
        "spot-the-diff": "STD",
        "spot-the-similarity": "STS",
        "visual-correspondence": "VCor",
        "semantic-correspondence": "SC",
        "functional-correspondence": "FC",
    },
    "high-level semantic (subjective)": {
        "emotion-recognition": "ER",
        "casuality-reasoning": "CR",
        "multiple-image-captioning": "MIC",
    },
}
TASKS = tuple(
    Task(name, abbreviation, relation)
    for relation, tasks in _TASKS.items()
    for name, abbreviation in tasks.items()
)
TASK, RELATION = "task", "relation"
"""Labels of an item: the name of its task, and the relation of the task."""
ANSWERABLE = "answerable"
"""The label "yes", or "no" if no choice but `CANNOT` is right."""

_SPELLINGS = {"vedio": "video", "causality": "casuality", "3d": "threed"}
_FOLDED = {re.sub("[^a-z0-9]", "", task.name.lower()): task for task in TASKS}


def task_of(released: str) -> Task | None:
    """Find the task whose name begins a record's `task`, ignoring case and punctuation; or None."""
    folded = re.sub("[^a-z0-9]", "", released.lower())
    for other, spelling in _SPELLINGS.items():
        folded = folded.replace(other, spelling)
    begun = [name for name in _FOLDED if folded.startswith(name)]
    return _FOLDED[max(begun, key=len)] if begun else None


def image_level(n_images: int) -> str:
    """Return the level of a number of images, as in Table 2, such as "few (2-5)"."""
    if n_images > 32:
        return "over 32"
    named = ((16, "many (16-32)"), (6, "medium (6-15)"), (2, "few (2-5)"), (1, "one"), (0, "none"))
    return next(level for fewest, level in named if n_images >= fewest)
