"""Rate limits that a provider's headers tell of: nothing is sent before the limit is full again."""

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from httpx2 import Headers
from hypothesis import given
from hypothesis import strategies as st

from resources.llm import errors
from resources.llm.rate_headers import pause_until_reset, refusal_pause, seconds_until_reset
from resources.llm.request import Completion
from tests.doubles.odd_api import Asked
from tests.resources.llm.entries import ask_server


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1s", 1.0),
        ("6m0s", 360.0),
        ("1h2m3s", 3723.0),
        ("2m59.56s", 179.56),
        ("1d", 86_400.0),
        ("12", 12.0),
        ("", 0.0),
        ("soon", 0.0),
        ("1s soon", 0.0),
        ("2026-13-45T00:00:00Z", 0.0),
        ("2026-01-01T00:00:00", 0.0),  # of no time zone
        ("2020-01-01T00:00:00Z", 0.0),  # past
    ],
)
def test_the_time_until_a_limit_is_full_again(text, seconds):
    assert seconds_until_reset(text) == pytest.approx(seconds)


def test_a_date_is_the_time_until_then_also_in_anthropics_headers():
    then = datetime.now(UTC) + timedelta(seconds=30)
    name = "anthropic-ratelimit-input-tokens"
    headers = Headers({f"{name}-remaining": "0", f"{name}-reset": then.isoformat()})

    assert pause_until_reset(headers) == pytest.approx(30, abs=5)
    assert seconds_until_reset(f"{then:%Y-%m-%dT%H:%M:%S}Z") == pytest.approx(30, abs=5)


@given(st.text(max_size=200))
def test_no_text_is_more_than_a_number_of_seconds(text):
    assert seconds_until_reset(text) >= 0


OF = "x-ratelimit-"
TWO = {
    **{f"{OF}remaining-{of}": "0" for of in ("requests", "tokens")},
    **{f"{OF}reset-requests": "3s", f"{OF}reset-tokens": "9s"},
}


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0),
        ({f"{OF}remaining-requests": "0", f"{OF}reset-requests": "3s"}, 3),
        ({"X-RateLimit-Remaining-Tokens": "0", "X-RateLimit-Reset-Tokens": "4s"}, 4),
        ({f"{OF}remaining-requests": "1", f"{OF}reset-requests": "3s"}, 0),
        ({f"{OF}remaining-requests": "0"}, 0),
        ({f"{OF}reset-requests": "3s"}, 0),
        (TWO, 9),
    ],
)
def test_only_a_limit_of_which_nothing_is_left_is_waited_for(headers, seconds):
    assert pause_until_reset(Headers(headers)) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "1"}, 1),
    ],
)
def test_a_refusal_may_say_milliseconds(headers, seconds):
    assert refusal_pause(Headers(headers)) == seconds


def waited(folder: Path, first: dict[str, str], status: int = 200) -> float:
    """Seconds between the first request, which is answered with these headers, and the second."""
    at: list[float] = []

    def answer(asked: Asked) -> None:
        at.append(time.monotonic())
        if len(at) > 1:
            asked.says()
        elif status == 200:
            asked.says(**first)
        else:
            asked.send(b'{"error": {"message": "Too many."}}', status, **first)

    outcomes, _ = ask_server(folder, answer, 2, concurrency=1)
    assert all(isinstance(each, Completion) for each in outcomes)
    return at[1] - at[0]


@pytest.mark.parametrize(
    ("status", "of", "reset"), [(200, "requests", "250ms"), (429, "tokens", "0.25s")]
)
def test_nothing_is_sent_before_the_reset_and_everything_after_it(tmp_path, status, of, reset):
    headers = {f"x_ratelimit_remaining_{of}": "0", f"X_RateLimit_Reset_{of}": reset}
    assert waited(tmp_path, headers, status) >= 0.24


def test_a_reset_in_a_year_is_waited_for_no_longer_than_any_server_may_ask(tmp_path, monkeypatch):
    monkeypatch.setattr(errors, "MAX_WAIT", 0.2)
    headers = {"x_ratelimit_remaining_requests": "0", "x_ratelimit_reset_requests": "8760h0m0s"}
    assert 0.19 <= waited(tmp_path, headers) < 60
