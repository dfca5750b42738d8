"""The step that tests judges for bias has another name."""

from resources.stores.versions import run_step

revision, down_revision = "103", "102"


def upgrade() -> None:
    """Run the statements of the step."""
    run_step(__file__)
