"""Laws of sampling, on generated clusters and specifications."""

import itertools
import math
from collections import Counter
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from methods.image_sets import MAX_IMAGES, Member, SamplingSpec, sample_sets, size_weights
from tests.methods.image_sets.sampled import cluster, ids_of, sizes_of


def member_of(number: int, image: int, page: int) -> Member:
    # Images 2n and 2n + 1 look alike.
    return Member(
        f"e{number:03}",
        f"image {image}",
        f"page {page}",
        duplicate_group=f"duplicates {image // 2}",
    )


@st.composite
def corpora(draw):
    """Clusters in which pages and near-duplicates repeat."""
    numbers, found = itertools.count(), []
    for name in range(draw(st.integers(0, 4))):
        kinds = draw(st.lists(st.tuples(st.integers(0, 19), st.integers(0, 14)), max_size=25))
        members = [member_of(next(numbers), *kind) for kind in kinds]
        found.append(replace(cluster(members), cluster_id=f"c{name}"))
    return found


@st.composite
def specs(draw):
    kind = draw(st.sampled_from(["benchmark", "instruction"]))
    sizes = st.integers(2, MAX_IMAGES[kind])
    weights = draw(st.dictionaries(sizes, st.sampled_from([1, 2, 5]), min_size=1, max_size=4))
    return SamplingSpec(
        kind,
        size_weights(kind, weights),
        draw(st.none() | st.integers(0, 9)),
        draw(st.integers(1, 3)),
        draw(st.booleans()),
        draw(st.integers(0, 2)),
    )


@settings(max_examples=200, deadline=None)
@given(corpora(), specs())
def test_every_set_keeps_the_rules_and_every_missing_one_has_a_reason(found, of):
    sampled = sample_sets(found, of)
    home = {member.entry_id: each.cluster_id for each in found for member in each.members}
    for each in sampled.sets:
        assert len(each.members) in of.weights
        assert {home[member.entry_id] for member in each.members} == {each.cluster_id}
        for name in (
            "entry_id",
            "image_id",
            "duplicate_group",
            *([] if of.repeat_pages else ["page_id"]),
        ):
            assert len({getattr(member, name) for member in each.members}) == len(each.members)
    uses = Counter(entry for each in ids_of(sampled) for entry in each)
    assert max(uses.values(), default=0) <= of.max_uses
    assert len({frozenset(each) for each in ids_of(sampled)}) == len(sampled.sets)
    assert len(sampled.sets) <= (math.inf if of.n_sets is None else of.n_sets)
    made = Counter(sizes_of(sampled))
    for count in sampled.counts:
        assert count.made == made.pop(count.n_images, 0)
        assert sum(count.reasons.values()) == count.wanted - count.made
        assert all(
            n and (n < 0) == (why == "made in place of sizes that do not fit")
            for why, n in count.reasons.items()
        )
    assert not made
    wanted = sum(count.wanted for count in sampled.counts)
    assert wanted == (len(sampled.sets) if of.n_sets is None else of.n_sets)
