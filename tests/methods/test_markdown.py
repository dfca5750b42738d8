"""Texts from outside in Markdown: none ends its cell, is markup, or loads an image."""

import re

from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from methods.markdown import code, table

IMAGE = "![x](http://evil.example/x.png)"
_CELL = re.compile(r"(?:\\[\\|]|[^|])+")
"""A cell as Dagster's UI (micromark) splits a row: a backslash escapes a backslash or a pipe, also
in code. markdown-it only looks at the character before a pipe."""


@given(st.text(st.sampled_from("\\|`a \n\r\u2028") | st.characters(), min_size=1))
@example(f"\\\\|{IMAGE}")
@example(f"\\|{IMAGE}")
@example(f"`{IMAGE}`\n\n{IMAGE}")
@example("ends with \\")
def test_whatever_a_text_has_it_stays_in_the_code_of_its_cell(text: str) -> None:
    written = table(("name", "n"), [(code(text + IMAGE), "1")])

    assert [part.strip() for part in _CELL.findall(written[-1])] == [code(text + IMAGE), "1"]
    tokens = MarkdownIt("commonmark").enable("table").parse("\n".join(written))
    inline = [[child.type for child in token.children or []] for token in tokens if token.children]
    assert inline == [["text"], ["text"], ["code_inline"], ["text"]]
