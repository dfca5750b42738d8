"""What a reply's form left in a text: labels, fences, tags, placeholders, offers of help.

What belongs here: finding them in a text that a reader is shown. Taking them off while a reply is read
is `methods/mmdu/reading.py`.
"""

import re

from methods.mmdu.reading import without_additions

_LEFTOVERS = (
    re.compile(
        r"^[ \t]*(?:#{1,6}[ \t]*)?(?:\*\*|__)?"
        r"(?:[QA][ \t]?\d{1,3}|(?:question|answer|response|reply)[ \t]*\d*|assistant|user|human)"
        r"(?:\*\*|__)?[ \t]*[:：](?:\*\*)?|^[ \t]*(?:\*\*)?[QA]\d{1,3}[.)]",
        re.IGNORECASE | re.MULTILINE,
    ),
    re.compile(r"^[ \t]*#{1,6}[ \t]*[QA]\d{1,3}\b.*", re.MULTILINE),
    re.compile(r"^[ \t]*(?:问题|答案|回答|问|答)[ \t]*\d*[ \t]*[:：]", re.MULTILINE),
    re.compile(
        r"</?(?:think|thinking|answer|question|reference|caption|summary|image)>", re.IGNORECASE
    ),
    re.compile(r"<\|[^|<>]{1,40}\|>|</?s>|\[/?INST\]|<</?SYS>>|◁/?think▷"),
    re.compile(
        r"\{\{?[ \t]*[a-z_]{3,30}[ \t]*\}?\}|\[(?:insert|your|placeholder)\b[^\]]{0,40}\]",
        re.IGNORECASE,
    ),
    re.compile(r"\A\s*(?:sure|certainly|of course|absolutely)[!,.:]? (?:here|i['’]|i |let )", re.I),
    re.compile(r"\A\s*```|```\s*\Z"),
    re.compile(r"\A\s*\{\s*\"[^\"]{1,20}\"\s*:"),
    re.compile(
        r"\bas an? (?:ai|artificial intelligence)(?: language)?(?: model| assistant)?\b",
        re.IGNORECASE,
    ),
)


def leftover_in(text: str) -> str | None:
    """The first left-over of a reply's form in a text, as it stands there; None without any."""
    for pattern in _LEFTOVERS:
        if found := pattern.search(text):
            return found[0].strip()[:80]
    kept = without_additions(text)
    if kept == text.strip():
        return None
    return text.strip().replace(kept, "", 1).strip()[:80] or None
