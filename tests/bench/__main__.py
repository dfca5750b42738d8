"""Measurements by name: `make bench NAME=gateway`, or `python -m tests.bench gateway`."""

import runpy
import sys
from pathlib import Path

HERE = Path(__file__).parent
NAMES = sorted(
    name
    for path in HERE.glob("*.py")
    if f"make bench NAME={(name := path.stem.replace('_', '-'))}" in path.read_text()
)


def main() -> int:
    """Run the measurement that is named; what is behind the name is its own. 2 for another name."""
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name not in NAMES:
        print(f"There is no measurement '{name}'; there are {', '.join(NAMES)}.", file=sys.stderr)
        return 2
    del sys.argv[1]
    runpy.run_module(f"tests.bench.{name.replace('-', '_')}", run_name="__main__", alter_sys=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
