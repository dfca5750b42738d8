"""Names that decisions may stand under, and signing in by password: argon2id hashes, equal work."""

import unicodedata
from unittest.mock import Mock

import pytest
from argon2 import PasswordHasher
from hypothesis import given
from hypothesis import strategies as st

from resources.review.accounts import Account
from resources.review.credentials import AccountError, checked_name, folded_name
from tests.resources.review.account_clock import CHEAP, RIGHT, WRONG, Clock, accounts_at, text_of
from tests.resources.review.review_queue import change, rows

pytestmark = pytest.mark.files_alone


def stored_hash(accounts, name):
    return rows(accounts, "SELECT password FROM accounts WHERE name = :name", name=name)[0][0]


def store_hash(accounts, name, value):
    change(
        accounts, "UPDATE accounts SET password = :value WHERE name = :name", value=value, name=name
    )


def test_only_the_right_password_signs_in_and_none_is_in_the_file(accounts):
    accounts.add("bob", "expert", RIGHT)
    accounts.add("zoe", "expert", "na\u00efve password")

    assert accounts.check("bob", RIGHT) == Account("bob", "expert", has_password=True)
    assert accounts.check("zoe", "nai\u0308ve password"), "the same from any keyboard"
    tries = [("bob", WRONG), ("bob", ""), ("\ud800", "\udfff"), ("x", "\x00"), (WRONG, RIGHT)]
    for name, password in tries:
        assert accounts.check(name, password) is None
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
    "garbage", ["", "no hash", RIGHT, "$argon2id$", "$argon2id$v=19$m=8,t=1,p=1$YQ$YQ"]
)
def test_garbage_in_the_place_of_a_hash_signs_nobody_in(accounts, garbage):
    accounts.add("bob", "expert", RIGHT)
    store_hash(accounts, "bob", garbage)

    assert accounts.check("bob", RIGHT) is accounts.check("bob", "") is None
    assert stored_hash(accounts, "bob") == garbage


def test_every_failure_takes_one_argon2id_hash(tmp_path):
    """Who tries names must not learn from the time which of them have an account."""
    hasher = Mock(wraps=CHEAP)
    accounts = accounts_at(tmp_path, Clock(), hasher)
    for name in ("bob", "gone", "broken"):
        accounts.add(name, "expert", RIGHT)
    accounts.add("linked", "expert")
    accounts.disable("gone")
    store_hash(accounts, "broken", "no hash")
    tries = [("bob", WRONG), ("gone", RIGHT), ("gone", WRONG)]
    for name, password in [*tries, ("linked", WRONG), ("broken", WRONG), ("unknown", WRONG)]:
        hasher.reset_mock()
        assert accounts.check(name, password) is None
        # Verifying a string that is no hash is refused without work; the hash after it is the work.
        work = [given for method, given, _ in hasher.method_calls if method in ("hash", "verify")]
        computed = [given[-1] for given in work[1 if name == "broken" else 0 :]]
        assert computed == [password.encode()], name


def test_a_name_that_no_account_can_have_costs_no_work(tmp_path, monkeypatch):
    hasher, normalize = Mock(wraps=CHEAP), Mock(wraps=unicodedata.normalize)
    accounts = accounts_at(tmp_path, Clock(), hasher)
    monkeypatch.setattr(unicodedata, "normalize", normalize)

    assert accounts.check("x" * 161, RIGHT) is None
    with pytest.raises(AccountError, match="1 to 40 characters: this one has 161[.]"):
        checked_name("x" * 161)
    assert hasher.method_calls == normalize.mock_calls == []


@pytest.mark.parametrize(
    "name",
    [
        "a",
        "Anne-Marie O'Neil",
        "r2d2",
        "张伟",
        "अनिता",
        "Zoë",
        "a.b_c@d",
        "Юрий",
        "x" * 40,
        "\u1f82" * 40,
    ],
)
def test_a_name_may_be_and_is_kept_in_form_nfc(name):
    assert checked_name(name) == checked_name(unicodedata.normalize("NFD", name)) == name


@pytest.mark.parametrize(
    "name",
    ["", "x" * 41, "policy:accept", "a:b", " bob", "bob ", "bob  lee", "-bob", "bob.", "<b>", "a/b"]
    + [
        "bob\n",
        "bob\x00",
        "b\u200bob",  # zero width space
        "bob\u202e",  # turns the text round
        "bob\U000e0100",  # the same, of a Chinese character
        "bob\U0001bc9d",  # a selector of shorthand, which shows nothing
        "\u3164",  # a letter that shows nothing
        "\ud800",
        "b\u043eb",  # a Cyrillic o
    ],
)
def test_a_name_may_not_be(name):
    with pytest.raises(AccountError, match="^A name .*[.]$"):
        checked_name(name)


@pytest.mark.parametrize(
    "one, other",
    [
        ("Alice", "aLICE"),
        ("Zo\u00eb", "ZOE\u0308"),
        ("bob", "\uff42\uff4f\uff42"),
        ("Strauß", "STRAUSS"),
    ],
)
def test_names_that_look_alike_are_one(one, other):
    assert folded_name(one) == folded_name(other)


@given(st.text(max_size=50))
def test_whatever_is_typed_a_name_is_safe_to_show_and_stays_what_it_is(typed):
    folded_name(typed).encode()
    try:
        name = checked_name(typed)
    except AccountError:
        return
    assert name.isprintable() and ":" not in name and len(name) <= 40
    assert checked_name(name) == name
    assert folded_name(folded_name(name)) == folded_name(name) == folded_name(typed)
