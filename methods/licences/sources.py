"""Which source says under which licence a picture is.

What belongs here: the order of trust, and the columns that follow from it.
"""

import re
from typing import NamedTuple

from methods.licences.reading import licence_name, read_licence


class Stated(NamedTuple):
    """What a wiki, or the corpus' settings, say of a picture; None is what they do not say."""

    name: str | None = None
    url: str | None = None
    artist: str | None = None


def licence_of(
    page: Stated, attribution: str | None, rights: str | None, corpus: Stated
) -> dict[str, str | None]:
    """The columns licence, licence_url, artist and licence_source of a picture.

    The first of these that names a licence counts: the field for it on the picture's page in a wiki,
    the text of the attribution, the rights that the file states, the settings of the corpus.
    """
    named = {
        "page": _named_by_wiki(page),
        "attribution": read_licence(attribution or ""),
        "file": read_licence(rights or ""),
        "corpus": licence_name(corpus.name or ""),
    }
    source, licence = next(((by, name) for by, name in named.items() if name), (None, None))
    url = page.url if source == "page" else None
    # What the settings say goes with their licence, whoever else names it.
    known = corpus if licence and licence == named["corpus"] else Stated()
    return {
        "licence": licence,
        "licence_url": url or known.url or address_of(licence),
        "artist": page.artist or known.artist,
        "licence_source": source,
    }


def _named_by_wiki(page: Stated) -> str | None:
    """A wiki has licences of its own: a name that nobody else knows stays as it is."""
    own = re.sub(r"[^A-Za-z0-9.]+", "-", page.name or "").strip("-.")[:60]
    found = licence_name(page.name or "") or read_licence(page.url or "")
    return found or (f"LicenseRef-{own}" if own else None)


def address_of(licence: str | None) -> str | None:
    """The web page of one licence of SPDX's list; None for others, and for several."""
    if licence is None or licence.startswith("LicenseRef-") or " " in licence:
        return None
    if found := re.fullmatch(r"CC-(BY[A-Z-]*)-(\d\.\d)(?:-([A-Z]+))?", licence):
        kind, version, country = (part and part.lower() for part in found.groups())
        address = f"https://creativecommons.org/licenses/{kind}/{version}/"
        return f"{address}{country}/" if country else address
    if licence == "CC0-1.0":
        return "https://creativecommons.org/publicdomain/zero/1.0/"
    return f"https://spdx.org/licenses/{licence}.html"
