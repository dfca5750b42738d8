"""What tests of extras have in common with those of the assets."""

from tests.assets.conftest import desk, signal_handlers

__all__ = ["desk", "signal_handlers"]
