"""Prompt files: the project's, or those in the folder `LOOM_PROMPTS`.

A file in that folder replaces the project's file of the same name (`mmdu/judge.md`, for example). What
belongs here: finding and reading them.
"""

import os
from functools import cache
from pathlib import Path

from methods.errors import UserError
from methods.prompts.front_matter import FrontMatterError
from methods.prompts.template import PromptTemplate
from resources.home import REPO_ROOT

PROMPTS_ROOT = REPO_ROOT / "methods"


class PromptError(UserError):
    """A prompt file is missing or is not a prompt; the message says which."""


def prompt(name: str) -> PromptTemplate:
    """The prompt `<method>/<task>`, for example `mmdu/judge`. Raises PromptError, TemplateError."""
    return _load(name, os.environ.get("LOOM_PROMPTS") or None)


@cache
def _load(name: str, override: str | None) -> PromptTemplate:
    method, task = name.split("/")
    own = PROMPTS_ROOT / method / "prompts" / f"{task}.md"
    candidates = [own] if override is None else [Path(override) / method / f"{task}.md", own]
    path = next((path for path in candidates if path.is_file()), None)
    if path is None:
        raise PromptError(
            f"There is no prompt file {candidates[0]}; restore it or unset LOOM_PROMPTS."
        )
    try:
        source = path.read_text(encoding="utf-8")
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
    """`task`, which the offline model server must be told. Raises PromptError where it is empty."""
    if not task:
        raise PromptError(
            f"The prompt {prompt_version} names no task, which the offline model server needs: begin "
            "its file with the lines '---', 'task: <answers, extract, item, judge, questions, rewrite "
            "or summary>' and '---'."
        )
    return task
