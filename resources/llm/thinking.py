"""Reasoning that stands in front of an answer, in the same text.

What belongs here: the marks that models put around it where their server does not take it out, and
splitting a text at them. Reasoning in a field of its own is read in `reply.py`.
"""

import re

_PAIRS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
)
"""Marks of DeepSeek and Qwen, of prompts that ask for them, of Magistral, of Kimi; in any case."""
_FINAL = re.compile(r"<\|channel\|>final[^<]{0,40}(?:<\|constrain\|>[^<]{0,40})?<\|message\|>")
_ANALYSIS = re.compile(r"\s*(?:<\|start\|>assistant)?<\|channel\|>(?:analysis|commentary)")
"""Channels of gpt-oss."""
_SPECIAL = re.compile(r"<\|[^|<>\s]{1,40}\|>")
"""Tokens that end or begin a message, where a server leaves them in."""
_FENCE = "```"
_MOST_BLOCKS = 100
"""Blocks of reasoning that are looked for: a model may repeat one until its limit."""


def without_thinking(text: str) -> tuple[str, str]:
    """A text without the reasoning in front of it, and that reasoning; both empty where there is none.

    Reasoning that does not end takes the rest of the text. A template may open it in the prompt: then
    its end alone is there, on a line that it ends, and everything before it is reasoning.
    """
    if channels := _channels(text):
        return channels
    answer = text
    thought: list[str] = []
    while len(thought) < _MOST_BLOCKS and (block := _block(answer)) is not None:
        inside, answer = block
        thought.append(inside)
    if not thought:
        return _after_template(text)
    return answer.strip(), "\n".join(each for each in thought if each)


def _block(text: str) -> tuple[str, str] | None:
    """The reasoning that a text begins with, and what follows it; None if it begins otherwise."""
    begun = text.lstrip()
    for opens, closes in _PAIRS:
        if not begun.lower().startswith(opens.lower()):
            continue
        depth = 0
        for mark in re.finditer(f"{re.escape(opens)}|{re.escape(closes)}", begun, re.IGNORECASE):
            depth += 1 if mark[0].lower() == opens.lower() else -1
            if depth == 0:
                return begun[len(opens) : mark.start()].strip(), begun[mark.end() :]
        return begun[len(opens) :].strip(), ""
    return None


def _after_template(text: str) -> tuple[str, str]:
    for opens, closes in _PAIRS:
        end = re.search(f"{re.escape(closes)}[ \t]*(?:\r?\n|$)", text, re.IGNORECASE)
        if end is None:
            continue
        before = text[: end.start()]
        # A text about marks, or a block of code, is no reasoning.
        if opens.lower() not in before.lower() and before.count(_FENCE) % 2 == 0:
            return text[end.end() :].strip(), before.strip()
    return text, ""


def _channels(text: str) -> tuple[str, str] | None:
    if not _ANALYSIS.match(text) and not _FINAL.match(text.lstrip()):
        return None
    final = _FINAL.search(text)
    before = text[: final.start()] if final else text
    thought = _SPECIAL.sub(" ", before.replace("<|start|>assistant", " "))
    thought = re.sub(r"^\s*(?:assistant\s*)?(?:analysis|commentary)\s*", "", thought).strip()
    return (_SPECIAL.sub("", text[final.end() :]).strip() if final else "", thought)


def says_nothing(text: str) -> bool:
    """Whether a text has neither letter, digit, punctuation nor symbol beside control sequences."""
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", _SPECIAL.sub("", text))
    return not any(character.isprintable() and not character.isspace() for character in plain)
