"""Report sections that extras (plug-in packages) add."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import NamedTuple

from markupsafe import Markup

from resources.reports.report_blocks import Section
from resources.reports.report_input import Report
from resources.reports.report_leaderboard import JudgePane
from resources.settings.extras import extras


class ExtraSection(NamedTuple):
    """A section of an extra.

    Attributes:
        html: Renders the section from the data of a report page (`benchmark_report.py`); empty without
            data.
        finding: Returns the result in one line.
        rows: Table of `evaluate` -> the order of its rows. Their rows of the release are in
            `Report.of_extras`.
        steps: Steps whose failures are shown above the section.
    """

    id: str
    title: str
    steps: Sequence[str]
    rows: Mapping[str, str]
    html: Callable[[Report, Sequence[JudgePane]], Markup]
    finding: Callable[[Report], str]

    def section(self, data: Report, panes: Sequence[JudgePane]) -> Section:
        """Make the section of a page.

        Args:
            data: The data of the page.
            panes: The leaderboards by judge.
        """
        html = self.html(data, panes)
        return Section(self.id, self.title, html=html, finding=self.finding(data) if html else "")


def extra_sections() -> list[ExtraSection]:
    """Import and return the report sections of all extras."""
    return [
        import_module(extra.report_section).SECTION for extra in extras() if extra.report_section
    ]
