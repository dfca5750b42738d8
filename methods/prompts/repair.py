"""The repair turn: asking a model again for a reply that could not be read.

What belongs here: the words of a repair turn, and its place in the conversation. Each method's parser
decides whether a reply can be read.
"""

import hashlib

from methods.prompts.messages import Message
from methods.prompts.template import as_data

_WORDS = """\
Again: your last reply could not be used, because it is not in the form that was asked for. What
is wrong with it: {reason}
Send the whole reply once more, complete, in exactly the form that was asked for, and nothing
else."""

REPAIR_VERSION = f"repair@{hashlib.sha256(_WORDS.encode()).hexdigest()[:8]}"
"""Which words exactly asked again."""


def repair_messages(messages: tuple[Message, ...], reply: str, reason: str) -> tuple[Message, ...]:
    """The conversation with the unreadable reply and the request to mend it, its reason a sentence."""
    again = Message.of("user", _WORDS.format(reason=as_data(reason)))
    return (*messages, Message.of("assistant", reply), again)
