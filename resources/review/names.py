"""What may be a reviewer's name: every decision stands under one, and is read by people.

What belongs here: the rule, and the form that names share which people would take for the same.
"""

import re
import unicodedata

MAX_LENGTH = 40

# Characters that Python calls printable and nobody can see.
_UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0]")
_BETWEEN = " .-_'@"
_LOOK_ALIKE = ("LATIN ", "GREEK ", "CYRILLIC ")


def checked_name(name: str) -> str:
    """The name in Unicode's form NFC; raises ValueError with one sentence for one nobody may have.

    A name has 1 to 40 letters and digits of any script; between them blanks and `. - _ ' @`. There
    is no colon, so that no name is a policy's (`policy:accept`).
    """
    name = unicodedata.normalize("NFC", name)
    if not 1 <= len(name) <= MAX_LENGTH:
        raise ValueError(f"A name has 1 to {MAX_LENGTH} characters: this one has {len(name)}.")
    wrong = [char for char in name if not _is_allowed(char)]
    if wrong:
        raise ValueError(f"A name has letters, digits and any of . - _ ' @ only: not {wrong[0]!a}.")
    if not (name[0].isalnum() and (name[-1].isalnum() or _is_accent(name[-1]))):
        raise ValueError("A name begins and ends with a letter or a digit.")
    if "  " in name:
        raise ValueError("A name has no two blanks in a row.")
    scripts = {script for script in _LOOK_ALIKE for char in name if _is_of(script, char)}
    if len(scripts) > 1:
        raise ValueError("A name has no letters of different alphabets that look alike.")
    return name


def folded_name(name: str) -> str:
    """What names share that differ only by case, width or accents' encoding; of any text."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    # Half characters, which JSON can carry, are no text to SQLite.
    return folded.encode(errors="replace").decode()


def _is_allowed(char: str) -> bool:
    if _UNSEEN.match(char):
        return False
    return char.isalnum() or char in _BETWEEN or _is_accent(char)


def _is_accent(char: str) -> bool:
    return unicodedata.category(char) in ("Mn", "Mc")


def _is_of(script: str, char: str) -> bool:
    return unicodedata.name(char, "").startswith(script)
