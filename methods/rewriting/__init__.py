"""Rewriting prompts: same meaning, other style (AlignMMBench, 3.2).

What belongs here: reading a model's rewrites and telling which can stand for the original.
"""

import re
from collections import Counter

from methods.prompts.parsing import ParseError

_TOKEN = re.compile(r"<image-\d+>|<ImageHere>", re.IGNORECASE)
_NUMBER = re.compile(r"^\s*(?:(?:\*\*)?\d+[.):](?!\d)(?:\*\*)?|[-*•](?=\s))\s*")
_QUOTED = re.compile(r'"([^"]*)"')


def parse_rewrites(text: str, original: str, n_rewrites: int) -> list[str]:
    """The `n_rewrites` rewrites in a model's reply, one a line.

    A line must keep the original's image tokens, each as often; repeats and copies of the original
    do not count. Raises ParseError when fewer remain than were asked for.
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
