"""Assignments, and the order in which items are handed out."""

from resources.stores.versions import run_step

revision, down_revision = "102", "101"


def upgrade() -> None:
    """Run the statements of the step."""
    run_step(__file__)
