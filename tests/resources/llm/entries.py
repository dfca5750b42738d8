"""Entries of models changed for a test: how long is waited, how often is tried, what is sent."""

from typing import Any

from tenacity import wait_none

from resources.llm.gateway import Gateway
from resources.llm.model_spec import ModelSpec


def change_entries(gateway: Gateway, **fields: Any) -> Gateway:
    """The gateway with these fields in every entry of its registry."""
    models = gateway.registry.models
    for name, spec in models.items():
        models[name] = ModelSpec.model_validate({**spec.model_dump(), **fields})
    return gateway


def no_backoff(**_: float) -> wait_none:
    """In place of `wait_random_exponential`: retry at once."""
    return wait_none()
