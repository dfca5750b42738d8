"""Review of multiple-choice items that item analysis or a filter flagged after their release.

The review id of a flagged item is a hash of its id and its released content. So a decision never
applies to another content.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from methods.choice.lettered import LETTERS, SHIFT, key_of, question_and_hint, with_hint
from methods.evaluation.items import Item
from methods.ids import content_id
from methods.review.decisions import POLICY_PREFIX, Decision, QueueItem
from methods.review.process import Rules, review_state
from methods.review.resolution import Resolution, ResolutionPolicy, resolve

FLAGGED = "flagged_item"
"""The kind of these items in the review queue."""
HINT, CONTEXT = "Hint", "Context"
"""The labels before a hint in the text of a turn, of MMBench and of MMIU."""
CATEGORIES = ("category", "task")
"""Labels that have the category of an item. The first one that the item has is used."""
UNCATEGORIZED = "none"
REVIEWED = ("text_only", "wrong_item", "negative_discrimination")
"""The flags that people review. Items that all models answer right are not reviewed, because that is no
mistake. Items that all models answer wrong have the flag `wrong_item`."""
SHOWN_MODELS, SHOWN_CHARACTERS = 12, 90

Row = Mapping[str, Any]


# --- The content to decide on ----------------------------------------------------------------------


def released_content(item: Item) -> dict[str, Any] | None:
    """Make the content that people decide on; None for an item without choices or right answer."""
    key = key_of(item)
    if not item.choices or key is None:
        return None
    question, hint = _apart(item.turns[0].question, len(item.image_ids))
    category = next((item.labels[name] for name in CATEGORIES if item.labels.get(name)), "")
    return {
        "image_ids": list(item.image_ids),
        "question": question,
        "hint": hint or None,
        "choices": dict(zip(LETTERS, item.choices, strict=False)),
        "answer": key,
        "category": category or UNCATEGORIZED,
    }


def as_released(content: Row) -> dict[str, Any]:
    """Convert an approved content of the kind `multiple_choice` to the columns of a release."""
    n_images = len(content["image_ids"])
    text = with_hint(content["question"], content["hint"] or "", HINT, n_images)
    question, hint = _apart(text, n_images)
    return {**content, "question": question, "hint": hint or None}


def _apart(text: str, n_images: int) -> tuple[str, str]:
    """Split the text of a turn into question and hint, with either of the two labels."""
    candidates = [question_and_hint(text, name, n_images) for name in (HINT, CONTEXT)]
    return next((candidate for candidate in candidates if candidate[1]), candidates[0])


def flagged_queue_item(item_id: str, content: Row) -> QueueItem:
    """Make the review item of a flagged item.

    Args:
        item_id: The id of the flagged item.
        content: Its content as released.

    Returns:
        The item of the review queue.
    """
    return QueueItem(
        item_id=content_id(FLAGGED, item_id, content),
        kind=FLAGGED,
        content=dict(content),
        content_hash=content_id(content),
        image_ids=list(content["image_ids"]),
    )


# --- What people read ------------------------------------------------------------------------------


def evidence(flags: Sequence[Row]) -> list[str]:
    """Write the evidence for reviewers: why an item is flagged, and what each model answered.

    A flag is a row with `flag`. Flags of a filter have `right_models`, `wrong_models`, `unknown_models`
    and `answers`; flags of item analysis have `n_models` and `discrimination`.
    """
    lines: list[str] = []
    for flag in flags:
        if flag["flag"] == "text_only":
            n_models = len(flag["right_models"]) + len(flag["wrong_models"])
            lines.append(
                f"Text-only: {len(flag['right_models'])} of {n_models} models have it right without "
                f"the picture{_named(flag)}."
            )
        elif flag["flag"] == "wrong_item":
            lines.append(f"Wrong item: none of {len(flag['wrong_models'])} models has it right.")
        else:
            lines.append(
                f"Negative discrimination, {flag['discrimination']:.2f} over {flag['n_models']} "
                "models: those that are better on the other items are more often wrong here."
            )
        answers = flag["answers"] or []
        lines += [_answered(answer) for answer in answers[:SHOWN_MODELS]]
        if len(answers) > SHOWN_MODELS:
            lines.append(f"{len(answers) - SHOWN_MODELS} more models answered.")
    trials = {
        reply["trial"]
        for flag in flags
        for model_answers in flag["answers"] or []
        for reply in model_answers["answers"]
    }
    if any(trial.startswith(SHIFT) for trial in trials - {f"{SHIFT}0"}):
        lines.append(f"Letters are those of each pass: in {SHIFT}1 the second choice is A.")
    return list(dict.fromkeys(lines))


def _named(flag: Row) -> str:
    groups = [
        (name, flag[f"{group}_models"])
        for name, group in (("right", "right"), ("wrong", "wrong"), ("not known", "unknown"))
    ]
    named = "; ".join(f"{name}: {', '.join(models)}" for name, models in groups if models)
    return f" ({named})" if named else ""


def _answered(flag: Row) -> str:
    passes = [
        f"{reply['trial']}: {_short(reply['answer'])}"
        + (f" (read as {reply['reading']})" if reply["reading"] else "")
        for reply in flag["answers"]
    ]
    return f"{flag['model']}, {flag['outcome']}. {'; '.join(passes) or 'No answer is there.'}"


def _short(answer: str | None) -> str:
    if answer is None:
        return "no answer"
    text = " ".join(answer.split())
    return f"“{text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + '…'}”"


# --- The effect of decisions -----------------------------------------------------------------------


def decision_in_words(
    item: QueueItem, decisions: Sequence[Decision], demanded: bool, rules: Rules
) -> Resolution | None:
    """Resolve the decisions of people on a flagged item.

    If the release requires human review of the item, the rules say when it is decided. Otherwise one
    person's decision is enough, as for the item's approval.

    Args:
        item: The item of the review queue.
        decisions: The decisions on it.
        demanded: Whether the release requires human review of the item.
        rules: The review rules.

    Returns:
        The resolution; None if nothing is decided.
    """
    resolved = _resolved_flag(item, decisions, demanded, rules)
    reviewers = tuple(name for name in resolved.reviewers if not name.startswith(POLICY_PREFIX))
    if not reviewers or resolved.status == "pending":
        return None
    return replace(resolved, reviewers=reviewers)


def _resolved_flag(
    item: QueueItem, decisions: Sequence[Decision], demanded: bool, rules: Rules
) -> Resolution:
    resolved = resolve(item, decisions, ResolutionPolicy("all" if demanded else "none"), rules)
    if resolved.status == "pending" and review_state(item, decisions, rules).is_rework:
        # The rejection stands until an expert has approved the rework.
        reasons = [decision.reason for decision in decisions if decision.verdict == "reject"]
        return replace(resolved, status="rejected", reason=reasons[-1])
    return resolved


def decision_of(item: QueueItem, resolution: Resolution | None) -> str:
    """Name the decision on a flagged item.

    Args:
        item: The item of the review queue.
        resolution: The resolved decisions; None if nothing is decided.

    Returns:
        `keep`, `edit`, `reject` or `pending`.
    """
    if resolution is None:
        return "pending"
    if resolution.status == "rejected":
        return "reject"
    return "keep" if resolution.content_hash == item["content_hash"] else "edit"


def apply_flag_decision(
    approved: Resolution, decided: Mapping[str, Sequence[Decision]], rules: Rules
) -> tuple[Resolution, list[Decision]]:
    """Apply the decisions on a flagged multiple-choice item to its earlier approval.

    A rejection withdraws the approval, and a rework of the rejected item restores it when an expert
    approves the rework. An edit makes a further revision, which may be flagged and decided on again.
    Until people have decided, or if their edit is not valid, the item stays approved.

    Args:
        approved: The earlier approval.
        decided: The decisions by the id of the review item.
        rules: The review rules.

    Returns:
        The approval after the decisions, and the decisions that were used, rewritten as decisions on
        the approved item.
    """
    later_decisions: list[Decision] = []
    item_ids: set[str] = set()
    while approved.status == "approved":
        item = flagged_queue_item(approved.item_id, as_released(approved.content))
        if item["item_id"] in item_ids or not (decisions := decided.get(item["item_id"], ())):
            break
        item_ids.add(item["item_id"])
        later_decisions += [
            replace(
                decision,
                item_id=approved.item_id,
                content_hash=approved.content_hash
                if decision.content_hash == item["content_hash"]
                else decision.content_hash,
            )
            for decision in decisions
        ]
        by_people = decision_in_words(item, decisions, approved.demanded, rules)
        if by_people is None:
            fault = _resolved_flag(item, decisions, approved.demanded, rules).fault
            approved = replace(approved, fault=fault)
            break
        reviewers = tuple(dict.fromkeys((*approved.reviewers, *by_people.reviewers)))
        if by_people.status == "rejected":
            approved = replace(
                approved,
                status="rejected",
                reason=by_people.reason,
                reviewers=reviewers,
                fault=by_people.fault,
            )
        elif decision_of(item, by_people) == "keep":
            approved = replace(approved, reviewers=reviewers)
            break
        else:
            approved = replace(
                approved,
                content=by_people.content,
                content_hash=by_people.content_hash,
                revision=approved.revision + by_people.revision,
                reviewers=reviewers,
            )
    return approved, later_decisions
