"""Accounts and the demo from a shell: what is printed and read, and that no password is ever shown."""

import io
import re

import pytest

from assets.common.tables import rows_to_arrow
from dagster_project.cli import main as loom
from methods.ids import canonical_json, content_id
from resources.files.home import review_path, warehouse_path
from resources.review.accounts import Account, Accounts
from resources.review.store import ReviewStore
from resources.warehouse import Warehouse
from review import commands
from tests.doubles.serving import free_ports

RIGHT = "correct horse battery"


@pytest.fixture(autouse=True)
def home(loom_home):
    """Every command works on a home of its own."""
    loom_home.mkdir()


@pytest.fixture
def run(capsys):
    def run(*words):
        code = loom(["review", "account", *words])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def prompted(monkeypatch, *answers):
    """Somebody sits at the terminal and types these at the prompts."""
    left = list(answers)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("getpass.getpass", lambda prompt: left.pop(0))


def test_who_is_added_gets_a_link_that_signs_in_once(run):
    code, out, _ = run("add", "alice", "--role", "annotator")
    said, asked, link = out.splitlines()

    assert code == 0
    assert said == "alice may review as annotator."
    assert asked == "This link signs alice in once, within 3 days:"
    token = re.fullmatch(r"http://127\.0\.0\.1:8090/link/([\w-]{43})", link)[1]
    assert Accounts(review_path()).use_link(token) == Account("alice", "annotator")
    # For where people find the app.
    _, out, _ = run("link", "alice", "--address", "https://review.example/")
    assert re.search(r"^https://review\.example/link/[\w-]{43}$", out, re.MULTILINE)
    # An address that no browser opens is refused before an account is made.
    code, out, err = run("add", "bob", "--role", "annotator", "--address", "review.example")
    assert (code, out) == (2, "") and "does not begin with http:// or https://" in err
    assert Accounts(review_path()).get("bob") is None


def test_at_a_prompt_it_is_asked_for_twice(run, monkeypatch):
    prompted(monkeypatch, RIGHT, RIGHT)
    assert run("add", "bob", "--role", "expert", "--password")[0] == 0
    assert Accounts(review_path()).check("bob", RIGHT)

    prompted(monkeypatch, RIGHT, "another one altogether")
    code, out, err = run("add", "eve", "--role", "expert", "--password")
    assert (code, out, err) == (2, "", "The two passwords differ.\n")
    assert Accounts(review_path()).get("eve") is None
    prompted(monkeypatch)  # No password is asked for where there is no account.
    assert run("password", "who") == (2, "", "There is no account 'who'.\n")


def test_a_password_is_a_line_of_input_and_the_list_says_who_may_what(run, monkeypatch):
    run("add", "Zoë", "--role", "annotator")
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{RIGHT}\nand more\n"))
    added = run("add", "bob", "--role", "expert", "--password")
    assert added == (0, "bob may review as expert.\n", ""), "no link"
    assert Accounts(review_path()).check("bob", RIGHT)
    run("add", "eve", "--role", "annotator")
    run("role", "eve", "admin")
    run("disable", "Zoë")

    assert [re.split("  +", line) for line in run("list")[1].splitlines()] == [
        ["bob", "expert", "by password or link"],
        ["eve", "admin", "by link"],
        ["Zoë", "annotator", "disabled"],
    ]


def test_a_person_gets_another_name_and_then_a_pseudonym(run):
    run("add", "bob", "--role", "expert")
    assert run("rename", "BOB", "robert") == (0, "BOB is robert now, on 0 decisions.\n", "")
    code, out, _ = run("erase", "Robert")
    assert code == 0 and re.match(r"The name is person-[0-9a-f]{8} now", out)
    assert Accounts(review_path()).all() == []


def test_the_demo_queues_its_items_alone_and_prints_links_that_sign_in(capsys, monkeypatch):
    assert loom(["review", "demo"]) == 2
    assert capsys.readouterr().err == "There is nothing to review yet. Run `vlm-loom demo` first.\n"
    content = {"original": "How many?", "rewrite": "Pray, how many?"}
    row = {"item_id": "item", "kind": "rewrite", "set_id": "a set", "context": None}
    row |= {"content": canonical_json(content), "content_hash": content_id(content)}
    row["image_ids"] = []
    Warehouse(warehouse_path()).replace("review.queue", rows_to_arrow("review.queue", [row]))
    served: list[tuple[ReviewStore, Accounts, int]] = []
    monkeypatch.setattr(commands, "_serve", lambda *given: served.append(given) or 0)

    [free] = free_ports(1)
    assert loom(["review", "demo", "--port", str(free)]) == 0
    assert loom(["review", "demo", "--port", str(free)]) == 0  # Again: nothing new, and new links.

    said = capsys.readouterr().out
    for n_new in (1, 0):
        assert f"The review queue has {n_new} new items and 0 changed ones." in said
    store, accounts, port = served[-1]
    assert {each.kind for each in store.progress()} == {"rewrite"}
    links = re.findall(rf"http://127\.0\.0\.1:{free}/link/([\w-]+)", said)
    assert port == free and len(links) == 8
    invited = [accounts.invited(token) for token in links]
    # The first four are void since there are newer ones.
    assert [each and (each.name, each.role) for each in invited] == [None] * 4 + list(
        commands.PEOPLE
    )
