"""Who may review: accounts, sign-in links, sessions, and guessing at passwords, which is stopped."""

import hashlib
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta

import pytest

from resources.review.accounts import (
    IDLE_LASTS,
    LINK_LASTS,
    ROLES,
    SESSION_LASTS,
    Account,
    AccountError,
    Accounts,
)
from resources.review.sign_in_limits import TooManyAttempts
from tests.resources.review.account_clock import CHEAP, RIGHT, WRONG, text_of


class TestAccounts:
    def test_an_account_is_what_was_added(self, accounts):
        assert accounts.add("Zoë", "expert") == Account("Zoë", "expert")
        accounts.add("bob", "annotator", RIGHT)

        assert accounts.get("zoë") == Account("Zoë", "expert")
        assert accounts.get("nobody") is None
        bob = Account("bob", "annotator", has_password=True)
        assert accounts.all() == [bob, Account("Zoë", "expert")]
        # Each role may what those before it may.
        assert [bob.may(role) for role in ROLES] == [True, False, False]
        assert [Account("Zoë", "expert").may(role) for role in ROLES] == [True, True, False]

    @pytest.mark.files_alone
    def test_what_cannot_be_is_said_in_a_sentence(self, accounts):
        accounts.add("bob", "annotator", "0123456789")

        for act, given, said in (
            (accounts.add, ("Bob", "expert"), "There is an account 'bob' already"),
            (accounts.add, ("eve", "boss"), "one of annotator, expert, admin: not 'boss'"),
            (accounts.set_role, ("bob", "boss"), "one of annotator, expert, admin: not 'boss'"),
            (accounts.add, ("eve", "expert", "123456789"), "at least 10 characters"),
            (accounts.add, ("policy:accept", "expert"), "letters, digits"),
        ):
            with pytest.raises(AccountError, match=said):
                act(*given)
        for act in (accounts.disable, accounts.enable, accounts.link, accounts.begin_session):
            with pytest.raises(AccountError, match="There is no account 'eve'"):
                act("eve")
        assert accounts.all() == [Account("bob", "annotator", has_password=True)]

    def test_of_many_who_add_a_name_at_once_one_does(self, accounts):
        def add(name):
            with suppress(AccountError):
                return accounts.add(name, "annotator")

        with ThreadPoolExecutor(8) as pool:
            added = list(pool.map(add, ["Alice", "alice", "ALICE", "aLICE"] * 4))
        assert len(list(filter(None, added))) == 1


@pytest.mark.parametrize(
    ("make", "use"),
    [(Accounts.link, Accounts.use_link), (Accounts.begin_session, Accounts.session)],
    ids=["link", "session"],
)
def test_only_the_hash_of_a_token_is_kept(accounts, make, use):
    accounts.add("bob", "expert", RIGHT)
    token = make(accounts, "bob")
    kept = hashlib.sha256(token.encode()).hexdigest()

    assert len(token) == 43  # 32 bytes in base64
    assert token not in text_of(accounts) and kept in text_of(accounts)
    assert use(accounts, kept) is None


class TestLinks:
    def test_a_link_signs_in_once_until_it_expires(self, accounts, clock):
        accounts.add("bob", "expert")
        token = accounts.link("BOB")

        assert accounts.invited(token) == accounts.invited(token) == Account("bob", "expert")
        assert accounts.use_link(token) == Account("bob", "expert")
        assert accounts.use_link(token) is None
        assert accounts.invited(token) is None
        # A new one makes the old one void.
        old, new = accounts.link("bob"), accounts.link("bob")
        assert accounts.use_link(old) is None
        assert accounts.use_link(new)
        late = accounts.link("bob")
        clock.now += LINK_LASTS - timedelta(seconds=1)
        assert accounts.invited(late)
        clock.pass_by(seconds=1)
        assert accounts.invited(late) is accounts.use_link(late) is None

    def test_of_many_who_use_it_at_once_one_is_signed_in(self, accounts):
        accounts.add("bob", "expert")
        token, start = accounts.link("bob"), threading.Barrier(8)

        def use(_):
            start.wait()
            return accounts.use_link(token)

        with ThreadPoolExecutor(8) as pool:
            assert sum(each is not None for each in pool.map(use, range(8))) == 1


class TestSessions:
    @pytest.fixture
    def token(self, accounts):
        accounts.add("bob", "expert", RIGHT)
        return accounts.begin_session("bob")

    @pytest.mark.files_alone
    def test_it_ends_when_idle_and_some_days_after_it_began(self, accounts, clock, token):
        n_uses, rest = divmod(SESSION_LASTS, IDLE_LASTS - timedelta(seconds=1))
        for _ in range(n_uses):
            clock.now += IDLE_LASTS - timedelta(seconds=1)
            assert accounts.session(token)
        clock.now += rest
        assert accounts.session(token) is None
        idle = accounts.begin_session("bob")
        clock.now += IDLE_LASTS
        assert accounts.session(idle) is None

    def test_a_role_changes_in_it_and_signing_out_ends_this_one_alone(self, accounts, token):
        other = accounts.begin_session("bob")
        assert accounts.session(token) == Account("bob", "expert", has_password=True)
        accounts.set_role("BOB", "annotator")
        assert accounts.session(token) == Account("bob", "annotator", has_password=True)
        assert other != token
        accounts.end_session(token)
        accounts.end_session(token)

        assert accounts.session(token) is None
        assert accounts.session(other)

    @pytest.mark.parametrize("change", ["disable", "set_password"])
    def test_disabling_and_a_new_password_end_all_of_them_and_the_link(
        self, accounts, token, change
    ):
        accounts.add("eve", "expert")
        hers, link = accounts.begin_session("eve"), accounts.link("bob")
        getattr(accounts, change)("bob", *[WRONG] * (change == "set_password"))
        if change == "disable":
            for act in (accounts.begin_session, accounts.link):
                with pytest.raises(AccountError, match="may sign in"):
                    act("bob")
        accounts.enable("bob")

        assert accounts.session(token) is None and accounts.use_link(link) is None
        assert accounts.session(hers) == Account("eve", "expert")


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
    # A success starts the count again.
    for _ in range(3):
        fail(accounts, times=4)
        assert accounts.check("bob", RIGHT)


@pytest.mark.files_alone
def test_an_unknown_name_waits_alike_whatever_is_tried_or_restarted(accounts, clock):
    fail(accounts, "nobody", times=5)
    for each in (accounts, Accounts(accounts.path, clock, CHEAP)) * 5:
        clock.pass_by(seconds=29)
        with pytest.raises(TooManyAttempts):
            fail(each, "NoBody", "10.0.0.2")
    clock.pass_by(seconds=10)
    assert fail(accounts, "nobody") == [None]


@pytest.mark.parametrize(
    ("tried", "blocked", "free"),
    [
        ("10.0.0.1", "10.0.0.1", "10.0.0.2"),
        ("2001:db8:0:1::{:x}", "2001:db8:0:1:ffff::", "2001:db8:0:2::1"),
        ("::ffff:10.0.0.1", "10.0.0.1", "::ffff:10.0.0.2"),
    ],
    ids=["IPv4", "IPv6 addresses of one machine", "IPv4 as IPv6"],
)
@pytest.mark.files_alone
def test_an_address_waits_whatever_names_it_tries(accounts, tried, blocked, free):
    accounts.add("bob", "expert", RIGHT)
    for number in range(20):
        fail(accounts, f"name-{number}", tried.format(number))
        if number < 19:
            assert accounts.check("bob", RIGHT, blocked)

    with pytest.raises(TooManyAttempts):
        accounts.check("bob", RIGHT, blocked)
    assert accounts.check("bob", RIGHT, free)


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
