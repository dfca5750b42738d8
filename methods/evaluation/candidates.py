"""Candidates (models under evaluation) by name: models, blind runs without the images, and baselines.

The list `evaluate` of a profile has these names, and the tables of evaluation have them as `model`.
"""

BASELINE = "baseline"
"""The provider of baselines, and the prefix of their names."""
RANDOM, MOST_FREQUENT = "baseline:random", "baseline:most-frequent"
"""A random letter, and always the most frequent right letter: the scores of guessing."""
BASELINES = (
    "baseline:reference",
    "baseline:swapped-reference",
    "baseline:empty",
    RANDOM,
    MOST_FREQUENT,
)
"""Candidates that ask no model: they answer by rule, and calibrate a judge or a benchmark."""
FORMER_MOCK = "offline"
"""The name of the provider `mock` in 0.2. Releases and models.yaml files of that version have it, and
the keys of requests keep it."""
MOCK_PROVIDERS = frozenset({"mock", FORMER_MOCK})
"""Names of the provider of mock models: the current one and that of 0.2."""
FILE = "file"
"""The provider of predictions that were made elsewhere, and the prefix of such candidates:
`file:<model>`. They are ranked like the models that are asked here."""
NO_IMAGES, OTHER_IMAGES = "no-images", "other-images"
ABLATIONS = (NO_IMAGES, OTHER_IMAGES)
"""`no-images:<model>` and `other-images:<model>`: a model without the images, or with the images of
another item. They show what the model scores without looking."""
APART = (f"{BASELINE}:", *(f"{name}:" for name in ABLATIONS))
"""Prefixes of candidates that are shown next to the models and have no rank."""


def is_model(name: str) -> bool:
    """Whether a candidate is a model that is asked in the benchmark's way, or a file: it has a rank."""
    return not name.startswith(APART)


def ablation_of(name: str) -> str | None:
    """The ablation of a candidate; None for a model and for a baseline."""
    kind = name.partition(":")[0]
    return kind if kind in ABLATIONS and not is_model(name) else None


def is_file(name: str) -> bool:
    """Whether a candidate is a file of predictions."""
    return name.startswith(f"{FILE}:")


def model_of(name: str) -> str | None:
    """The entry of models.yaml that a candidate asks; None for a baseline or a file, which ask none."""
    if name in BASELINES or is_file(name):
        return None
    return name if ablation_of(name) is None else name.partition(":")[2]


def models_behind(*names: str) -> frozenset[str]:
    """The models whose answers these candidates give. A model and its ablations are one model; each
    baseline and each file is one, too.
    """
    return frozenset(model_of(name) or name for name in names)
