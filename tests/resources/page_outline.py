"""What a page shows, as text to compare with a golden file."""

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode


def html_of_section(html: str, name: str) -> str:
    """A section, which the contents link to."""
    assert f'href="#{name}"' in html
    section = html[html.rindex("<section", 0, html.index(f'id="{name}"')) :]
    return section[: section.index("</section>")]


ROWS = "h1, h2, h3, h4, summary, caption, legend, tr, p, li, dt, dd, figcaption, pre"
MARKS = re.compile(r"\b(better|worse|is-\w+|tag|banner|unknown|differ)\b")


def outline(html: str, *sections: str) -> str:
    """What a page or some of its sections show, to compare with a golden file.

    A line for each row, paragraph and heading, with the marks, titles and measures of its parts.
    """
    page = LexborHTMLParser("".join(html_of_section(html, name) for name in sections) or html)
    for each in page.css("svg, style, script"):
        each.decompose()
    lines = []
    for row in page.css(ROWS):
        cells = row.css("th, td") if row.tag == "tr" else [row]
        marks = MARKS.findall(row.attributes.get("class") or "") if row.tag == "tr" else []
        lines.append(" | ".join([*map(_shown, cells), *marks]))
    return "\n".join(line for line in lines if line.strip(" |"))


def _shown(cell: LexborNode) -> str:
    shown = [" ".join(cell.text(separator=" ").split())]
    for each in cell.css("*"):
        shown += MARKS.findall(each.attributes.get("class") or "")
        shown += [
            f"[{value}]" for name in ("title", "style") if (value := each.attributes.get(name))
        ]
    return " ".join(" ".join(shown).split())
