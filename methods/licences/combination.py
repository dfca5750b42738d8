"""Licence compatibility: finds one licence for a set of images that have different licences."""

import re
from collections import Counter
from collections.abc import Collection, Mapping
from itertools import combinations
from typing import NamedTuple

from methods.licences.reading import PUBLIC_DOMAIN, RESERVED, licence_name
from methods.licences.terms import Term, fold_expression, terms_of

PUBLIC, BY, SA = "public domain", "attribution", "share-alike"
NC, NC_SA, ND, NC_ND = "NC", "NC share-alike", "ND", "NC ND"
COPYLEFT, ALL_RIGHTS = "other copyleft", "all rights reserved"
KINDS = (PUBLIC, BY, SA, NC, NC_SA, COPYLEFT, ND, NC_ND, ALL_RIGHTS)
"""Kinds of licences, the most permissive first. If an image offers a choice of licences (OR), the first
kind in this list is chosen. Licences without the terms of `terms.py` (MIT, Apache, a wiki's own name)
count as `BY`."""

SETS: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset({PUBLIC}), "CC0-1.0"),
    (frozenset({PUBLIC, BY}), "CC-BY-4.0"),
    (frozenset({PUBLIC, BY, SA}), "CC-BY-SA-4.0"),
    (frozenset({PUBLIC, BY, NC}), "CC-BY-NC-4.0"),
    (frozenset({PUBLIC, BY, NC, NC_SA}), "CC-BY-NC-SA-4.0"),
    (frozenset({PUBLIC, BY, ND}), "CC-BY-ND-4.0"),
    (frozenset({PUBLIC, BY, NC, ND, NC_ND}), "CC-BY-NC-ND-4.0"),
)
"""Kinds that can be combined, and the licence of the combination. The first row that has all kinds of a
set gives its licence. If no row has all of them, they contradict each other: share-alike allows what NC
and ND forbid, and each of two copyleft licences demands to be the only one."""

MOST_CHOICES = 100
"""Of at most this many choices of an SPDX expression all are compared."""
_CONTRADICTING: tuple[Term, ...] = ("ND", "NC", "share-alike")
_COMPATIBLE = re.compile(r"(?:LicenseRef-)?(?:CC-BY-SA|CC-SA|LAL)\b")
_PUBLIC = re.compile(
    rf"CC0-1\.0|CC-PDM-1\.0|CC-PDDC|Unlicense|PDDL-1\.0|WTFPL|{re.escape(PUBLIC_DOMAIN)}"
)


class SetLicence(NamedTuple):
    """The licence of a set.

    Attributes:
        licence: SPDX name; None if the licence of an image is unknown, or licences contradict each
            other.
        n_unknown: The number of images without a known licence.
        conflict: Two licences that contradict each other.
        leave_out: The terms whose images must be removed to resolve the contradiction.
    """

    licence: str | None
    n_unknown: int = 0
    conflict: tuple[str, str] | None = None
    leave_out: tuple[Term, ...] = ()


def licence_of_set(parts: Mapping[str | None, int]) -> SetLicence:
    """Find the licence of a set from the number of its images by licence.

    The keys of `parts` are SPDX expressions, or None for an unknown licence.
    """
    n_unknown = sum(n for licence, n in parts.items() if "unknown" in terms_of(licence))
    chosen: Counter[str] = Counter()
    for licence, n in parts.items():
        for name in _chosen(licence):
            chosen[name] += n
    if not chosen:
        return SetLicence(None, n_unknown)
    licence = _covering(chosen)
    if licence is None:
        return SetLicence(None, n_unknown, _contradicting(chosen), _leave_out(chosen))
    return SetLicence(None if n_unknown else licence, n_unknown)


def _covering(names: Collection[str]) -> str | None:
    """The licence of a set with images under all these licences; None if they contradict each other."""
    kinds = {kind_of(name) for name in names}
    if ALL_RIGHTS in kinds:
        return None
    if len(names) == 1:
        return next(iter(names))
    copylefts = [name for name in names if kind_of(name) == COPYLEFT]
    if len(copylefts) == 1 and kinds <= {PUBLIC, BY, COPYLEFT}:
        return copylefts[0]
    return next((name for allowed, name in SETS if kinds <= allowed), None)


def kind_of(name: str) -> str:
    """Return the kind of one licence by its SPDX name: one of `KINDS`."""
    if name == RESERVED:
        return ALL_RIGHTS
    if _PUBLIC.fullmatch(name):
        return PUBLIC
    terms = terms_of(name)
    if "ND" in terms:
        return NC_ND if "NC" in terms else ND
    if "NC" in terms:
        return NC_SA if "share-alike" in terms else NC
    if "share-alike" in terms:
        return SA if _COMPATIBLE.match(name) else COPYLEFT
    return BY


def _chosen(licence: str | None) -> frozenset[str]:
    """The licences that are chosen from an SPDX expression; empty for an unknown licence."""
    if not licence:
        return frozenset()
    expression = licence_name(licence)
    if expression is None:
        return frozenset({licence})

    def together(
        choices: list[frozenset[str]], others: list[frozenset[str]]
    ) -> list[frozenset[str]]:
        # The choices of an expression may be exponentially many: then each is made for itself.
        if len(choices) * len(others) > MOST_CHOICES:
            choices, others = [_most_permissive(choices)], [_most_permissive(others)]
        return [names | more for names in choices for more in others]

    return _most_permissive(
        fold_expression(
            expression,
            lambda name: [frozenset({name})],
            lambda choices, others: choices + others,
            together,
        )
    )


def _most_permissive(choices: list[frozenset[str]]) -> frozenset[str]:
    return min(choices, key=lambda names: (max(map(_place, names)), sorted(names)))


def _place(name: str) -> int:
    return KINDS.index(kind_of(name))


def _contradicting(chosen: Mapping[str, int]) -> tuple[str, str]:
    """The most frequent two licences that contradict each other.

    A licence that allows nothing (all rights reserved) is returned twice.
    """
    ordered = sorted(chosen, key=lambda name: (-chosen[name], name))
    pairs = [(name, other) for name in ordered for other in ordered]
    # If three licences contradict each other only together, name the most and the least frequent one.
    return next((pair for pair in pairs if not _covering({*pair})), (ordered[0], ordered[-1]))


def _leave_out(chosen: Mapping[str, int]) -> tuple[Term, ...]:
    """The terms whose removal resolves the contradiction and leaves out the fewest images."""
    names_of = {
        terms: {name: n for name, n in chosen.items() if not terms_of(name) & {*terms}}
        for n_terms in (1, 2, 3)
        for terms in combinations(_CONTRADICTING, n_terms)
    }
    enough = [terms for terms, names in names_of.items() if not names or _covering(names)]
    return max(enough, key=lambda terms: (sum(names_of[terms].values()), -len(terms)))
