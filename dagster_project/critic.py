"""The pairs that a critic is trained on, as files.

What belongs here: the sentence that says what was written. The files are
`assets/evaluate/critic_export.py`; training on them is `docs/guides/critic`.
"""

from assets.evaluate.critic_export import export_critic
from resources import home
from resources.warehouse import Warehouse


def export(release: str) -> str:
    """Write the files of a release. Raises UserError."""
    warehouse = Warehouse(home.warehouse_path())
    folder, card = export_critic(warehouse, release, home.critic_path())
    n = card["n_pairs"]
    left_out = ", ".join(f"{n_of} {why}" for why, n_of in card["left_out"].items()) or "none"
    return (
        f"{n['train']} pairs to train on and {n['test']} to test on in {folder}; left out: "
        f"{left_out}."
    )
