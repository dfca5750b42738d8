"""Personal data in texts: e-mail addresses, telephone numbers, IBANs, numbers of payment cards.

What belongs here: patterns, with the checksum where there is one (IBAN: ISO 13616, mod 97; cards: Luhn,
ISO/IEC 7812-1). Whether a text names a private person is a model's check.
"""

import re
import unicodedata

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
"""How an address is written that no machine is to read: `jane [at] example [dot] com`."""
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,3})?\b")
_CARD = re.compile(r"(?<![\d.])\d(?:[ -]?\d){12,18}(?![\d.])")
_PHONE = re.compile(
    r"(?<![\w.,/-])(?<!\d )(?:\+\d{1,3}[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d(?:[ .-]?\d){6,12}"
    r"|\(?0\d{2,4}\)?[ ./-]\d{3,4}[ .-]?\d{3,5}|\(\d{3}\)[ .-]?\d{3}[ .-]\d{4}"
    r"|\d{3}[.-]\d{3}[.-]\d{4}|0\d(?:[ .-]\d{2}){4}|0\d{2,4}[ /-]\d{6,8}|1[3-9]\d{9})(?![\w/-])"
)


def personal_data_in(text: str) -> str | None:
    """The first personal datum in a text and what it is, all but its ends hidden; None without any."""
    for kind, pattern, holds in (
        ("e-mail address", _EMAIL, None),
        ("IBAN", _IBAN, _is_iban),
        ("card number", _CARD, _is_card),
        ("telephone number", _PHONE, None),
    ):
        for found in pattern.finditer(_plain(text) if pattern is _EMAIL else text):
            if holds is None or holds(found[0]):
                return f"{kind}: {_hidden(found[0])}"
    return None


def _plain(text: str) -> str:
    """The text with the signs of addresses that are spelled out, in plain letters."""
    text = unicodedata.normalize("NFKC", text)
    if "@" not in text and not any(words.search(text) for words, sign in _SPELLED if sign == "@"):
        return text
    for words, sign in _SPELLED:
        text = words.sub(sign, text)
    return text


def _hidden(datum: str) -> str:
    """The datum without its middle: a table of findings is no place to keep it."""
    return f"{datum[:2]}…{datum[-2:]}"


def _is_iban(text: str) -> bool:
    code = re.sub(r"[ -]", "", text)
    if not 15 <= len(code) <= 34:
        return False
    return int("".join(str(int(each, 36)) for each in code[4:] + code[:4])) % 97 == 1


def _is_card(text: str) -> bool:
    digits = [int(each) for each in re.sub(r"[ -]", "", text)]
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[-2::-2])
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0
