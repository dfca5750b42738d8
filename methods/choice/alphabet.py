"""The letters of choices, used in prompts, answer extraction and files."""

LETTERS = "ABCDEFGHIJ"
CAPITALS, SMALLS = f"A-{LETTERS[-1]}", f"a-{LETTERS[-1].lower()}"
"""The ranges of these letters in a character class of a regular expression."""
NO_CHOICE = "Z"
"""The extracted letter of an answer that names none of the choices (MMBench, 4.1)."""
