"""The header Retry-After, read for every client that keeps to it."""

import email.utils
import time

import pytest

from resources.web.host_pauses import retry_after


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("7", 7), ("0.25", 0.25), ("-3", 0), (" 2 ", 2), ("Thu, 01 Jan 1970 00:00:00 GMT", 0)],
)
def test_a_number_is_seconds_and_a_date_in_the_past_no_wait(value, seconds):
    assert retry_after(value) == seconds


def test_a_date_counts_from_now_in_any_zone():
    then = time.time() + 100

    for date in (
        email.utils.formatdate(then, localtime=True),
        email.utils.formatdate(then, usegmt=True),
        time.asctime(time.gmtime(then)),  # the oldest form of an HTTP date has no zone: it is GMT
    ):
        assert retry_after(date) == pytest.approx(100, abs=2), date


@pytest.mark.parametrize(
    "value", [None, "", "soon", "inf", "nan", "Thursday", "Fri, 31 Dec 99999 23:59:59 GMT"]
)
def test_what_is_neither_is_none(value):
    assert retry_after(value) is None
