"""Accounts of reviewers: roles, passwords, sign-in links and sessions.

A session is the time between a sign-in and its end. Only the SHA-256 of a token (of a link or a
session) is stored, so that nobody can sign in with the contents of the file. Tokens are 32 random
bytes, so they need neither salt nor a slow hash.
"""

import hashlib
import secrets
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from argon2 import PasswordHasher
from sqlalchemy import Connection, Row, text

from resources.review import lead, names, sign_in_limits
from resources.review.clock import stored_time, time_of_day
from resources.review.credentials import (
    HASHER,
    MOST_TYPED,
    AccountError,
    checked_name,
    folded_name,
    hash_password,
    verify_password,
)
from resources.review.tables import ACCOUNTS, REVIEW
from resources.stores import open_store

ROLES = ("annotator", "expert", "admin")
"""Roles in ascending order: each includes the rights of the roles before it."""

MIN_PASSWORD_LENGTH = 10
LINK_LASTS = timedelta(days=3)
SESSION_LASTS = timedelta(days=14)
IDLE_LASTS = timedelta(days=3)
"""Longer than a night: most people sign in by link and would need a new link each morning."""
SEEN_EVERY = timedelta(minutes=5)
"""The last use of a session is stored at most this often, since each request would be a write."""

_ACCOUNT = """
SELECT name, role, disabled_at IS NOT NULL AS disabled, password IS NOT NULL AS has_password
FROM accounts
"""
_ALL = text(f"{_ACCOUNT} ORDER BY folded")
_BY_FOLDED = text(f"{_ACCOUNT} WHERE folded = :folded")
_ENABLED = text(f"{_ACCOUNT} WHERE name = :name AND disabled_at IS NULL")
_INVITED = text(f"""
{_ACCOUNT} JOIN sign_in_links USING (name)
WHERE token_hash = :token_hash AND expires_at > :now AND disabled_at IS NULL
""")
_TAKEN = text("""
SELECT name FROM accounts WHERE folded = :folded
UNION SELECT reviewer FROM events WHERE reviewer = :name
""")
_FOLD = text("UPDATE accounts SET folded = :folded WHERE name = :name")
_DELETE = text("DELETE FROM accounts WHERE name = :name")
_HAS_DECIDED = text("SELECT 1 FROM events WHERE reviewer = :name")
_ADMINS = text("SELECT folded FROM accounts WHERE role = 'admin' AND disabled_at IS NULL")
_PASSWORD = text("SELECT name, role, password, disabled_at FROM accounts WHERE folded = :folded")
_REHASH = text("""
UPDATE accounts SET password = :rehashed WHERE name = :name AND password = :stored
""")
_CHANGE = {
    column: text(f"UPDATE accounts SET {column} = {value} WHERE folded = :folded RETURNING name")
    for column, value in (
        ("role", ":value"),
        ("password", ":value"),
        (
            "disabled_at",
            "CASE WHEN CAST(:value AS TEXT) IS NULL THEN NULL "
            "ELSE coalesce(disabled_at, :value) END",
        ),
    )
}
_LINK = text("""
INSERT INTO sign_in_links (token_hash, name, expires_at) VALUES (:token_hash, :name, :expires_at)
ON CONFLICT (name) DO UPDATE
SET token_hash = excluded.token_hash, expires_at = excluded.expires_at
""")
_FORGET_LINKS = text("DELETE FROM sign_in_links WHERE expires_at <= :now")
_USE_LINK = text("DELETE FROM sign_in_links WHERE token_hash = :token_hash RETURNING name")
_FORGET_SESSIONS = text("""
DELETE FROM sessions WHERE began_at <= :began_before OR seen_at <= :seen_before
""")
_BEGIN_SESSION = text("""
INSERT INTO sessions (token_hash, name, began_at, seen_at)
SELECT :token_hash, name, :now, :now FROM accounts WHERE name = :name AND disabled_at IS NULL
""")
_SESSION = text("""
SELECT name, role, password, seen_at FROM sessions JOIN accounts USING (name)
WHERE
    token_hash = :token_hash AND disabled_at IS NULL
    AND began_at > :began_after AND seen_at > :seen_after
""")
_SEEN = text("UPDATE sessions SET seen_at = :now WHERE token_hash = :token_hash")
_END_SESSION = text("DELETE FROM sessions WHERE token_hash = :token_hash")
_SIGN_OUT = [
    text(f"DELETE FROM {table} WHERE name = :name") for table in ("sessions", "sign_in_links")
]


@dataclass(frozen=True)
class Account:
    """An account of a person who may review."""

    name: str
    role: str
    disabled: bool = False
    has_password: bool = False

    def may(self, role: str) -> bool:
        """Whether the account has the rights of `role`."""
        return ROLES.index(self.role) >= ROLES.index(role)


class Accounts:
    """The accounts of one review store; thread-safe and process-safe.

    Args:
        clock: Returns the time in UTC; the default is the clock of the machine, or of the database
            server.
        hasher: Makes and verifies password hashes.
    """

    def __init__(
        self,
        path: Path | str,
        clock: Callable[[], datetime] | None = None,
        hasher: PasswordHasher = HASHER,
    ):
        self.path = Path(path)
        self._clock = clock
        self._hasher = hasher
        self._store = open_store(REVIEW, path)

    def close(self) -> None:
        """Close the idle connections. A later call opens new ones."""
        self._store.close()

    def add(self, name: str, role: str, password: str | None = None) -> Account:
        """Add an account.

        Args:
            name: The name.
            role: The role.
            password: The password; without one the person signs in by link.

        Raises:
            AccountError: The name, the role or the password is not valid, or the name exists.
        """
        name = checked_name(name)
        row = {
            "name": name,
            "folded": folded_name(name),
            "role": _checked_role(role),
            "password": None if password is None else self._hashed(password),
        }
        with self._store.transaction() as connection:
            existing = _account_of(connection, name)
            if existing is not None:
                raise AccountError(f"There is an account {existing.name!r} already.")
            created_at = self._current_time(connection)
            connection.execute(ACCOUNTS.insert(), row | {"created_at": created_at})
        return Account(name, role, has_password=password is not None)

    def get(self, name: str) -> Account | None:
        """Return the account of this name, ignoring case, or None."""
        with self._store.read() as connection:
            return _account_of(connection, name)

    def all(self) -> list[Account]:
        """Return all accounts, sorted by name."""
        with self._store.read() as connection:
            return [_account(row) for row in connection.execute(_ALL)]

    def stored_name(self, name: str, role: str = ROLES[0]) -> str:
        """Return the stored spelling of an account's name.

        Args:
            name: The name in any spelling.
            role: The role whose rights the account must have.

        Raises:
            AccountError: There is no such account, or its role lacks these rights.
        """
        account = self.get(name)
        if account is None:
            raise AccountError(
                f"There is no account {name!r}, and decisions need one: add it with vlm-loom review "
                f"account add {shlex.quote(name)} --role annotator, or --role expert for round 2."
            )
        if not account.may(role):
            raise AccountError(
                f"The account {account.name!r} has the role {account.role}, and this needs {role}: "
                "name another account, or change its role with vlm-loom review account role "
                f"{shlex.quote(account.name)} {role}."
            )
        return account.name

    def set_role(self, name: str, role: str) -> None:
        """Change the role of an account, effective from the next request.

        Locks and assignments of rounds in which the new role does not decide end; the drafts stay.

        Args:
            name: The name.
            role: The new role.

        Raises:
            AccountError: There is no such account or role.
        """
        self._update(name, "role", _checked_role(role), no_admin=role != "admin")

    def set_password(self, name: str, password: str) -> None:
        """Change the password of an account and end its sessions and its link.

        Args:
            name: The name.
            password: The new password.

        Raises:
            AccountError: There is no such account, or the password is not valid.
        """
        self._update(name, "password", self._hashed(password), sign_out=True)

    def disable(self, name: str) -> None:
        """Refuse sign-ins under this name, and end its sessions, link, locks and assignments.

        Raises AccountError for an unknown name and for the last administrator who can sign in.
        """
        with self._store.read() as connection:
            current_time = self._current_time(connection)
        self._update(name, "disabled_at", current_time, sign_out=True, no_admin=True)

    def enable(self, name: str) -> None:
        """Let a disabled account sign in again. Raises AccountError for an unknown name."""
        self._update(name, "disabled_at", None)

    def rename(self, name: str, new: str) -> int:
        """Rename an account, also on its decisions.

        Args:
            name: The name.
            new: The new name.

        Returns:
            The number of renamed decisions.

        Raises:
            AccountError: There is no such account, or the new name is not valid.
        """
        new = checked_name(new)
        with self._store.transaction() as connection:
            old = _written(connection, name)
            person = {"name": new, "folded": folded_name(new)}
            others = list(connection.execute(_TAKEN, person).scalars())
            if any(other != old for other in others):
                raise AccountError(f"There is a person {others[0]!r} already.")
            n_decisions = names.replace(connection, old, new)
            connection.execute(_FOLD, person)
        return n_decisions

    def erase(self, name: str) -> str:
        """Replace a person's name by a pseudonym everywhere, and delete the account; decisions stay.

        Returns the pseudonym. Raises AccountError, also for the last administrator who can sign in.
        """
        with self._store.erasing() as connection:
            old = _written(connection, name)
            _require_other_admin(connection, old)
            sign_in_limits.forget_attempts(connection, _sha256(folded_name(old)))
            lead.release_other_rounds(connection, old, None)
            pseudonym = names.forget(connection, old)
            connection.execute(_DELETE, {"name": pseudonym})
        return pseudonym

    def check(self, name: str, password: str, address: str = "") -> Account | None:
        """Check a password. An outdated hash is replaced.

        A wrong password, a disabled account and an unknown name give the same result after the same
        amount of work, so that the response time does not reveal which names have an account. A name
        that is too long for an account is refused at once.

        Args:
            name: The name.
            password: The password.
            address: The client's address.

        Returns:
            The account; None if the sign-in is refused.

        Raises:
            TooManyAttempts: There were too many failed attempts.
        """
        if len(name) > MOST_TYPED:
            return None
        name_hash = _sha256(folded_name(name))
        with self._store.transaction() as connection:
            # Count before verifying, so that many attempts at once cannot pass the limit.
            sign_in_limits.count_attempt(connection, name_hash, address, self._time(connection))
            row = connection.execute(_PASSWORD, {"folded": folded_name(name)}).first()
        stored = row.password if row else None
        right = verify_password(password, stored, self._hasher)
        if row is None or stored is None or not right or row.disabled_at:
            return None
        rehashed = None
        if self._hasher.check_needs_rehash(stored):
            rehashed = hash_password(password, self._hasher)
        with self._store.transaction() as connection:
            sign_in_limits.forget_attempts(connection, name_hash)
            if rehashed is not None:
                # The statement changes nothing if the password was changed since it was read.
                hashes = {"rehashed": rehashed, "name": row.name, "stored": stored}
                connection.execute(_REHASH, hashes)
        return Account(row.name, row.role, has_password=True)

    def link(self, name: str) -> str:
        """Create a token that signs in once, within `LINK_LASTS`; it replaces an earlier token.

        Raises AccountError if there is no such account, or if it is disabled.
        """
        token = secrets.token_urlsafe(32)
        with self._store.transaction() as connection:
            account = _account_of(connection, name)
            if account is None or account.disabled:
                raise AccountError(f"There is no account {name!r} that may sign in.")
            link = {"token_hash": _sha256(token), "name": account.name}
            connection.execute(
                _LINK, link | {"expires_at": self._current_time(connection, LINK_LASTS)}
            )
        return token

    def invited(self, token: str) -> Account | None:
        """Return the account that a link would sign in; the link stays usable."""
        with self._store.read() as connection:
            link = {"token_hash": _sha256(token), "now": self._current_time(connection)}
            row = connection.execute(_INVITED, link).first()
        return None if row is None else _account(row)

    def use_link(self, token: str) -> Account | None:
        """Use up a link and return its account; of several uses at the same time, only one succeeds."""
        with self._store.transaction() as connection:
            connection.execute(_FORGET_LINKS, {"now": self._current_time(connection)})
            name = connection.execute(_USE_LINK, {"token_hash": _sha256(token)}).scalar()
            row = connection.execute(_ENABLED, {"name": name}).first()
        return None if row is None else _account(row)

    def begin_session(self, name: str) -> str:
        """Begin a session and return its token. Raises AccountError if the account may not sign in."""
        token = secrets.token_urlsafe(32)
        with self._store.transaction() as connection:
            ended = {
                "began_before": self._current_time(connection, -SESSION_LASTS),
                "seen_before": self._current_time(connection, -IDLE_LASTS),
            }
            connection.execute(_FORGET_SESSIONS, ended)
            current_time = self._current_time(connection)
            session = {"token_hash": _sha256(token), "name": name, "now": current_time}
            if connection.execute(_BEGIN_SESSION, session).rowcount == 0:
                raise AccountError(f"There is no account {name!r} that may sign in.")
        return token

    def session(self, token: str) -> Account | None:
        """Return the account of a session token; None without a valid session.

        Stores the time of the request, at most once in `SEEN_EVERY`.
        """
        token_hash = _sha256(token)
        with self._store.read() as connection:
            current_time = self._time(connection)
            current = {
                "token_hash": token_hash,
                "began_after": stored_time(current_time - SESSION_LASTS),
                "seen_after": stored_time(current_time - IDLE_LASTS),
            }
            row = connection.execute(_SESSION, current).first()
            if row is None:
                return None
            if row.seen_at <= stored_time(current_time - SEEN_EVERY):
                values = {"token_hash": token_hash, "now": stored_time(current_time)}
                connection.execute(_SEEN, values)
        return Account(row.name, row.role, has_password=row.password is not None)

    def end_session(self, token: str) -> None:
        """End the session of this token, if there is one."""
        with self._store.transaction() as connection:
            connection.execute(_END_SESSION, {"token_hash": _sha256(token)})

    def _update(
        self,
        name: str,
        column: str,
        value: str | None,
        *,
        sign_out: bool = False,
        no_admin: bool = False,
    ) -> None:
        """Change an account. With `no_admin`, raises AccountError if it is the last administrator's."""
        with self._store.transaction() as connection:
            if no_admin:
                _require_other_admin(connection, name)
            values = {"value": value, "folded": folded_name(name)}
            changed = connection.execute(_CHANGE[column], values).scalar()
            if changed is None:
                raise AccountError(f"There is no account {name!r}.")
            if column == "role":
                lead.release_other_rounds(connection, changed, value)
            elif column == "disabled_at" and value is not None:
                lead.release_other_rounds(connection, changed, None)
            for end in _SIGN_OUT if sign_out else ():
                connection.execute(end, {"name": changed})

    def _hashed(self, password: str) -> str:
        if len(password) < MIN_PASSWORD_LENGTH:
            raise AccountError(f"A password has at least {MIN_PASSWORD_LENGTH} characters.")
        return hash_password(password, self._hasher)

    def _current_time(self, connection: Connection, shift: timedelta = timedelta()) -> str:
        return stored_time(self._time(connection) + shift)

    def _time(self, connection: Connection) -> datetime:
        return self._clock() if self._clock else time_of_day(connection)


def _written(connection: Connection, name: str) -> str:
    """Return the spelling of a name in its account, or on decisions. Raises AccountError if unknown."""
    account = _account_of(connection, name)
    if account is not None:
        return account.name
    if connection.execute(_HAS_DECIDED, {"name": name}).first() is None:
        raise AccountError(f"There is no account {name!r}, and no decision of that name.")
    return name


def _require_other_admin(connection: Connection, name: str) -> None:
    """Raise AccountError if this is the last administrator who can sign in."""
    if list(connection.execute(_ADMINS).scalars()) == [folded_name(name)]:
        raise AccountError(
            f"{name} is the last administrator who can sign in: make somebody else an administrator "
            "first."
        )


def _account_of(connection: Connection, name: str) -> Account | None:
    """Return the account of this name, ignoring case, or None."""
    row = connection.execute(_BY_FOLDED, {"folded": folded_name(name)}).first()
    return None if row is None else _account(row)


def _account(row: Row[Any]) -> Account:
    return Account(row.name, row.role, bool(row.disabled), bool(row.has_password))


def _checked_role(role: str) -> str:
    if role not in ROLES:
        raise AccountError(f"A role is one of {', '.join(ROLES)}: not {role!r}.")
    return role


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
