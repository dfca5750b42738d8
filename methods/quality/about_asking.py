"""Refusal detection by vocabulary: short English answers about the request instead of the image.

Refusals have endless wordings, but few of them describe a scene. They have a speaker ("I"), a negation,
a word for the refused activity ("describe"), and few other words.
"""

import re

_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_SPEAKING = (
    "i i'm i'd i'll i've me my mine myself we we're we'd we'll we've us our ours you your yours"
)
_SPEAKER = frozenset(_SPEAKING.split())
_NO = re.compile(
    r"not|n't|no|none|nothing|never|nor|neither|cannot|without|unable|fail(?:ed|s)?|declin\w*|refus\w*|skip|pass"
    r"|sorry|apolog\w*|unfortunately|regret\w*|afraid|missing|off|rather|impossible|inappropriate|improper"
    r"|unethical|beyond|outside|against|lack\w*|forb[ai]d\w*|prohibit\w*|prevent\w*|keeps?|stops?|avoid|refrain"
    r"|abstain|\w+n't"
)
_ACT = re.compile(
    r"help\w*|assist\w*|answer\w*|comment\w*|describ\w*|descriptions?|identif\w*|discuss\w*|respon[ds]\w*|fulfil\w*"
    r"|provid\w*|opinions?|judg\w*|assess\w*|view\w*|access\w*|open\w*|load\w*|receiv\w*|shar\w*|send\w*|sent"
    r"|attach\w*|upload\w*|speculat\w*|guess\w*|compar\w*|requests?|questions?|topics?|subject|information|support"
    r"|analy[sz]\w*|interpret\w*|process\w*|perceiv\w*|recogni[sz]\w*|evaluat\w*|nam(?:e|ing)|compl[yi]\w*|proceed\w*"
)
_BESIDE = re.compile(
    r"images?|pictures?|photos?|photographs?|files?|screenshots?|visuals?|input|material|content|media|messages?"
    r"|conversation|chat|prompt|texts?|words?|eyes|sight|vision|ai|model|system|assistant|language|program\w*|chatbot"
    r"|guidelines?|polic(?:y|ies)|rules?|principles|abilit(?:y|ies)|capabilit(?:y|ies)|able|capable|limits?|scope"
    r"|persons?|people|persons?'s|person's|somebody|someone|somebody's|individuals?|looks?|appearance|identity"
    r"|character|age|real|kind|sort|such|details?|tell\w*|say\w*|talk\w*|give|giving|allow\w*|permit\w*|comfortable"
    r"|appropriate|right|proper|ethical|possible|willing|going|feel|see\w*|look\w*|show\w*|shown|display\w*|please"
    r"|again|try|once|more|yet|here|first|anything|something|else|way|means|need|want|like|glad\w*|happy|could|would"
    r"|side|end|front|place|position|supposed|designed|trained|just|only|actually|currently|really|made|make|making"
    r"|go|get|got|came|come|coming|through|must|because|since|therefore|private|personal|involved|two|one|both|time"
)
_SAYING_NOTHING = (
    "a an the this that these those it its is are was were be been being am do does did doing have "
    "has had having will shall should can may might to of in on at by for from with within into "
    "about as if so but and or than then there what which who whom whose how why when where any "
    "some all each they them their he she his her being very also still even too up out over now"
)
_STOP = frozenset(_SAYING_NOTHING.split())
_OPINION = re.compile(
    r"\b(?:would not|wouldn't|could not|couldn't) (?:describe|call|compare|say)\b.*\b(?:as|to|with)\b"
    r"|\b(?:beyond|outside|out of) (?:my|our) (?:view|sight)\b"
)
MOST_ELSE = 2
"""The most other words of a refusal, such as "man" and "coat" in "the man in the coat"."""


def speaks_of_asking(text: str) -> bool:
    """Check by its words whether an English text, in lower case, is a refusal."""
    words = _WORD.findall(text)
    if not _SPEAKER.intersection(words) or _OPINION.search(text):
        return False
    acts, refuses = any(map(_ACT.fullmatch, words)), any(map(_NO.fullmatch, words))
    return acts and refuses and _n_else(words) <= MOST_ELSE


def says_of_scene(text: str) -> bool:
    """Check whether a part of an English text, in lower case, describes a scene, not the request.

    A description may have a speaker ("I see a red tram"), but then neither a negation nor a word such
    as "help".
    """
    words = _WORD.findall(text)
    if _SPEAKER.intersection(words) and any(_NO.fullmatch(w) or _ACT.fullmatch(w) for w in words):
        return False
    return _n_else(words) >= MOST_ELSE


def _n_else(words: list[str]) -> int:
    return sum(
        not (
            word in _STOP
            or word in _SPEAKER
            or _NO.fullmatch(word)
            or _ACT.fullmatch(word)
            or _BESIDE.fullmatch(word)
        )
        for word in words
    )
