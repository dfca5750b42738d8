"""Thin Dagster assets, one module a stage: what happens, not how. No algorithm, no SQL, no HTTP."""
