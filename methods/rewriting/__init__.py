"""Rewriting prompts: same meaning, different style (AlignMMBench, 3.2).

What belongs here: parsing a model's rewrites and rejecting those that cannot replace the original.
"""

import re
from collections import Counter

from methods.prompts.parsing import ParseError

_TOKEN = re.compile(r"<image-\d+>|<ImageHere>", re.IGNORECASE)
_NUMBER = re.compile(r"^\s*(?:(?:\*\*)?\d+[.):](?!\d)(?:\*\*)?|[-*•](?=\s))\s*")
_QUOTED = re.compile(r'"([^"]*)"')


def parse_rewrites(text: str, original: str, n_rewrites: int) -> list[str]:
    """The first `n_rewrites` rewrites in a model's reply, one per line.

    A rewrite must have the same image tokens as the original, each as often; repeats and copies of the
    original are skipped. Raises ParseError if fewer than `n_rewrites` remain.
    """
    tokens = Counter(_TOKEN.findall(original))
    rewrites: list[str] = []
    for line in text.splitlines():
        rewrite = _NUMBER.sub("", line).strip()
        if quoted := _QUOTED.fullmatch(rewrite):
            rewrite = quoted.group(1).strip()
        if not rewrite or rewrite == original or rewrite in rewrites:
            continue
        if Counter(_TOKEN.findall(rewrite)) == tokens:
            rewrites.append(rewrite)
    if len(rewrites) < n_rewrites:
        raise ParseError(
            "too_few_rewrites", f"{len(rewrites)} usable rewrites of {n_rewrites} asked for."
        )
    return rewrites[:n_rewrites]
