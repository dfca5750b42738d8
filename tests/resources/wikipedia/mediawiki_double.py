"""A small Wikipedia on the loopback address, which fails on demand and tells who asked for what.

with MediaWiki({"Owl": Page("An owl is a bird.")}) as wiki:
    Wikipedia("me@example.org", api=wiki.api, folder=tmp_path).pages("birds", "en", ["owl"])
"""

import gzip
import json
import re
import threading
import time
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from http.server import ThreadingHTTPServer
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from methods.wikimedia import THUMBNAIL_WIDTHS
from tests.doubles.serving import serving
from tests.resources.wikipedia.mediawiki_content import Content, File, Limits, Page, Use
from tests.resources.wikipedia.mediawiki_faults import Answering, Fault
from tests.resources.wikipedia.mediawiki_query import QueryError, answer

__all__ = ["File", "Limits", "MediaWiki", "Page", "Request", "Use"]

_THUMB = re.compile(r"(?:lossy-page1-)?(\d+)px-(.+)")


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
        """The titles it asked for."""
        return self.parameters.get("titles", "").split("|")


class MediaWiki:
    """Serves while the context is entered. `pages` are those of `language`, `files` those of all.

    `hidden` names hidden categories. `languages` may be given further pages, and any page be edited,
    at any time. `latency`, in seconds, delays every answer of the APIs.
    """

    def __init__(
        self,
        pages: dict[str, Page] | None = None,
        files: dict[str, File] | None = None,
        *,
        language: str = "en",
        hidden: Iterable[str] = (),
        limits: Limits | None = None,
    ) -> None:
        self.content = Content(
            {language: pages or {}}, files or {}, set(hidden), limits or Limits()
        )
        self.languages = self.content.languages
        self.requests: list[Request] = []
        self.uploads: list[str] = []
        self.now = self.most_at_once = 0
        self.latency = 0.0
        self.lock = threading.Lock()
        self._faults: list[tuple[Fault, str]] = []

    def __enter__(self) -> "MediaWiki":
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.wiki = self
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        self.content.upload = f"{self.address}/upload"
        self._serving = ExitStack()
        self._serving.enter_context(serving(self._server))
        return self

    def __exit__(self, *_: object) -> None:
        self._serving.close()

    @property
    def api(self) -> str:
        """The address to configure."""
        return f"{self.address}/{{language}}/w/api.php"

    def fail(self, fault: Fault, *, times: int = 1, on: str = "") -> None:
        """Let the next requests meet the fault, in whose decoded address and form `on` is found."""
        self._faults += [(fault, on)] * times

    def next_fault(self, text: str) -> Fault | None:
        """The fault that this request is to meet."""
        with self.lock:
            for place, (fault, on) in enumerate(self._faults):
                if re.search(on, text):
                    del self._faults[place]
                    return fault
        return None

    def forget(self) -> None:
        """Begin the record of requests again."""
        self.requests.clear()


class _Handler(Answering):
    def do_GET(self) -> None:
        self.serve({})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.serve(dict(parse_qsl(body.decode(), keep_blank_values=True)))

    def serve(self, form: dict[str, str]) -> None:
        wiki: MediaWiki = self.server.wiki
        address = urlsplit(self.path)
        parameters = form | dict(parse_qsl(address.query, keep_blank_values=True))
        path = unquote(address.path)
        if path.startswith("/upload/"):
            self.upload(wiki, path)
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
        if not re.search(r"\([^)]*(@|https?://)[^)]*\)", self.headers.get("User-Agent", "")):
            message = b"Please set a user-agent and respect our robot policy. See also T400119."
            self.send(403, message, "text/plain")
            return
        if len(self.path) > 8000:
            self.send(414, b"URI Too Long", "text/plain")
            return
        language, _, rest = path.lstrip("/").partition("/")
        if language not in wiki.languages:
            self.send(404, b"No such wiki.", "text/plain")
        elif rest == "w/api.php":
            self.api(wiki, language, parameters)
        elif rest.startswith("api/rest_v1/page/media-list/"):
            self.media_list(wiki, language, rest.rpartition("/")[2])
        else:
            self.send(404, b"No such address.", "text/plain")

    def api(self, wiki: MediaWiki, language: str, parameters: dict[str, str]) -> None:
        wanted = {"action": "query", "format": "json", "formatversion": "2"}
        if not wanted.items() <= parameters.items():
            self.send(200, b"<!DOCTYPE html><h1>MediaWiki API help</h1>", "text/html")
            return
        try:
            body = answer(wiki.content, language, parameters)
        except QueryError as refused:
            body = {"error": dict(zip(("code", "info"), refused.args, strict=True))}
        self.send_json(body)

    def media_list(self, wiki: MediaWiki, language: str, name: str) -> None:
        title = unquote(name).replace("_", " ")
        page = wiki.languages[language].get(title)
        if page is None:
            problem = {"type": "https://mediawiki.org/wiki/HyperSwitch/errors/not_found"}
            self.send_json({**problem, "title": "Not found.", "method": "get"}, 404)
            return
        if page.redirect_to:
            target = quote(page.redirect_to.partition("#")[0].replace(" ", "_"), safe="")
            self.send(302, b"", "text/plain", Location=target)
            return
        items = []
        for number, use in enumerate(page.images):
            item: dict = {"leadImage": use.lead, "section_id": use.section_id, "type": use.type}
            if use.type == "formula":
                source = {"source": "https://wikimedia.org/render/svg/1", "mime": "image/svg"}
                items.append(item | {"type": "image", "showInGallery": False, "original": source})
                continue
            item |= {"title": use.title.replace(" ", "_"), "showInGallery": use.type == "image"}
            item["srcset"] = [{"src": f"//upload.wikimedia.org/{number}.jpg", "scale": "1x"}]
            if use.caption is not None:
                item["caption"] = {"html": f"<i>{use.caption}</i>", "text": f"{use.caption}\n"}
            items.append(item)
        self.send_json({"revision": str(page.revision), "tid": "0-0", "items": items})

    def upload(self, wiki: MediaWiki, path: str) -> None:
        """A file's bytes by the name that ends the path, for a thumbnail as well."""
        wiki.uploads.append(path)
        name = path.rpartition("/")[2]
        width = None
        if f"File:{name.replace('_', ' ')}" not in wiki.content.files and _THUMB.fullmatch(name):
            width, name = _THUMB.fullmatch(name).groups()
        file = next(
            (
                file
                for title, file in wiki.content.files.items()
                if name in (key := title[5:].replace(" ", "_"), f"{key}.png", f"{key}.jpg")
            ),
            None,
        )
        if file is None:
            self.send(404, b"No such file.", "text/plain")
        elif width is not None and int(width) not in THUMBNAIL_WIDTHS:
            self.send(400, b"Use thumbnail sizes listed on https://w.wiki/GHai", "text/plain")
        else:
            self.send(200, file.data, file.mime)

    def send_json(self, body: dict, code: int = 200) -> None:
        self.send(code, json.dumps(body).encode(), "application/json; charset=utf-8")

    def send(self, code: int, body: bytes, kind: str, **headers: str) -> None:
        if "gzip" in self.headers.get("Accept-Encoding", "") and kind.startswith(
            "application/json"
        ):
            body, headers = gzip.compress(body), {**headers, "Content-Encoding": "gzip"}
        self.send_response(code)
        for name, value in {"Content-Type": kind, **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        try:
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            self.close_connection = True  # whoever asked has left
