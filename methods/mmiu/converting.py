"""Multiple-choice questions from samples with an output: distractors by rule or by a model (MMIU, 3.2).

If the output is an image, a number, an order, a name or yes/no, rules make the wrong choices. For other
texts a model writes them.
"""

import math
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import partial
from itertools import permutations
from typing import Any, Literal, NamedTuple, cast, get_args

from methods.choice.lettered import (
    CAPITALS,
    FEWEST,
    LETTERS,
    MOST,
    normalized_choice,
    one_line,
    require_wrong,
    without_marks,
)
from methods.ids import content_id
from methods.mmiu.metadata import Sample
from methods.mmiu.unanswerable_tasks import CANNOT, STRATEGIES_OF
from methods.prompts.parsing import JsonSchema, ParseError, object_schema
from methods.prompts.reply_objects import reply_object

Form = Literal["image", "number", "order", "name", "yes/no", "text"]
"""The form of a sample's output, which decides how its wrong choices are made. A task may name it as
its output format; else the output decides."""

N_CHOICES = {
    "visually-grounded-reasoning": 2,
    "spot-the-similarity": 2,
    "multiview-reasoning": 2,
    "visual-quality-assessment": 3,
    "ravens-progressive-matrices": 8,
    "image-text-retrieval-with-spatial-context": 7,
}
"""The number of choices by task, chosen to match the accuracy of random answers in Table 3; other tasks
have 4. Questions of tasks with unanswerable variants have one more choice, `CANNOT`."""
MOST_WORDS = 5
"""The most words of an output of the form "name"."""
_NUMBER = re.compile(r"([-+]?)(\d+)(?:([.,])(\d+))?(\s*[^\d\s.,+-][^\d]{0,19})?")
_TOKEN = re.compile(rf"\d+|\b[{CAPITALS}]\b")
_PLACE = rf"(?:\d+|[{CAPITALS}])"
_ORDER = re.compile(rf"[\[({{]?\s*{_PLACE}(?:\s*(?:,|;|-|>|->|→|\s)\s*{_PLACE})+\s*[\])}}]?")
_YES_NO = {"yes": "no", "no": "yes", "true": "false", "false": "true"}


class UnusableSampleError(ValueError):
    """No question can be made of a sample; `reason` is a short code for counts."""

    def __init__(self, reason: str, detail: str):
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


class QuestionDraft(NamedTuple):
    """A question whose choices are not ordered yet. `distractors` are the wrong choices.

    With `of_images`, the choices are image ids, shown after `images`; only `CANNOT` is a text.
    """

    task: str
    context: str
    question: str
    images: tuple[str, ...]
    answer: str
    distractors: tuple[str, ...]
    of_images: bool


def n_choices(task: str) -> int:
    """Return the number of choices of a question of this task, without the choice `CANNOT`."""
    return N_CHOICES.get(task, 4)


def form_of(sample: Sample, pool: Iterable[str]) -> Form:
    """Find the form of a sample's output: image, number, order, name, yes/no or other text.

    Args:
        sample: The sample.
        pool: The outputs of all samples of the task.
    """
    said_by_task = sample.task.output_format
    if sample.of_images:
        return "image"
    if said_by_task in get_args(Form) and said_by_task != "text":
        return cast(Form, said_by_task)
    output = sample.output
    if output.casefold().strip(" .") in _YES_NO:
        return "yes/no"
    if _NUMBER.fullmatch(output):
        return "number"
    if places_of(output):
        return "order"
    # The outputs of other samples are the wrong choices of a name, so they must be enough.
    others = {other for other in pool if other != output and len(other.split()) <= MOST_WORDS}
    named = len(output.split()) <= MOST_WORDS and said_by_task != "text"
    return "name" if named and len(others) >= n_choices(sample.task.name) - 1 else "text"


def wrong_choices(sample: Sample, form: Form, pool: Sequence[str], seed: int) -> tuple[str, ...]:
    """Choose the wrong choices of a sample: first its own wrong outputs, then choices made by rule.

    Args:
        sample: The sample.
        form: The form of its output, not `text`.
        pool: The outputs of all samples of the task.
        seed: The seed of the order.

    Raises:
        UnusableSampleError: There are too few wrong choices.
    """
    wanted = min(n_choices(sample.task.name), MOST) - 1
    right = {normalized_choice(text) for text in (sample.output, *sample.also_right)}
    choices: dict[str, str] = {}
    shuffled = sorted(dict.fromkeys(sample.wrong), key=partial(content_id, seed, sample.question))
    for text in (*shuffled, *_by_rule(sample, form, pool, wanted, seed)):
        if len(choices) == wanted:
            break
        if normalized_choice(text) not in right:
            choices.setdefault(normalized_choice(text), text)
    if len(choices) < FEWEST - 1:
        raise UnusableSampleError(
            "too_few_choices", f"Its output {sample.output[:60]!r} has no wrong choice."
        )
    return tuple(choices.values())


def question_of(sample: Sample, distractors: Sequence[str]) -> QuestionDraft:
    """Make the question of a sample.

    If its task has unanswerable questions, the last choice says that it cannot be answered.

    Args:
        sample: The sample.
        distractors: The wrong choices.
    """
    wrong = tuple(distractors)[: MOST - 1]
    if sample.task.name in STRATEGIES_OF:
        wrong = (*wrong[: MOST - 2], CANNOT)
    return QuestionDraft(
        sample.task.name,
        sample.context,
        sample.question,
        sample.images,
        sample.output,
        wrong,
        sample.of_images,
    )


def choose_samples(samples: Iterable[Sample], most: int, seed: int) -> list[Sample]:
    """Choose up to `most` samples of each task in a seeded hash order.

    A new sample among the input replaces at most one of the chosen samples.

    Args:
        samples: The samples.
        most: The largest number of samples of each task.
        seed: The seed.
    """
    by_task: dict[str, list[Sample]] = {}
    for sample in sorted(set(samples), key=lambda sample: sample_id(sample, seed)):
        by_task.setdefault(sample.task.name, []).append(sample)
    return [sample for task in sorted(by_task) for sample in by_task[task][:most]]


def sample_id(sample: Sample, seed: int = 0) -> str:
    """Compute the id of a sample: a hash of its task, source, images, texts and output.

    Args:
        sample: The sample.
        seed: A number that changes the id.
    """
    content = (sample.task.name, sample.source, sample.images, sample.context, sample.question)
    return content_id("sample", seed, *content, sample.output)


# --- By rule -------------------------------------------------------------------------------------


def _by_rule(
    sample: Sample, form: Form, pool: Sequence[str], wanted: int, seed: int
) -> Iterable[str]:
    if form == "number":
        return near_numbers(sample.output, wanted, seed)
    if form == "order":
        return other_orders(sample.output, wanted, seed)
    if form == "yes/no":
        return (other_of_two(sample.output),)
    shown = set(sample.images) if form == "image" else set()
    others = sorted(set(pool) - shown - {sample.output})
    return sorted(others, key=partial(content_id, seed, sample_id(sample)))


def near_numbers(output: str, wanted: int, seed: int) -> tuple[str, ...]:
    """Make numbers near an output in the same format: sign, decimals, leading zeros and unit.

    They differ from the output by a multiple of a step, which is one unit of the second digit (3.57
    gives 3.47), or of the last non-zero digit if zeros follow it (90 gives 80 and 100). A non-negative
    number gives no negative numbers, and a percentage gives none over 100. If too few are left, steps
    get smaller. The seed decides how many are below the output.
    """
    match = _NUMBER.fullmatch(output.strip())
    if match is None:
        raise UnusableSampleError("not_a_number", f"Its output {output[:60]!r} is not a number.")
    sign, whole, mark, decimals, unit = (group or "" for group in match.groups())
    value = int(f"{sign}{whole}{decimals}")
    digits = str(abs(value))
    trailing = len(digits) - len(digits.rstrip("0"))
    power = min(trailing, len(digits) - 1) or max(len(digits) - 2, 0)
    lowest = 0 if value >= 0 and sign != "-" else -math.inf
    highest = math.inf
    if unit.strip().startswith("%") and value <= 100 * 10 ** len(decimals):
        highest = 100 * 10 ** len(decimals)
    n_below = int(content_id("below", seed, output), 16) % (wanted + 1)
    below, above = _around(value, 10**power, wanted, lowest, highest)
    while power and len(below) + len(above) < wanted:
        power -= 1
        below, above = _around(value, 10**power, wanted, lowest, highest)
    nearest = below[:n_below] + above[: wanted - min(n_below, len(below))]
    nearest += [number for number in (*above, *below) if number not in nearest]
    return tuple(
        f"{_written(number, sign, whole, mark, len(decimals))}{unit}" for number in nearest[:wanted]
    )


def _around(
    value: int, step: int, wanted: int, lowest: float, highest: float
) -> tuple[list[int], list[int]]:
    """The numbers up to `wanted` steps below and above, nearest first, within the limits."""
    steps = range(1, wanted + 1)
    return (
        [value - step * k for k in steps if value - step * k >= lowest],
        [value + step * k for k in steps if value + step * k <= highest],
    )


def _written(value: int, sign: str, template: str, mark: str, n_decimals: int) -> str:
    shown_sign = "-" if value < 0 else "+" if sign == "+" else ""
    digits = f"{abs(Decimal(value).scaleb(-n_decimals)):.{n_decimals}f}"
    whole, _, decimals = digits.partition(".")
    padded = whole.zfill(len(template)) if template.startswith("0") else whole
    return f"{shown_sign}{padded}{mark}{decimals}"


def other_orders(output: str, wanted: int, seed: int) -> tuple[str, ...]:
    """Make other orders of an output's positions, such as "2, 1, 3", in the same format."""
    tokens = _TOKEN.findall(output)
    if not places_of(output):
        raise UnusableSampleError(
            "not_an_order", f"Its output {output[:60]!r} is not an order of places."
        )
    arrangements: dict[tuple[str, ...], None] = {}
    if len(tokens) <= 5:
        orders = [order for order in permutations(sorted(tokens)) if order != tuple(tokens)]
        arrangements = dict.fromkeys(sorted(orders, key=partial(content_id, seed, output)))
    draw = 0
    while len(arrangements) < wanted and len(tokens) > 5:
        order = tuple(sorted(tokens, key=partial(content_id, seed, output, draw)))
        draw += 1
        if order != tuple(tokens):
            arrangements[order] = None
    return tuple(in_form(output, order) for order in list(arrangements)[:wanted])


def in_form(output: str, order: Sequence[str]) -> str:
    """Write an order of places in the format of another order, for example "[2, 1]" or "B > A".

    Args:
        output: The order whose format is used.
        order: The places.
    """
    rest = iter(order)
    return _TOKEN.sub(lambda _: next(rest), output)


def places_of(output: str) -> list[str]:
    """Parse an order of places: each of 1 to n, 0 to n - 1 or the first n letters once.

    Returns an empty list for other texts.
    """
    if not _ORDER.fullmatch(output.strip()):
        return []
    tokens = _TOKEN.findall(output)
    due = (
        [str(place) for place in range(1, len(tokens) + 1)],
        [str(place) for place in range(len(tokens))],
        list(LETTERS[: len(tokens)]),
    )
    return tokens if sorted(tokens) in [sorted(order) for order in due] else []


def other_of_two(output: str) -> str:
    """Return no for yes, false for true and vice versa, in the same format."""
    plain = output.strip(" .")
    other = _YES_NO.get(plain.casefold())
    if other is None:
        raise UnusableSampleError(
            "not_yes_or_no", f"Its output {output[:60]!r} is neither yes nor no."
        )
    if plain.isupper():
        other = other.upper()
    elif plain[0].isupper():
        other = other.capitalize()
    return output.replace(plain, other)


SCHEMA: JsonSchema = object_schema({"distractors": {"type": "array", "items": {"type": "string"}}})


def distractors_data(sample: Sample) -> dict[str, Any]:
    """Make the data of the prompt for distractors."""
    return {
        "n_distractors": n_choices(sample.task.name) - 1,
        "context": sample.context,
        "question": sample.question,
        "answer": sample.output,
        "also_right": "\n".join(sample.also_right),
    }


def read_distractors(sample: Sample, reply: str) -> tuple[str, ...]:
    """Read the wrong choices of a reply.

    Args:
        sample: The sample, whose task says how many there are.
        reply: The reply.

    Raises:
        ParseError: `not_json`, `wrong_fields`, `not_unicode`, `lettered_choice`, `too_few_choices`,
        `too_many_choices`, `empty_choice`, `answer_among_distractors`, `repeated_choice` or
            `also_right`.
    """
    fields = reply_object(reply, SCHEMA)
    texts = fields.get("distractors")
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ParseError("wrong_fields", 'The reply needs "distractors", a list of texts.')
    wrong = without_marks([one_line(text) for text in texts])
    wanted = n_choices(sample.task.name) - 1
    require_wrong(sample.output, wrong, wanted, wanted, f"exactly {wanted}")
    right = {normalized_choice(text) for text in sample.also_right}
    if both := [text for text in wrong if normalized_choice(text) in right]:
        raise ParseError("also_right", f"A distractor is right, too: {both[0][:80]!r}.")
    return tuple(wrong)
