"""Calls from before the ledger knew who answered: whose answers they are taken for.

What belongs here: deciding that, once, by the entries of models.yaml. Until version 5 a call named its
provider and model alone, so that two servers with a model of one name shared their answers. Until
version 6 it did not name the headers by which a gateway may choose who answers.
"""

from resources.llm.ledger import Ledger
from resources.llm.model_spec import RegistryError
from resources.llm.registry import Registry


def decide_earlier_endpoints(ledger: Ledger, registry: Registry) -> list[str]:
    """Decide who answered the calls without an endpoint; a sentence for each model decided now.

    Where all entries of a model have one endpoint, it was that. Where they have several, it is unknown:
    these answers stay in the ledger and are given to nobody. A decision stands, wherever an address
    points to later. A model without an entry is decided when it has one.
    """
    counts = ledger.without_endpoint()
    decided: dict[tuple[str, str], str | None] = {}
    told = []
    known = ledger.earlier_endpoints() if counts else {}
    for (provider, model), n_calls in counts.items():
        if (provider, model) in known:
            continue
        names = [
            name
            for name, spec in registry.models.items()
            if (spec.provider, spec.model) == (provider, model)
        ]
        if not names:
            continue
        try:
            endpoints = {registry.models[name].endpoint() for name in names}
        except RegistryError:
            continue  # The address cannot be read now: it is decided when it can be.
        decided[provider, model] = min(endpoints) if len(endpoints) == 1 else None
        told.append(_sentence(model, n_calls, sorted(endpoints)))
    if decided:
        ledger.decide_earlier_endpoints(decided)
    return told


def require_known_routes(ledger: Ledger, registry: Registry, profile: str) -> None:
    """Raise RegistryError where answers at a model's address may be its own, or those of another route.

    They are of an entry without such headers, where there is one.
    """
    for name in registry.profile(profile).models:
        spec = registry.model(name)
        own, alone = spec.endpoint(), spec.endpoint_alone()
        if own == alone or any(
            other.model == spec.model and other.address() == spec.address() and not other.routes()
            for other in registry.models.values()
        ):
            continue
        if ledger.has_answers_of(alone, spec.model) and not ledger.has_answers_of(own, spec.model):
            raise RegistryError(
                f"The ledger has answers of {spec.model} at {alone} that do not say by which headers "
                f"they came: for {name} set `identity: {alone}` to use them, or "
                f'`identity: "{own}"` to ask anew.'
            )


def _sentence(model: str, n_calls: int, endpoints: list[str]) -> str:
    earlier = f"{n_calls} earlier answer{'' if n_calls == 1 else 's'} of {model}"
    if len(endpoints) == 1:
        return f"{earlier} count as answers of {endpoints[0]}."
    return (
        f"{earlier} are not used: models.yaml has {', '.join(endpoints)} for this model, and it is not "
        "known which of them answered. The ledger keeps them; the model is asked again."
    )
