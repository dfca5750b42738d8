"""Classify the finish reason of a reply, for the different words of many servers."""

import re
from typing import Literal

CUT_OFF = "length"
"""The usual finish reason of a reply that its token limit cut off."""

End = Literal["whole", "withheld", "cut off", "broken", "unknown"]

_WHOLE = re.compile(
    r"|stop\w*|unknown|null|none|end\w*|eos\w*|eot\w*|im_end|complet\w*|finish\w*|done|success"
    r"|tool_calls|function_call"
)
"""Finish reasons of a complete answer; empty or `unknown` if the server gives none."""
_WITHHELD = re.compile(
    r"filter|safety|refus|sensitive|recitation|block|prohibited|spii|moderat|polic|guardrail|violat"
)
"""Finish reasons of a reply that the provider withheld: OpenAI's, Anthropic's, Gemini's, Zhipu's."""
_CUT_OFF = re.compile(r"length|token|limit|context|truncat|max")
"""Finish reasons of a reply that a limit cut off, such as `model_context_window_exceeded`."""
_BROKEN = re.compile(
    r"abort|error|cancel|fail|insufficient|interrupt|time_?out|malformed|disconnect|exception"
    r"|unexpected|killed|preempt|shutdown|incomplete"
)
"""Finish reasons of an answer that an error interrupted, such as vLLM's `abort`."""


def end_of(finish_reason: str) -> End:
    """Classify a finish reason.

    Args:
        finish_reason: The server's word in upper or lower case, perhaps in token markers (`<|eot_id|>`)
            or with a detail after a colon (`content_filter: SAFETY`).

    Returns:
        The class of the ending. A reply with an `unknown` finish reason counts as an answer.
    """
    plain = finish_reason.lower().replace("-", "_").partition(":")[0].strip(" <|>[]/").strip()
    if _WHOLE.fullmatch(plain):
        return "whole"
    if _WITHHELD.search(plain):
        return "withheld"
    if _CUT_OFF.search(plain):
        return "cut off"
    return "broken" if _BROKEN.search(plain) else "unknown"
