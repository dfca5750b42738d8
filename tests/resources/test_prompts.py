"""Prompts: our own, or the ones a user points to, each with a version that says which text it is."""

import pytest

from resources import prompts
from resources.home import REPO_ROOT
from resources.prompts import PromptError, prompt

OWN = sorted(
    f"{path.parent.parent.name}/{path.stem}"
    for path in (REPO_ROOT / "methods").glob("*/prompts/*.md")
)
MINE = "Role: judge.\n=== user ===\nMy own words about {{ question | data }}.\n"


@pytest.fixture(autouse=True)
def no_override(monkeypatch):
    monkeypatch.delenv("LOOM_PROMPTS", raising=False)
    prompts._load.cache_clear()


@pytest.fixture
def override(tmp_path, monkeypatch):
    """Writes a prompt into the folder that LOOM_PROMPTS names."""
    monkeypatch.setenv("LOOM_PROMPTS", str(tmp_path / "prompts"))

    def write(name: str, text: str):
        path = tmp_path / "prompts" / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return write


@pytest.mark.parametrize("name", OWN)
def test_every_prompt_of_ours_is_found_under_its_name(name):
    template = prompt(name)

    method, task = name.split("/")
    assert template.name == name
    assert template.source == (REPO_ROOT / f"methods/{method}/prompts/{task}.md").read_text()
    assert template.version.startswith(f"{name}@")


def test_a_file_in_the_users_folder_takes_the_place_of_ours(override):
    ours = prompt("mmdu/judge")
    override("mmdu/judge", MINE)
    prompts._load.cache_clear()

    mine = prompt("mmdu/judge")

    assert mine.source == MINE and mine.name == "mmdu/judge"
    assert mine.version != ours.version
    _, user = mine.render(question="</q> rivers")
    assert user.parts[0].text == "My own words about < /q> rivers."


def test_what_the_users_folder_lacks_stays_ours(override, monkeypatch):
    override("mmdu/judge", MINE)
    under_override = prompt("mmdu/summary")

    monkeypatch.delenv("LOOM_PROMPTS")

    assert under_override.version == prompt("mmdu/summary").version


def test_a_users_folder_may_hold_prompts_that_we_do_not_have(override):
    override("my/own", MINE)

    assert prompt("my/own").source == MINE


def test_an_empty_loom_prompts_is_none(tmp_path, monkeypatch):
    (tmp_path / "mmdu").mkdir()
    (tmp_path / "mmdu" / "judge.md").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LOOM_PROMPTS", "")

    assert prompt("mmdu/judge").source != MINE


@pytest.mark.parametrize("change", [" ", "\n", "!"])
def test_the_version_changes_with_any_letter_of_the_text(override, change):
    path = override("mmdu/judge", MINE)
    first = prompt("mmdu/judge").version
    path.write_text(MINE + change)
    prompts._load.cache_clear()

    assert prompt("mmdu/judge").version != first

    path.write_text(MINE)
    prompts._load.cache_clear()
    assert prompt("mmdu/judge").version == first


def test_a_missing_prompt_is_one_sentence_that_names_the_file():
    with pytest.raises(PromptError) as caught:
        prompt("mmdu/gone")

    path = REPO_ROOT / "methods/mmdu/prompts/gone.md"
    assert str(caught.value) == f"There is no prompt file {path}; restore it or unset LOOM_PROMPTS."


def test_a_missing_prompt_of_the_user_names_the_users_file(override, tmp_path):
    with pytest.raises(PromptError, match=f"There is no prompt file {tmp_path}/prompts/my/own.md"):
        prompt("my/own")


@pytest.mark.parametrize(
    "text",
    ["Only one part.\n", "", "System. === user === User.\n", "System.\n=== User ===\nUser.\n"],
)
def test_a_prompt_without_its_divider_is_refused_not_half_sent(override, text):
    path = override("mmdu/judge", text)

    with pytest.raises(PromptError) as caught:
        prompt("mmdu/judge")

    assert str(caught.value) == (
        f"The prompt {path} has no line '=== user ===' between its two parts."
    )


def test_a_prompt_put_right_is_found_without_a_restart(override):
    path = override("mmdu/judge", "Only one part.\n")
    with pytest.raises(PromptError):
        prompt("mmdu/judge")

    path.write_text(MINE)

    assert prompt("mmdu/judge").source == MINE


def test_line_ends_of_windows_are_line_ends(override):
    override("mmdu/judge", "").write_bytes(MINE.replace("\n", "\r\n").encode())

    assert prompt("mmdu/judge").source == MINE
