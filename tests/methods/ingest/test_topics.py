"""Topics: a page belongs by a whole word of its texts or by a category, and in the topics' order."""

import pytest

from methods.ingest.topics import Topic, topics_of


def speaks_of(keyword: str, *texts: str | None) -> bool:
    return topics_of({"it": Topic(keywords=(keyword,))}, texts, []) == ["it"]


@pytest.mark.parametrize(
    "text",
    ["owl", "An owl.", "owl, bat", "(owl)", "owl's", "the barn-owl", "owl_2", "owl\nbat", "«owl»"]
    + ["Owl", "OWL", "owls and an owl"],
)
def test_a_keyword_is_found_as_a_whole_word_in_any_case(text):
    assert speaks_of("owl", text) and speaks_of("Owl", text) and speaks_of("OWL", text)


@pytest.mark.parametrize("text", ["owls", "fowl", "growling", "owl2", "éowl", "owlé", "", " "])
def test_a_keyword_is_not_found_inside_another_word(text):
    assert not speaks_of("owl", text)


@pytest.mark.parametrize(
    ("keyword", "text"),
    [("école", "ÉCOLE"), ("ДОМ", "дом"), ("όσιρις", "ΌΣΙΡΙΣ"), ("Straße", "straße")],
)
def test_case_is_not_heeded_in_other_alphabets(keyword, text):
    assert speaks_of(keyword, f"({text})") and speaks_of(text, f"({keyword})")


def test_several_words_are_found_together_only():
    assert speaks_of("black hole", "A black hole.") and speaks_of("Black hole", "the BLACK HOLE")
    for blank in ("\n", "  ", "\u00a0", "\r\n\t"):
        assert speaks_of("black hole", f"A black{blank}hole.")
        assert speaks_of(f" black{blank}hole ", "A black hole.")
    for text in ("A black, deep hole", "hole black", "black holes", "blackhole", "ablack hole"):
        assert not speaks_of("black hole", text)


def test_a_keyword_is_not_put_together_from_two_texts():
    assert not speaks_of("black hole", "black", "hole")
    assert not speaks_of("blackhole", "black", "hole")


@pytest.mark.parametrize(
    ("keyword", "text"),
    [
        ("地铁", "北京地铁线路图"),  # Chinese: subway
        ("𠮷野", "大𠮷野家"),  # beyond the first 65536 characters
        ("梟", "森の梟は夜に飛ぶ"),  # Japanese: owl
        ("フクロウ", "シロフクロウの写真"),
        ("ﾌｸﾛｳ", "ｼﾛﾌｸﾛｳの"),
        ("นก", "นี่คือนกฮูก"),  # Thai: bird
        ("នោះ", "បក្សីនោះហើរ"),  # Khmer
        ("GPU", "使用GPU的计算机"),  # a Latin word in Chinese text
    ],
)
def test_where_words_are_not_spaced_a_keyword_may_stand_anywhere(keyword, text):
    assert speaks_of(keyword, text) and not speaks_of(keyword, text.replace(keyword[0], ""))


def test_a_latin_word_in_such_a_text_is_still_a_whole_word():
    assert not speaks_of("GPU", "使用GPUs的") and not speaks_of("PU", "使用GPU的")


@pytest.mark.parametrize(
    ("keyword", "text", "other"),
    [
        ("C++", "in C++ and C", "in CCC"),
        ("a\\b", "a\\b", "ab"),
        (".*", "a .*", "anything"),
    ],
)
def test_a_keyword_is_text_never_a_pattern(keyword, text, other):
    assert speaks_of(keyword, f" {text} ") and not speaks_of(keyword, other)


@pytest.mark.parametrize("part", ["keywords", "categories"])
@pytest.mark.parametrize("name", ["", " ", "\n"])
def test_an_empty_keyword_is_refused_since_every_page_has_it(part, name):
    with pytest.raises(ValueError, match="every page"):
        Topic(**{part: ("owl", name)})


@pytest.mark.parametrize(
    ("category", "name"), [("Owls of Africa", "OWLS of africa"), ("STRASSEN", "Straßen")]
)
def test_a_page_belongs_by_a_category_s_name_in_any_case(category, name):
    topics = {"it": Topic(categories=(category,))}
    assert topics_of(topics, [], ["Birds", name]) == ["it"]


def test_a_category_is_a_whole_name_and_no_keyword():
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
