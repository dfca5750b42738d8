"""Prompts: each file is loaded by some code and listed with its variables, and the example is one."""

import ast
import re
from collections.abc import Iterator

from jinja2 import Environment, meta

from methods.benchmarks import BENCHMARKS
from methods.prompts.messages import Image
from methods.prompts.prompt_template import PromptTemplate
from resources.files.home import REPO_ROOT
from resources.mock_server.chat_completion import TASKS
from resources.settings.prompts import prompt

CODE = ("assets", "dagster_project", "extras", "methods", "resources", "review")
GUIDE = (REPO_ROOT / "docs" / "guides" / "prompts.md").read_text()
TABLE = (REPO_ROOT / "docs" / "reference" / "prompt-variables.md").read_text()
ROW = re.compile(r"^\| `(\w+/\w+)\.md` \| ([^|]+) \|", re.MULTILINE)
LISTED = {name: set(re.findall(r"`(\w+)`", cell)) for name, cell in ROW.findall(TABLE)}
"""The variables of each prompt as the reference lists them, fields of lists among them."""
FILES = {
    f"{path.parent.parent.name}/{path.stem}"
    for path in (REPO_ROOT / "methods").glob("*/prompts/*.md")
}
GIVEN_TO_ALL = {"n_images", "picture"}


def loaded() -> Iterator[str]:
    """The names in calls of `prompt("...")`, and in names such as `JUDGE_PROMPT = "..."`."""
    paths = (path for folder in CODE for path in (REPO_ROOT / folder).rglob("*.py"))
    for text in (path.read_text() for path in paths):
        for node in ast.walk(ast.parse(text)) if "prompt" in text.lower() else ():
            match node:
                case ast.Call(func=ast.Name(id="prompt"), args=[ast.Constant(value=str(name))]):
                    yield name
                case (
                    ast.Assign(targets=[ast.Name(id=target)], value=ast.Constant(value=str(name)))
                    | ast.AnnAssign(target=ast.Name(id=target), value=ast.Constant(value=str(name)))
                ) if target.lower().endswith("_prompt"):
                    yield name


def test_every_prompt_is_loaded_and_every_name_has_its_file() -> None:
    assert set(loaded()) == FILES


def test_every_prompt_names_a_task_of_the_mock_server_and_every_task_has_its_prompt() -> None:
    # Models under evaluation are asked questions and have no task.
    questions = {name for benchmark in BENCHMARKS.values() for name in benchmark.question_prompts}
    assert {prompt(name).task for name in questions} == {""}
    assert {prompt(name).task for name in FILES - questions} == TASKS.keys()


def test_the_table_has_every_prompt_and_each_variable_that_it_uses() -> None:
    environment = Environment()
    assert FILES and LISTED.keys() >= FILES
    for name in FILES:
        # Plain Jinja does not know the project's own filter.
        text = prompt(name).text.replace("| data", "")
        used = meta.find_undeclared_variables(environment.parse(text))
        assert used - GIVEN_TO_ALL <= LISTED[name], name


def test_the_example_is_a_prompt_that_the_judge_could_be_given() -> None:
    (source,) = re.findall(r"```markdown\n(.*?)```", GUIDE, re.DOTALL)
    template = PromptTemplate("mmdu/judge", source)
    said = {name: name for name in LISTED["mmdu/judge"]}
    system, user = template.render(images=["a", "b"], **said)
    assert (template.task, system.role) == ("judge", "system")
    assert user.parts[1:] == (Image("a"), Image("b"))
