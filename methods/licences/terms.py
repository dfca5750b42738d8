"""Licence terms (ND, NC, share-alike), and filtering of items by the terms of their images."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Literal, TypeVar, get_args

from methods.licences.reading import RESERVED, licence_name

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
    expression = licence_name(licence)
    if expression is None:
        return frozenset()
    return fold_expression(expression, _terms_of_name, frozenset.intersection, frozenset.union)


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


Folded = TypeVar("Folded")


def fold_expression(
    expression: str,
    of_name: Callable[[str], Folded],
    either: Callable[[Folded, Folded], Folded],
    together: Callable[[Folded, Folded], Folded],
) -> Folded:
    """Evaluate a valid SPDX expression. AND binds before OR; exceptions (WITH) are ignored.

    Args:
        expression: The expression.
        of_name: Makes the value of a licence.
        either: Joins the values of two licences of which one may be chosen (OR).
        together: Joins the values of two licences that both count (AND).
    """
    tokens = re.findall(r"[()]|[^\s()]+", expression)[::-1]

    def choice() -> Folded:
        value = conjunction()
        while tokens and tokens[-1] == "OR":
            tokens.pop()
            value = either(value, conjunction())
        return value

    def conjunction() -> Folded:
        value = operand()
        while tokens and tokens[-1] == "AND":
            tokens.pop()
            value = together(value, operand())
        return value

    def operand() -> Folded:
        token = tokens.pop()
        if token == "(":
            inner = choice()
            tokens.pop()
            return inner
        if tokens and tokens[-1] == "WITH":
            del tokens[-2:]
        return of_name(token)

    return choice()


def _terms_of_name(name: str) -> frozenset[Term]:
    if name == RESERVED:
        return frozenset({"ND", "NC"})
    holds: dict[Term, bool] = {
        "ND": re.search(r"-ND\b", name) is not None,
        "NC": re.search(r"-NC\b|(?i:noncommercial)", name) is not None,
        "share-alike": _COPYLEFT.match(name) is not None,
    }
    return frozenset(term for term, has in holds.items() if has)
