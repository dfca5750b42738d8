"""The view of decisions that nobody took back, for files whose first step lacked it."""

from resources.stores.versions import run_step

revision, down_revision = "103", "102"


def upgrade() -> None:
    """Run the statements of the step."""
    run_step(__file__)
