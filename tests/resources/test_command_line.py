"""The form of every command: what is wrong is one sentence, and help shows how each is used."""

import json
from collections.abc import Iterator

import click
import pytest

from dagster_project.cli import NAME, vlm_loom
from dagster_project.cli import main as loom
from methods.errors import UserError
from resources import command_line
from resources.command_line import ChoiceWithSuggestion, Command, CommandGroup, say_workspace
from resources.files import home
from tests.command_lines import fault_of

pytestmark = pytest.mark.slow


def commands(command: click.Command, *path: str) -> Iterator[tuple[tuple[str, ...], Command]]:
    """Each command that does something, by its words."""
    if not isinstance(command, click.Group):
        yield path, command
        return
    for name, below in command.commands.items():
        yield from commands(below, *path, name)


ALL = dict(commands(vlm_loom))


@click.group("some", cls=CommandGroup)
def some() -> None:
    """Some commands."""


@some.command("list", workspace="optional")
def list_() -> int:
    """List."""
    return 0


@some.command(workspace="optional")
@click.argument("id")
@click.argument("name")
@click.option("--language", type=ChoiceWithSuggestion(("english", "chinese")), required=True)
@click.option("--port", type=command_line.PORT, default=80, envvar="PORT")
@click.option("--round", "round_", type=click.IntRange(1, 2))
def pin(**given: object) -> int:
    """Pin."""
    return 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("lst", ": there is no command 'lst'; the nearest is list."),
        ("pin", " pin: say ID and NAME and --language, too."),
        ("pin --language=english a", " pin: say NAME, too."),
        ("pin a b --languge x", " pin: there is no option --languge; the nearest is --language."),
        ("--languge pin", ": there is no option --languge; the nearest is --language."),
        (
            "pin a b --language englich",
            " pin: --language: there is no 'englich'; the nearest is english.",
        ),
        ("pin a b --language english --port 0", " pin: --port: 0 is not a port: give a number"),
        ("pin a b --language english --port http", " pin: --port: http is not a port: give a"),
        ("pin a b --language english --round 3", " pin: --round: 3 is not in the range 1<=x<=2."),
        ("list all", " list: got unexpected extra argument (all)."),
    ],
)
def test_what_is_wrong_is_one_sentence(given, said, capsys):
    assert command_line.run(some, "some", given.split()) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.count("\n") == 1
    assert printed.err.startswith(f"some{said}")


def test_a_variable_that_is_wrong_is_named(monkeypatch, capsys):
    monkeypatch.setenv("PORT", "http")
    assert command_line.run(some, "some", ["pin", "a", "b", "--language", "english"]) == 2
    assert capsys.readouterr().err.startswith("some pin: PORT: http is not a port: ")


def test_a_folder_of_the_workspace_that_may_not_be_written_is_named(loom_home, capsys):
    (loom_home / "images").mkdir(parents=True)
    group = CommandGroup("some")

    @group.command("store", workspace="unused")
    def store() -> None:
        raise PermissionError(13, "Permission denied", str(loom_home / "images" / "ab"))

    assert command_line.run(group, "some", ["store"]) == 2
    assert f"make {loom_home}/images a folder that you may write to" in capsys.readouterr().err


def test_an_interrupt_has_its_own_code_and_what_it_says(monkeypatch, capsys):
    def interrupted() -> None:
        raise KeyboardInterrupt("What was made is kept.")

    monkeypatch.setattr(some.commands["list"], "callback", interrupted)
    assert command_line.run(some, "some", ["list"]) == 130
    assert capsys.readouterr().err.strip() == "What was made is kept."


@pytest.fixture
def said_of_the_workspace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_line, "say_workspace", say_workspace)


@pytest.mark.parametrize("set_by", ["LOOM_WORKSPACE", "--workspace", None])
def test_a_command_says_first_which_workspace_it_uses_and_keeps_its_output_clean(
    set_by, said_of_the_workspace, loom_home, monkeypatch, capsys
):
    loom_home.mkdir()
    words = ["release", "list", "--json"]
    line = f"Workspace: {loom_home}"
    if set_by == "--workspace":
        monkeypatch.setenv("LOOM_WORKSPACE", "another")
        words += ["--workspace", str(loom_home)]
    if set_by is None:
        monkeypatch.delenv("LOOM_WORKSPACE")
        monkeypatch.setattr(home, "DEFAULT", loom_home)
        line += " (the default: --workspace names another)"
    assert loom(words) == 0
    printed = capsys.readouterr()
    assert (json.loads(printed.out), printed.err) == ([], f"{line}\n")


def test_commands_that_use_no_workspace_say_nothing_of_one(said_of_the_workspace, capsys):
    without = {words for words in ALL if ALL[words].workspace == "unused"}
    assert without == {("completion",), ("release", "forms"), ("model", "mock-server")}
    assert loom(["release", "forms"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("name", ["a?b", "a%41b", "a\\b", "a[b]", "a*b"])
def test_every_command_refuses_a_path_that_databases_misread_and_makes_nothing(
    name, tmp_path, loom_home, monkeypatch
):
    monkeypatch.setenv("LOOM_WORKSPACE", str(tmp_path / name / "home"))
    for words in ALL if name == "a?b" else [("release", "list")]:
        command = ALL[words]
        if command.workspace == "unused":
            continue
        said = "Rename that folder, or set --workspace or LOOM_WORKSPACE"
        with pytest.raises(UserError, match=said):
            command.invoke(click.Context(command))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_help_says_what_each_does_and_has_an_example_that_can_be_typed(words, capsys):
    command = ALL[words]
    assert isinstance(command, Command)
    assert loom([*words, "--help"]) == 0
    help_ = capsys.readouterr().out
    assert command_line.WORKSPACE in command.params
    assert command.help and "--workspace" in help_ and str(home.DEFAULT) in help_
    example = help_.partition("\n  Example: ")[2].rstrip("\n")
    assert f"{NAME} {' '.join(words)}" in example and "\n" not in example
    assert fault_of(example.partition(f"{NAME} ")[2].removesuffix(')"')) is None


@pytest.mark.parametrize(
    "words",
    [
        ["home", "check-ledger", "--home", "HERE"],
        ["--home", "HERE", "workspace", "check-ledger"],
        ["workspace", "--workspace", "HERE", "check-ledger"],
        ["workspace", "check-ledger", "--workspace", "HERE"],
    ],
)
def test_former_names_of_the_option_and_the_group_are_understood(
    words, tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("LOOM_WORKSPACE", "another")
    here = str(tmp_path / "here")
    assert loom([here if word == "HERE" else word for word in words]) == 2
    assert f"There is no workspace at {here}" in capsys.readouterr().err
    assert loom(["model", "ask-anew", "--help"]) == 0
    assert "--home" not in capsys.readouterr().out, "the former option is not advertised"
    assert loom(["model", "offline-server", "--help"]) == 0
    assert "Serve the mock models" in capsys.readouterr().out
