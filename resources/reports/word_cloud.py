"""The word cloud of categories (MMDU Figure 11).

What belongs here: the words, their sizes and their font; the package wordcloud renders them.
"""

import io
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from resources.reports.figures import PALETTE, can_draw, cut, font_for

SIZE = (1200, 480)
"""Pixels."""
MAX_WORDS = 120
MAX_CHARACTERS = 60


class Cloud(NamedTuple):
    """The image as PNG, and the words left out because the font lacks their characters."""

    png: bytes
    n_shown: int
    unreadable: list[str]


def category_cloud(counts: Mapping[str, int], seed: int = 0) -> Cloud | None:
    """Categories sized by their number of entries; None if no category can be rendered.

    Deterministic for counts, seed and fonts. Long names are cut.
    """
    from wordcloud import WordCloud

    words: Counter[str] = Counter()
    for category, n_entries in counts.items():
        words[cut(" ".join(category.split()), MAX_CHARACTERS)] += n_entries
    del words[""]
    font = font_for(words)
    unreadable = sorted(word for word in words if not can_draw(font, word))
    for word in unreadable:
        del words[word]
    if not words:
        return None
    shown = dict(sorted(words.items(), key=lambda item: (-item[1], item[0]))[:MAX_WORDS])
    colours = dict(zip(shown, PALETTE[:4] * len(shown), strict=False))
    cloud = WordCloud(
        width=SIZE[0],
        height=SIZE[1],
        font_path=font,
        background_color="white",
        max_words=MAX_WORDS,
        max_font_size=64,
        min_font_size=11,
        prefer_horizontal=1.0,
        relative_scaling=0.4,
        margin=4,
        random_state=seed,
        color_func=lambda word, **_: colours[word],
    ).generate_from_frequencies(shown)
    buffer = io.BytesIO()
    cloud.to_image().save(buffer, "PNG", optimize=True)
    return Cloud(buffer.getvalue(), len(cloud.layout_), unreadable)
