"""Licences read out of texts: wordings of many languages, and texts that name none."""

import csv
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.licenses import canonicalize_license_expression

from methods.licences.reading import licence_name, read_licence

REAL = Path(__file__).with_name("real_texts.tsv")

WORDINGS = {
    "CC-BY-SA-3.0": [
        "CC BY-SA 3.0",
        "cc-by-sa-3.0",
        "CC-BY-SA-3.0,2.5,2.0,1.0",
        "(CC) BY-SA 3.0 Unported",
        "Creative Commons Attribution-Share Alike 3.0 Unported",
        "licensed under the Creative Commons Attribution-ShareAlike License, version 3.0",
        "Creative-Commons-Lizenz „Namensnennung – Weitergabe unter gleichen Bedingungen 3.0 Unported“",
        "Creative Commons Attribution – Partage dans les mêmes conditions 3.0",
        "Creative Commons Reconocimiento-CompartirIgual 3.0",
        "Creative Commons Attribuzione - Condividi allo stesso modo 3.0 Unported",
        "Creative Commons Naamsvermelding-GelijkDelen 3.0",
        "Creative Commons: uznanie autorstwa, na tych samych warunkach 3.0",
        "Creative Commons С указанием авторства — С сохранением условий 3.0",
        "クリエイティブ・コモンズ 表示-継承 3.0",
    ],
    "CC-BY-SA-3.0-DE": [
        "CC BY-SA 3.0 de",
        "https://creativecommons.org/licenses/by-sa/3.0/de/legalcode",
    ],
    "LicenseRef-CC-BY-SA-3.0-ES": [
        "Creative Commons Attribution-Share Alike 3.0 Spain",
        "cc-by-sa-3.0-es",
    ],
    "CC-BY-4.0": [
        "CC BY 4.0",
        "This work is licensed under a Creative Commons Attribution 4.0 International License.",
        "Creative Commons Namensnennung 4.0",
    ],
    "LicenseRef-CC-BY": ["Licence: CC BY", "Creative Commons Attribution licence"],
    "LicenseRef-CC-BY-NC-ND": [
        "CC BY-ND-NC",
        "Creative Commons Attribution-NonCommercial-NoDerivs",
        "Creative Commons Namensnennung-Nicht kommerziell-Keine Bearbeitung",
        "Creative Commons Attribution - Pas d'utilisation commerciale - Pas de modification",
        "クリエイティブ・コモンズ 表示-非営利-改変禁止",
    ],
    "CC-BY-NC-SA-2.0": ["cc by nc sa 2.0", "Attribution-NonCommercial-ShareAlike 2.0 Generic"],
    "CC0-1.0": [
        "CC0",
        "CC0 1.0 Universal Public Domain Dedication",
        "Creative Commons Zero",
    ],
    "CC-PDM-1.0": ["Public Domain Mark https://creativecommons.org/publicdomain/mark/1.0/"],
    "LicenseRef-Public-Domain": [
        "gemeinfrei",
        "Dominio público",
        "Общественное достояние",
        "パブリックドメイン",
        "PD-self",
    ],
    "LicenseRef-GFDL": ["GFDL", "GNU-Lizenz für freie Dokumentation"],
    "GFDL-1.2-or-later": [
        "GFDL 1.2 or later",
    ],
    "GFDL-1.2-or-later AND CC-BY-SA-3.0": ["GFDL 1.2+ and CC BY-SA 3.0", "GFDL-1.2+, CC-BY-SA-3.0"],
    "GFDL-1.2-or-later OR CC-BY-SA-3.0": [
        "GFDL 1.2+ or CC BY-SA 3.0",
        "GFDL 1.2+ oder CC-BY-SA-3.0",
    ],
    "CC-BY-SA-3.0 AND LicenseRef-GFDL AND MIT": ["CC BY-SA 3.0 or GFDL; MIT license"],
    "GPL-2.0-only": ["Licence: GNU GPL v2.0.", "GPL-2", "GNU General Public License, version 2"],
    "GPL-2.0-or-later": [
        "GPL-2+",
        "the GNU General Public License as published by the Free Software Foundation; either version 2 "
        "of the License, or (at your option) any later version",
    ],
    "LGPL-2.1-or-later": ["LGPL-2.1+", "GNU Lesser General Public License v2.1 or later"],
    "LAL-1.3": ["Free Art License 1.3", "Licence Art Libre 1.3"],
    "LicenseRef-LAL": ["Free Art License", "Lizenz Freie Kunst"],
    "OGL-UK-3.0": ["Open Government Licence v3.0"],
    "Apache-2.0": ["Licence: Apache-2.0", "Apache License, Version 2.0"],
    "MIT": ["MIT License"],
    "MIT OR Apache-2.0": ["SPDX-License-Identifier: MIT OR Apache-2.0"],
    "LicenseRef-All-Rights-Reserved": [
        "© 1999 Ada Lovelace. All rights reserved.",
        "Alle Rechte vorbehalten",
        "版权所有",
        "Fair use",
    ],
    # That all rights are reserved says nothing beside a licence.
    "CC-BY-2.0": ["All rights reserved. Licence: CC BY 2.0"],
}
NONE = [
    "",
    "Own work",
    "English: A barn owl at dusk.",
    "© 2012 Georg Zotti",
    "Credit: ESO/Digitized Sky Survey 2. Source: https://www.eso.org/public/images/eso0919c/",
    "The Massachusetts Institute of Technology (MIT) in 1903",
    "An Apache helicopter",
    "Licensed under Creative Commons",
    "This file is not in the public domain.",
    "cc: Byron and others",
    "Licence: fair",
]


@pytest.mark.parametrize(("licence", "texts"), [*WORDINGS.items(), (None, NONE)])
def test_a_licence_is_known_by_its_wordings_and_other_texts_name_none(licence, texts):
    assert {text: read_licence(text) for text in texts} == dict.fromkeys(texts, licence)


def test_a_name_by_itself_is_any_expression_or_wording():
    names = {
        "cc-by-4.0": "CC-BY-4.0",
        "MIT or (Apache-2.0 and CC0-1.0)": "MIT OR (Apache-2.0 AND CC0-1.0)",
        "LicenseRef-Acme": "LicenseRef-Acme",
        "CC BY-SA 4.0": "CC-BY-SA-4.0",
        "Copyrighted free use": None,
        "": None,
    }
    assert {name: licence_name(name) for name in names} == names


@given(st.text(st.sampled_from("cbyнсa-0134./ \tñ()+:"), max_size=60) | st.text(max_size=200))
def test_whatever_is_read_is_a_valid_expression_that_is_read_again(text):
    found = read_licence(text)
    assert found is None or canonicalize_license_expression(found) == found == licence_name(found)


def test_real_texts_are_read_as_they_were_labelled_by_hand():
    """Precision and recall over `real_texts.tsv`; the guide has the figures of more texts."""
    with REAL.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    counted = Counter[str]()
    for row in rows:
        found = read_licence(row["text"])
        counted["right"] += bool(found) and found == row["licence"]
        counted["read"] += bool(found)
        counted["there"] += bool(row["licence"])
    assert counted["right"] / counted["read"] >= 0.95
    assert counted["right"] / counted["there"] >= 0.95
    assert len(rows) > 100
