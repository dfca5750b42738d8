"""`account add|list|role|password|link|disable|enable`: the accounts of reviewers.

What belongs here: arguments, and what is printed. The rules are in `resources/review/accounts.py`. A
password is read from a prompt or from standard input, never from an argument: other users of the
machine can see arguments, and shells store them.
"""

import argparse
import getpass
import sys

from resources.home import review_path
from resources.review.accounts import LINK_LASTS, ROLES, AccountError, Accounts
from review.commands.serve import HOST, PORT

ADDRESS = f"http://{HOST}:{PORT}"


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `account` and its own commands."""
    account = commands.add_parser("account", help="add and change the accounts of reviewers")
    actions = account.add_subparsers(required=True, metavar="command")

    add = actions.add_parser("add", help="add an account; prints a link that signs in once")
    add.add_argument("name", help="the name on this person's decisions")
    add.add_argument("--role", choices=ROLES, required=True)
    add.add_argument(
        "--password",
        action="store_true",
        help="ask for a password (or read a line of standard input) instead of printing a link",
    )
    _add_address(add)
    add.set_defaults(command=_add)

    show = actions.add_parser("list", help="show every account")
    show.set_defaults(command=_list)

    role = actions.add_parser("role", help="give an account another role")
    role.add_argument("name")
    role.add_argument("role", choices=ROLES)
    role.set_defaults(command=_role)

    password = actions.add_parser(
        "password", help="ask for an account's new password; signs it out"
    )
    password.add_argument("name")
    password.set_defaults(command=_password)

    link = actions.add_parser("link", help="print a link that signs in once")
    link.add_argument("name")
    _add_address(link)
    link.set_defaults(command=_link)

    disable = actions.add_parser("disable", help="sign an account out and refuse further sign-ins")
    disable.add_argument("name")
    disable.set_defaults(command=_disable)

    enable = actions.add_parser("enable", help="let a disabled account sign in again")
    enable.add_argument("name")
    enable.set_defaults(command=_enable)


def _add_address(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--address",
        default=ADDRESS,
        help=f"the address of the app for its users (default {ADDRESS})",
    )


def _add(arguments: argparse.Namespace) -> int:
    accounts = Accounts(review_path())
    password = _read_password() if arguments.password else None
    account = accounts.add(arguments.name, arguments.role, password)
    print(f"{account.name} may review as {account.role}.")
    if password is None:
        _print_link(accounts, account.name, arguments.address)
    return 0


def _list(arguments: argparse.Namespace) -> int:
    for account in Accounts(review_path()).all():
        signs_in = "disabled" if account.disabled else "by link"
        if account.has_password and not account.disabled:
            signs_in = "by password or link"
        print(f"{account.name:<40}  {account.role:<9}  {signs_in}")
    return 0


def _role(arguments: argparse.Namespace) -> int:
    Accounts(review_path()).set_role(arguments.name, arguments.role)
    print(f"{arguments.name} may review as {arguments.role}.")
    return 0


def _password(arguments: argparse.Namespace) -> int:
    accounts = Accounts(review_path())
    if accounts.get(arguments.name) is None:
        raise AccountError(f"There is no account {arguments.name!r}.")
    accounts.set_password(arguments.name, _read_password())
    print(f"{arguments.name} has a new password, and is signed out everywhere.")
    return 0


def _link(arguments: argparse.Namespace) -> int:
    _print_link(Accounts(review_path()), arguments.name, arguments.address)
    return 0


def _disable(arguments: argparse.Namespace) -> int:
    Accounts(review_path()).disable(arguments.name)
    print(f"{arguments.name} is signed out everywhere and cannot sign in any more.")
    return 0


def _enable(arguments: argparse.Namespace) -> int:
    Accounts(review_path()).enable(arguments.name)
    print(f"{arguments.name} can sign in again.")
    return 0


def _print_link(accounts: Accounts, name: str, address: str) -> None:
    token = accounts.link(name)
    print(f"This link signs {name} in once, within {LINK_LASTS.days} days:")
    print(f"{address.rstrip('/')}/link/{token}")


def _read_password() -> str:
    """Ask twice at a terminal; elsewhere read a line of standard input."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    password = getpass.getpass("Password: ")
    if password != getpass.getpass("The same again: "):
        raise AccountError("The two passwords differ.")
    return password
