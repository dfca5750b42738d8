"""Keywords that pictures for each task are found by, in two languages (AlignMMBench, 3.2 and A.6.1).

What belongs here: the keywords as data, and their forms. They are words of captions, titles and
categories, matched as the topics of a corpus are; which pictures become candidates is `candidates.py`.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from methods.alignmmbench.tasks import CATEGORIES
from methods.ingest.topics import Topic, topics_of
from methods.words import is_chinese

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
    """The keywords that one of `texts` has, in their order, whatever the case.

    An English keyword is a whole word or phrase, in singular or plural; a Chinese one stands anywhere,
    since Chinese has no spaces.
    """
    texts = list(texts)
    whole = " ".join(" ".join(texts).casefold().split())
    # Most keywords are in no text at all, which is quickly seen.
    possible = {word: _topic(word) for word in keywords if _beginning(word) in whole}
    return tuple(topics_of(possible, texts, ())) if possible else ()


@cache
def _topic(keyword: str) -> Topic:
    """The keyword in all its forms."""
    if is_chinese(keyword):
        return Topic((keyword,))
    plural = f"{_beginning(keyword)}ies" if keyword.endswith("y") else f"{keyword}es"
    return Topic((keyword, f"{keyword}s", plural))


@cache
def _beginning(keyword: str) -> str:
    """What all forms of the keyword have."""
    return " ".join(keyword.casefold().split()).removesuffix("y")
