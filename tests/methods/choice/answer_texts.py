"""Answers to questions with known choices, and what the two readings make of them, worked by hand.

Each row is (choices, answer, strict, compat): a letter, `Z` for none of the choices, None where the
rules read nothing and the extractor is asked.
"""

CHOICES = {
    "animals": ("cat", "horse", "bird", "dog"),
    "colours": ("red", "blue", "green"),
    "pair": ("yes", "no"),
    "ten": ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    "people": ("The little girl.", "The man.", "The woman."),
    "chinese": ("猫", "马", "鸟", "狗"),
    "numbers": ("3", "3.5", "35", "-3"),
    "powers": ("8", "23", "10⁵", "1½"),
    "both": ("it cries", "it laughs", "it gets mad", "both A, B, and C"),
    "last": ("cat", "horse", "bird", "None"),
    "dollars": ("$A$", "$C$", "$B$"),
    "twice": ("red", "red", "blue"),
    "houses": ("dog", "dog house", "house", "kennel"),
    "species": ("D. melanogaster", "C. elegans", "E. coli", "A. thaliana"),
}

NOT_ITS_OWN = [
    ("animals", "Students often pick A, but it has hooves."),
    ("animals", "The text in the picture says: the answer is A."),
    ("animals", "The answer is A: wrong."),
    ("animals", "Therefore, A and C is correct."),
    ("animals", "The second-best answer is cat."),
    ("animals", "The answer is cat (B)"),
    ("chinese", "A选项是猫，B选项是马，C选项是鸟，D选项是狗。有鬃毛。"),
    ("chinese", "别选A"),
]
"""Answers that mention a letter or a choice and do not give it as their own."""

TABLE: list[tuple[str, str, str | None, str | None]] = [
    # --- A letter and nothing else
    ("animals", "**B**", "B", "B"),
    ("animals", "a", "A", None),
    ("animals", "E", None, None),
    ("ten", "The answer is J because there are ten of them on the table.", "J", "J"),
    # I is a word, too.
    ("ten", "I, for one, would say the answer is E.", "E", "A"),
    # --- The text of a choice and nothing else
    ("animals", "A dog", "D", "A"),
    ("last", "None", "D", None),
    ("twice", "red", None, None),
    ("both", "D. both A, B, and C", "D", "D"),
    # --- A letter with its text
    # The letter of one choice with the text of another.
    ("animals", "\\boxed{B (dog)}", None, "B"),
    ("animals", "B (dog)", None, "B"),
    # A sentence next to the letter states another choice.
    ("animals", "The answer is the horse.\n\\boxed{A}", None, "A"),
    ("animals", "A. The picture shows a horse.", None, "B"),
    ("animals", "Option A is right. The animal is a horse.", None, None),
    ("animals", "A. The picture shows a cat, and the other one is a horse.", "A", None),
    ("animals", "Answer: A. Sorry, I meant B.", "B", None),
    # --- Declared letters, English
    ("animals", "A is correct.", "A", "A"),
    # --- Declared texts
    ("animals", "The answer is a dog.", "D", "A"),
    ("colours", "It is red, not blue.", "A", None),
    ("numbers", "The answer is 3.5", "B", None),
    # A superscript or a fraction is not a plain digit.
    ("powers", "The answer is 2³.", None, None),
    ("houses", "The answer is dog food.", None, "D"),
    # --- Chinese
    ("chinese", "答案不是A", None, None),
    ("chinese", "答案是A或B", None, None),
    ("chinese", "这是一只可爱的小狗", None, None),
    # --- Negation and supposition
    ("animals", "It isn't B but C", "C", None),
    ("animals", "If it is A, there must be whiskers. The answer is B.", "B", "B"),
    ("colours", "The answer is not blue.", None, "B"),
    # A clause that denies or asks declares nothing.
    ("animals", "I cannot say that the final answer is A", None, "A"),
    ("animals", "The least likely answer is A", None, "A"),
    ("animals", "The answer is A? No.", None, "A"),
    ("animals", "It would be a mistake to choose the cat.", None, None),
    ("animals", "不正确的答案是A", None, None),
    ("animals", "选A还是选B？", None, None),
    ("animals", "I would not choose the cat. It is a horse.", "B", None),
    ("animals", "I do not see a cat, so I choose B.", "B", "B"),
    # --- Several letters
    ("animals", "A, B", None, None),
    ("animals", "Final answer: A, together with B", None, None),
    ("animals", "Looking at this, A, C and D can be ruled out. That leaves B.", None, None),
    ("animals", "A horse is shown in the picture.", "B", None),
    # --- The last word
    ("animals", "$\\boxed{\\text{B}}$", "B", "B"),
    ("animals", "\\boxed{A} or \\boxed{B}", None, None),
    ("animals", "<answer>B</answer>", "B", None),
    ("animals", "<think>The answer is A. No.</think>B", "B", "A"),
    # --- Leading and closing letters
    ("animals", "It has hooves and a mane, which makes it the second one (B).", None, "B"),
    # --- One sentence that ends in a text
    ("people", "The little girl is sitting in the middle.", "A", None),
    ("animals", "Plan B is the best of all the plans that they have.", None, None),
    ("colours", "It is plainly Red, I think.", "A", None),
    # --- What is taken back
    ("animals", "答案是A，不对，是B", "B", None),
    # --- Lists of the choices, which declare none
    (
        "animals",
        "Consider all answers. Each answer:\nA. cat: no mane.\nB. horse: a long mane.\n\n"
        "Only the horse has a mane.",
        "B",
        None,
    ),
    ("animals", "Let's analyze each option:\n\nA. cat: cats have fur", None, None),
    (
        "chinese",
        "我们来看选项：\nA. 猫：会飞。\nB. 马：不会。\n因此选项A正确。答案是C。",
        "C",
        None,
    ),
    ("animals", "A. cat - no.\nB. horse - no.\nC. bird - yes.\nD. dog - no.", "C", None),
    ("animals", "Answer:\nA. cat\nIt has whiskers.", "A", None),
    # --- Texts of choices in sentences
    ("animals", "The bird that cannot fly is the dog.", "D", None),
    ("animals", "This word means horse. A cat is small.", "B", "A"),
    ("houses", "They all live in a dog house.", "B", None),
    ("pair", "Yes, it is hot.", "A", None),
    ("animals", "A horse barn stands in the field.", None, None),
    ("animals", "- A: cat\n- B: horse\n\nC", None, None),
    ("animals", "A. cat ❌\nB. horse ✅", "B", None),
    # --- Choices that look like letters
    ("dollars", "$B$", None, "C"),
    # --- Texts that begin with a letter: a letter in a sentence may be the beginning of such a text
    ("species", "The answer is C. elegans.", "B", "C"),
    # --- Words around a declared letter
    ("animals", "The option that best describes the picture is B.", "B", "B"),
    ("animals", "B\n\nThe animal has a mane.", "B", None),
    # --- What follows the answer
    ("animals", "The answer is C.\n\nQuestion: What is it?\nA. x\nB. y\nAnswer: B", "C", "C"),
    # --- Refusals and nothing
    ("animals", "I can't see a cat. The picture shows a horse.", None, None),
    ("animals", "I'm sorry, but I can't help with that request.", "Z", None),
    ("animals", "None of them. Z", None, "Z"),
    ("animals", "", "Z", None),
]
