"""Who may review: the rules of accounts, sign-in links and sessions."""

import hashlib
import threading
from concurrent.futures import ThreadPoolExecutor
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
from tests.resources.review.account_clock import RIGHT, WRONG, Clock, accounts_at, text_of


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def accounts(tmp_path, clock):
    return accounts_at(tmp_path, clock)


class TestAccounts:
    def test_an_account_is_what_was_added(self, accounts):
        assert accounts.add("Zoë", "expert") == Account("Zoë", "expert")
        accounts.add("bob", "annotator", RIGHT)

        assert accounts.get("zoë") == Account("Zoë", "expert")
        assert accounts.get("nobody") is None
        assert accounts.all() == [
            Account("bob", "annotator", has_password=True),
            Account("Zoë", "expert"),
        ]

    @pytest.mark.files_alone
    def test_each_role_may_what_those_before_it_may(self):
        may = {role: [each for each in ROLES if Account("a", role).may(each)] for role in ROLES}

        assert may == {
            "annotator": ["annotator"],
            "expert": ["annotator", "expert"],
            "admin": ["annotator", "expert", "admin"],
        }

    def test_a_role_changes_for_who_is_signed_in(self, accounts):
        accounts.add("bob", "expert")
        token = accounts.begin_session("bob")
        accounts.set_role("BOB", "annotator")

        assert accounts.session(token) == Account("bob", "annotator")

    @pytest.mark.files_alone
    def test_what_cannot_be_is_said_in_a_sentence(self, accounts):
        accounts.add("bob", "annotator")

        with pytest.raises(AccountError, match="There is an account 'bob' already"):
            accounts.add("Bob", "expert")
        with pytest.raises(AccountError, match="one of annotator, expert, admin: not 'boss'"):
            accounts.add("eve", "boss")
        with pytest.raises(AccountError, match="one of annotator, expert, admin: not 'boss'"):
            accounts.set_role("bob", "boss")
        with pytest.raises(AccountError, match="at least 10 characters"):
            accounts.add("eve", "expert", "123456789")
        with pytest.raises(AccountError, match="letters, digits"):
            accounts.add("policy:accept", "expert")
        for act in (accounts.disable, accounts.enable, accounts.link, accounts.begin_session):
            with pytest.raises(AccountError, match="There is no account 'eve'"):
                act("eve")
        assert accounts.all() == [Account("bob", "annotator")]

    def test_of_many_who_add_a_name_at_once_one_does(self, accounts):
        def add(name):
            try:
                return accounts.add(name, "annotator")
            except AccountError:
                return None

        with ThreadPoolExecutor(8) as pool:
            added = list(pool.map(add, ["Alice", "alice", "ALICE", "aLICE"] * 4))

        assert len([each for each in added if each]) == 1


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
    def test_a_link_signs_in_once(self, accounts):
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

    def test_of_many_who_use_it_at_once_one_is_signed_in(self, accounts):
        accounts.add("bob", "expert")
        token, start = accounts.link("bob"), threading.Barrier(8)

        def use(_):
            start.wait()
            return accounts.use_link(token)

        with ThreadPoolExecutor(8) as pool:
            assert sum(each is not None for each in pool.map(use, range(8))) == 1

    @pytest.mark.files_alone
    def test_it_expires(self, accounts, clock):
        accounts.add("bob", "expert")
        token = accounts.link("bob")
        clock.now += LINK_LASTS - timedelta(seconds=1)
        assert accounts.invited(token)
        clock.pass_by(seconds=1)

        assert accounts.invited(token) is None
        assert accounts.use_link(token) is None


class TestSessions:
    @pytest.fixture
    def token(self, accounts):
        accounts.add("bob", "expert", RIGHT)
        return accounts.begin_session("bob")

    @pytest.mark.files_alone
    def test_it_ends_some_days_after_it_began_however_busy(self, accounts, clock, token):
        n_hours = SESSION_LASTS // timedelta(hours=1)
        for _ in range(n_hours - 1):
            clock.pass_by(hours=1)
            assert accounts.session(token)
        clock.pass_by(hours=1)

        assert accounts.session(token) is None

    @pytest.mark.files_alone
    def test_it_ends_when_idle(self, accounts, clock, token):
        clock.now += IDLE_LASTS - timedelta(seconds=1)
        assert accounts.session(token)
        clock.now += IDLE_LASTS - timedelta(seconds=1)
        assert accounts.session(token)
        clock.now += IDLE_LASTS

        assert accounts.session(token) is None

    def test_signing_out_ends_this_one_alone(self, accounts, token):
        other = accounts.begin_session("bob")
        assert accounts.session(token) == Account("bob", "expert", has_password=True)
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
            with pytest.raises(AccountError, match="may sign in"):
                accounts.begin_session("bob")
        accounts.enable("bob")

        assert accounts.session(token) is None and accounts.use_link(link) is None
        assert accounts.session(hers)
