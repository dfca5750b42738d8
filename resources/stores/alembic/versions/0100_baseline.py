"""The first version that all later ones open: vlm-loom 0.2.0. A new store has the newest tables."""

revision = "100"
down_revision = None


def upgrade() -> None:
    """A store has this version or a later one."""
