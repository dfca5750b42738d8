"""Prompts: every file is loaded by some code, and every name that code loads has its file."""

import ast
from collections.abc import Iterator

from methods.benchmarks import BENCHMARKS
from resources.files.home import REPO_ROOT
from resources.mock_server.chat_completion import TASKS
from resources.settings.prompts import prompt

CODE = ("assets", "dagster_project", "extras", "methods", "resources", "review")


def loaded() -> Iterator[str]:
    """The names in calls of `prompt("...")`, and in names such as `JUDGE_PROMPT = "..."`."""
    for folder in CODE:
        for path in (REPO_ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                match node:
                    case ast.Call(func=ast.Name(id="prompt"), args=[ast.Constant(value=str(name))]):
                        yield name
                    case (
                        ast.Assign(
                            targets=[ast.Name(id=target)], value=ast.Constant(value=str(name))
                        )
                        | ast.AnnAssign(
                            target=ast.Name(id=target), value=ast.Constant(value=str(name))
                        )
                    ) if target.lower().endswith("_prompt"):
                        yield name


def files() -> set[str]:
    return {
        f"{path.parent.parent.name}/{path.stem}"
        for path in (REPO_ROOT / "methods").glob("*/prompts/*.md")
    }


def test_every_prompt_is_loaded_and_every_name_has_its_file() -> None:
    assert set(loaded()) == files()


def test_every_prompt_names_a_task_of_the_mock_server_and_every_task_has_its_prompt() -> None:
    # Models under evaluation are asked questions and have no task.
    questions = {name for benchmark in BENCHMARKS.values() for name in benchmark.question_prompts}
    assert {prompt(name).task for name in questions} == {""}
    assert {prompt(name).task for name in files() - questions} == TASKS.keys()
