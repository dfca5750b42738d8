"""Jinja rendering of all HTML pages of the site, with the script that all pages share."""

import base64
import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from resources.settings.extras import folders

TEMPLATES = Path(__file__).parent / "templates"


def environment(*more: Path) -> Environment:
    """Return the Jinja environment with the templates of the site and of further folders.

    Autoescaping is on, because nearly all texts come from outside.
    """
    return Environment(
        loader=FileSystemLoader([TEMPLATES, *more]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


_ENVIRONMENT = environment(*folders("templates"))


def render(template: str, **shown: Any) -> str:
    """Render a template of the site to text."""
    return _ENVIRONMENT.get_template(template).render(**shown)


def sentences(name: str, **values: Any) -> Markup:
    """Render a paragraph of `templates/report_sentences.html`.

    Args:
        name: The name of its macro.
        values: The arguments of the macro; they are escaped.

    Returns:
        The text, on one line.
    """
    macro = getattr(_ENVIRONMENT.get_template("report_sentences.html").module, name)
    return Markup(re.sub(r"\s*\n\s*", " ", macro(**values)).strip())


def render_page(
    template: str,
    *,
    nav_name: str,
    root: str = "",
    of_release: str = "",
    own_script: str = "",
    **shown: Any,
) -> str:
    """Render an HTML page of the site.

    Args:
        template: The name of its template.
        nav_name: The page's name in the navigation.
        root: The relative address of the reports folder from the page.
        of_release: The address of the release that the page is about, without the extension.
        own_script: A script of this page only.
        shown: The variables of the template.
    """
    script = site_script() + own_script
    return render(
        template,
        nav_name=nav_name,
        root=root,
        of_release=of_release,
        script=Markup(script),
        script_hash=script_hash(script),
        **shown,
    )


@cache
def site_script() -> str:
    """Return the script that all pages of the site share."""
    return (TEMPLATES / "report.js").read_text(encoding="utf-8")


def script_hash(script: str) -> str:
    """Return a script's hash in the format of a content security policy."""
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"
