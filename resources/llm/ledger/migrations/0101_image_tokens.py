"""Calls have the tokens of images in their prompt, where the server reports them."""

from resources.stores.versions import run_step

revision, down_revision = "101", "100"


def upgrade() -> None:
    """Run the statements of the step."""
    run_step(__file__)
