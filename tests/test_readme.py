"""The table of variables is that of the code, commands can be typed, links lead somewhere, and the
README is short."""

import re
from pathlib import Path

from resources.files.home import REPO_ROOT
from tests.command_lines import fault_of, lines_in

CODE = ("dagster_project", "assets", "resources", "methods", "review", "extras")
FILES = tuple(REPO_ROOT / name for name in ("Makefile", "tests/conftest.py"))
VARIABLES = REPO_ROOT / "docs" / "reference" / "variables.md"
MOST_WORDS = 900
"""Of the README: what one reads in five minutes."""
NOT_LOOMS = {
    "PORT",
    "DAGSTER_HOME",
    "DAGSTER_POSTGRES_URL",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "LABEL_STUDIO_TOKEN",
}


def rows() -> list[list[str]]:
    """The rows of the table: name, default, meaning."""
    section = VARIABLES.read_text().partition("\n## Variables\n")[2]
    lines = [line for line in section.partition("\n## ")[0].splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def named_in_code() -> set[str]:
    files: list[Path] = [
        *FILES,
        *(path for top in CODE for path in (REPO_ROOT / top).rglob("*.py")),
    ]
    return {
        name
        for path in files
        for name in re.findall(r"\bLOOM_[A-Z]+(?:_[A-Z]+)*\b", path.read_text())
    }


def test_the_table_has_every_variable_that_the_code_names_and_no_other() -> None:
    names = [row[0].strip("`") for row in rows()]
    assert len(names) == len(set(names))
    assert {name for name in names if name.startswith("LOOM_")} == named_in_code()
    assert {name for name in names if not name.startswith("LOOM_")} == NOT_LOOMS


def test_each_row_says_default_and_meaning() -> None:
    for row in rows():
        assert len(row) == 3, row
        assert all(row), row


def pages() -> list[Path]:
    docs = REPO_ROOT / "docs"
    folders = (docs / "guides", docs / "reference")
    return [
        *REPO_ROOT.glob("*.md"),
        docs / "index.md",
        *(page for folder in folders for page in folder.rglob("*.md")),
    ]


def test_every_command_of_the_pages_is_understood() -> None:
    lines = [(page.name, line) for page in pages() for line in lines_in(page.read_text())]
    faults = [f"{page}: {line}: {fault}" for page, line in lines if (fault := fault_of(line))]
    assert faults == []
    assert len(lines) > 100, "they are found"


def test_every_target_of_make_in_the_pages_is_in_the_makefile() -> None:
    makefile = (REPO_ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    named = {
        (page.name, line.split()[0])
        for page in pages()
        for line in lines_in(page.read_text(), "make", before="^")
    }
    assert {target for _, target in named} <= targets, named
    assert {target for _, target in named} >= {"demo", "test", "bench"}


def test_every_link_and_picture_of_the_readme_and_the_guides_is_there() -> None:
    missing = [
        f"{page.name}: {target}"
        for page in [*REPO_ROOT.glob("*.md"), *(REPO_ROOT / "docs").rglob("*.md")]
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text())
        if not target.startswith("http") and not (page.parent / target).exists()
    ]
    assert missing == []


def test_the_readme_is_read_in_five_minutes() -> None:
    assert len((REPO_ROOT / "README.md").read_text().split()) <= MOST_WORDS


def test_the_index_of_the_guides_has_each_of_them() -> None:
    folder = REPO_ROOT / "docs" / "guides"
    linked = set(re.findall(r"\]\(([a-z-]+\.md)\)", (folder / "README.md").read_text()))
    assert linked == {page.name for page in folder.glob("*.md")} - {"README.md"}


def test_each_decision_has_a_number_and_the_index_has_every_number() -> None:
    folder = REPO_ROOT / "docs" / "decisions"
    index = (folder / "README.md").read_text()
    pages = {page.name: int(page.name[:4]) for page in folder.glob("0*.md")}
    gone = [int(number) for number in re.findall(r"^\| (\d+) \|", index, re.MULTILINE)]
    assert set(re.findall(r"\[\d+ [^]]+\]\(([^)]+)\)", index)) == set(pages)
    numbers = sorted([*pages.values(), *gone])
    assert numbers == list(range(1, numbers[-1] + 1))


def test_the_examples_of_contributing_are_lines_of_their_files() -> None:
    page = (REPO_ROOT / "CONTRIBUTING.md").read_text()
    blocks = re.findall(r"```\w+\n *(?:#|--) (\S+)\n(.*?)```", page, re.DOTALL)
    assert len(blocks) > 8, "they are found"
    other = [
        f"{path}: {line.strip()}"
        for path, code in blocks
        for line in code.strip().splitlines()
        if line.strip() not in {"...", *map(str.strip, (REPO_ROOT / path).read_text().splitlines())}
    ]
    assert other == []


def test_what_the_numbers_were_checked_with_is_there() -> None:
    page = (REPO_ROOT / "docs" / "results" / "validation.md").read_text()
    tests = re.findall(r"`(tests/\S+\.py)::(\w+)`", page)
    assert len(tests) > 20
    gone = [
        f"{path}::{name}"
        for path, name in tests
        if not re.search(rf"^def {name}\(", (REPO_ROOT / path).read_text(), re.MULTILINE)
    ]
    assert gone == []
    locks = ("requirements.lock", "requirements-dev.lock")
    locked = [line for lock in locks for line in (REPO_ROOT / lock).read_text().splitlines()]
    versions = re.findall(r"\| (scikit-learn|krippendorff|scipy) ([\d.]+\d)", page)
    assert len(versions) > 10
    assert {f"{name}=={version}" for name, version in versions} <= set(locked)
    benches = re.findall(r"make bench NAME=([a-z-]+)", page)
    assert benches and all(
        (REPO_ROOT / "tests" / "bench" / f"{name}.py").exists() for name in benches
    )
