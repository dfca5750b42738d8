"""Connected components: things that are linked, directly or through others."""

from collections.abc import Hashable, Iterable
from typing import TypeVar

import numpy as np

Thing = TypeVar("Thing", bound=Hashable)


def components(links: Iterable[tuple[Thing, Thing]]) -> dict[Thing, int]:
    """Number the connected components of linked things; returns the number of each thing."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    row_of: dict[Thing, int] = {}
    rows = [[row_of.setdefault(thing, len(row_of)) for thing in link] for link in links]
    if not rows:
        return {}
    first, second = np.array(rows).T
    graph = coo_array((np.ones(len(rows)), (first, second)), shape=(len(row_of), len(row_of)))
    _, component = connected_components(graph, directed=False)
    return dict(zip(row_of, component.tolist(), strict=True))
