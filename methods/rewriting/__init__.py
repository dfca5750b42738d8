"""Parsing of rewritten (paraphrased) prompts: same meaning, different style (AlignMMBench, 3.2)."""

import re
from collections import Counter

from methods.prompts.messages import IMAGE_TOKEN
from methods.prompts.parsing import ParseError

_NUMBER = re.compile(r"^\s*(?:(?:\*\*)?\d+[.):](?!\d)(?:\*\*)?|[-*•](?=\s))\s*")
_QUOTED = re.compile(r'"([^"]*)"[],}]*')
_FRAME = re.compile(r"[\W_]*|\s*```.*")
"""A line around rewrites: a bracket, a rule or a code fence."""
_INTRODUCTION = re.compile(r"[^\n]*[:：[{]\s*")


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
        if len(rewrites) == n_rewrites:
            break
        if rewrite == original or rewrite in rewrites:
            continue
        if image_tokens(rewrite) == tokens:
            rewrites.append(rewrite)
    if len(rewrites) < n_rewrites:
        raise ParseError(
            "too_few_rewrites", f"{len(rewrites)} usable rewrites of {n_rewrites} asked for."
        )
    return rewrites


def lines_of(text: str) -> list[str]:
    """Split a reply into its lines, without leading numbers and surrounding quotes.

    Lines without a letter or digit, code fences and an introduction are left out. The introduction is
    the first line, if it has no number and ends with a colon or an opening bracket.
    """
    lines: list[str] = []
    written = [line for line in text.splitlines() if not _FRAME.fullmatch(line)]
    if written and _INTRODUCTION.fullmatch(written[0]) and not _NUMBER.match(written[0]):
        del written[0]
    for line in written:
        rewrite = _NUMBER.sub("", line).strip()
        if quoted := _QUOTED.fullmatch(rewrite):
            rewrite = quoted.group(1).strip()
        if rewrite:
            lines.append(rewrite)
    return lines


def image_tokens(text: str) -> Counter[str]:
    """Count each image token in a text."""
    return Counter(IMAGE_TOKEN.findall(text))
