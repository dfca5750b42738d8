"""Detection of personal data (PII) in texts: e-mail addresses, telephone numbers, IBANs, numbers of
payment cards.
"""

import re

from methods.unicode_forms import in_form

_EMAIL = re.compile(
    r"\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){0,4}\.[a-z]{2,24}\b", re.IGNORECASE
)
_AT = r"at|ät|@|arroba|chiocciola|arobase|собака"
_DOT = r"dot|punkt|punto|ponto|point|точка|\."
_SPELLED = [
    (re.compile(pattern, re.IGNORECASE), sign)
    for pattern, sign in (
        (rf"(?<!\s)\s*[\[({{<【]\s*(?:{_AT})\s*[\])}}>】]\s*", "@"),
        (rf"(?<!\s)\s*[\[({{<【]\s*(?:{_DOT})\s*[\])}}>】]\s*", "."),
        (r"(?<=\w)\s+@\s*(?=\w)|(?<=\w)@\s+(?=\w)", "@"),
        (
            r"(?<=\w) (?:arroba|chiocciola|arobase|(?-i:AT)) (?=[\w-]+(?: \w+ |\.)[a-z]{2,24}\b)",
            "@",
        ),
        (r"(?<=\w) at (?!(?:the|an?|its?|each|that|this)\b)(?=[\w-]+ dot [a-z]{2,24}\b)", "@"),
        (r"(?<=\w) (?:dot|punto|ponto|point) (?=[a-z]{2,24}\b)", "."),
    )
]
"""Spellings that hide an e-mail address from programs, such as `jane [at] example [dot] com`."""
_IBAN = re.compile(
    r"\b[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,3})?\b", re.IGNORECASE | re.ASCII
)
_CARD = re.compile(r"(?<![\d.])(?:\d(?:[ -]?\d){12,18}|\d{4}(?:\.\d{4}){3})(?!\.?\d)")
_PHONE = re.compile(
    r"(?<![\w.,/-])(?<!\d )(?:(?:\+|00(?=[1-9]\d{0,2}[ .-]))\d{1,3}[ .-]?"
    r"(?:\(\d{1,4}\)[ .-]?)?\d(?:[ .-]?\d){6,12}"
    r"|\(?0\d{2,4}\)?[ ./-]\d{3,4}[ .-]?\d{3,5}|\(\d{3}\)[ .-]?\d{3}[ .-]\d{4}"
    r"|\d{3}[.-]\d{3}[.-]\d{4}|0\d(?:[ .-]\d{2}){4}|0\d{2,4}[ /-]\d{6,8})(?![\w/-])"
    r"|(?<![A-Za-z\d.,/$€£¥₽₹-])(?P<mobile>1[3-9]\d{9})(?![A-Za-z\d/%°$€£¥₽₹元块亿万年米个人-])(?![.,]\d)"
)
_OF_A_THING = re.compile(
    r"(?:\b(?:inventory|part|catalog(?:ue)?|order|serial|accession|item|model|reference|lot|invoice|patent|product"
    r"|batch|barcode|ticket|isbn|issn|ean|sku|inventar|bestell|artikel|serien|katalog)-?[ ]?"
    r"(?:numbers?|no\b\.?|nr\b\.?|nummer|code|id|#)?(?: is| reads| says)?[ :#]{0,3}"
    r"|(?:编号|货号|型号|序列号|订单号|条码|書号|品番)[是为：: ]{0,3})\Z",
    re.IGNORECASE,
)
"""Words before a number that is no telephone number, such as "inventory number"."""
_TELEPHONE = re.compile(
    r"call|phone|tel\b|mobile|contact|dial|ring|whatsapp|电话|手机|联系|拨打|致电|☎", re.IGNORECASE
)
_COUNTED = re.compile(
    r"\s(?:(?:light-?)?years?|k?m|metres?|meters?|miles?|feet|k?g|tons?|yen|yuan|won|rubles|people|[a-z]{3,20}s)\b"
)
_ROUND = "0000"
"""A number with these last digits is a rounded count, not a telephone number."""
_AFTER, _BEFORE = 24, 40
FEWEST_DIGITS = 10
"""The fewest digits of an IBAN. A match with fewer consists of words."""
_FILE = re.compile(
    r"\.(?:png|jpe?g|gif|svg|webp|avif|bmp|tiff?|pdf|css|js|html?|mp4|zip)\Z", re.IGNORECASE
)
_PATH = re.compile(r"[\w.-]{0,80}:[\w~/]")
_BRACKETED_AT = re.compile(rf"[\[({{<【] ?(?:{_AT}) ?[\])}}>】]", re.IGNORECASE)
_SPOKEN_END = re.compile(
    r"\.(?:com|org|net|edu|gov|info|biz|mil|app|dev|shop|online|(?!in|is|to|by|as|so|be|no|my)[a-z]{2})\Z",
    re.IGNORECASE,
)
"""Ends of an e-mail address that is spelled out. "Look at seurat dot technique" is no address."""


def personal_data_in(text: str) -> str | None:
    """Return the kind and the masked text of the first personal datum, or None."""
    for kind, pattern, holds in (
        ("e-mail address", _EMAIL, lambda match: _is_address(match, text)),
        ("IBAN", _IBAN, _is_iban),
        ("card number", _CARD, _is_card),
        ("telephone number", _PHONE, _is_telephone),
    ):
        for match in pattern.finditer(_plain(text) if pattern is _EMAIL else text):
            if holds(match):
                return f"{kind}: {_hidden(match[0])}"
    return None


def _plain(text: str) -> str:
    """Normalize a text (NFKC), and replace spelled-out "at" and "dot" of addresses by "@" and "."."""
    text = in_form("NFKC", text)
    if "@" not in text and not any(words.search(text) for words, sign in _SPELLED if sign == "@"):
        return text
    for words, sign in _SPELLED:
        text = words.sub(sign, text)
    return text


def _hidden(datum: str) -> str:
    """Mask the middle of a datum, so that tables of findings do not store it."""
    return f"{datum[:2]}…{datum[-2:]}"


def _is_address(match: re.Match[str], text: str) -> bool:
    """Whether a match is an e-mail address, and not a file such as `logo@2x.png`, the path of a
    repository, or words of a sentence with "dot".
    """
    if _FILE.search(match[0]) or _PATH.match(match.string, match.end()):
        return False
    if "@" in text or "＠" in text or _BRACKETED_AT.search(text):
        return True
    return _SPOKEN_END.search(match[0]) is not None


def _is_telephone(match: re.Match[str]) -> bool:
    before = match.string[max(0, match.start() - _BEFORE) : match.start()]
    if _OF_A_THING.search(before):
        return False
    if not match["mobile"]:
        return True
    counted = _COUNTED.match(match.string, match.end(), match.end() + _AFTER)
    return not match[0].endswith(_ROUND) and (not counted or _TELEPHONE.search(before) is not None)


def _is_iban(match: re.Match[str]) -> bool:
    """Whether a match is an IBAN or begins with one. Words after it may look like its groups."""
    groups = re.split("[ -]", match[0])
    return any(_has_iban_sum("".join(groups[:n])) for n in range(1, len(groups) + 1))


def _has_iban_sum(code: str) -> bool:
    if not 15 <= len(code) <= 34 or sum(map(str.isdigit, code)) < FEWEST_DIGITS:
        return False
    return int("".join(str(int(character, 36)) for character in code[4:] + code[:4])) % 97 == 1


def _is_card(match: re.Match[str]) -> bool:
    digits = [int(digit) for digit in re.sub("[ .-]", "", match[0])]
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[-2::-2])
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0
