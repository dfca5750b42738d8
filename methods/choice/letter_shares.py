"""Letter shares (selection bias): letters that a model names and the right ones (MMBench, Figure 4).

    share of a letter = answers that name it / questions that were asked
    total variation   = 1/2 sum over letters | p(l) - q(l) |

p(l) is the share of letter l among the named letters, q(l) its share among the keys of the same
questions. Answers that name no choice (Z), or that could not be read, count in the shares and not in
the distance. The paper counts all circular passes. Later passes are only run for questions that were
right so far, so their letters follow the keys: there are shares of the first pass, and of all passes.

The interval resamples clusters of questions. A distance is never below 0 and grows by chance, so the
test is a different one, by permutation: if a model prefers no letter, the named and the right letters
of a cluster c may be swapped,

    T(z) = sum_l | sum_c z_c d_lc |,  z_c in {-1, +1},  d_lc = times named minus times right in c

and p is the share of all sign vectors z with T(z) >= T(1), or (1 + number) / (1 + drawn) if signs are
drawn at random. The test is exact if the differences of a cluster are as likely with the opposite sign.
Sources: Fisher (1935), The Design of Experiments, section 21; Phipson and Smyth (2010), Permutation
p-values should never be zero.
"""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from methods.choice.alphabet import LETTERS, NO_CHOICE
from methods.choice.lettered import SHIFT, key_of, letter_in, shifted
from methods.evaluation.items import Item
from methods.evaluation.statistics.bootstrap import (
    Floats,
    chunk_sizes,
    percentile_estimates,
    ratio,
    resampled_sums,
)
from methods.evaluation.statistics.comparisons import holm
from methods.evaluation.statistics.estimates import Estimate


def random_letter(item: Item, trial: str, seed: int) -> str:
    """Choose a letter of one of the item's choices, by seed.

    Args:
        item: The item.
        trial: The pass; each pass has its own letter.
        seed: The seed.

    Returns:
        The letter, the same for the same arguments.
    """
    return random.Random(f"{seed} {item.item_id} {trial}").choice(LETTERS[: len(item.choices)])


def keys_of(items: Sequence[Item]) -> Counter[str]:
    """Count how often each letter is the right one; held-out keys are not counted."""
    return Counter(key for item in items if (key := key_of(item)))


def most_frequent_letters(items: Sequence[Item], label: str | None) -> Mapping[str, str]:
    """Find the most frequent right letter for each item; of several, the first.

    Args:
        items: The items of the release.
        label: The label whose value an item shares with the items that are counted; None to count all
            items.

    Returns:
        The letter by item id, without items for which no key is known.
    """
    among: dict[str, list[Item]] = {}
    for item in items:
        among.setdefault(item.labels.get(label, "") if label else "", []).append(item)
    letters: dict[str, str] = {}
    for group in among.values():
        keys = keys_of(group)
        if keys:
            most_frequent = min(keys, key=lambda letter: (-keys[letter], letter))
            letters |= {item.item_id: most_frequent for item in group}
    return letters


NOTHING_READ = "none"
"""Replaces a letter if a model gave no text, or if its text could not be read."""
MOST_ENUMERATED = 12
"""With at most this many clusters the test tries all sign vectors: 4,096 at most."""
N_RESAMPLES = 2_000
"""With this many draws, the ends of an interval are accurate to a tenth of its width."""

Readings = Mapping[str, str | None]
"""The letters extracted from one model's answers in the first pass: item -> letter, Z, or None."""


class LetterShares(NamedTuple):
    """One model's letters: how many answers name each, and how far they are from the keys.

    `compared` is the number of questions with a key whose answer names a choice; `p_holm` is adjusted
    for all models. Distance and p are None if there are no such questions.
    """

    counts: Mapping[str, int]
    compared: int
    distance: Estimate
    p: float | None
    p_holm: float | None


def letters_offered(items: Sequence[Item]) -> str:
    """The letters of the question with the most choices."""
    return LETTERS[: max((len(item.choices) for item in items), default=0)]


def letter_shares(
    items: Sequence[Item],
    readings: Mapping[str, Readings],
    *,
    seed: int,
    n_resamples: int = N_RESAMPLES,
) -> dict[str, LetterShares]:
    """Compare how often each model names each letter with how often it is right.

    Args:
        items: The items of the release.
        readings: The letters of each model.
        seed: The seed of the bootstrap and of the test.
        n_resamples: The number of bootstrap draws, and of sign flips of the test.

    Returns:
        For each model, the counts of letters, the distance to the right letters with its interval, p,
        and p adjusted by Holm over the models.
    """
    counts = {
        model: Counter(letter or NOTHING_READ for letter in letters.values())
        for model, letters in readings.items()
    }
    differences = _differences(items, list(readings.values()))
    distances = _distances(differences, seed=seed, n_resamples=n_resamples)
    p_values = _p_values(differences, seed=seed, n_flips=n_resamples)
    return {
        model: LetterShares(counts[model], compared, distance, p, p_holm)
        for model, compared, distance, p, p_holm in zip(
            readings,
            differences.sizes.sum(axis=1).astype(int).tolist(),
            distances,
            p_values,
            holm(p_values),
            strict=True,
        )
    }


def circular_passes(items: Sequence[Item]) -> list[Item]:
    """Make an item for each circular pass, `<item_id> shift-k`, with the letter that is right in it."""
    passes = []
    for item in items:
        n_choices, key = len(item.choices), key_of(item)
        for shift in range(n_choices):
            letter = letter_in(shifted(n_choices, shift), key) if key else None
            turn = replace(item.turns[0], references={"key": letter} if letter else {})
            name = f"{item.item_id} {SHIFT}{shift}"
            passes.append(replace(item, item_id=name, turns=(turn,), group_id=item.cluster))
    return passes


class _Differences(NamedTuple):
    """Times named minus times right (models x letters x clusters); questions (models x clusters)."""

    of_letters: Floats
    sizes: Floats


def _differences(items: Sequence[Item], readings: Sequence[Readings]) -> _Differences:
    keyed = [item for item in items if key_of(item)]
    clusters = {name: place for place, name in enumerate(dict.fromkeys(i.cluster for i in keyed))}
    of_letters = np.zeros((len(readings), len(LETTERS), len(clusters)))
    sizes = np.zeros((len(readings), len(clusters)))
    for row, of_model in enumerate(readings):
        for item in keyed:
            named, right = of_model.get(item.item_id), key_of(item)
            if named is None or named == NO_CHOICE or right is None:
                continue
            place = clusters[item.cluster]
            of_letters[row, LETTERS.index(named), place] += 1
            of_letters[row, LETTERS.index(right), place] -= 1
            sizes[row, place] += 1
    return _Differences(of_letters, sizes)


def _distances(differences: _Differences, *, seed: int, n_resamples: int) -> list[Estimate]:
    n_models, n_letters, n_clusters = differences.of_letters.shape
    if not n_models * n_clusters:
        return [Estimate(None, None, None)] * n_models
    values = ratio(
        np.abs(differences.of_letters.sum(axis=2)).sum(axis=1) / 2, differences.sizes.sum(axis=1)
    )
    stacked = np.concatenate([differences.of_letters.reshape(-1, n_clusters), differences.sizes])
    resampled = resampled_sums(stacked, seed=seed, n_resamples=n_resamples)
    apart = np.abs(resampled[:-n_models].reshape(n_models, n_letters, -1)).sum(axis=1) / 2
    return percentile_estimates(
        values, ratio(apart, resampled[-n_models:]), (differences.sizes > 0).sum(axis=1)
    )


def _p_values(differences: _Differences, *, seed: int, n_flips: int) -> list[float | None]:
    n_models, n_letters, n_clusters = differences.of_letters.shape
    if not n_models * n_clusters:
        return [None] * n_models
    rows = differences.of_letters.reshape(-1, n_clusters)
    observed = np.abs(differences.of_letters.sum(axis=2)).sum(axis=1)
    as_extreme = np.zeros(n_models)

    def count(signs: Floats) -> Floats:
        sums = np.abs(rows @ signs.T).reshape(n_models, n_letters, -1).sum(axis=1)
        # Counts are whole numbers, so rounding cannot change the comparison.
        return (sums >= observed[:, None]).sum(axis=1).astype(float)

    if n_clusters <= MOST_ENUMERATED:
        shares = count(_all_signs(n_clusters)) / 2**n_clusters
    else:
        # Use another random stream than the draws of clusters.
        generator = np.random.default_rng([seed, 1])
        for _, number in chunk_sizes(n_flips, n_clusters):
            as_extreme += count(
                np.where(generator.integers(0, 2, size=(number, n_clusters)), 1.0, -1.0)
            )
        shares = (as_extreme + 1) / (n_flips + 1)
    return [
        float(share) if size else None
        for share, size in zip(shares, differences.sizes.sum(axis=1), strict=True)
    ]


def _all_signs(n: int) -> Floats:
    """All rows of n signs: 2^n x n."""
    return np.where((np.arange(2**n)[:, None] >> np.arange(n)) & 1, 1.0, -1.0)
