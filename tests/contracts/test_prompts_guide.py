"""The pages on prompts: the table has every file and variable, and the example is a prompt."""

import re

from jinja2 import Environment, meta

from methods.prompts.messages import Image
from methods.prompts.prompt_template import PromptTemplate
from resources.files.home import REPO_ROOT
from resources.settings.prompts import prompt

GUIDE = (REPO_ROOT / "docs" / "guides" / "prompts.md").read_text()
TABLE = (REPO_ROOT / "docs" / "reference" / "prompt-variables.md").read_text()
ROW = re.compile(r"^\| `(\w+/\w+)\.md` \| ([^|]+) \|", re.MULTILINE)
GIVEN_TO_ALL = {"n_images", "picture"}


def table() -> dict[str, set[str]]:
    """The variables of each prompt as the reference lists them, fields of lists among them."""
    return {name: set(re.findall(r"`(\w+)`", cell)) for name, cell in ROW.findall(TABLE)}


def test_the_table_has_every_prompt_and_each_variable_that_it_uses() -> None:
    environment = Environment()
    listed = table()
    files = [
        f"{path.parent.parent.name}/{path.stem}"
        for path in (REPO_ROOT / "methods").glob("*/prompts/*.md")
    ]
    assert files and set(files) <= listed.keys()
    for name in files:
        used = meta.find_undeclared_variables(
            environment.parse(_without_filters(prompt(name).text))
        )
        assert used - GIVEN_TO_ALL <= listed[name], name


def _without_filters(text: str) -> str:
    """The template without the project's own filter, which plain Jinja does not know."""
    return text.replace("| data", "")


def test_the_example_is_a_prompt_that_the_judge_could_be_given() -> None:
    (source,) = re.findall(r"```markdown\n(.*?)```", GUIDE, re.DOTALL)
    template = PromptTemplate("mmdu/judge", source)
    said = {name: name for name in table()["mmdu/judge"]}
    system, user = template.render(images=["a", "b"], **said)
    assert (template.task, system.role) == ("judge", "system")
    assert user.parts[1:] == (Image("a"), Image("b"))
