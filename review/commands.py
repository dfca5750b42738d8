"""The CLI commands `vlm-loom review`: serve the app, manage accounts, export and import files.

Each function imports the modules that it needs when it is called. A password is read from a prompt or
from standard input, never from an argument: other users of the machine can see arguments, and shells
store them.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from methods.delimited import Quoting
from methods.errors import UserError, printable
from methods.review import KINDS, ROUNDS, QueueItem
from methods.review.process import ROLE_OF_ROUND
from resources import command_line
from resources.command_line import (
    FILE,
    QUOTING,
    ChoiceWithSuggestion,
    ReadingCommand,
    WorkspaceCommandGroup,
)
from resources.review.accounts import ROLES
from resources.settings.extras import extras
from resources.web.ports import (
    HOST,
    REVIEW_ADDRESS,
    REVIEW_PORT,
    REVIEW_VARIABLE,
    addresses_in,
    require_free,
)

if TYPE_CHECKING:
    from resources.review.accounts import Accounts
    from resources.review.store import ReviewStore
    from review.import_export import ImportResult
    from review.proxy import SignInHeader

PEOPLE = (("anna", "annotator"), ("ben", "annotator"), ("eva", "expert"), ("ada", "admin"))
"""The accounts of `review demo`."""
OF_EXTRAS = {form: module for extra in extras() for form, module in extra.review_formats.items()}
"""Further file formats of extras -> the modules that write and read them."""
QUEUES = ("evaluate.score_queue", "evaluate.extraction_queue", "evaluate.item_queue")
"""Tables with further items to decide on, in addition to `review.queue`."""

_port = click.option(
    "--port", type=command_line.PORT, default=REVIEW_PORT, envvar="PORT", show_default=True
)


def _with_scheme(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    """Return the first address of the option; raise BadParameter if its scheme is missing."""
    (value, *_) = addresses_in(value) or [""]
    if not value.startswith(("http://", "https://")):
        raise click.BadParameter(
            f"{value!r} does not begin with http:// or https://; say https://{value}"
        )
    return value


_address = click.option(
    "--address",
    callback=_with_scheme,
    default=REVIEW_ADDRESS,
    envvar=REVIEW_VARIABLE,
    show_default=True,
    help="The address of the app, as users open it.",
)
_format = click.option(
    "--format",
    "form",
    type=ChoiceWithSuggestion(("jsonl", "csv", *OF_EXTRAS)),
    default="jsonl",
    help="csv is for spreadsheets.",
)
_ROUND = click.IntRange(min(ROUNDS), max(ROUNDS))
round_option = click.option("--round", "round_", type=_ROUND, required=True)
reviewer_option = click.option("--reviewer", required=True, help="The name on the decisions.")


@click.group("review", cls=WorkspaceCommandGroup)
def review() -> None:
    """Review items: the app, accounts, files."""


# --- The app ---------------------------------------------------------------------------------------


@review.command(params=[command_line.LISTEN], example="vlm-loom review serve --port 8091")
@_port
@click.option(
    "--sign-in-header",
    envvar="LOOM_SIGN_IN_HEADER",
    help="The header in which a proxy names who has signed in, such as X-Forwarded-Email.",
)
@click.option(
    "--trusted-proxy",
    multiple=True,
    envvar="LOOM_TRUSTED_PROXY",
    help="An address or network that this header, X-Forwarded-For and X-Forwarded-Proto are believed "
    "from, such as 127.0.0.1; repeatable.",
)
def serve(
    listen: str, port: int, sign_in_header: str | None, trusted_proxy: tuple[str, ...]
) -> None:
    """Serve the review app, on loopback by default."""
    from review import proxy

    believed = proxy.sign_in_header(sign_in_header, trusted_proxy)
    # Check the port first, before the stores are opened.
    require_free(port)
    store, accounts = review_store(), _accounts()
    if not accounts.all():
        print("Nobody can sign in yet: run vlm-loom review account add NAME --role annotator")
    _serve(store, accounts, port, believed, listen, trusted_proxy)


@review.command(example="vlm-loom review demo")
@_port
def demo(port: int) -> None:
    """Serve the review app on the demo's items, with accounts to try it."""
    from resources.warehouse.configured import warehouse_of_home

    if not warehouse_of_home().is_there():
        raise UserError("There is nothing to review yet. Run `vlm-loom demo` first.")
    # Before new links replace earlier ones, which people may still need.
    require_free(port)
    queue = read_queue()
    accounts, store = _accounts(), review_store()
    changes = store.update_queue(queue)
    print(f"The review queue has {changes.new} new items and {changes.changed} changed ones.")
    print("Sign-in links, each for one use:")
    for name, role in PEOPLE:
        account = accounts.get(name) or accounts.add(name, role)
        token = accounts.link(account.name)
        print(f"  {name} ({account.role}): http://{HOST}:{port}/link/{token}")
    _serve(store, accounts, port)


def _serve(
    store: "ReviewStore",
    accounts: "Accounts",
    port: int,
    proxy: "SignInHeader | None" = None,
    listen: str = HOST,
    trusted: Sequence[str] = (),
) -> None:
    import uvicorn

    from resources.images.store import open_images
    from review.app import create_app
    from review.server import proxy_options

    print(f"Review on http://{listen}:{port} (Ctrl-C stops it)", flush=True)
    app = create_app(store, accounts, open_images(), proxy)
    uvicorn.run(app, port=port, **{**proxy_options(trusted), "host": listen})


# --- Accounts --------------------------------------------------------------------------------------


@review.group()
def account() -> None:
    """Add and change the accounts of reviewers."""


@account.command(example="vlm-loom review account add ann --role annotator", workspace="optional")
@click.argument("name")
@click.option("--role", type=ChoiceWithSuggestion(ROLES), required=True)
@click.option("--password", is_flag=True, help="Ask for a password instead of printing a link.")
@_address
def add(name: str, role: Any, password: bool, address: str) -> None:
    """Add an account; prints a link that signs in once."""
    accounts = _accounts()
    chosen_password = _read_password() if password else None
    added = accounts.add(name, role, chosen_password)
    print(f"{added.name} may review as {added.role}.")
    if chosen_password is None:
        _print_link(accounts, added.name, address)


@account.command("list", cls=ReadingCommand, example="vlm-loom review account list")
def list_accounts() -> None:
    """Every account."""
    people = _accounts().all()
    if not people:
        print("There are no accounts yet: run vlm-loom review account add NAME --role annotator")
    for person in people:
        signs_in = "disabled" if person.disabled else "by link"
        if person.has_password and not person.disabled:
            signs_in = "by password or link"
        print(f"{person.name:<40}  {person.role:<9}  {signs_in}")


@account.command(example="vlm-loom review account role ann expert")
@click.argument("name")
@click.argument("role", type=ChoiceWithSuggestion(ROLES))
def role(name: str, role: Any) -> None:
    """Give an account another role."""
    _accounts().set_role(name, role)
    print(f"{name} may review as {role}.")


@account.command(example="vlm-loom review account password ann")
@click.argument("name")
def password(name: str) -> None:
    """Ask for an account's new password (a line of standard input where that is no terminal)."""
    from resources.review.accounts import AccountError

    accounts = _accounts()
    if accounts.get(name) is None:
        raise AccountError(f"There is no account {name!r}.")
    accounts.set_password(name, _read_password())
    print(f"{name} has a new password, and is signed out everywhere.")


@account.command(example="vlm-loom review account link ann")
@click.argument("name")
@_address
def link(name: str, address: str) -> None:
    """Print a link that signs in once."""
    _print_link(_accounts(), name, address)


@account.command(example="vlm-loom review account disable ann")
@click.argument("name")
def disable(name: str) -> None:
    """Sign an account out and refuse further sign-ins."""
    _accounts().disable(name)
    print(f"{name} is signed out everywhere and cannot sign in any more.")


@account.command(example="vlm-loom review account rename ann anne")
@click.argument("name")
@click.argument("new")
def rename(name: str, new: str) -> None:
    """Give a person another name, on decisions and comments, too."""
    n_decisions = _accounts().rename(name, new)
    print(f"{name} is {new} now, on {n_decisions} decisions.")


@account.command(example="vlm-loom review account erase ann")
@click.argument("name")
def erase(name: str) -> None:
    """Replace a person's name by a pseudonym; decisions stay."""
    pseudonym = _accounts().erase(name)
    print(f"The name is {pseudonym} now, everywhere in review.sqlite; the account is gone.")
    print("Run vlm-loom run review to put the pseudonym into the tables of review.")


@account.command(example="vlm-loom review account enable ann")
@click.argument("name")
def enable(name: str) -> None:
    """Let a disabled account sign in again."""
    _accounts().enable(name)
    print(f"{name} can sign in again.")


def _print_link(accounts: "Accounts", name: str, address: str) -> None:
    from resources.review.accounts import LINK_LASTS

    token = accounts.link(name)
    print(f"This link signs {name} in once, within {LINK_LASTS.days} days:")
    print(f"{address.rstrip('/')}/link/{token}")


def _read_password() -> str:
    """Ask for a password twice at a terminal; without one, read a line of standard input."""
    import getpass

    from resources.review.accounts import AccountError

    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    password = getpass.getpass("Password: ")
    if password != getpass.getpass("The same again: "):
        raise AccountError("The two passwords differ.")
    return password


# --- Files -----------------------------------------------------------------------------------------


@review.command(cls=ReadingCommand, example="vlm-loom review export --out round1.csv --format csv")
@click.option("--out", type=FILE, required=True, help="The file to write; it must not exist.")
@click.option("--kind", type=ChoiceWithSuggestion(list(KINDS)), help="Only items of this kind.")
@click.option("--round", "round_", type=_ROUND, default=1, show_default=True)
@click.option("--reviewer", help="Only items that this person may decide.")
@click.option("--early", is_flag=True, help="Round 2: also items whose round 1 is open.")
@_format
def export(
    out: Path, kind: str | None, round_: int, reviewer: str | None, early: bool, form: str
) -> None:
    """Write the items that need a decision to a file."""
    from resources.images.store import open_images
    from review.import_export import items_to_export
    from review.jsonl import write_jsonl
    from review.spreadsheet import write_csv

    store = review_store()
    if reviewer is not None:
        reviewer = known_reviewer(reviewer, round_)
    images = open_images()
    items: list[QueueItem] = [
        {**item, "image_paths": [str(images.path(image_id)) for image_id in item["image_ids"]]}
        for item in read_queue()
        if kind in (None, item["kind"])
    ]
    exported = items_to_export(items, store, round_, reviewer, early)
    try:
        if form in OF_EXTRAS:
            print(import_module(OF_EXTRAS[form]).write_items(exported, kind, round_, out, images))
        else:
            {"jsonl": write_jsonl, "csv": write_csv}[form](exported, round_, out)
    except FileExistsError as error:
        raise UserError(
            f"{error.filename} exists already and may have been filled in: give another name."
        ) from None
    print(f"{len(exported)} of {len(items)} items need a decision in round {round_}: {out}")


@review.command(
    "import", params=[QUOTING], example="vlm-loom review import round1.csv --reviewer ann --round 1"
)
@click.argument("file", type=FILE)
@reviewer_option
@round_option
@_format
def import_(file: Path, reviewer: str, round_: int, form: str, quoting: Quoting) -> int:
    """Store the decisions of a filled-in file."""
    from resources.files.import_limits import import_limits
    from review.import_export import Record, import_records
    from review.jsonl import read_jsonl
    from review.spreadsheet import read_csv

    reviewer = known_reviewer(reviewer, round_)
    own: dict[str, Callable[[Path], Iterator[Record]]] = {
        "jsonl": read_jsonl,
        "csv": partial(read_csv, quoting=quoting),
    }
    reader = own.get(form) or import_module(OF_EXTRAS[form]).read_records
    store = review_store()
    with import_limits(file):
        imported = import_records(read_queue(), store, reader(file), reviewer, round_)
    return report_import(imported)


@review.command(
    cls=ReadingCommand, example="vlm-loom review dump --out review.zip --format parquet"
)
@click.option("--out", type=FILE, required=True, help="The file to write; it must not exist.")
@click.option(
    "--format", "form", type=ChoiceWithSuggestion(("csv", "jsonl", "parquet")), default="csv"
)
def dump(out: Path, form: str) -> None:
    """Write all decisions, revisions, comments and effort to one file."""
    from resources.files.atomic import write_new
    from review.dump import dump_file

    data = dump_file(review_store(), form)
    try:
        write_new(out, data)
    except FileExistsError:
        raise UserError(f"{out} exists already: give another name.") from None
    print(f"{out} has everything that people did, as {form}; vlm-loom review load reads it back.")


@review.command(example="vlm-loom review load review.zip")
@click.argument("file", type=FILE)
def load(file: Path) -> int:
    """Store the decisions, comments and gold items of a file that `review dump` wrote."""
    from resources.files.import_limits import import_limits
    from review.load import load

    with import_limits(file):
        loaded = load(file, review_store())
    stored = loaded.stored
    print(
        f"{stored.decisions} decisions and {stored.comments} comments added, {stored.n_known} known "
        "already"
    )
    if stored.n_ended:
        print(f"{stored.n_ended} known decisions were taken back or ended, as they are in the file")
    if stored.diverged:
        shown = ", ".join(stored.diverged[:5])
        print(
            f"The decisions of the file on {len(stored.diverged)} items were left out, as this "
            f"store has other decisions on them: {shown}. Those stored here count. To take over a "
            "single decision of the file, decide so in the app.",
            file=sys.stderr,
        )
    if loaded.without_item:
        print(
            f"{loaded.without_item} decisions were left out: their items were never in the queue "
            "here; load the file again once review/queue has them, as it has where the settings and "
            "the pages are the same.",
            file=sys.stderr,
        )
    if loaded.of_other_gold:
        print(
            f"{loaded.of_other_gold} decisions on gold items were left out: the items that these are "
            "copies of are not here with the same content, or the file is of an earlier version; "
            "make gold on the lead's page and load the file again.",
            file=sys.stderr,
        )
    return 1 if stored.diverged or loaded.without_item or loaded.of_other_gold else 0


def read_queue() -> list[QueueItem]:
    """Read the items of all review queues from the warehouse. Raises UserError if there is none yet."""
    from methods.review import queue_item
    from resources.warehouse.configured import warehouse_of_home

    warehouse = warehouse_of_home()
    if not warehouse.is_there():
        raise UserError(
            f"There is no warehouse at {warehouse.path}: materialize review/queue first."
        )
    queues = [
        warehouse.read("review/queue"),
        *(warehouse.select(table, order="item_id") for table in QUEUES),
    ]
    return [queue_item(row) for queue in queues for row in queue.to_pylist()]


def report_import(result: "ImportResult") -> int:
    """Print the result of an import; return the exit code, 1 if records were invalid."""
    for problem in result.problems:
        # On one line, so that no text of the file reads as another message.
        print(" ".join(printable(problem).splitlines()), file=sys.stderr)
    print(
        f"{result.added} decisions added, {result.n_known} known already, "
        f"{result.left_open} left open, {len(result.problems)} at fault"
    )
    return 1 if result.problems else 0


def review_store() -> "ReviewStore":
    """Open the review store of the workspace."""
    from resources.files.home import review_path
    from resources.review.store import ReviewStore

    return ReviewStore(review_path())


def known_reviewer(name: str, round_: int) -> str:
    """Find the account of a reviewer.

    Args:
        name: The name in any spelling.
        round_: The round in which the person decides.

    Returns:
        The account's spelling of the name.

    Raises:
        AccountError: There is no such account, or its role lacks the rights for that round.
    """
    return _accounts().stored_name(name, ROLE_OF_ROUND[round_])


def _accounts() -> "Accounts":
    """Open the accounts of reviewers."""
    from resources.files.home import review_path
    from resources.review.accounts import Accounts

    return Accounts(review_path())
