"""A CLIP model with random weights and one layer: it runs as a real one does, and knows nothing.

The weights of a real model are not at hand where tests run.
"""

import json
from pathlib import Path


def make_tiny_clip(folder: Path) -> Path:
    """Write the model, its tokenizer of single bytes and its processor to `folder`."""
    import torch
    from transformers import CLIPConfig, CLIPImageProcessor, CLIPModel, CLIPProcessor, CLIPTokenizer
    from transformers.convert_slow_tokenizer import bytes_to_unicode

    folder.mkdir(parents=True, exist_ok=True)
    letters = list(bytes_to_unicode().values())
    tokens = [*letters, *(f"{letter}</w>" for letter in letters)]
    tokens += ["<|startoftext|>", "<|endoftext|>"]
    (folder / "vocab.json").write_text(json.dumps({token: i for i, token in enumerate(tokens)}))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    tokenizer = CLIPTokenizer(
        str(folder / "vocab.json"), str(folder / "merges.txt"), model_max_length=77
    )
    small = {"hidden_size": 32, "intermediate_size": 37, "num_hidden_layers": 1}
    small |= {"num_attention_heads": 4, "projection_dim": 16}
    ends = {"bos_token_id": len(tokens) - 2, "eos_token_id": len(tokens) - 1}
    config = CLIPConfig(
        text_config={
            **small,
            **ends,
            "pad_token_id": len(tokens) - 1,
            "vocab_size": len(tokens),
            "max_position_embeddings": 77,
        },
        vision_config={**small, "image_size": 32, "patch_size": 8},
        projection_dim=16,
    )
    torch.manual_seed(0)
    CLIPModel(config).save_pretrained(folder)
    pictures = CLIPImageProcessor(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32})
    CLIPProcessor(image_processor=pictures, tokenizer=tokenizer).save_pretrained(folder)
    return folder
