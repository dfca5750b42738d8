"""All sets of one kind, from all clusters at once.

What belongs here: which sets drawn before stay, and which cluster serves which size. What is free in a
cluster, and which members form a set, is `stock.py`; how many of which size, `sizes.py`.
"""

import heapq
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from methods.image_sets.counts import SizeCount, size_counts
from methods.image_sets.sizes import Packing, apportion, seats
from methods.image_sets.stock import Stock
from methods.image_sets.wishes import Cluster, ImageSet, Member, Wish, image_set

Drawn = tuple[str, str]
"""Entry and image of one place in a set that was drawn before."""


@dataclass(frozen=True)
class Drawing:
    """The sets of one kind by their ids, how many of them are as drawn before, and the reckoning."""

    sets: list[ImageSet]
    n_kept: int
    counts: list[SizeCount]


def draw_sets(
    clusters: Sequence[Cluster], wish: Wish, before: Sequence[Sequence[Drawn]] = ()
) -> Drawing:
    """Sets of one kind: those drawn `before`, in their order, that still hold, and new ones.

    A set holds if its entries are all in one cluster still and the wish allows it; nothing moves it
    then. An entry that has gone, since its text has changed, is stood in for by the one that has its
    image now. New sets are drawn of what is free, so neither entries that come later nor a changed text
    touch any other set.

    Sizes are allotted so that all sets together come as near to the wanted shares as the clusters
    allow: first how many of each; then the largest first, each to a cluster where it leaves the fewest
    entries over, of these to one with the fewest sets, of these to that with the most room. Without
    sets before, all follows from seed and content, in whatever order it comes.
    """
    kept = _kept_sets(clusters, wish, before)
    kept_of: dict[str, list[tuple[Member, ...]]] = {}
    for each in kept:
        kept_of.setdefault(each.cluster_id, []).append(each.members)
    stocks = [Stock(cluster, wish, kept_of.get(cluster.cluster_id, ())) for cluster in clusters]
    stocks.sort(key=lambda stock: stock.key)
    sets = list(kept)
    while wish.n_sets is None or len(sets) < wish.n_sets:
        weights = {
            size: weight
            for size, weight in wish.weights.items()
            if any(stock.fits(size) for stock in stocks)
        }
        if not weights:
            break
        sets += _round(stocks, wish, weights, sets)
    made = Counter(len(each.members) for each in sets)
    sets.sort(key=lambda each: each.set_id)
    as_before = {tuple(entry_id for entry_id, _ in drawn) for drawn in before}
    n_kept = sum(tuple(member.entry_id for member in each.members) in as_before for each in kept)
    return Drawing(sets, n_kept, size_counts(clusters, wish, made))


def _kept_sets(
    clusters: Sequence[Cluster], wish: Wish, before: Sequence[Sequence[Drawn]]
) -> list[ImageSet]:
    """Sets drawn before that still hold, mended where entries have gone; no more than are wanted."""
    home = {
        member.entry_id: (cluster, member) for cluster in clusters for member in cluster.members
    }
    with_image: dict[tuple[str, str], list[Member]] = {}
    for cluster, member in home.values():
        with_image.setdefault((cluster.cluster_id, member.image_id), []).append(member)
    uses: Counter[str] = Counter()
    kept: dict[frozenset[str], ImageSet] = {}

    def gone(drawn: Sequence[Drawn]) -> bool:
        return any(entry_id not in home for entry_id, _ in drawn)

    # What stands as it is comes before what has to be mended.
    for drawn in sorted(before, key=lambda drawn: (gone(drawn), list(drawn))):
        found = [home[entry_id] for entry_id, _ in drawn if entry_id in home]
        if len({cluster.cluster_id for cluster, _ in found}) != 1:
            continue
        cluster = found[0][0]
        members = []
        for entry_id, image_id in drawn:
            if entry_id in home:
                members.append(home[entry_id][1])
            else:
                alike = with_image.get((cluster.cluster_id, image_id), [])
                free = [member for member in alike if uses[member.entry_id] < wish.max_uses]
                members += sorted(free, key=lambda member: member.entry_id)[:1]
        unused = all(uses[member.entry_id] < wish.max_uses for member in members)
        entry_ids = frozenset(member.entry_id for member in members)
        whole = len(members) == len(drawn) and entry_ids not in kept
        if whole and unused and wish.may_form_a_set(members):
            uses.update(entry_ids)
            kept[entry_ids] = image_set(wish.kind, cluster.cluster_id, members)
    return _nearest_to_shares(list(kept.values()), wish)


def _nearest_to_shares(kept: list[ImageSet], wish: Wish) -> list[ImageSet]:
    """As many of the sets as are wanted, those whose size has its share of them first."""
    if wish.n_sets is None or len(kept) <= wish.n_sets:
        return kept
    shares = apportion(wish.weights, wish.n_sets)
    within: list[ImageSet] = []
    beyond: list[ImageSet] = []
    for each in kept:
        shares[len(each.members)] -= 1
        (beyond if shares[len(each.members)] < 0 else within).append(each)
    return (within + beyond)[: wish.n_sets]


def _round(
    stocks: Sequence[Stock], wish: Wish, weights: Mapping[int, float], sets: Sequence[ImageSet]
) -> list[ImageSet]:
    """More sets of the sizes in `weights`, as many as there seems to be room for.

    What seems to be is an estimate where pages repeat, so there may be room for another round. At
    least one set is drawn, or found to be one already.
    """
    packings = {least: Packing([s for s in weights if s >= least]) for least in weights}
    free = [stock.room(_mean(weights, stock.largest)) for stock in stocks]
    room = {
        size: sum(
            packing.used(entries)
            for stock, entries in zip(stocks, free, strict=True)
            if stock.fits(size)
        )
        for size, packing in packings.items()
    }
    left = None if wish.n_sets is None else wish.n_sets - len(sets)
    made = Counter(len(each.members) for each in sets)
    wanted = seats(weights, made, left, room)
    left_over = packings[min(weights)].left_over

    def preference(place: int, size: int) -> tuple[int, int, int, int]:
        lost = left_over(max(0, free[place] - size)) - left_over(free[place])
        return lost, stocks[place].n_sets, -free[place], place

    new = []
    for size in sorted(wanted, reverse=True):
        line = [preference(place, size) for place, stock in enumerate(stocks) if stock.fits(size)]
        heapq.heapify(line)
        for _ in range(wanted[size]):
            members = None
            while line and members is None:
                *_, place = heapq.heappop(line)
                members = stocks[place].draw(size)
            if members is None:
                break
            new.append(image_set(wish.kind, stocks[place].cluster_id, members))
            free[place] = max(0, free[place] - size)
            if stocks[place].fits(size):
                heapq.heappush(line, preference(place, size))
    return new


def _mean(weights: Mapping[int, float], largest: int) -> float:
    """Mean size of sets of at most `largest` images; 1 where there is none."""
    fitting = {size: weight for size, weight in weights.items() if size <= largest}
    total = sum(fitting.values())
    return sum(size * weight for size, weight in fitting.items()) / total if total else 1.0
