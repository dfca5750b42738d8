"""Validation of edited contents: the error and its position."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from methods.invisible_characters import visible_text
from methods.prompts.messages import IMAGE_HERE

Path = tuple[str | int, ...]
"""The path to a part of a content: keys and list positions, such as ("turns", 1, "answer")."""


class EditFault(ValueError):
    """An invalid edit.

    Attributes:
        sentence: The error message; `values` replace its {names}. `review/languages/` has translations.
        path: The path to the invalid value, for example ("turns", 1, "answer") for the answer of the
            second turn; empty if the error concerns several values.
    """

    def __init__(self, sentence: str, path: Path = (), **values: object):
        self.sentence, self.path, self.values = sentence, path, values
        where = " ".join(str(part + 1) if isinstance(part, int) else part for part in path)
        super().__init__(f"edits, {where}: {self.text()}" if path else f"edits: {self.text()}")

    def text(self, sentence: str | None = None) -> str:
        """Fill the values into the message, or into its translation `sentence`, without the path."""
        return (sentence or self.sentence).format(**self.values)


def require_all(checks: Iterable[Callable[[], None]], reading_order: Sequence[Path]) -> None:
    """Run all checks, and raise the fault that comes first in reading order.

    Args:
        checks: The checks, each of which may raise EditFault.
        reading_order: The paths of the texts in reading order.

    Raises:
        EditFault: The first fault in this order.
    """
    faults = []
    for check in checks:
        try:
            check()
        except EditFault as fault:
            faults.append(fault)
    if faults:
        places = {path: place for place, path in enumerate(reading_order)}
        raise min(faults, key=lambda fault: places.get(fault.path, len(places)))


def require_texts(texts: Mapping[Path, object]) -> None:
    """Raise EditFault for the first value that is an empty text or no text."""
    for path, text in texts.items():
        if not isinstance(text, str) or not visible_text(text):
            raise EditFault("this text is empty: write one.", path)


def require_different(texts: Mapping[Path, object], sentence: str) -> None:
    """Check that no text occurs twice, as readers see it.

    Args:
        texts: The texts by path.
        sentence: The message for a repeated text.

    Raises:
        EditFault: A text repeats an earlier one.
    """
    earlier: set[str] = set()
    for path, text in _strings(texts).items():
        if visible_text(text) in earlier:
            raise EditFault(sentence, path)
        earlier.add(visible_text(text))


def require_placeholders(edited: Mapping[Path, object], original: Mapping[Path, str]) -> None:
    """Check that the total number of image placeholders in the texts is unchanged.

    Each placeholder stands for one image. With another number the texts cannot be sent to a model.

    Args:
        edited: The edited texts by path.
        original: The original texts by path.

    Raises:
        EditFault: The number of placeholders differs.
    """
    before = sum(text.count(IMAGE_HERE) for text in original.values())
    texts = _strings(edited)
    if sum(text.count(IMAGE_HERE) for text in texts.values()) == before:
        return
    changed = (
        path
        for path, text in texts.items()
        if text.count(IMAGE_HERE) != original.get(path, "").count(IMAGE_HERE)
    )
    raise EditFault(
        "{marker} stands for an image: keep every one, and add none.",
        next(changed, ()),
        marker=IMAGE_HERE,
    )


def _strings(values: Mapping[Path, object]) -> dict[Path, str]:
    """The values that are texts. `require_texts` reports other values."""
    return {path: value for path, value in values.items() if isinstance(value, str)}


def require_one_of(value: object, allowed: Sequence[str], path: Path) -> None:
    """Check that a value is allowed.

    Args:
        value: The value.
        allowed: The allowed values.
        path: The path of the value in the content.

    Raises:
        EditFault: The value is not allowed.
    """
    if value not in allowed:
        raise EditFault("this is one of {allowed}.", path, allowed=", ".join(allowed))
