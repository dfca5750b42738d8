"""Pages of the review app, read as a browser reads them."""

import json
from typing import Any

from selectolax.lexbor import LexborHTMLParser


def attribute(html: str, selector: str, name: str) -> str | None:
    """An attribute of the first element that matches; None without such an element."""
    found = LexborHTMLParser(html).css_first(selector)
    return None if found is None else found.attributes[name]


def csrf_token_in(html: str) -> str:
    """The CSRF token of a page's first form."""
    token = attribute(html, "input[name=csrf_token]", "value")
    assert token, html
    return token


def sign_in_address(html: str) -> str | None:
    """Where the sign-in form is sent; None without one."""
    return attribute(html, "form[action^='/login']", "action")


def script_data(html: str) -> dict[str, Any] | None:
    """The data that an item's page gives to its script; None where the item is only shown."""
    block = LexborHTMLParser(html).css_first("script#review-data")
    return None if block is None else json.loads(block.text())


def has_inline_code(html: str) -> bool:
    """Whether the page has a script, a style or an event handler inside itself."""
    page = LexborHTMLParser(html)
    scripts = [each.attributes for each in page.css("script")]
    return (
        not all("src" in each or each.get("type") == "application/json" for each in scripts)
        or bool(page.css("style, [style]"))
        or any(name.startswith("on") for each in page.css("*") for name in each.attributes)
    )
