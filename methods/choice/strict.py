"""Answer extraction by rule: the letter of an answer, without guessing (MMBench, 4.1, step 1).

Each rule names choices, or nothing.

1. `final`: `\boxed{B}`, `<answer>B</answer>`, "final answer: B", "最终答案：B", or a choice's text in
   such a place. It decides alone: the text before it was only a thought, except the last sentence.
2. `alone`: the answer is nothing but a letter, in any case and width, with or without brackets, a full
   stop, a word like "Option" or 选. It names its choice even if this letter is the text of another
   choice.
3. `text`: the answer is nothing but the text of one choice; case, articles, quotes and the last full
   stop do not count.
4. `letter and text`: the answer begins with a letter and the text of its choice.
5. `declared`: a phrase names a letter, or the text of a choice: "the answer is (B)", "Option B is
   correct because ...", "I choose B", "it is B", "答案是B", "应选B", "B是正确的", "The correct answer
   is dog."
6. `leading`: the answer begins with a letter and a mark, before the text of its choice or a reason:
   "B. Because ...", "(B) It has ...".
7. `closing`: the last line is a letter.
8. `sentence`: the answer is one sentence of at most 15 words that ends in the text of one choice after
   a form of "be", of "show", or a colon.
9. `only yes`: each line of a list of the choices ends in yes or no, and only one in yes.
10. `concluded`: one choice is named in the last sentence, which is a conclusion ("Therefore ...", "因此
   ...") or the only sentence after a list of the choices.
11. `only named`: only one choice is named in the whole answer, as words, in its first or last sentence.
12. `stated`: the first sentence ends in the text of one choice as in `sentence`, and no other sentence
   ends in the text of another choice.
13. `refused`, `empty`: no choice is named and the answer declines, or has no words. The letter is Z.

These rules prevent misreading: if in doubt, no letter is read and the extractor model is asked.

- A letter counts only if no letter, digit or hyphen touches it. "A" and small letters are words,
  too, and do not count if the sentence goes on with another word: "A dog" and "The answer is a dog"
  name no letter. If texts of choices begin with a letter ("C. elegans", "B型"), letters count in
  rules 1 to 4 only.
- A negated or supposed letter ("not A", "A is wrong", "rather than A", "不是A", "if it is A") is not
  named; in "not A but B" B is. Letters without a choice are ignored. "The answer is blue" never
  names B.
- A phrase declares an answer only after words such as "so", "I think", "based on the image" in its
  clause. Others deny it ("I would not choose A"), ascribe it ("students often pick A") or mean one
  of several ("my second choice is A"). Nor does a phrase count in quotation marks, in a question,
  in a sentence that supposes another case, or if words after it take it back ("The answer is A:
  wrong").
- The last declaration counts: "The answer is A. No, the answer is C." is C. What follows the
  beginning of another question or turn is left out.
- If several letters have marks, as in a copy of the choices, `letter and text` and `leading` name
  nothing, and the weaker phrases of `declared` ("so B", "it is a dog"), `closing` and `sentence`
  are read in the text after the list.
- If one place or the weaker phrases name several choices ("A or B", or "B, dog" if dog is C), if
  the text of one choice stands with the letters of others only, or if a sentence next to the letter
  states another choice ("B. The answer is dog."), no letter is read.
- A sentence with a negation names no text, unless the negation describes what is asked for: "the
  bird that cannot fly is the owl".
"""

from collections.abc import Sequence

from methods.choice.alphabet import NO_CHOICE
from methods.choice.letter_rules import UNREAD, ExtractedLetter, LetterRules
from methods.choice.normalization import plain
from methods.choice.sentences import before_next_question
from methods.evaluation.english_refusals import is_refusal

VERSION = "7"
"""Increased with every change of the rules, so that letters read by earlier versions are out of date.
Requests do not contain it: stored answers are read again without new calls."""
MOST_CHARACTERS = 8_000
"""Only this many characters at the end of a longer answer are read."""


def read_letter(answer: str, choices: Sequence[str]) -> ExtractedLetter:
    """Extract the letter from an answer by strict rules.

    Args:
        answer: The answer.
        choices: The choices in order of letter.

    Returns:
        The letter with the rule that found it; `Z` for an empty answer or a refusal; no letter if no
        rule applies or rules contradict each other.
    """
    text = before_next_question(plain(answer[-MOST_CHARACTERS:]))
    if not text:
        return ExtractedLetter(NO_CHOICE, "empty")
    reader = LetterRules(choices, answer)
    for rules in (reader.final, reader.whole, reader.declared, reader.parts):
        readings = list(rules(text))
        if readings:
            letters = {reading.letter for reading in readings}
            is_clear = len(letters) == 1 and not reader.is_contradicted(text, *letters)
            return readings[0] if is_clear else UNREAD
    if is_refusal(answer):
        return UNREAD if reader.names_a_choice(text) else ExtractedLetter(NO_CHOICE, "refused")
    reading = next(reader.texts(text), UNREAD)
    return UNREAD if reader.contradicts(text, reading.letter) else reading


strict = read_letter
"""The name of `read_letter` up to version 0.2."""
