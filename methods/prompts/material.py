"""Texts for readers that speak of what only the writer was given: a caption, notes, a page.

What belongs here: recognizing such a mention. What a reader is shown is the picture alone.
"""

import re

_MATERIAL = re.compile(
    r"\b(?:captions?|summar(?:y|ies)|background notes?)\b"
    r"|\b(?:according to|based on|(?:stated|described|mentioned|said|given|written) (?:in|by)) "
    r"(?:the|this|that|its|your) (?:\w+ )?"
    r"(?:article|text|passage|notes?|description|page|material|document|information)\b"
    r"|图注|图片说明|图片标题|说明文字|词条|条目|百科"
    r"|根据(?:上述|以上|所给|给出的|提供的)?(?:文字|资料|材料|文章|说明|页面|信息)",
    re.IGNORECASE,
)


def mention_of_material(text: str) -> str | None:
    """The words that mention a caption, notes or a page, in English or Chinese; None without any."""
    found = _MATERIAL.search(text)
    return found[0] if found else None
