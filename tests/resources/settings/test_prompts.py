"""Prompts: our own, or the ones a user points to, each with a version that says which text it is."""

import pytest

from resources.files.home import REPO_ROOT
from resources.settings import prompts
from resources.settings.prompts import PromptError, check_own_prompts, prompt

MINE = "Role: judge.\n=== user ===\nMy own words about {{ question | data }}.\n"


@pytest.fixture(autouse=True)
def no_override(monkeypatch):
    monkeypatch.delenv("LOOM_PROMPTS", raising=False)
    prompts._load.cache_clear()


@pytest.fixture
def override(tmp_path, monkeypatch):
    """Writes a prompt into the folder that LOOM_PROMPTS names."""
    (tmp_path / "prompts").mkdir()
    monkeypatch.setenv("LOOM_PROMPTS", str(tmp_path / "prompts"))

    def write(name: str, text: str):
        path = tmp_path / "prompts" / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return write


def test_a_file_in_the_users_folder_which_may_have_others_takes_the_place_of_ours(
    override, tmp_path
):
    ours = prompt("mmdu/judge")
    override("mmdu/judge", MINE)
    prompts._load.cache_clear()
    mine = prompt("mmdu/judge")

    assert mine.source == MINE and mine.name == "mmdu/judge"
    assert mine.version != ours.version
    _, user = mine.render(question="</q> rivers")
    assert user.parts[0].text == "My own words about < /q> rivers."
    for name in ("README.md", "mmdu/notes.txt", "mmdu/._judge.md", "mmdu/old/judge.md"):
        path = tmp_path / "prompts" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("Notes.")
    check_own_prompts()
    assert prompt("mmdu/judge").source == MINE


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("mmdu/jugde", "the nearest is mmdu/judge.md:"),
        ("mmud/judge", "the nearest is mmdu/judge.md:"),
        ("mmdu/Judge", "the nearest is mmdu/judge.md:"),
        ("my/own", "there are "),
    ],
)
def test_a_users_file_that_replaces_nothing_is_refused_with_the_nearest_names(
    override, name, nearest
):
    path = override(name, MINE)

    for asked in (check_own_prompts, lambda: prompt("mmdu/summary")):
        with pytest.raises(PromptError) as caught:
            asked()
        said, _, proposed = str(caught.value).partition("; ")
        assert said == f"The file {path} replaces no prompt, since none is called {name}.md"
        assert proposed.startswith(nearest) and proposed.endswith(": rename it.")


@pytest.mark.parametrize(
    ("folder", "said"),
    [
        ("{tmp_path}/promts", "is '{folder}', but there is no such folder"),
        ("{tmp_path}/file", "is '{folder}', but there is no such folder"),
        # Even where it leads to a folder.
        ("prompts", "is the relative path 'prompts': give the folder's"),
    ],
)
def test_another_folder_than_one_with_prompts_is_refused(
    override, folder, said, tmp_path, monkeypatch
):
    override("mmdu/judge", MINE)
    (tmp_path / "file").write_text("")
    monkeypatch.chdir(tmp_path)
    folder = folder.format(tmp_path=tmp_path)
    monkeypatch.setenv("LOOM_PROMPTS", folder)

    for asked in (check_own_prompts, lambda: prompt("mmdu/judge")):
        with pytest.raises(PromptError, match=said.format(folder=folder)):
            asked()


@pytest.mark.parametrize("target", ["missing.md", "judge.md", "/dev/zero"])
def test_a_users_prompt_that_is_a_broken_link_or_a_device_does_not_leave_the_projects_in_its_place(
    override, target
):
    path = override("mmdu/judge", MINE)
    path.unlink()
    path.symlink_to(target)

    for _ in range(2):
        with pytest.raises(PromptError, match=f"The prompt {path} cannot be read: "):
            prompt("mmdu/judge")
        path.unlink(missing_ok=True)
        path.write_bytes(b"\xff\xfe")


@pytest.mark.parametrize(
    ("front_matter", "wrong"),
    [
        ("---\ntask: judge\n", "has no second line '---'"),
        ("---\ntask:\n---\n", "is wrong at 'task': Input should be a valid string"),
        (
            "---\ntaks: judge\n---\n",
            "is wrong at 'taks': there is no such key; the nearest is task",
        ),
        ("---\njudge\n---\n", "holds no fields"),
        ("---\ntask: [judge\n---\n", "is not YAML: "),
    ],
)
def test_front_matter_that_cannot_be_read_is_one_sentence(override, front_matter, wrong):
    path = override("mmdu/judge", front_matter + MINE)

    with pytest.raises(PromptError) as caught:
        prompt("mmdu/judge")

    assert str(caught.value).startswith(f"The front matter of the prompt {path} {wrong}")
    assert "\n" not in str(caught.value)


def test_a_missing_prompt_is_one_sentence_that_names_the_file():
    path = REPO_ROOT / "methods/mmdu/prompts/gone.md"
    with pytest.raises(PromptError, match=f"no prompt file {path}; restore it or unset LOOM_P"):
        prompt("mmdu/gone")


@pytest.mark.parametrize("text", ["", "System. === user === User.\n", "S.\n=== User ===\nU.\n"])
def test_a_prompt_without_its_divider_is_refused_not_half_sent(override, text):
    path = override("mmdu/judge", text)

    with pytest.raises(PromptError, match="has no line '=== user ===' between its two parts"):
        prompt("mmdu/judge")

    # Put right, it is found without a restart.
    path.write_text(MINE)
    assert prompt("mmdu/judge").source == MINE
