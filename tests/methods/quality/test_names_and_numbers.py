"""Names and terms of other languages, and numbers that are no personal data."""

import pytest

from methods.quality.languages import language_fault
from methods.quality.personal_data import personal_data_in

WANTED = [
    # Names in another script.
    ("en", "The two temples are Kinkaku-ji (金閣寺) and Ginkaku-ji (銀閣寺)."),
    ("zh", "<image-1> 是 Canon EOS 5D Mark IV，<image-2> 是 Nikon D850。"),
    ("zh", "这是 (Great Wall) 长城。"),
    ("ru", "На фото Boeing 747-400 компании British Airways."),
    ("hi", "बाईं ओर Tata Nexon है।"),
    ("zh", "Tom Hanks, Robin Wright, Gary Sinise"),
    ("zh", "1. Tom Hanks\n2. Robin Wright"),
    ("zh", "图中的品牌有：adidas、nike、puma。"),
    # Formulas and quotations.
    ("zh", "由$AP \\perp PC, \\frac{a}{b} = pq$得证。"),
    ("zh", "译文如下。\n“The left one\nis redder than the right one is.”\n“左边的更红。”"),
    # Terms of another language.
    ("en", "Allegro ma non troppo, then andante con moto."),
    ("en", "Voussoirs, archivolt, tympanum, trumeau and jamb statues."),
    ("en", "A chaise longue and an étagère."),
]
OTHERS = [
    ("en", "Warum ist das so?"),
    ("en", "El agua está fría."),
    ("en", "De molen is rood."),
    ("en", "No me es posible verlo."),
    ("en", "The mill (风车) 是红色的 在雪地里 很漂亮"),
    ("zh", "The left one."),
    ("zh", "图中 there are three red apples 和 two dogs"),
    ("zh", "Canon EOS and the other camera are black."),
    ("ru", "The left camera is a Nikon D850."),
    ("ja", "红色的风车在雪地里"),
]


@pytest.mark.parametrize(("language", "text"), WANTED)
def test_names_and_terms_are_no_other_language(language: str, text: str) -> None:
    assert language_fault(text, language) is None


@pytest.mark.parametrize(("language", "text"), OTHERS)
def test_texts_in_another_language_are_found_short_ones_too(language: str, text: str) -> None:
    assert language_fault(text, language) is not None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Mail to a.b@example.org now", "e-mail address: a.…rg"),
        ("DE89 3704 0044 0532 0130 00", "IBAN: DE…00"),
        # One digit is another: the checksum is wrong.
        ("DE88 3704 0044 0532 0130 00", None),
        ("4111 1111 1111 1111", "card number: 41…11"),
        ("4111 1111 1111 1112", None),
        ("+49 30 1234567", "telephone number: +4…67"),
        ("The mill of 1872 stands at 59.3293, 18.0686 and is 12 m high; 1,234,567 saw it.", None),
        ("From 1914-1918 and 1939-1945, page 300-301.", None),
        ("user@localhost", None),
        ("jane.doe [at] example [dot] com", "e-mail address: ja…om"),
        ("maria arroba ejemplo punto es", "e-mail address: ma…es"),
        ("She looks at the dot com logo, 2 @ 3.50 each.", None),
        # In other forms.
        ("Call 0044 20 7946 0958 now", "telephone number: 00…58"),
        ("手机13812345678", "telephone number: 13…78"),
        ("Her number is 0123 456 789.", "telephone number: 01…89"),
        ("Telephone number: 123-456-7890", "telephone number: 12…90"),
        ("de89 3704 0044 0532 0130 00", "IBAN: de…00"),
        ("anna at mail dot de", "e-mail address: an…de"),
        # Counts, numbers of things and files.
        ("It formed 13800000000 years ago.", None),
        ("The board counts 15012345678 visitors.", None),
        ("It cost 13812345678 yen, and that $13812345678.", None),
        ("inventory number 0123 456 789", None),
        ("part number 123-456-7890", None),
        ("订单号：13812345678", None),
        ("Clone git@github.com:org/repo to begin.", None),
        ("The file is logo@2x.png.", None),
    ],
)
def test_personal_data(text: str, found: str | None) -> None:
    assert personal_data_in(text) == found
