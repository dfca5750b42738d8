"""MkDocs hook: the navigation, the reference pages that the code says, and links out of `docs/`.

`docs/guides/README.md` is the navigation of the guides: its headings are the sections, its links the
pages. Commands, settings and tables are written when the site is built.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import dagster as dg
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from assets.common.settings import SECTIONS
from dagster_project.cli import vlm_loom
from dagster_project.definitions import defs
from methods.markdown import cell, table
from methods.yaml_text import from_yaml
from resources.files.home import DEFAULT, REPO_ROOT
from resources.warehouse import column_descriptions, declared_columns

DOCS = REPO_ROOT / "docs"
AT_THE_ROOT = ("CONTRIBUTING.md", "CHANGELOG.md")
"""Files outside `docs/` that are pages, too."""
_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)")
_INDEXED = re.compile(r"^- \[([^\]]+)\]\(([a-z0-9-]+\.md)\)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Set the navigation: the index of the guides, the reference, the decisions."""
    guides = _guides()
    guides.setdefault("Reference", []).extend(
        {name.capitalize(): f"reference/{name}.md"} for name in ("commands", "settings", "tables")
    )
    guides["Reference"] += [
        {"Environment variables": "reference/variables.md"},
        {"Model fields": "reference/model-fields.md"},
        {"Prompt variables": "reference/prompt-variables.md"},
        {"Server behaviours": "reference/server-behaviours.md"},
        {"Python API": "reference/python.md"},
        {"The papers, row by row": "reference/papers.md"},
        {"Differences from the papers": "reference/differences.md"},
    ]
    results = [{_title(path): f"results/{path.name}"} for path in (DOCS / "results").glob("*.md")]
    guides["Reference"].append({"Measurements": sorted(results, key=str)})
    decisions = [
        path.relative_to(DOCS).as_posix() for path in sorted((DOCS / "decisions").rglob("*.md"))
    ]
    config.nav = [
        {"Home": ["index.md", {"Guides by task": "guides/README.md"}]},
        *({section: pages} for section, pages in guides.items()),
        {"Project": [*AT_THE_ROOT, {"Decisions": decisions}]},
    ]
    return config


def _guides() -> dict[str, list[Any]]:
    """Section of the guides' index -> its pages, and lists of pages below a heading of their own."""
    sections: dict[str, list[Any]] = {}
    pages: list[Any] = []
    for line in (DOCS / "guides" / "README.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            pages = sections.setdefault(line.removeprefix("## "), [])
            section = pages
        elif line.startswith("### "):
            pages = []
            section.append({line.removeprefix("### "): pages})
        elif indexed := _INDEXED.match(line):
            pages.append({indexed[1]: f"guides/{indexed[2]}"})
    return sections


def _title(path: Path) -> str:
    return path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages and those at the root."""
    for name in AT_THE_ROOT:
        files.append(File.generated(config, name, abs_src_path=str(REPO_ROOT / name)))
    for name, lines in (
        ("commands", _commands()),
        ("settings", _settings()),
        ("tables", _tables()),
        ("papers", papers()),
    ):
        page = File.generated(config, f"reference/{name}.md", content="\n\n".join(lines))
        files.append(page)
    return files


def papers() -> Iterator[str]:
    """What each paper describes, a table each, from `papers.yaml`."""
    yield "# The papers, row by row"
    yield (
        "Reference. Each row is something that a paper describes, the place in the paper, the module "
        "that implements it, and the test of it. Rows without a test name the reason. "
        "[Differences from the papers](differences.md) has what is done otherwise."
    )
    for paper, rows in from_yaml((DOCS / "reference" / "papers.yaml").read_text("utf-8")).items():
        yield f"## {paper}"
        cells = [
            [
                row["claim"],
                row["place"],
                f"`{row['module']}`" if "module" in row else "–",
                f"`{row['test']}`" if "test" in row else row["note"],
            ]
            for row in rows
        ]
        yield _table(["claim", "in the paper", "implemented in", "test or difference"], cells)


def _commands() -> Iterator[str]:
    yield "# Commands"
    yield "Reference. Every command also takes `--help`, and `--workspace` for the workspace folder."
    yield from _command(vlm_loom, click.Context(vlm_loom, info_name=vlm_loom.name))


def _command(command: click.Command, context: click.Context) -> Iterator[str]:
    """A section for a command, then those of its commands."""
    if isinstance(command, click.Group):
        yield f"## {context.command_path}" if context.parent else ""
        yield command.help or ""
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            yield from _command(child, click.Context(child, parent=context, info_name=name))
        return
    yield f"{'###' if context.parent and context.parent.parent else '##'} {context.command_path}"
    yield _plain(command.help or "")
    usage = " ".join(command.collect_usage_pieces(context))
    yield f"```text\n{context.command_path} {usage}\n```"
    records = [
        record
        for param in command.get_params(context)
        if not {"--help", "--workspace"} & {*param.opts}
        and (record := param.get_help_record(context))
    ]
    if records:
        rows = [[f"`{name}`", _cell(_plain(text))] for name, text in records]
        yield _table(["option", "meaning"], rows)
    if command.epilog:
        yield f"`{command.epilog.strip().removeprefix('Example: ')}`"


def _plain(text: str) -> str:
    """A text of the code without marks of click and paths of this machine."""
    return text.replace("\b", "").replace(str(DEFAULT), "data").strip()


def _table(heads: list[str], rows: list[list[str]]) -> str:
    return "\n".join(table(heads, rows))


def _settings() -> Iterator[str]:
    yield "# Settings"
    yield "Reference. A section of the workspace's `settings.yaml` has the name of the asset's table."
    of_a_run = " Only in the Launchpad of a run."
    for name, config in sorted(SECTIONS.items()):
        yield f"## {name}"
        rows = [
            [
                f"`{field}`",
                _cell(info.description or "")
                + _default(info)
                + of_a_run * (field in config.RUN_ONLY),
            ]
            for field, info in config.model_fields.items()
        ]
        yield _table(["setting", "meaning"], rows)


def _default(field: FieldInfo) -> str:
    default = field.get_default(call_default_factory=True, validated_data={})
    return "" if default is PydanticUndefined else f" Default: `{default!r}`."


def _tables() -> Iterator[str]:
    yield "# Tables\n\nReference. Tables and views of the warehouse; `vlm-loom sql` queries them."
    assets = defs.resolve_asset_graph()
    for name, columns in declared_columns().items():
        yield f"## {name}"
        key = dg.AssetKey(name.split("."))
        if assets.has(key) and (text := assets.get(key).description):
            yield _plain(text.partition("\n\n")[0])
        meaning = column_descriptions(name)
        rows = [
            [
                f"`{column}`",
                f"`{kind}`" + (", or NULL" if nullable else ""),
                _cell(meaning[column] or ""),
            ]
            for column, kind, nullable in columns
        ]
        yield _table(["column", "type", "meaning"], rows)


def _cell(text: str) -> str:
    return cell(text).replace("<", "&lt;")


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Make links to files that are no pages of the site plain text."""
    source = page.file.src_uri
    root = REPO_ROOT if source in AT_THE_ROOT else (DOCS / source).parent
    folder = Path(source).parent

    def linked(match: re.Match[str]) -> str:
        text, target = match.groups()
        path, mark, anchor = target.partition("#")
        if not path or re.match(r"[a-z]+:", target):
            return match[0]
        target_path = (root / path).resolve()
        if target_path == REPO_ROOT / "README.md":
            name = "index.md"
        elif target_path.is_relative_to(DOCS):
            name = target_path.relative_to(DOCS).as_posix()
        else:
            name = target_path.name
        file = files.get_file_from_path(name)
        if file is None or file.inclusion.is_excluded():
            return text
        up = "../" * len(folder.parts)
        return f"[{text}]({up}{name}{mark}{anchor})"

    return _LINK.sub(linked, markdown)
