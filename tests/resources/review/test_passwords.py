"""Signing in by password: argon2id hashes, and equal work."""

import pytest
from argon2 import PasswordHasher

from resources.review.accounts import Account
from tests.resources.review.account_clock import CHEAP, RIGHT, WRONG, Clock, accounts_at, text_of
from tests.resources.review.review_queue import change, rows

pytestmark = pytest.mark.files_alone


@pytest.fixture
def accounts(tmp_path):
    return accounts_at(tmp_path, Clock())


def stored_hash(accounts, name):
    return rows(accounts, "SELECT password FROM accounts WHERE name = :name", name=name)[0][0]


def store_hash(accounts, name, value):
    change(
        accounts, "UPDATE accounts SET password = :value WHERE name = :name", value=value, name=name
    )


class CountingHasher(PasswordHasher):
    """Counts the argon2id hashes that it computes, whether to make one or to verify one."""

    def __init__(self):
        super().__init__(time_cost=1, memory_cost=8, parallelism=1)
        self.work = []

    def hash(self, password, **options):
        self.work.append(password)
        return super().hash(password, **options)

    def verify(self, hash, password):
        self.work.append(password)
        return super().verify(hash, password)


class TestNewHashes:
    def test_only_the_right_password_signs_in(self, accounts):
        accounts.add("bob", "expert", RIGHT)

        assert accounts.check("bob", RIGHT) == Account("bob", "expert", has_password=True)
        for name, password in (("bob", WRONG), ("bob", ""), ("\ud800", "\udfff"), ("x", "\x00")):
            assert accounts.check(name, password) is None

    def test_a_password_is_the_same_from_any_keyboard(self, accounts):
        accounts.add("bob", "expert", "na\u00efve password")

        assert accounts.check("bob", "nai\u0308ve password")

    def test_no_password_is_in_the_file(self, accounts):
        accounts.add("bob", "expert", RIGHT)
        accounts.check("bob", WRONG)
        accounts.check(WRONG, RIGHT)

        assert "horse" not in text_of(accounts)


def test_a_hash_with_other_parameters_is_replaced_at_the_next_sign_in(accounts, tmp_path):
    accounts.add("bob", "expert", RIGHT)
    stronger = PasswordHasher(time_cost=2, memory_cost=16, parallelism=1)

    before = stored_hash(accounts, "bob")
    assert accounts_at(tmp_path, Clock(), stronger).check("bob", WRONG) is None
    assert stored_hash(accounts, "bob") == before
    assert accounts_at(tmp_path, Clock(), stronger).check("bob", RIGHT)
    assert "$m=16,t=2,p=1$" in stored_hash(accounts, "bob")
    assert accounts.check("bob", RIGHT)


def test_a_password_set_meanwhile_is_not_replaced(accounts, tmp_path):
    """Somebody else sets another password between the verification and the replacement."""
    accounts.add("bob", "expert", RIGHT)
    another = CHEAP.hash(WRONG)

    class Slow(PasswordHasher):
        def hash(self, password, **options):
            store_hash(accounts, "bob", another)
            return super().hash(password, **options)

    slow = Slow(time_cost=2, memory_cost=16, parallelism=1)
    assert accounts_at(tmp_path, Clock(), slow).check("bob", RIGHT)
    assert stored_hash(accounts, "bob") == another


@pytest.mark.parametrize(
    "garbage",
    ["", "no hash", RIGHT, "$argon2id$", "$argon2id$v=19$m=8,t=1,p=1$YQ$YQ"],
)
def test_garbage_in_the_place_of_a_hash_signs_nobody_in(accounts, garbage):
    accounts.add("bob", "expert", RIGHT)
    store_hash(accounts, "bob", garbage)

    assert accounts.check("bob", RIGHT) is None
    assert accounts.check("bob", "") is None
    assert stored_hash(accounts, "bob") == garbage


def test_every_failure_takes_one_argon2id_hash(tmp_path):
    """Who tries names must not learn from the time which of them have an account."""
    hasher = CountingHasher()
    accounts = accounts_at(tmp_path, Clock(), hasher)
    for name in ("bob", "gone", "broken"):
        accounts.add(name, "expert", RIGHT)
    accounts.add("linked", "expert")
    accounts.disable("gone")
    store_hash(accounts, "broken", "no hash")
    tries = [("bob", WRONG), ("gone", RIGHT), ("gone", WRONG)]
    for name, password in [*tries, ("linked", WRONG), ("broken", WRONG), ("unknown", WRONG)]:
        hasher.work.clear()
        assert accounts.check(name, password) is None
        # Verifying a string that is no hash is refused without work; the hash after it is the work.
        computed = hasher.work[1:] if name == "broken" else hasher.work
        assert computed == [password.encode()], name
