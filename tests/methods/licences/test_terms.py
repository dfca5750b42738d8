"""What licences forbid and demand, and which source says a picture's licence."""

import pytest

from methods.licences.reading import StatedLicence, licence_of
from methods.licences.terms import BY_DEFAULT, TERMS, reason, shares, terms_of


@pytest.mark.parametrize(
    ("licence", "terms"),
    [
        (None, {"unknown"}),
        ("", {"unknown"}),
        ("CC0-1.0", set()),
        ("CC-BY-4.0", set()),
        ("CC-BY-SA-3.0-DE", {"share-alike"}),
        ("CC-BY-ND-4.0", {"ND"}),
        ("LicenseRef-CC-BY-NC-ND", {"NC", "ND"}),
        ("CC-BY-NC-SA-2.0", {"NC", "share-alike"}),
        ("PolyForm-Noncommercial-1.0.0", {"NC"}),
        ("LicenseRef-Public-Domain", set()),
        ("LicenseRef-All-Rights-Reserved", {"ND", "NC"}),
        ("LicenseRef-GFDL", {"share-alike"}),
        ("GPL-2.0-or-later WITH Font-exception-2.0", {"share-alike"}),
        ("LicenseRef-Attribution", set()),
        # All of several, or one that may be chosen; AND binds before OR.
        ("CC-BY-4.0 AND CC-BY-NC-4.0", {"NC"}),
        ("CC-BY-4.0 OR CC-BY-NC-4.0", set()),
        ("CC-BY-NC-ND-4.0 OR CC-BY-NC-4.0 AND CC-BY-SA-4.0", {"NC"}),
        ("(CC-BY-NC-ND-4.0 OR CC-BY-4.0) AND CC-BY-SA-4.0", {"share-alike"}),
        # As earlier versions kept names.
        ("CC BY-NC-SA 4.0", {"NC", "share-alike"}),
        ("whatever", set()),
    ],
)
def test_terms_of_licences(licence, terms):
    assert terms_of(licence) == terms


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
