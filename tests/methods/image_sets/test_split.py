"""The splits of a corpus: the laws that no release may break, and small corpora worked by hand."""

from collections import Counter
from collections.abc import Iterable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.image_sets.split import (
    BRIDGES,
    IMPORTED,
    ExternalContent,
    Key,
    SplitDecision,
    SplitImage,
    SplitSpec,
    split_corpus,
)

pytestmark = pytest.mark.slow

PLACES = st.integers(0, 7)
SHARES = st.sampled_from([0.0, 0.1, 0.5, 0.6, 1.0])


@st.composite
def corpora(draw: st.DrawFn, most: int = 20) -> list[SplitImage]:
    """Images on pages, some on several, some in groups of near-duplicates, some in no cluster."""
    pairs = draw(st.lists(st.tuples(PLACES, PLACES), max_size=most, unique=True))
    group = draw(st.lists(st.sampled_from([None, None, "g1", "g2"]), min_size=8, max_size=8))
    cluster = draw(st.lists(st.sampled_from([(), ("c1",), ("c2",), ("c1", "c2")]), min_size=64))
    return [
        SplitImage(f"p{page}", f"i{image}", group[image], cluster[8 * page + image])
        if len(cluster) > 8 * page + image
        else SplitImage(f"p{page}", f"i{image}", group[image])
        for page, image in pairs
    ]


def specs() -> st.SearchStrategy[SplitSpec]:
    return st.builds(SplitSpec, SHARES, st.booleans(), st.integers(0, 5))


def shared(
    corpus: Sequence[SplitImage], found: dict[Key, SplitDecision], spec: SplitSpec
) -> set[Key]:
    """Pages, images, groups, and clusters if they count, that are in both splits."""
    on: dict[Key, set[str]] = {}
    for each in corpus:
        split = found[each.name].split
        keys = [("page", each.page_id), ("image", each.image_id)]
        keys += [("group", each.duplicate_group)] if each.duplicate_group else []
        keys += [("cluster", cluster) for cluster in each.clusters] if spec.by_cluster else []
        for key in keys if split else []:
            on.setdefault(key, set()).add(split or "")
    return {key for key, of in on.items() if len(of) > 1}


def counts(found: dict[Key, SplitDecision]) -> Counter[str | None]:
    return Counter(split.split for split in found.values())


@given(corpora(), specs())
def test_nothing_is_in_both_splits_and_nothing_is_left_out(corpus, spec):
    found = split_corpus(corpus, spec)
    assert shared(corpus, found, spec) == set()
    assert found.keys() == {each.name for each in corpus}
    assert None not in counts(found)


@given(corpora(), corpora(), specs(), specs())
def test_a_growing_corpus_moves_nothing_whatever_the_settings_are_now(corpus, more, spec, now):
    prior = split_corpus(corpus, spec)
    # What an image is compared by may change as others come: its group, its clusters.
    grown = list({each.name: each for each in [*corpus, *more]}.values())
    found = split_corpus(grown, now, prior)
    assert prior.items() <= found.items()
    assert split_corpus(grown, now, found) == found
    pages_and_images = {key for key in shared(grown, found, now) if key[0] in ("page", "image")}
    assert pages_and_images == set()


@given(corpora(), specs(), st.sets(PLACES, max_size=2))
def test_nothing_of_an_imported_benchmark_is_left_to_instruct(corpus, spec, images):
    tested = ExternalContent(images={f"i{image}" for image in images})
    for prior in ({}, split_corpus(corpus, spec)):
        found = split_corpus(corpus, spec, prior, tested)
        for each in corpus:
            if each.image_id in tested.images:
                assert found[each.name].split != "instruction"
        assert shared(corpus, found, SplitSpec(0.5)) == set()
        # What was displaced stays so, also when the benchmark is retired.
        displaced = {name for name, split in found.items() if split.reason == IMPORTED}
        later = split_corpus(corpus, spec, found)
        assert displaced == {name for name, split in later.items() if split.reason == IMPORTED}


def alone(clusters: Iterable[str]) -> list[SplitImage]:
    """Images of pages of their own, in these clusters."""
    return [SplitImage(f"p{n:03}", f"i{n:03}", None, (of,)) for n, of in enumerate(clusters)]


def test_both_splits_have_every_cluster_that_is_large_enough_for_two_sets_of_other_sizes():
    corpus = alone(["a"] * 6 + ["b"] * 5 + ["c"] * 3 + ["d"] * 2)
    found = split_corpus(corpus, SplitSpec(0.5))
    of = {cluster: Counter[str | None]() for cluster in "abcd"}
    for each in corpus:
        of[each.clusters[0]][found[each.name].split] += 1
    assert of["a"] == {"benchmark": 3, "instruction": 3}
    assert sorted(of["b"].values()) == [2, 3]
    # Three make a set of three or of two and one left over; two make one set.
    assert sorted(of["c"].values()) == [3]
    assert sorted(of["d"].values()) == [2]
    assert counts(found)["benchmark"] in (7, 8, 9)


def test_the_versions_of_a_page_in_other_languages_are_one_page() -> None:
    # Two pages link each other, and two link a third one that is not in the corpus.
    corpus = [
        SplitImage("en", "i1", versions=("ja",)),
        SplitImage("ja", "i2", versions=("en",)),
        SplitImage("de", "i3", versions=("nl",)),
        SplitImage("fr", "i4", versions=("nl",)),
    ]
    for seed in range(20):
        found = split_corpus([*corpus, *alone("xy")], SplitSpec(0.5, seed=seed))
        assert found["en", "i1"].split == found["ja", "i2"].split
        assert found["de", "i3"].split == found["fr", "i4"].split
    prior = split_corpus(corpus[:1], SplitSpec(0.0))
    later = split_corpus(corpus, SplitSpec(1.0), prior)
    assert later["ja", "i2"] == SplitDecision("instruction", "joined")
    tested = ExternalContent(pages={"ja"})
    assert split_corpus(corpus, SplitSpec(0.0), tested=tested)["en", "i1"].split == "benchmark"


ON_BOTH = {
    ("p1", "i1"): SplitDecision("benchmark", "sampled"),
    ("p2", "i2"): SplitDecision("instruction", "sampled"),
}


def test_a_newcomer_that_bridges_the_splits_is_left_out_until_it_does_not():
    corpus = [SplitImage("p1", "i1"), SplitImage("p2", "i2")]
    bridge = SplitImage("p2", "i1")
    beside = SplitImage("p1", "i9")
    found = split_corpus([*corpus, bridge, beside], SplitSpec(0.5), ON_BOTH)
    assert found["p2", "i1"] == SplitDecision(None, BRIDGES)
    # What meets one of the splits alone is not left out with it.
    assert found["p1", "i9"] == SplitDecision("benchmark", "joined")
    later = {name: split for name, split in found.items() if name != ("p1", "i1")}
    assert split_corpus([bridge], SplitSpec(0.5), later)["p2", "i1"].split == "instruction"
    # A page keeps its split when its earlier picture is gone.
    found = split_corpus([SplitImage("p2", "i7")], SplitSpec(1.0), ON_BOTH)
    assert found == {**ON_BOTH, ("p2", "i7"): SplitDecision("instruction", "joined")}


def test_what_an_imported_benchmark_has_goes_to_the_benchmarks_or_is_left_out():
    corpus = [
        SplitImage("p1", "i1"),
        SplitImage("p2", "i2"),
        SplitImage("p2", "i5"),
        SplitImage("p3", "i3"),
        SplitImage("p4", "i4"),
    ]
    tested = ExternalContent(pages={"p3"}, images={"i1", "i2"})
    found = split_corpus(corpus, SplitSpec(0.0), ON_BOTH, tested)
    assert found == {
        ("p1", "i1"): SplitDecision("benchmark", "sampled"),
        # A model may have been trained on it.
        ("p2", "i2"): SplitDecision(None, IMPORTED),
        ("p2", "i5"): SplitDecision(None, BRIDGES),
        ("p3", "i3"): SplitDecision("benchmark", "joined"),
        ("p4", "i4"): SplitDecision("instruction", "sampled"),
    }
