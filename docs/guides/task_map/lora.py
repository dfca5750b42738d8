"""LoRA in a few lines of torch, saved as PEFT saves it (Hu et al. 2021).

PEFT itself is not needed.
"""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor, nn


class LowRank(nn.Module):
    """A linear layer that stays as it is, and a change B A of rank r beside it, times alpha / r."""

    def __init__(self, linear: nn.Linear, rank: int, alpha: float) -> None:
        super().__init__()
        self.linear, self.scale = linear, alpha / rank
        where = {"device": linear.weight.device, "dtype": torch.float32}
        self.down = nn.Parameter(torch.empty(rank, linear.in_features, **where))
        self.up = nn.Parameter(torch.zeros(linear.out_features, rank, **where))

    def forward(self, x: Tensor) -> Tensor:
        """The layer's output with the change."""
        change = (x.to(self.down.dtype) @ self.down.T) @ self.up.T
        return self.linear(x) + (self.scale * change).to(x.dtype)


def add_lora(
    model: nn.Module, targets: Sequence[str], rank: int, alpha: float
) -> dict[str, LowRank]:
    """Put a change beside every linear layer whose last name is in `targets`; the layers by name.

    All other weights are frozen. Raises ValueError where there is no such layer.
    """
    model.requires_grad_(False)
    modules = {
        name: module
        for name, module in model.named_modules()
        if isinstance(module, nn.Linear) and name.rpartition(".")[2] in targets
    }
    if not modules:
        raise ValueError(f"The model has no linear layer named {' or '.join(targets)}.")
    layers = {name: LowRank(module, rank, alpha) for name, module in modules.items()}
    for name, layer in layers.items():
        parent, _, child = name.rpartition(".")
        setattr(model.get_submodule(parent), child, layer)
    return layers


def begin(layers: Mapping[str, LowRank], seed: int) -> None:
    """A drawn, B zero: the model is the base. The same seed draws the same A.

    Tasks must begin with the same A: changes from other random A have hardly a direction in common.
    """
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for layer in layers.values():
            bound = 1 / math.sqrt(layer.down.shape[1])
            initial = torch.empty(layer.down.shape).uniform_(-bound, bound, generator=generator)
            layer.down.copy_(initial)
            layer.up.zero_()


def numbers(layers: Mapping[str, LowRank]) -> dict[str, Tensor]:
    """The tensors of an adapter under PEFT's names."""
    tensors = {}
    for name, layer in layers.items():
        tensors[f"base_model.model.{name}.lora_A.weight"] = layer.down.detach().cpu().clone()
        tensors[f"base_model.model.{name}.lora_B.weight"] = layer.up.detach().cpu().clone()
    return tensors


def save_adapter(
    folder: Path,
    tensors: Mapping[str, Tensor],
    base: str,
    targets: Sequence[str],
    rank: int,
    alpha: float,
) -> None:
    """Write `adapter_model.safetensors` and `adapter_config.json`."""
    folder.mkdir(parents=True, exist_ok=True)
    save_file(dict(tensors), folder / "adapter_model.safetensors", metadata={"format": "pt"})
    config = {
        "peft_type": "LORA",
        "base_model_name_or_path": base,
        "r": rank,
        "lora_alpha": alpha,
        "lora_dropout": 0.0,
        "target_modules": list(targets),
        "bias": "none",
        "use_rslora": False,
        "inference_mode": True,
    }
    (folder / "adapter_config.json").write_text(json.dumps(config, indent=2) + "\n")
