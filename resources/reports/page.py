"""The environment of the templates that the site's pages are made of, and what all pages have.

What belongs here: what the pages have in common. The templates are in `templates/`, those of extras in
theirs. The frame of a page is `templates/site.html`, its script `templates/report.js`.
"""

import base64
import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from resources.settings.extras import folders

TEMPLATES = Path(__file__).parent / "templates"
# autoescape is on for everything: nearly all of a page's text comes from outside.
_ENVIRONMENT = Environment(
    loader=FileSystemLoader([TEMPLATES, *folders("templates")]),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def render(template: str, **shown: Any) -> str:
    """The text of a template."""
    return _ENVIRONMENT.get_template(template).render(**shown)


def render_page(
    template: str, *, here: str, root: str = "", of_release: str = "", **shown: Any
) -> str:
    """A page of the site.

    `here` is the page's name in the navigation, `root` leads from it to the folder of reports,
    `of_release` is the address of its release without the ending, if it is of one.
    """
    script = site_script()
    return render(
        template,
        here=here,
        root=root,
        of_release=of_release,
        script=Markup(script),
        script_hash=script_hash(script),
        **shown,
    )


@cache
def site_script() -> str:
    """The script that all pages of the site have."""
    return (TEMPLATES / "report.js").read_text(encoding="utf-8")


def script_hash(script: str) -> str:
    """A script's hash in the form of a content security policy."""
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"
