"""The provider of the mock model server is called mock."""

from resources.stores.versions import run_step

revision, down_revision = "102", "101"


def upgrade() -> None:
    """Run the statements of the step."""
    run_step(__file__)
