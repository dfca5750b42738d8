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


def test_the_former_name_of_the_mock_provider_is_read_with_a_warning_and_keys_stay(load, caplog):
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
def test_a_call_costs_its_tokens_at_the_price_of_a_million(load, price, via, usd):
    registry = load(GOOD.replace("completion: 10", f"completion: 10{price}"))

    assert registry.model("big").cost(1_000_000, 500_000, via) == pytest.approx(usd)
    assert registry.model("local").cost(1_000_000, 1_000_000) == 0


def test_a_model_without_its_images_and_a_baseline_are_no_entries_but_the_model_is(load):
    named = 'evaluate: ["no-images:local", "other-images:local", "baseline:empty"]'
    profile = load(GOOD.replace("evaluate: [big, local]", named)).profile("paid")

    assert profile.models == ["big", "local"]
    unknown = load(GOOD.replace("evaluate: [big, local]", 'evaluate: ["no-images:nobody"]'))
    with pytest.raises(RegistryError, match="There is no model 'nobody' in models.yaml"):
        unknown.profile("paid")


@pytest.mark.parametrize(
    "name", ["baseline:mine", "no-images:local", "other-images:x", "panel", "file:idle"]
)
def test_an_entry_may_not_be_called_like_what_stands_beside_the_models(refused, name):
    assert f"{name} is not a name for a model" in refused(GOOD.replace("  idle:", f'  "{name}":'))


@pytest.mark.parametrize(
    "entry",
    [
        "{base_url: https://h.example/v1?key=s3cret}",
        "\n    base_url: https://me:s3cret@h.example/v1: x",
        "{'https://me:s3cret@h.example/v1?key=s3cret': x}",
    ],
)
def test_a_mistake_in_an_address_shows_no_secret_of_it(refused, entry):
    assert "s3cret" not in refused(GOOD + f"  mine: {entry}")


def test_an_address_is_the_entrys_own_or_its_variables_or_the_clients_default(load, monkeypatch):
    registry = load(GOOD)
    monkeypatch.delenv("BIG_URL", raising=False)
    assert registry.model("big").address() is None

    monkeypatch.setenv("BIG_URL", "http://big/v1")
    assert registry.model("big").address() == "http://big/v1"
    assert registry.model("local").address() == "http://127.0.0.1:8000/v1"


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


def test_what_is_not_there_is_missed_in_the_file_that_was_read(tmp_path):
    mine = tmp_path / "mine.yaml"
    mine.write_text(GOOD)
    registry = load_registry(mine)

    for name, nearest in (("bigger", "; the nearest is big"), ("ghost", "; there are big,")):
        with pytest.raises(RegistryError, match=f"no model '{name}' in mine.yaml{nearest}"):
            registry.model(name)
    with pytest.raises(RegistryError, match="There is no profile 'free' in mine.yaml; "):
        registry.profile("free")


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


def test_imported_predictions_are_not_named(load):
    registry = load(GOOD.replace("evaluate: [big, local]", 'evaluate: [big, "file:mine"]'))
    with pytest.raises(RegistryError, match="names 'file:mine': imported predictions take part"):
        registry.profile("paid")


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
        *("big", "big", "big", "local", "big", "stand-in")
    ]
    assert paid.models == ["big", "local", "stand-in"], "their keys are needed, too"


# Files that are not right


MOCK_FIELDS = {
    "colour: red": ".colour",
    "concurrency: 100000000": ".concurrency",
    f"max_images: {10**100}": ".max_images",
    "image_tokens: {tile: -1}": ".image_tokens.tile",
}


@pytest.mark.parametrize(
    ("before", "after", "place"),
    [
        *(
            ("mock}", f"mock, {field}}}", f"models.stand-in{at}")
            for field, at in MOCK_FIELDS.items()
        ),
        ("provider: mock", "provider: azure", "models.stand-in.provider"),
        ("{provider: mock}", "offline", "models.stand-in"),
        ("{provider: mock}", "", "models.stand-in.provider"),
        ("prompt: 2.5", "prompt: .nan", "models.big.price.prompt"),
        ("completion: 10", "completion: .inf", "models.big.price.completion"),
        ("completion: 10", "completion: 10, batch: -0.5", "models.big.price.batch"),
        ("judge: big", "referee: big", "profiles.paid.judges"),
        ("evaluate: [big, local]", "evaluate: big", "profiles.paid.evaluate"),
    ],
)
def test_a_wrong_entry_is_named_by_its_place(refused, before, after, place):
    assert GOOD.count(before) >= 1
    assert f": {place}: " in refused(GOOD.replace(before, after))


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("[big, local]", "[big, big]", "profiles.paid: evaluate names big twice"),
        ("judge: big", "judge: big, judges: [big]", "judge and judges are both given: give one"),
        ("prompt: 2.5", "input: 2.5", "there is no such key; there are batch, completion, prompt."),
        ("mock}", "mock, image_tokens: {x: 1}}", "there is no such key; there are base, tile."),
        ("mock}", "mock, mode: batch}", "the mock server has no batch API"),
        (
            "mock}",
            "mock, give_up_seconds: 60}",
            "give_up_seconds of stand-in (60) must be more than timeouts.whole (180)",
        ),
    ],
)
def test_what_is_wrong_is_said(refused, before, after, message):
    assert message in refused(GOOD.replace(before, after))


@pytest.mark.parametrize("section", ["models", "profiles"])
@pytest.mark.parametrize("content", ["", "[a, b]"])
def test_a_section_that_is_no_mapping_is_named(refused, section, content):
    other = "profiles: {}\n" if section == "models" else "models: {}\n"

    assert f": {section}: " in refused(f"{other}{section}: {content}\n")


@pytest.mark.parametrize("text", ["", "models: {}", "profiles: {}", "hello"])
def test_both_sections_have_to_be_there(refused, text):
    assert "must have the two sections 'profiles' and 'models'" in refused(text)


def test_a_file_that_is_not_there_says_how_to_go_on(tmp_path):
    path = tmp_path / "gone.yaml"

    with pytest.raises(RegistryError) as caught:
        load_registry(path)

    assert str(caught.value) == f"There is no {path}; restore it or unset LOOM_MODELS."


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
def test_no_server_is_given_up_within_one_timeout(fields, seconds):
    entry = {"name": "m", "provider": "openai", "model": "m", "timeouts": fields}
    spec = ModelSpec.model_validate(entry)

    assert spec.give_up_seconds == seconds
    assert spec.timeouts.first_byte >= spec.timeouts.whole
