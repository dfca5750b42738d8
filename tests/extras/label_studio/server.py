"""A real Label Studio on loopback: in an environment of its own, started for one test run."""

import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2

from tests.doubles.serving import free_ports

VERSION = "1.23.2"
START_SECONDS = 240
"""The first start makes the server's database, which takes it a minute."""


@dataclass(frozen=True)
class Server:
    """Where it listens, and who may use it."""

    url: str
    token: str
    email: str
    password: str


def install(venv: Path) -> None:
    """Make `venv` with Label Studio in it, unless it is there."""
    ready = venv / f".ready-{VERSION}"
    if ready.exists():
        return
    print(f"Installing Label Studio {VERSION} into {venv} (some minutes the first time) ...")
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    pip = [venv / "bin" / "python", "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, "--disable-pip-version-check", f"label-studio=={VERSION}"], check=True)
    ready.touch()


@contextmanager
def running(venv: Path, folder: Path) -> Iterator[Server]:
    """The server on a free port with an empty SQLite database under `folder`, stopped afterwards."""
    [port], token, password = free_ports(1), secrets.token_hex(20), secrets.token_hex(12)
    server = Server(f"http://127.0.0.1:{port}", token, "admin@example.org", password)
    options = {
        "--internal-host": "127.0.0.1",
        "--port": str(port),
        "--data-dir": str(folder),
        "--username": server.email,
        "--password": password,
        "--user-token": token,
        "--log-level": "ERROR",
    }
    command = [str(venv / "bin" / "label-studio"), "start", "--no-browser"]
    command += ["--enable-legacy-api-token", *(word for pair in options.items() for word in pair)]
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            command, env=_environment(folder), stdout=log, stderr=log, start_new_session=True
        )
        try:
            _wait_for(server, process, folder / "server.log")
            yield server
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def _environment(folder: Path) -> dict[str, str]:
    """Nothing of the caller's; the server reports to nobody and looks for no newer version."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "LABEL_STUDIO_BASE_DATA_DIR": str(folder),
        "COLLECT_ANALYTICS": "false",
        "LATEST_VERSION_CHECK": "false",
        "SENTRY_DSN": "",
        "FRONTEND_SENTRY_DSN": "",
    }


def _wait_for(server: Server, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if httpx2.get(f"{server.url}/health", timeout=2).is_success:
                return
        except httpx2.HTTPError:
            time.sleep(0.5)
    raise RuntimeError(f"Label Studio did not start: {log.read_text(errors='replace')[-2000:]}")
