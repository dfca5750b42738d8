"""Candidate images for questions of each task (AlignMMBench, 3.2 and A.6.1)."""

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
    """An entry: its image by SHA-256, and the texts that are searched for keywords."""

    entry_id: str
    image_id: str
    texts: tuple[str, ...]


class TaskImage(NamedTuple):
    """An image for a task, with the keywords that were found in its texts and in the image itself."""

    task: str
    entry_id: str
    image_id: str
    keywords: tuple[str, ...]
    seen: tuple[str, ...] = ()


class DroppedEntry(NamedTuple):
    """An entry that is not a candidate: the reason, and the duplicate that is kept instead, if any."""

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
    keywords_of_image: Seen = MappingProxyType({}),
) -> TaskImageSelection:
    """Select the candidates of each task of `keywords`. Every entry is a candidate or is removed.

    Args:
        entries: The entries to search.
        keywords: The keywords of each task, which an entry has to contain.
        groups: The group of each image that has near-duplicates, by image id. The image of the entry
            with the smallest id stays in each group; none stays if one of the group is `excluded`.
        excluded: Ids of images that no candidate may have.
        keywords_of_image: The keywords of each task that an image shows, by image id; empty if no model
            looked at the images.
    """
    excluded_images = set(excluded)
    known_groups = {groups[image_id] for image_id in excluded_images if image_id in groups}
    of_image: dict[str, str] = {}
    of_group: dict[str, str] = {}
    candidates_left, removed = [], []
    for entry in sorted(entries, key=lambda entry: entry.entry_id):
        matched = {task: found_keywords(entry.texts, words) for task, words in keywords.items()}
        shown = keywords_of_image.get(entry.image_id, {})
        group = groups.get(entry.image_id, entry.image_id)
        reason, instead = None, None
        if not any(matched.values()) and not any(shown.values()):
            reason = NO_KEYWORD
        elif entry.image_id in excluded_images:
            reason = EXCLUDED
        elif group in known_groups:
            reason = NEAR_EXCLUDED
        elif entry.image_id in of_image:
            reason, instead = EXACT, of_image[entry.image_id]
        elif group in of_group:
            reason, instead = NEAR, of_group[group]
        if reason:
            removed.append(DroppedEntry(entry.entry_id, entry.image_id, reason, instead))
            continue
        of_image[entry.image_id] = of_group[group] = entry.entry_id
        candidates_left += [
            TaskImage(task, entry.entry_id, entry.image_id, words, shown.get(task, ()))
            for task, words in matched.items()
            if words or shown.get(task)
        ]
    candidates_left.sort(key=lambda candidate: (candidate.task, candidate.entry_id))
    return TaskImageSelection(candidates_left, removed)


def sample_candidates(
    candidates: Sequence[TaskImage], tasks: Sequence[str], n: int, seed: int
) -> list[TaskImage]:
    """Sample candidates of tasks, each at most once.

    Tasks take turns in an order by seed. Each takes, in its own order, the next image among those that
    were used least, so that images differ as long as possible. A larger `n` continues the list of a
    smaller one.

    Args:
        candidates: The candidates of all tasks.
        tasks: The tasks to sample for.
        n: The number of candidates; fewer if there are not as many.
        seed: The seed of the orders.
    """
    turns = sorted(tasks, key=partial(content_id, "task", seed))
    queues: dict[str, list[TaskImage]] = {task: [] for task in turns}
    for candidate in candidates:
        if candidate.task in queues:
            queues[candidate.task].append(candidate)
    for task, own in queues.items():
        own.sort(key=lambda candidate: content_id("candidate", seed, task, candidate.image_id))
    uses = {candidate.image_id: 0 for own in queues.values() for candidate in own}
    sample: list[TaskImage] = []
    while len(sample) < n and any(queues.values()):
        for task in [task for task in turns if queues[task]][: n - len(sample)]:
            chosen = min(queues[task], key=lambda candidate: uses[candidate.image_id])
            queues[task].remove(chosen)
            uses[chosen.image_id] += 1
            sample.append(chosen)
    return sample
