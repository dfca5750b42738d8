"""Assets of your own: every module of this folder is loaded (docs/guides/dagster.md)."""
