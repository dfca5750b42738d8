"""No URL leads into the network this machine stands in, however it is written or redirected."""

import pytest

from methods.ingest.image_check import ImageRejected
from resources.images.fetcher import Fetched, ImageFetcher
from resources.web import ssrf_guard as guarded_network
from resources.web.ssrf_guard import is_public
from tests.doubles.serving import serving
from tests.resources.images.upload_double import PICTURE, UploadDouble, ok, redirect

INSIDE = [
    "http://10.0.0.1/a.png",
    "http://169.254.169.254/latest/meta-data/",
    "http://[::1]/a.png",
    "http://[fe80::1]/a.png",
    "http://upload.wikimedia.org:secret@192.168.1.1/a.png",
    "https://127.0.0.1/a.png",
]


def fetch(url: str, mirror: str | None = None, **options) -> Fetched:
    fetcher = ImageFetcher(mirror, **{"timeout": 5.0, "backoff": 0.01} | options)
    [(_, result)] = fetcher.fetch_each([url])
    return result


def refused(result: Fetched) -> bool:
    return isinstance(result, ImageRejected) and result.reason == "private_address"


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "10.1.2.3", "2130706433"]
)
def test_the_open_web_does_not_reach_inside(uploads, host):
    """Nor does any other way to write the loopback address: what it resolves to is looked at."""
    uploads.serve("a.png", ok())
    assert refused(fetch(f"http://{host}:{uploads.server_port}/a.png"))
    assert not uploads.log


@pytest.mark.parametrize("target", INSIDE)
def test_a_mirror_is_trusted_but_not_where_it_points(uploads, target):
    uploads.serve("a.png", redirect(target))
    assert refused(fetch("https://example.org/a.png", uploads.base))
    assert uploads.asked == {"a.png": 1}


def test_nor_another_port_of_the_mirror_s_host(uploads):
    with serving(UploadDouble()) as other:
        uploads.serve("a.png", redirect(other.serve("a.png", ok())))
        assert refused(fetch("https://example.org/a.png", uploads.base))
        assert not other.log


def test_a_host_with_one_private_address_is_not_asked_at_its_other(monkeypatch):
    async def addresses(host: str, port: int) -> list[str]:
        return ["8.8.8.8", "10.0.0.1"]

    monkeypatch.setattr(guarded_network, "_addresses", addresses)
    assert refused(fetch("http://example.org/a.png"))


def test_a_name_that_resolves_anew_to_a_private_address_is_not_connected_to(uploads, monkeypatch):
    """Each connection goes to an address that was looked at for it."""
    found = iter([["192.0.2.1"], ["127.0.0.1"]])
    connected: list[str] = []

    async def addresses(host: str, port: int) -> list[str]:
        return next(found)

    async def connect(self, host: str, *rest: object):
        connected.append(host)
        return await real(self, "127.0.0.1", *rest)

    real = guarded_network.httpcore2.AnyIOBackend.connect_tcp
    monkeypatch.setattr(guarded_network, "_addresses", addresses)
    monkeypatch.setattr(guarded_network.httpcore2.AnyIOBackend, "connect_tcp", connect)
    monkeypatch.setattr(guarded_network, "is_public", lambda text: text == "192.0.2.1")
    url = uploads.serve("good.png", ok(), host="rebound.example")

    assert fetch(url) == PICTURE
    assert refused(fetch(url))
    assert connected == ["192.0.2.1"] and uploads.asked == {"good.png": 1}


def test_who_configures_it_may_fetch_from_inside(uploads):
    target = uploads.serve("a.png", ok(), host="localhost")
    assert fetch(uploads.serve("b.png", redirect(target)), allow_private=True) == PICTURE


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1111", "64:ff9b::808:808"])
def test_addresses_of_the_open_web_are_public(address):
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    # Those of clouds' metadata, of a carrier's network, any, and multicast.
    ["169.254.169.254", "168.63.129.16", "192.0.0.192", "100.64.0.1", "0.0.0.0", "224.0.0.1"]
    + ["::", "::10.0.0.1", "fe80::1%1", "fec0::1", "fd00::1", "ff0e::1"]
    # Those of IPv4 inside others.
    + ["::ffff:168.63.129.16", "::ffff:10.0.0.1", "64:ff9b::a00:1", "64:ff9b:1::1", "2002:a00:1::"],
)
def test_others_are_not(address):
    assert not is_public(address)
