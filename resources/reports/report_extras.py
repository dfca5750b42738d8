"""The sections of a report that extras have.

What belongs here: what such a section is. They stand together, before the languages.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple

from markupsafe import Markup

from resources.extras import extras
from resources.reports.report_board import Pane

Data = Mapping[str, Any]


class ExtraSection(NamedTuple):
    """A section; `html` makes it of the data of a page (`benchmark_report.py`), empty without any.

    `rows` are tables whose rows of the release are `of_extras` of the data, read by
    `evaluate/<table>_of.sql`. A failure of the `steps` is said above the section; `style` is the
    template with its CSS.
    """

    id: str
    title: str
    steps: Sequence[str]
    rows: Sequence[str]
    style: str
    html: Callable[[Data, Sequence[Pane]], Markup]


def extra_sections() -> list[ExtraSection]:
    """The sections of all extras."""
    return [
        import_module(extra.report_section).SECTION for extra in extras() if extra.report_section
    ]
