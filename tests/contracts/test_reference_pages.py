"""Pages of the reference: settings, prompts, metrics, modules, tests and reasons they name exist."""

import inspect
import re

import yaml

import dagster_project.definitions  # noqa: F401
from assets.common.settings import SECTIONS
from methods.alignmmbench import Alignmmbench
from methods.benchmarks import BENCHMARKS
from methods.convbench import Convbench
from methods.mmiu import Mmiu
from methods.yaml_text import from_yaml
from resources.files.home import REPO_ROOT
from resources.settings.prompts import PROMPTS_ROOT

DOCS = REPO_ROOT / "docs"
PAGE = (DOCS / "reference" / "differences.md").read_text("utf-8")
PAPERS: dict[str, list[dict[str, str]]] = from_yaml(
    (DOCS / "reference" / "papers.yaml").read_text("utf-8")
)
TITLES = ["MMDU", "MMBench", "AlignMMBench", "MMIU", "ConvBench"]
CLASSES = {"Convbench": Convbench, "Alignmmbench": Alignmmbench, "Mmiu": Mmiu}
METRICS = {
    f"{metric.name}/{metric.aggregation}"
    for benchmark in (*BENCHMARKS.values(), Mmiu(retest=True))
    for metric in benchmark.metrics
}
COLUMNS = {"judged_only", "evaluate.leaderboard"}
ROLES = {"judges", "models.yaml", "earlier"}
REASON = re.compile(
    r'(?:ImageRejected|_Refused|_at_least|_at_most|_refused|RowError)\(\s*(?:record, numbers, )?"(\w+)"'
)
"""How a reason is given in the code."""
OF_WIKIPEDIA = {"missing_page", "invalid_page", "missing_file", "invalid_file"}
"""The code joins two words to make these."""
OF_IMPORTS = {"outside"}
"""An import is refused with the sentence alone."""


def exists(named: str, cell: str) -> bool:
    """Whether a name of the last column is there; `cell` is all of it."""
    if match := re.fullmatch(r"(\w+)/(\w+): (\w+)", named):
        return match[3] in SECTIONS[f"{match[1]}.{match[2]}"].model_fields
    if match := re.fullmatch(r"(\w+)\((\w+)=\w+\)", named):
        return match[2] in inspect.signature(CLASSES[match[1]]).parameters
    if match := re.fullmatch(r"(\w+)/(\w+)\.md", named):
        return (PROMPTS_ROOT / match[1] / "prompts" / f"{match[2]}.md").is_file()
    value_of = re.search(rf"`(\w+)/(\w+): (\w+)` = `{re.escape(named)}`", cell)
    if value_of:
        section = SECTIONS[f"{value_of[1]}.{value_of[2]}"]
        return section.model_validate({value_of[3]: yaml.safe_load(named)}) is not None
    return named in METRICS | COLUMNS | ROLES | {name.partition("/")[0] for name in METRICS}


def test_differences_from_the_papers_name_what_exists() -> None:
    assert set(re.findall(r"^## (\w+)$", PAGE, re.MULTILINE)) == {*TITLES}
    lines = [line for line in PAGE.splitlines() if line.startswith("| ")]
    cells = [
        line.split(" | ")[-1].rstrip(" |")
        for line in lines
        if not line.startswith(("| here", "| ---"))
    ]
    assert len(cells) > 25
    for cell in cells:
        named = re.findall(r"`([^`]+)`", cell)
        assert [name for name in named if not exists(name, cell)] == []
        assert named or cell.startswith("no setting: "), cell


def test_a_row_of_the_papers_names_a_module_and_a_test_that_exist_or_a_reason() -> None:
    assert list(PAPERS) == TITLES
    rows = [row for rows in PAPERS.values() for row in rows]
    claims = [(paper, row["claim"]) for paper, rows in PAPERS.items() for row in rows]
    assert len(rows) >= 132 and len(set(claims)) == len(claims)
    for row in rows:
        assert row["claim"] and row["place"]
        if "test" in row:
            for named in (row["module"], row["test"]):
                assert (REPO_ROOT / named).is_file(), row
            assert "note" not in row
        else:
            assert row["note"] and "module" not in row


def test_the_guides_explain_every_reason_for_which_a_row_an_image_or_a_page_is_left_out() -> None:
    sources = [path for top in ("methods", "resources") for path in (REPO_ROOT / top).rglob("*.py")]
    in_code = {reason for path in sources for reason in REASON.findall(path.read_text())}
    assert {"not_utf8", "no_page", "truncated", "blurred", "timeout"} <= in_code
    guides = [
        (DOCS / "guides" / f"{name}.md").read_text() for name in ("broken-inputs", "ingestion")
    ]
    explained = {
        reason
        for guide in guides
        for line in guide.splitlines()
        if line.startswith("| ")
        for reason in re.findall(r"\| `([a-z_0-9]+)` ", line)
    }
    assert in_code - OF_IMPORTS | OF_WIKIPEDIA <= explained
