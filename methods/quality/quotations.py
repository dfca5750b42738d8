"""Removes quotations from texts before other checks.

The words on a sign or note, or of a person in an image, are not statements of the writer. Quotations
are texts in quotation marks, in capitals, or after a word such as "reads".
"""

import re

_QUOTED = re.compile(
    r"“[^“”]{1,1000}”|„[^„“”\n]{1,300}[“”]|«[^«»\n]{1,300}»|»[^«»\n]{1,300}«|「[^「」\n]{1,300}」"
    r"|『[^『』\n]{1,300}』|《[^《》\n]{1,300}》|\"[^\"\n]{1,300}\"|(?<![^\W_])['‘](?:[^'‘’\n]|(?<=\w)['’](?=\w)){1,300}['’](?![^\W_])"
)
_IN_CAPITALS = re.compile(r"\b[A-Z][A-Z'’]*(?:[ ,]{1,2}[A-Z][A-Z'’]*)+\b")
_WRITTEN = re.compile(
    r"\b(?:balloon|banner|board|bubble|card|graffiti|inscription|intertitle|label|letters?|note|notice"
    r"|placard|plaque|poster|sheet|sign|sticker|screen|shirt|slogan|subtitle|tag|title|words?|writing)s?\b[^.!?\n]{0,40}?\b"
    r"(?:reads?|says?|spells?|saying|reading)(?:[:,]? (?=[A-Z])| that )[^.!?\n]{1,200}"
    r"|(?:steht|lautet|liest man|indique|on lit|dice|reza|pone|si legge|написано|гласит"
    r"|写着|写道|印着|刻着)"
    r"[^.:：。\n]{0,20}[:：][^.!?。！？\n]{1,200}"
)
_WORD = re.compile("[A-Z]{3}")


def without_quotations(text: str) -> str:
    """Replace each quotation by a pair of quotation marks. A text that consists of quotations is
    returned unchanged.
    """
    rest = _QUOTED.sub("“”", text)
    return rest if any(map(str.isalnum, rest)) else text


def without_writing(text: str) -> str:
    """Remove quotations, words in capitals among lower-case text, and texts after "the sign reads"."""
    unquoted = without_quotations(text)
    rest = _WRITTEN.sub("“”", unquoted)
    if any(map(str.islower, rest)):
        rest = _IN_CAPITALS.sub(_capitals, rest)
    return rest if any(map(str.isalnum, rest)) else unquoted


def _capitals(match: re.Match[str]) -> str:
    """Replace capitals if two words have at least three letters. "AI, I CANNOT" is no quotation."""
    return "“”" if sum(map(bool, map(_WORD.match, match[0].split()))) > 1 else match[0]


def is_quotation(text: str) -> bool:
    """Check that a text consists of quotations only."""
    return not any(map(str.isalnum, _QUOTED.sub("", text)))
