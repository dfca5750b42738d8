"""Answers to questions with known choices, and what the two readings make of them, worked by hand.

Each row is (choices, answer, strict, compat): a letter, `Z` for none of the choices, None where the
rules read nothing and the extractor is asked.
"""

CHOICES = {
    "animals": ("cat", "horse", "bird", "dog"),
    "colours": ("red", "blue", "green"),
    "pair": ("yes", "no"),
    "eight": ("one", "two", "three", "four", "five", "six", "seven", "eight"),
    "ten": ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    "people": ("The little girl.", "The man.", "The woman."),
    "chinese": ("猫", "马", "鸟", "狗"),
    "numbers": ("3", "3.5", "35", "-3"),
    "powers": ("8", "23", "10⁵", "1½"),
    "letters": ("B", "A", "D", "C"),
    "vitamins": ("Vitamin B", "Vitamin C", "Vitamin A", "none of these"),
    "both": ("it cries", "it laughs", "it gets mad", "both A, B, and C"),
    "last": ("cat", "horse", "bird", "None"),
    "missing": ("None", "NA", "nan", "N/A"),
    "dollars": ("$A$", "$C$", "$B$"),
    "twice": ("red", "red", "blue"),
    "houses": ("dog", "dog house", "house", "kennel"),
    "species": ("D. melanogaster", "C. elegans", "E. coli", "A. thaliana"),
    "blood": ("B型", "A型", "AB型", "O型"),
    "lines": ("B and C", "A and D", "A and B", "C and D"),
}

DENIED_LETTERS = """
Do not choose A.
I cannot say that the final answer is A
It is false that the answer is A
The least likely answer is A
The answer to avoid is A
The answer is A? No.
""".strip().splitlines()
DENIED_CHOICES = """
I would not choose A because it has no whiskers.
It would be a mistake to choose the cat.
不正确的答案是A
选A还是选B？
错误的选项是A
""".strip().splitlines()
DENIED_ELSEWHERE = [
    ("I would not choose the cat. It is a horse.", None),
    ("I cannot choose A since there is a mane, so I choose B.", None),
    ("I do not see a cat, so I choose B.", "B"),
    ("图中没有猫，所以答案是B。", None),
]

REPORTED = """
Students often pick A, but it has hooves.
Nothing suggests that the answer is A.
The text in the picture says: the answer is A.
In the picture somebody wrote 'the answer is A', but I see hooves.
The answer to the previous question is A.
The answer is A: wrong.
A. That is wrong.
Therefore, A and C is correct.
""".strip().splitlines()
"""Answers that speak of a letter and do not give it as their own."""
ONE_OF_MANY = """
The second-best answer is cat.
The only wrong option is cat.
The answer choices are: cat
The answer is cat (B)
~~A~~
""".strip().splitlines()
LISTED_ZH = """
A：没有猫。B：有马。C：没有鸟。
A选项是猫，B选项是马，C选项是鸟，D选项是狗。有鬃毛。
四个选项：猫、马、鸟、狗。有鬃毛。
别选A
选A的人很多，其实有鬃毛
乍一看答案是A
""".strip().splitlines()

TABLE: list[tuple[str, str, str | None, str | None]] = [
    # --- A letter and nothing else
    ("animals", "B", "B", "B"),
    ("animals", "**B**", "B", "B"),
    ("animals", "a", "A", None),
    ("animals", "（Ｂ）", "B", None),
    ("animals", "E", None, None),
    ("ten", "The answer is J because there are ten of them on the table.", "J", "J"),
    # I is a word, too.
    ("ten", "I, for one, would say the answer is E.", "E", "A"),
    ("ten", "I cannot see the picture", "Z", None),
    # --- The text of a choice and nothing else
    ("animals", "A dog", "D", "A"),
    # VLMEvalKit does not see choices with such texts.
    ("missing", "None", "A", None),
    ("last", "None", "D", None),
    ("twice", "red", None, None),
    # The letter of one choice is the text of another.
    ("vitamins", "Vitamin C", "B", "C"),
    ("both", "D. both A, B, and C", "D", "D"),
    # --- A letter with its text
    ("animals", "B. horse", "B", "B"),
    # The letter of one choice with the text of another.
    ("animals", "B. dog", None, "B"),
    ("animals", "答案是B（dog）", None, "D"),
    ("animals", "\\boxed{B (dog)}", None, "B"),
    ("animals", "B (dog)", None, "B"),
    ("animals", "The answer is (A)(B)", None, None),
    # A sentence next to the letter states another choice.
    ("animals", "The answer is the horse.\n\\boxed{A}", None, "A"),
    ("animals", "A. The picture shows a horse.", None, "B"),
    ("animals", "Option A is right. The animal is a horse.", None, None),
    ("animals", "A. The picture shows a cat, and the other one is a horse.", "A", None),
    ("animals", "The answer is A. Option B is a horse.", "A", "A"),
    ("animals", "Answer: A. Sorry, I meant B.", "B", None),
    # --- Declared letters, English
    ("animals", "The answer is (B).", "B", "B"),
    ("animals", "A is correct.", "A", "A"),
    ("animals", "The animal has a mane, so B.", "B", "B"),
    # --- Declared texts
    ("animals", "The answer is a dog.", "D", "A"),
    ("colours", "It is red, not blue.", "A", None),
    ("numbers", "The answer is 3.5", "B", None),
    # A superscript or a fraction is not a plain digit.
    ("powers", "The answer is 2³.", None, None),
    ("powers", "The answer is １½.", "D", None),
    ("houses", "The answer is dog food.", None, "D"),
    # --- Chinese
    ("chinese", "正确答案是（B）。", "B", None),
    ("chinese", "答案不是A", None, None),
    ("chinese", "答案是A或B", None, None),
    ("chinese", "这是一只可爱的小狗", None, None),
    # --- Negation and supposition
    ("animals", "It isn't B but C", "C", None),
    ("animals", "If it is A, there must be whiskers. The answer is B.", "B", "B"),
    ("colours", "The answer is not blue.", None, "B"),
    # A clause that denies or asks declares nothing.
    *(("animals", answer, None, "A") for answer in DENIED_LETTERS),
    *(("animals", answer, None, None) for answer in DENIED_CHOICES),
    *(("animals", answer, "B", compat) for answer, compat in DENIED_ELSEWHERE),
    # --- Several letters
    ("animals", "The answer is A or B.", None, "A"),
    ("animals", "A, B", None, None),
    ("animals", "Final answer: A, together with B", None, None),
    ("animals", "The answer is A. No, wait. The answer is C.", "C", "A"),
    ("animals", "A. cat\nB. horse\nC. bird\nD. dog", None, None),
    ("animals", "Looking at this, A, C and D can be ruled out. That leaves B.", None, None),
    ("animals", "A horse is shown in the picture.", "B", None),
    # --- The last word
    ("animals", "\\boxed{B}", "B", "B"),
    ("animals", "$\\boxed{\\text{B}}$", "B", "B"),
    ("animals", "\\boxed{A} or \\boxed{B}", None, None),
    ("animals", "<answer>B</answer>", "B", None),
    ("animals", "<think>The answer is A. No.</think>B", "B", "A"),
    # --- Leading and closing letters
    ("animals", "It has hooves and a mane, which makes it the second one (B).", None, "B"),
    ("animals", "A cat sits on the mat.", "A", "A"),
    ("vitamins", "Oranges contain vitamin C in large amounts.", "B", "C"),
    # --- One sentence that ends in a text
    ("animals", "The picture shows a horse.", "B", "B"),
    ("people", "The little girl is sitting in the middle.", "A", None),
    ("animals", "Plan B is the best of all the plans that they have.", None, None),
    ("colours", "It is plainly Red, I think.", "A", None),
    # --- What is taken back
    ("animals", "The answer is A. Actually, it is B.", "B", "A"),
    ("animals", "答案是A，不对，是B", "B", None),
    # --- Lists of the choices, which declare none
    *(
        ("animals", f"{head}\nA. cat: no mane.\nB. horse: a long mane.\n\n{end}", *letters)
        for head, end, *letters in [
            ("Let's analyze each option:", "Therefore, the correct answer is B.", "B", "B"),
            ("Consider all answers. Each answer:", "Only the horse has a mane.", "B", None),
            ("逐个分析选项：", "因此答案是B。", "B", None),
        ]
    ),
    ("animals", "Let's analyze each option:\n\nA. cat: cats have fur", None, None),
    (
        "chinese",
        "我们来看选项：\nA. 猫：会飞。\nB. 马：不会。\n因此选项A正确。答案是C。",
        "C",
        None,
    ),
    ("animals", "A. cat - no.\nB. horse - no.\nC. bird - yes.\nD. dog - no.", "C", None),
    ("animals", "The correct answer is:\n\nB. horse", "B", "B"),
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
    ("blood", "答案是B", "B", None),
    ("lines", "Therefore, A and B is the correct answer.", None, "C"),
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
