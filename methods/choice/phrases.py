"""Regular expressions for phrases in which answers name a letter, in English and Chinese.

Most repetitions are bounded, so that matching is fast for every answer.
"""

import re

from methods.choice.alphabet import CAPITALS, SMALLS
from methods.evaluation.answer_values import SMALL_DIGITS

UNSAID = "\x01"
"""Replaces a letter that is negated or supposed."""

_BEFORE = r"(?<![A-Za-z0-9°\-])(?<![A-Za-z]')"
_AFTER = rf"(?![A-Za-z0-9+#^{SMALL_DIGITS}]|'[A-Za-z]|[-&][A-Za-z0-9])"
_PRONOUN = (
    r"I\s{1,3}(?!(?i:is|isn't|seems|appears|looks|fits|matches|describes|because|since|and|or|as|but|for"
    r"|would be|must be|should be|best|correctly|accurately)\b)[A-Za-z]"
)
"""The pronoun I: the word after it cannot follow the letter of a choice."""
_UPPER = rf"{_BEFORE}(?!{_PRONOUN})(?P<letter>[{CAPITALS}]){_AFTER}"
_ANY = rf"{_BEFORE}(?P<letter>[{CAPITALS}{SMALLS}]){_AFTER}"
_OPEN, _CLOSE = r"[\"'“(\[{【「『<]{0,3}", r"[\"'”)\]}】」』>]{0,3}"
_NO_WORD = (
    r"(?=[\"'”)\]}】」』>]{0,3}\s{0,3}(?:$|[.,;:!?。、！？\n—–/&(-]|[\u4e00-\u9fff]"
    r"|(?i:because|since|as|for|due|based|given|which|where|that|and|or|but|is|here)\b))"
)
"""The text after a letter that could be a word: the end, a mark, a connective."""
_LETTER = (
    rf"{_BEFORE}(?P<letter>(?![AI])[{CAPITALS}]{_AFTER}|[AI](?:(?=[)\]】」』])|{_AFTER}{_NO_WORD})"
    rf"|[{SMALLS}](?=[)\]\"']|\s{{0,3}}(?:$|[.,;!?\n])))"
)
NAME = r"(?i:options?|choices?|answers?|letters?)"
OPTIONS = re.compile(rf"\b{NAME}\b|选项|答案")
"""A word for the choices."""

# --- Letters that are not named ---------------------------------------------------------------------

_THE = rf"(?:(?i:the|that|it is|it's|it|be)\s+){{0,3}}(?:{NAME}\s+){{0,1}}(?:(?i:is)\s+)?"
_NOT_BEFORE = (
    r"(?:(?i:\bnot|n't|\bnever|\bneither|\bnor|\bexcept|\brather than|\binstead of|\bunlike"
    r"|\brul(?:e|es|ed|ing) out|\beliminat(?:e|es|ed|ing)|\bexclud(?:e|es|ed|ing)"
    r"|\breject(?:s|ed|ing)?|\bcannot be|\bcan't be)\s+"
    rf"{_THE}|(?:不(?:应该?|能|可能|会)?(?:选择?|是|为)|并非|而非|非|排除(?:了)?|除了)\s*(?:选项|答案)?\s*)"
    rf"{_OPEN}{_UPPER}"
)
_NOT_AFTER = (
    rf"{_UPPER}{_CLOSE}\s{{0,3}}(?:(?:(?i:is|was|are|does|do|would|could|can|seems?|looks)\s*(?:be\s+)?"
    r"(?i:n't|not|(?:clearly |also |definitely |obviously )?(?:incorrect|wrong|false|ruled out|excluded"
    r"|irrelevant|unlikely))|(?i:cannot|can't|isn't|doesn't|wasn't|won't))\b"
    r"|(?:选项|项)?\s*(?:是|为)?\s*(?:不|错))"
)
_SUPPOSED = (
    r"(?:(?i:\bif|\bunless|\bwhether|\bsuppose|\bassuming|\bdon't (?:think|believe)"
    r"|\bdo not (?:think|believe)|\bdoubt)\b|如果|假如|若|不认为)"
    rf"[^.,;!?。,;\n]{{0,60}}?{_UPPER}"
)
_UNSAYING = tuple(map(re.compile, (_NOT_BEFORE, _NOT_AFTER, _SUPPOSED)))


def mask_denied_letters(text: str) -> str:
    """Replace letters that are negated or supposed by UNSAID."""
    for expression in _UNSAYING:
        # Several letters may follow one negation: "neither A nor B" has two.
        text = expression.sub(_mark, text)
    return text


def _mark(match: re.Match[str]) -> str:
    start, end = match.start("letter") - match.start(), match.end("letter") - match.start()
    return match[0][:start] + UNSAID + match[0][end:]


# --- Places where a letter or a text is named ------------------------------------------------------

FINAL = re.compile(
    r"<answer>(?P<tag>[^<]{0,400})</answer>"
    r"|(?:(?i:\bfinal\s+(?:answer|choice|option)\b)|最终(?:的)?(?:答案|选择|选项))"
    r"\s{0,3}(?:(?i:is|would be|should be)\b|是|为|选|[:=])?\s{0,3}:?\s{0,3}(?P<phrase>[^\n]{1,400})"
)
"""The final answer: the content of a tag, or the rest of a line after words such as "final answer"."""

_WORD = (
    rf"(?:(?i:the\s+)?(?i:(?:correct|right|best|my)\s+)?{NAME}\s{{0,3}}(?:(?i:is)\b)?\s{{0,3}}[:#]?\s{{0,3}}"
    r"|(?:正确)?(?:答案|选项)(?:是|为)?\s*:?\s*|(?:我|应|故|应该|因此|所以)?选择?\s*(?:选项)?\s*:?\s*)?"
)
ALONE = re.compile(rf"\s*{_WORD}{_OPEN}{_ANY}{_CLOSE}[.。,;:!、]?{_CLOSE}\s*(?:选项|项)?[.。!]?\s*")
"""A text that is only a letter."""

_IS = (
    r"(?:(?i:is|was|are|would be|should be|must be|will be|has to be|might be|could be|may be)\b"
    r"|[:=]|->|→|\s[-–—]\s|\n)"
)
_SURELY = (
    r"(?:(?i:most likely|probably|likely|clearly|definitely|therefore|thus|simply|actually|obviously"
    rf"|indeed|the letter|(?:the )?{NAME}(?: is)?)\s{{0,3}}:?\s{{0,3}}){{0,3}}"
)
_THAT_IT_IS = r"(?:\s{0,3},)?(?:\s{1,3}(?i:that|it|it's|it is|it would be|it must be|is)\b){0,3}"
_SAYS = (
    r"(?i:\b(?:i(?:'d|'ll| would| will| should| must| can)?\s+(?:choose|chose|pick|picked|select"
    r"|selected|say|go with|go for|opt for|answer|guess|vote for|think|believe|suggest)"
    r"|(?:let's|let us|we|to)\s+(?:choose|pick|select|go with)|choose|pick|select|going with)\b)"
    rf"{_THAT_IT_IS}"
)
_SO = rf"(?i:\b(?:probably|most likely|therefore|thus|hence|so)\b){_THAT_IT_IS}"
_ANSWER_IS = (
    r"(?i:\b(?:answer|(?:this|only|best|right|appropriate|suitable|accurate|my|final|selected)\s{1,3}"
    r"(?:option|choice|selection|pick|letter)"
    r"|(?:option|choice|statement)(?=\s{1,3}(?:that|which)\s{1,3}(?:best|most|matches|describes|fits))|response|guess|correct\s{1,3}[a-z]+)\b"
    r"|^\W{0,3}(?:option|choice)(?=\s{0,3}:))"
    r"(?:\s+(?!(?i:to|that\s+(?:can|should|must)\s+be)\s+(?i:avoid|exclud|reject|eliminat|rul|discard))"
    r"(?i:to|for|of|among|that|here|from|which|about)\b"
    r"(?:(?!\b(?i:previous|example|first|hint|caption)\b)[^.:\n]){0,60}?)?"
    rf"\s{{0,3}}(?:{_IS}\s{{0,3}}){{1,3}}(?:(?i:that)\s{{1,3}})?{_SURELY}"
)
"""The answer to the question is ..."""
_I_CHOOSE = rf"{_SAYS}\s{{1,3}}{_SURELY}"
_SO_IT_IS = rf"{_SO}\s{{1,3}}{_SURELY}"
_IT_IS = (
    r"(?i:\b(?:it|that|this)(?:'s|\s+(?:is|must be|would be|should be|has to be)))"
    rf"\s{{1,3}}{_SURELY}"
)
# "Actually, B" gives another answer, "Actually B is" does not.
_NO_SUBJECT = rf"(?!{_OPEN}[{CAPITALS}]{_CLOSE}\s{{1,3}}[a-z])"
_CORRECTION = (
    r"(?i:\b(?:no,? wait|wait,? no|wait|hold on|actually|correction|on second thoughts?|i meant?"
    r"|scratch that)\b)[\s,.:;!…–—-]{1,5}(?:(?i:it's|it is|the answer is|make it)\s{1,3})?"
    rf"{_NO_SUBJECT}"
)
_CORRECTION_ZH = r"(?:不对|更正|等等|等一下)[\s,.:;!。、,…]{0,5}(?:应该?)?(?:是|选)?\s{0,3}"
_INSTEAD_OF_UNSAID = (
    rf"(?<={UNSAID}){_CLOSE}\s{{0,3}}[,;]?\s{{0,3}}(?:(?i:but(?: rather)?|it is|it's)\s{{1,3}}|而?是)"
    rf"{_SURELY}"
)
"""Not A but ..."""
_ANSWER_IS_ZH = (
    r"(?:答案|(?:正确|合适|符合|恰当|准确)的?选项)(?:应该|应当|应|可能|大概|就|会)?"
    r"(?:(?:是|为|选择?|[:=])\s{0,3}){1,3}(?:选项)?"
)
_IT_IS_ZH = r"(?:而是|(?:我(?:认为|觉得|想|猜)|应该?|可能|大概|因此|所以)(?:是|为))(?:选项|答案)?"
_CHOOSE_ZH = r"(?<![难候多挑人首次])选择?(?:的?是|了|:)?\s{0,3}(?:选项)?\s{0,3}"
HEAD = re.compile(
    rf"(?:{_ANSWER_IS}|{_I_CHOOSE}|{_CORRECTION}|{_CORRECTION_ZH}|{_INSTEAD_OF_UNSAID}"
    rf"|{_ANSWER_IS_ZH}|{_CHOOSE_ZH})(?!{UNSAID})",
    re.MULTILINE,
)
"""A phrase before a letter, or before the text of a choice, that is given as the answer."""
_ONLY = (
    r"(?i:\b(?:the\s+)?only\s+(?:option|choice)(?:\s+is)?)\s{1,3}"
    r"|(?:结论(?:是|:|,|:)?|只有)\s{0,3}(?:选项)?\s{0,3}"
)
WEAK_HEAD = re.compile(rf"(?:{_SO_IT_IS}|{_IT_IS}|{_IT_IS_ZH}|{_ONLY})(?!{UNSAID})")
"""A phrase before an answer, but also before other words: it counts only if no `HEAD` does."""
MANY = re.compile(
    r"(?:(?i:\b(?:each|every|following|possible|all|any|other|another|given|available)"
    r"\s{1,3}(?:(?:of|the|answer|possible|given|available|single|individual)\s{1,3}){0,2})"
    r"|(?:每一?个|各个?|所有|全部|以下|下列|逐个|逐一|依次|可能|其他|其它|另一?个?)"
    r"(?:给出|给定|可能|分析|讨论|比较|检查)?的?(?:正确)?|(?:分析|讨论|比较|检查)(?:一下|这些)?)$"
)
"""Words before a head that make it speak of several options: "each option:"."""


_RIGHT = (
    r"(?i:correct|right|true|accurate|appropriate|suitable|fitting|best|the answer|the one"
    r"|most likely)\b(?!'s\b|\s{1,3}(?i:wrong|incorrect|distract))"
)
_SUBJECT = (
    r"(?:^|[.,;:!?()\n\"'。、\u4e00-\u9fff]\s{0,3}"
    rf"|(?:\b{NAME}|\b(?i:so|therefore|thus|hence|that|only|but|and|while|because|think|believe|is))"
    r"\s{1,3})"
)
"""The text before the letter of a choice, but not before the C of "Vitamin C"."""
PREDICATE = re.compile(
    rf"{_SUBJECT}{_OPEN}{_UPPER}{_CLOSE}(?:\s{{1,3}}(?i:is|was|seems|appears|looks|would be|must be"
    r"|should be|fits|matches|describes)"
    r"(?:\s{1,3}(?i:to be|the|a|clearly|definitely|therefore|most|only|my|likely)){0,4}"
    rf"\s{{1,3}}{_RIGHT}|\s{{1,3}}(?i:best|correctly|accurately)\s{{1,3}}(?i:describes?|matches|fits)\b"
    r"|\s{0,3}(?:选项|项)?\s{0,3}(?:是|为)?\s{0,3}最?(?:正确|对的?|合适|符合|合理|准确|佳))"
)
"""A letter that is said to be right."""

LETTER = re.compile(_LETTER)
"""A letter that is not a word."""
FIRST_LETTER = re.compile(rf"{_OPEN}{_LETTER}{_CLOSE}")
NEXT_LETTER = re.compile(
    r"\s{0,3}(?:\([^()\n]{0,20}\)\s{0,3})?(?:(?:(?i:and/or|and|or|(?:but )?also|plus|as well as"
    r"|(?:along|together|combined) with|alongside|in addition to)\b|[/&,、]|(?<!\s)[–—](?!\s)"
    rf"|(?=[(\[][{CAPITALS}][)\]])|或者?选?|和|与|以及)\s{{0,3}}){{1,3}}"
    rf"(?:{NAME}\s{{1,3}})?(?!(?i:i\.\s?e)){_OPEN}{_LETTER}{_CLOSE}"
)
"""A further letter in a list of letters."""
LETTER_BEFORE = re.compile(
    rf"{_UPPER}{_CLOSE}\s{{0,3}}(?:(?i:and/or|and|or)\b|[/&,、]|或者?|和|与|以及){{1,2}}\s{{0,3}}{_OPEN}$"
)
"""A letter and the word that joins it to the next one."""
BEFORE_TEXT = re.compile(
    r"[ \t\"'“()\[\].:,;=–—-]*(?:(?:(?i:i\.?e\b|that is|which is|namely)|即|也就是)[ \t\"'“.:,]*)?"
)
"""The characters and words between a letter and the text of its choice: "B, i.e. dog"."""
OPTION = re.compile(rf"(?:^\s*|\b{NAME}\s{{1,3}}){_OPEN}{_LETTER}", re.MULTILINE)
"""A letter that begins a line, or follows a word such as "option"."""

MARKED = re.compile(
    rf"{_BEFORE}[(\[【]?([{CAPITALS}])(?:[)\]】]|[.:](?!\d)|\s{{0,2}}[-–—=;、]|,\s(?=no\b|yes\b)|选?项?[错对是不])"
)
"""A letter with the mark of a choice, such as "B." or "(B)"."""
LEADING_LETTER = re.compile(
    rf"{_WORD}{_OPEN}{_ANY}{_CLOSE}(?:\s{{0,3}}[.:,、;)]|\s{{1,3}}[-–—]\s)?\s{{0,3}}"
)
LEADING = re.compile(
    rf"{_WORD}(?:[(\[【]\s{{0,2}}(?P<letter>[{CAPITALS}{SMALLS}])\s{{0,2}}[)\]】]\s{{0,3}}[.:,、]?"
    rf"|(?:(?!I,)(?P<bare>[{CAPITALS}])"
    r"(?:[\"')\]]{0,2}\s{0,3}[.:,、;。)\n]|\s{1,3}[-–—]\s|\s{1,3}(?i:because|since)\b)"
    rf"|(?P<small>[{SMALLS}])[).]\s))\s{{0,3}}"
)
# --- Texts -------------------------------------------------------------------------------------------

BRACKETED = re.compile(rf"(?<![A-Za-z])[(\[]([{CAPITALS}])[)\]]")
"""A letter in brackets."""
EXPLAINED = re.compile(r"(?:(?i:because|since|as|for|due to|given)\s{1,3}\w|因为|由于)")
"""The beginning of the reason for a letter."""
NEW_SENTENCE = re.compile(r"(?:This|These|It|The|There|In|From|Based|As|They|An?)\s[^.!?\n]{8,}")
"""A sentence after a letter, which may give its reason."""
TAKEN_BACK = re.compile(
    r"[^.!?。\n]{0,60}?(?:\b(?i:no|wrong|incorrect|false|isn't|nobody|impossible|absurd|but|however|if)\b"
    r"|\b(?i:not)\W{0,3}$|错|但|其实)|[^\n]{0,20}\b(?i:just kidding|actually|not!)",
    re.MULTILINE,
)
"""Text after a declared answer that takes it back, as in "The answer is A: wrong."."""
FOLLOWS = re.compile(
    r"[)\]]|[\"'”’」』)]{0,2}\s*(?:$|[.,:](?!\d)|[;!?()。、,;\n<]"
    r"|(?:because|since|as|due|which|given|based)\b|因为|由于)"
)
"""The end or mark that may follow the text of a choice: another word would change its meaning."""
ONE_SENTENCE = re.compile(r"[^.!?。!?\n]{1,300}[.!?。]?")
COPULA = re.compile(
    r"(?i:\b(?:is|are|was|were|be|shows?|depicts?|means|equals|becomes|called|named)\b|'s\b)|[:是为]"
)
NEGATED = re.compile(
    r"(?i:\b(?:not|no|never|neither|nor|without|cannot|rather|except|or|nobody|mistake|refuse|hesitate|but|however)\b"
    r"|n't\b)|[不没非或]|排除"
)
"""A sentence with these words names no text."""
_OWN_WORDS = (
    "the a an my our this that these it which what and so then thus therefore hence as is are was "
    "am be i m d ll we you can could will would must should see say conclude think believe know "
    "infer go going determine find found means mean seems seem appears appear seen shown observed "
    "sure confident certain most likely probably clearly obviously definitely finally final "
    "correct right best only appropriate accurate suitable single overall based on in from of for "
    "to upon after closer careful inspection observation given provided above image picture photo "
    "figure diagram question information analysis context option choice answer letter statement "
    "one here now wait no actually"
)
_OWN_WORDS_ZH = (
    "所以|因此|故|综上|所述|由此|可知|可见|最终|最后|正确|合适|符合|选项|我们?|可以|得出|认为|觉得|应该?|本题|该|这道题|题目?"
    "|那么?|则|就|根据|从|图中|图片|非常|明显|显然|不难|看出|的|最|是|为"
)
STATED = re.compile(rf"(?:\W|\b(?i:{'|'.join(_OWN_WORDS.split())})\b|{_OWN_WORDS_ZH})*+")
"""The words that may stand in a clause before a phrase that declares an answer. Others may deny it
("I would not choose A"), ascribe it to somebody ("the caption says") or make it one of several.
"""
OTHER_CASE = re.compile(
    r".*\b(?i:says|said|reads|writes|wrote|written|claims|claimed)\b"
    r"|\W*(?:(?i:if (?!(?:we|you) (?:look|consider|observe))|even if|were|had|assuming|suppose"
    r"|supposing|unless|only if|at first|initially"
    r"|according to (?!the (?:image|picture|photo|figure|diagram)\b))"
    r"|如果|假如|要是|若|乍一看|起初|最初|有人)"
)
"""The beginning of a sentence that declares nothing: it speaks of another case, or quotes somebody."""
CLAUSE_START = re.compile(
    rf"[.,;:!?。、\n()—–{UNSAID}]|\s-\s|所以|因此|故|但|则"
    r"|\b(?i:so|but|and|then|therefore|thus|hence|because|since|while)\b"
)
ASKED = re.compile(r"[^.,;:!?。\n]{0,60}(?:\?|吗)")
"""The rest of a question: "Is the answer A?" """
