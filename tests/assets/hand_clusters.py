"""A clustering made by hand, in a plane, so that every figure about it can be worked out on paper.

    a1 (1, 0) is the centre of A, with a2 (.8, .6) and a3 (.96, .28): cosines .8 and .96
    b1 (.8, -.6) is the centre of B, with b2 (.96, -.28): cosine .768 + .168 = .936
    c1 (-1, 0) is the centre of C, with c2 (-.8, .6): cosine .8
    d1 (0, 1) is in the group of A and C, but in no cluster; e1 (0, -1) is in no group

These are captions; categories are (1, 0) for A, C and d1, (0, 1) for B, and (-1, 0) for e1.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

from resources.warehouse import Warehouse
from tests.assets.filled import filled, put

MODEL = "by-hand"
TAU = 0.75
CAPTIONS = {
    "a1": (1.0, 0.0),
    "a2": (0.8, 0.6),
    "a3": (0.96, 0.28),
    "b1": (0.8, -0.6),
    "b2": (0.96, -0.28),
    "c1": (-1.0, 0.0),
    "c2": (-0.8, 0.6),
    "d1": (0.0, 1.0),
    "e1": (0.0, -1.0),
}
SIMILARITY = {"a1": 1.0, "a2": 0.8, "a3": 0.96, "b1": 1.0, "b2": 0.936, "c1": 1.0, "c2": 0.8}
GROUP_OF = {"a": "warm", "c": "warm", "d": "warm", "b": "cold"}
CENTRE_OF_GROUP = {"warm": "a1", "cold": "b1"}
CATEGORIES = {"warm": (1.0, 0.0), "cold": (0.0, 1.0), None: (-1.0, 0.0)}

Row = dict[str, Any]


def text_id(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def category_of(entry_id: str) -> str:
    return f"Things called {GROUP_OF.get(entry_id[0])}"


def entry(entry_id: str, **changed: Any) -> Row:
    texts = {"title": f"Title of {entry_id}", "caption": f"Caption of {entry_id}"}
    of_page = {"page_id": f"page-{entry_id}", "image_id": f"image-{entry_id}", "language": "en"}
    row = {"entry_id": entry_id, "categories": [category_of(entry_id)], **texts, **of_page}
    return filled("ingest.entries", {**row, **changed})


def place(entry_id: str, **changed: Any) -> Row:
    letter = entry_id[0]
    group = GROUP_OF.get(letter)
    clustered = entry_id in SIMILARITY
    return {
        "entry_id": entry_id,
        "category_text_id": text_id(category_of(entry_id)),
        "caption_text_id": text_id(f"Caption of {entry_id}"),
        "group_id": group,
        "group_how": "seed" if group else "no neighbour",
        "group_centre": CENTRE_OF_GROUP[group] if group else None,
        "group_similarity": 1.0 if group else None,
        "cluster_id": letter.upper() if clustered else None,
        "cluster_how": ("seed" if clustered else "no neighbour") if group else None,
        "cluster_centre": f"{letter}1" if clustered else None,
        "cluster_similarity": SIMILARITY.get(entry_id),
        **changed,
    }


def community(community_id: str, kind: str, centre: str, **changed: Any) -> Row:
    found_by = {"model": MODEL, "tau": TAU, "min_size": 2}
    methods = {"group_method": "threshold", "cluster_method": "threshold"}
    return {
        **found_by,
        **methods,
        "community_id": community_id,
        "kind": kind,
        "group_id": GROUP_OF[centre[0]] if kind == "cluster" else None,
        "centre_entry_id": centre,
        "category_text_id": text_id(category_of(centre)),
        "caption_text_id": text_id(f"Caption of {centre}"),
        "n_members": 2,
        "place": (*CENTRE_OF_GROUP, *"ABC").index(community_id) + 1,
        **changed,
    }


def vector(text: str, numbers: tuple[float, ...]) -> Row:
    return {"text_id": text_id(text), "model": MODEL, "text": text, "vector": list(numbers)}


def clustered_by_hand(
    warehouse: Warehouse,
    places: Mapping[str, Row] | None = None,
    clusters: Mapping[str, Row] | None = None,
    entries: Mapping[str, Row] | None = None,
) -> Warehouse:
    """Fill the warehouse with it, with changes to some rows by entry or cluster."""
    vectors = [vector(f"Caption of {each}", numbers) for each, numbers in CAPTIONS.items()]
    vectors += [vector(f"Things called {name}", of) for name, of in CATEGORIES.items()]
    # What another model made of the same texts is no matter of this clustering.
    vectors += [{**each, "model": "another", "vector": [0.0, 1.0]} for each in vectors]
    communities = [community(group, "group", at) for group, at in CENTRE_OF_GROUP.items()]
    communities += [
        community(each, "cluster", f"{each.lower()}1", **(clusters or {}).get(each, {}))
        for each in "ABC"
    ]
    put(
        warehouse,
        {
            "ingest.entries": [entry(each, **(entries or {}).get(each, {})) for each in CAPTIONS],
            "cluster.embeddings": vectors,
            "cluster.communities": communities,
            "cluster.clusters": [place(each, **(places or {}).get(each, {})) for each in CAPTIONS],
        },
    )
    return warehouse
