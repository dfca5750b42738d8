"""Batches have the address that they were submitted to."""

from resources.stores.versions import run_step

revision, down_revision = "104", "103"


def upgrade() -> None:
    """Run the statements of the step."""
    run_step(__file__)
