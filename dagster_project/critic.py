"""The command on a critic's training pairs: write those of a release as files.

What belongs here: arguments. The files are `assets/evaluate/critic_export.py`; training on them is
`docs/guides/critic`.
"""

import sys
from collections.abc import Sequence

from assets.evaluate.critic_export import export_critic
from methods.errors import UserError
from resources import home
from resources.command_line import CommandParser
from resources.stores import bring_home_up_to_date
from resources.warehouse import Warehouse


def main(argv: Sequence[str] | None = None) -> int:
    """Write the files; 0 when it was done, 2 when it could not be."""
    parser = CommandParser(prog="python -m dagster_project.critic", description=__doc__)
    parser.add_argument("--release", default="", help="id, name, or how an id begins")
    arguments = parser.parse_args(argv)
    try:
        bring_home_up_to_date()
        if not arguments.release:
            raise UserError("Say of which release: RELEASE=<name>.")
        folder, card = export_critic(
            Warehouse(home.warehouse_path()), arguments.release, home.critic_path()
        )
    except (OSError, UserError) as error:
        print(error, file=sys.stderr)
        return 2
    n = card["n_pairs"]
    left_out = ", ".join(f"{n_of} {why}" for why, n_of in card["left_out"].items()) or "none"
    print(
        f"{n['train']} pairs to train on and {n['test']} to test on in {folder}; left out: {left_out}."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
