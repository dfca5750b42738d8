"""MMBench's published files, read, written and refused, and which pass a prediction is of."""

import base64
import csv
import io
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.choice.lettered import LETTERS
from methods.evaluation.cells import FileRow
from methods.evaluation.items import Item, Turn
from methods.evaluation.predictions import PredictionError, PredictionKey, Unplaced, predictions_of
from methods.evaluation.published import BrokenImage, PublishedError, PublishedItem
from methods.invisible_characters import visible_text
from methods.mmbench import predictions as mmbench_predictions
from methods.mmbench.predictions import places
from methods.mmbench.published import read_published, tsv_lines, write_published
from methods.mmbench.taxonomy import LEVEL_3, abilities
from tests.methods.choice.questions import item
from tests.methods.refusals import clause_of

HEADER = "index\tquestion\thint\tA\tB\tC\tD\tanswer\tcategory\tl2-category\tsplit\timage"
IMAGE = base64.b64encode(b"p" * 90).decode()
FISH = PublishedItem(
    "241",
    (Turn(1, "<ImageHere>\nHint: It swims.\nQuestion: What is it?", (1,), {"key": "B"}),),
    (b"p" * 90,),
    ("cat", "fish", "NA"),
    labels={
        **{"l1-category": "reasoning", "l2-category": "attribute_reasoning"},
        **{"category": "identity_reasoning", "split": "dev"},
    },
)
ROW = (
    "241\tWhat is it?\tIt swims.\tcat\tfish\tNA\t\tB\tidentity_reasoning\tattribute_reasoning\tdev\t"
    + IMAGE
)


def read(text: str, name: str = "dev.tsv") -> list[PublishedItem]:
    return list(read_published(name, text.splitlines(keepends=True)))


def table(*rows: str) -> str:
    return "\n".join([HEADER, *rows]) + "\n"


def cells(**of: str) -> str:
    """A row of `ROW` with other cells."""
    row = dict(zip(HEADER.split("\t"), ROW.split("\t"), strict=True))
    return "\t".join({**row, **of}.values())


def bytes_of(path: str) -> bytes:
    """Stands for the picture under a path; longer than an index."""
    return b"picture " * 10 + path.encode()


def written(name: str, items: Sequence[PublishedItem]) -> str:
    return "".join(write_published(items, bytes_of)[name])


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text), delimiter="\t"))


def test_cells_are_texts_images_those_of_other_rows_and_levels_follow():
    (item,) = read(table(cells(A="None", B="NA", C="nan", D="", hint="", answer="")))
    assert item.choices == ("None", "NA", "nan")
    assert item.turns[0] == Turn(1, "<ImageHere>\nWhat is it?", (1,))
    assert rows_of(written("mmbench.tsv", [item]))[0]["answer"] == ""
    # An image may be that of another row.
    items = read(table(ROW, cells(index="5", image="241"), cells(index="6", image="5")))
    assert [item.images for item in items] == [FISH.images] * 3
    assert len({id(image) for item in items for image in item.images}) == 1, "it is decoded once"
    # The level above follows from the category.
    (item,) = read(table(cells(**{"l2-category": ""})))
    assert item.labels == FISH.labels
    (other,) = read(table(cells(**{"l2-category": "taste", "category": "sweet"})))
    assert "l1-category" not in other.labels and other.labels["l2-category"] == "taste"


ELEVEN = "\t".join(["index", "question", *LETTERS, "K", "image_path"]) + "\n7\tWhich?" + "\tx" * 12
"""A table with a row of eleven choices."""


def test_the_taxonomy_is_the_papers() -> None:
    leaves = [leaf for of in LEVEL_3.values() for leaf in of]
    assert (len(LEVEL_3), len(leaves), len(set(leaves))) == (6, 20, 20)
    counts = {above: sum(of.values()) for above, of in LEVEL_3.items()}
    assert sum(counts.values()) == 3217 and min(min(of.values()) for of in LEVEL_3.values()) == 125
    by_level_1 = {"perception": 0, "reasoning": 0}
    for above, n in counts.items():
        by_level_1[abilities({"l2-category": above})["l1-category"]] += n
    assert by_level_1 == {"perception": 2068, "reasoning": 1149}


SECOND = cells(index="1000241", A="fish", B="NA", C="cat", answer="A", image="241")
THIRD = cells(index="2000241", A="NA", B="cat", C="fish", answer="C", image="241")
PASSES = (ROW, SECOND, THIRD)


def test_a_row_or_the_passes_of_a_question_are_one_item_however_they_are_named():
    for rows in ([ROW], [ROW, SECOND, THIRD], [ROW, THIRD, SECOND]):
        assert read(table(*rows), "DEV.TSV") == [FISH]
    # Passes may be shifted the other way and named by g index.
    rows = [ROW, THIRD.replace("2000241", "9", 1), SECOND.replace("1000241", "8", 1)]
    text = "\n".join([HEADER + "\tg_index", *(f"{row}\t241" for row in rows)]) + "\n"
    assert read(text) == [FISH]
    # The answer may be held out in every pass.
    passes = [row.replace(f"\t{key}\tid", "\t\tid") for row, key in zip(PASSES, "BAC", strict=True)]
    (item,) = read(table(*passes))
    assert item.turns[0].references == {}


def test_a_circular_file_has_a_row_for_each_place_and_the_image_once() -> None:
    rows = rows_of(written("mmbench-circular.tsv", [FISH]))
    assert [(row["index"], row["A"], row["B"], row["C"], row["answer"]) for row in rows] == [
        ("241", "cat", "fish", "NA", "B"),
        ("1000241", "fish", "NA", "cat", "A"),
        ("2000241", "NA", "cat", "fish", "C"),
    ]
    assert [row["image"] for row in rows] == [IMAGE, "241", "241"]
    assert {row["hint"] for row in rows} == {"It swims."}


TEXTS = st.lists(
    st.sampled_from([*"\"'\n\t\\字", "\r\n", "Hint: ", "\nQuestion: ", "None", "A. "])
    | st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=6),
    min_size=1,
    max_size=4,
).map("".join)
IDS = st.integers(0, 999_999).map(str) | st.text("ab1", min_size=1, max_size=5)


@st.composite
def items(draw: st.DrawFn) -> PublishedItem:
    question = draw(TEXTS.filter(visible_text))
    hint = draw(st.one_of(st.just(""), TEXTS))
    choices = tuple(draw(st.lists(TEXTS.filter(visible_text), min_size=2, max_size=10)))
    texts = [visible_text(choice) for choice in choices]
    singles = [
        letter for letter, text in zip(LETTERS, texts, strict=False) if texts.count(text) == 1
    ]
    key = draw(st.sampled_from(["", *singles]))
    above = f"Hint: {hint}\nQuestion: {question}" if hint else question
    labels = draw(st.dictionaries(st.sampled_from(["category", "split", "länge"]), TEXTS))
    return PublishedItem(
        draw(IDS),
        (Turn(1, f"<ImageHere>\n{above}", (1,), {"key": key} if key else {}),),
        ("a.jpg",),
        choices,
        labels={**abilities(labels), **labels},
    )


@given(st.lists(items(), min_size=1, max_size=3, unique_by=lambda item: item.item_id))
def test_what_was_written_is_read_as_it_was_in_both_forms(released: list[PublishedItem]) -> None:
    for circular in (False, True):
        text = "".join(tsv_lines(released, bytes_of, circular=circular))
        again = read(text)
        assert again == [replace(item, images=(bytes_of("a.jpg"),)) for item in released]
        assert "".join(tsv_lines(again, bytes_of, circular=circular)) == text


PLACES = "in a circular file every question has one for each place of the right choice"
NO_LETTER = "is not a letter of a choice"
NOT_SHIFTED = (
    "the passes of record 1 ('241') are not its choices and its answer, shifted one by one"
)
REFUSED = [
    ("index\tquestion\tA\timage\n", "it has no column B"),
    (table(cells(question=" ")), "record 1 ('241') has no question"),
    (table(cells(question="\u200b")), "record 1 ('241') has no question"),
    (table(cells(B="\u3164")), "record 1 ('241'): its choice B is empty"),
    (table(cells(B="", C="")), "record 1 ('241') has 1 choices instead of 2 to 10"),
    (ELEVEN, "record 1 ('7') has 11 choices instead of 2 to 10"),
    (
        table(cells(A="fish", B="fish", answer="B")),
        "record 1 ('241'): its right choice B has the same text as its choice A; correct one of them, "
        "or remove the record",
    ),
    (table(cells(answer="D")), f"record 1 ('241'): its answer 'D' {NO_LETTER}"),
    (table(cells(index="1.5")), "record 1: its index '1.5' is not a whole number"),
    (table(cells(index="")), "record 1 has no index"),
    (table(ROW, ROW), "two records have the index '241'"),
    (
        "\n".join([f"{HEADER}\titem_id", *(f"{cells(index=index)}\tx" for index in "56")]) + "\n",
        "two records have the id 'x'",
    ),
    (
        table(cells(question="<ImageHere> and <ImageHere>")),
        "record 1 ('241') has 2 <ImageHere> for 1 images",
    ),
    (table(SECOND), "record 1 ('1000241') is a pass of record '241', which the file does not have"),
    (table(ROW, SECOND), f"record 1 ('241') has 2 passes for 3 choices: {PLACES}"),
    (table(ROW, SECOND, SECOND.replace("1000241", "2000241", 1)), NOT_SHIFTED),
    (
        table(ROW, SECOND, THIRD.replace("It swims.", "It flies.")),
        "record 3 ('2000241') has another hint than record 1 ('241')",
    ),
]

NO_IMAGE = "is neither base64 nor the index of a record that has an image"


@pytest.mark.parametrize(
    ("image", "reason", "what"),
    [
        ("", "missing", "the record has no image"),
        ("241", "missing", f"'241' {NO_IMAGE}"),
        ("?" * 80, "not_base64", "it is not base64"),
    ],
)
def test_a_broken_image_does_not_stop_the_other_records(image: str, reason: str, what: str) -> None:
    broken, whole = read(table(cells(image=image), cells(index="5")))
    (image_of_record,) = broken.images
    assert isinstance(image_of_record, BrokenImage)
    assert (image_of_record.reason, image_of_record) == (reason, what)
    assert whole.images == FISH.images


def test_the_rows_up_to_an_image_are_few() -> None:
    rows = [cells(index=str(number), image=str(number + 1)) for number in range(1, 13)]
    items = read(table(*rows, cells(index="13")))
    assert [isinstance(item.images[0], BrokenImage) for item in items] == [True] * 2 + [False] * 11


@pytest.mark.parametrize(("text", "why"), REFUSED)
def test_what_is_refused(text: str, why: str) -> None:
    assert clause_of(read, text) == why


def test_another_kind_of_file_is_refused() -> None:
    with pytest.raises(PublishedError, match=r"it is neither a \.tsv nor a \.parquet, as which"):
        read("", "mmbench.xlsx")


NUMBERED = [
    item("A", "cat", "dog", "NA", item_id="7"),
    item("B", "1.50", "2", item_id="241"),
    item("B", "2", "2.0", "2.00", item_id="9"),
]
NAMED = [item("A", "cat", "dog", item_id="x"), item("B", "red", "blue", item_id="y")]


def place(items: list[Item], **cells: str) -> PredictionKey | Unplaced:
    (found,) = places(items, [FileRow("record 1", cells)])
    return found


def key(item_id: str, shift: int) -> PredictionKey:
    return PredictionKey(item_id, f"shift-{shift}")


@pytest.mark.parametrize(
    ("index", "found"),
    [
        *((index, key("7", 0)) for index in ("7", "7.0", "0000007")),
        *((index, key("7", 1)) for index in ("1000007", "1.000007e+06")),
        ("2000007.0", key("7", 2)),
        ("1000241", key("241", 1)),
        # It has two choices, and so two passes.
        ("2000241", "unknown_pass"),
        *((index, "unknown") for index in ("8", "1000008", "", "-7", "²", "9" * 5000)),
    ],
)
def test_an_index_names_a_question_and_its_pass(index, found):
    assert place(NUMBERED, index=index) == found


@pytest.mark.parametrize("ids", ["123", "xyz"])
def test_an_index_that_counts_from_0_is_refused_if_the_questions_are_counted_from_1(ids) -> None:
    items = [item("A", "cat", "dog", item_id=each) for each in ids]
    rows = [FileRow("record", {"index": index, "prediction": "A"}) for index in "012"]
    with pytest.raises(PredictionError, match=r"none has the last, 3\. Add 1 to every index"):
        predictions_of(mmbench_predictions, items, rows)
    last = FileRow("record", {"index": "3", "prediction": "B"})
    assert len(predictions_of(mmbench_predictions, items, [*rows, last]).texts) == 3


def test_g_index_or_the_place_or_the_id_names_the_question():
    assert place(NUMBERED, index="1000007", g_index="7") == key("7", 1)
    assert place(NUMBERED, index="99", g_index="7.0", A="dog", B="NA", C="cat") == key("7", 1)
    assert place(NUMBERED, index="7", g_index="8") == "unknown"
    # Where ids are no numbers an index is the place or the id.
    assert place(NAMED, index="2") == key("y", 0)
    assert place(NAMED, index="1000001") == key("x", 1)
    assert place(NAMED, index="x") == key("x", 0)
    assert place(NAMED, index="1000001", item_id="y") == key("y", 1)
    assert place(NAMED, index="1", item_id="z") == "unknown"
    # An index that is the id of one and the place of another names none.
    mixed = [item("A", "cat", "dog", item_id="2"), item("B", "red", "blue", item_id="y")]
    assert place(mixed, index="2") == "ambiguous"
    assert place(mixed, index="2", item_id="y") == key("y", 0)
    assert place(mixed, index="1") == key("2", 0)


@pytest.mark.parametrize(
    ("index", "choices", "found"),
    [
        ("1000007", "dog/NA/cat", key("7", 1)),
        # The second pass of a file that shifts the other way is the third one here.
        ("1000007", "NA/cat/dog", key("7", 2)),
        # Tools write choices otherwise: pandas takes NA for missing, a spreadsheet has numbers.
        ("7", "cat/dog/", key("7", 0)),
        ("1000241", "2.0/1.5", key("241", 1)),
        ("7", " cat /dog/NA", key("7", 0)),
        # Equal as numbers: only the texts tell the passes apart.
        ("1000009", "2.00/2/2.0", key("9", 2)),
        ("1000009", "2.0/2.00/2", key("9", 1)),
        ("1000009", "2/2/2", "other_choices"),
        *(("7", other, "other_choices") for other in ("cat", "cat/dog/cow", "dog/cat/NA")),
        ("7", "cat/dog/NA/cow", "other_choices"),
    ],
)
def test_choices_say_which_pass_it_is_or_that_it_is_another_question(index, choices, found) -> None:
    assert (
        place(NUMBERED, index=index, **dict(zip("ABCD", choices.split("/"), strict=False))) == found
    )
