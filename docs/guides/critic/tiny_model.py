"""A language model of few random weights, to try the recipe without a download.

    python docs/guides/critic/tiny_model.py --data_folder data/critic/RELEASE --out tiny

It has the form of Llama and knows nothing: what it learns shows that the recipe runs, not how good a
critic becomes. Its tokenizer is trained on the pairs.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

SPREAD = 0.1
"""Standard deviation of the weights: with the usual 0.02 hardly any change reaches the reply."""
TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}</s>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
ROLES = ("<|system|>", "<|user|>", "<|assistant|>")


def main(argv: Sequence[str] | None = None) -> int:
    """Write model and tokenizer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data_folder", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args(argv)
    lines = (chosen.data_folder / "train.jsonl").read_text().splitlines()
    messages = [message for line in lines for message in json.loads(line)["messages"]]
    tokenizer = _tokenizer([message["content"] for message in messages])
    torch.manual_seed(chosen.seed)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=4,
            initializer_range=SPREAD,
            max_position_embeddings=8192,
            pad_token_id=tokenizer.pad_token_id,
            bos_token_id=None,
            eos_token_id=tokenizer.eos_token_id,
        )
    )
    model.save_pretrained(chosen.out)
    tokenizer.save_pretrained(chosen.out)
    print(f"{sum(each.numel() for each in model.parameters())} weights in {chosen.out}")
    return 0


def _tokenizer(texts: Sequence[str]) -> PreTrainedTokenizerFast:
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    special = ["<pad>", "</s>", *ROLES]
    bpe.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=1000,
            special_tokens=special,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bpe, pad_token="<pad>", eos_token="</s>", extra_special_tokens=list(ROLES)
    )
    tokenizer.chat_template = TEMPLATE
    return tokenizer


if __name__ == "__main__":
    sys.exit(main())
