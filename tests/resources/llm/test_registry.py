"""models.yaml: what is read, the one sentence for what is wrong with it, a model that is added."""

from difflib import ndiff
from pathlib import Path

import pytest
import yaml

from resources.files.home import REPO_ROOT
from resources.llm import model_spec
from resources.llm.model_spec import Price, RegistryError
from resources.llm.registry import (
    Registry,
    active_profile,
    load_registry,
    registry_of,
    registry_path,
)
from resources.llm.registry_file import with_model
from tests.resources.llm.entries import spec_of

GOOD = """
profiles:
  paid: {writer: big, judge: big, evaluate: [big, local]}
models:
  big:
    provider: openai
    model: big-2026-01-01
    base_url_env: BIG_URL
    api_key_env: BIG_KEY
    price: {prompt: 2.5, completion: 10}
  local: {provider: openai, base_url: "http://127.0.0.1:8000/v1"}
  idle: {provider: openai, api_key_env: IDLE_KEY}
  stand-in: {provider: mock}
"""


def load(before: str = "", after: str = "") -> Registry:
    """The registry of the file, with this part of it changed."""
    assert before in GOOD
    return registry_of(GOOD.replace(before, after) if before else GOOD, Path("models.yaml"))


def refused(text: str) -> str:
    """The one sentence that a file with this text is refused with."""
    with pytest.raises(RegistryError) as caught:
        registry_of(text, Path("models.yaml"))
    message = str(caught.value)
    assert "\n" not in message and message.endswith(".") and "models.yaml" in message
    return message


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIG_KEY", "sk-secret")
    monkeypatch.setenv("BIG_URL", "http://big/v1")
    monkeypatch.delenv("IDLE_KEY", raising=False)


def test_the_former_name_of_the_mock_provider_is_read_with_a_warning_and_keys_stay(caplog):
    model_spec._warn_of_former_provider.cache_clear()
    former = load("provider: mock", "provider: offline").model("stand-in")
    current = load().model("stand-in")

    assert former == current and former.provider == "mock"
    assert "Write provider: mock" in caplog.text
    assert (current.provider_in_keys, current.endpoint()) == ("offline", "offline")


def test_an_entry_is_called_and_asked_for_by_its_key_unless_it_says_otherwise():
    entries = [load().model(name) for name in ("big", "local")]

    names = [(entry.name, entry.model) for entry in entries]
    assert names == [("big", "big-2026-01-01"), ("local", "local")]
    assert load().model("stand-in").price == Price(prompt=0, completion=0)


@pytest.mark.parametrize(
    ("price", "via", "usd"),
    [
        # 1,000,000 * $2.5 and 500,000 * $10 a million; in a batch half of it, or what the entry says.
        ("", "live", 7.5),
        ("", "batch", 3.75),
        (", batch: 0.2", "batch", 1.5),
        (", batch: 0.2", "live", 7.5),
        (", batch: 0", "batch", 0),
    ],
)
def test_a_call_costs_its_tokens_at_the_price_of_a_million(price, via, usd):
    registry = load("completion: 10", f"completion: 10{price}")

    assert registry.model("big").cost(1_000_000, 500_000, via) == pytest.approx(usd)
    assert registry.model("local").cost(1_000_000, 1_000_000) == 0


def test_a_model_without_its_images_and_a_baseline_are_no_entries_but_the_model_is():
    named = 'evaluate: ["no-images:local", "other-images:local", "baseline:empty"]'
    assert load("evaluate: [big, local]", named).profile("paid").models == ["big", "local"]


def test_an_address_is_the_entrys_own_or_its_variables_or_the_clients_default(monkeypatch):
    assert load().model("big").address() == "http://big/v1"
    assert load().model("local").address() == "http://127.0.0.1:8000/v1"
    monkeypatch.delenv("BIG_URL")
    assert load().model("big").address() is None
    # A key is not sent to OpenAI because an address was forgotten.
    with pytest.raises(RegistryError, match="big has its address in BIG_URL, which is unset"):
        load().require_keys("paid")


def test_a_key_is_read_when_it_is_needed_and_never_kept():
    assert load().model("big").api_key() == "sk-secret"
    assert "sk-secret" not in repr(load()) + load().model_dump_json()


@pytest.mark.parametrize("value", [None, ""])
def test_a_missing_key_names_the_model_the_variable_and_the_way_out(monkeypatch, value):
    load().require_keys("paid")
    assert load().model("local").api_key(), "a server without keys is sent a placeholder"
    with pytest.raises(RegistryError, match="local needs a key: set DOOR"):
        load('v1"}', 'v1", extra_headers: {X-Door: {env: DOOR}}}').require_keys("paid")
    monkeypatch.delenv("BIG_KEY")
    if value is not None:
        monkeypatch.setenv("BIG_KEY", value)

    with pytest.raises(RegistryError) as caught:
        load().require_keys("paid")

    assert str(caught.value) == "big needs a key: set BIG_KEY, or choose the profile 'offline'."


@pytest.mark.parametrize("identity", ["https://u:secret@host/v1", "https://host/v1?key=secret"])
def test_an_identity_with_credentials_is_refused_without_them(identity):
    with pytest.raises(ValueError, match="has credentials in it: leave them out"):
        spec_of(identity=identity)


def test_what_is_not_there_is_missed_in_the_file_that_was_read(tmp_path):
    mine = tmp_path / "mine.yaml"
    mine.write_text(GOOD)
    registry = load_registry(mine)

    for name, nearest in (("bigger", "; the nearest is big"), ("ghost", "; there are big,")):
        with pytest.raises(RegistryError, match=f"no model '{name}' in mine.yaml{nearest}"):
            registry.model(name)
    with pytest.raises(RegistryError, match="There is no profile 'free' in mine.yaml; "):
        registry.profile("free")


NO_CANDIDATE = (
    "There is no candidate 'no-image:local' for the profile paid in models.yaml; the nearest is "
    "no-images:<model>"
)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("writer: big", "writer: gone", "There is no model 'gone' in models.yaml"),
        ("judge: big", "judge: gone", "There is no model 'gone' in models.yaml"),
        ("[big, local]", "[gone, local]", "There is no model 'gone' in models.yaml"),
        ("[big, local]", "['no-images:gone']", "There is no model 'gone' in models.yaml"),
        ("[big, local]", "['no-image:local']", NO_CANDIDATE),
        (
            "[big, local]",
            "[big, 'file:mine']",
            "The profile paid in models.yaml names 'file:mine': imported predictions take part",
        ),
    ],
)
def test_a_profile_that_names_what_is_not_there_is_told_what_there_is(before, after, said):
    with pytest.raises(RegistryError) as caught:
        load(before, after).profile("paid")

    assert str(caught.value).startswith(said)


def test_a_step_has_the_writers_model_unless_the_profile_gives_it_its_own():
    paid = load("writer: big", "writer: big, answer: local, check: stand-in").profile("paid")

    steps = ("writer", "summary", "question", "answer", "rewrite", "check")
    assert [paid.model_for(step) for step in steps] == [
        *("big", "big", "big", "local", "big", "stand-in")
    ]
    assert paid.models == ["big", "local", "stand-in"], "their keys are needed, too"
    # Who only evaluates needs no writer.
    without = load("writer: big, ", "").profile("paid")
    assert "big" in without.models and None not in without.models
    with pytest.raises(RegistryError, match="names no model to build with, as summary or as writ"):
        without.model_for("summary")


NO_KEY = "there is no such key; there are"
TWICE = "judge and judges are both given: give one"
TIMES = "give_up_seconds of stand-in (60) must be more than timeouts.whole (180)"
NO_NAME = "is not a name for a model"


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("mock}", "mock, colour: red}", ": models.stand-in.colour: "),
        ("mock}", f"mock, max_images: {10**100}}}", ": models.stand-in.max_images: "),
        ("mock}", "mock, image_tokens: {tile: -1}}", ": models.stand-in.image_tokens.tile: "),
        ("provider: mock", "provider: azure", ": models.stand-in.provider: "),
        ("{provider: mock}", "", ": models.stand-in.provider: "),
        ("prompt: 2.5", "prompt: .nan", ": models.big.price.prompt: "),
        ("completion: 10", "completion: .inf", ": models.big.price.completion: "),
        ("completion: 10", "completion: 10, batch: -0.5", ": models.big.price.batch: "),
        ("judge: big", "referee: big", ": profiles.paid.judges: "),
        ("[big, local]", "[big, big]", "profiles.paid: evaluate names big twice"),
        ("judge: big", "judge: big, judges: [big]", TWICE),
        ("prompt: 2.5", "input: 2.5", f"{NO_KEY} batch, completion, prompt."),
        ("mock}", "mock, mode: batch}", "the mock server has no batch API"),
        ("mock}", "mock, give_up_seconds: 60}", TIMES),
        ("  idle:", '  "baseline:mine":', f"baseline:mine {NO_NAME}"),
        ("  idle:", '  "no-images:local":', f"no-images:local {NO_NAME}"),
        ("  idle:", '  "other-images:x":', f"other-images:x {NO_NAME}"),
        ("  idle:", '  "panel":', f"panel {NO_NAME}"),
        ("  idle:", '  "file:idle":', f"file:idle {NO_NAME}"),
        (GOOD, "profiles: {}\nmodels:\n", ": models: "),
        (GOOD, "models: {}\nprofiles: [a, b]\n", ": profiles: "),
        (GOOD, "models: {}", "must have the two sections 'profiles' and 'models'"),
        (GOOD, "hello", "must have the two sections 'profiles' and 'models'"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(before, after, said):
    assert before in GOOD
    assert said in refused(GOOD.replace(before, after))


@pytest.mark.parametrize(
    "entry",
    [
        "{base_url: https://h.example/v1?key=s3cret}",
        "\n    base_url: https://me:s3cret@h.example/v1: x",
        "{'https://me:s3cret@h.example/v1?key=s3cret': x}",
    ],
)
def test_a_mistake_in_an_address_shows_no_secret_of_it(entry):
    assert "s3cret" not in refused(GOOD + f"  mine: {entry}")


def test_a_file_that_is_not_there_says_how_to_go_on(tmp_path):
    path = tmp_path / "gone.yaml"

    with pytest.raises(RegistryError) as caught:
        load_registry(path)

    assert str(caught.value) == f"There is no {path}; restore it or unset LOOM_MODELS."


def test_variables_name_the_file_and_the_profile_and_offline_needs_no_saying(tmp_path, monkeypatch):
    mine = tmp_path / "mine.yaml"
    mine.write_text(GOOD)
    monkeypatch.setenv("LOOM_MODELS", str(mine))
    monkeypatch.setenv("LOOM_PROFILE", "paid")
    assert (registry_path(), active_profile()) == (mine, "paid")
    assert "stand-in" in load_registry().models

    for name in ("LOOM_MODELS", "LOOM_PROFILE"):
        monkeypatch.setenv(name, "")
    assert (registry_path(), active_profile()) == (REPO_ROOT / "models.yaml", "offline")


@pytest.mark.parametrize(
    ("fields", "seconds"), [({}, 300), ({"whole": 600}, 900), ({"whole": 20}, 300)]
)
def test_no_server_is_given_up_within_one_timeout(fields, seconds):
    spec = spec_of(timeouts=fields)

    assert spec.give_up_seconds == seconds
    assert spec.timeouts.first_byte >= spec.timeouts.whole


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
    odd = with_model(FILE, "q: #1\n", ENTRY, "p")
    assert registry_of(odd, Path("models.yaml")).profile("p").evaluate == ["a", "q: #1\n"]


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
