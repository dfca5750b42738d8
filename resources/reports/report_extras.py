"""The sections of a report that extras have."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import NamedTuple

from markupsafe import Markup

from resources.reports.report_blocks import Section
from resources.reports.report_input import Report
from resources.reports.report_leaderboard import JudgePane
from resources.settings.extras import extras


class ExtraSection(NamedTuple):
    """A section; `html` makes it of the data of a page (`benchmark_report.py`), empty without any.

    `finding` is what it says in a line. `rows` are tables of `evaluate` whose rows of the release are
    `of_extras` of the data, with their order. A failure of the `steps` is said above the section.
    """

    id: str
    title: str
    steps: Sequence[str]
    rows: Mapping[str, str]
    html: Callable[[Report, Sequence[JudgePane]], Markup]
    finding: Callable[[Report], str]

    def of(self, data: Report, panes: Sequence[JudgePane]) -> Section:
        """The section of a page."""
        html = self.html(data, panes)
        return Section(self.id, self.title, html=html, finding=self.finding(data) if html else "")


def extra_sections() -> list[ExtraSection]:
    """The sections of all extras."""
    return [
        import_module(extra.report_section).SECTION for extra in extras() if extra.report_section
    ]
