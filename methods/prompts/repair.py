"""Repair: asking a model again after a reply that could not be parsed.

What belongs here: the text of the repair message, and the conversation it ends. What does not: deciding
that a reply cannot be parsed (each method's parser).
"""

import hashlib

from methods.prompts.messages import Message
from methods.prompts.template import as_data

_REPAIR_TEXT = """\
Again: your last reply could not be used, because it is not in the form that was asked for. What
is wrong with it: {reason}
Send the whole reply once more, complete, in exactly the form that was asked for, and nothing
else."""

REPAIR_VERSION = f"repair@{hashlib.sha256(_REPAIR_TEXT.encode()).hexdigest()[:8]}"
"""Version of the repair text, by its hash."""


def repair_messages(messages: tuple[Message, ...], reply: str, reason: str) -> tuple[Message, ...]:
    """The conversation, the reply that could not be parsed, and the request to repeat it correctly.

    `reason` is a sentence that tells the model what is wrong with the reply.
    """
    again = Message.of("user", _REPAIR_TEXT.format(reason=as_data(reason)))
    return (*messages, Message.of("assistant", reply), again)
