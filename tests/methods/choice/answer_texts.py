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
Never choose A.
Do not choose (A)
You should not pick A.
I can't choose A.
I wouldn't pick A.
It would be a mistake to choose A.
I cannot say that the answer is A
I cannot say that the final answer is A
It is false that the answer is A
There is no evidence that A is correct
There is no evidence that the answer is A
Nobody would say the answer is A
The least likely answer is A
The worst choice is A
The answer to avoid is A
A would be wrong.
The answer is A? No.
I hesitate to pick A.
""".strip().splitlines()
DENIED_CHOICES = """
I would not choose A because it has no whiskers.
I did not choose A because there is a mane.
We cannot select A since there is a mane.
There is no reason to choose A: it has a mane.
It would be a mistake to choose the cat.
A is the best distractor
A is the most likely wrong answer
不正确的答案是A
没有证据表明答案是A
不能说答案是A
选A还是选B？
答案是A吗？不是。
错误的选项是A
""".strip().splitlines()
DENIED_ELSEWHERE = [
    ("I would not choose the cat. It is a horse.", None),
    ("I cannot choose A since there is a mane, so I choose B.", None),
    ("I do not see a cat, so I choose B.", "B"),
    ("It is not A; the answer is B.", "B"),
    ("A is wrong and the answer is B.", "B"),
    ("No wait the answer is B", "B"),
    ("图中没有猫，所以答案是B。", None),
    ("不难看出答案是B", None),
    ("非常明显答案是B", None),
]

REPORTED = """
Students often pick A, but it has hooves.
A careless reader would pick A.
You might think the answer is A.
Nothing suggests that the answer is A.
Few would choose A.
The text in the picture says: the answer is A.
In the picture somebody wrote 'the answer is A', but I see hooves.
If the picture were darker, the answer is A.
Had it whiskers, the answer would be A; it has hooves.
The answer to the previous question is A.
The previous answer was A.
The answer is A: wrong.
The answer is A - not.
A would be correct if it had whiskers.
A. That is wrong.
A: wrong
(A) is a distractor
Therefore, A and C is correct.
\\boxed{A}, no: it has hooves
""".strip().splitlines()
"""Answers that speak of a letter and do not give it as their own."""
ONE_OF_MANY = """
The second-best answer is cat.
My second choice is cat.
The first option is cat, but it has hooves.
The only wrong option is cat.
The answer choices are: cat
The answer is cat (B)
~~A~~
""".strip().splitlines()
LISTED_ZH = """
A：错误；B：正确；C：错误；D：错误
A：没有猫。B：有马。C：没有鸟。
A选项是猫，B选项是马，C选项是鸟，D选项是狗。有鬃毛。
四个选项：猫、马、鸟、狗。有鬃毛。
别选A
难以选择A
选A或选B
选A的人很多，其实有鬃毛
乍一看答案是A
有人说答案是A
""".strip().splitlines()

TABLE: list[tuple[str, str, str | None, str | None]] = [
    # --- A letter and nothing else
    ("animals", "B", "B", "B"),
    ("animals", "B.", "B", "B"),
    ("animals", "(B)", "B", "B"),
    ("animals", '"D".', "D", None),
    ("animals", "**B**", "B", "B"),
    ("animals", "`C`", "C", None),
    ("animals", "### D", "D", "D"),
    ("animals", "__A__", "A", None),
    ("animals", "Option B", "B", "B"),
    ("animals", "A", "A", "A"),
    ("animals", "a", "A", None),
    ("animals", "（Ｂ）", "B", None),
    ("animals", "E", None, None),
    ("eight", "E", "E", "E"),
    ("ten", "I", "I", "I"),
    ("ten", "The answer is J because there are ten of them on the table.", "J", "J"),
    ("ten", "It is not H but I.", "I", None),
    ("ten", "Option I is correct.", "I", "I"),
    # I is a word, too.
    ("ten", "I, for one, would say the answer is E.", "E", "A"),
    ("ten", "I cannot see the picture", "Z", None),
    ("eight", "I", None, None),
    # --- The text of a choice and nothing else
    ("animals", "A dog", "D", "A"),
    ("animals", "A wolf", None, "A"),
    ("animals", "wolf", None, None),
    ("people", "The little girl", "A", None),
    ("chinese", "狗", "D", "D"),
    ("numbers", "-3", "D", None),
    # VLMEvalKit does not see choices with such texts.
    ("missing", "None", "A", None),
    ("missing", "A", "A", None),
    ("last", "None", "D", None),
    ("last", "cat, none", None, "A"),
    ("twice", "red", None, None),
    # The letter of one choice is the text of another.
    ("letters", "A", "A", "A"),
    ("vitamins", "Vitamin C", "B", "C"),
    ("both", "D. both A, B, and C", "D", "D"),
    # --- A letter with its text
    ("animals", "B. horse", "B", "B"),
    ("animals", "b. horse", "B", "B"),
    ("animals", "A cat", "A", "A"),
    ("chinese", "D、狗", "D", "D"),
    # The letter of one choice with the text of another.
    ("animals", "B. dog", None, "B"),
    ("animals", "The answer is B, dog.", None, "B"),
    ("chinese", "A、狗", None, "D"),
    ("animals", "The answer is B (dog)", None, "B"),
    ("animals", "Answer: B (dog)", None, "B"),
    ("animals", "I choose B (dog)", None, "B"),
    ("animals", "答案是B（dog）", None, "D"),
    ("animals", "The answer is B, i.e. dog", None, "B"),
    ("animals", "The answer is B, which is dog", None, "B"),
    ("animals", "\\boxed{B (dog)}", None, "B"),
    ("animals", "<answer>B (dog)</answer>", None, "D"),
    ("animals", "B (dog)", None, "B"),
    ("animals", "B dog", None, "B"),
    ("animals", "B = dog", None, "B"),
    ("animals", "B is a dog", None, "B"),
    ("animals", "Option B (dog)", None, "B"),
    ("animals", "Option B (dog) is correct", None, "B"),
    ("animals", "B（dog）", None, "D"),
    ("animals", "The dog is right, option B", None, "B"),
    ("animals", "The answer is A (50%), B (50%)", None, "A"),
    ("animals", "The answer is A and also B", None, "A"),
    ("animals", "The answer is (A)(B)", None, None),
    ("animals", "The answer is A–C", None, "A"),
    ("animals", "The answer is A, along with B", None, "A"),
    # A sentence next to the letter states another choice.
    ("animals", "\\boxed{A}. The answer is the horse.", None, None),
    ("animals", "The answer is the horse.\n\\boxed{A}", None, "A"),
    ("animals", "The answer is \\boxed{A} (horse).", None, "A"),
    ("animals", "A. The picture shows a horse.", None, "B"),
    ("animals", "A. The answer is a horse.", None, "A"),
    ("animals", "The answer is A. It is a horse.", None, "A"),
    ("animals", "Option A is right. The animal is a horse.", None, None),
    ("animals", "\\boxed{A}. The answer is the cat.", "A", None),
    ("animals", "A. The picture shows a cat, and the other one is a horse.", "A", None),
    ("animals", "The answer is A. Option B is a horse.", "A", "A"),
    ("animals", "The answer is A. The other animal is not a horse.", "A", "A"),
    ("animals", "B (horse)", "B", "B"),
    ("animals", "The answer is B, i.e. a horse", "B", "B"),
    ("animals", "Option B (horse) is correct", "B", "B"),
    ("animals", "Answer: A. Sorry, I meant B.", "B", None),
    # --- Declared letters, English
    ("animals", "The answer is (B).", "B", "B"),
    ("animals", "Option (C) is the correct answer since nothing else here has wings.", "C", None),
    ("animals", "A is correct.", "A", "A"),
    ("animals", "A is the right choice.", "A", None),
    ("animals", "I would go with option C", "C", "C"),
    ("animals", "It is (D).", "D", "D"),
    ("animals", "The animal has a mane, so B.", "B", "B"),
    ("animals", "Looking at the picture, the best choice would be C.", "C", "C"),
    ("animals", "The answer is a.", "A", "A"),
    ("animals", "The answer is F.", None, None),
    # --- Declared texts
    ("animals", "The answer is a dog.", "D", "A"),
    ("animals", "The answer is A dog.", "D", "A"),
    ("colours", "The answer is brown", None, "B"),
    ("colours", "It is red, not blue.", "A", None),
    ("colours", "The answer is bluegreen", None, "B"),
    ("numbers", "The answer is 3.5", "B", None),
    ("numbers", "The answer is 3.7", None, None),
    # A superscript or a fraction is not a plain digit.
    ("powers", "The answer is 2³.", None, None),
    ("powers", "There are 23² of them.", None, None),
    ("powers", "There are 8½ of them.", None, None),
    ("powers", "10⁵", "C", "C"),
    ("powers", "105", None, None),
    ("powers", "The answer is １½.", "D", None),
    ("powers", "The answer is ２３.", "B", None),
    ("powers", "The answer is B².", None, "B"),
    ("houses", "The answer is dog house.", "B", "D"),
    ("houses", "The answer is dog food.", None, "D"),
    ("chinese", "答案是狗", "D", "D"),
    # --- Chinese
    ("chinese", "正确答案是（B）。", "B", None),
    ("chinese", "B选项正确", "B", None),
    ("chinese", "B是正确的。", "B", None),
    ("chinese", "我认为是B", "B", None),
    ("chinese", "图中有一匹马，因此答案选B。", "B", None),
    ("chinese", "答案不是A", None, None),
    ("chinese", "A是错误的，B是正确的", "B", None),
    ("chinese", "答案是A或B", None, None),
    ("chinese", "这是一只可爱的小狗", None, None),
    # --- Negation and supposition
    ("animals", "not A", None, "A"),
    ("animals", "Not A but B.", "B", None),
    ("animals", "It isn't B but C", "C", None),
    ("animals", "It is not B, it is C.", "C", None),
    ("animals", "A is wrong. B is correct.", "B", None),
    ("animals", "Neither A nor B", None, None),
    ("animals", "If it is A, there must be whiskers. The answer is B.", "B", "B"),
    ("animals", "I don't think it is B.", None, "B"),
    ("colours", "The answer is not blue.", None, "B"),
    # A clause that denies or asks declares nothing.
    *(("animals", answer, None, "A") for answer in DENIED_LETTERS),
    *(("animals", answer, None, None) for answer in DENIED_CHOICES),
    *(("animals", answer, "B", compat) for answer, compat in DENIED_ELSEWHERE),
    # --- Several letters
    ("animals", "The answer is A or B.", None, "A"),
    ("animals", "The answer is both A and C.", None, "B"),
    ("animals", "A, B", None, None),
    ("animals", "A, along with B", None, None),
    ("animals", "A, together with B.", None, None),
    ("animals", "A, as well as B", None, None),
    ("animals", "A, plus B", None, None),
    ("animals", "A, but also B", None, None),
    ("animals", "Final answer: A, together with B", None, None),
    ("animals", "The answer is B in addition to C", None, "B"),
    ("animals", "A, not B", None, None),
    ("animals", "The answer is A. No, wait. The answer is C.", "C", "A"),
    ("animals", "A. cat\nB. horse\nC. bird\nD. dog", None, None),
    ("animals", "A. cat - incorrect\nB. horse - correct", "B", None),
    ("animals", "Looking at this, A, C and D can be ruled out. That leaves B.", None, None),
    ("animals", "A horse is shown in the picture.", "B", None),
    ("animals", "A. cat\nB. horse\nC. bird\nD. dog\nAnswer: B", "B", None),
    # --- The last word
    ("animals", "\\boxed{B}", "B", "B"),
    ("animals", "$\\boxed{\\text{B}}$", "B", "B"),
    ("animals", "It has a mane. $\\boxed{horse}$", "B", "B"),
    ("animals", "At first A seems right, the answer is A. But no. \\boxed{B}", "B", "A"),
    ("animals", "\\boxed{A} or \\boxed{B}", None, None),
    ("animals", "<answer>B</answer>", "B", None),
    ("animals", "The answer is A, is it? Final answer: C", "C", "A"),
    ("animals", "<think>The answer is A. No.</think>B", "B", "A"),
    # --- Leading and closing letters
    ("animals", "B. Because it has a long mane and it stands in a stable.", "B", None),
    ("animals", "It has hooves and a mane, which makes it the second one (B).", None, "B"),
    ("animals", "A cat sits on the mat.", "A", "A"),
    ("animals", "A-frame", None, None),
    ("vitamins", "Oranges contain vitamin C in large amounts.", "B", "C"),
    # --- One sentence that ends in a text
    ("animals", "The picture shows a horse.", "B", "B"),
    ("people", "The little girl is sitting in the middle.", "A", None),
    ("colours", "The car is red or blue.", None, None),
    ("animals", "Plan B is the best of all the plans that they have.", None, None),
    ("colours", "It is plainly Red, I think.", "A", None),
    # --- What is taken back
    ("animals", "The answer is A, no wait, B", "B", "A"),
    ("animals", "The answer is A. Actually, it is B.", "B", "A"),
    ("animals", "答案是A，不对，是B", "B", None),
    ("animals", "Wait, the answer is C.", "C", "C"),
    # --- Lists of the choices, which declare none
    *(
        ("animals", f"{head}\nA. cat: no mane.\nB. horse: a long mane.\n\n{end}", *letters)
        for head, end, *letters in [
            ("Let's analyze each option:", "Therefore, the correct answer is B.", "B", "B"),
            ("Consider all answers. Each answer:", "Only the horse has a mane.", "B", None),
            ("Answer:", "B is correct.", "B", None),
            ("逐个分析选项：", "因此答案是B。", "B", None),
        ]
    ),
    ("animals", "Let's analyze each option:\n\nA. cat: cats have fur", None, None),
    ("animals", "The following option: A. cat is small", None, "A"),
    # A text of one character may be a part of another word.
    ("chinese", "分析每个选项：\nA. 猫不会飞\nB. 马不会飞\nC. 鸟会飞\n所以鸟会飞。", None, None),
    (
        "chinese",
        "我们来看选项：\nA. 猫：会飞。\nB. 马：不会。\n因此选项A正确。答案是C。",
        "C",
        None,
    ),
    ("animals", "- A: cat\n- B: horse\n\nC", None, None),
    ("animals", "A. cat - no.\nB. horse - no.\nC. bird - yes.\nD. dog - no.", "C", None),
    ("animals", "A. cat - yes.\nB. horse - yes.", None, None),
    ("animals", "The correct answer is:\n\nB. horse", "B", "B"),
    ("animals", "Answer:\nA. cat\nIt has whiskers.", "A", None),
    ("animals", "The correct animal in the picture is that of a farm: it is the horse.", "B", None),
    # --- Texts of choices in sentences
    ("animals", "The bird that cannot fly is the dog.", "D", None),
    ("animals", "Based on the mane, a horse is what they all look at.", "B", None),
    ("animals", "I see a horse and a dog.", None, None),
    ("animals", "This word means horse. A cat is small.", "B", "A"),
    ("animals", "The left one is a cat. The right one is a dog.", None, None),
    ("colours", "The sky is green on a clear day.", "C", None),
    ("houses", "They all live in a dog house.", "B", None),
    ("pair", "Yes, it is hot.", "A", None),
    ("chinese", "图里有小狗。", None, "D"),
    ("numbers", "There are 35 of them.", "C", None),
    ("animals", "A horse barn stands in the field.", None, None),
    ("animals", "There is no horse.", None, "B"),
    ("animals", "A. cat ❌\nB. horse ✅", "B", None),
    # --- Choices that look like letters
    ("dollars", "$B$", None, "C"),
    ("dollars", "$A$", "A", "A"),
    # --- Texts that begin with a letter: a letter in a sentence may be the beginning of such a text
    ("species", "The answer is C. elegans.", "B", "C"),
    ("species", "Answer: C", "C", "C"),
    ("blood", "答案是B型。", "A", "A"),
    ("blood", "答案是B型血。", None, "A"),
    ("blood", "答案是B", "B", None),
    ("lines", "Therefore, A and B is the correct answer.", None, "C"),
    # --- Words around a declared letter
    ("animals", "It seems that the answer is B.", "B", "B"),
    ("animals", "According to the picture, the answer is B.", "B", "B"),
    ("animals", "The option that best describes the picture is B.", "B", "B"),
    ("animals", "Selected option: B", "B", "B"),
    ("animals", "B\n\nThe animal has a mane.", "B", None),
    ("chinese", "最符合的选项是B。", "B", None),
    # --- What follows the answer
    ("animals", "The answer is C.\n\nQuestion: What is it?\nA. x\nB. y\nAnswer: B", "C", "C"),
    ("animals", "The answer is C.<|im_end|>\n<|im_start|>user\nA", "C", "C"),
    # --- Refusals and nothing
    ("animals", "I can't see a cat. The picture shows a horse.", None, None),
    ("animals", "I'm unable to decide: A", None, "A"),
    ("animals", "I'm sorry, but I can't help with that request.", "Z", None),
    ("animals", "I cannot tell who this is.", "Z", None),
    ("animals", "None of them. Z", None, "Z"),
    ("animals", "", "Z", None),
]
