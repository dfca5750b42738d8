"""What a small wiki answers to `action=query`, in the form of MediaWiki's `formatversion=2`.

It behaves like MediaWiki's
includes/Api/{ApiPageSet,ApiQuery,ApiContinuationManager,ApiQueryImageInfo}.php.
"""

import hashlib
import re
from urllib.parse import quote

from methods.wikimedia import THUMBNAIL_WIDTHS
from tests.resources.wikipedia.mediawiki_content import Content, File, Page

NAMESPACES = {
    "en": {"File": "File", "Category": "Category", "Special": "Special"},
    "de": {"File": "Datei", "Category": "Kategorie", "Special": "Spezial"},
}
NUMBERS = {"File": 6, "Category": 14, "Special": -1}
OTHER_WIKIS = ("fr", "commons", "wikt")
TIMESTAMP = "20260102030405"
NO_TITLE = 'The requested page title contains invalid characters: "%s".'


class QueryError(Exception):
    """An API error: (code, info)."""


def answer(content: Content, language: str, parameters: dict[str, str]) -> dict:
    """The whole answer; raises QueryError."""
    asked = parameters.get("titles", "").split("|") if parameters.get("titles") else []
    if len(asked) > 50:
        raise QueryError(
            "toomanyvalues", 'Too many values supplied for parameter "titles". The limit is 50.'
        )
    return _Query(content, language, parameters, asked).answer()


def page_url(language: str, title: str) -> str:
    return f"https://{language}.wikipedia.org/wiki/{quote(title.replace(' ', '_'))}"


class _Query:
    def __init__(self, content: Content, language: str, parameters: dict, asked: list[str]):
        self.content, self.language, self.parameters = content, language, parameters
        self.own = content.languages[language]
        self.names = NAMESPACES.get(language, NAMESPACES["en"])
        self.query: dict = {}
        self.good: dict[str, Page | File] = {}
        self.missing: dict[str, dict] = {}
        self.entries: list[dict] = []
        if asked:
            self.resolve(asked)

    def answer(self) -> dict:
        done = self.parameters.get("continue", "||").split("||")[1].split("|")
        props = [p for p in self.parameters.get("prop", "").split("|") if p and p not in done]
        further: dict = {}
        finished = [p for p in done if p]
        for name in props:
            more = getattr(self, name)()
            further |= more
            if not more:
                finished.append(name)
        result: dict = {"warnings": {"main": {"warnings": "Something here will change one day."}}}
        if self.parameters.get("list") == "categorymembers":
            further |= self.members()
            result["batchcomplete"] = True
            if further:
                result["continue"] = {**further, "continue": "-||"}
        elif further:
            result["continue"] = {**further, "continue": "||" + "|".join(finished)}
        else:
            result["batchcomplete"] = True
        if self.entries:
            self.query["pages"] = self.entries
        return result | ({"query": self.query} if self.query else {})

    def resolve(self, asked: list[str]) -> None:
        """Normalization, redirects, and an entry for each page that comes of them."""
        pending, normalized, redirects, interwiki = [], [], [], []
        others: dict[str, dict] = {}
        for raw in dict.fromkeys(asked):
            title = self.title(raw)
            if title is None:
                others[raw] = {"title": raw, "invalidreason": NO_TITLE % raw, "invalid": True}
                continue
            if title != raw:
                normalized.append({"fromencoded": False, "from": raw, "to": title})
            pending.append(title)
        seen = set()
        while pending:
            title = pending.pop(0)
            if title in seen:
                continue
            seen.add(title)
            found = self.lookup(title)
            if (prefix := title.partition(":")[0]) in OTHER_WIKIS:
                interwiki.append({"title": title, "iw": prefix})
            elif title.startswith(f"{self.names['Special']}:"):
                others[title] = {"ns": -1, "title": title, "special": True}
            elif isinstance(found, Page) and found.redirect_to and "redirects" in self.parameters:
                target, _, fragment = found.redirect_to.partition("#")
                redirect = {"from": title, "to": target}
                redirects.append(redirect | ({"tofragment": fragment} if fragment else {}))
                pending.append(target)
            elif found is None or (isinstance(found, File) and found.shared):
                known = {} if found is None else {"known": True}
                entry = {"ns": self.namespace(title), "title": title, "missing": True}
                self.missing[title] = entry | known
            else:
                self.good[title] = found
        lists = {"normalized": normalized, "interwiki": interwiki, "redirects": redirects}
        self.query |= {name: items for name, items in lists.items() if items}
        self.good = dict(sorted(self.good.items(), key=lambda item: item[1].page_id))
        self.entries = [*self.missing.values(), *others.values()]
        for title, page in self.good.items():
            ns = self.namespace(title)
            self.entries.append({"pageid": page.page_id, "ns": ns, "title": title})

    def title(self, raw: str) -> str | None:
        """The title as the wiki writes it, None for what is none."""
        text = " ".join(raw.partition("#")[0].replace("_", " ").split())
        if not text or re.search(r"[<>\[\]{}|]", text):
            return None
        prefix, colon, rest = text.partition(":")
        if colon and prefix.lower() in OTHER_WIKIS:
            return f"{prefix.lower()}:{rest.strip()}"
        for canonical, local in self.names.items():
            if colon and prefix.lower() in (canonical.lower(), local.lower()):
                name = rest.strip()
                return f"{local}:{name[:1].upper()}{name[1:]}"
        return text[0].upper() + text[1:]

    def namespace(self, title: str) -> int:
        prefix = title.partition(":")[0]
        return next((NUMBERS[c] for c, local in self.names.items() if local == prefix), 0)

    def lookup(self, title: str) -> Page | File | None:
        if self.namespace(title) == 6:
            return self.content.files.get("File:" + title.partition(":")[2])
        return self.own.get(title)

    def entry(self, title: str) -> dict:
        return next(entry for entry in self.entries if entry["title"] == title)

    def info(self) -> dict:
        for title in [*self.good, *self.missing]:
            entry, page = self.entry(title), self.good.get(title)
            entry |= {"contentmodel": "wikitext", "pagelanguage": self.language}
            if page is not None:
                revision = page.revision if isinstance(page, Page) else page.page_id
                entry |= {"touched": "2026-01-02T03:04:05Z", "lastrevid": revision, "length": 9}
            if "url" in self.parameters.get("inprop", ""):
                url = page_url(self.language, title)
                entry |= {"fullurl": url, "editurl": f"{url}?action=edit", "canonicalurl": url}
        return {}

    def categories(self) -> dict:
        rows = [
            (page.page_id, name, title)
            for title, page in self.good.items()
            if isinstance(page, Page)
            for name in sorted(page.categories)
            if name not in self.content.hidden or self.parameters.get("clshow") != "!hidden"
        ]
        first, key = self.parameters.get("clcontinue", "0|").split("|")
        rows = [row for row in rows if (row[0], row[1]) >= (int(first), key.replace("_", " "))]
        limit = self.limit("cllimit", self.content.limits.categories)
        for _, name, title in rows[:limit]:
            category = {"ns": 14, "title": f"{self.names['Category']}:{name}"}
            self.entry(title).setdefault("categories", []).append(category)
        rest = rows[limit:]
        return {"clcontinue": f"{rest[0][0]}|{rest[0][1].replace(' ', '_')}"} if rest else {}

    def langlinks(self) -> dict:
        for title, page in self.good.items():
            links = sorted(page.versions.items()) if isinstance(page, Page) else []
            if links:
                self.entry(title)["langlinks"] = [
                    {"lang": language, "title": version, "url": page_url(language, version)}
                    for language, version in links
                ]
        return {}

    def extracts(self) -> dict:
        start = int(self.parameters.get("excontinue", 0))
        limit = self.limit("exlimit", self.content.limits.extracts)
        if "exintro" not in self.parameters:
            limit = 1
        for title, page in list(self.good.items())[start : start + limit]:
            self.entry(title)["extract"] = page.text if isinstance(page, Page) else ""
        following = start + limit
        return {"excontinue": following} if following < len(self.good) else {}

    def imageinfo(self) -> dict:
        titles = sorted(t for t in [*self.good, *self.missing] if self.namespace(t) == 6)
        first = self.parameters.get("iicontinue", "|").split("|")[0].replace("_", " ")
        titles = [title for title in titles if title.partition(":")[2] >= first]
        limit = self.content.limits.imageinfo
        for title in titles[:limit]:
            file, entry = self.lookup(title), self.entry(title)
            repository = "" if file is None else "shared" if file.shared else "local"
            entry["imagerepository"] = repository
            if isinstance(file, File):
                entry["imageinfo"] = [self.file_info(title.partition(":")[2], file)]
        rest = titles[limit:]
        if not rest:
            return {}
        return {"iicontinue": f"{rest[0].partition(':')[2].replace(' ', '_')}|{TIMESTAMP}"}

    def file_info(self, name: str, file: File) -> dict:
        if self.parameters["iiprop"] == "sha1":
            return {"sha1": hashlib.sha1(file.data).hexdigest()}
        width = int(self.parameters["iiurlwidth"])
        step = next(step for step in THUMBNAIL_WIDTHS if step >= width)
        key = name.replace(" ", "_")
        digest = hashlib.md5(key.encode()).hexdigest()
        site = f"{self.content.upload}/wikipedia/{'commons' if file.shared else self.language}"
        place = f"{digest[0]}/{digest[:2]}/{quote(key)}"
        tag = f"?utm_source={self.language}.wikipedia.org&utm_campaign=imageinfo&utm_content="
        original, thumb = f"{site}/{place}", f"{site}/{place}{tag}thumbnail_unscaled"
        if file.mime == "image/svg+xml" or file.width > step:
            ending = ".png" if file.mime == "image/svg+xml" else ""
            thumb = f"{site}/thumb/{place}/{step}px-{quote(key)}{ending}{tag}thumbnail"
        wanted = self.parameters["iiextmetadatafilter"].split("|")
        about = {
            name: {"value": value, "source": "commons-desc-page", "hidden": ""}
            for name, value in file.about.items()
            if name in wanted
        }
        return {
            "size": len(file.data),
            "width": file.width,
            "height": file.height,
            "thumburl": thumb,
            "thumbwidth": width,
            "thumbheight": width * file.height // file.width if file.width else 0,
            "url": f"{original}{tag}original",
            "descriptionurl": f"https://commons.wikimedia.org/wiki/File:{quote(key)}",
            "sha1": hashlib.sha1(file.data).hexdigest(),
            "extmetadata": about or [],
            "mime": file.mime,
        }

    def members(self) -> dict:
        name = self.parameters["cmtitle"].partition(":")[2].replace("_", " ")
        found = [
            {"ns": self.namespace(title), "title": title}
            for title, page in sorted(self.own.items())
            if name in page.categories
            and str(self.namespace(title)) in self.parameters.get("cmnamespace", "0|6|14")
        ]
        start = int(self.parameters.get("cmcontinue", 0))
        following = start + self.limit("cmlimit", self.content.limits.members)
        self.query["categorymembers"] = found[start:following]
        return {"cmcontinue": str(following)} if following < len(found) else {}

    def limit(self, name: str, most: int) -> int:
        value = self.parameters.get(name, "10")
        return most if value == "max" else min(int(value), most)
