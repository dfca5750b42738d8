"""Communities have one language; entries that the embedding model does not read are in none."""

from collections.abc import Collection
from dataclasses import replace

import numpy as np
import pytest

from methods.clustering.centre_similarity import similarity_to_groups
from methods.clustering.incremental import extend, recluster
from methods.clustering.languages import Tokenized
from methods.clustering.two_passes import Entries, PriorClustering
from tests.methods.clustering.clustered import (
    TAU,
    by_threshold,
    how,
    names,
    of_angles,
    parted,
    prior,
    random_entries,
    rows_of,
)


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


def clustered(entries: Entries):
    return extend(entries, PriorClustering.empty(entries), by_threshold(), TAU)


@pytest.mark.parametrize("seed", range(5))
def test_the_communities_of_several_languages_are_those_of_each_alone(seed):
    entries = in_languages(random_entries(seed), ["en", "de", "zh-TW"] * 20)
    together = clustered(entries)
    alone = [
        clustered(rows_of(entries, np.flatnonzero(entries.languages == language)))
        for language in ("en", "de", "zh-TW")
    ]
    for kind in ("groups", "clusters"):
        ids = {name for one in alone for name in getattr(one, kind).ids}
        assert {*getattr(together, kind).ids} == ids
    assert len({*together.groups.languages}) == 3


def test_an_unreadable_language_is_in_no_community_and_has_no_nearest_one():
    entries = in_languages(of_angles({"a": (0, 0), "b": (5, 5), "c": (5, 5)}), ["en", "en", ""])
    made = clustered(entries)
    assert parted(made.clusters, entries) == {frozenset(["a", "b"])}
    assert how(made.groups, entries)["c"] == "unreadable language"
    assert how(made.clusters, entries)["c"] is None
    assert similarity_to_groups(entries, made).nearest.tolist()[2] == -1


def test_a_newcomer_joins_the_community_of_its_language_however_near_another_one_is():
    angles = {"a": (0, 0), "b": (5, 5), "c": (30, 30), "d": (35, 35)}
    languages = ["en", "en", "nb-NO", "nb-NO"]
    then = in_languages(of_angles(angles), languages)
    now = in_languages(of_angles(angles | {"e": (3, 3)}), [*languages, "nb-NO"])
    was = clustered(then)
    made = extend(now, prior(was, then, now), by_threshold(), TAU)
    place = names(made.groups, now)
    assert place["e"] == place["c"] != place["a"]
    assert [*made.groups.languages] == [*was.groups.languages]


@pytest.mark.parametrize("cluster", [extend, recluster])
def test_an_entry_leaves_its_community_with_its_language_and_comes_back_with_it(cluster):
    then = in_languages(of_angles({"a": (0, 0), "b": (5, 5), "c": (8, 8)}), ["en", "en", "en"])
    was = clustered(then)
    unread = in_languages(then, ["en", "en", ""])
    without = cluster(unread, prior(was, then, unread), by_threshold(), TAU)
    assert parted(without.groups, unread) == {frozenset(["a", "b"])}
    assert how(without.groups, unread)["c"] == "unreadable language"
    again = cluster(then, prior(without, unread, then), by_threshold(), TAU)
    assert parted(again.clusters, then) == {frozenset(["a", "b", "c"])}
    assert again.groups.ids == was.groups.ids
