"""Accounts from a shell: what is printed, what is read, and that no password is ever shown."""

import io
import re

import pytest

from dagster_project.cli import main as loom
from resources.files.home import review_path
from resources.review.accounts import Account, Accounts
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


def typed(monkeypatch, text):
    monkeypatch.setattr("sys.stdin", io.StringIO(text))


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


def test_a_password_is_a_line_of_standard_input_and_makes_no_link(run, monkeypatch):
    typed(monkeypatch, f"{RIGHT}\nand more\n")
    code, out, err = run("add", "bob", "--role", "expert", "--password")

    assert (code, out, err) == (0, "bob may review as expert.\n", "")
    assert Accounts(review_path()).check("bob", RIGHT)


def test_at_a_prompt_it_is_asked_for_twice(run, monkeypatch):
    prompted(monkeypatch, RIGHT, RIGHT)
    assert run("add", "bob", "--role", "expert", "--password")[0] == 0
    assert Accounts(review_path()).check("bob", RIGHT)

    prompted(monkeypatch, RIGHT, "another one altogether")
    code, out, err = run("add", "eve", "--role", "expert", "--password")
    assert (code, out, err) == (2, "", "The two passwords differ.\n")
    assert Accounts(review_path()).get("eve") is None


def test_a_list_without_accounts_says_how_to_add_one(run):
    code, out, err = run("list")
    assert (code, err) == (0, "")
    assert out.endswith("vlm-loom review account add NAME --role annotator\n")
    command = out.rpartition("account ")[2].split()
    assert run(*[word.replace("NAME", "ann") for word in command])[0] == 0


def test_serve_says_first_what_keeps_it_from_starting(run, monkeypatch, capsys):
    review_path().with_name("review.yaml").write_text("default: {annotators: 7}\n")
    assert loom(["review", "serve", "--port", str(*free_ports(1))]) == 2
    said = capsys.readouterr()
    assert said.out == "" and "review.yaml" in said.err


def test_the_list_says_who_may_what_and_how_they_sign_in(run, monkeypatch):
    run("add", "Zoë", "--role", "annotator")
    typed(monkeypatch, RIGHT)
    run("add", "bob", "--role", "expert", "--password")
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


def test_a_name_that_is_not_there_is_said_to_be_missing(run, monkeypatch):
    prompted(monkeypatch)  # No password is asked for.
    assert run("password", "who") == (2, "", "There is no account 'who'.\n")
