"""Licence terms (ND, NC, share-alike), and filtering of items by the terms of their images."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Literal, get_args

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from methods.licences.reading import RESERVED, read_licence

UNKNOWN: Literal["unknown"] = "unknown"
"""The key under which images without a known licence are counted."""

Term = Literal["unknown", "ND", "NC", "share-alike"]
TERMS: tuple[Term, ...] = get_args(Term)
"""Terms: the licence is unknown; no derivatives; no commercial use; derivatives only under the same
licence. If several exclude an item, the first in this order is the reason."""
BY_DEFAULT: Mapping[str, tuple[Term, ...]] = {"benchmark": (), "instruction": ("unknown", "ND")}
"""The terms that releases of each kind exclude by default. Training data excludes ND, because a trained
model is treated as a derivative."""

_COPYLEFT = re.compile(r"(?:LicenseRef-)?(?:[AL]?GPL|GFDL|LAL|ODbL|EUPL|OFL)\b|.*-SA\b")


def terms_of(licence: str | None) -> frozenset[Term]:
    """Return the terms of a licence. For a choice of licences (OR), the terms that all of them have.

    A name that is not an SPDX expression (earlier versions stored such names) is parsed as a text.
    """
    if not licence:
        return frozenset({"unknown"})
    try:
        expression = canonicalize_license_expression(licence)
    except InvalidLicenseExpression:
        known_licence = read_licence(licence)
        return terms_of(known_licence) if known_licence else frozenset()
    return _any_of(re.findall(r"[()]|[^\s()]+", expression)[::-1])


def reason(licences: Iterable[str | None], excluded: Collection[Term]) -> Term | None:
    """Find the first excluded term among the licences of an item.

    Args:
        licences: The licences of the item's images; None for an unknown one.
        excluded: The excluded terms.

    Returns:
        The first excluded term in the order of `TERMS`; None if no term is excluded.
    """
    terms = {term for licence in licences for term in terms_of(licence)}
    return next((term for term in TERMS if term in excluded and term in terms), None)


def shares(licences: Mapping[str, int]) -> dict[Term, int]:
    """Count the images that have each term, from the number of images by licence (or `UNKNOWN`)."""
    counted = Counter[Term]()
    for licence, n in licences.items():
        counted.update(dict.fromkeys(terms_of(None if licence == UNKNOWN else licence), n))
    return {term: counted[term] for term in TERMS}


def _any_of(tokens: list[str]) -> frozenset[Term]:
    """Parse an SPDX expression to its terms. `tokens` is in reverse order, and is consumed."""
    choices = [_all_of(tokens)]
    while tokens and tokens[-1] == "OR":
        tokens.pop()
        choices.append(_all_of(tokens))
    return frozenset.intersection(*choices)


def _all_of(tokens: list[str]) -> frozenset[Term]:
    together = _operand(tokens)
    while tokens and tokens[-1] == "AND":
        tokens.pop()
        together |= _operand(tokens)
    return together


def _operand(tokens: list[str]) -> frozenset[Term]:
    token = tokens.pop()
    if token == "(":
        inner = _any_of(tokens)
        tokens.pop()
        return inner
    if tokens and tokens[-1] == "WITH":
        del tokens[-2:]
    if token == RESERVED:
        return frozenset({"ND", "NC"})
    holds: dict[Term, bool] = {
        "ND": re.search(r"-ND\b", token) is not None,
        "NC": re.search(r"-NC\b|(?i:noncommercial)", token) is not None,
        "share-alike": _COPYLEFT.match(token) is not None,
    }
    return frozenset(term for term, has in holds.items() if has)
