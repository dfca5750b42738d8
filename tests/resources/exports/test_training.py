"""Forms that models are trained on: each read by the tool that it is for, with text and pixels
equal."""

import base64
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import datasets
import pytest
from PIL import Image
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from transformers.utils.chat_template_utils import render_jinja_template

from methods.evaluation.items import Item, Turn
from methods.exports.rows import table_row
from methods.exports.stacking import TokenBudget
from methods.mmdu.published import read_published
from methods.release import Edition
from resources.exports.formats import FORMS
from resources.exports.source import ExportError
from tests.resources.exports.conftest import written
from tests.resources.exports.test_huggingface import same_pixels

pytestmark = pytest.mark.slow

HERE = "<ImageHere>"
QWEN2_VL = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{% if message['content'] is string %}{{ message['content'] }}<|im_end|>\n"
    "{% else %}{% for content in message['content'] %}"
    "{% if content['type'] == 'image' or 'image' in content or 'image_url' in content %}"
    "<|vision_start|><|image_pad|><|vision_end|>"
    "{% elif 'text' in content %}{{ content['text'] }}{% endif %}{% endfor %}<|im_end|>\n"
    "{% endif %}{% endfor %}"
)
"""The chat template of Qwen2-VL's processor, without its system message and counters."""


def records(folder: Path, file: str) -> list[dict[str, Any]]:
    """The records as `datasets`, which training tools read them by, has them."""
    text = (folder / file).read_text()
    own = json.loads(text) if file.endswith(".json") else list(map(json.loads, text.splitlines()))
    rows = datasets.load_dataset(
        "json", data_files=str(folder / file), split="train", cache_dir=str(folder / ".cache")
    )
    assert len(rows) == len(own)
    return own


def test_llama_factory_finds_the_file_by_its_description(exported, dialogues):
    folder = exported(dialogues, "llama-factory", name="mmdu-instruct")
    described = json.loads((folder / "dataset_info.json").read_text())["mmdu_instruct"]
    (record, _) = records(folder, described["file_name"])
    tags, columns = described["tags"], described["columns"]
    assert described["formatting"] == "sharegpt"
    messages = record[columns["messages"]]
    assert messages[0][tags["role_tag"]] == tags["user_tag"]
    assert messages[1][tags["role_tag"]] == tags["assistant_tag"]
    assert messages[1][tags["content_tag"]] == "The second." and record[columns["images"]]


def test_openai_s_messages_go_through_a_chat_template_of_transformers(
    exported, dialogues, hostile, store
):
    items = [*dialogues, *hostile]
    folder = exported(items, "openai")
    lines = list(map(json.loads, (folder / "data.jsonl").open(encoding="utf-8")))
    messages = [line["messages"] for line in lines]
    rendered, _ = render_jinja_template(messages, chat_template=QWEN2_VL)
    picture = "<|vision_start|><|image_pad|><|vision_end|>"
    for item, line, text in zip(items, lines, rendered, strict=True):
        expected = "".join(
            f"<|im_start|>user\n{turn.question.replace(HERE, picture)}<|im_end|>\n"
            f"<|im_start|>assistant\n{turn.references['answer']}<|im_end|>\n"
            for turn in item.turns
        )
        assert text == expected
        parts = [part for each in line["messages"] for part in each["content"]]
        urls = [part["image_url"]["url"] for part in parts if "image_url" in part]
        sent = [base64.b64decode(url.partition(";base64,")[2]) for url in urls]
        assert sent == [store.read(image_id) for image_id in item.image_ids]
        for url, data in zip(urls, sent, strict=True):
            with Image.open(io.BytesIO(data)) as image:
                assert url.startswith(f"data:{image.get_format_mimetype()};")


def test_the_page_says_how_many_dialogues_openai_does_not_take(exported, image_ids):
    red, green, blue, white = image_ids  # PNG, JPEG, WEBP, GIF

    def showing(name: str, *shown: str) -> Item:
        turn = Turn(1, "?", tuple(range(1, len(shown) + 1)), {"answer": "!"})
        return Item(name, (turn,), shown)

    items = [showing("ten", *[red, green] * 5), showing("webp", blue)]
    items += [showing("eleven", *[red] * 11), showing("gif", white), showing("both", *[white] * 11)]
    page = (exported(items, "openai") / "README.md").read_text()
    (limits,) = re.findall(r"\n## Known limits\n(.*?)\n## ", page, re.DOTALL)
    assert "JPEG, PNG and WEBP alone: of 5 records 2 have more pictures, and 2 have" in limits


@pytest.mark.parametrize("form", ["llava", "sharegpt", "ms-swift", "llama-factory"])
def test_two_take_turns_pictures_stand_where_they_enter_and_texts_come_back_but_for_tokens(
    form, exported, dialogues, hostile, image_ids, store
):
    # No turn shows the last picture of the last dialogue.
    items = [*dialogues, *hostile, replace(dialogues[0], item_id="d3", image_ids=tuple(image_ids))]
    folder = exported(items, form)
    is_sharegpt = form in ("llava", "sharegpt")
    file = "data.json" if is_sharegpt else "data.jsonl"
    name, role, content = (
        ("conversations", "from", "value") if is_sharegpt else ("messages", "role", "content")
    )
    read = records(folder, file)
    assert read[0]["image_sources"][1]["changes"] == "cut out"
    for item, record in zip(items, read, strict=True):
        said = record[name]
        for turn, asked, answered in zip(item.turns, said[::2], said[1::2], strict=True):
            question = turn.question.replace("<image>", "< image>").replace(HERE, "<image>")
            answer = turn.references["answer"].replace("<image>", "< image>")
            assert (asked[content], answered[content]) == (question, answer)
        roles = ["human", "gpt"] if is_sharegpt else ["user", "assistant"]
        assert [each[role] for each in said] == roles * len(item.turns)
        images = record.get("image" if form == "llava" else "images", [])
        assert "".join(each[content] for each in said).count("<image>") == len(images)
        shown = [(folder / path).read_bytes() for path in images]
        places = [place - 1 for turn in item.turns for place in turn.image_positions]
        assert shown == [store.read(item.image_ids[place]) for place in places]
        assert ("image" in record) == (form == "llava" and bool(images))


def test_mmdu_s_json_is_read_as_the_authors_file(exported, dialogues, hostile):
    items = [*dialogues, *hostile]
    folder = exported(items, "mmdu")
    with (folder / "dialogues.json").open(newline="") as lines:
        read = list(read_published("dialogues.json", lines))
    for item, found in zip(items, read, strict=True):
        assert (found.item_id, found.turns) == (item.item_id, item.turns)
        assert found.labels == item.labels
        assert [Path(path).stem for path in found.images] == list(item.image_ids)
    # The text is that of one `json.dumps`.
    text = (folder / "dialogues.json").read_text()
    assert text == json.dumps(json.loads(text), indent=1, ensure_ascii=False)


def test_choices_are_asked_with_their_letters_and_answered_by_one(exported, questions):
    folder = exported(questions, "ms-swift")
    asked, answered = records(folder, "data.jsonl")[0]["messages"]
    assert asked["content"] == (
        "<image><image>Which one, 0?\nA. this\nB. that\nC. =none\n"
        "Answer with the option's letter from the given choices directly."
    )
    assert answered == {"role": "assistant", "content": "B"}


def test_a_dialogue_ends_before_the_first_turn_without_an_answer(exported, image_ids):
    turns = (
        Turn(1, "Set.", (), {}, given="This was set."),
        Turn(2, "Asked.", (), {"answer": "Answered."}),
        Turn(3, f"{HERE}Asked again.", (1,), {}),
    )
    items = [Item("a", turns, (image_ids[0],)), Item("b", turns[2:], (image_ids[0],))]
    folder = exported(items, "ms-swift")
    (record,) = records(folder, "data.jsonl")
    texts = [each["content"] for each in record["messages"]]
    assert texts == ["Set.", "This was set.", "Asked.", "Answered."]
    assert record["images"] == []
    page = (folder / "README.md").read_text()
    assert "| Items left out of these files: no answer | 1 |" in page


@pytest.mark.parametrize("form", [form.name for form in FORMS.values() if form.with_answers])
def test_nobody_is_trained_on_answers_that_are_held_out(form, released, questions, tmp_path):
    source = released(questions, edition=Edition("mmbench", "test", "en"))
    said = f"held out, and {form} is of no use without: export it as"
    with pytest.raises(ExportError, match=said):
        written(source, tmp_path / "out", form)


def web_dataset(urls: str) -> Any:
    import webdataset  # Imports torch, which collecting the tests does not need.

    return webdataset.WebDataset(urls, shardshuffle=False)


def test_webdataset_gives_back_every_item_with_its_pictures(
    released, dialogues, hostile, store, tmp_path
):
    items = [*dialogues, *hostile]
    source = released(items)
    folder = written(source, tmp_path / "out", "webdataset")
    (shard,) = folder.glob("*.tar")
    assert shard.name == "test-000000.tar"
    samples = list(web_dataset(str(shard)).decode("pil"))
    expected = [table_row(item) for item in source.items()]
    assert [sample["json"] for sample in samples] == expected
    for item, sample in zip(items, samples, strict=True):
        shown = {name: each for name, each in sample.items() if name[0].isdigit()}
        places = [int(name.split(".")[0]) for name in shown]
        assert places == list(range(1, len(item.image_ids) + 1))
        for each, image_id in zip(shown.values(), item.image_ids, strict=True):
            assert same_pixels(each, store.read(image_id))


def test_webdataset_s_shards_end_at_their_size(exported, hostile):
    items = [hostile[-1], *hostile[:-1]]  # The first one is long.
    folder = exported(items, "webdataset", 1)
    shards = sorted(folder.glob("*.tar"))
    assert len(shards) == 2
    urls = f"{folder}/test-{{000000..{len(shards) - 1:06d}}}.tar"
    assert f"{{000000..{len(shards) - 1:06d}}}.tar" in (folder / "README.md").read_text()
    samples = list(web_dataset(urls))
    assert [sample["__key__"] for sample in samples] == [f"{n:09d}" for n in range(len(hostile))]
    assert all(shard.stat().st_size >= 1_000_000 for shard in shards[:-1])


@pytest.mark.parametrize("form", ["llava", "sharegpt", "ms-swift", "llama-factory", "openai"])
def test_records_hold_as_many_dialogues_as_a_budget(form, released, dialogues, hostile, tmp_path):
    items = [*dialogues, hostile[-1], *hostile[:-1]]
    folder = written(released(items, budget=TokenBudget(2_000, 100)), tmp_path / "out", form)
    file = "data.json" if form in ("llava", "sharegpt") else "data.jsonl"
    read = records(folder, file)
    page = (folder / "README.md").read_text()
    assert len(read) < len(items)
    assert f"{len(items)} dialogues in {len(read)} records of at most 2000 tokens by rule" in page
    assert "1 longer dialogues are whole records of their own." in page
    if form == "openai":
        return
    first = read[0]
    assert first["dialogues"][:2] == [item.item_id for item in dialogues]
    shown = first["image" if form == "llava" else "images"]
    assert len(shown) == len(first["image_sources"]) and len(set(shown)) == len(shown)
    said = first.get("conversations") or first["messages"]
    texts = [each.get("value") or each.get("content") for each in said]
    assert texts[3:6] == ["Neither.", "Why?", "Because."]
    assert sum(text.count("<image>") for text in texts) == len(shown)


def test_tokens_are_counted_by_a_tokenizer_that_is_named(released, dialogues, tmp_path):
    words = Tokenizer(WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    words.pre_tokenizer = WhitespaceSplit()
    words.save(str(tmp_path / "tokenizer.json"))
    # 5 + 2 + 2 + 1 words, 3 pictures, 4 messages; and 1 + 1 words, 2 messages.
    exact = (5 + 2 + 2 + 1 + 3 * 7 + 4 * 5) + (1 + 1 + 2 * 5)
    for tokens, expected in ((exact, 1), (exact - 1, 2)):
        source = released(dialogues, budget=TokenBudget(tokens, 7, str(tmp_path)))
        folder = written(source, tmp_path / f"out{tokens}", "ms-swift")
        assert len(records(folder, "data.jsonl")) == expected
    (tmp_path / "broken.json").write_text("{")
    source = released(dialogues, budget=TokenBudget(9, 7, str(tmp_path / "broken.json")))
    with pytest.raises(ExportError, match=r"broken.json is not a tokenizer .*: let stack_token"):
        written(source, tmp_path / "none", "ms-swift")


def test_a_folder_is_not_taken_for_one_of_another_budget(exported, released, dialogues, tmp_path):
    exported(dialogues, "ms-swift")
    with pytest.raises(ExportError, match="was made otherwise"):
        written(released(dialogues, budget=TokenBudget(9, 7)), tmp_path / "out", "ms-swift")
    written(released(dialogues), tmp_path / "tsv", "vlmevalkit")
    written(released(dialogues, budget=TokenBudget(9, 7)), tmp_path / "tsv", "vlmevalkit")
