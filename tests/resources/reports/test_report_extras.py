"""Sections of a report that extras have: where they stand, what is said above them, and none."""

from typing import Any

from markupsafe import Markup

from resources.reports import benchmark_report
from resources.reports.benchmark_report import render_report
from resources.reports.report_extras import ExtraSection

Row = dict[str, Any]


def test_a_section_stands_between_the_core_s_with_what_its_steps_lost(data, store, monkeypatch):
    def made(of: Any, panes: Any) -> Markup:
        return Markup("<p>{} toys, {} judges</p>").format(of["of_extras"]["toys"], len(panes))

    toys = ExtraSection("toys", "Toys", ("toys",), ("toys",), made, lambda of: "Two toys")
    monkeypatch.setattr(benchmark_report, "extra_sections", lambda: [toys])
    lost = [{"step": "evaluate.toys", "release_id": "r", "reason": "The box is shut."}]
    html = render_report({**data, "of_extras": {"toys": "<b>"}, "not_made": lost}, store)

    assert '<h2>Toys</h2><span class="finding">Two toys</span>' in html
    assert 'href="#toys"' in html and "&lt;b&gt; toys, 1 judges" in html
    places = [html.index(each) for each in ('id="leaderboard"', "The box is shut.", 'id="toys"')]
    assert places == sorted(places)
