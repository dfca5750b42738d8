"""MMBench's abilities: 2 of level 1, 6 of level 2, 20 of level 3 (MMBench, 3.1 and Figure 2).

What belongs here: their names as released files have them, how they belong together, and how many of
the paper's 3,217 questions each leaf has.
"""

from collections.abc import Mapping

PERCEPTION, REASONING = "perception", "reasoning"

LEVEL_2: Mapping[str, str] = {
    "coarse_perception": PERCEPTION,
    "finegrained_perception (instance-level)": PERCEPTION,
    "finegrained_perception (cross-instance)": PERCEPTION,
    "attribute_reasoning": REASONING,
    "relation_reasoning": REASONING,
    "logic_reasoning": REASONING,
}
"""The ability of level 1 that each of level 2 is part of."""

LEVEL_3: Mapping[str, Mapping[str, int]] = {
    "coarse_perception": {
        "image_style": 154,
        "image_scene": 240,
        "image_emotion": 150,
        "image_quality": 208,
        "image_topic": 150,
    },
    "finegrained_perception (instance-level)": {
        "object_localization": 175,
        "attribute_recognition": 149,
        "celebrity_recognition": 246,
        "ocr": 150,
    },
    "finegrained_perception (cross-instance)": {
        "spatial_relationship": 125,
        "attribute_comparison": 126,
        "action_recognition": 195,
    },
    "attribute_reasoning": {
        "physical_property_reasoning": 132,
        "function_reasoning": 150,
        "identity_reasoning": 127,
    },
    "relation_reasoning": {
        "social_relation": 153,
        "physical_relation": 125,
        "nature_relation": 154,
    },
    "logic_reasoning": {
        "structuralized_imagetext_understanding": 183,
        "future_prediction": 125,
    },
}
"""The leaves of each ability of level 2, and how many questions the paper has of them."""

_PARENT = {leaf: above for above, leaves in LEVEL_3.items() for leaf in leaves}
L1, L2, L3 = "l1-category", "l2-category", "category"
"""Labels of an item; the last two are columns of the released files."""


def abilities(labels: Mapping[str, str]) -> dict[str, str]:
    """Labels of the levels above what `labels` say; nothing for an ability that the paper has not."""
    level_2 = labels.get(L2) or _PARENT.get(labels.get(L3, ""), "")
    found = {L1: LEVEL_2.get(level_2, ""), L2: level_2}
    return {label: name for label, name in found.items() if name}
