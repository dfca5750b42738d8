"""Budgets are one row for each run chain; the limits per minute are no longer shared."""

from resources.stores.versions import run_step

revision, down_revision = "101", "100"


def upgrade() -> None:
    """Run the statements of the step."""
    run_step(__file__)
