"""Plants faults one by one and says which of them the tests notice: `python -m tests.faults`.

A fault is put to the tests of its module, then to those of the folder that mirrors its own. A fault
that only other tests notice names them. The checkout itself is never changed.
"""

import argparse
import ast
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

HERE = Path(__file__).resolve()
ROOT = HERE.parents[2]
LEAST_KILLED = 95.0
TEST_TIMEOUT = 180
"""Seconds; a fault may make a test wait for ever."""
PASSED, FAILED, NONE_COLLECTED = 0, 1, 5
"""Exit codes of pytest."""


class Fault(NamedTuple):
    """A change of one place; `notices` says in one sentence what a user would notice."""

    id: str
    area: str
    file: str
    was: str
    now: str
    notices: str
    tests: str = ""

    def planted(self, root: Path) -> str:
        """The file's text with the fault in it. Raises ValueError."""
        path = (root / self.file).resolve()
        if not path.is_relative_to(root.resolve()):
            raise ValueError(f"{self.id}: {self.file} is not in the checkout.")
        text = path.read_text() if path.is_file() else ""
        if (n := text.count(self.was)) != 1:
            raise ValueError(f"{self.id}: {self.file} has its text {n} times instead of once.")
        changed = text.replace(self.was, self.now)
        try:
            _parse(path, changed)
        except Exception as error:
            raise ValueError(f"{self.id}: {self.file} has no form any more ({error}).") from None
        if changed == text:
            raise ValueError(f"{self.id}: it changes nothing.")
        return changed

    def paths(self, root: Path) -> list[str]:
        """The tests that it is put to, one path after the other."""
        if self.tests:
            return [self.tests]
        parts = Path(self.file).parent.parts
        parts = ("assets", *parts[1:]) if parts[0] == "sql" else parts
        while len(parts) > 1 and not (root / "tests").joinpath(*parts).is_dir():
            parts = parts[:-1]
        folder = "/".join(("tests", *parts))
        own = f"{folder}/test_{Path(self.file).stem}.py"
        return [own, folder] if (root / own).exists() else [folder]


def _parse(path: Path, text: str) -> None:
    """Raise an error unless the text has the form of such a file."""
    if path.suffix == ".py":
        ast.parse(text)
    elif path.suffix == ".html":
        import jinja2

        jinja2.Environment().parse(text)
    elif path.suffix == ".sql" and "resources" not in path.parts:  # Those are SQLite's.
        import duckdb

        duckdb.extract_statements(text)


def read_faults() -> list[Fault]:
    """The faults of the list beside this module. Ends the process where it has another form."""
    path = HERE.parent / "faults.toml"
    try:
        return [Fault(**each) for each in tomllib.loads(path.read_text())["fault"]]
    except (tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        sys.exit(f"{path} is not a list of faults: {error}.")


def check(root: Path) -> int:
    """Say of each fault that cannot be planted why; 1 where there is any."""
    faults, wrong = read_faults(), []
    for kind, most in (("id", 1), ("file", 2)):
        named = Counter(getattr(each, kind) for each in faults)
        wrong += [f"{n} faults have the {kind} {of}." for of, n in named.items() if n > most]
    for fault in faults:
        try:
            fault.planted(root)
        except ValueError as error:
            wrong.append(str(error))
    print("\n".join([*wrong, f"{len(faults)} faults, {len(wrong)} wrong."]))
    return int(bool(wrong))


class Verdict(NamedTuple):
    """The result of a fault: killed, survived, not planted, or broken (its tests fail without it)."""

    fault: Fault
    state: str
    seconds: float
    detail: str


class Copy:
    """A copy of a checkout without the files that git ignores, in which faults are planted."""

    def __init__(self, root: Path, base: Path) -> None:
        self.root, self.base = base / "checkout", base
        listed = ["git", "ls-files", "-co", "--exclude-standard", "-z"]
        names = subprocess.run(listed, cwd=root, capture_output=True, text=True, check=True).stdout
        for name in names.split("\0"):
            if name and (root / name).is_file():
                (self.root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / name, self.root / name)
        (self.root / ".venv").symlink_to(sys.prefix)

    def run(self, path: str, *options: str) -> tuple[int, str]:
        """Run tests until one fails; pytest's exit code and the last line of its output."""
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-m", "not nightly"]
        command += [f"--timeout={TEST_TIMEOUT}", f"--basetemp={self.base}/tmp"]
        command += ["-o", f"cache_dir={self.base}/cache", *options, path]
        # Processes that tests start take the code from the copy, too.
        env = {**os.environ, "PYTHONPATH": str(self.root)}
        done = subprocess.run(command, cwd=self.root, env=env, capture_output=True, text=True)
        failed = [
            line for line in done.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))
        ]
        return done.returncode, (failed or done.stdout.splitlines() or [""])[-1]


def tried(fault: Fault, copy: Copy) -> Verdict:
    """Plant one fault, run its tests until one fails, and put the file back."""
    began = time.monotonic()

    def verdict(state: str, detail: str) -> Verdict:
        return Verdict(fault, state, round(time.monotonic() - began, 1), detail)

    try:
        text = fault.planted(copy.root)
    except ValueError as error:
        return verdict("not planted", str(error))
    target = copy.root / fault.file
    original = target.read_bytes()
    for path in fault.paths(copy.root):
        target.write_text(text)
        try:
            code, failed = copy.run(path)
        finally:
            target.write_bytes(original)
        if code == FAILED and copy.run(path, "--last-failed")[0] == PASSED:
            return verdict("killed", failed)
        if code not in (PASSED, NONE_COLLECTED):
            return verdict("broken", failed)
    return verdict("survived", f"{', '.join(fault.paths(copy.root))} pass.")


def run(ids: Sequence[str], jobs: int) -> int:
    """Try the faults with these ids, or all; 1 where too few are killed."""
    faults = [each for each in read_faults() if not ids or each.id in ids]
    if unknown := set(ids) - {each.id for each in faults}:
        print(f"There is no fault {', '.join(sorted(unknown))}.", file=sys.stderr)
        return 2
    copies: SimpleQueue[Copy] = SimpleQueue()

    def one(fault: Fault) -> Verdict:
        copy = copies.get()
        try:
            found = tried(fault, copy)
        finally:
            copies.put(copy)
        print(f"{found.state} {fault.id} {found.seconds:.0f} s {found.detail}", flush=True)
        return found

    with tempfile.TemporaryDirectory(prefix="loom-faults-") as base:
        for number in range(jobs):
            (place := Path(base) / str(number)).mkdir()
            copies.put(Copy(ROOT, place))
        with ThreadPoolExecutor(jobs) as pool:
            verdicts = list(pool.map(one, faults))
    return shown(verdicts)


def shown(verdicts: Sequence[Verdict]) -> int:
    """Print a table by area, what was not killed, and the figures as JSON."""
    print(f"\n{'area':<24}{'faults':>8}{'killed':>8}{'seconds':>9}")
    for area in [*dict.fromkeys(each.fault.area for each in verdicts), "all"]:
        of = [each for each in verdicts if area in (each.fault.area, "all")]
        n_killed = sum(each.state == "killed" for each in of)
        print(f"{area:<24}{len(of):>8}{n_killed:>8}{sum(each.seconds for each in of):>9.0f}")
    for each in verdicts:
        if each.state != "killed":
            fault = each.fault
            print(f"{each.state}: {fault.id} in {fault.file}. {fault.notices} {each.detail}")
    states = Counter(each.state for each in verdicts)
    share = round(100 * states["killed"] / max(1, len(verdicts)), 1)
    print(json.dumps({"faults": len(verdicts), **states, "killed_percent": share}))
    return int(share < LEAST_KILLED)


def main(argv: Sequence[str] | None = None) -> int:
    """The command; its return value is the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("check", help="whether each fault can still be planted")
    running = commands.add_parser("run", help="plant faults and run the tests beside them")
    running.add_argument("ids", nargs="*")
    running.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args(argv)
    return check(ROOT) if given.command == "check" else run(given.ids, given.jobs)


if __name__ == "__main__":
    sys.exit(main())
