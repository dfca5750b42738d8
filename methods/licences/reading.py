"""Licence detection: finds the licence in a text, such as an attribution or a copyright notice.

A licence is an SPDX expression that `packaging.licenses` accepts. Licences without an SPDX identifier
are written as `LicenseRef-`: an unknown version (`LicenseRef-CC-BY-NC-ND`), a national version
(`LicenseRef-CC-BY-SA-3.0-ES`), the public domain, all rights reserved. "Own work", "courtesy of" and a
copyright sign alone are not licences.

Sources: https://spdx.org/licenses/, https://creativecommons.org/licenses/list.en and the titles of the
licences' translations there.
"""

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from methods.unicode_forms import in_form

PUBLIC_DOMAIN = "LicenseRef-Public-Domain"
RESERVED = "LicenseRef-All-Rights-Reserved"
MOST_READ = 20_000
"""The number of characters at the beginning of a text that are searched."""

Match = re.Match[str]

_VERSION = r"(?<![\d.])(?:1\.0|2\.0|2\.1|2\.5|3\.0|4\.0)(?!\d)"
_PARTS = {
    "by": "attribution|namensnennung|paternité|reconocimiento|atribución|attribuzione|atribuição"
    "|naamsvermelding|uznanie autorstwa|erkännande|navngivelse|navngivning|uveďte (?:původ|autora)"
    "|с указанием авторства|атрибуция|із зазначенням авторства|署名|姓名标示|表示|저작자표시",
    "nc": "non[- ]?commercial(?:e)?|nicht[- ]?kommerziell(?:e nutzung)?|keine kommerzielle nutzung"
    "|pas d['’]utilisation commerciale|(?:uso )?(?:no|não)[- ]?comercial|niet[- ]?commercieel"
    "|użycie niekomercyjne|icke[- ]?kommersiell|ikke[- ]?kommersiel|некоммерческ\\w+"
    "|некомерційн\\w+|非商业性使用|非商業性|非営利|비영리",
    "nd": "no[- ]?deriv(?:ative|s)*(?: works)?|keine[- ]?bearbeitung(?:en)?|pas de modification"
    "|(?:sin|sem)[- ]?(?:obras?[- ]?)?deriva\\w+|non? opere derivate|geen[- ]?afgeleide werken"
    "|bez utworów zależnych|inga bearbetningar|без производных|без похідних|禁止演绎|禁止改作"
    "|改変禁止|변경금지",
    "sa": "share[- ]?alike|weitergabe unter gleichen bedingungen"
    "|partage (?:dans les mêmes conditions|à l['’]identique)(?: des conditions initiales)?"
    "|compartir[- ]?(?:bajo la misma licencia|igual)|compartilha\\w*[- ]?igual"
    "|condividi allo stesso modo|gelijk[- ]?delen|na tych samych warunkach|dela[- ]?lika"
    "|(?:распространение )?(?:на тех же условиях|с сохранением условий)"
    "|(?:поширення )?на тих самих умовах|相同方式共享|相同方式分享|継承|동일조건변경허락",
}
"""The elements of Creative Commons licence names, in several languages of Wikipedia."""
_PART = "|".join(f"(?:{words})" for words in _PARTS.values())
_COUNTRIES = {
    **{"germany": "DE", "deutschland": "DE", "austria": "AT", "österreich": "AT"},
    **{"netherlands": "NL", "australia": "AU", "japan": "JP", "france": "FR", "spain": "ES"},
    **{"united states": "US", "england": "UK", "italy": "IT", "poland": "PL", "brazil": "BR"},
    **{"igo": "IGO", "switzerland": "CH", "canada": "CA"},
}
_HEAD = r"creative[ -]?commons|クリエイティブ・?コモンズ|知识共享|創用 ?cc|크리에이티브 커먼즈"
_JOIN = r"[\s,/&|·•:()\"'„“«»-]*(?:(?:and|und|et|e|y|en|i)\s)?"
_OR_LATER = (
    r"(?P<later>\+|[\s,]*\bor[\s(,]*(?:at your (?:option|choice)\)?[\s,]*)?(?:any )?(?:later|newer)"
    r"|\s*oder (?:später|neuer)|\s*ou ultérieure|-or-later)?"
)
_GNU_VERSION = (
    r"(?:[^.]{0,120}?\bversion |[\s,-]*(?:v(?:ersion)?\.? ?)?)(?P<number>[123](?:\.\d)?)(?!\d)"
    r"(?:,? of the licen[cs]e)?" + _OR_LATER
)
_GNU = {"lesser": "LGPL", "library": "LGPL", "affero": "AGPL", "general": "GPL"}
_LICENCE = r"(?:licen[cs]ed?|licencia|licença|licenza|licencja|licens|lizenz|licentie|лицензия)"
_NEGATED = re.compile(r"\b(?:not|non|no|never|nicht|kein\w*|pas)\b[^.;]{0,20}$")
_EITHER = re.compile(r".{0,40}\b(?:or|oder|ou|lub|или|або|eller)\b.{0,40}|\s*/\s*|.{0,20}或.{0,20}")


def read_licence(text: str) -> str | None:
    """Detect the licences that a text names.

    Several licences are joined by OR if the text between them says "or", else by AND. "All rights
    reserved" only counts if no licence is named, because software licences contain it, too.

    Args:
        text: The text; only the first MOST_READ characters are read.

    Returns:
        One SPDX expression; None if no licence is named.
    """
    plain = in_form("NFKC", text[:MOST_READ]).casefold()
    plain = re.sub(r"[\u2010-\u2015\u2212_]", "-", plain)
    licences = _without_vague(list(_mentions(plain)))
    if not licences:
        return RESERVED if _RESERVED.search(plain) else None
    names = list(dict.fromkeys(licence.name for licence in licences))
    between = [plain[a.end : b.begin] for a, b in pairwise(licences) if a.name != b.name]
    joined = " OR " if all(map(_EITHER.fullmatch, between)) else " AND "
    # An SPDX expression in the text is put in brackets next to other licences.
    return joined.join(f"({name})" if " " in name and names[1:] else name for name in names)


def licence_name(text: str) -> str | None:
    """Return the SPDX expression of a licence name; None for an unknown name."""
    try:
        return canonicalize_license_expression(text.strip())
    except InvalidLicenseExpression:
        return read_licence(text)


class _LicenceMention(NamedTuple):
    """A licence in a text, from character `begin` up to but not including `end`."""

    begin: int
    end: int
    name: str


def _mentions(text: str) -> Iterator[_LicenceMention]:
    """Licences in the order of the text; of overlapping matches only the first and longest."""
    matches = [
        _LicenceMention(match.start(), match.end(), _named(name))
        for pattern, name_of in _WORDINGS
        for match in pattern.finditer(text)
        if (name := name_of(match))
    ]
    end = 0
    for match in sorted(matches, key=lambda one: (one.begin, -one.end)):
        if match.begin >= end:
            end = match.end
            yield match


def _named(name: str) -> str:
    try:
        return canonicalize_license_expression(name)
    except InvalidLicenseExpression:
        return canonicalize_license_expression(f"LicenseRef-{name}")


def _without_vague(mentions: list[_LicenceMention]) -> list[_LicenceMention]:
    """Drop mentions that a more specific one implies, such as CC-BY if there is CC-BY-3.0."""
    names = {licence.name for licence in mentions}
    public = {"CC0-1.0", "CC-PDM-1.0", "CC-PDDC"} & names

    def is_vague(name: str) -> bool:
        # CC-BY next to CC-BY-3.0, CC-BY-3.0 next to CC-BY-3.0-DE, GPL-2.0-only next to -or-later.
        whole = re.escape(name.removeprefix("LicenseRef-").removesuffix("-only"))
        better = re.compile(rf"(LicenseRef-)?{whole}-(\d.*|(?<=\d-)(?:[A-Z]{{2,3}}|or-later))")
        return bool(name == PUBLIC_DOMAIN and public) or any(map(better.fullmatch, names))

    return [licence for licence in mentions if not is_vague(licence.name)]


# --- Wordings --------------------------------------------------------------------------------------


def _creative_commons(parts: str, version: str | None, country: str | None) -> str:
    """Return the name of a Creative Commons licence with `parts`, such as "nc-sa", in any order."""
    kind = ["CC-BY", *(part.upper() for part in ("nc", "nd", "sa") if part in parts)]
    return "-".join([*kind, *(part.upper() for part in (version, country) if version and part)])


def _in_words(match: Match) -> str | None:
    parts = [part for part, words in _PARTS.items() if re.search(words, match["parts"])]
    if not match["head"] and len(parts) < 2 and not match["kind"]:
        return None  # The word "attribution" alone names no licence.
    country = _COUNTRIES.get(match["country"] or "")
    return _creative_commons(" ".join(parts[1:]), match["version"] or match["before"], country)


def _in_letters(match: Match) -> str:
    country = match["country"] or match["apart"]
    return _creative_commons(match["parts"], match["version"], country)


def _by_address(match: Match) -> str:
    dedicated = {"zero": "CC0-1.0", "mark": "CC-PDM-1.0"}
    return dedicated.get(match["kind"]) or _creative_commons(
        match["kind"], match["version"], match["country"]
    )


def _gnu(match: Match) -> str:
    of_kind = (short for word, short in _GNU.items() if word in match["name"])
    short = re.fullmatch(r"([al]?gpl|gfdl)s?", match["name"])
    name = short[1].upper() if short else next(of_kind, "GFDL")
    number = match["number"]
    if not number:
        return name
    version = number if "." in number else f"{number}.0"
    return f"{name}-{version}-{'or-later' if match['later'] else 'only'}"


def _free_art(match: Match) -> str:
    return f"LAL-{match['number']}" if match["number"] else "LAL"


def _public(match: Match) -> str | None:
    return None if _NEGATED.search(match.string[: match.start()]) else PUBLIC_DOMAIN


def _expression(match: Match) -> str | None:
    text = match["expression"].rstrip(".-")
    # A word without a number may be any word, except some licence names. GNU licences match `_gnu`.
    is_licence = re.search(r"\d", text) or text in ("mit", "isc", "zlib", "wtfpl", "unlicense")
    if not is_licence or re.fullmatch(r"([al]?gpl|gfdl)-[\d.]+\+?", text):
        return None
    try:
        return canonicalize_license_expression(text)
    except InvalidLicenseExpression:
        return None


def _always(name: str) -> Callable[[Match], str]:
    return lambda _: name


_WORDINGS: tuple[tuple[re.Pattern[str], Callable[[Match], str | None]], ...] = tuple(
    (re.compile(pattern), name_of)
    for pattern, name_of in (
        # https://creativecommons.org/licenses/by-sa/3.0/de/deed.en
        (
            r"creativecommons\.org/(?:licen[cs]es|publicdomain)/(?P<kind>by(?:-(?:nc|nd|sa))*|zero|mark)"
            rf"(?:/(?P<version>{_VERSION})(?:/(?!deed|legal)(?P<country>[a-z]{{2,3}})(?![a-z]))?)?",
            _by_address,
        ),
        # CC BY-NC-ND, cc-by-sa-3.0-de, CC BY-SA 3.0,2.5
        (
            r"\bcc\)?[\s:-]*\(?by(?P<parts>(?:[\s/-]*(?:nc|nd|sa)(?![a-z]))*)(?![a-z])"
            r"(?:[\s,/(-]*(?:licen[cs]e\s)?(?:v(?:ersion|\.)?\s?)?(?:international\s|unported\s|generic\s)?"
            rf"(?P<version>{_VERSION})(?:[,/-]{_VERSION})*"
            r"(?:-(?P<country>[a-z]{2})(?![a-z])|\s(?P<apart>de|at|nl|us|au|jp|fr|uk|igo)(?=\s*(?:$|[,;.)\]])))?)?",
            _in_letters,
        ),
        # Creative Commons Attribution-Share Alike 4.0 International, and translations
        (
            rf"(?:(?P<head>{_HEAD})(?:[^.;!?\d]{{0,60}}?(?P<before>{_VERSION}))?[^.;!?]{{0,60}}?)?"
            rf"(?P<parts>(?:{_PARTS['by']})(?:{_JOIN}(?:{_PART}))*)"
            rf"(?:[^\d;!?]{{0,40}}?(?P<version>{_VERSION})"
            r"(?P<kind> (?:international|unported|generic))?"
            rf"(?:[\s(-]*(?P<country>{'|'.join(_COUNTRIES)})\b)?)?",
            _in_words,
        ),
        (
            r"\bcc[\s-]?(?:0|zero)\b(?:[\s-]1\.0)?|creative commons zero|no rights reserved",
            _always("CC0-1.0"),
        ),
        (r"\bcc[\s-]sa[\s-]1\.0", _always("CC-SA-1.0")),
        # GNU GPL v2.0, LGPL-2.1+, GNU Free Documentation License, Version 1.2 or any later version
        (
            r"\b(?P<name>[al]?gpl|gfdl|gnu (?:(?:lesser|library|affero) )?general public licen[cs]e"
            r"|gnu free documentation licen[cs]e|gnu fdl|gnu[- ]lizenz für freie dokumentation"
            rf"|licence de documentation libre gnu)\b(?:{_GNU_VERSION})?",
            _gnu,
        ),
        (
            r"\b(?:free art licen[cs]e|licence art libre|licen[cs]ia (?:de )?arte libre"
            r"|lizenz freie kunst|licenza arte libera)(?:[\s,-]*v?(?:ersion )?(?P<number>1\.[23]))?",
            _free_art,
        ),
        (
            r"\bpublic[- ]domain|\bgemeinfrei|\bdomaine public|\bdominio público|\bpubblico dominio"
            r"|\bdomínio público|\bpubliek domein|\bdomen[ay] publiczn[ay]|общественно[ем]\w* достояни"
            r"|суспільн\w+ надбанн|パブリックドメイン|公有领域|公有領域|퍼블릭 도메인"
            r"|\bpd-(?:self|old|art|us|user|author|nasa|textlogo|ineligible|shape|scan)\b",
            _public,
        ),
        (r"\bmit licen[cs]e|\bexpat licen[cs]e|\blicen[cs]e:\s?expat\b", _always("MIT")),
        (
            r"\bapache(?: software)? licen[cs]e,? ?(?:version|v\.?)? ?2(?:\.0)?\b|\bapache[ -]2\.0",
            _always("Apache-2.0"),
        ),
        (r"\b(?:bsd[ -]3[ -]clause|(?:3|three)[ -]clause bsd)", _always("BSD-3-Clause")),
        (r"\b(?:bsd[ -]2[ -]clause|(?:2|two)[ -]clause bsd)", _always("BSD-2-Clause")),
        (
            r"\bopen government licen[cs]e,? ?(?:version|v)? ?(?P<number>[123])",
            lambda match: f"OGL-UK-{match['number']}.0",
        ),
        (
            r"\b(?:sil )?open font licen[cs]e(?:,? ?(?:version|v)? ?(?P<number>1\.[01]))?",
            lambda match: f"OFL-{match['number'] or '1.1'}",
        ),
        (r"\bodbl\b|\bopen data commons open database licen[cs]e", _always("ODbL-1.0")),
        (r"\bartistic licen[cs]e,? ?(?:version|v)? ?2(?:\.0)?", _always("Artistic-2.0")),
        # License: Apache-2.0
        (
            rf"(?:spdx-license-identifier|\b{_LICENCE})\s*:\s*"
            r"(?P<expression>[a-z0-9][a-z0-9.+-]*(?: (?:and|or|with) [a-z0-9][a-z0-9.+-]*)*)",
            _expression,
        ),
    )
)
_RESERVED = re.compile(
    r"all rights reserved|alle rechte vorbehalten|tous droits réservés|todos los derechos reservados"
    r"|tutti i diritti riservati|todos os direitos reservados|alle rechten voorbehouden"
    r"|wszelkie prawa zastrzeżone|все права защищены|усі права захищено|版权所有|保留所有权利|無断転載"
    r"|\bfair use\b|\bnon-free\b|\bunfree\b"
)


class StatedLicence(NamedTuple):
    """A licence as a wiki or the corpus settings state it: name, URL and author; None if missing."""

    name: str | None = None
    url: str | None = None
    artist: str | None = None


def licence_of(
    page: StatedLicence, attribution: str | None, rights: str | None, corpus: StatedLicence
) -> dict[str, str | None]:
    """Find the licence of an image.

    The first source that names a licence counts, in the order of the arguments.

    Args:
        page: The licence on the image's description page in a wiki.
        attribution: The text of the attribution.
        rights: The rights statements in the image file.
        corpus: The licence in the settings of the corpus.

    Returns:
        The columns licence, licence_url, artist and licence_source.
    """
    named = {
        "page": _named_by_wiki(page),
        "attribution": read_licence(attribution or ""),
        "file": read_licence(rights or ""),
        "corpus": licence_name(corpus.name or ""),
    }
    source, licence = next(((by, name) for by, name in named.items() if name), (None, None))
    url = page.url if source == "page" else None
    # The URL and author in the settings belong to their licence, even if another source names it.
    corpus_licence = corpus if licence and licence == named["corpus"] else StatedLicence()
    return {
        "licence": licence,
        "licence_url": url or corpus_licence.url or address_of(licence),
        "artist": page.artist or corpus_licence.artist,
        "licence_source": source,
    }


def _named_by_wiki(page: StatedLicence) -> str | None:
    """The licence that a wiki states. A name that SPDX does not know becomes a LicenseRef."""
    own = re.sub(r"[^A-Za-z0-9.]+", "-", page.name or "").strip("-.")[:60]
    licence = licence_name(page.name or "") or read_licence(page.url or "")
    return licence or (f"LicenseRef-{own}" if own else None)


def address_of(licence: str | None) -> str | None:
    """Return the URL of one SPDX licence; None for LicenseRef names and for expressions."""
    if licence is None or licence.startswith("LicenseRef-") or " " in licence:
        return None
    if match := re.fullmatch(r"CC-(BY[A-Z-]*)-(\d\.\d)(?:-([A-Z]+))?", licence):
        kind, version, country = (part and part.lower() for part in match.groups())
        address = f"https://creativecommons.org/licenses/{kind}/{version}/"
        return f"{address}{country}/" if country else address
    if licence == "CC0-1.0":
        return "https://creativecommons.org/publicdomain/zero/1.0/"
    return f"https://spdx.org/licenses/{licence}.html"
