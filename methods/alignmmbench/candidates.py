"""Pictures that questions of each task may be written about (AlignMMBench, 3.2 and A.6.1)."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from methods.alignmmbench.tasks import Seen, found_keywords
from methods.ids import content_id

NO_KEYWORD = "no_keyword"
EXCLUDED, NEAR_EXCLUDED = "excluded", "near_excluded"
EXACT, NEAR = "exact_duplicate", "near_duplicate"


class SearchableEntry(NamedTuple):
    """An entry: its picture as SHA-256, and the texts that keywords are looked for in."""

    entry_id: str
    image_id: str
    texts: tuple[str, ...]


class TaskImage(NamedTuple):
    """A picture for a task, and the keywords that it was found by: in its texts, and in itself."""

    task: str
    entry_id: str
    image_id: str
    keywords: tuple[str, ...]
    seen: tuple[str, ...] = ()


class DroppedEntry(NamedTuple):
    """An entry that is no candidate: why, and the picture that stands in its place, if one does."""

    entry_id: str
    image_id: str
    reason: str
    instead: str | None = None


class TaskImageSelection(NamedTuple):
    """Candidates in order of task and entry, and every other entry with its reason."""

    candidates: list[TaskImage]
    removed: list[DroppedEntry]


def candidates(
    entries: Sequence[SearchableEntry],
    keywords: Mapping[str, Sequence[str]],
    groups: Mapping[str, str],
    excluded: Collection[str],
    seen: Seen = MappingProxyType({}),
) -> TaskImageSelection:
    """The candidates of each task of `keywords`; an entry is a candidate or is removed, never both.

    `seen` has the keywords of each task that a picture shows, where pictures were looked at.
    `groups` has the group of each picture that has near-duplicates; of a group one picture stays, that
    of the entry with the smallest id, and none where one of the group is `excluded`.
    """
    known = set(excluded)
    known_groups = {groups[image_id] for image_id in known if image_id in groups}
    images: set[str] = set()
    of_group: dict[str, str] = {}
    kept, removed = [], []
    for entry in sorted(entries, key=lambda entry: entry.entry_id):
        matched = {task: found_keywords(entry.texts, words) for task, words in keywords.items()}
        shown = seen.get(entry.image_id, {})
        group = groups.get(entry.image_id, entry.image_id)
        reason, instead = None, None
        if not any(matched.values()) and not any(shown.values()):
            reason = NO_KEYWORD
        elif entry.image_id in known:
            reason = EXCLUDED
        elif group in known_groups:
            reason = NEAR_EXCLUDED
        elif entry.image_id in images:
            reason, instead = EXACT, entry.image_id
        elif group in of_group:
            reason, instead = NEAR, of_group[group]
        if reason:
            removed.append(DroppedEntry(entry.entry_id, entry.image_id, reason, instead))
            continue
        images.add(entry.image_id)
        of_group[group] = entry.image_id
        kept += [
            TaskImage(task, entry.entry_id, entry.image_id, words, shown.get(task, ()))
            for task, words in matched.items()
            if words or shown.get(task)
        ]
    kept.sort(key=lambda candidate: (candidate.task, candidate.entry_id))
    return TaskImageSelection(kept, removed)


def drawn(
    candidates: Sequence[TaskImage], tasks: Sequence[str], n: int, seed: int
) -> list[TaskImage]:
    """`n` candidates of `tasks`, none twice; fewer where there are no more.

    Tasks take turns in an order by seed; one without a candidate left is passed over. Each takes, in an
    order of its own, the next picture that was taken least, so that pictures differ as long as they
    can. Asking for more keeps what there is.
    """
    turns = sorted(tasks, key=partial(content_id, "task", seed))
    left: dict[str, list[TaskImage]] = {task: [] for task in turns}
    for candidate in candidates:
        if candidate.task in left:
            left[candidate.task].append(candidate)
    for task, own in left.items():
        own.sort(key=lambda candidate: content_id("candidate", seed, task, candidate.image_id))
    uses = {candidate.image_id: 0 for own in left.values() for candidate in own}
    taken: list[TaskImage] = []
    while len(taken) < n and any(left.values()):
        for task in [task for task in turns if left[task]][: n - len(taken)]:
            chosen = min(left[task], key=lambda candidate: uses[candidate.image_id])
            left[task].remove(chosen)
            uses[chosen.image_id] += 1
            taken.append(chosen)
    return taken
