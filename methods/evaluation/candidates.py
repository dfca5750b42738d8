"""Candidates by their names: models, models that do not see their images, and baselines.

A profile's `evaluate` has these names, and the tables of evaluation have them as `model`.
"""

BASELINE = "baseline"
"""The provider of baselines, and what their names begin with."""
RANDOM, MOST_FREQUENT = "baseline:random", "baseline:most-frequent"
"""A letter at random, and always the right letter that is the most frequent one: what multiple choice
gives to who does not look."""
BASELINES = (
    "baseline:reference",
    "baseline:swapped-reference",
    "baseline:empty",
    RANDOM,
    MOST_FREQUENT,
)
"""Candidates that ask no model: they answer by rule, and calibrate a judge or a benchmark."""
FORMER_MOCK = "offline"
"""The name of the provider `mock` in 0.2: releases and models.yaml files of that version have it, and
the keys of requests keep it."""
MOCK_PROVIDERS = frozenset({"mock", FORMER_MOCK})
"""Names of the provider of mock models: the current one and that of 0.2."""
FILE = "file"
"""The provider of predictions that were made elsewhere, and what the names of such candidates begin
with: `file:<model>`. They are ranked like the models that are asked here."""
NO_IMAGES, OTHER_IMAGES = "no-images", "other-images"
ABLATIONS = (NO_IMAGES, OTHER_IMAGES)
"""`no-images:<model>` and `other-images:<model>`: a model asked without the images, or with those of
another item. They calibrate the model: what it scores without looking."""
APART = (f"{BASELINE}:", *(f"{name}:" for name in ABLATIONS))
"""What the names of candidates begin with that stand beside the models and have no rank."""


def is_model(name: str) -> bool:
    """Whether a candidate is a model that is asked as the benchmark says: it has a rank."""
    return not name.startswith(APART)


def ablation_of(name: str) -> str | None:
    """The ablation that a candidate is; None for a model and for a baseline."""
    kind = name.partition(":")[0]
    return kind if kind in ABLATIONS and not is_model(name) else None


def is_file(name: str) -> bool:
    """Whether a candidate is a file of predictions."""
    return name.startswith(f"{FILE}:")


def model_of(name: str) -> str | None:
    """The entry of models.yaml that a candidate asks; None for who asks none: a baseline, a file."""
    if name in BASELINES or is_file(name):
        return None
    return name if ablation_of(name) is None else name.partition(":")[2]
