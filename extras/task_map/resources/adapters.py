"""LoRA adapters in the format of PEFT: `adapter_config.json` and `adapter_model.safetensors`.

A module's change is scale x B A, with scale = alpha / r, or alpha / sqrt(r) with rsLoRA (Hu et al.
2021; Kalajdzievski 2023). Modules are named `base_model.model.<path>.lora_A.weight` and `lora_B`; those
of embeddings `lora_embedding_A` and `_B`. The product of the latter is transposed, which does not
change the inner product of two task vectors.
"""

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from extras.task_map.methods.clustering import Floats
from extras.task_map.methods.vectors import low_rank_products
from extras.task_map.resources.tensor_files import TaskVectorError, TensorFiles, read_object

CONFIG = "adapter_config.json"
_NAME = re.compile(
    r"(?:base_model\.model\.)?(?P<module>.+)\.lora_(?:embedding_)?(?P<side>[AB])(?:\.weight)?"
)
_STARTS_AT_ZERO = (True, "gaussian", "eva")
"""Values of `init_lora_weights` for which training starts with B A = 0, at the unchanged base."""


class Factors(NamedTuple):
    """The names of the tensors of a module's B and A."""

    up: str
    down: str


class Adapter:
    """One task's adapter: its configuration, and its modules by name. Raises TaskVectorError."""

    def __init__(self, task: str, tensors: TensorFiles) -> None:
        self.task = task
        self._tensors = tensors
        self._config = read_object(tensors.folder / CONFIG)
        self._where = f"The adapter {tensors.folder}"
        self._require_known()
        self.modules = self._modules()

    @property
    def base(self) -> str:
        """The model that it was trained on."""
        return str(self._config.get("base_model_name_or_path") or "")

    def factors(self, module: str) -> tuple[Floats, Floats]:
        """The matrices of a module: B times the scale, and A."""
        up, down = self._factors(module)
        return up * self._scale(module, len(down)), down

    def _factors(self, module: str) -> tuple[Floats, Floats]:
        up, down = (self._tensors.whole(name) for name in self.modules[module])
        # Factors of convolutions have more dimensions, all of size 1 in B.
        down = down.reshape(len(down), -1)
        if up.size != len(up) * len(down):
            raise TaskVectorError(
                f"{self._where} has {module} with B of shape {_shape(up)} and A of shape "
                f"{_shape(down)}, which do not fit: save it again."
            )
        return up.reshape(len(up), len(down)), down

    def _scale(self, module: str, rank: int) -> float:
        stated = int(_of_module(self._config.get("rank_pattern"), module, self._config["r"]))
        if stated != rank:
            raise TaskVectorError(
                f"{self._where} has {module} of rank {rank}, and its {CONFIG} says {stated}: the files "
                "are of two trainings."
            )
        alpha = float(
            _of_module(self._config.get("alpha_pattern"), module, self._config["lora_alpha"])
        )
        return alpha / (math.sqrt(rank) if self._config.get("use_rslora") else rank)

    def _require_known(self) -> None:
        config = self._config
        if config.get("peft_type") != "LORA":
            raise TaskVectorError(
                f"{self._where} is of kind {config.get('peft_type')}: only LORA can be read."
            )
        if config.get("use_dora"):
            raise TaskVectorError(
                f"{self._where} is of DoRA, whose change depends on the base: merge it into the base, "
                "and give whole weights with --base."
            )
        begun = config.get("init_lora_weights", True)
        if begun not in _STARTS_AT_ZERO:
            raise TaskVectorError(
                f"{self._where} began with init_lora_weights={begun!r}, so it is not what training "
                "changed: train it with the default, or merge it into the base and give whole weights."
            )
        numbers = [config.get("r"), config.get("lora_alpha")]
        if not all(isinstance(number, int | float) and number > 0 for number in numbers):
            raise TaskVectorError(
                f"{self._where} has no positive r and lora_alpha in {CONFIG}: copy that file again."
            )

    def _modules(self) -> dict[str, Factors]:
        sides: dict[str, dict[str, str]] = {}
        for name in self._tensors:
            match = _NAME.fullmatch(name)
            if match is None:
                raise TaskVectorError(
                    f"{self._where} has {name}, which is not a LoRA of a module (a module saved whole, "
                    "or a bias): train without it, or merge the adapter into the base and give whole "
                    "weights."
                )
            sides.setdefault(match["module"], {})[match["side"]] = name
        for module, names in sides.items():
            if set(names) != {"A", "B"}:
                raise TaskVectorError(
                    f"{self._where} has lora_{next(iter(names))} of {module} alone: save it again."
                )
        return {module: Factors(names["B"], names["A"]) for module, names in sorted(sides.items())}


def require_comparable(adapters: Sequence[Adapter]) -> None:
    """Raise TaskVectorError unless all adapters have the same modules and the same base."""
    first = adapters[0]
    for other in adapters[1:]:
        if other.base != first.base:
            raise TaskVectorError(
                f"{first.task} was trained on the base {first.base or '(unnamed)'} and {other.task} on "
                f"{other.base or '(unnamed)'}: task vectors are of one base."
            )
        differing = sorted(first.modules.keys() ^ other.modules.keys())
        if differing:
            module = differing[0]
            lacks = first.task if module in other.modules else other.task
            raise TaskVectorError(
                f"{lacks} has no LoRA of {module}, which other tasks have: train all tasks with the "
                "same target_modules."
            )


def products_of_adapters(adapters: Sequence[Adapter]) -> Floats:
    """Compute the inner products of every two task vectors by module. Raises TaskVectorError."""
    require_comparable(adapters)
    total = np.zeros((len(adapters), len(adapters)))
    for module in adapters[0].modules:
        pairs: list[tuple[Floats, Floats]] = []
        for adapter in adapters:
            up, down = adapter.factors(module)
            if pairs and (len(up), down.shape[1]) != (len(pairs[0][0]), pairs[0][1].shape[1]):
                raise TaskVectorError(
                    f"{module} of {adapter.task} is {len(up)} x {down.shape[1]}, that of "
                    f"{adapters[0].task} {len(pairs[0][0])} x {pairs[0][1].shape[1]}: task vectors are "
                    "of one base."
                )
            pairs.append((up, down))
        total += low_rank_products([up for up, _ in pairs], [down for _, down in pairs])
    return total


def _of_module(patterns: Any, module: str, otherwise: Any) -> Any:
    """The value of the first pattern that matches the end of a module's name, as in PEFT."""
    if isinstance(patterns, Mapping):
        for pattern, value in patterns.items():
            if re.match(rf"(.*\.)?({pattern})$", module):
                return value
    return otherwise


def _shape(matrix: Floats) -> str:
    return " x ".join(map(str, matrix.shape))


def is_adapter(folder: Path) -> bool:
    """Whether a folder contains the configuration of an adapter."""
    return (folder / CONFIG).is_file()
