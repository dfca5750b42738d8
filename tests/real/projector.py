"""Write a random vision projector for llama.cpp: the model reads images as noise of the same size.

Run by the Python of `.venv-real`, which has gguf and numpy:
`python tests/real/projector.py MODEL.gguf PROJECTOR.gguf`.
"""

import sys
from collections.abc import Iterator

import gguf
import numpy as np

SIDE, PATCH, POOL = 64, 4, 4
"""Pixels of an image and of a patch; patches that one token is pooled from, each in both directions."""
WIDTH, HEADS, HIDDEN, LAYERS = 32, 2, 64, 1

Tensor = tuple[str, tuple[int, ...]]


def embedding_length(model: str) -> int:
    """The length of the token embeddings of a model file."""
    reader = gguf.GGUFReader(model)
    architecture = reader.fields["general.architecture"].contents()
    return int(reader.fields[f"{architecture}.embedding_length"].contents())


def tensors(embedding: int) -> Iterator[Tensor]:
    """Names and shapes of the tensors that llama.cpp expects of a `gemma3` projector."""
    yield "v.patch_embd.weight", (WIDTH, 3, PATCH, PATCH)
    yield "v.patch_embd.bias", (WIDTH,)
    yield "v.position_embd.weight", ((SIDE // PATCH) ** 2, WIDTH)
    for layer in range(LAYERS):
        linear = {name: (WIDTH, WIDTH) for name in ("attn_q", "attn_k", "attn_v", "attn_out")}
        linear |= {"ffn_up": (HIDDEN, WIDTH), "ffn_down": (WIDTH, HIDDEN)}
        for name, shape in linear.items():
            yield f"v.blk.{layer}.{name}.weight", shape
            yield f"v.blk.{layer}.{name}.bias", shape[:1]
        for name in ("ln1", "ln2"):
            yield f"v.blk.{layer}.{name}.weight", (WIDTH,)
            yield f"v.blk.{layer}.{name}.bias", (WIDTH,)
    yield "v.post_ln.weight", (WIDTH,)
    yield "v.post_ln.bias", (WIDTH,)
    yield "mm.soft_emb_norm.weight", (WIDTH,)
    yield "mm.input_projection.weight", (WIDTH, embedding)


def write(path: str, embedding: int) -> None:
    """Write the projector; the same bytes each time."""
    writer = gguf.GGUFWriter(path, "clip")
    writer.add_type("mmproj")
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_bool("clip.has_vision_encoder", True)
    writer.add_string("clip.projector_type", "gemma3")
    writer.add_bool("clip.use_gelu", True)
    numbers = {
        "image_size": SIDE,
        "patch_size": PATCH,
        "embedding_length": WIDTH,
        "feed_forward_length": HIDDEN,
        "block_count": LAYERS,
        "attention.head_count": HEADS,
        "projection_dim": embedding,
        "projector.scale_factor": POOL,
    }
    for name, number in numbers.items():
        writer.add_uint32(f"clip.vision.{name}", number)
    writer.add_float32("clip.vision.attention.layer_norm_epsilon", 1e-6)
    writer.add_array("clip.vision.image_mean", [0.5] * 3)
    writer.add_array("clip.vision.image_std", [0.5] * 3)
    noise = np.random.default_rng(1)
    for name, shape in tensors(embedding):
        writer.add_tensor(name, noise.normal(0, 0.02, shape).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    write(sys.argv[2], embedding_length(sys.argv[1]))
