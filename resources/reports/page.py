"""The environment of the templates that a report's pages are made of.

What belongs here: what the page of a release and the index have in common. The templates are in
`templates/`, those of extras in theirs.
"""

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from resources.extras import folders

# autoescape is on for everything: nearly all of a page's text comes from outside.
_ENVIRONMENT = Environment(
    loader=FileSystemLoader([Path(__file__).parent / "templates", *folders("templates")]),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def render(template: str, **shown: Any) -> str:
    """The page of a template."""
    return _ENVIRONMENT.get_template(template).render(**shown)
