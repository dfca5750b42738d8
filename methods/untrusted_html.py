"""Parses HTML from servers with memory in proportion to its length."""

import re

from selectolax.lexbor import LexborHTMLParser

_FORMATTING = re.compile(
    r"<(/?)(?:a|b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)(?=[\s/>])", re.IGNORECASE
)
"""Tags that a parser opens again in each later block. The blocks of crafted HTML multiply with them:
45 kB take 4.5 GB (https://html.spec.whatwg.org/#reconstruct-the-active-formatting-elements)."""


def parse_html(html: str, most_characters: int, *, is_fragment: bool) -> LexborHTMLParser:
    """Parse HTML whose formatting elements do not matter; they become `span` elements.

    Args:
        html: The HTML.
        most_characters: The length after which the HTML is cut off. Nested elements take time in
            proportion to its square: 0.5 s for 100,000 characters.
        is_fragment: Whether the HTML is a part of a page.
    """
    plain = _FORMATTING.sub(r"<\1span", html[:most_characters])
    return LexborHTMLParser(plain.encode(errors="replace"), is_fragment=is_fragment)
