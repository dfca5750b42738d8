"""Guessing at passwords is stopped, for who guesses and for no longer than is said."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from resources.review.accounts import Accounts
from resources.review.sign_in_limits import TooManyAttempts
from tests.resources.review.account_clock import CHEAP, RIGHT, WRONG, Clock, accounts_at


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def accounts(tmp_path, clock):
    return accounts_at(tmp_path, clock)


def fail(accounts, name="bob", address="10.0.0.1", times=1):
    return [accounts.check(name, WRONG, address) for _ in range(times)]


def test_after_five_failures_even_the_right_one_waits(accounts, clock):
    accounts.add("bob", "expert", RIGHT)
    fail(accounts)
    clock.pass_by(seconds=100)
    fail(accounts, times=4)

    # The first failure is 5 minutes old 200 s from now: 3 minutes and 20 seconds.
    with pytest.raises(TooManyAttempts, match="^Too many .* try again in 4 minutes[.]$") as raised:
        accounts.check("bob", RIGHT)
    assert raised.value.wait == timedelta(seconds=200)
    clock.pass_by(seconds=199)
    with pytest.raises(TooManyAttempts, match="try again in 1 second[.]"):
        accounts.check("bob", RIGHT)
    clock.pass_by(seconds=1)
    assert accounts.check("bob", RIGHT)


@pytest.mark.files_alone
def test_a_name_that_is_not_there_waits_alike_and_a_restart_clears_nothing(accounts, clock):
    fail(accounts, "nobody", times=5)

    for each in (accounts, Accounts(accounts.path, clock, CHEAP)):
        with pytest.raises(TooManyAttempts):
            fail(each, "NoBody", "10.0.0.2")


@pytest.mark.files_alone
def test_waiting_is_not_made_longer_by_trying(accounts, clock):
    fail(accounts, times=5)
    for _ in range(10):
        clock.pass_by(seconds=29)
        with pytest.raises(TooManyAttempts):
            fail(accounts)
    clock.pass_by(seconds=10)

    assert fail(accounts) == [None]


def test_a_success_starts_the_count_anew(accounts):
    accounts.add("bob", "expert", RIGHT)
    for _ in range(3):
        fail(accounts, times=4)
        assert accounts.check("bob", RIGHT)


def test_an_address_waits_whatever_names_it_tries(accounts):
    accounts.add("bob", "expert", RIGHT)
    for number in range(20):
        fail(accounts, f"name-{number}")

    with pytest.raises(TooManyAttempts):
        accounts.check("bob", RIGHT, "10.0.0.1")
    assert accounts.check("bob", RIGHT, "10.0.0.2")


@pytest.mark.parametrize(
    ("tried", "blocked", "free"),
    [
        ("2001:db8:0:1::{:x}", "2001:db8:0:1:ffff::", "2001:db8:0:2::1"),
        ("::ffff:10.0.0.1", "10.0.0.1", "::ffff:10.0.0.2"),
    ],
)
@pytest.mark.files_alone
def test_the_ipv6_addresses_of_one_machine_count_as_one(accounts, tried, blocked, free):
    accounts.add("bob", "expert", RIGHT)
    for number in range(20):
        fail(accounts, f"name-{number}", tried.format(number))

    with pytest.raises(TooManyAttempts):
        accounts.check("bob", RIGHT, blocked)
    assert accounts.check("bob", RIGHT, free)


@pytest.mark.files_alone
def test_an_own_account_does_not_clear_an_address(accounts):
    accounts.add("eve", "annotator", RIGHT)
    for number in range(20):
        fail(accounts, f"name-{number}")
        if number < 19:
            assert accounts.check("eve", RIGHT, "10.0.0.1")

    with pytest.raises(TooManyAttempts):
        accounts.check("eve", RIGHT, "10.0.0.1")


def test_many_at_once_are_not_tried_uncounted(accounts):
    def attempt(_):
        try:
            return fail(accounts)
        except TooManyAttempts:
            return "waits"

    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(attempt, range(24)))

    assert outcomes.count([None]) == 5
    assert outcomes.count("waits") == 19
