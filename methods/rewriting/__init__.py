"""Parsing of rewritten (paraphrased) prompts: same meaning, different style (AlignMMBench, 3.2)."""

import re
from collections import Counter

from methods.prompts.messages import IMAGE_TOKEN
from methods.prompts.parsing import ParseError

_NUMBER = re.compile(r"^\s*(?:(?:\*\*)?\d+[.):](?!\d)(?:\*\*)?|[-*•](?=\s))\s*")
_QUOTED = re.compile(r'"([^"]*)"')


def parse_rewrites(text: str, original: str, n_rewrites: int) -> list[str]:
    """Read the rewrites in a model's reply, one per line.

    A rewrite must have the same image tokens as the original, equally often. Repeats and copies of the
    original are skipped.

    Args:
        text: The reply.
        original: The original question.
        n_rewrites: The number of rewrites that are needed.

    Returns:
        The first `n_rewrites` rewrites.

    Raises:
        ParseError: There are fewer usable rewrites.
    """
    tokens = image_tokens(original)
    rewrites: list[str] = []
    for rewrite in lines_of(text):
        if rewrite == original or rewrite in rewrites:
            continue
        if image_tokens(rewrite) == tokens:
            rewrites.append(rewrite)
    if len(rewrites) < n_rewrites:
        raise ParseError(
            "too_few_rewrites", f"{len(rewrites)} usable rewrites of {n_rewrites} asked for."
        )
    return rewrites[:n_rewrites]


def lines_of(text: str) -> list[str]:
    """Split a reply into its non-empty lines, without leading numbers and surrounding quotes."""
    lines = []
    for line in text.splitlines():
        rewrite = _NUMBER.sub("", line).strip()
        if quoted := _QUOTED.fullmatch(rewrite):
            rewrite = quoted.group(1).strip()
        if rewrite:
            lines.append(rewrite)
    return lines


def image_tokens(text: str) -> Counter[str]:
    """Count each image token in a text."""
    return Counter(IMAGE_TOKEN.findall(text))
