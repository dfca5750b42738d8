"""`vlm-loom result export-critic`: the pairs that a critic is trained on, as files."""

import click

from resources.command_line import WorkspaceCommand

FOLDER = "critic"
"""Folder of the workspace with a folder for each release, and with what was trained."""


@click.command("export-critic", cls=WorkspaceCommand, example="vlm-loom result export-critic mmdu")
@click.argument("release")
def export_critic(release: str) -> None:
    """Write what a critic is trained on, as files."""
    from extras.critic.assets.critic_export import export_critic
    from resources.files import home
    from resources.warehouse.configured import warehouse_of_home

    warehouse = warehouse_of_home()
    folder, card = export_critic(warehouse, release, home.home() / FOLDER)
    n = card["n_pairs"]
    left_out = ", ".join(f"{n_of} {why}" for why, n_of in card["left_out"].items()) or "none"
    print(
        f"{n['train']} pairs to train on and {n['test']} to test on in {folder}; left out: "
        f"{left_out}."
    )


COMMANDS = {"result": [export_critic]}
