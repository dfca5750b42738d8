"""How many examples of a law are tried: fewer where slow tests are left out.

A test that needs another number, because an example costs it nothing, says so itself.
"""

import pytest
from hypothesis import settings

# A busy machine is slow, not wrong: without a deadline no law fails by the time it takes.
settings.register_profile("all", max_examples=50, deadline=None)
settings.register_profile("fast", max_examples=15, deadline=None)


def pytest_configure(config: pytest.Config) -> None:
    """Choose the profile before modules with laws are imported."""
    settings.load_profile("fast" if config.getoption("markexpr") == "not slow" else "all")
