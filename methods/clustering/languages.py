"""Languages that an embedding model reads, measured by how its tokenizer splits texts.

A tokenizer that knows a language finds its words or parts of them. Otherwise it gives single letters,
or one token for everything unknown, and then vectors say little about meaning. On captions, package
descriptions and messages, all-MiniLM-L6-v2 has 2.0 to 4.7 letters per token in twelve languages with
Latin letters; in 26 others it has at most 1.3, or over 40 % of the letters are unknown
(docs/decisions/0087).
"""

from collections.abc import Iterable
from dataclasses import dataclass

MAX_UNKNOWN_SHARE = 0.05
MIN_LETTERS_PER_TOKEN = 1.5


@dataclass
class Tokenized:
    """Counts of letters and digits in texts and in the tokens that they were split into.

    Chinese characters count only as unknown or known: each of them is a token for many models that
    read Chinese.
    """

    n_letters: int = 0
    n_unknown_letters: int = 0
    n_alphabetic: int = 0
    """Letters of known tokens, without Chinese characters."""
    n_tokens: int = 0
    """Known tokens with a letter that is not a Chinese character."""

    def add(self, text: str, tokens: Iterable[tuple[int, int, bool]]) -> None:
        """Count the tokens of a text.

        Args:
            text: The text.
            tokens: For each token its begin, its end, and whether it is unknown.
        """
        for start, end, unknown in tokens:
            letters = [letter for letter in text[start:end] if letter.isalnum()]
            self.n_letters += len(letters)
            if unknown:
                self.n_unknown_letters += len(letters)
            elif alphabetic := [letter for letter in letters if not _is_chinese(letter)]:
                self.n_alphabetic += len(alphabetic)
                self.n_tokens += 1

    @property
    def unknown_share(self) -> float:
        """Share of the letters that are in unknown tokens, 0 to 1."""
        return self.n_unknown_letters / self.n_letters if self.n_letters else 0.0

    @property
    def letters_per_token(self) -> float | None:
        """Mean number of letters of a known token; None if there is no token to count."""
        return self.n_alphabetic / self.n_tokens if self.n_tokens else None

    @property
    def is_read(self) -> bool:
        """Whether the model reads the language of the texts."""
        letters = self.letters_per_token
        return self.unknown_share <= MAX_UNKNOWN_SHARE and (
            letters is None or letters >= MIN_LETTERS_PER_TOKEN
        )


def _is_chinese(letter: str) -> bool:
    return "\u3400" <= letter <= "\u9fff" or letter >= "\U00020000"
