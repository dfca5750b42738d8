"""Topics: a page belongs by a whole word of its texts or by a category, and in the topics' order."""

import pytest

from methods.ingest.topics import Topic, topics_of


def speaks_of(keyword: str, *texts: str | None) -> bool:
    return topics_of({"it": Topic(keywords=(keyword,))}, texts, []) == ["it"]


WORDS = ["owl", "An owl.", "owl, bat", "(owl)", "the barn-owl", "owl_2", "owl\nbat", "«owl»"]
BLANKS = ["\n", "  ", "\u00a0", "\r\n\t"]
FOUND = [
    *(("owl", text) for text in [*WORDS, "Owl", "OWL", "owls and an owl"]),
    *[("école", "(ÉCOLE)"), ("ДОМ", "(дом)"), ("όσιρις", "(ΌΣΙΡΙΣ)"), ("Straße", "(straße)")],
    *(("black hole", f"A BLACK{blank}hole.") for blank in BLANKS),
    *((f" black{blank}hole ", "A black hole.") for blank in BLANKS),
    # Where words are not spaced, a keyword may stand anywhere; a Latin one is still a whole word.
    ("地铁", "北京地铁线路图"),  # Chinese: subway
    ("𠮷野", "大𠮷野家"),  # beyond the first 65536 characters
    ("梟", "森の梟は夜に飛ぶ"),  # Japanese: owl
    ("นก", "นี่คือนกฮูก"),  # Thai: bird
    ("GPU", "使用GPU的计算机"),
    # A keyword is text, never a pattern.
    *[("C++", "in C++ and C"), ("a\\b", " a\\b "), (".*", "a .*")],
]
NOT_FOUND = [
    *(("owl", text) for text in ("owls", "fowl", "growling", "owl2", "éowl", "owlé", "", " ")),
    *(("black hole", text) for text in ("black, deep hole", "black holes", "blackhole")),
    ("black hole", "ablack hole"),
    ("GPU", "使用GPUs的"),
    ("PU", "使用GPU的"),
    *[("C++", "in CCC"), ("a\\b", "ab"), (".*", "anything")],
]


@pytest.mark.parametrize("found", [FOUND, NOT_FOUND], ids=["found", "not found"])
def test_a_keyword_is_found_as_a_whole_word_of_one_text_in_any_case(found):
    other = [pair for pair in found if speaks_of(*pair) != (found is FOUND)]
    assert other == []
    assert not speaks_of("black hole", "black", "hole")
    assert not speaks_of("blackhole", "black", "hole")


@pytest.mark.parametrize("part", ["keywords", "categories"])
@pytest.mark.parametrize("name", ["", " ", "\n"])
def test_an_empty_keyword_is_refused_since_every_page_has_it(part, name):
    with pytest.raises(ValueError, match="every page"):
        Topic(**{part: ("owl", name)})


def test_a_page_belongs_by_a_category_s_whole_name_in_any_case_and_it_is_no_keyword():
    for category, name in (("Owls of Africa", "OWLS of africa"), ("STRASSEN", "Straßen")):
        assert topics_of({"it": Topic(categories=(category,))}, [], ["Birds", name]) == ["it"]
    topics = {"it": Topic(categories=("Owls",)), "word": Topic(keywords=("Birds",))}
    assert topics_of(topics, ["Owls"], ["Owls of Africa", "Birds"]) == []


TOPICS = {
    "night": Topic(keywords=("owl", "bat"), categories=("Nocturnal animals",)),
    "day": Topic(keywords=("sun",)),
    "any": Topic(),
}


@pytest.mark.parametrize(
    ("texts", "categories", "names"),
    [
        (["The sun and an owl"], [], ["night", "day"]),
        (["owl", None, "sun"], ["Nocturnal animals"], ["night", "day"]),
        ([None, "the sun"], [], ["day"]),
        ([], ["nocturnal Animals"], ["night"]),
        ([None, ""], ["Sun"], []),
        ([], [], []),
    ],
)
def test_a_page_has_the_topics_it_speaks_of_in_their_order(texts, categories, names):
    assert topics_of(TOPICS, texts, categories) == names
    turned = dict(reversed(TOPICS.items()))
    assert topics_of(turned, iter(texts), categories) == names[::-1]
