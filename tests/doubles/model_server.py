"""A server that says which models it serves, as llama.cpp, LM Studio, Ollama and vLLM do."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from typing import Any

from tests.doubles.providers.provider import Provider, Refused, read
from tests.doubles.serving import QuietHandler, serving

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

    class Handler(QuietHandler):
        def send(self, status: int, body: object) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def is_refused(self) -> bool:
            refused = key is not None and self.headers.get("Authorization") != f"Bearer {key}"
            if refused:
                self.send(401, {"error": {"message": "Invalid API key", "code": "invalid_api_key"}})
            return refused

        def do_GET(self) -> None:
            if self.is_refused():
                return
            known = self.path in pages
            self.send(status if known else 404, pages.get(self.path, {"error": "not found"}))

        def do_POST(self) -> None:
            asked: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            assert chat is not None and self.path == "/v1/chat/completions"
            if self.is_refused():
                return
            chat.received.append(asked)
            try:
                request = read(asked)
                chat.check(request)
                self.send(200, chat.completion(request))
            except Refused as refused:
                self.send(refused.status, refused.body)

    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as server:
        yield f"http://127.0.0.1:{server.server_port}"
