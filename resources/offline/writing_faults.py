"""Faults of a text that a model wrote: what is right in it stays, and something is put around it.

What belongs here: the faults that a call can be asked to have at `/faults`, as models add them to what
they write. Faults of a connection or of a whole answer are in `fault_injection.py`; no model is called.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from resources.offline.prompt_parsing import IMAGE_NAME

CUT_OFF = "cut_off"
"""The text ends in its middle, as a token limit ends it: its finish reason is `length`."""
_LABEL = re.compile(r"^(?:\*\*)?([QA])(\d+)(?:\*\*)?: *", re.MULTILINE)
_WORDS = {"Q": "Question", "A": "Answer"}
REFUSAL = "I'm sorry, but I can't help with that."
OFFER = "Let me know if you would like me to look at anything in more detail!"
NO_IMAGE = "<image-99>"


def _labelled(text: str) -> str:
    return _LABEL.sub(lambda match: f"### {match[1]}{match[2]}:\n**{_WORDS[match[1]]}:** ", text)


def _wrong_image(text: str) -> str:
    found = IMAGE_NAME.search(text)
    return IMAGE_NAME.sub(NO_IMAGE, text, count=1) if found else f"{text} {NO_IMAGE} shows it, too."


WRITING_FAULTS: Mapping[str, Callable[[str], str]] = {
    CUT_OFF: lambda text: text[: len(text) // 2],
    "labels": _labelled,
    "fence": lambda text: f"```markdown\n{text}\n```",
    "closing_offer": lambda text: f"{text}\n\n{OFFER}",
    "wrong_image": _wrong_image,
    "plain_image": lambda text: IMAGE_NAME.sub(r"the Image \1", text),
    "added_image": lambda text: f"{text} <ImageHere>",
    "refusal": lambda text: REFUSAL,
}
"""How each fault makes the text over: headings with labels, a fence around all of it, an offer of more
help, a picture that is not there, pictures by plain numbers, an added picture, a refusal."""
