"""A vision-language model of few random weights, to try the recipe without a download.

    python docs/guides/task_map/tiny_model.py --release data/releases/ID --out tiny

It has the form of LLaVA and knows nothing: what it learns shows that the recipe runs, not how tasks are
related. Its tokenizer knows the words of the release.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (
    CLIPVisionConfig,
    LlamaConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    LlavaProcessor,
    PreTrainedTokenizerFast,
)
from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

SIDE, PATCH = 28, 14
"""Pixels of a picture and of a patch: four patches a picture."""
SPREAD = 0.3
"""Standard deviation of the weights: with the usual 0.02 no change would reach the answer."""
TEMPLATE = (
    "{% for message in messages %}{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}<image>{% else %}{{ part['text'] }}{% endif %}"
    "{% endfor %}{% endfor %}{% if add_generation_prompt %}\nAnswer: {% endif %}"
)


def main(argv: Sequence[str] | None = None) -> int:
    """Write model and processor."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--release", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args(argv)
    tables = json.loads((chosen.release / "tables.json").read_text())
    texts = [row["question"] for row in tables["turns"]]
    texts += [row["choice"] for row in tables["choices"]]
    tokenizer = _tokenizer(texts)
    torch.manual_seed(chosen.seed)
    model = LlavaForConditionalGeneration(_config(tokenizer))
    model.save_pretrained(chosen.out)
    LlavaProcessor(
        image_processor=CLIPImageProcessorPil(
            size={"shortest_edge": SIDE}, crop_size={"height": SIDE, "width": SIDE}
        ),
        tokenizer=tokenizer,
        patch_size=PATCH,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=TEMPLATE,
    ).save_pretrained(chosen.out)
    print(f"{sum(each.numel() for each in model.parameters())} weights in {chosen.out}")
    return 0


def _tokenizer(texts: Sequence[str]) -> PreTrainedTokenizerFast:
    word_level = Tokenizer(models.WordLevel(unk_token="<unk>"))
    word_level.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["<pad>", "<unk>", "<s>", "</s>", "<image>"]
    words = trainers.WordLevelTrainer(special_tokens=special)
    word_level.train_from_iterator([*texts, "A B C D E F G H . Answer :"], words)
    return PreTrainedTokenizerFast(
        tokenizer_object=word_level,
        pad_token="<pad>",
        unk_token="<unk>",
        bos_token="<s>",
        eos_token="</s>",
        extra_special_tokens={"image_token": "<image>"},
    )


def _config(tokenizer: PreTrainedTokenizerFast) -> LlavaConfig:
    return LlavaConfig(
        vision_config=CLIPVisionConfig(
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=4,
            initializer_range=SPREAD,
            image_size=SIDE,
            patch_size=PATCH,
        ),
        text_config=LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=4,
            initializer_range=SPREAD,
            pad_token_id=tokenizer.pad_token_id,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
        ),
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
    )


if __name__ == "__main__":
    sys.exit(main())
