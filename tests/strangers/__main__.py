"""`make strangers`: the main job on corpora and with models that it was not made for."""

import argparse
import sys

from tests.strangers.recipes import RECIPES, OutOfReachError
from tests.strangers.runs import run


def main() -> int:
    """Run those named, or all; 0 where each led to a result."""
    parser = argparse.ArgumentParser(prog="python -m tests.strangers", description=__doc__)
    parser.add_argument("corpora", nargs="*", help=f"some of {', '.join(RECIPES)}")
    corpora, stuck = parser.parse_args().corpora or list(RECIPES), 0
    if unknown := [corpus for corpus in corpora if corpus not in RECIPES]:
        parser.error(f"there is no recipe {unknown[0]}: name some of {', '.join(RECIPES)}")
    for corpus in corpora:
        try:
            outcome = run(corpus)
        except OutOfReachError as error:
            print(f"{corpus}: left out. {error}", flush=True)
            continue
        stuck += outcome.ended != "done"
        print(f"{corpus}: {outcome.ended}", outcome.counts, *outcome.said, sep="\n  ", flush=True)
    return int(bool(stuck))


if __name__ == "__main__":
    sys.exit(main())
