"""`python -m tests.mediawiki`: the tests of other wikis against a real MediaWiki, with PHP and SQLite.

With RECORD=yes what it answered is written down for the ordinary tests, which need no such server. The
wiki is Debian's package `mediawiki`; each wiki has a folder of its own.
"""

import base64
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import httpx2
import pytest
from PIL import Image, ImageDraw

from tests.doubles.serving import free_ports
from tests.resources.wikipedia import recorded_wiki
from tests.resources.wikipedia.recorded_wiki import (
    PLAIN,
    REPLIES,
    SERVER,
    WITH_EXTRACTS,
    AnsweringWiki,
    Key,
    Reply,
)

MEDIAWIKI = Path("/usr/share/mediawiki")
PACKAGES = ("mediawiki", "php-cli", "php-sqlite3")
START_SECONDS = 30

PAGES = {
    "Barn owl": """The '''barn owl''' hunts by ear.<sup class="reference">[1]</sup>

[[File:Barn owl.png|thumb|A [[barn owl]] at dusk]]
{| class="wikitable"
| Height || 30 cm
|}

It is white below.

== Eggs ==
Up to seven.
[[File:Owl eggs.jpg|thumb|Eggs of an owl]] [[File:Lost.png|thumb|A picture that was deleted]]
<gallery>
Snowy owl.png|Another owl
</gallery>
[[Category:Owls]]""",
    "Owl of barns": "#REDIRECT [[Barn owl]]",
    "Snowy owl": "The snowy owl is white.\n\n[[File:Snowy owl.png]]\n[[Category:Owls]]",
    "Stone": "A stone is hard.",
    "Pebble": "A pebble is small.\n\n[[Category:Stones]]",
    "Empty": "",
}
FILES = {"Barn owl.png": "peru", "Snowy owl.png": "ivory", "Owl eggs.jpg": "tan"}

_SETTINGS = """
$wgEnableUploads = true;
$wgUploadDirectory = "{folder}/root/images";
$wgUploadPath = "/images";
$wgMainCacheType = CACHE_NONE;
$wgUseImageMagick = false;
$wgJobRunRate = 0;
$wgServer = "{server}";
if ( str_starts_with( $_SERVER['REQUEST_URI'] ?? '', '{extracts}' ) ) {{
    wfLoadExtension( 'TextExtracts' );
}}
"""

recorded: dict[Key, Reply] = {}
"""What the wikis of this process have answered."""


def why_not() -> str | None:
    """Why no wiki can be made here, as one sentence; None if one can."""
    if shutil.which("php") is None or not (MEDIAWIKI / "maintenance" / "install.php").exists():
        missing = "MediaWiki and PHP are not installed"
    elif b"pdo_sqlite" not in subprocess.run(["php", "-m"], capture_output=True).stdout.lower():
        missing = "PHP has no SQLite"
    else:
        return None
    return f"{missing}: run apt-get install {' '.join(PACKAGES)} as root, then this again."


class RealWiki(AnsweringWiki):
    """Passes requests on to a MediaWiki of its own, and records what it answers."""

    def __enter__(self) -> "RealWiki":
        super().__enter__()
        self._folder = Path(tempfile.mkdtemp(prefix="mediawiki-"))
        self._make()
        [port] = free_ports(1)
        self._upstream = httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=60)
        self._php = subprocess.Popen(
            ["php", "-S", f"127.0.0.1:{port}"],
            cwd=self._folder / "root",
            env={**self._environment(), "PHP_CLI_SERVER_WORKERS": "4"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            with suppress(httpx2.TransportError):
                self._upstream.get("/")
                return self
            time.sleep(0.05)
        raise RuntimeError("PHP's server did not start.")

    def __exit__(self, *error: object) -> None:
        os.killpg(self._php.pid, signal.SIGTERM)
        self._php.wait()
        super().__exit__(*error)
        shutil.rmtree(self._folder)

    def overwrite(self) -> None:
        """Upload another picture as File:Barn owl.png."""
        super().overwrite()
        self._upload({"Barn owl.png": "maroon"}, "--overwrite")

    def reply(self, key: Key, target: str, form: bytes) -> Reply:
        """The real server's."""
        kind = {"Content-Type": "application/x-www-form-urlencoded"} if form else {}
        answer = self._upstream.request(key[1], target, content=form, headers=kind)
        reply = Reply(answer.status_code, answer.headers["content-type"], answer.content)
        with self.lock:
            recorded[key] = self._without_address(reply)
        return reply

    def _without_address(self, reply: Reply) -> Reply:
        return reply._replace(body=reply.body.replace(self.address.encode(), SERVER.encode()))

    def _make(self) -> None:
        root = self._folder / "root"
        for script in (WITH_EXTRACTS, PLAIN):
            link = root / script.strip("/").removesuffix("/api.php")
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(MEDIAWIKI)
        for folder in (root / "images", self._folder / "database", self._folder / "uploads"):
            folder.mkdir()
        options = {
            "dbtype": "sqlite",
            "dbpath": str(self._folder / "database"),
            "dbname": "birds",
            "confpath": str(self._folder),
            "scriptpath": "/w",
            "server": self.address,
            "pass": "correct horse battery",
            "lang": "en",
        }
        words = [word for name, value in options.items() for word in (f"--{name}", value)]
        self._maintain("install.php", *words, "Birds", "Admin", configured=False)
        with (self._folder / "LocalSettings.php").open("a") as settings:
            values = {"folder": self._folder, "server": self.address, "extracts": "/w/"}
            settings.write(_SETTINGS.format(**values))
        self._upload(FILES)
        for title, text in PAGES.items():
            self._maintain("edit.php", title, text=text)

    def _upload(self, files: dict[str, str], *options: str) -> None:
        folder = self._folder / "uploads"
        for name, colour in files.items():
            (folder / name).write_bytes(picture(name, colour))
        self._maintain("importImages.php", *options, str(folder))
        for name in files:
            (folder / name).unlink()

    def _maintain(
        self, script: str, *words: str, text: str | None = None, configured: bool = True
    ) -> None:
        done = subprocess.run(
            ["php", str(MEDIAWIKI / "maintenance" / script), *words],
            env=self._environment() if configured else dict(os.environ),
            input=text,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise RuntimeError(f"{script} failed: {done.stdout[-1000:]} {done.stderr[-1000:]}")

    def _environment(self) -> dict[str, str]:
        return {**os.environ, "MW_CONFIG_FILE": str(self._folder / "LocalSettings.php")}


def picture(name: str, colour: str) -> bytes:
    """A drawn picture, 120 by 90 pixels, in the format of the name."""
    image = Image.linear_gradient("L").resize((120, 90)).convert("RGB")
    ImageDraw.Draw(image).ellipse((20, 10, 100, 80), fill=colour, outline="black")
    data = io.BytesIO()
    image.save(data, "JPEG" if name.endswith(".jpg") else "PNG")
    return data.getvalue()


def write_recorded() -> None:
    """Write what was answered into the file that the ordinary tests read, a request a line."""
    lines = []
    for (state, method, path, parameters), reply in sorted(recorded.items()):
        image = reply.kind.startswith("image/")
        body = base64.b64encode(reply.body).decode() if image else reply.body.decode()
        lines.append(json.dumps([state, method, path, parameters, reply.status, reply.kind, body]))
    REPLIES.write_text("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    if missing := why_not():
        print(f"Skipped: {missing}")
        sys.exit()
    recorded_wiki.open_wiki[0] = RealWiki
    tests = Path(__file__).resolve().parent.parent
    file = str(tests / "resources" / "wikipedia" / "test_other_wikis.py")
    failed = pytest.main(["-n", "0", "-q", file, *sys.argv[1:]])
    if not failed and os.environ.get("RECORD") == "yes":
        write_recorded()
    sys.exit(failed)
