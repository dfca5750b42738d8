"""MMDU's two passes: who is with whom and why, how near that is, and in which language."""

from collections.abc import Collection
from dataclasses import replace

import numpy as np
import pytest

from methods.clustering import similarity
from methods.clustering.centre_similarity import similarity_to_clusters, similarity_to_groups
from methods.clustering.incremental import extend, recluster
from methods.clustering.languages import Tokenized
from methods.clustering.similarity import have_neighbours, nearest_centre
from methods.clustering.two_passes import Entries, PriorClustering
from tests.methods.clustering.clustered import (
    TAU,
    at_angles,
    by_threshold,
    how,
    names,
    of_angles,
    parted,
    prior,
    random_entries,
)

SEVEN = of_angles(
    {
        **{"a": (0, 0), "b": (5, 6), "c": (9, 100), "d": (12, 200)},
        **{"e": (120, 101), "f": (124, 104), "g": (240, 300)},
    }
)


def clustered(entries: Entries, tau: float = TAU, min_size: int = 2):
    return recluster(entries, PriorClustering.empty(entries), by_threshold(tau, min_size), tau)


def cosine(degrees: float) -> float:
    return np.cos(np.radians(degrees))


def test_clusters_are_found_inside_groups_alone():
    made = clustered(SEVEN)
    assert parted(made.groups, SEVEN) == {frozenset("abcd"), frozenset("ef")}
    assert parted(made.clusters, SEVEN) == {frozenset("ab"), frozenset("ef")}
    assert made.groups.sizes.tolist() == [4, 2]
    # a and b's cluster lies in the first group, e and f's in the second.
    assert made.clusters.parents.tolist() == [0, 1]


def test_an_id_is_a_hash_of_kind_group_and_centre():
    first = clustered(of_angles({"a": (0, 0), "b": (1, 1)}))
    other = clustered(of_angles({"a": (0, 0), "c": (1, 1)}))
    # Who else is in it is no part of its name. Here b is the centre: it alone reaches both others.
    second = clustered(of_angles({"a": (0, 0), "b": (40, 40), "c": (80, 80)}))
    assert first.groups.ids == other.groups.ids != second.groups.ids
    assert first.clusters.ids == other.clusters.ids != second.clusters.ids
    assert first.groups.ids != first.clusters.ids


def test_who_lost_its_neighbours_to_a_larger_community_is_absorbed_and_too_few_are_noise():
    # Each reaches its neighbours 30 degrees away. 30 and 60 have three, 30 is the first; it takes 60,
    # and 90 is left, its one neighbour being 60.
    entries = of_angles({"a": (0, 0), "b": (30, 0), "c": (60, 0), "d": (90, 0)})
    made = clustered(entries, cosine(35))
    assert parted(made.groups, entries) == {frozenset("abc")}
    assert how(made.groups, entries)["d"] == "absorbed"
    # Neighbours that are too few for a community are noise.
    entries = of_angles({"a": (0, 0), "b": (1, 0), "c": (2, 0), "d": (90, 0), "e": (91, 0)})
    made = clustered(entries, min_size=3)
    assert how(made.groups, entries) == dict.fromkeys("abc", "seed") | dict.fromkeys("de", "noise")


def test_members_have_their_similarity_to_the_centre_and_others_the_nearest_one():
    made = clustered(SEVEN)
    groups, clusters = similarity_to_groups(SEVEN, made), similarity_to_clusters(SEVEN, made)
    # All four reach all four: a is the first. d is 12 degrees from it by category, 160 by caption.
    c, d, f, g = (SEVEN.ids.index(name) for name in "cdfg")
    assert made.groups.centres.tolist() == [0, 4]
    assert groups.cosine[d] == pytest.approx(cosine(12), abs=1e-6)
    assert groups.other_cosine[d] == pytest.approx(cosine(160), abs=1e-6)
    # e is the centre of f's cluster: 3 degrees by caption, 4 by category.
    assert clusters.cosine[f] == pytest.approx(cosine(3), abs=1e-6)
    assert clusters.other_cosine[f] == pytest.approx(cosine(4), abs=1e-6)
    assert groups.nearest[d] == -1 and np.isnan(groups.nearest_cosine[d])
    # g is 120 degrees from a, the centre of one group, and 120 from e, that of the other: the larger.
    assert groups.nearest[g] == 0 and np.isnan(groups.cosine[g])
    assert groups.nearest_cosine[g] == pytest.approx(-0.5, abs=1e-6)
    # The one cluster of c's group is a's, 100 degrees away; e's, 1 degree away, is in another one.
    assert clusters.nearest[c] == 0
    assert clusters.nearest_cosine[c] == pytest.approx(cosine(100), abs=1e-6)
    assert clusters.nearest[g] == -1 and np.isnan(clusters.nearest_cosine[g])


MORE = float(np.nextafter(np.float32(0.6), np.float32(1)))


@pytest.mark.parametrize(
    ("vector", "centres"),
    [
        (at_angles(0), at_angles(40, 320, 40)),
        (at_angles(0), at_angles(320, 40)),
        # Rounding tells these apart.
        (np.array([[1, 0]], np.float32), np.array([[0.6, 0.8], [MORE, 0.8]], np.float32)),
    ],
)
def test_of_equally_near_centres_the_first_is_nearest(vector, centres):
    index, cosines = nearest_centre(vector, np.array([0]), centres)
    assert index.tolist() == [0]
    assert cosines[0] == pytest.approx(float(vector[0] @ centres[0]), abs=1e-6)


def test_equal_vectors_are_at_one_whatever_rounding_makes_of_them(monkeypatch):
    vectors = np.full((2, 7), 1 / np.sqrt(7), dtype=np.float32)
    assert float((vectors @ vectors.T)[0, 1]) != 1.0
    _, cosines = nearest_centre(vectors, np.array([0]), vectors[1:])
    assert cosines.tolist() == [1.0]
    both, nobody = np.array([0, 1]), np.array([], dtype=int)
    assert have_neighbours(vectors, both, nobody, 1.0)[0].tolist() == [True, True]
    monkeypatch.setattr(similarity, "MAX_PRODUCTS", 0)
    assert have_neighbours(vectors, both, nobody, 1.0)[0].tolist() == [True, True]
    assert have_neighbours(vectors, both[:1], nobody, 1.0)[0].tolist() == [False]


@pytest.mark.parametrize("cells", [1, 100, 3000])
def test_products_in_parts_or_by_the_pair_filter_change_nothing(monkeypatch, cells):
    def products(vectors, rows, others) -> list[np.ndarray]:
        neighbours = have_neighbours(vectors, rows, others, TAU)
        return [*neighbours, *nearest_centre(vectors, rows, vectors[others])]

    for seed in range(4):
        vectors = random_entries(seed).captions
        rows, others = np.split(np.random.default_rng(seed).permutation(len(vectors)), [25])
        whole = products(vectors, rows, others)
        assert 0 < whole[0].sum() < 25 and 0 < whole[1].sum() < 25
        with monkeypatch.context() as patch:
            patch.setattr(similarity, "MAX_PRODUCTS", cells)
            patch.setattr(similarity, "PAIRS_AT_ONCE", 7)
            parts = products(vectors, rows, others)
        for one, other in zip(whole, parts, strict=True):
            assert one.tolist() == other.tolist()


def tokenized(text: str, lengths: list[int], unknown: Collection[int] = ()) -> Tokenized:
    """The text in tokens of these lengths; `unknown` are the numbers of unknown ones."""
    counts, start, tokens = Tokenized(), 0, []
    for number, length in enumerate(lengths):
        tokens.append((start, start + length, number in unknown))
        start += length
    counts.add(text, tokens)
    return counts


def test_a_language_in_single_letters_or_unknown_tokens_is_not_read():
    assert not tokenized("шар", [1, 1, 1]).is_read
    assert not tokenized("气球 big", [1, 1, 4], {0}).is_read
    assert tokenized("气球", [1, 1]).is_read
    assert tokenized("!?", [1, 1], {0, 1}).is_read, "marks and emoji are no language"
    # Letters of a token are counted without marks and chinese characters.
    # a balloon, 2 . 气 球: letters 1 + 7 + 1 in three tokens
    counts = tokenized("a balloon2.气球", [2, 7, 1, 1, 1, 1])
    assert (counts.n_tokens, counts.letters_per_token) == (3, 3.0)
    assert counts.unknown_share == 0 and counts.is_read


def in_languages(entries: Entries, languages: list[str]) -> Entries:
    return replace(entries, languages=np.array(languages))


def extended(entries: Entries):
    return extend(entries, PriorClustering.empty(entries), by_threshold(), TAU)


def test_a_newcomer_joins_the_community_of_its_language_however_near_another_one_is():
    angles = {"a": (0, 0), "b": (5, 5), "c": (30, 30), "d": (35, 35)}
    languages = ["en", "en", "nb-NO", "nb-NO"]
    then = in_languages(of_angles(angles), languages)
    now = in_languages(of_angles(angles | {"e": (3, 3)}), [*languages, "nb-NO"])
    was = extended(then)
    made = extend(now, prior(was, then, now), by_threshold(), TAU)
    place = names(made.groups, now)
    assert place["e"] == place["c"] != place["a"]
    assert [*made.groups.languages] == [*was.groups.languages]


@pytest.mark.parametrize("cluster", [extend, recluster])
def test_an_entry_leaves_its_community_with_its_language_and_comes_back_with_it(cluster):
    then = in_languages(of_angles({"a": (0, 0), "b": (5, 5), "c": (8, 8)}), ["en", "en", "en"])
    was = extended(then)
    unread = in_languages(then, ["en", "en", ""])
    without = cluster(unread, prior(was, then, unread), by_threshold(), TAU)
    assert parted(without.groups, unread) == {frozenset(["a", "b"])}
    assert how(without.groups, unread)["c"] == "unreadable language"
    again = cluster(then, prior(without, unread, then), by_threshold(), TAU)
    assert parted(again.clusters, then) == {frozenset(["a", "b", "c"])}
    assert again.groups.ids == was.groups.ids
