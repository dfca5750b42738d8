"""Upkeep of a home: backups, removing what can be built again, moving to shared stores and back."""
