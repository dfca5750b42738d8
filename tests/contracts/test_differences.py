"""The page "Differences from the papers" names settings, prompts and metrics that exist."""

import inspect
import re
from collections.abc import Iterator

import yaml

import dagster_project.definitions  # noqa: F401
from assets.common.settings import SECTIONS
from methods.alignmmbench import Alignmmbench
from methods.benchmarks import BENCHMARKS
from methods.convbench import Convbench
from methods.mmiu import Mmiu
from resources.files.home import REPO_ROOT
from resources.settings.prompts import PROMPTS_ROOT

PAGE = (REPO_ROOT / "docs" / "reference" / "differences.md").read_text("utf-8")
CLASSES = {"Convbench": Convbench, "Alignmmbench": Alignmmbench, "Mmiu": Mmiu}
TITLES = {"MMDU", "MMBench", "MMIU", "AlignMMBench", "ConvBench"}
METRICS = {
    f"{metric.name}/{metric.aggregation}"
    for benchmark in (*BENCHMARKS.values(), Mmiu(retest=True))
    for metric in benchmark.metrics
}
COLUMNS = {"judged_only", "evaluate.leaderboard"}
ROLES = {"judges", "models.yaml", "earlier"}


def rows() -> Iterator[list[str]]:
    for line in PAGE.splitlines():
        if line.startswith("| ") and not line.startswith(("| here", "| ---")):
            yield [cell.strip() for cell in line.strip("|").split(" | ")]


def restores() -> list[str]:
    return [row[-1].rstrip(" |") for row in rows()]


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


def test_the_page_has_all_five_papers() -> None:
    assert set(re.findall(r"^## (\w+)$", PAGE, re.MULTILINE)) == TITLES
    assert len(restores()) > 25


def test_every_named_setting_exists() -> None:
    for cell in restores():
        named = re.findall(r"`([^`]+)`", cell)
        assert [name for name in named if not exists(name, cell)] == []
        assert named or cell.startswith("no setting: "), cell
