"""The papers' methods as pure functions over plain data: no I/O, no Dagster, no resources."""
