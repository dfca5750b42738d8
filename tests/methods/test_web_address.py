"""Secrets are taken out of addresses, and nothing else is."""

import re

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from methods.web_address import (
    Credentials,
    credentials,
    cut_address,
    cut_secrets,
    without_query,
    without_secrets,
)


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://token@example.org", "http://example.org"),
        ("http:///ada:s3cret@example.org/a.png", "http:///example.org/a.png"),
        ("https://ada:s3@[::1]:80/a@b", "https://[::1]:80/a@b"),
        ("https://example.org:8080/@ada/1?x=a:b", None),
        ("https://example.org?token=abc", "https://example.org"),
        (
            "https://example.org/a.png?width=3&token=abc&x=%20",
            "https://example.org/a.png?width=3&x=%20",
        ),
        (
            "https://example.org/a?X-Amz-Signature=1&X-Amz-Credential=2#top",
            "https://example.org/a#top",
        ),
        (
            "https://example.org/a?api_key=1&apiKey=2&access%5Ftoken=3&sig=4",
            "https://example.org/a",
        ),
        ("https://example.org/a?keyword=owl&signal=1&pages=2", None),
        ("https://upload.wikimedia.org/a/ab/Caf%C3%A9_(1).jpg", None),
        ("/home/ada/images/a@b.png", None),
        ("", None),
    ],
)
def test_what_is_secret_goes_and_all_else_stays(address, shown):
    assert without_secrets(address) == (address if shown is None else shown)


@given(st.text(st.sampled_from("/?#;:%a3 ") | st.characters(codec="utf-8"), min_size=1))
@example("S3/CRET")
@example("S3?CRET")
@example("S3#CRET;%3f")
@example("/S3CRET")
def test_no_password_is_left(password):
    # "https://ada:80/…@…" is an address of the host ada, and a user may end at any "@".
    assume("@" not in password and not re.match("[0-9]{1,5}[/?#]", password))
    address = f"https://ada:{password}@example.org/a.png"
    for cut in (without_secrets, without_query, cut_address):
        assert cut(address) == "https://example.org/a.png"
    if not password.startswith("/"):  # "ada:/" may be a scheme.
        assert cut_address(address.removeprefix("https://")) == "example.org/a.png"


def test_addresses_in_a_text_and_what_is_sent():
    apostrophes = "https://a:b'c@example.org/Musee_d'Orsay.jpg?width=3&token=1"
    assert cut_secrets(apostrophes) == "https://example.org/Musee_d'Orsay.jpg?width=3"
    text = "en\thttps://a:b@example.org/x?token=1\tsee <https://c@example.org/?a=1&sig=2>"
    assert cut_secrets(text) == "en\thttps://example.org/x\tsee <https://example.org/?a=1>"
    # What is sent is decoded.
    assert credentials("https://ada:p%40ss@example.org") == Credentials("ada", "p@ss")
    assert credentials("https://token@example.org") == Credentials("token", "")
    assert credentials("https://:s3@example.org") == Credentials("", "s3")
    assert credentials("https://example.org/a@b") is None
