"""A small Wikipedia on the loopback address, which fails on demand and tells who asked for what.

with MediaWiki({"Owl": Page("An owl is a bird.")}) as wiki:
    Wikipedia("me@example.org", api=wiki.api, folder=tmp_path).pages("birds", "en", ["owl"])

Its answers have the parts of MediaWiki's that are read; `recorded_wiki.py` has whole ones.
"""

import gzip
import hashlib
import io
import json
import re
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from itertools import count
from typing import Self
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from PIL import Image

from tests.doubles.serving import QuietHandler, serving
from tests.resources.wikipedia.mediawiki_faults import Fault

_numbers = count(1001)


@dataclass
class Use:
    """An image's place on a page."""

    title: str
    caption: str | None = None
    section_id: int = 0
    lead: bool = False


@dataclass
class Page:
    """A page; `redirect_to` may end in "#section", `versions` are titles by language."""

    text: str = ""
    categories: list[str] = field(default_factory=list)
    images: list[Use] = field(default_factory=list)
    redirect_to: str | None = None
    versions: dict[str, str] = field(default_factory=dict)
    revision: int = field(default_factory=lambda: next(_numbers))
    page_id: int = field(default_factory=lambda: next(_numbers))

    def edit(self, **changes: object) -> None:
        """Change what is named, in a new revision."""
        for name, value in changes.items():
            setattr(self, name, value)
        self.revision = next(_numbers)


@dataclass
class File:
    """A PNG, and what its description page says."""

    data: bytes
    about: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Request:
    """What was asked, and when in the time of time.monotonic; `parameters` of either method."""

    method: str
    path: str
    parameters: dict[str, str]
    headers: dict[str, str]
    at: float

    @property
    def titles(self) -> list[str]:
        return self.parameters.get("titles", "").split("|")


class WikiHandler(QuietHandler):
    """Hands on what was asked: the bytes of a form, none with GET."""

    def do_GET(self) -> None:
        self.serve(b"")

    def do_POST(self) -> None:
        self.serve(self.rfile.read(int(self.headers["Content-Length"])))


class ServedWiki:
    """Serves on the loopback address while the context is entered."""

    handler: type[WikiHandler]

    def __enter__(self) -> Self:
        server = ThreadingHTTPServer(("127.0.0.1", 0), self.handler)
        server.wiki = self
        self.address = f"http://127.0.0.1:{server.server_port}"
        self.lock = threading.Lock()
        self._serving = ExitStack()
        self._serving.enter_context(serving(server))
        return self

    def __exit__(self, *_: object) -> None:
        self._serving.close()


class MediaWiki(ServedWiki):
    """Serves while the context is entered. `pages` are those of English, `files` those of all.

    `languages` may be given further pages, and any page be edited, at any time. `latency`, in seconds,
    delays every answer of the APIs. `at_once` is the most items of a list in an answer. `originals` is
    where files are said to be, if not here.
    """

    def __init__(
        self, pages: dict[str, Page] | None = None, files: dict[str, File] | None = None
    ) -> None:
        self.languages = {"en": pages or {}}
        self.files = files or {}
        self.requests: list[Request] = []
        self.uploads: list[str] = []
        self.now = self.most_at_once = 0
        self.latency = 0.0
        self.at_once = 500
        self.originals = ""
        self._faults: list[tuple[Fault, str]] = []

    @property
    def api(self) -> str:
        return f"{self.address}/{{language}}/w/api.php"

    def fail(self, fault: Fault, *, times: int = 1, on: str = "") -> None:
        """Let the next requests meet the fault, in whose decoded address and form `on` is found."""
        self._faults += [(fault, on)] * times

    def next_fault(self, text: str) -> Fault | None:
        with self.lock:
            for place, (fault, on) in enumerate(self._faults):
                if re.search(on, text):
                    del self._faults[place]
                    return fault
        return None

    def answer(self, language: str, parameters: dict[str, str]) -> dict:
        """The answer of `action=query`, a part of it if there is more."""
        pages = self.languages[language]
        query: dict = {}
        if "cmtitle" in parameters:
            category = parameters["cmtitle"].removeprefix("Category:")
            titles = [title for title in sorted(pages) if category in pages[title].categories]
            articles = [title for title in titles if not title.startswith("Category:")]
            rows = {"members": [(None, {"title": title}) for title in articles]}
            query["categorymembers"] = []
        else:
            query = self._resolved(pages, parameters.get("titles", "").split("|"))
            rows = {
                name: [
                    (entry, row)
                    for entry in query["pages"]
                    for row in self._rows(name, entry["title"], language, parameters)
                ]
                for name in parameters["prop"].split("|")
            }
        further = {}
        for name, items in rows.items():
            start = int(parameters.get(f"{name}continue", 0))
            further[f"{name}continue"] = end = min(start + self.at_once, len(items))
            for entry, row in items[start:end]:
                if entry is None:
                    query["categorymembers"].append(row)
                    continue
                for key, value in row.items():
                    entry[key] = entry.get(key, []) + value if isinstance(value, list) else value
        is_whole = all(further[f"{name}continue"] == len(items) for name, items in rows.items())
        return {"query": query} | ({} if is_whole else {"continue": {**further, "continue": "||"}})

    def _resolved(self, pages: dict[str, Page], titles: list[str]) -> dict:
        """Normalization, redirects, and an entry for each page that comes of them."""
        steps: dict[str, list[dict[str, str]]] = {"normalized": [], "redirects": []}
        entries: dict[str, dict] = {}
        for raw in titles:
            title = raw.partition("#")[0].replace("_", " ").strip()
            title = title[:1].upper() + title[1:]
            if title != raw:
                steps["normalized"].append({"from": raw, "to": title})
            passed: set[str] = set()
            while (page := pages.get(title)) and page.redirect_to and title not in passed:
                passed.add(title)
                steps["redirects"].append({"from": title, "to": page.redirect_to.partition("#")[0]})
                title = steps["redirects"][-1]["to"]
            entry = {"title": title, "missing": True}
            if "<" in title:
                entry = {"title": raw, "invalid": True}
            elif page:
                entry = {"title": title, "pageid": page.page_id}
            entries[title] = entry
        return {**steps, "pages": list(entries.values())}

    def _rows(self, prop: str, title: str, language: str, parameters: dict) -> list[dict]:
        """What the answer says of a page, in items that may come one after another."""
        if prop == "imageinfo":
            file = self.files.get(title)
            return [{"imageinfo": [self._info(title, file, parameters)]}] if file else []
        page = self.languages[language].get(title)
        if page is None:
            return []
        if prop == "info":
            return [{"lastrevid": page.revision, "canonicalurl": page_url(language, title)}]
        if prop == "extracts":
            return [{"extract": page.text}]
        if prop == "categories":
            return [{"categories": [{"title": f"Category:{name}"}]} for name in page.categories]
        return [{"langlinks": [{"url": page_url(*version)}]} for version in page.versions.items()]

    def _info(self, title: str, file: File, parameters: dict[str, str]) -> dict:
        digest = hashlib.sha1(file.data).hexdigest()
        if parameters["iiprop"] == "sha1":
            return {"sha1": digest}
        name = quote(title.partition(":")[2].replace(" ", "_"))
        with Image.open(io.BytesIO(file.data)) as image:
            width, height = image.size
        return {
            **{"size": len(file.data), "width": width, "height": height, "sha1": digest},
            "thumburl": f"{self.address}/upload/thumb/{parameters['iiurlwidth']}px-{name}",
            "url": f"{self.originals or f'{self.address}/upload/'}{name}?utm_source=wiki",
            "extmetadata": {about: {"value": value} for about, value in file.about.items()},
            "mime": "image/png",
        }


def page_url(language: str, title: str) -> str:
    return f"https://{language}.wikipedia.org/wiki/{quote(title.replace(' ', '_'))}"


class _Handler(WikiHandler):
    def serve(self, form: bytes) -> None:
        wiki: MediaWiki = self.server.wiki
        address = urlsplit(self.path)
        parameters = {
            **dict(parse_qsl(form.decode(), keep_blank_values=True)),
            **dict(parse_qsl(address.query, keep_blank_values=True)),
        }
        path = unquote(address.path)
        if path.startswith("/upload/"):
            wiki.uploads.append(path)
            file = wiki.files.get("File:" + path.rpartition("/")[2].replace("_", " "))
            self.send(file.data if file else b"", 200 if file else 404, Content_Type="image/png")
            return
        with wiki.lock:
            wiki.now += 1
            wiki.most_at_once = max(wiki.most_at_once, wiki.now)
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Request(self.command, address.path, parameters, headers, time.monotonic())
            wiki.requests.append(asked)
        try:
            time.sleep(wiki.latency)
            fault = wiki.next_fault(f"{path} {parameters}")
            if fault is None or not fault(self):
                self.page(wiki, address.path, parameters)
        finally:
            with wiki.lock:
                wiki.now -= 1

    def page(self, wiki: MediaWiki, path: str, parameters: dict[str, str]) -> None:
        language, _, rest = path.lstrip("/").partition("/")
        if language not in wiki.languages:
            self.send(b"No such wiki.", 404, Content_Type="text/plain")
        elif rest == "w/api.php":
            self.send_json(wiki.answer(language, parameters))
        else:
            title = unquote(rest.rpartition("/")[2]).replace("_", " ")
            images = [
                {"leadImage": use.lead, "section_id": use.section_id, "type": "image"}
                | {"title": use.title.replace(" ", "_"), "caption": {"text": use.caption or ""}}
                for use in wiki.languages[language][title].images
            ]
            self.send_json({"items": images})

    def send_json(self, body: dict, code: int = 200) -> None:
        kind = {"Content_Type": "application/json; charset=utf-8", "Content_Encoding": "gzip"}
        self.send(gzip.compress(json.dumps(body).encode()), code, **kind)


MediaWiki.handler = _Handler
