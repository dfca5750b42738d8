"""A server is asked what it serves, at whichever of its addresses answers."""

import pytest

from resources.llm import discovery
from resources.llm.discovery import MAX_REPLY_BYTES, DiscoveryError, ServedModel, discover
from tests.doubles.model_server import LLAMA_PROPS, PAGES, model_server
from tests.doubles.odd_api import Asked, answering

SERVED = {
    "llama.cpp": ServedModel("models/Gemma-3.gguf", context=4096, slots=2, images=True),
    "LM Studio": ServedModel("qwen-vl", context=4096, images=True),
    "Ollama": ServedModel("qwen3-vl:8b"),
    "vLLM": ServedModel("Qwen/VL", context=32768),
    "": ServedModel("m"),
}


@pytest.mark.parametrize("software", PAGES)
def test_each_kind_of_server_says_what_it_serves(software):
    with model_server(PAGES[software]) as root:
        server = discover(root)

    assert (server.software, server.base_url) == (software, f"{root}/v1")
    assert server.models == (SERVED[software],)


@pytest.mark.parametrize("form", ["{}", "{}/", "{}/v1", "{}/v1/", "{}/v1/chat/completions"])
def test_an_address_may_have_more_or_less_of_its_path(form):
    with model_server(PAGES["vLLM"]) as root:
        assert discover(form.format(root)).base_url == f"{root}/v1"
        assert discover(form.format(root.removeprefix("http://"))).base_url == f"{root}/v1"


def test_a_server_below_a_path_of_its_host_is_found():
    with model_server({"/llm/api/models": {"data": [{"id": "m"}]}}) as root:
        assert discover(f"{root}/llm/api").base_url == f"{root}/llm/api"


@pytest.mark.parametrize(
    ("props", "known"),
    [
        ({"total_slots": "two", "modalities": None}, (4096, None, None)),
        ({"total_slots": 1, "default_generation_settings": {"n_ctx": 0}}, (None, 1, True)),
        ({"default_generation_settings": {"n_ctx": True}}, (None, 2, True)),
    ],
)
def test_what_a_server_says_in_another_form_is_not_known(props, known):
    with model_server({**PAGES["llama.cpp"], "/props": {**LLAMA_PROPS, **props}}) as root:
        (model,) = discover(root).models

    assert (model.context, model.slots, model.images) == known


@pytest.mark.parametrize(
    ("pages", "status", "sentence"),
    [
        (PAGES["vLLM"], 401, "refuses requests without a valid key"),
        (PAGES["vLLM"], 503, "is not ready yet"),
        ({}, 200, "lists no models at /v1/models .status 404."),
        ({"/v1/models": {"data": []}}, 200, "lists no models"),
        ({"/v1/models": {"data": [{"id": 7}, "x"]}}, 200, "lists no models"),
        ({"/v1/models": {"data": [{"id": "x" * MAX_REPLY_BYTES}]}}, 200, "lists no models"),
        (
            {**PAGES[""], "/api/v0/models": {"data": [{"id": "e", "type": "embeddings"}]}},
            200,
            "serves no model that can be asked",
        ),
    ],
)
def test_a_server_that_lists_nothing_is_a_sentence(pages, status, sentence):
    with model_server(pages, status) as root, pytest.raises(DiscoveryError, match=sentence):
        discover(root)


def test_a_server_that_sends_byte_by_byte_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(discovery, "TIMEOUT_SECONDS", 0.3)

    def drip(asked: Asked) -> None:
        asked.begin()
        while not asked.server.ending.wait(0.05):
            asked.write(b" ")

    with answering(drip) as server:
        sentence = "did not send its whole answer within 0.3 seconds"
        with pytest.raises(DiscoveryError, match=sentence):
            discover(server.address)


def test_a_server_that_lists_its_models_at_every_address_is_not_called_by_a_name():
    models = {"data": [{"id": "m", "object": "model"}]}
    with model_server({"/v1/models": models, "/api/v0/models": models}) as root:
        assert discover(root).software == ""


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("http://127.0.0.1:1", "cannot be reached .* Start the server"),
        ("ftp://127.0.0.1", "must begin with http"),
        ("http://me:secret@127.0.0.1", "^The address of http://127.0.0.1 has a password"),
    ],
)
def test_an_address_that_cannot_be_asked_is_a_sentence(url, sentence):
    with pytest.raises(DiscoveryError, match=sentence):
        discover(url)
