"""The 13 tasks of AlignMMBench in their three categories (AlignMMBench, 3.1 and A.1).

What belongs here: the tasks by their published names, and the labels of an item that follow from them.
The released scorer misspells one task and gives its rows no score (948 of 4,978); here a task is known
by its name whatever its case, and an unknown one is an error of the file.
"""

from collections.abc import Mapping

TASK, CATEGORY, LANGUAGE = "task", "category", "language"
"""Labels of an item."""
PERCEPTION = "Perception & Understanding"
REASONING = "Reasoning & Analysis"
DIALOGUE = "Dialogue Context"
CATEGORIES: Mapping[str, str] = {
    "Description": PERCEPTION,
    "Recognition": PERCEPTION,
    "Counting": PERCEPTION,
    "OCR": PERCEPTION,
    "Meme": PERCEPTION,
    "Knowledge": PERCEPTION,
    "Reasoning": REASONING,
    "Chart": REASONING,
    "Problem": REASONING,
    "Comparison": REASONING,
    "Writing": REASONING,
    "Coherence": DIALOGUE,
    "Incoherence": DIALOGUE,
}
"""The category of each task."""
CHINESE_NAMES: Mapping[str, str] = {
    "Description": "描述",
    "Recognition": "识别",
    "Counting": "计数",
    "OCR": "文字识别",
    "Meme": "梗图理解",
    "Knowledge": "世界知识",
    "Reasoning": "推理",
    "Chart": "图表",
    "Problem": "解题",
    "Comparison": "对比",
    "Writing": "创作",
    "Coherence": "连贯对话",
    "Incoherence": "纠错对话",
}
_BY_LETTERS = {name.lower(): name for name in CATEGORIES}


def task_named(name: str) -> str | None:
    """The task of that name, whatever its case and the space around it; None if there is none."""
    return _BY_LETTERS.get(name.strip().lower())
