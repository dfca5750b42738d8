"""Self-preference: whether a candidate, or a model of its family, wrote or judges a release.

A judge may prefer its own answers and those of related models, so readers must know. models.yaml has
the families of models.
"""

from collections.abc import Collection, Mapping

from methods.evaluation.candidates import FILE


def relations_to_judges(
    model: str, judges: Collection[str], writers: Collection[str], families: Mapping[str, str]
) -> tuple[str, ...]:
    """List the relations of a model to judges and writers, such as `is the judge` or `judge's family`.

    Args:
        model: The model; imported predictions are those of the model that they are named after.
        judges: The judges.
        writers: The models that wrote the release.
        families: The family of each model that has one; a model without one is its own family.

    Returns:
        The remarks.
    """
    model = model.removeprefix(f"{FILE}:")
    remarks = []
    for role, names in (("judge", judges), ("writer", writers)):
        family = families.get(model)
        if model in names:
            remarks.append(f"is the {role}" if len(names) == 1 else f"is a {role}")
        elif family is not None and family in {families.get(name) for name in names}:
            remarks.append(f"{role}'s family")
    return tuple(remarks)
