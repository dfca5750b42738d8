"""Arguments of commands: what is wrong is one sentence, without argparse's usage."""

import pytest

from methods.errors import UserError
from resources.command_line import CommandParser, require_said


def parser() -> CommandParser:
    made = CommandParser(prog="python -m releases")
    commands = made.add_subparsers(required=True, metavar="command")
    commands.add_parser("list")
    pin = commands.add_parser("pin")
    pin.add_argument("id")
    pin.add_argument("name")
    pin.add_argument("--language", choices=("english", "chinese"))
    return made


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["lst"], "releases: there is no command 'lst'; the nearest is list."),
        ([], "releases: say command, too."),
        (["pin"], "pin: say id, name, too."),
        (["pin", "a"], "pin: say name, too."),
        (
            ["pin", "a", "b", "--languge", "english"],
            "releases: there is no argument --languge; the nearest is --language.",
        ),
        (
            ["pin", "a", "b", "--language", "englich"],
            "pin: there is no --language 'englich'; the nearest is english.",
        ),
    ],
)
def test_what_is_wrong_is_one_sentence(
    given: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        parser().parse_args(given)
    assert capsys.readouterr().err == f"{said}\n"


def test_what_is_right_is_read() -> None:
    read = parser().parse_args(["pin", "a", "b", "--language", "chinese"])
    assert (read.id, read.name, read.language) == ("a", "b", "chinese")


def test_all_that_is_missing_is_named_at_once() -> None:
    require_said({"FILE=path": "x"})
    with pytest.raises(UserError, match=r"^Say RELEASE=name MODEL=name\.$"):
        require_said({"RELEASE=name": "", "FILE=path": "x", "MODEL=name": None})
