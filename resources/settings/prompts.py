"""Loading of prompt files: those of the project, or replacements in the folder `LOOM_PROMPTS`.

A file in that folder replaces the project's file of the same name, for example `mmdu/judge.md`. A
benchmark of an installed package has its prompts in the folder `prompts` next to the module of its
entry point.
"""

import os
from contextlib import suppress
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

from methods.errors import PromptUnusable
from methods.evaluation.benchmark import GROUP
from methods.naming import nearest
from methods.prompts.prompt_template import FrontMatterError, PromptTemplate
from resources.files.bounded import open_text
from resources.files.home import REPO_ROOT

PROMPTS_ROOT = REPO_ROOT / "methods"


class PromptError(PromptUnusable):
    """A prompt file, or the folder `LOOM_PROMPTS`, is missing or wrong; the message says which."""


def prompt(name: str) -> PromptTemplate:
    """Load the prompt `<method>/<task>`, such as `mmdu/judge`. Raises PromptError, TemplateError."""
    return _load(name, _own_folder())


def check_own_prompts() -> None:
    """Raise PromptError if `LOOM_PROMPTS` is set, but is not a folder of replacements for prompts."""
    if (folder := _own_folder()) is not None:
        _check(Path(folder))


def _own_folder() -> str | None:
    return os.environ.get("LOOM_PROMPTS") or None


def _check(folder: Path) -> None:
    """Raise PromptError if the path is relative or no folder, or if a file of it replaces no prompt."""
    if not folder.is_absolute():
        raise PromptError(
            f"LOOM_PROMPTS is the relative path '{folder}': give the folder's absolute path."
        )
    if not folder.is_dir():
        raise PromptError(
            f"LOOM_PROMPTS is '{folder}', but there is no such folder: make it or unset LOOM_PROMPTS."
        )
    replacements = sorted(folder.glob("*/*.md"))
    methods = {path.parent.name for path in PROMPTS_ROOT.glob("*/prompts")}
    methods |= {path.parent.name for path in replacements}
    names = sorted(f"{name}/{path.name}" for name in methods for path in _folder(name).glob("*.md"))
    for path in replacements:
        name = f"{path.parent.name}/{path.name}"
        # Hidden files come from editors and file systems.
        if name in names or name.startswith(".") or path.name.startswith("."):
            continue
        raise PromptError(
            f"The file {path} replaces no prompt, since none is called {name}; {nearest(name, names)}: "
            "rename it."
        )


def _folder(method: str) -> Path:
    """Return the folder of a method's prompts, in the project or in the benchmark's package."""
    folder = PROMPTS_ROOT / method / "prompts"
    if not folder.is_dir():
        for point in entry_points(group=GROUP, name=method):
            # The listing of benchmarks reports a package that cannot be imported.
            with suppress(ImportError):
                spec = find_spec(point.module)
                if spec is not None and spec.origin:
                    return Path(spec.origin).with_name("prompts")
    return folder


@cache
def _load(name: str, override: str | None) -> PromptTemplate:
    if override is not None:
        _check(Path(override))
    method, task = name.split("/")
    own = _folder(method) / f"{task}.md"
    candidates = [own] if override is None else [Path(override) / method / f"{task}.md", own]
    # `lexists` also finds a broken link, so that the project's prompt does not silently replace it.
    path = next((path for path in candidates if os.path.lexists(path)), None)
    if path is None:
        raise PromptError(
            f"There is no prompt file {candidates[0]}; restore it or unset LOOM_PROMPTS."
        )
    try:
        with open_text(path) as file:
            source = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise PromptError(f"The prompt {path} cannot be read: {error}.") from None
    try:
        template = PromptTemplate(name, source)
    except FrontMatterError as error:
        raise PromptError(f"The front matter of the prompt {path} {error}.") from None
    if "\n=== user ===\n" not in f"\n{template.text}":
        raise PromptError(f"The prompt {path} has no line '=== user ===' between its two parts.")
    template.check()
    return template


def require_task(task: str, prompt_version: str) -> str:
    """Check that a prompt names a task, which the mock model server needs.

    Args:
        task: The task; empty for none.
        prompt_version: The prompt, for the message.

    Raises:
        PromptError: The task is empty.
    """
    if not task:
        raise PromptError(
            f"The prompt {prompt_version} names no task, which the mock model server needs. Begin its "
            "file with the lines '---', 'task: <task>' and '---', as the project's prompt that it "
            "replaces begins."
        )
    return task
