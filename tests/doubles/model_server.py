"""A server that says which models it serves, as llama.cpp, LM Studio, Ollama and vLLM do."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from tests.doubles.odd_api import Asked, answering
from tests.doubles.providers.provider import Provider

LLAMA_PROPS = {
    "default_generation_settings": {"params": {"seed": 1}, "n_ctx": 4096},
    "total_slots": 2,
    "modalities": {"vision": True, "audio": False},
}
PAGES: Mapping[str, Mapping[str, object]] = {
    "llama.cpp": {
        "/v1/models": {"data": [{"id": "models/Gemma-3.gguf", "owned_by": "llamacpp"}]},
        "/props": LLAMA_PROPS,
        "/api/tags": {"models": [{"name": "models/Gemma-3.gguf"}]},
    },
    "LM Studio": {
        "/v1/models": {"data": [{"id": "qwen-vl"}, {"id": "nomic"}, {"id": "other"}]},
        "/api/v0/models": {
            "data": [
                {"id": "nomic", "type": "embeddings", "state": "loaded"},
                {"id": "other", "type": "llm", "state": "not-loaded"},
                {
                    **{"id": "qwen-vl", "type": "vlm", "state": "loaded"},
                    **{"loaded_context_length": 4096, "max_context_length": 128000},
                },
            ]
        },
        # It answers every address.
        "/props": {"error": "Unexpected endpoint"},
        "/api/tags": {"error": "Unexpected endpoint"},
    },
    "Ollama": {
        "/v1/models": {"data": [{"id": "qwen3-vl:8b", "owned_by": "library"}]},
        "/api/tags": {"models": [{"name": "qwen3-vl:8b", "model": "qwen3-vl:8b"}]},
    },
    "vLLM": {
        "/v1/models": {"data": [{"id": "Qwen/VL", "owned_by": "vllm", "max_model_len": 32768}]}
    },
    "": {"/v1/models": {"data": [{"id": "m"}]}},
}


@contextmanager
def model_server(
    pages: Mapping[str, object],
    status: int = 200,
    chat: Provider | None = None,
    key: str | None = None,
) -> Iterator[str]:
    """The address, without a path, of a server with these pages, whose model answers as `chat` does.

    With a `key` it refuses what is sent without it.
    """

    def answer(asked: Asked) -> None:
        code: int
        body: object
        if key is not None and asked.headers.get("Authorization") != f"Bearer {key}":
            code, body = 401, {"error": {"message": "Invalid API key", "code": "invalid_api_key"}}
        elif asked.command == "GET":
            code = status if asked.path in pages else 404
            body = pages.get(asked.path, {"error": "not found"})
        else:
            assert chat is not None and asked.path == "/v1/chat/completions"
            code, body = chat.answer({}, asked.json)
        asked.send(json.dumps(body).encode(), code)

    with answering(answer) as api:
        yield f"http://{api.address}"
