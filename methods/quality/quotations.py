"""Texts without what they quote.

What belongs here: quotation marks. What a sign, a note or a person in a picture says is not what the
writer says: it may be in another language, apologize, or offer help.
"""

import re

_QUOTED = re.compile(
    r"“[^“”\n]{1,300}”|„[^„“”\n]{1,300}[“”]|«[^«»\n]{1,300}»|»[^«»\n]{1,300}«|「[^「」\n]{1,300}」"
    r"|『[^『』\n]{1,300}』|《[^《》\n]{1,300}》|\"[^\"\n]{1,300}\"|(?<![^\W_])['‘][^'‘’\n]{1,300}['’](?![^\W_])"
)


def without_quotations(text: str) -> str:
    """The text with a pair of marks for each quotation; as it is where nothing else is said."""
    rest = _QUOTED.sub("“”", text)
    return rest if any(map(str.isalnum, rest)) else text
