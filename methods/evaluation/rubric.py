"""The rubric of a judge's prompt (score descriptions), for people who score the same answers."""

import re
from collections.abc import Sequence

_LINE = re.compile(r"^- (\d+(?: (?:or|或) \d+)?)[:：] ?(.+)$", re.MULTILINE)


def rubric_in(prompt: str, dimensions: Sequence[str]) -> list[str]:
    """Extract the rubric of each dimension from a prompt, such as `Richness - depth. 1-2 thin; …`.

    A prompt has a paragraph `Richness - …` with indented lines or, for a single dimension, a list of
    lines `- 4 or 5: …`.

    Args:
        prompt: The text of the prompt.
        dimensions: The names of the dimensions.

    Returns:
        A text for each dimension that the prompt describes.
    """
    texts = []
    for dimension in dimensions:
        paragraph = re.search(
            rf"^{re.escape(dimension)} - .+(?:\n[ \t]+\S.*)*", prompt, re.MULTILINE
        )
        if paragraph:
            texts.append(" ".join(paragraph[0].split()))
    if not texts and len(dimensions) == 1:
        bands = "; ".join(
            f"{band} {text.strip().rstrip('.;。；')}" for band, text in _LINE.findall(prompt)
        )
        texts = [f"{dimensions[0]} - {bands}."] if bands else []
    return texts
