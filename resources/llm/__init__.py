"""The one way to a model: registry, canonical request, ledger, gateway."""
