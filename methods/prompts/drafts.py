"""Texts that a writer drafts for readers who are shown nothing but a picture."""

from collections.abc import Mapping, Sequence

from methods.prompts.material import mention_of_material
from methods.prompts.messages import IMAGE_TOKEN
from methods.prompts.parsing import ParseError


def draft_text(draft: Mapping[str, object], key: str) -> str:
    """Read a text of a writer's reply.

    Args:
        draft: The reply as an object.
        key: The name of the text.

    Returns:
        The text without space around it.

    Raises:
        ParseError: `wrong_fields` or `empty_text`.
    """
    value = draft.get(key)
    if not isinstance(value, str):
        raise ParseError("wrong_fields", f'The reply needs "{key}" as a text.')
    if not value.strip():
        raise ParseError("empty_text", f'"{key}" is empty.')
    return value.strip()


def require_shown(texts: Sequence[str]) -> None:
    """Raise ParseError where a text speaks of what the reader does not see.

    The reasons are `image_token` and `mentions_material`.
    """
    for text in texts:
        if match := IMAGE_TOKEN.search(text):
            raise ParseError(
                "image_token", f"A text has {match[0]}: the picture is shown with the question."
            )
        if material := mention_of_material(text):
            raise ParseError(
                "mentions_material", f"A text mentions the material: {material[:80]!r}."
            )
