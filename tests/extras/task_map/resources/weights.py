"""Small adapters and models as files, for tests of what reads them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from extras.task_map.methods.clustering import Floats

Factors = Mapping[str, tuple[Floats, Floats]]
"""B and A by module."""
MODULE = "base_model.model.layers.{}.q_proj"
CONFIG = {
    "peft_type": "LORA",
    "base_model_name_or_path": "tiny",
    "r": 2,
    "lora_alpha": 4,
    "target_modules": ["q_proj"],
    "use_rslora": False,
}


def save(path: Path, tensors: Mapping[str, Any], dtype: str = "float32") -> None:
    import torch
    from safetensors.torch import save_file

    path.parent.mkdir(parents=True, exist_ok=True)
    kind = getattr(torch, dtype)
    save_file({name: torch.as_tensor(np.array(of)).to(kind) for name, of in tensors.items()}, path)


def factors(seed: int, rank: int = 2, n_modules: int = 2, n_out: int = 5, n_in: int = 4) -> Factors:
    generator = np.random.default_rng(seed)
    # As float32 has them, so that what is read back is equal.
    return {
        MODULE.format(number): (
            generator.standard_normal((n_out, rank)).astype(np.float32).astype(float),
            generator.standard_normal((rank, n_in)).astype(np.float32).astype(float),
        )
        for number in range(n_modules)
    }


def save_adapter(folder: Path, of: Factors, **config: Any) -> None:
    tensors = {}
    for module, (up, down) in of.items():
        tensors[f"{module}.lora_B.weight"] = up
        tensors[f"{module}.lora_A.weight"] = down
    save(folder / "adapter_model.safetensors", tensors)
    (folder / "adapter_config.json").write_text(json.dumps({**CONFIG, **config}))


def weights(seed: int) -> dict[str, Floats]:
    generator = np.random.default_rng(seed)
    return {
        "embed.weight": generator.standard_normal((11, 4)).astype(np.float32),
        "layer.weight": generator.standard_normal((3, 4)).astype(np.float32),
        "norm.weight": generator.standard_normal(7).astype(np.float32),
        "scale": generator.standard_normal(()).astype(np.float32),
    }


def change(before: Mapping[str, Floats], after: Mapping[str, Floats]) -> Floats:
    """The task vector, at once."""
    names = sorted(before)
    return np.concatenate([(after[n].astype(float) - before[n]).ravel() for n in names])
