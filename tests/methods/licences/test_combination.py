"""The licence of a set follows from its parts by the table, or their contradiction is named."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.licences.combination import SetLicence, kind_of, licence_of_set
from methods.licences.reading import PUBLIC_DOMAIN, RESERVED
from methods.licences.terms import reason

NAMES = (
    *("CC0-1.0", PUBLIC_DOMAIN, "CC-BY-2.0", "CC-BY-4.0", "Apache-2.0", "CC-BY-SA-3.0"),
    *("CC-BY-NC-2.0", "CC-BY-NC-SA-4.0", "CC-BY-ND-4.0", "CC-BY-NC-ND-3.0", "GFDL-1.2-only"),
    *("CC-BY-SA-4.0 OR GFDL-1.2-only", "(CC-BY-4.0 OR MIT) AND CC-BY-SA-2.0", RESERVED, None),
)


@pytest.mark.parametrize(
    ("parts", "licence"),
    [
        ([PUBLIC_DOMAIN, "CC0-1.0"], "CC0-1.0"),
        (["CC0-1.0", "CC-BY-2.0"], "CC-BY-4.0"),
        (["CC-BY-2.0", "CC-BY-SA-3.0", "CC0-1.0", "MIT"], "CC-BY-SA-4.0"),
        (["CC-BY-2.0", "CC-BY-NC-2.0"], "CC-BY-NC-4.0"),
        (["CC-BY-NC-2.0", "CC-BY-NC-SA-4.0"], "CC-BY-NC-SA-4.0"),
        (["CC-BY-2.0", "CC-BY-ND-4.0"], "CC-BY-ND-4.0"),
        (["CC-BY-NC-2.0", "CC-BY-ND-4.0"], "CC-BY-NC-ND-4.0"),
        (["Apache-2.0"], "Apache-2.0"),
        (["CC-BY-SA-2.0"], "CC-BY-SA-2.0"),
        (["CC-BY-2.0", "GFDL-1.2-only"], "GFDL-1.2-only"),
        # Of a choice the part that asks for less is taken; of parts together each one counts.
        (["CC-BY-SA-3.0 OR GFDL-1.2-only", "CC-BY-4.0"], "CC-BY-SA-4.0"),
        (["CC-BY-3.0 OR CC-BY-NC-3.0"], "CC-BY-3.0"),
        (["CC-BY-3.0 AND CC-BY-SA-3.0"], "CC-BY-SA-4.0"),
    ],
)
def test_the_table(parts, licence):
    assert licence_of_set(dict.fromkeys(parts, 1)) == SetLicence(licence)


SA, NC, ND, GFDL = "CC-BY-SA-4.0", "CC-BY-NC-2.0", "CC-BY-ND-4.0", "GFDL-1.2-only"


@pytest.mark.parametrize(
    ("parts", "conflict", "leave_out"),
    [
        ({SA: 5, NC: 2}, (SA, NC), ("NC",)),
        ({SA: 2, NC: 5}, (NC, SA), ("share-alike",)),
        ({SA: 5, ND: 2}, (SA, ND), ("ND",)),
        ({RESERVED: 1, "CC-BY-4.0": 5}, ("CC-BY-4.0", RESERVED), ("ND",)),
        ({RESERVED: 1}, (RESERVED, RESERVED), ("ND",)),
        ({GFDL: 1, SA: 5}, (SA, GFDL), ("share-alike",)),
        ({SA: 5, NC: 2, ND: 1}, (SA, NC), ("ND", "NC")),
    ],
)
def test_a_contradiction_and_what_ends_it(parts, conflict, leave_out):
    assert licence_of_set(dict(parts)) == SetLicence(None, 0, conflict, leave_out)


@given(st.dictionaries(st.sampled_from(NAMES), st.integers(1, 9)))
def test_what_is_said_to_end_a_contradiction_ends_it(parts):
    found = licence_of_set(parts)
    if found.conflict:
        kept = {one: n for one, n in parts.items() if not reason([one], found.leave_out)}
        assert not licence_of_set(kept).conflict
    elif found.licence:
        assert licence_of_set({**parts, None: 1}) == SetLicence(None, 1)
        assert kind_of(found.licence)
