"""Create the view of decisions that were not taken back, for files whose first version lacks it."""

from resources.stores.versions import run_step

revision, down_revision = "103", "102"


def upgrade() -> None:
    """Run the statements of the step."""
    run_step(__file__)
