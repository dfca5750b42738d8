"""The entries of docs/guides/models.md, and the double of each one's server."""

import re
import textwrap
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from methods.prompts.messages import Image, Message, Text
from resources.files.home import REPO_ROOT
from resources.images.store import ImageStore
from resources.llm.gateway import Gateway
from resources.llm.ledger import Ledger
from resources.llm.model_calls import ModelCalls
from resources.llm.registry import load_registry
from resources.llm.request import ChatRequest, Outcome
from resources.mock_server.process import MockServerProcess
from tests.doubles.providers.anthropic import Anthropic
from tests.doubles.providers.gemini import Gemini
from tests.doubles.providers.open_models import LlamaCpp, LmStudio, Ollama, Sglang, Vllm
from tests.doubles.providers.openai_models import Gpt4o, OpenAIReasoning
from tests.doubles.providers.provider import KEY, Provider

GUIDE = REPO_ROOT / "docs" / "guides" / "models.md"
FIELDS = REPO_ROOT / "docs" / "reference" / "model-fields.md"
DOUBLES: dict[str, type[Provider]] = {
    "gpt-4o": Gpt4o,
    "gpt-5": OpenAIReasoning,
    "qwen-vllm": Vllm,
    "qwen-sglang": Sglang,
    "qwen-ollama": Ollama,
    "gemma-llamacpp": LlamaCpp,
    "qwen-lmstudio": LmStudio,
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
    """A server of the entry's model."""
    return DOUBLES[name](entries()[name]["model"], **bad_days)


def gateway_of(folder: Path, name: str, url: str, **changed: Any) -> Gateway:
    """A gateway for the guide's entry at a double's address; fields are changed or, if None, gone."""
    entry = {**entries().get(name, {"provider": "openai"}), "base_url": url, **changed}
    entry = {field: value for field, value in entry.items() if value is not None}
    profile = {"writer": name, "judge": name, "evaluate": [name]}
    path = folder / "models.yaml"
    path.write_text(yaml.safe_dump({"profiles": {"p": profile}, "models": {name: entry}}))
    ledger, images = Ledger(folder / "ledger.sqlite"), ImageStore(folder / "images")
    return Gateway(load_registry(path), "p", ledger, images, launcher=MockServerProcess())


def outcomes(gateway: Gateway, *requests: ChatRequest) -> Sequence[Outcome]:
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
