"""A multi-turn dialogue with one model: its history, and the policies for long contexts."""

import random
from collections.abc import Generator, Sequence
from dataclasses import dataclass

from methods.evaluation.asking import (
    PLAIN,
    Answer,
    AnswerRequest,
    Asking,
    AskingLimits,
    ContextPolicy,
    ReferenceTurn,
    SkippedTurn,
)
from methods.evaluation.items import Item
from methods.prompts.messages import Image, Message, Text, interleave, with_images_at


def ask_dialogue(
    item: Item, limits: AskingLimits, trial: str = PLAIN
) -> Generator[Asking, Answer, None]:
    """Ask the turns of an item one after another, each with the earlier turns before it.

    Each turn is followed by the model's own answer, or by a reference answer. A turn without an answer
    ends the dialogue: later turns would need it in their history.

    Args:
        item: The item.
        limits: The context policy and the limits of requests.
        trial: The variant that the answers belong to.

    Returns:
        A generator that yields questions, reference turns and skipped turns, and is sent the answer to
        each.
    """
    dialogue = Dialogue(trial, limits.context_policy)
    ended_by = None
    for turn in item.turns:
        if turn.given is not None:
            yield ReferenceTurn(trial, turn.turn, turn.given)
        elif ended_by is not None:
            yield SkippedTurn(trial, turn.turn, f"Turn {ended_by} has no answer.")
        if ended_by is not None:
            continue
        images = [item.image_ids[position - 1] for position in turn.image_positions]
        dialogue.put(turn.question, images)
        if turn.given is not None:
            dialogue.reply(turn.given)
            continue
        answer = yield from dialogue.ask(turn.turn)
        if answer.text is None:
            ended_by = turn.turn
        else:
            dialogue.reply(answer.text)


@dataclass
class _Exchange:
    question: Message
    answer: str | None = None

    @property
    def n_images(self) -> int:
        return sum(isinstance(part, Image) for part in self.question.parts)


class Dialogue:
    """The turns so far with their images and answers; the last turn has no answer yet.

    If a request was too long, later turns start with as much left out. `seed` determines which images
    are left out first.
    """

    def __init__(self, trial: str, policy: ContextPolicy, seed: str = ""):
        self._trial, self._policy, self._seed = trial, policy, seed
        self._exchanges: list[_Exchange] = []
        self._n_left_out = 0
        self._n_images_left_out = 0
        self._in_a_grid = False

    def put(self, question: str, image_ids: Sequence[str]) -> None:
        """Add a user turn; the i-th `<ImageHere>` is the i-th image. Raises ValueError (`interleave`).

        Args:
            question: The text.
            image_ids: The images.
        """
        self.put_message(Message("user", interleave(question, list(image_ids))))

    def put_message(self, question: Message) -> None:
        """Add a user turn whose images are already in their places."""
        self._exchanges.append(_Exchange(question))

    def reply(self, text: str) -> None:
        """Add the assistant's answer to the last turn."""
        self._exchanges[-1].answer = text

    def ask(self, turn: int) -> Generator[AnswerRequest, Answer, Answer]:
        """Ask the last turn with the earlier turns, and shorten the request while it is too long.

        `truncate` drops the oldest turn until only the question is left; `tile` sends all images as
        one; `sample` drops a tenth of the sent images each time until one is left (MMIU, 4.1: images
        are sampled until the model can be tested). The last answer may still be too long.
        """
        while True:
            answer = yield AnswerRequest(
                self._trial,
                turn,
                self._messages(),
                turns_left_out=self._n_left_out,
                images_left_out=self._n_images_left_out,
                in_a_grid=self._in_a_grid,
                can_be_shorter=self._can_be_shorter,
            )
            if not (answer.too_long and self._can_be_shorter):
                return answer
            if self._policy == "truncate":
                self._n_left_out += 1
            elif self._policy == "sample":
                self._n_images_left_out += max(1, (self._n_images - self._n_images_left_out) // 10)
            else:
                self._in_a_grid = True

    @property
    def _can_be_shorter(self) -> bool:
        if self._policy == "tile":
            return not self._in_a_grid and self._n_images > 1
        if self._policy == "sample":
            return self._n_images - self._n_images_left_out > 1
        return self._policy == "truncate" and self._n_left_out < len(self._exchanges) - 1

    @property
    def _n_images(self) -> int:
        return sum(exchange.n_images for exchange in self._exchanges)

    def _messages(self) -> tuple[Message, ...]:
        messages: list[Message] = []
        for exchange in self._exchanges[self._n_left_out :]:
            messages.append(exchange.question)
            if exchange.answer is not None:
                messages.append(Message.from_text("assistant", exchange.answer))
        if self._n_left_out:
            first = messages[0]
            messages[0] = Message(first.role, (Text(f"{self._left_out()}\n\n"), *first.parts))
        if self._n_images_left_out:
            # All images have one random order, so that a request with fewer images has a part of those
            # of a request with more, and models that take equally many images are sent the same ones.
            order = list(range(self._n_images))
            random.Random(self._seed).shuffle(order)
            messages = with_images_at(messages, order[self._n_images_left_out :])
        return tuple(messages)

    def _left_out(self) -> str:
        """Sentences that tell the model which turns were left out, so that `<image-i>` stays clear."""
        gone, sent = self._exchanges[: self._n_left_out], self._exchanges[self._n_left_out :]
        turns = (
            "turn of this dialogue is"
            if len(gone) == 1
            else f"{len(gone)} turns of this dialogue are"
        )
        sentences = f"The first {turns} left out, as the whole of it is too long."
        n_images = sum(exchange.n_images for exchange in gone)
        if n_images == 0:
            return sentences
        names = "<image-1>" if n_images == 1 else f"<image-1> to <image-{n_images}>"
        sentences += f" Left out with {'it' if len(gone) == 1 else 'them'}: {names}."
        if any(exchange.n_images for exchange in sent):
            sentences += f" The first picture below is <image-{n_images + 1}>."
        return sentences
