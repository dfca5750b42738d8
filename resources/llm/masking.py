"""What a provider says, fit to be kept and shown: one line, cut, without the key it may quote.

What belongs here: that one function, for every text of a provider's that is no answer.
"""

from resources.llm.registry import ModelSpec
from resources.llm.reply import storable

_LONGEST = 300
"""Characters that are kept."""


def one_line(text: str, spec: ModelSpec) -> str:
    """`text` on one line, at most 300 characters of it, the model's key masked."""
    key = spec.api_key()
    if len(key) > 8:
        # Before the cut, which could leave a part of it.
        text = text.replace(key, "***")
    return storable(" ".join(text.split())[:_LONGEST])
