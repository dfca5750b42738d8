"""The shipped models.yaml: every name leads to an entry, every entry to something that can be asked."""

from resources.files.home import REPO_ROOT
from resources.llm.registry import load_registry
from resources.mock_server.chat_completion import MODELS

REGISTRY = load_registry(REPO_ROOT / "models.yaml")
ENTRIES = REGISTRY.models.values()


def test_every_model_of_a_profile_has_an_entry_and_every_entry_is_in_a_profile() -> None:
    for name in REGISTRY.profiles:
        profile = REGISTRY.profile(name)
        assert profile.evaluate and len(set(profile.evaluate)) == len(profile.evaluate)
    named = {model for profile in REGISTRY.profiles.values() for model in profile.models}
    assert named == REGISTRY.models.keys()


def test_the_mock_entries_are_the_models_that_the_mock_server_has() -> None:
    entries = {entry.model for entry in ENTRIES if entry.provider == "mock"}
    assert entries == set(MODELS)


def test_what_an_entry_costs_is_never_less_than_nothing() -> None:
    for entry in ENTRIES:
        assert entry.cost(0, 0) == 0
        assert entry.cost(1000, 1000) >= entry.cost(1000, 1000, via="batch") >= 0
        # Who has a key has a price: a call that costs nothing would pass every budget.
        assert (entry.api_key_env is None) == (entry.cost(1, 1) == 0)
