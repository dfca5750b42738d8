"""Incremental clustering: extending prior communities, and reclustering with ids carried over."""

import numpy as np
import pytest

from methods.clustering.incremental import (
    CHANGES,
    Clustering,
    compare_communities,
    extend,
    recluster,
)
from methods.clustering.two_passes import Entries, PriorClustering
from tests.methods.clustering import clustered as world

DETECTORS = {"threshold": world.by_threshold(), "density": world.by_density()}
# tau = 0.75 is 41.4 degrees. a is the centre of a, b; e that of e, f; g stands alone.
NARROW = np.cos(np.radians(20))
FIRST = {"a": (0, 0), "b": (10, 10), "e": (180, 180), "f": (190, 190), "g": (270, 270)}


def clustered(entries: Entries, tau: float = world.TAU) -> Clustering:
    return recluster(entries, PriorClustering.empty(entries), world.by_threshold(tau), tau)


def extended(was: Clustering, then: Entries, now: Entries) -> Clustering:
    return extend(now, world.prior(was, then, now), world.by_threshold(), world.TAU)


def with_more(more: dict[str, tuple[float, float]], less: str = ""):
    """FIRST clustered, then extended by more entries, and by fewer."""
    then = world.of_angles(FIRST)
    now = world.of_angles({name: at for name, at in (FIRST | more).items() if name not in less})
    was = clustered(then)
    return then, was, now, extended(was, then, now)


def changes(made: Clustering) -> list[tuple[str, str]]:
    """Every change with its kind."""
    return [
        (kind, CHANGES[change])
        for kind, of in (("group", made.groups), ("cluster", made.clusters))
        for change in of.changes.change
    ]


def same(one: Clustering, other: Clustering, entries: Entries) -> bool:
    """Whether two clusterings of the same entries agree in everything but their changes."""
    return all(
        world.names(a, entries) == world.names(b, entries)
        and world.how(a, entries) == world.how(b, entries)
        and (a.categories == b.categories).all()
        and (a.captions == b.captions).all()
        for a, b in ((one.groups, other.groups), (one.clusters, other.clusters))
    )


def test_a_new_entry_joins_a_centre_within_tau_and_ids_stay():
    # h is 35 degrees from a, the centre, in both spaces; i is 5 by category, but 100 by caption.
    then, was, now, made = with_more({"h": (-35, -35), "i": (5, 100)})
    assert world.parted(made.groups, now) == {frozenset("abhi"), frozenset("ef")}
    assert world.parted(made.clusters, now) == {frozenset("abh"), frozenset("ef")}
    assert set(made.groups.ids) == set(was.groups.ids)
    reasons = dict.fromkeys("abef", "seed") | dict.fromkeys("hi", "assigned")
    assert world.how(made.groups, now) == reasons | {"g": "no neighbour"}
    assert world.how(made.clusters, now)["i"] == "no neighbour"
    assert changes(made) == []
    assert made.groups.centres.tolist() == [-1, -1]


def test_new_entries_form_clusters_with_unassigned_ones_of_their_group():
    three = {"a": (0, 0), "b": (1, 1), "c": (2, 100)}
    then, now = world.of_angles(three), world.of_angles(three | {"d": (3, 101)})
    was = clustered(then)
    made = extended(was, then, now)
    assert made.groups.ids == was.groups.ids
    assert world.parted(made.clusters, now) == {frozenset("ab"), frozenset("cd")}
    assert world.how(made.clusters, now) == dict.fromkeys("abcd", "seed")
    assert changes(made) == [("cluster", "new")]


@pytest.mark.parametrize(
    ("more", "at", "joined"),
    # Centres at -40 and +40; h at -1 is 39 degrees from the one, 41 from the other, at 1 the reverse.
    # Of equal size the one that was found first: that of the smaller entry id.
    [({"z": (45, 0)}, -1, "x"), ({}, 1, "a")],
)
def test_of_two_centres_within_tau_that_of_the_larger_community_wins_though_the_other_is_nearer(
    more, at, joined
):
    both = {"a": (-40, 0), "b": (-50, 0), "x": (40, 0), "y": (50, 0)} | more
    then, now = world.of_angles(both), world.of_angles(both | {"h": (at, 0)})
    was = clustered(then, tau=NARROW)
    assert was.groups.sizes.tolist() == [2 + len(more), 2]
    made = extended(was, then, now)
    assert world.names(made.groups, now)["h"] == world.names(made.groups, now)[joined]


# Two groups: a is the centre of a and b at -40 degrees, x that of x, y, z, the larger one, at +40.
APART = {"a": (-40, 0), "b": (-50, 5), "x": (40, 0), "y": (50, 0), "z": (45, 0)}


@pytest.mark.parametrize(
    ("at", "group", "cluster"),
    [
        # 39 degrees from a, 41 from x: stays, and did not even before the larger group.
        ((-1, 9), "seed a", "seed a"),
        # 41 degrees from a, 39 from x: another one would join x, but b's new version stays.
        ((1, 9), "seed a", "seed a"),
        # 50 degrees from a: it is placed as a new one.
        ((10, 9), "assigned x", "assigned x"),
        # The group stays; in it the caption is 45 degrees from a's.
        ((-50, 45), "seed a", "no neighbour"),
    ],
)
def test_a_new_version_stays_while_it_is_within_tau_of_the_centre(at, group, cluster):
    then = world.of_angles(APART)
    was = clustered(then, tau=NARROW)
    now = world.of_angles(
        {name: place for name, place in APART.items() if name != "b"} | {"b2": at}
    )
    made = extend(now, world.prior(was, then, now, {"b2": "b"}), world.by_threshold(), world.TAU)

    def place(of) -> str:
        beside = [name for name in "ax" if world.names(of, now)[name] == world.names(of, now)["b2"]]
        return " ".join([world.how(of, now)["b2"], *beside])

    assert (place(made.groups), place(made.clusters)) == (group, cluster)
    assert changes(made) == []


@pytest.mark.parametrize(
    ("more", "less", "groups", "changed"),
    [
        # h is 45 degrees from b: only a, who has gone, has both of them near.
        ({"h": (-35, -35)}, "a", ("bh", "ef"), []),
        ({"x": (0, 0), "y": (5, 5)}, "ab", ("xy", "ef"), []),
        ({}, "ef", ("ab",), [("group", "gone"), ("cluster", "gone")]),
    ],
)
def test_a_community_lives_on_without_its_centre_until_its_last_entry_goes(
    more, less, groups, changed
):
    _, was, now, made = with_more(more, less)
    assert world.parted(made.groups, now) == set(map(frozenset, groups))
    assert changes(made) == changed
    if changed:
        assert made.groups.changes.old.tolist() == [1]
    else:
        assert set(made.groups.ids) == set(was.groups.ids)


@pytest.mark.parametrize("detectors", DETECTORS)
def test_extending_moves_no_entry_changes_no_id_and_twice_is_once(detectors):
    n_joined = n_new = 0
    for seed in range(10):
        entries = world.random_entries(seed)
        known, new = np.arange(35), np.arange(35, 60)
        then = world.rows_of(entries, known)
        was = recluster(then, PriorClustering.empty(then), DETECTORS[detectors], world.TAU)
        made = extend(entries, world.prior(was, then, entries), DETECTORS[detectors], world.TAU)
        for old, now in ((was.groups, made.groups), (was.clusters, made.clusters)):
            is_in = world.names(now, entries)
            for entry_id, name in world.names(old, then).items():
                assert name is None or is_in[entry_id] == name
            assert set(old.ids) <= set(now.ids)
            n_new += len(now.ids) - len(old.ids)
            n_joined += sum(is_in[entries.ids[row]] in old.ids for row in new)
        twice = extend(
            entries, world.prior(made, entries, entries), DETECTORS[detectors], world.TAU
        )
        assert same(made, twice, entries) and changes(twice) == []
        # Nobody who is left over is within tau of a centre.
        left = made.groups.membership.community < 0
        near = entries.categories[left] @ made.groups.categories.T
        assert detectors == "density" or near.max() < world.TAU
    assert n_joined > 20 and n_new > 5


def reclustered(was: Clustering, then: Entries, now: Entries, tau: float = world.TAU) -> Clustering:
    return recluster(now, world.prior(was, then, now), world.by_threshold(tau), tau)


def test_what_is_kept_has_its_name_though_its_centre_and_entries_are_others():
    then = world.of_angles({"a": (0, 0), "b": (30, 30)})
    now = world.of_angles({"a": (0, 0), "b": (30, 30), "c": (60, 60)})
    was = clustered(then)
    made = reclustered(was, then, now)
    assert made.groups.ids == was.groups.ids and made.clusters.ids == was.clusters.ids
    # a was the first of two; b reaches all three.
    assert (was.groups.centres.tolist(), made.groups.centres.tolist()) == ([0], [1])
    assert changes(made) == [("group", "kept"), ("cluster", "kept")]


def test_a_part_that_is_not_the_old_one_does_not_get_its_name_though_it_has_its_centre():
    # At 41 degrees a reaches all four, at 5 only b: of two halves, neither is the old one.
    entries = world.of_angles({"a": (0, 0), "b": (3, 0), "x": (30, 0), "y": (33, 0)})
    was = clustered(entries)
    made = reclustered(was, entries, entries, tau=np.cos(np.radians(5)))
    assert world.parted(made.groups, entries) == {frozenset("ab"), frozenset("xy")}
    assert was.groups.centres[0] == made.groups.centres[0] == 0
    assert not set(was.groups.ids) & set(made.groups.ids)
    assert [each for each in changes(made) if each[0] == "group"] == [("group", "split")] * 2
    # And now they are called so for good.
    again = reclustered(made, entries, entries, tau=np.cos(np.radians(5)))
    assert again.groups.ids == made.groups.ids


NOBODY = "."


def difference(before: str, after: str) -> set[str]:
    """Changes (change, old, new, in common) for entries whose communities are letters.

    `.`: in none; a blank: not there. Old communities are capital letters, new ones small.
    """
    old, new = sorted(set(before) - {NOBODY, " "}), sorted(set(after) - {NOBODY, " "})
    stay = [place for place, letter in enumerate(after) if letter != " "]
    rows = compare_communities(
        np.array([old.index(before[i]) if before[i] in old else -1 for i in stay], dtype=int),
        np.array([new.index(after[i]) if after[i] in new else -1 for i in stay], dtype=int),
        np.array([before[i] != " " for i in stay], dtype=bool),
        len(old),
        len(new),
    )
    return {
        f"{CHANGES[change]} {[*old, '-'][one]} {[*new, '-'][other]} {common}"
        for one, other, change, common in zip(
            rows.old, rows.new, rows.change, rows.n_common, strict=True
        )
    }


CASES = {
    "the same is kept": ("AAABB", "aaabb", "kept A a 3, kept B b 2"),
    "what grew by new entries is kept": ("AA      ", "aaaaaaaa", "kept A a 2"),
    "what lost entries that went is kept": ("AAAAAA", "aa    ", "kept A a 2"),
    "more than half goes on, the rest split off": ("AAAAA", "aaabb", "kept A a 3, split A b 2"),
    "of two halves neither is the old one": ("AAAA", "aabb", "split A a 2, split A b 2"),
    "nor is any of three parts": ("AAAAA", "aabbc", "split A a 2, split A b 2, split A c 1"),
    "the larger goes on when another joins it": ("AAABB", "aaaaa", "kept A a 3, merged B a 2"),
    "of two equal ones neither goes on": ("AABB", "aaaa", "merged A a 2, merged B a 2"),
    "who were in none are a new one": ("AA...  ", "aabbbbb", "kept A a 2, new - b 0"),
    "who are in none now have left theirs": ("AABBB", "aa...", "kept A a 2, gone B - 0"),
    "what fell apart is gone": ("AAAA", "ab..", "split A a 1, split A b 1"),
    "two that exchange their halves are gone, and both new": (
        *("AAAABBBB", "aabbaabb", "gone A - 0, gone B - 0, new - a 0, new - b 0"),
    ),
    "one with as many who were in none is not the old one": ("AA..", "aaaa", "merged A a 2"),
    "nothing before": ("    ", "aabb", "new - a 0, new - b 0"),
    "nothing at all": ("", "", ""),
}
"""Entries before and after, and the changes."""


@pytest.mark.parametrize("case", CASES)
def test_changes(case):
    before, after, expected = CASES[case]
    assert difference(before, after) == set(filter(None, expected.split(", ")))
