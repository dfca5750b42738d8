"""Checks of generated texts (drafts) for readers who only see the image."""

from collections.abc import Mapping, Sequence

from methods.prompts.material import mention_of_material
from methods.prompts.messages import IMAGE_TOKEN
from methods.prompts.parsing import ParseError


def draft_text(draft: Mapping[str, object], key: str) -> str:
    """Read a text of a writer model's reply.

    Args:
        draft: The parsed JSON object of the reply.
        key: The name of the text.

    Returns:
        The text, stripped.

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
    """Raise ParseError if a text mentions what readers do not see.

    The reasons are `image_token` (a text has an image token) and `mentions_material` (it mentions
    the source material of the writer model).
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
