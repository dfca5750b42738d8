"""The base class of errors that a person can put right.

What belongs here: that class. An error of a capability stands in the module that raises it.
"""


class UserError(Exception):
    """An error whose message is one sentence for the user: what is wrong, and what to do about it.

    Every asset and command shows the message of any subclass, without a traceback.
    """
