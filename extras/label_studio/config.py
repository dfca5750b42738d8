"""The labelling config (XML) of Label Studio for each kind of item: what annotators see and fill in.

A config holds no text of an item, which is untrusted: `tasks.py` makes the data of a task, and every
name after a `$` is a key of this data.
"""

from xml.etree.ElementTree import Element, SubElement, indent, tostring

from methods.review import REASONS

CHOOSES = {
    "multiple_choice": "answer",
    "flagged_item": "answer",
    "category": "category",
    "extraction": "choice",
    "pair": "winner",
}
"""The text of each kind that is chosen from a few options instead of written."""

ITEM, OPTION, VERDICT, REASON = "item", "option", "verdict", "reason"
NOTE, TEXT, SCORE = "note", "text", "score"
"""Names of the controls; those of texts and scores are followed by `_` and an index."""

_VERDICTS = ("accept", "edit", "reject")
"""There is no `skip`: Label Studio has its own button for it."""
_INDEX = "{{idx}}"


def labelling_config(kind: str) -> str:
    """Build the config of a project whose tasks are items of `kind`."""
    view = Element("View")
    # Label Studio collapses line breaks unless told otherwise.
    SubElement(view, "Style").text = ".htx-text, .lsf-richtext__line { white-space: pre-wrap; }"
    SubElement(view, "Text", name=ITEM, value="$title")
    # The list is empty for kinds without images.
    pictures = SubElement(view, "Repeater", on="$pictures", indexFlag=_INDEX)
    SubElement(pictures, "Header", value=f"$pictures[{_INDEX}].label", size="5")
    SubElement(pictures, "Image", name=f"picture_{_INDEX}", value=f"$pictures[{_INDEX}].url")
    _texts_to_read(view, "help")
    _texts_to_read(view, "read")
    write = SubElement(view, "Repeater", on="$write", indexFlag=_INDEX)
    SubElement(write, "Header", value=f"$write[{_INDEX}].label", size="5")
    if kind == "score":
        SubElement(write, "Number", _control(f"{SCORE}_{_INDEX}"), step="1")
    else:
        SubElement(
            write,
            "TextArea",
            _control(f"{TEXT}_{_INDEX}"),
            value=f"$write[{_INDEX}].text",
            rows="4",
            editable="true",
            maxSubmissions="1",
        )
    if kind in CHOOSES:
        SubElement(view, "Header", value=f"The right {CHOOSES[kind]}", size="5")
        SubElement(view, "Choices", _control(OPTION), value="$options", choice="single-radio")
    # Scores are empty until a person fills them in, so that there is nothing to accept.
    verdicts = _VERDICTS[1:] if kind == "score" else _VERDICTS
    _choices(view, VERDICT, verdicts, required="true")
    _choices(
        view,
        REASON,
        REASONS,
        visibleWhen="choice-selected",
        whenTagName=VERDICT,
        whenChoiceValue="reject",
    )
    SubElement(view, "TextArea", _control(NOTE), rows="2", maxSubmissions="1", placeholder="Note")
    indent(view)
    return tostring(view, encoding="unicode")


def _texts_to_read(view: Element, key: str) -> None:
    repeater = SubElement(view, "Repeater", on=f"${key}", indexFlag=_INDEX)
    SubElement(repeater, "Header", value=f"${key}[{_INDEX}].label", size="5")
    # Text shows its value unchanged; HyperText or Markdown would interpret it.
    shown = {"name": f"{key}_{_INDEX}", "value": f"${key}[{_INDEX}].text", "valueType": "text"}
    SubElement(repeater, "Text", shown)


def _choices(view: Element, name: str, values: tuple[str, ...], **attributes: str) -> None:
    SubElement(view, "Header", value=name.capitalize(), size="5")
    choices = SubElement(view, "Choices", _control(name), choice="single-radio", **attributes)
    for value in values:
        SubElement(choices, "Choice", value=value)


def _control(name: str) -> dict[str, str]:
    return {"name": name, "toName": ITEM}
