"""Wrong choices by a model, where no rule makes any (MMIU, 3.2).

What belongs here: what the prompt is given, and reading its reply. Reading is strict: choices that are
not sound are refused by name.
"""

from typing import Any

from methods.choice.wrong_choices import one_line, require_wrong, said, without_marks
from methods.mmiu.converting import n_choices
from methods.mmiu.metadata import Sample
from methods.prompts.parsing import JsonSchema, ParseError, object_schema, reply_object

SCHEMA: JsonSchema = object_schema({"distractors": {"type": "array", "items": {"type": "string"}}})


def distractors_data(sample: Sample) -> dict[str, Any]:
    """What the prompt is filled with."""
    return {
        "n_distractors": n_choices(sample.task.name) - 1,
        "context": sample.context,
        "question": sample.question,
        "answer": sample.output,
        "also_right": "\n".join(sample.also_right),
    }


def read_distractors(sample: Sample, reply: str) -> tuple[str, ...]:
    """The wrong choices of a reply, as many as the task has. Raises ParseError.

    The reasons are `not_json`, `wrong_fields`, `not_unicode`, `lettered_choice`, `too_few_choices`,
    `too_many_choices`, `empty_choice`, `answer_among_distractors`, `repeated_choice` and `also_right`.
    """
    given = reply_object(reply)
    texts = given.get("distractors")
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ParseError("wrong_fields", 'The reply needs "distractors", a list of texts.')
    wrong = without_marks([one_line(text) for text in texts])
    wanted = n_choices(sample.task.name) - 1
    require_wrong(sample.output, wrong, wanted, wanted, f"exactly {wanted}")
    right = {said(text) for text in sample.also_right}
    if both := [text for text in wrong if said(text) in right]:
        raise ParseError("also_right", f"A distractor is right, too: {both[0][:80]!r}.")
    return tuple(wrong)
