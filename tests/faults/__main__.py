"""Plants faults one by one and says which of them the tests notice: `python -m tests.faults`.

A fault is put to the tests that coverage names for its lines, the nearest and quickest first. The
checkout itself is never changed. pytest loads this module as a plugin, too: in `cover` it tells
coverage which test is at work, or which fixture that tests share; in `run` it keeps the chosen tests.
"""

import argparse
import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

import pytest

HERE = Path(__file__).resolve()
ROOT = HERE.parents[2]
DATA = ROOT / ".timings" / "faults"
PRODUCT = ("methods", "resources", "assets", "dagster_project", "review", "extras")
FIXTURE = "fixture "
"""What the context of a fixture begins with that several tests share."""
LEAST_KILLED = 95.0
FIRST_TESTS, FIRST_SECONDS = 300, 60.0
"""What is run before all other tests of a fault."""
TEST_TIMEOUT = 180
"""Seconds; a fault may make a test wait for ever."""
CONFIG = """\
[run]
source = {source}
data_file = {data}/.coverage
parallel = true
patch = subprocess
context = ${{FAULTS_CONTEXT-}}
disable_warnings = no-data-collected
"""
Lines = dict[str, set[int]]
"""Lines by file."""


# --- Faults ----------------------------------------------------------------------------------------


class Fault(NamedTuple):
    """A change of one place; `notices` says in one sentence what a user would notice."""

    id: str
    area: str
    file: str
    was: str
    now: str
    notices: str

    def planted(self, root: Path) -> tuple[str, int]:
        """The file's text with the fault in it, and its line. Raises ValueError."""
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
        return changed, text.partition(self.was)[0].count("\n") + 1


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


# --- Which test runs which line --------------------------------------------------------------------


class Contexts:
    """In each worker of `cover`: tells coverage what is at work, and records what it costs."""

    def __init__(self) -> None:
        self._at_work = [""]
        self._tests: dict[str, dict[str, Any]] = {}
        self._fixtures: dict[str, float] = defaultdict(float)

    def _at(self, context: str) -> Generator[None, object, object]:
        self._at_work.append(context)
        self._switch()
        try:
            return (yield)
        finally:
            self._at_work.pop()
            self._switch()

    def _switch(self) -> None:
        from coverage import Coverage

        # Processes that the test starts read it.
        os.environ["FAULTS_CONTEXT"] = self._at_work[-1]
        if (running := Coverage.current()) is not None:
            running.switch_context(self._at_work[-1])

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        return (yield from self._at(item.nodeid))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[object]
    ) -> Generator[None, object, object]:
        if fixturedef.scope == "function":
            return (yield)
        began, name = time.monotonic(), f"{fixturedef.baseid}::{fixturedef.argname}"
        try:
            return (yield from self._at(f"{FIXTURE}{name}"))
        finally:
            self._fixtures[name] = max(self._fixtures[name], time.monotonic() - began)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        needed = item._fixtureinfo.name2fixturedefs.values()  # type: ignore[attr-defined]
        wide = [f"{d[-1].baseid}::{d[-1].argname}" for d in needed if d[-1].scope != "function"]
        kept = self._tests.setdefault(item.nodeid, {"seconds": 0.0, "passed": True, "wide": wide})
        kept["seconds"] += report.duration if report.when == "call" else 0.0
        kept["passed"] &= not report.failed
        return report

    def pytest_sessionfinish(self) -> None:
        if self._tests:
            record = {"tests": self._tests, "fixtures": self._fixtures}
            (DATA / f"tests-{os.getpid()}.json").write_text(json.dumps(record))


class Chosen:
    """In `run`: keeps the chosen tests, file by file in their order, and says what came of them."""

    def __init__(self, asked: dict[str, Any]) -> None:
        names: list[str] = asked["tests"]
        self._tests = set(names)
        self._order = {name: n for n, name in enumerate(dict.fromkeys(map(file_of, names)))}
        self._whole, self._without = tuple(asked["whole"]), set(asked["without"])
        self._answer, self._failed, self._n = Path(asked["answer"]), None, 0

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        kept = (
            (self._tests | {i.nodeid for i in items if i.nodeid.startswith(self._whole)})
            if (self._whole)
            else self._tests
        )
        items[:] = [i for i in items if i.nodeid in kept - self._without]
        items.sort(key=lambda item: self._order.get(file_of(item.nodeid), len(self._order)))
        self._n = len(items)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and self._failed is None:
            self._failed = report.nodeid

    def pytest_sessionfinish(self) -> None:
        self._answer.write_text(json.dumps({"failed": self._failed, "n": self._n}))


def pytest_configure(config: pytest.Config) -> None:
    """Become the plugin that the environment asks for."""
    if asked := os.environ.get("FAULTS_CHOSEN"):
        config.pluginmanager.register(Chosen(json.loads(Path(asked).read_text())), "chosen")
    elif "FAULTS_COVER" in os.environ:
        config.pluginmanager.register(Contexts(), "contexts")


def file_of(test: str) -> str:
    """The file of a test's id."""
    return test.partition("::")[0]


def cover(paths: Sequence[str], n_workers: int) -> int:
    """Run the tests under coverage; 0 where all passed. What an earlier run found is thrown away."""
    if missing := [path for path in paths if not (ROOT / file_of(path)).exists()]:
        print(f"There is no {', '.join(missing)}.", file=sys.stderr)
        return 2
    shutil.rmtree(DATA, ignore_errors=True)
    DATA.mkdir(parents=True)
    rc = DATA / "coveragerc"
    source = ",".join(str(ROOT / folder) for folder in PRODUCT)
    rc.write_text(CONFIG.format(source=source, data=DATA))
    coverage = [sys.executable, "-m", "coverage"]
    command = [
        *coverage,
        "run",
        f"--rcfile={rc}",
        "-m",
        "pytest",
        "-q",
        "-p",
        "tests.faults.__main__",
    ]
    command += ["-m", "not nightly", "-n", str(n_workers), "--dist=loadfile", *paths]
    env = {**os.environ, "FAULTS_COVER": "yes", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=env)
    subprocess.run([*coverage, "combine", "-q", f"--rcfile={rc}"], cwd=ROOT, check=True)
    return done.returncode


class Covered:
    """What `cover` found: tests by line, what they take, and which of them passed."""

    def __init__(self) -> None:
        from coverage import CoverageData

        self._data = CoverageData(str(DATA / ".coverage"))
        self._data.read()
        self.tests: dict[str, dict[str, Any]] = {}
        self._fixtures: dict[str, float] = {}
        for part in DATA.glob("tests-*.json"):
            record = json.loads(part.read_text())
            self.tests |= record["tests"]
            self._fixtures |= record["fixtures"]
        self._of_fixture: dict[str, set[str]] = defaultdict(set)
        for name, test in self.tests.items():
            for fixture in test["wide"]:
                self._of_fixture[fixture].add(name)

    def at(self, lines: Lines) -> set[str]:
        """The tests that run any of these lines, themselves or in a fixture that they share."""
        found: set[str] = set()
        for file, of_file in lines.items():
            by_line = self._data.contexts_by_lineno(str(ROOT / file))
            for context in {each for line in of_file for each in by_line.get(line, ())}:
                for name in context.split("|"):
                    fixture = name.removeprefix(FIXTURE)
                    found |= {name} if fixture == name else self._of_fixture[fixture]
        return {name for name in found if self.tests.get(name, {}).get("passed")}

    def seconds(self, name: str, made: Collection[str] = ()) -> float:
        """What a test takes, with the fixtures that it shares where they are not made yet."""
        wide = (
            self._fixtures.get(each, 0.0) for each in self.tests[name]["wide"] if each not in made
        )
        return float(self.tests[name]["seconds"] + sum(wide))

    def first(self, names: Sequence[str], most: int, most_seconds: float) -> int:
        """How many of the tests, one after the other, take so long together."""
        spent, made = 0.0, set[str]()
        for number, name in enumerate(names[:most]):
            spent += self.seconds(name, made)
            made |= set(self.tests[name]["wide"])
            if spent > most_seconds:
                return number
        return min(most, len(names))


# --- Which lines tell of a fault -------------------------------------------------------------------

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def parsed(path: Path) -> tuple[ast.Module, list[Function]]:
    """A module and all its functions."""
    tree = ast.parse(path.read_text())
    return tree, [node for node in ast.walk(tree) if isinstance(node, Function)]


@cache
def product() -> list[Path]:
    """The Python files of the product."""
    return sorted(path for folder in PRODUCT for path in (ROOT / folder).rglob("*.py"))


def body(function: Function) -> range:
    """The lines of a function without its head."""
    return range(function.body[0].lineno, (function.end_lineno or 0) + 1)


def has_line(node: ast.stmt, line: int) -> bool:
    """Whether the statement has the line."""
    return node.lineno <= line <= (node.end_lineno or 0)


def names_at(statements: Iterable[ast.stmt], line: int) -> Iterator[str]:
    """What gets a name where a module, or a class in it, has the line."""
    for node in statements:
        if has_line(node, line) and isinstance(node, ast.ClassDef):
            yield node.name
            yield from names_at(node.body, line)
        elif has_line(node, line):
            stored = (e for e in ast.walk(node) if isinstance(e, ast.Name | ast.alias))
            yield from (
                getattr(e, "id", "") for e in stored if isinstance(getattr(e, "ctx", 0), ast.Store)
            )


def users(path: Path, names: Collection[str]) -> set[int]:
    """The lines of the functions that use a name, also through another name of the module."""
    tree, functions = parsed(path)
    known = set(names)

    def uses(node: ast.AST) -> bool:
        fields = ("id", "attr", "arg")
        return any(getattr(e, field, "") in known for e in ast.walk(node) for field in fields)

    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value and uses(node.value):
            known |= set(names_at([node], node.lineno))
    return {line for function in functions if uses(function) for line in body(function)}


def lines_at(path: Path, line: int) -> set[int]:
    """Lines that run because of one: those of its statement, or of what uses its names."""
    tree, functions = parsed(path)
    inside = [each for each in functions if line in body(each)]
    if inside:
        within = [e for e in ast.walk(inside[-1]) if isinstance(e, ast.stmt) and has_line(e, line)]
        narrowest = min(within, key=lambda each: (each.end_lineno or 0) - each.lineno)
        # The head of a block runs where the block is entered.
        first = getattr(narrowest, "body", None)
        last = first[0].lineno - 1 if isinstance(first, list) else narrowest.end_lineno or line
        return {*range(narrowest.lineno, last + 1), line}
    if head := [each for each in functions if has_line(each, line)]:
        return set(body(head[-1]))
    return users(path, set(names_at(tree.body, line)) - {""}) or {
        each for function in functions for each in body(function)
    }


def lines_of(fault: Fault, line: int) -> Lines:
    """Lines of Python that run because of a fault's."""
    path = ROOT / fault.file
    if path.suffix != ".py":
        return readers(path)
    found = {fault.file: lines_at(path, line)}
    tree, functions = parsed(path)
    names = set(names_at(tree.body, line)) - {""}
    if names and not any(has_line(each, line) for each in functions):
        module = fault.file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for other in product():
            imports = (n for n in ast.walk(parsed(other)[0]) if isinstance(n, ast.ImportFrom))
            taken = {a.name for node in imports if node.module == module for a in node.names}
            if taken & names:
                found[str(other.relative_to(ROOT))] = users(other, taken & names)
    return found


def readers(path: Path, seen: frozenset[Path] = frozenset()) -> Lines:
    """The lines that name a file in Python; else those that name a file beside it which names it."""
    found: Lines = defaultdict(set)
    stem, _, suffix = path.name.partition(".")
    named = re.compile(rf"(?:.*/)?{re.escape(stem)}(?:\.{re.escape(suffix)})?")
    for file in product():
        for node in ast.walk(parsed(file)[0]) if stem in file.read_text() else ():
            text = getattr(node, "value", None) if isinstance(node, ast.Constant) else None
            if isinstance(text, str) and named.fullmatch(text):
                found[str(file.relative_to(ROOT))] |= lines_at(file, node.lineno)
    for beside in [] if found else sorted(set(path.parent.glob("*.*")) - seen - {path}):
        if path.name in beside.read_text(errors="replace"):
            for name, lines in readers(beside, seen | {path}).items():
                found[name] |= lines
    return found


def folder_beside(fault: Fault, root: Path) -> str:
    """The folder of tests that mirrors a file's, or the nearest folder above it that has tests."""
    parts = Path(fault.file).parent.parts
    parts = ("assets", *parts[1:]) if parts[0] == "sql" else parts
    while len(parts) > 1 and not (root / "tests").joinpath(*parts).is_dir():
        parts = parts[:-1]
    return "/".join(("tests", *parts)) + "/"


def chosen(fault: Fault, line: int, covered: Covered) -> list[str]:
    """The tests of a fault: those of its own file, of its folder, all others; the quickest first."""
    beside = folder_beside(fault, ROOT)
    found = covered.at(lines_of(fault, line))
    found = found or {name for name in covered.tests if name.startswith(beside)}
    own = f"{beside}test_{Path(fault.file).stem}.py"

    def order(name: str) -> tuple[bool, bool, float, str]:
        return not name.startswith(own), not name.startswith(beside), covered.seconds(name), name

    return sorted(found, key=order)


# --- Planting --------------------------------------------------------------------------------------


class Verdict(NamedTuple):
    """What came of a fault: killed, survived, broken (nothing was collected) or not planted."""

    fault: Fault
    state: str
    by: str | None
    seconds: float
    n_tests: int
    told: str


class Copy:
    """A copy of a checkout without what git ignores, in which one fault after the other is planted."""

    def __init__(self, root: Path, base: Path) -> None:
        self.root, self.base = base / "checkout", base
        listed = ["git", "ls-files", "-co", "--exclude-standard", "-z"]
        names = subprocess.run(listed, cwd=root, capture_output=True, text=True, check=True).stdout
        for name in names.split("\0"):
            if name and (root / name).is_file():
                (self.root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / name, self.root / name)
        (self.root / ".venv").symlink_to(sys.prefix)
        shutil.copy2(HERE, base / "loom_faults.py")

    def run(
        self, tests: Sequence[str], whole: Sequence[str] = (), without: Collection[str] = ()
    ) -> tuple[str, str | None, int]:
        """Run tests by id, and all of files; how it ended, by which test, of how many."""
        answer, request = self.base / "answer.json", self.base / "asked.json"
        answer.unlink(missing_ok=True)
        asked = {"tests": [*tests], "whole": [*whole], "without": [*without]}
        request.write_text(json.dumps({**asked, "answer": str(answer)}))
        paths = [
            p for p in dict.fromkeys([*map(file_of, tests), *whole]) if (self.root / p).exists()
        ]
        if not paths:
            return "passed", None, 0
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider"]
        command += [
            "-p",
            "loom_faults",
            f"--timeout={TEST_TIMEOUT}",
            f"--basetemp={self.base}/tmp",
        ]
        env = {**os.environ, "FAULTS_CHOSEN": str(request), "PYTHONDONTWRITEBYTECODE": ""}
        # Processes that tests start take the code from the copy, too.
        env["PYTHONPATH"] = os.pathsep.join([str(self.root), str(self.base)])
        with (self.base / "output.txt").open("w") as output:
            done = subprocess.run(
                [*command, *paths], cwd=self.root, env=env, stdout=output, stderr=output
            )
        said = json.loads(answer.read_text()) if answer.exists() else {"failed": None, "n": 0}
        if said["failed"] and "::" in said["failed"]:
            return "failed", said["failed"], said["n"]
        return ("passed" if done.returncode in (0, 5) else "broken"), None, said["n"]


def tried(
    fault: Fault,
    copy: Copy,
    covered: Covered,
    most_seconds: float,
    known: str | None,
    *,
    here: bool,
) -> Verdict:
    """Plant one fault, run its tests until one fails, and put the file back.

    A test that is known to have noticed it is tried alone before the others.
    """
    began, n_tests, told = time.monotonic(), 0, ""

    def verdict(state: str, by: str | None = None) -> Verdict:
        return Verdict(fault, state, by, round(time.monotonic() - began, 1), n_tests, told)

    try:
        text, _ = fault.planted(copy.root)
        _, line = fault.planted(ROOT)
    except ValueError as error:
        told = str(error)
        return verdict("not planted")
    names = chosen(fault, line, covered)
    n_first = covered.first(names, FIRST_TESTS, FIRST_SECONDS) or 1
    rest = sorted(names[n_first:], key=covered.seconds)
    n_rest = covered.first(rest, len(rest), most_seconds)
    beside = copy.root / folder_beside(fault, copy.root)
    whole = [str(p.relative_to(copy.root)) for p in sorted(beside.glob("test_*.py"))]
    target = copy.root / fault.file
    original, times = target.read_bytes(), target.stat()
    bad: set[str] = set()
    # What a module makes when it is imported is run by no test: its folder's tests come last.
    parts = [(names[:n_first], [] if here else whole), (rest[:n_rest], [])]
    parts += [([], whole)] if here else []
    for part, folders in [([known], []), *parts] if known else parts:
        by: str | None = ""
        while by is not None:
            target.write_text(text)
            try:
                state, by, n = copy.run(part, folders, bad)
            finally:
                target.write_bytes(original)
                os.utime(target, ns=(times.st_atime_ns, times.st_mtime_ns))
            n_tests += n
            # A test that fails without the fault, too, says nothing of it.
            if by is not None and copy.run([by])[0] == "passed":
                return verdict("killed", by)
            if by is not None:
                bad.add(by)
                told = f"{len(bad)} of its tests fail without it, such as {by}."
        if state == "broken":
            told = (copy.base / "output.txt").read_text().strip().rpartition("\n")[2]
            return verdict("broken")
    told += f" {len(names)} tests run it" + (
        f", {len(rest) - n_rest} not tried." * (n_rest < len(rest))
    )
    return verdict("survived")


def run(
    ids: Sequence[str],
    root: Path,
    jobs: int,
    report: Path | None,
    earlier: Path | None,
    most_seconds: float,
) -> int:
    """Try the faults with these ids, or all; 1 where too few are killed."""
    faults = [each for each in read_faults() if not ids or each.id in ids]
    if unknown := set(ids) - {each.id for each in faults}:
        print(f"There is no fault {', '.join(sorted(unknown))}.", file=sys.stderr)
        return 2
    if not (DATA / ".coverage").exists():
        print("Which test runs which line is not known: run `cover` to its end.", file=sys.stderr)
        return 2
    covered = Covered()
    noticed = json.loads(earlier.read_text()) if earlier else []
    known = {each["fault"]: each["by"] for each in noticed}
    copies: SimpleQueue[Copy] = SimpleQueue()

    def one(fault: Fault) -> Verdict:
        copy = copies.get()
        try:
            found = tried(
                fault, copy, covered, most_seconds, known.get(fault.id), here=root == ROOT
            )
        finally:
            copies.put(copy)
        print(
            f"{found.state} {fault.id} {found.seconds:.0f} s {found.by or found.told}", flush=True
        )
        return found

    with tempfile.TemporaryDirectory(prefix="loom-faults-") as base:
        for number in range(jobs):
            (place := Path(base) / str(number)).mkdir()
            copies.put(Copy(root, place))
        with ThreadPoolExecutor(jobs) as pool:
            verdicts = list(pool.map(one, faults))
    if report is not None:
        rows = [{**each._asdict(), "fault": each.fault.id} for each in verdicts]
        report.write_text(json.dumps(rows, indent=1) + "\n")
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
            print(
                f"{each.state}: {each.fault.id} in {each.fault.file}. {each.fault.notices} {each.told}"
            )
    states = Counter(each.state for each in verdicts)
    share = round(100 * states["killed"] / max(1, len(verdicts)), 1)
    print(json.dumps({"faults": len(verdicts), **states, "killed_percent": share}))
    return int(share < LEAST_KILLED)


def main(argv: Sequence[str] | None = None) -> int:
    """The command; its return value is the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    checking = commands.add_parser("check", help="whether each fault can still be planted")
    covering = commands.add_parser("cover", help="find out which test runs which line")
    covering.add_argument("paths", nargs="*", default=["tests"])
    covering.add_argument("--workers", type=int, default=2)
    running = commands.add_parser("run", help="plant faults and run the tests of their lines")
    running.add_argument("ids", nargs="*")
    running.add_argument("--jobs", type=int, default=2)
    running.add_argument("--report", type=Path, help="a file for what came of each, as JSON")
    running.add_argument("--earlier", type=Path, help="such a file: its tests are tried first")
    running.add_argument("--seconds", type=float, default=900.0, help="of tests, for one fault")
    for each in (checking, running):
        each.add_argument("--root", type=Path, default=ROOT, help="another checkout")
    given = parser.parse_args(argv)
    if given.command == "check":
        return check(given.root.resolve())
    if given.command == "cover":
        return cover(given.paths, given.workers)
    return run(
        given.ids, given.root.resolve(), given.jobs, given.report, given.earlier, given.seconds
    )


if __name__ == "__main__":
    sys.exit(main())
