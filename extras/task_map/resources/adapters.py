"""LoRA adapters in the format of PEFT: `adapter_config.json` and `adapter_model.safetensors`.

A module's change is scale x B A, with scale = alpha / r, or alpha / sqrt(r) with rsLoRA (Hu et al.
2021; Kalajdzievski 2023). Modules are named `base_model.model.<path>.lora_A.weight` and `lora_B`; those
of embeddings `lora_embedding_A` and `_B`. The product of the latter is transposed, which does not
change the inner product of two task vectors.
"""

import math
import re
from collections.abc import Sequence
from fnmatch import translate
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from extras.task_map.methods.clustering import Floats
from extras.task_map.methods.vectors import low_rank_products
from extras.task_map.resources.tensor_files import (
    TaskVectorError,
    TensorFiles,
    read_object,
    shape_text,
)

CONFIG = "adapter_config.json"
_NAME = re.compile(
    r"(?:base_model\.model\.)?(?P<module>.+)\.lora_(?:embedding_)?(?P<side>[AB])(?:\.weight)?"
)
_STARTS_AT_ZERO = (True, "gaussian", "eva")
"""Values of `init_lora_weights` for which training starts with B A = 0, at the unchanged base."""
LARGEST_ALPHA = 1_000_000
"""Limit of ranks and alphas, so that no product overflows."""
MOST_PATTERNS, MOST_CHARACTERS = 1_000, 50_000
"""Limits of the patterns, each side of a | counted, and of their characters. Every pattern is tried on
every module. Models have some hundreds of modules with an adapter."""
MOST_COMPARED, MOST_STEPS = 100_000_000, 10_000_000_000
"""The most characters of modules' names, times the patterns, and times the characters of the patterns:
half a minute."""
_PATTERN = re.compile(r"(?:[\w|^$-]|\\\.|\.\*?)+")
"""Names of modules, with the signs of regular expressions that glob patterns can express."""
_DOT = re.compile(r"\\\.|\.\*?")
_GLOBS = {r"\.": ".", ".*": "*", ".": "?"}
ValuesByPattern = list[tuple[re.Pattern[str], float]]
"""Ranks or scales by the pattern of the names of their modules; the first that matches counts."""


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
        self._ranks = self._by_pattern("rank_pattern")
        self._alphas = self._by_pattern("alpha_pattern")
        self.modules = self._modules()
        self._require_few_comparisons()

    @property
    def base(self) -> str:
        """The model that it was trained on."""
        return str(self._config.get("base_model_name_or_path") or "")

    def factors(self, module: str) -> tuple[Floats, Floats]:
        """The matrices of a module: B times the scale, and A; or smaller ones of the same product."""
        up, down = self._factors(module)
        up = up * self._scale(module, len(down))
        n_out, rank = up.shape
        n_in = down.shape[1]
        if rank <= min(n_out, n_in):
            return up, down
        # The product is smaller than the factors.
        return (np.eye(n_out), up @ down) if n_out < n_in else (up @ down, np.eye(n_in))

    def _factors(self, module: str) -> tuple[Floats, Floats]:
        up, down = (self._tensors.whole(name) for name in self.modules[module])
        # Factors of convolutions have more dimensions, all of size 1 in B.
        if min(up.ndim, down.ndim) < 2 or up.size != len(up) * len(down):
            raise TaskVectorError(
                f"{self._where} has {module} with B of shape {shape_text(up.shape)} and A of shape "
                f"{shape_text(down.shape)}, which do not fit: save it again."
            )
        return up.reshape(len(up), len(down)), down.reshape(len(down), -1)

    def _scale(self, module: str, rank: int) -> float:
        stated = _of_module(self._ranks, module, self._config["r"])
        if stated != rank:
            raise TaskVectorError(
                f"{self._where} has {module} of rank {rank}, and its {CONFIG} says {stated}: the files "
                "are of two trainings."
            )
        alpha = _of_module(self._alphas, module, self._config["lora_alpha"])
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
        if not (_is_positive(config.get("r")) and _is_positive(config.get("lora_alpha"))):
            raise TaskVectorError(
                f"{self._where} has no positive r and lora_alpha up to {LARGEST_ALPHA:,} in {CONFIG}: "
                "copy that file again."
            )

    def _require_few_comparisons(self) -> None:
        patterns = [pattern.pattern for pattern, _ in (*self._ranks, *self._alphas)]
        n_patterns = len(patterns) + sum(pattern.count("|") for pattern in patterns)
        n_characters = sum(map(len, self.modules))
        if (
            n_characters * n_patterns > MOST_COMPARED
            or n_characters * sum(map(len, patterns)) > MOST_STEPS
        ):
            raise TaskVectorError(
                f"{self._where} has names of modules that are too long or too many for the patterns in "
                f"{CONFIG}: give fewer patterns."
            )

    def _by_pattern(self, name: str) -> ValuesByPattern:
        patterns = self._config.get(name) or {}
        if (
            not isinstance(patterns, dict)
            or sum(map(len, patterns)) > MOST_CHARACTERS
            or len(patterns) + sum(pattern.count("|") for pattern in patterns) > MOST_PATTERNS
        ):
            raise TaskVectorError(
                f"{self._where} has {name} in {CONFIG}, which is not an object, or has more than "
                f"{MOST_PATTERNS:,} patterns or {MOST_CHARACTERS:,} characters: give fewer or shorter "
                "patterns."
            )
        for pattern, value in patterns.items():
            if not (_PATTERN.fullmatch(pattern) and _is_positive(value)):
                raise TaskVectorError(
                    f"{self._where} has {str({pattern: value})[:200]} as {name} in {CONFIG}: give "
                    r"names of modules, with no other signs of regular expressions than . \. .* | ^ $, "
                    f"and positive numbers up to {LARGEST_ALPHA:,}."
                )
        return [(compile_pattern(pattern), value) for pattern, value in patterns.items()]

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


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a pattern for the end of a module's name, as in PEFT, without backtracking.

    Args:
        pattern: Names of modules, with no other signs of regular expressions than . \\. .* | ^ and $.
    """
    globs = []
    for part in pattern.split("|"):
        plain = part.removeprefix("^").removesuffix("$")
        glob = _DOT.sub(lambda dot: _GLOBS[dot[0]], plain)
        globs += [glob] if part.startswith("^") else [glob, f"*.{glob}"]
    return re.compile("|".join(map(translate, globs)))


def _of_module(values: ValuesByPattern, module: str, otherwise: float) -> float:
    """The value of the first pattern that matches a module's name."""
    return next((value for pattern, value in values if pattern.match(module)), otherwise)


def _is_positive(value: Any) -> bool:
    return isinstance(value, int | float) and 0 < value <= LARGEST_ALPHA


def is_adapter(folder: Path) -> bool:
    """Whether a folder contains the configuration of an adapter."""
    return (folder / CONFIG).is_file()
