"""models.yaml: whatever is wrong with it is one sentence that says where and what to do."""

import pytest

from resources.files.home import REPO_ROOT
from resources.llm import model_spec
from resources.llm.model_spec import ModelSpec, Price, RegistryError
from resources.llm.registry import active_profile, load_registry, registry_path

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


@pytest.fixture
def load(tmp_path):
    def load_text(text: str):
        path = tmp_path / "models.yaml"
        path.write_text(text)
        return load_registry(path)

    return load_text


@pytest.fixture
def refused(load):
    """Loads a text and gives the one sentence it is refused with."""

    def sentence(text: str) -> str:
        with pytest.raises(RegistryError) as caught:
            load(text)
        message = str(caught.value)
        assert "\n" not in message and message.endswith(".") and "models.yaml" in message
        return message

    return sentence


# What is read


def test_the_projects_own_models_yaml_is_valid_and_its_profiles_know_their_models():
    registry = load_registry(REPO_ROOT / "models.yaml")

    for name in registry.profiles:
        registry.profile(name)
    registry.require_keys("offline")
    assert {registry.model(name).provider for name in registry.profile("offline").evaluate} == {
        "mock"
    }


def test_the_former_name_of_the_mock_provider_is_read_with_a_warning_and_keys_stay(
    load, caplog: pytest.LogCaptureFixture
) -> None:
    model_spec._warn_of_former_provider.cache_clear()
    registry = load(GOOD.replace("provider: mock", "provider: offline"))

    former, current = registry.model("stand-in"), load(GOOD).model("stand-in")

    assert former == current and former.provider == "mock"
    assert "Write provider: mock" in caplog.text
    assert (current.provider_in_keys, current.endpoint()) == ("offline", "offline")


def test_an_entry_is_called_and_asked_for_by_its_key_unless_it_says_otherwise(load):
    registry = load(GOOD)

    assert (registry.model("big").name, registry.model("big").model) == ("big", "big-2026-01-01")
    assert (registry.model("local").name, registry.model("local").model) == ("local", "local")
    assert registry.model("stand-in").price == Price(prompt=0, completion=0)


def test_a_call_costs_its_tokens_at_the_price_of_a_million(load):
    assert load(GOOD).model("big").cost(1_000_000, 500_000) == pytest.approx(2.5 + 5.0)
    assert load(GOOD).model("local").cost(1_000_000, 1_000_000) == 0


def test_a_call_in_a_batch_costs_its_part_of_the_price(load):
    # 1,000,000 * $2.5 and 500,000 * $10 a million are $7.5; half of it, or what the entry says.
    assert load(GOOD).model("big").cost(1_000_000, 500_000, "batch") == pytest.approx(3.75)
    for part, cost in ((0.2, 1.5), (0, 0), (1, 7.5)):
        registry = load(GOOD.replace("completion: 10", f"completion: 10, batch: {part}"))
        assert registry.model("big").cost(1_000_000, 500_000, "batch") == pytest.approx(cost)
        assert registry.model("big").cost(1_000_000, 500_000, "live") == pytest.approx(7.5)


def test_a_model_without_its_images_and_a_baseline_are_no_entries_but_the_model_is(load):
    named = 'evaluate: ["no-images:local", "other-images:local", "baseline:empty"]'
    profile = load(GOOD.replace("evaluate: [big, local]", named)).profile("paid")

    assert profile.models == ["big", "local"]
    unknown = load(GOOD.replace("evaluate: [big, local]", 'evaluate: ["no-images:nobody"]'))
    with pytest.raises(RegistryError, match="There is no model 'nobody' in models.yaml"):
        unknown.profile("paid")


@pytest.mark.parametrize("name", ["baseline:mine", "no-images:local", "other-images:x", "panel"])
def test_an_entry_may_not_be_called_like_what_stands_beside_the_models(refused, name):
    assert f"{name} is not a name for a model" in refused(GOOD.replace("  idle:", f'  "{name}":'))


def test_what_listens_at_the_address_of_a_mock_entry_may_take_batches(load):
    started = 'provider: mock, mode: batch, base_url: "http://127.0.0.1:9/v1"'

    assert load(GOOD.replace("provider: mock", started)).model("stand-in").mode == "batch"


def test_an_address_is_the_entrys_own_or_its_variables_or_the_clients_default(load, monkeypatch):
    registry = load(GOOD)
    monkeypatch.delenv("BIG_URL", raising=False)
    assert registry.model("big").address() is None

    monkeypatch.setenv("BIG_URL", "http://big/v1")
    assert registry.model("big").address() == "http://big/v1"
    assert registry.model("local").address() == "http://127.0.0.1:8000/v1"


# Keys


def test_a_key_is_read_when_it_is_needed_and_never_kept(load, monkeypatch):
    monkeypatch.setenv("BIG_KEY", "sk-secret")
    registry = load(GOOD)

    assert registry.model("big").api_key() == "sk-secret"
    assert "sk-secret" not in repr(registry) + registry.model_dump_json()


@pytest.mark.parametrize("value", [None, ""])
def test_a_missing_key_names_the_model_the_variable_and_the_way_out(load, monkeypatch, value):
    monkeypatch.delenv("BIG_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("BIG_KEY", value)

    with pytest.raises(RegistryError) as caught:
        load(GOOD).require_keys("paid")

    assert str(caught.value) == ("big needs a key: set BIG_KEY, or choose the profile 'offline'.")


def test_only_the_models_of_the_profile_need_their_keys(load, monkeypatch):
    monkeypatch.delenv("IDLE_KEY", raising=False)
    monkeypatch.setenv("BIG_KEY", "sk-secret")
    monkeypatch.setenv("BIG_URL", "http://127.0.0.1:9/v1")

    load(GOOD).require_keys("paid")

    assert load(GOOD).model("local").api_key(), "a server without keys is sent a placeholder"


def test_a_key_is_not_sent_to_openai_because_an_address_was_forgotten(load, monkeypatch):
    monkeypatch.setenv("BIG_KEY", "sk-secret")
    monkeypatch.delenv("BIG_URL", raising=False)

    with pytest.raises(RegistryError, match="big has its address in BIG_URL, which is unset"):
        load(GOOD).require_keys("paid")


@pytest.mark.parametrize("identity", ["https://u:secret@host/v1", "https://host/v1?key=secret"])
def test_an_identity_with_credentials_is_refused_without_them(identity):
    with pytest.raises(ValueError, match="has credentials in it: leave them out"):
        ModelSpec(name="m", provider="openai", model="m", identity=identity)


# Names that are not there


def test_an_unknown_model_is_told_which_there_are(load):
    with pytest.raises(RegistryError) as caught:
        load(GOOD).model("bigger")

    assert str(caught.value) == "There is no model 'bigger' in models.yaml; the nearest is big."


def test_what_is_not_there_is_missed_in_the_file_that_was_read(tmp_path):
    mine = tmp_path / "mine.yaml"
    mine.write_text(GOOD)

    with pytest.raises(
        RegistryError, match="There is no model 'ghost' in mine.yaml; there are big,"
    ):
        load_registry(mine).model("ghost")
    with pytest.raises(
        RegistryError,
        match="There is no profile 'free' in mine.yaml; (there is|the nearest is) paid",
    ):
        load_registry(mine).profile("free")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("no-image:local", "the nearest is no-images:<model>"),
        ("baseline:foo", "the nearest are baseline:random, baseline:empty, baseline:reference"),
        ("nobody:", "there are baseline:empty, baseline:most-frequent, baseline:random,"),
    ],
)
def test_an_unknown_contestant_with_a_colon_is_told_the_forms_that_there_are(load, name, told):
    registry = load(GOOD.replace("evaluate: [big, local]", f'evaluate: [big, "{name}"]'))

    with pytest.raises(RegistryError) as caught:
        registry.profile("paid")

    said = f"There is no candidate '{name}' for the profile paid in models.yaml; {told}"
    assert str(caught.value).startswith(said)


def test_imported_predictions_are_not_named_and_no_model_has_such_a_name(load):
    registry = load(GOOD.replace("evaluate: [big, local]", 'evaluate: [big, "file:mine"]'))
    with pytest.raises(RegistryError, match="names 'file:mine': imported predictions take part"):
        registry.profile("paid")
    with pytest.raises(RegistryError, match="file:idle is not a name for a model"):
        load(GOOD.replace("  idle:", '  "file:idle":'))


@pytest.mark.parametrize("role", ["writer: big", "judge: big", "evaluate: [big, local]"])
def test_a_profile_that_names_an_unknown_model_is_refused(load, role):
    with pytest.raises(RegistryError, match="There is no model 'gone' in models.yaml"):
        load(GOOD.replace(role, role.replace("big", "gone"))).profile("paid")


def test_who_only_evaluates_needs_no_writer(load):
    profile = load(GOOD.replace("writer: big, ", "")).profile("paid")
    assert "big" in profile.models and None not in profile.models
    with pytest.raises(
        RegistryError, match="names no model to build with, as summary or as writer"
    ):
        profile.model_for("summary")


def test_a_step_has_the_writers_model_unless_the_profile_gives_it_its_own(load):
    profile = load(GOOD.replace("writer: big", "writer: big, answer: local, check: stand-in"))

    paid = profile.profile("paid")
    steps = ("writer", "summary", "question", "answer", "rewrite", "check")
    assert [paid.model_for(step) for step in steps] == [
        "big",
        "big",
        "big",
        "local",
        "big",
        "stand-in",
    ]
    assert paid.models == ["big", "local", "stand-in"], "their keys are needed, too"


# Files that are not right


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ("provider: mock", "provider: mock, colour: red", "models.stand-in.colour"),
        ("prompt: 2.5", "prompt: -1", "models.big.price.prompt"),
        ("prompt: 2.5", "prompt: .nan", "models.big.price.prompt"),
        ("prompt: 2.5", "prompt: .inf", "models.big.price.prompt"),
        ("completion: 10", "completion: .inf", "models.big.price.completion"),
        ("provider: mock", "provider: azure", "models.stand-in.provider"),
        ("provider: mock", "model: x", "models.stand-in.provider"),
        ("provider: mock", "provider: mock, concurrency: 0", "models.stand-in.concurrency"),
        (
            "provider: mock",
            "provider: mock, concurrency: 100000000",
            "models.stand-in.concurrency",
        ),
        (
            "provider: mock",
            f"provider: mock, max_images: {10**100}",
            "models.stand-in.max_images",
        ),
        ("provider: mock", "provider: mock, mode: batch", "models.stand-in"),
        ("provider: mock", "provider: mock, detail: medium", "models.stand-in.detail"),
        (
            "provider: mock",
            "provider: mock, image_tokens: {tile: -1}",
            "models.stand-in.image_tokens.tile",
        ),
        ("completion: 10", "completion: 10, batch: -0.5", "models.big.price.batch"),
        ("judge: big", "referee: big", "profiles.paid.judges"),
        ("evaluate: [big, local]", "evaluate: big", "profiles.paid.evaluate"),
        ("{provider: mock}", "offline", "models.stand-in"),
        ("{provider: mock}", "", "models.stand-in.provider"),
    ],
)
def test_a_wrong_entry_is_named_by_its_place(refused, before, after, says):
    assert GOOD.count(before) >= 1
    assert f": {says}: " in refused(GOOD.replace(before, after))


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ("[big, local]", "[big, big]", "profiles.paid: evaluate names big twice"),
        (
            "judge: big",
            "judge: big, judges: [big]",
            "profiles.paid: judge and judges are both given: give one of them",
        ),
        (
            "  idle:",
            "  panel:",
            "panel is not a name for a model: panel, people, rule stand in the place",
        ),
    ],
)
def test_what_is_wrong_is_said_in_its_own_words_alone(refused, before, after, says):
    assert f"models.yaml: {says}" in refused(GOOD.replace(before, after))


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ("prompt: 2.5", "input: 2.5", "there are batch, completion, prompt."),
        (
            "{provider: mock}",
            "{provider: mock, image_tokens: {x: 1}}",
            "there are base, tile.",
        ),
    ],
)
def test_an_unknown_key_names_those_of_its_own_part(refused, before, after, says):
    assert refused(GOOD.replace(before, after)).endswith(f"there is no such key; {says}")


@pytest.mark.parametrize("section", ["models", "profiles"])
@pytest.mark.parametrize("content", ["", "[a, b]", "7"])
def test_a_section_that_is_no_mapping_is_named(refused, section, content):
    other = "profiles: {}\n" if section == "models" else "models: {}\n"

    assert f": {section}: " in refused(f"{other}{section}: {content}\n")


@pytest.mark.parametrize("text", ["", "models: {}", "profiles: {}", "[models, profiles]", "hello"])
def test_both_sections_have_to_be_there(refused, text):
    assert "must have the two sections 'profiles' and 'models'" in refused(text)


def test_a_file_that_is_not_there_says_how_to_go_on(tmp_path):
    path = tmp_path / "gone.yaml"

    with pytest.raises(RegistryError) as caught:
        load_registry(path)

    assert str(caught.value) == f"There is no {path}; restore it or unset LOOM_MODELS."


# Which file, which profile


def test_loom_models_names_the_file(tmp_path, monkeypatch):
    mine = tmp_path / "mine.yaml"
    mine.write_text(GOOD)
    monkeypatch.setenv("LOOM_MODELS", str(mine))
    assert registry_path() == mine
    assert "stand-in" in load_registry().models

    monkeypatch.setenv("LOOM_MODELS", "")
    assert registry_path() == REPO_ROOT / "models.yaml"


def test_loom_profile_names_the_profile_and_offline_needs_no_saying(monkeypatch):
    monkeypatch.delenv("LOOM_PROFILE", raising=False)
    assert active_profile() == "offline"

    monkeypatch.setenv("LOOM_PROFILE", "paid")
    assert active_profile() == "paid"


@pytest.mark.parametrize(
    ("fields", "seconds"), [({}, 300), ({"whole": 600}, 900), ({"whole": 20}, 300)]
)
def test_no_server_is_given_up_within_one_timeout(fields: dict[str, float], seconds: float):
    entry = {"name": "m", "provider": "openai", "model": "m", "timeouts": fields}
    spec = ModelSpec.model_validate(entry)

    assert spec.give_up_seconds == seconds
    assert spec.timeouts.first_byte >= spec.timeouts.whole


def test_a_time_to_give_up_within_a_timeout_is_refused(refused):
    message = refused(GOOD.replace("mock}", "mock, give_up_seconds: 60}"))

    assert "give_up_seconds of stand-in (60) must be more than timeouts.whole (180)" in message
