"""A provider's error text, made fit to be stored and shown: one line, cut, the API key masked.

What belongs here: that one function, for every text of a provider's that is not an answer.
"""

from resources.llm.registry import ModelSpec
from resources.llm.reply import storable

_LONGEST = 300
"""Characters of a text that are kept."""


def one_line(text: str, spec: ModelSpec) -> str:
    """`text` on one line, at most 300 characters of it, the model's key masked."""
    key = spec.api_key()
    if len(key) > 8:
        # Masked before the text is cut, which could leave a part of the key.
        text = text.replace(key, "***")
    return storable(" ".join(text.split())[:_LONGEST])
