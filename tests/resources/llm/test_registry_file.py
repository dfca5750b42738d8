"""A model is added to the text of models.yaml; every other character stays."""

from difflib import ndiff

import pytest
import yaml

from resources.files.home import REPO_ROOT
from resources.llm.registry import RegistryError, registry_of
from resources.llm.registry_file import with_model

ENTRY = {
    "provider": "openai",
    "model": "a: b # c",
    "base_url": "http://127.0.0.1:8080/v1",
    "timeouts": {"first_byte": 600, "whole": 600},
}
FILE = """# Mine.
profiles:
  p: {judge: a, evaluate: [a]}   # short
  q:
    judge: a
    evaluate:
      - a   # the first
      # the end of the list
models:
  a: {provider: openai}   # the first
  b:
    provider: openai
    stop:
      - x  # its end

# The end.
"""


def added(text: str, profile: str | None = None) -> str:
    extended = with_model(text, "new", ENTRY, profile)
    old = yaml.safe_load(text)
    old["models"]["new"] = ENTRY
    if profile:
        old["profiles"][profile]["evaluate"].append("new")
    assert yaml.safe_load(extended) == old
    assert not [line for line in ndiff(list(text), list(extended)) if line.startswith("-")]
    return extended


@pytest.mark.parametrize("profile", [None, "p", "q"])
@pytest.mark.parametrize(
    "form",
    [
        FILE,
        FILE.replace("\n", "\r\n"),
        FILE.partition("\n\n# The end")[0],
        "\ufeff" + FILE,
        FILE.replace("[a]", "[a,  # one\n    ]"),
        FILE.replace("[a]", "[]").replace("- a   # the first", "[]"),
        "models: {a: {provider: openai}}\n" + FILE.partition("models:")[0],
        FILE.replace("  b:", "      # not its own\n  b:").replace("      - x", "    - x"),
        FILE.replace("    stop:\n      - x  # its end", "    extra_body: {t: |-\n}").replace(
            "{t: |-\n}", "\n      t: |\n        text\n"
        ),
    ],
    ids=["plain", "crlf", "no-last-line-end", "bom", "comma", "empty", "flow", "indents", "text"],
)
def test_an_entry_is_added_and_nothing_else_changes(form, profile):
    added(form, profile)


def test_it_stands_behind_the_others_in_their_style():
    extended = added(FILE, "q")

    assert "      - a   # the first\n      - new\n      # the end of the list\n" in extended
    assert extended.endswith(
        "      - x  # its end\n"
        "  new:\n"
        "    provider: openai\n"
        "    model: 'a: b # c'\n"
        "    base_url: http://127.0.0.1:8080/v1\n"
        "    timeouts: {first_byte: 600, whole: 600}\n"
        "\n# The end.\n"
    )


@pytest.mark.parametrize("profile", [None, "offline", "offline-faults", "openai"])
def test_the_models_of_the_project_are_extended(profile):
    path = REPO_ROOT / "models.yaml"

    registry = registry_of(added(path.read_text(), profile), path)

    assert registry.model("new").timeouts.whole == 600
    evaluating = {name for name, each in registry.profiles.items() if "new" in each.evaluate}
    assert evaluating == ({profile} if profile else set())


def test_a_list_that_two_profiles_share_is_not_extended_for_one_of_them():
    shared = FILE.replace("[a]", "&all [a]").replace("\n      - a   # the first", " *all")

    with pytest.raises(RegistryError, match="too unusual.*evaluate.*profile q") as refused:
        with_model(shared, "new", ENTRY, "q")

    assert "\n  new:\n    provider: openai\n" in str(refused.value)


def test_an_entry_is_valid_for_a_name_with_odd_characters(tmp_path):
    extended = with_model(FILE, "q: #1\n", ENTRY, "p")

    assert registry_of(extended, tmp_path).profile("p").evaluate == ["a", "q: #1\n"]
