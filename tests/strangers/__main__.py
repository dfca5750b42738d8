"""`make strangers`: the main job on corpora and with models that it was not made for."""

import argparse
import sys
from collections.abc import Sequence

from resources.files.home import REPO_ROOT
from tests.strangers.recipes import RECIPES, OutOfReachError
from tests.strangers.runs import results, run, runs_table

PAGE = REPO_ROOT / "docs" / "results" / "tests.md"
BEGIN, END = "<!-- runs of strangers -->", "<!-- end of these runs -->"


def main(argv: Sequence[str] | None = None) -> int:
    """Run those named, or all; 0 where each led to a result."""
    parser = argparse.ArgumentParser(prog="python -m tests.strangers", description=__doc__)
    parser.add_argument("corpora", nargs="*", help=f"some of {', '.join(RECIPES)}")
    corpora = parser.parse_args(argv).corpora or list(RECIPES)
    if unknown := [corpus for corpus in corpora if corpus not in RECIPES]:
        parser.error(f"there is no recipe {unknown[0]}: name some of {', '.join(RECIPES)}")
    stuck = 0
    for corpus in corpora:
        try:
            outcome = run(corpus)
        except OutOfReachError as error:
            print(f"{corpus}: left out. {error}", flush=True)
            continue
        stuck += outcome.ended != "done"
        print(f"{corpus}: {outcome.ended} after {outcome.seconds:.0f} s", *outcome.said, sep="\n  ")
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n{runs_table(results())}\n{END}{after}", encoding="utf-8")
    return 1 if stuck else 0


if __name__ == "__main__":
    sys.exit(main())
