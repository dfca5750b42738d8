"""Discover the models of a local server (llama.cpp, LM Studio, Ollama, vLLM, SGLang) and their limits.

Every server lists its models at `/v1/models`. llama.cpp (`/props`), LM Studio
(`/api/v0/models`) and Ollama (`/api/tags`) give details at other addresses. vLLM and SGLang
give the context length in the list.
"""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

import httpx2

from methods.errors import UserError
from methods.json_text import from_json
from resources.files.bounded import limit_body
from resources.llm.server_address import proxy_for, read_address

TIMEOUT_SECONDS = 10.0
"""Seconds for the whole answer to one request."""
MAX_REPLY_BYTES = 4_000_000
_ENDINGS = ("/chat/completions", "/completions", "/models")
"""Endings that people copy together with the base URL."""
_NO_CHAT = ("embedding", "embeddings")
"""Types of models in LM Studio that are not chat models."""


class _TooLarge(Exception):
    """An answer is larger than MAX_REPLY_BYTES."""


class DiscoveryError(UserError):
    """A server does not answer, or says nothing about its models; the message says what to do."""


@dataclass(frozen=True)
class ServedModel:
    """A model that a server serves.

    Attributes:
        model: The name that the server knows it by.
        context: The context length in tokens, prompt and answer together; None if unknown.
        slots: The number of requests that the server processes concurrently; None if unknown.
        images: Whether the model takes images; None if unknown.
    """

    model: str
    context: int | None = None
    slots: int | None = None
    images: bool | None = None


@dataclass(frozen=True)
class ModelServer:
    """A server of models.

    Attributes:
        software: `llama.cpp`, `LM Studio`, `Ollama`, `vLLM`, `SGLang`, or empty if unknown.
        base_url: The address for requests of the OpenAI protocol.
        models: The chat models.
    """

    software: str
    base_url: str
    models: tuple[ServedModel, ...]


def discover(url: str, key: str | None = None) -> ModelServer:
    """Ask a server for its models.

    Args:
        url: Its address, with or without `http://` and `/v1`.
        key: The API key; None for no key.

    Returns:
        The server with at least one model.

    Raises:
        DiscoveryError: The server does not answer, wants a key, or lists no models.
    """
    try:
        address = read_address(url if "://" in url else f"http://{url}")
    except ValueError as error:
        raise DiscoveryError(f"{url} cannot be used as an address: {error}.") from None
    if address.user or address.password or address.query:
        raise DiscoveryError(
            f"The address of {address.public} has a password or a query, which models.yaml should not "
            "show. Write the entry yourself, with base_url_env: docs/guides/models.md."
        )
    proxied = proxy_for(address.public) is not None
    headers = {} if key is None else {"authorization": f"Bearer {key}"}
    server = asyncio.run(_discover(address.public, headers, proxied))
    if not server.models:
        raise DiscoveryError(
            f"{server.base_url} serves no model that can be asked. Load one in the server, and try "
            "again."
        )
    return server


async def _discover(address: str, headers: Mapping[str, str], proxied: bool) -> ModelServer:
    async with httpx2.AsyncClient(trust_env=proxied, timeout=None, headers=headers) as client:
        base_url, listed = await _list_models(client, address)
        return await _described(client, base_url, listed)


def _bases(address: str) -> Iterator[str]:
    """Yield the base URLs that an address may mean, the most likely one first."""
    for ending in _ENDINGS:
        address = address.removesuffix(ending)
    address = address.rstrip("/")
    if not urlsplit(address).path.rpartition("/")[2].startswith("v1"):
        yield f"{address}/v1"
    yield address


async def _list_models(
    client: httpx2.AsyncClient, address: str
) -> tuple[str, list[Mapping[str, Any]]]:
    """Find the base URL. Returns it with the entries of its list of models."""
    statuses = []
    for base in _bases(address):
        status, body = await _get(client, f"{base}/models")
        if status == 200 and (listed := _records(body, "data", "id")):
            return base, listed
        statuses.append(status)
    if {401, 403} & set(statuses):
        raise DiscoveryError(
            f"{address} refuses requests without a valid key. Put the key into an environment "
            "variable, and name the variable (--api-key-env)."
        )
    if 503 in statuses:
        raise DiscoveryError(f"{address} is not ready yet (status 503). Wait, and try again.")
    raise DiscoveryError(
        f"{address} lists no models at /v1/models (status {statuses[0]}). Give the address of a server "
        "that speaks the OpenAI protocol, such as http://127.0.0.1:8080/v1, with a model loaded."
    )


async def _described(
    client: httpx2.AsyncClient, base_url: str, listed: list[Mapping[str, Any]]
) -> ModelServer:
    """Describe the server and its models, with details from the addresses of its software."""
    root = base_url.removesuffix("/v1")
    plain = tuple(ServedModel(entry["id"]) for entry in listed)
    _, props = await _get(client, f"{root}/props")
    if isinstance(props, dict) and "default_generation_settings" in props:
        if len(plain) > 1:
            return ModelServer("llama.cpp", base_url, plain)
        settings, modalities = props["default_generation_settings"], props.get("modalities")
        images = modalities.get("vision") if isinstance(modalities, dict) else None
        model = replace(
            plain[0],
            context=_count(settings.get("n_ctx")) if isinstance(settings, dict) else None,
            slots=_count(props.get("total_slots")),
            images=images if isinstance(images, bool) else None,
        )
        return ModelServer("llama.cpp", base_url, (model,))
    _, described = await _get(client, f"{root}/api/v0/models")
    studio = _records(described, "data", "id")
    if any(entry.get("state") or entry.get("type") for entry in studio):
        chat = [entry for entry in studio if entry.get("type") not in _NO_CHAT]
        loaded = [entry for entry in chat if entry.get("state") == "loaded"]
        return ModelServer("LM Studio", base_url, tuple(map(_of_studio, loaded or chat)))
    _, tags = await _get(client, f"{root}/api/tags")
    if _records(tags, "models", "name"):
        return ModelServer("Ollama", base_url, plain)
    models = tuple(
        ServedModel(entry["id"], context=_count(entry.get("max_model_len"))) for entry in listed
    )
    software = {"vllm": "vLLM", "sglang": "SGLang"}.get(str(listed[0].get("owned_by")), "")
    return ModelServer(software, base_url, models)


def _of_studio(entry: Mapping[str, Any]) -> ServedModel:
    images = {"vlm": True, "llm": False}.get(str(entry.get("type")))
    return ServedModel(
        entry["id"], context=_count(entry.get("loaded_context_length")), images=images
    )


async def _get(client: httpx2.AsyncClient, url: str) -> tuple[int, object]:
    """Send a GET request. Returns the status and the JSON body; None if the
    body is not JSON or too large.

    Raises:
        DiscoveryError: The server cannot be reached.
    """
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS), client.stream("GET", url) as response:
            limit_body(response, MAX_REPLY_BYTES, _TooLarge)
            status = response.status_code
            body = await response.aread()
    except _TooLarge:
        return status, None
    except TimeoutError:
        raise DiscoveryError(
            f"{url} did not send its whole answer within {TIMEOUT_SECONDS:g} seconds. Start the "
            "server, or correct the address."
        ) from None
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise DiscoveryError(
            f"{url} cannot be reached ({str(error) or type(error).__name__}). Start the server, or "
            "correct the address."
        ) from None
    try:
        return status, from_json(body.decode("utf-8", "replace"))
    except ValueError:
        return status, None


def _records(body: object, field: str, key: str) -> list[Mapping[str, Any]]:
    """Return the objects of the list `body[field]` that have a non-empty text under `key`."""
    listed = body.get(field) if isinstance(body, dict) else None
    if not isinstance(listed, list):
        return []
    return [
        entry
        for entry in listed
        if isinstance(entry, dict) and isinstance(entry.get(key), str) and entry[key]
    ]


def _count(number: object) -> int | None:
    """Return a positive integer unchanged; None for anything else."""
    return number if type(number) is int and number > 0 else None
