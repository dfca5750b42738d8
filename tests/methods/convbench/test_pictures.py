"""Which pictures are drawn."""

from hypothesis import given
from hypothesis import strategies as st

from methods.convbench.drafting import EntryImage, sample_entries

ENTRIES = [EntryImage(f"e{n}", f"i{n}", f"g{n // 2}") for n in range(20)]


def test_of_pictures_that_look_alike_the_first_entry_is_drawn() -> None:
    found = sample_entries(ENTRIES, 99, 0)
    assert sorted(each.entry_id for each in found) == sorted(f"e{n}" for n in range(0, 20, 2))
    assert set(found[:4]) != set(sample_entries(ENTRIES, 4, 1))


@given(st.permutations(ENTRIES), st.integers(0, 9), st.integers(0, 3))
def test_asking_for_more_keeps_what_there_is_in_any_order(entries, n, seed):
    assert sample_entries(entries, n, seed) == sample_entries(ENTRIES, n + 1, seed)[:n]
