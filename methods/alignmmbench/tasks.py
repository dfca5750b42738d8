"""The 13 tasks of AlignMMBench, and keywords that find images for each (3.1, 3.2, A.1, A.6.1)."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from methods.ingest.topics import Topic, topics_of
from methods.words import is_chinese

Seen: TypeAlias = Mapping[str, Mapping[str, tuple[str, ...]]]
"""The keywords that images show, by image and task. Images and tasks without keywords are left out."""


def phrase(keyword: str) -> str:
    """Make a caption from a keyword, because image encoders were trained on captions and not on
    single words.
    """
    return f"a picture of {keyword}"


def seen_keywords(
    image_ids: Sequence[str],
    similarity: NDArray[np.float32],
    keywords: Mapping[str, Sequence[str]],
    at_least: float,
) -> Seen:
    """Find the keywords of each task that an image shows.

    Args:
        image_ids: The images.
        similarity: Cosines: a row for each image, a column for each keyword, in the order of the tasks
            and of their keywords.
        keywords: The keywords of each task.
        at_least: The least cosine.

    Returns:
        The keywords by image and task.
    """
    named = [(task, word) for task, words in keywords.items() for word in words]
    found_keywords: dict[str, dict[str, tuple[str, ...]]] = {}
    for row, column in np.argwhere(similarity >= at_least):
        task, word = named[column]
        of_picture = found_keywords.setdefault(image_ids[row], {})
        of_picture[task] = (*of_picture.get(task, ()), word)
    return found_keywords


TASK, CATEGORY, LANGUAGE = "task", "category", "language"
"""Labels of an item."""
PERCEPTION = "Perception & Understanding"
REASONING = "Reasoning & Analysis"
DIALOGUE = "Dialogue Context"
CATEGORIES: Mapping[str, str] = {
    "Description": PERCEPTION,
    "Recognition": PERCEPTION,
    "Counting": PERCEPTION,
    "OCR": PERCEPTION,
    "Meme": PERCEPTION,
    "Knowledge": PERCEPTION,
    "Reasoning": REASONING,
    "Chart": REASONING,
    "Problem": REASONING,
    "Comparison": REASONING,
    "Writing": REASONING,
    "Coherence": DIALOGUE,
    "Incoherence": DIALOGUE,
}
"""The category of each task."""
CHINESE_NAMES: Mapping[str, str] = {
    "Description": "描述",
    "Recognition": "识别",
    "Counting": "计数",
    "OCR": "文字识别",
    "Meme": "梗图理解",
    "Knowledge": "世界知识",
    "Reasoning": "推理",
    "Chart": "图表",
    "Problem": "解题",
    "Comparison": "对比",
    "Writing": "创作",
    "Coherence": "连贯对话",
    "Incoherence": "纠错对话",
}
_BY_LETTERS = {name.lower(): name for name in CATEGORIES}


def task_named(name: str) -> str | None:
    """Return the task of a name, ignoring case and surrounding spaces; None for an unknown name."""
    return _BY_LETTERS.get(name.strip().lower())


_ENGLISH: Mapping[str, str] = {
    "Description": "scenery, landscape, view, panorama, street, still life, poster, cartoon, map",
    "Recognition": "fruit, flower, plant, tree, animal, bird, butterfly, insect, food, dish, boat",
    "Counting": "two, three, four, five, six, several, pair, row, group, herd, flock, crowd",
    "OCR": "sign, billboard, document, manuscript, handwriting, inscription, formula, label, newspaper",
    "Meme": "meme, joke, caricature, comic strip, emoji, parody, satire",
    "Knowledge": (
        "film, actor, politician, landmark, tower, castle, temple, monument, lighthouse, logo, book "
        "cover, planet, museum"
    ),
    "Reasoning": "accident, traffic, game, chess, machine, tool, experiment, night, storm, race",
    "Chart": "chart, bar graph, graph, data table, diagram, flowchart, subway map, timeline",
    "Problem": "problem, exercise, equation, geometry, puzzle, exam, circuit, theorem, source code",
    "Comparison": "comparison, versus, before and after, side by side, twin, both, two, varieties",
    "Writing": "sunset, sunrise, garden, sea, mountain, snow, forest, wedding, advertisement, lake",
    "Coherence": "market, room, kitchen, city, building, bridge, street, boat, painting, animal, sky",
    "Incoherence": "building, vehicle, animal, sport, portrait, table, tower, boat, painting, sky",
}
_CHINESE: Mapping[str, str] = {
    "Description": "风景, 景色, 全景, 街景, 静物, 海报, 漫画, 地图, 节日",
    "Recognition": "水果, 花卉, 植物, 动物, 鸟类, 蝴蝶, 昆虫, 食物, 菜肴, 简笔画",
    "Counting": "两只, 两个, 三只, 三个, 四个, 五个, 一群, 一排, 一对, 多个",
    "OCR": "招牌, 广告牌, 文件, 手稿, 手写, 碑文, 公式, 标签, 报纸",
    "Meme": "表情包, 梗图, 笑话, 讽刺画, 恶搞",
    "Knowledge": "电影, 演员, 名人, 景点, 城堡, 寺庙, 纪念碑, 灯塔, 商标, 封面, 行星",
    "Reasoning": "事故, 交通, 比赛, 棋, 机器, 实验, 夜晚, 暴风雨",
    "Chart": "图表, 柱状图, 折线图, 表格, 流程图, 地铁图, 时间线, 统计",
    "Problem": "习题, 方程, 几何, 谜题, 试卷, 电路, 定理, 代码",
    "Comparison": "对比, 比较, 前后, 并排, 双子, 两种, 品种",
    "Writing": "日落, 日出, 花园, 大海, 山峰, 雪景, 森林, 婚礼, 广告",
    "Coherence": "市场, 房间, 厨房, 城市, 建筑, 桥, 街道, 绘画, 动物",
    "Incoherence": "建筑, 车辆, 动物, 运动, 肖像, 桌子, 塔, 绘画",
}
KEYWORDS: Mapping[str, tuple[str, ...]] = {
    task: (*_ENGLISH[task].split(", "), *_CHINESE[task].split(", ")) for task in CATEGORIES
}
"""Keywords of each task in both languages: a caption may be in either."""


def found_keywords(texts: Iterable[str], keywords: Sequence[str]) -> tuple[str, ...]:
    """Find the keywords that occur in texts, in any case.

    An English keyword is a whole word or phrase, in singular or plural. A Chinese one may occur
    anywhere, as Chinese has no spaces.

    Args:
        texts: The texts.
        keywords: The keywords.

    Returns:
        The keywords found, in the order of `keywords`.
    """
    texts = list(texts)
    whole = " ".join(" ".join(texts).casefold().split())
    # Most keywords occur in no text, which a search for their beginning shows quickly.
    possible = {word: _topic(word) for word in keywords if _beginning(word) in whole}
    return tuple(topics_of(possible, texts, ())) if possible else ()


@cache
def _topic(keyword: str) -> Topic:
    """Build a topic of all forms of a keyword."""
    if is_chinese(keyword):
        return Topic((keyword,))
    plural = f"{_beginning(keyword)}ies" if keyword.endswith("y") else f"{keyword}es"
    return Topic((keyword, f"{keyword}s", plural))


@cache
def _beginning(keyword: str) -> str:
    """The common beginning of all forms of a keyword."""
    return " ".join(keyword.casefold().split()).removesuffix("y")
