"""The page of the clustering: it shows what was given, and hostile texts stay texts."""

import json
import re
from typing import Any
from xml.etree import ElementTree

import pytest
from playwright.sync_api import expect

from resources.reports import cluster_page as page
from resources.reports.cluster_page import (
    ClusterPageInput,
    MapLayer,
    MapPoint,
    categories_chart,
    layers,
    map_figure,
    render_clusters,
    sizes_chart,
)
from resources.reports.figures import NO_GROUP, OTHER, PALETTE, inline_svg
from tests.resources.reports.report_rows import picture

pytestmark = pytest.mark.slow

HOSTILE = "</script><img src=x onerror=\"document.title='owned'\"><b>bold</b> $\\frac{$ {{ 7 * 7 }}"
FACTS = {"n_entries": 5, "n_groups": 1, "n_clusters": 1, "n_grouped": 4, "n_clustered": 3}


def point(number: int = 0, **changed: Any) -> MapPoint:
    title = {"title": f"Title {number}", "caption": f"Caption {number}", "image_id": ""}
    group = {"group_id": "g", "group_title": "Owls", "cluster_id": "c", "cluster_title": "Barn owl"}
    of = {"cluster_size": 3, "similarity": 0.8125, "is_centre": number == 0}
    return MapPoint(x=float(number), y=float(-number), **title | group | of | changed)


LONER = {"group_id": None, "group_title": None, "cluster_id": None, "cluster_title": None}
LONER |= {"cluster_size": None, "similarity": None, "is_centre": False}


def clustering(points: list[MapPoint], **changed: Any) -> ClusterPageInput:
    return ClusterPageInput(FACTS, points, [3], [], [], {})._replace(**changed)


def pair(**changed: Any) -> dict[str, Any]:
    row = {"title_a": "Barn owl", "title_b": "Snowy owl", "size_a": 3, "size_b": 2}
    row |= {"image_a": None, "image_b": None, "same_group": True, "mergeable": True}
    return row | {"similarity": 0.91, "union_similarity": 0.82} | changed


def test_the_largest_groups_have_colours_of_their_own_and_the_rest_share_two():
    # Group k has k + 1 entries: g13 is the largest, g0 and g1 are too many.
    sizes = {k: k + 1 for k in range(14)}
    points = [
        point(group_id=f"g{k:02}", group_title=f"Group {k}")
        for k, size in sizes.items()
        for _ in range(size)
    ]
    made = layers([*points, point(**LONER)])
    assert [layer.name for layer in made[:2]] == ["Group 13", "Group 12"]
    assert [layer.colour for layer in made] == [*PALETTE, OTHER, NO_GROUP]
    rest = [(layer.name, len(layer.numbers)) for layer in made[-2:]]
    assert rest == [("2 smaller groups", 3), ("in no group", 1)]
    assert sorted(i for layer in made for i in layer.numbers) == list(range(len(points) + 1))


def test_each_entry_of_the_map_has_its_number_and_the_first_layer_is_on_top() -> None:
    loose = point(0, cluster_id=None, is_centre=False)
    points = [loose, point(1), point(2, is_centre=True)]
    of_map = [MapLayer("a", PALETTE[0], [2, 0]), MapLayer("b", PALETTE[1], [1])]
    svg = ElementTree.fromstring(inline_svg(map_figure(points, of_map, 3), "x"))
    marks = [each.attrib["data-n"] for each in svg.iter() if "data-n" in each.attrib]
    assert marks == ["1", "0", "2"]


def test_each_size_up_to_a_set_has_a_bar_and_larger_ones_share_bars():
    def bars(sizes: list[int]) -> list[tuple[str, int]]:
        return [(bar.label, bar.n) for bar in sizes_chart(sizes).bars]

    assert sizes_chart([]) is None
    assert bars([2, 2, 5]) == [("2", 2), ("3", 0), ("4", 0), ("5", 1)]
    # 21 to twice 20, 41 to twice 40.
    assert bars([19, 21, 40, 41, 80])[-4:] == [("19", 1), ("20", 0), ("21–40", 2), ("41–80", 2)]
    assert bars([90]) == [("20", 0), ("21–40", 0), ("41–80", 0), ("81–160", 1)]
    # Of categories the most frequent ones do, but for blank ones.
    counts = {f"c{number:02}": 1 for number in range(50)} | {"猫头鹰": 9, " ": 99}
    chart = categories_chart(counts)
    assert (chart.bars[0].label, chart.bars[0].n, len(chart.bars)) == ("猫头鹰", 9, 40)
    assert chart.note == "the 40 most frequent of 51"
    assert categories_chart({" ": 1}) is None


def test_no_text_from_outside_can_end_a_script_or_begin_a_tag(store):
    points = [point(0, title=HOSTILE, caption=HOSTILE, group_title=HOSTILE, cluster_title=HOSTILE)]
    loose = {"title": HOSTILE, "group_title": HOSTILE, "image_id": None, "size": 2}
    loose |= {"mean_similarity": 0.8, "min_similarity": 0.7, "nearest_similarity": None}
    made = render_clusters(
        clustering(points, near_pairs=[pair(title_a=HOSTILE)], loosest=[loose]), store
    ).html
    assert "<img src=x" not in made and "<b>bold" not in made
    assert made.count("</script") == made.count("<script") == 4
    # The page loads nothing, and its policy names its scripts.
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', made)
    assert policy and "default-src 'none'" in policy[1] and "unsafe-eval" not in policy[1]
    assert re.findall(r"script-src 'sha256-[^']+';", policy[1])
    assert not re.findall(r"<(?:script|img|link)[^>]+(?:src|href)=[\"'](?!data:)", made)


def test_the_first_points_have_thumbnails_and_the_page_says_so(store, monkeypatch):
    monkeypatch.setattr(page, "MAX_THUMBNAILS", 2)
    red = picture(store, "red", "")["image_id"]
    points = [point(0, image_id=red), point(1, image_id="gone"), point(2, image_id=red)]
    made = render_clusters(clustering(points), store)
    assert made.n_thumbnails == 1
    found = re.search(r'id="thumbnails">(.*?)</script>', made.html)
    assert found and [bool(each) for each in json.loads(found[1])] == [True, False]
    assert "Only the first 2 have a thumbnail" in made.html
    assert "3 of 5 entries are shown" in made.html


@pytest.mark.browser
def test_pointing_at_a_dot_shows_its_entry_and_runs_nothing(store, browser, tmp_path):
    tab = browser.new_page(viewport={"width": 800, "height": 900})
    hostile = {"title": HOSTILE, "caption": HOSTILE, "group_title": HOSTILE}
    points = [
        point(0, **hostile, image_id=picture(store, "red", "")["image_id"]),
        point(1, **hostile),
        point(2, **LONER),
    ]
    file = tmp_path / "page.html"
    file.write_text(
        render_clusters(clustering(points, near_pairs=[pair(title_a=HOSTILE)]), store).html
    )
    said: list[str] = []
    asked: list[str] = []
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(file.as_uri())
    dots = tab.locator("#map [data-n]")
    expect(dots).to_have_count(3)
    card = tab.locator("#card")
    expect(card).to_be_hidden()
    tab.locator("#map [data-n='0']").hover()
    expect(card).to_be_visible()
    assert card.locator(".title").text_content() == HOSTILE
    assert card.locator("img").evaluate("image => image.naturalWidth") == page.THUMBNAIL_SIDE
    inside = card.bounding_box()
    assert inside and inside["y"] >= 0 and inside["y"] + inside["height"] <= 900
    assert inside["x"] + inside["width"] <= 800
    assert tab.locator("td").first.text_content() == HOSTILE
    # A group is hidden and shown again by its name.
    group = tab.get_by_label("</script><img")
    group.uncheck()
    expect(tab.locator("#map [data-n]:visible")).to_have_count(1)
    group.check()
    expect(tab.locator("#map [data-n]:visible")).to_have_count(3)

    assert tab.title() == "Clusters – vlm-loom"
    assert tab.evaluate("document.documentElement.scrollWidth") <= 800
    tab.close()
    assert said == [] and [url for url in asked if not url.startswith(("data:", "file:"))] == []
