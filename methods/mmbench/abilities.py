"""What each of MMBench's 20 abilities asks of a picture, in words for who writes a question.

What belongs here: one description for each leaf of `taxonomy.py` (MMBench, appendix A), and which of
them a picture of an encyclopaedia carries.
"""

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
"""Leaf -> what a question of it is about, as the end of "a question about"."""

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
"""Leaves that nearly every picture of a thing or a place carries.

The others need what few such pictures have: people and what they do or feel (emotion, celebrity,
action, identity, social relation), living things together (nature relation), text (OCR), a chart or a
map (structuralized understanding).
"""
