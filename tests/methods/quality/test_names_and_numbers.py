"""Names and terms of other languages, and numbers that are no personal data."""

import pytest

from methods.quality.languages import language_fault
from methods.quality.leaks import SourceTexts, leak_in
from methods.quality.outcome import WriterContext
from methods.quality.personal_data import personal_data_in


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "The two temples are Kinkaku-ji (金閣寺) and Ginkaku-ji (銀閣寺)."),
        ("en", "Wat Phra Kaew (วัดพระแก้ว) and Wat Arun (วัดอรุณ)."),
        ("zh", "<image-1> 是 Canon EOS 5D Mark IV，<image-2> 是 Nikon D850。"),
        ("zh", "左边是iPhone 15 Pro，右边是Samsung Galaxy S24 Ultra。"),
        ("zh", "这是 (Great Wall) 长城。"),
        ("ja", "Nikon D850とCanon EOS R5です。"),
        ("ko", "왼쪽은 BMW 320d, 오른쪽은 Audi A4 입니다."),
        ("ru", "На фото Boeing 747-400 компании British Airways."),
        ("el", "Η αφίσα των Rolling Stones και των Led Zeppelin."),
        ("hi", "बाईं ओर Tata Nexon है।"),
    ],
)
def test_names_in_another_script_are_no_other_language(language: str, text: str) -> None:
    assert language_fault(text, language) is None


@pytest.mark.parametrize(
    "text",
    [
        "Allegro ma non troppo, then andante con moto.",
        "Voussoirs, archivolt, tympanum, trumeau and jamb statues.",
        "Legato, staccato and pizzicato.",
        "Adagio, andante, allegro.",
        "A chaise longue and an étagère.",
        "Crème brûlée, profiteroles and tarte tatin.",
        "Sfumato, chiaroscuro, impasto and grisaille.",
    ],
)
def test_terms_of_another_language_are_no_other_language(text: str) -> None:
    assert language_fault(text, "en") is None


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Warum ist das so?"),
        ("en", "El agua está fría."),
        ("en", "De molen is rood."),
        ("en", "No me es posible verlo."),
        ("en", "The mill (风车) 是红色的 在雪地里 很漂亮"),
        ("zh", "The left one."),
        ("zh", "Canon EOS and the other camera are black."),
        ("ru", "The left camera is a Nikon D850."),
        ("ja", "红色的风车在雪地里"),
    ],
)
def test_texts_in_another_language_are_found_short_ones_too(language: str, text: str) -> None:
    assert language_fault(text, language) is not None


@pytest.mark.parametrize(
    "text",
    [
        "It formed 13800000000 years ago.",
        "The board counts 15012345678 visitors.",
        "18500000000",
        "It cost 13812345678 yen, and that $13812345678.",
        "inventory number 0123 456 789",
        "part number 123-456-7890",
        "The box has the serial no. 0123 456 789.",
        "The catalogue number reads 0123-456789.",
        "订单号：13812345678",
        "Clone git@github.com:org/repo to begin.",
        "The file is logo@2x.png.",
        "In <image-1>, look at seurat dot technique",
        "Look at monet dot in blue.",
    ],
)
def test_counts_numbers_of_things_and_files_are_no_personal_data(text: str) -> None:
    assert personal_data_in(text) is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Call 0044 20 7946 0958 now", "telephone number: 00…58"),
        ("手机13812345678", "telephone number: 13…78"),
        ("Call 13812345678 to book", "telephone number: 13…78"),
        ("Her number is 0123 456 789.", "telephone number: 01…89"),
        ("Telephone number: 123-456-7890", "telephone number: 12…90"),
        ("de89 3704 0044 0532 0130 00", "IBAN: de…00"),
        ("Pay to de89370400440532013000 first.", "IBAN: de…00"),
        ("4111.1111.1111.1111", "card number: 41…11"),
        ("The card is 4111 1111 1111 1111.", "card number: 41…11"),
        ("anna at mail dot de", "e-mail address: an…de"),
    ],
)
def test_personal_data_in_other_forms_are_found(text: str, found: str) -> None:
    assert personal_data_in(text) == found


def test_a_third_of_the_words_in_another_script_is_too_much() -> None:
    assert language_fault("The old red mill stands on 红色风车", "en") is not None
    assert language_fault("The old red mill stands on a low hill 红色", "en") is None


def test_a_question_that_ends_with_words_of_a_caption_tells_them() -> None:
    told = SourceTexts.from_sources([WriterContext("Mill", "it stands by the old red pier", "")], 5)
    assert leak_in("who built what stands by the old red pier", told) is not None
    assert leak_in("who built what is by the old red pier", told) is not None
    assert leak_in("who is by an old red pier", told) is None
