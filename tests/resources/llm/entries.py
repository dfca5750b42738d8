"""Entries of models changed for a test, and the charges that a ledger holds."""

from typing import Any

from tenacity import wait_none

from resources.llm.gateway import Gateway
from resources.llm.ledger import Charge, Ledger
from resources.llm.ledger.calls import unpack
from resources.llm.model_spec import ModelSpec


def change_entries(gateway: Gateway, **fields: Any) -> Gateway:
    models = gateway.registry.models
    for name, spec in models.items():
        models[name] = ModelSpec.model_validate({**spec.model_dump(), **fields})
    return gateway


def spec_of(**fields: Any) -> ModelSpec:
    """An entry with the least that it needs, and these fields."""
    return ModelSpec.model_validate({"name": "it", "provider": "openai", "model": "it-1", **fields})


def no_backoff(**_: float) -> wait_none:
    return wait_none()


def charges_of(ledger: Ledger) -> list[Charge]:
    """Every charge, in the order they were made; without its request before version 5."""
    query = f"SELECT {', '.join(Charge._fields)} FROM charges ORDER BY seq"
    with ledger._store.read() as connection:
        charges = [Charge(*row) for row in connection.exec_driver_sql(query)]
    return [
        each._replace(request=unpack(each.request) if each.request else {})  # type: ignore[arg-type]
        for each in charges
    ]
