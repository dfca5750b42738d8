"""What licences forbid and demand, which source says a picture's licence, and the licence of a set."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.licences.combination import SetLicence, kind_of, licence_of_set
from methods.licences.reading import PUBLIC_DOMAIN, RESERVED, StatedLicence, licence_of
from methods.licences.terms import BY_DEFAULT, TERMS, reason, shares, terms_of


def test_terms_of_licences() -> None:
    expected = {
        None: {"unknown"},
        "CC0-1.0": set(),
        "LicenseRef-CC-BY-NC-ND": {"NC", "ND"},
        "PolyForm-Noncommercial-1.0.0": {"NC"},
        "LicenseRef-All-Rights-Reserved": {"ND", "NC"},
        "GPL-2.0-or-later WITH Font-exception-2.0": {"share-alike"},
        # All of several, or one that may be chosen; AND binds before OR.
        "CC-BY-4.0 AND CC-BY-NC-4.0": {"NC"},
        "CC-BY-4.0 OR CC-BY-NC-4.0": set(),
        "CC-BY-NC-ND-4.0 OR CC-BY-NC-4.0 AND CC-BY-SA-4.0": {"NC"},
        "(CC-BY-NC-ND-4.0 OR CC-BY-4.0) AND CC-BY-SA-4.0": {"share-alike"},
        # As earlier versions kept names.
        "CC BY-NC-SA 4.0": {"NC", "share-alike"},
        "whatever": set(),
    }
    assert {licence: terms_of(licence) for licence in expected} == expected


def test_an_item_is_left_out_for_the_first_term_of_any_picture():
    licences = ["CC-BY-NC-ND-4.0", None, "CC0-1.0"]
    assert reason(licences, TERMS) == "unknown"
    assert reason(licences, ["NC", "ND"]) == "ND"
    assert reason(licences, ["share-alike"]) is None
    assert reason([], TERMS) is None
    # By default a picture that may not be changed is no part of what a model is trained on.
    for kind, why in (("instruction", "ND"), ("benchmark", None)):
        assert reason(["CC-BY-ND-4.0"], BY_DEFAULT[kind]) == why


def test_shares_count_pictures_by_term():
    counted = {"CC-BY-NC-ND-4.0": 2, "CC-BY-SA-4.0": 3, "CC0-1.0": 4, "unknown": 1}
    assert shares(counted) == {"unknown": 1, "ND": 2, "NC": 2, "share-alike": 3}


PAGE = StatedLicence("CC BY-SA 3.0 de", "https://example.org/deed", "Ada")
CORPUS = StatedLicence("Apache-2.0", "https://example.org/apache", "Acme")
BY_4 = "https://creativecommons.org/licenses/by/4.0/"

SILENT, ADA = StatedLicence(), StatedLicence(artist="Ada")
ZERO = "https://creativecommons.org/publicdomain/zero/1.0/"
SA_DE = ("CC-BY-SA-3.0-DE", "https://creativecommons.org/licenses/by-sa/3.0/de/", None)
OGL = ("OGL-UK-3.0", "https://spdx.org/licenses/OGL-UK-3.0.html", None)
APACHE = ("Apache-2.0", CORPUS.url, "Acme")


@pytest.mark.parametrize(
    ("page", "attribution", "rights", "corpus", "found"),
    [
        # The first source that names a licence counts.
        (PAGE, "CC BY 4.0", "CC0", CORPUS, ("CC-BY-SA-3.0-DE", PAGE.url, "Ada", "page")),
        (SILENT, "CC BY 4.0", "CC0", CORPUS, ("CC-BY-4.0", BY_4, None, "attribution")),
        (ADA, "By Ada", "CC0", CORPUS, ("CC0-1.0", ZERO, "Ada", "file")),
        (SILENT, None, None, CORPUS, (*APACHE, "corpus")),
        (SILENT, "By Ada", "© Ada", SILENT, (None, None, None, None)),
        # What the settings know goes with their licence, whoever names it.
        (SILENT, "Licence: Apache-2.0", None, CORPUS, (*APACHE, "attribution")),
        # A wiki's address counts where its name says nothing, and a name of its own stays.
        (StatedLicence("see below", BY_4), None, None, CORPUS, ("CC-BY-4.0", BY_4, None, "page")),
        (
            *(StatedLicence("Copyrighted free use"), None, None, CORPUS),
            ("LicenseRef-Copyrighted-free-use", None, None, "page"),
        ),
        (SILENT, "CC BY-SA 3.0 de", None, SILENT, (*SA_DE, "attribution")),
        (SILENT, "OGL v3: Open Government Licence v3.0", None, SILENT, (*OGL, "attribution")),
    ],
)
def test_the_licence_of_a_picture(page, attribution, rights, corpus, found):
    columns = ("licence", "licence_url", "artist", "licence_source")
    expected = dict(zip(columns, found, strict=True))
    assert licence_of(page, attribution, rights, corpus) == expected


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
        (["CC-BY-SA-2.0"], "CC-BY-SA-2.0"),
        (["CC-BY-2.0", "GFDL-1.2-only"], "GFDL-1.2-only"),
        # Of a choice the part that asks for less is taken; of parts together each one counts.
        (["CC-BY-SA-3.0 OR GFDL-1.2-only", "CC-BY-4.0"], "CC-BY-SA-4.0"),
        (["CC-BY-SA-3.0 OR (CC-BY-4.0 AND GFDL-1.2-only)", "CC-BY-4.0"], "CC-BY-SA-4.0"),
        (["CC-BY-3.0 AND CC-BY-SA-3.0"], "CC-BY-SA-4.0"),
    ],
)
def test_the_table(parts, licence):
    assert licence_of_set(dict.fromkeys(parts, 1)) == SetLicence(licence)


def test_choices_next_to_each_other_are_made_one_by_one():
    many = " AND ".join(f"(LicenseRef-a{n} OR CC-BY-NC-4.0)" for n in range(100))
    assert licence_of_set({many: 1}) == SetLicence("CC-BY-4.0")
    long = " AND ".join(f"LicenseRef-{n}" for n in range(3_000)) + " OR CC0-1.0" * 3_000
    assert licence_of_set({long: 1}) == SetLicence("CC0-1.0")
    # Few choices are compared together: the first alone would contradict the rest.
    few = "(CC-BY-SA-3.0 OR CC-BY-NC-4.0) AND CC-BY-NC-SA-4.0"
    assert licence_of_set({few: 1}) == SetLicence("CC-BY-NC-SA-4.0")


SA, NC, ND, GFDL = "CC-BY-SA-4.0", "CC-BY-NC-2.0", "CC-BY-ND-4.0", "GFDL-1.2-only"


@pytest.mark.parametrize(
    ("parts", "conflict", "leave_out"),
    [
        ({SA: 5, NC: 2}, (SA, NC), ("NC",)),
        ({SA: 2, NC: 5}, (NC, SA), ("share-alike",)),
        ({SA: 5, ND: 2}, (SA, ND), ("ND",)),
        ({RESERVED: 1, "CC-BY-4.0": 5}, ("CC-BY-4.0", RESERVED), ("ND",)),
        ({GFDL: 1, SA: 5}, (SA, GFDL), ("share-alike",)),
        ({SA: 5, NC: 2, ND: 1}, (SA, NC), ("ND", "NC")),
        # Of equally many the first by name is named first, whatever nothing is known of.
        ({SA: 5, NC: 5, None: 3}, (NC, SA), ("NC",)),
    ],
)
def test_a_contradiction_and_what_ends_it(parts, conflict, leave_out):
    assert licence_of_set(parts) == SetLicence(None, parts.get(None, 0), conflict, leave_out)


@given(st.dictionaries(st.sampled_from(NAMES), st.integers(1, 9)))
def test_what_is_said_to_end_a_contradiction_ends_it(parts):
    found = licence_of_set(parts)
    if found.conflict:
        kept = {one: n for one, n in parts.items() if not reason([one], found.leave_out)}
        assert not licence_of_set(kept).conflict
    elif found.licence:
        assert licence_of_set({**parts, None: 1}) == SetLicence(None, 1)
        assert kind_of(found.licence)
