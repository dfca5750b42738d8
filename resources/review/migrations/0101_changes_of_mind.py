"""Decisions that are taken back, comments, names that change, and a clock."""

from resources.stores.versions import run_step

revision, down_revision = "101", "100"


def upgrade() -> None:
    """Run the statements of the step."""
    run_step(__file__)
