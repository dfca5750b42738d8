"""MMBench's abilities: 2 of level 1, 6 of level 2, 20 of level 3 (MMBench, 3.1 and Figure 2)."""

from collections.abc import Mapping

DESCRIPTIONS: Mapping[str, str] = {
    "image_style": "the kind of picture it is, such as a photograph, a painting, a sketch or a diagram",
    "image_scene": "the surroundings that the picture shows, indoors or outdoors, and which",
    "image_emotion": "the mood that the picture as a whole conveys",
    "image_quality": "how the picture is as a picture: its light, contrast, sharpness or colours",
    "image_topic": "what the picture as a whole is about",
    "object_localization": "where in the picture a thing is, or how many of a thing there are",
    "attribute_recognition": "a property of a thing that is seen, such as colour, shape or material",
    "celebrity_recognition": "which famous person, landmark or well-known thing is shown",
    "ocr": "what a text, a number or a formula in the picture says",
    "spatial_relationship": "how two things lie to each other, or where one lies in the frame",
    "attribute_comparison": "how two things, or two parts, compare in colour, shape or size",
    "action_recognition": "what somebody or something in the picture does",
    "physical_property_reasoning": "a physical property that follows from what is seen, such as weight",
    "function_reasoning": "what a thing that is shown is for, or how it is used",
    "identity_reasoning": "who a person probably is, such as an occupation, from clothes and tools",
    "social_relation": "how the people in the picture stand to each other",
    "physical_relation": "how things act on each other physically: carrying, touching, blocking",
    "nature_relation": "how living things in the picture relate, such as a hunter and its prey",
    "structuralized_imagetext_understanding": "what follows from a chart, a table, a map or a diagram",
    "future_prediction": "what will probably happen next, given what is shown",
}
"""What questions of each leaf ability are about: a completion of "a question about"."""

ENCYCLOPEDIC = (
    "image_style",
    "image_scene",
    "image_quality",
    "image_topic",
    "object_localization",
    "attribute_recognition",
    "spatial_relationship",
    "attribute_comparison",
    "physical_property_reasoning",
    "function_reasoning",
    "physical_relation",
    "future_prediction",
)
"""Leaf abilities about which questions can be asked for nearly every image of a thing or a place.

The other leaves need contents that few such images show: people and what they do or feel (emotion,
celebrity, action, identity, social relation), living things together (nature relation), text (OCR), a
chart or a map (structuralized understanding).
"""


PERCEPTION, REASONING = "perception", "reasoning"

LEVEL_2: Mapping[str, str] = {
    "coarse_perception": PERCEPTION,
    "finegrained_perception (instance-level)": PERCEPTION,
    "finegrained_perception (cross-instance)": PERCEPTION,
    "attribute_reasoning": REASONING,
    "relation_reasoning": REASONING,
    "logic_reasoning": REASONING,
}
"""The level 1 ability of each level 2 ability."""

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
"""The leaves (level 3) of each level 2 ability, and the number of questions of each in the paper."""

_PARENT = {leaf: above for above, leaves in LEVEL_3.items() for leaf in leaves}
L1, L2, L3 = "l1-category", "l2-category", "category"
"""Labels of an item; the last two are columns of the released files."""


def abilities(labels: Mapping[str, str]) -> dict[str, str]:
    """Derive the labels of levels 1 and 2 from an item's labels; empty for unknown abilities."""
    level_2 = labels.get(L2) or _PARENT.get(labels.get(L3, ""), "")
    names = {L1: LEVEL_2.get(level_2, ""), L2: level_2}
    return {label: name for label, name in names.items() if name}
