"""docs/guides/models.md: its entries work with each kind of server. The reference has every field."""

import re
import textwrap
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from methods.prompts.messages import Image, Message, Text
from resources.files.home import REPO_ROOT
from resources.llm.model_calls import ModelCalls
from resources.llm.model_spec import ModelSpec
from resources.llm.request import ChatRequest, Completion, Outcome
from tests.doubles.one_colour import one_colour
from tests.doubles.providers.hosted_models import Anthropic, Gemini, Gpt4o, OpenAIReasoning
from tests.doubles.providers.open_models import Ollama, Sglang, Vllm
from tests.doubles.providers.provider import KEY, Provider, running
from tests.resources.llm.entries import AskingGateway
from tests.resources.llm.entries import gateway_of as of_entries

GUIDE = REPO_ROOT / "docs" / "guides" / "models.md"
FIELDS = REPO_ROOT / "docs" / "reference" / "model-fields.md"
DOUBLES: dict[str, type[Provider]] = {
    "gpt-4o": Gpt4o,
    "gpt-5": OpenAIReasoning,
    "qwen-vllm": Vllm,
    "qwen-sglang": Sglang,
    "qwen-ollama": Ollama,
    "gemma-llamacpp": Provider,
    "qwen-lmstudio": Provider,
    "gemini-flash": Gemini,
    "claude": Anthropic,
}
AS_A_STAGE = {"temperature": 0.0, "max_tokens": 2048}
"""What every stage asks for."""
SCHEMA = {
    "type": "object",
    "properties": {"verdict": {"type": "string"}},
    "required": ["verdict"],
    "additionalProperties": False,
}


@cache
def entries() -> dict[str, dict[str, Any]]:
    """The guide's entries as they stand there, by name."""
    found: dict[str, dict[str, Any]] = {}
    for block in re.findall(r"```yaml\n(.*?)```", GUIDE.read_text(), re.DOTALL):
        found |= yaml.safe_load(textwrap.dedent(block))
    return found


def double_of(name: str, **bad_days: bool) -> Provider:
    return DOUBLES[name](entries()[name]["model"], **bad_days)


def gateway_of(folder: Path, name: str, url: str, **changed: Any) -> AskingGateway:
    """A gateway for the guide's entry at a double's address; fields are changed or, if None, gone."""
    entry = {**entries().get(name, {}), "base_url": url, **changed}
    given = {field: value for field, value in entry.items() if value is not None}
    return of_entries(folder, {name: given})


def outcomes(gateway: AskingGateway, *requests: ChatRequest) -> Sequence[Outcome]:
    """How each request ends, whatever the others do."""
    return gateway.map("guide", requests, ModelCalls.outcome_of)[0]


def question(model: str, text: str = "What is this?", *image_ids: str, **more: Any) -> ChatRequest:
    """A question as a stage asks it."""
    parts = (Text(text), *(Image(each) for each in image_ids))
    return ChatRequest(model, (Message("user", parts),), "guide@1", AS_A_STAGE, **more)


def set_keys(monkeypatch: Any) -> None:
    """The keys that the entries name, and no address of their own."""
    for name in ("OPENAI_API_KEY", "GEMINI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    set_keys(monkeypatch)


def test_the_guide_has_an_entry_for_each_kind_of_server():
    assert list(entries()) == list(DOUBLES)


@pytest.mark.parametrize("name", DOUBLES)
def test_an_entry_is_answered_a_text_and_as_many_images_and_a_schema_as_it_says(tmp_path, name):
    with running(double_of(name)) as (_, url):
        gateway = gateway_of(tmp_path, name, url)
        files = [one_colour((10 * number, 90, 200), (400, 300)) for number in range(20)]
        pictures = [gateway.images.put(file).image_id for file in files]
        text, image, shaped, twenty = outcomes(
            gateway,
            question(name, "Why?"),
            question(name, "What is this?", pictures[0]),
            question(name, "Why, then?", schema=SCHEMA),
            question(name, "Which?", *pictures),
        )

    assert isinstance(text, Completion) and text.text == "You said 4 characters."
    assert isinstance(image, Completion) and image.text == "I see 1 pictures: 400 by 300."
    assert isinstance(shaped, Completion) and isinstance(twenty, Completion)
    assert (shaped.text == '{"verdict": "Fine"}') == entries()[name]["structured_output"]
    policy, most = entries()[name].get("many_images"), entries()[name].get("max_images", 50)
    seen = {"grid": 1, "sample": most, None: 20}[policy]
    assert twenty.text.startswith(f"I see {seen} pictures: ")


def rows() -> dict[str, tuple[str, str]]:
    section = FIELDS.read_text().partition("\n## Fields of an entry\n")[2]
    cells = [line.strip("| ").split(" | ") for line in section.splitlines() if "| `" in line[:3]]
    assert all(len(row) == 3 and all(row) for row in cells)
    return {row[0].strip("`"): (row[1].strip("`"), row[2]) for row in cells}


def test_the_table_has_every_field_of_an_entry_in_their_order() -> None:
    assert list(rows()) == [name for name in ModelSpec.model_fields if name != "name"]


def test_the_table_says_each_default() -> None:
    plain = ModelSpec.model_validate({"name": "m", "provider": "openai", "model": "m"})
    defaults = plain.model_dump(exclude_none=True, exclude={"name", "provider", "model"})
    said = {name: default for name, (default, _) in rows().items() if default != "–"}
    assert said.pop("provider") == "required"
    assert said.pop("model") == "the entry's key"
    assert {name: yaml.safe_load(default) for name, default in said.items()} == defaults


def test_the_header_of_models_yaml_names_every_field() -> None:
    text = (GUIDE.parents[2] / "models.yaml").read_text()
    header = "\n".join(line for line in text.splitlines() if line.startswith("#"))
    named = set(re.findall(r"[a-z_]+", header))
    assert {name for name in ModelSpec.model_fields if name != "name"} <= named
