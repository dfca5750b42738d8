"""The train/test split of a critic's pairs (AlignMMBench, 4.1).

The paper takes 90% of each category for training. Sampling single pairs would put wordings of one
question into both splits.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from extras.critic.methods.contamination import (
    PairQuestion,
    near_duplicate_questions,
    plain_question,
)
from methods.components import components
from methods.ids import content_id

Split = Literal["train", "test", "external"]
"""For training, for testing, and the external test: models whose answers are only for testing (4.1)."""


class UnsplitPair(NamedTuple):
    """A pair to be put in a split. `before` is the split that it was in earlier, if any."""

    pair_question: PairQuestion
    stratum: str
    before: Split | None = None


class SplitAssignment(NamedTuple):
    """The split of a pair. `block` names the pairs connected with it: the first of their groups."""

    block: str
    split: Split


def assign_splits(
    units: Sequence[UnsplitPair], test_share: float, seed: int
) -> list[SplitAssignment]:
    """Assign units to the training or the test split; connected units, a block, are in one split.

    In each stratum the test split gets blocks in the order of a hash while they fit into its rounded
    share, and at least one block if two are free. A block belongs to the stratum of most of its units.
    A unit keeps its split. If new units connect the training and the test split, their block is for
    training from then on, as a critic that was trained on a part of it has seen it.

    Args:
        units: The units.
        test_share: The share of the test split.
        seed: The seed of the hash.
    """
    if not units:
        return []
    names = _blocks(units)
    members: dict[str, list[UnsplitPair]] = defaultdict(list)
    for name, unit in zip(names, units, strict=True):
        members[name].append(unit)
    strata: dict[str, list[str]] = defaultdict(list)
    for name, block in members.items():
        counts = Counter(unit.stratum for unit in block)
        strata[min(counts, key=lambda stratum: (-counts[stratum], stratum))].append(name)
    sizes = {name: len(block) for name, block in members.items()}
    splits: dict[str, Split] = {}
    for blocks in strata.values():
        before = {name: _split_before(members[name]) for name in blocks}
        splits |= _splits(blocks, sizes, before, test_share, seed)
    return [SplitAssignment(name, splits[name]) for name in names]


def _splits(
    blocks: Sequence[str],
    sizes: Mapping[str, int],
    before: Mapping[str, Split | None],
    test_share: float,
    seed: int,
) -> dict[str, Split]:
    """Assign the blocks of one stratum to splits."""
    splits: dict[str, Split] = {
        name: split for name in blocks if (split := before[name]) is not None
    }
    free = sorted(
        (name for name in blocks if name not in splits), key=lambda n: content_id(seed, n)
    )
    n_test = sum(sizes[name] for name, split in splits.items() if split == "test")
    n_wanted = max(1, round(test_share * sum(sizes[name] for name in blocks)))
    for name in free:
        fits = n_test + sizes[name] <= n_wanted
        splits[name] = "test" if fits else "train"
        n_test += sizes[name] if fits else 0
    if not n_test and len(free) > 1:
        # Every block is larger than the test share.
        splits[min(free, key=lambda name: sizes[name])] = "test"
    return splits


def _split_before(units: Sequence[UnsplitPair]) -> Split | None:
    splits = {unit.before for unit in units}
    return "train" if "train" in splits else "test" if "test" in splits else None


def _blocks(units: Sequence[UnsplitPair]) -> list[str]:
    """Find the block of each unit, named after the first of its connected groups.

    Units are connected by group, image, and the same or nearly the same question.
    """
    questions = sorted({plain_question(unit.pair_question.question) for unit in units})
    links = [
        (("question", questions[first]), ("question", questions[other]))
        for first, other in near_duplicate_questions(questions, questions)
    ]
    for unit in units:
        group = ("group", unit.pair_question.group)
        links.append((group, ("question", plain_question(unit.pair_question.question))))
        links += [(group, ("image", image)) for image in unit.pair_question.images]
    component = components(links)
    of_units = [component["group", unit.pair_question.group] for unit in units]
    names: dict[int, str] = {}
    for number, unit in zip(of_units, units, strict=True):
        names[number] = min(names.get(number, unit.pair_question.group), unit.pair_question.group)
    return [names[number] for number in of_units]
