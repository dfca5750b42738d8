"""Observations: a pandas data frame with a row for each scored fact.

| column | content |
| --- | --- |
| `model`, `item_id`, `cluster`, `trial`, `metric`, `status`, `part` | names, as categories |
| `turn` | number of the turn, from 1 |
| `value` | the value; NaN unless it was judged |
| `refused` | whether the model refused, in words or by a filter |
| `replicates` | the judge's repetitions, whose mean is `value`; None without repetitions |
| `label: <name>` | the value of a label of the turn, as a category; NaN without the label |

`cluster` is the unit of resampling; `part` separates several judgments of a turn.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from methods.evaluation.candidates import is_model

if TYPE_CHECKING:
    import pandas as pd

NAMES = ("model", "item_id", "cluster", "trial", "metric", "status", "part")
"""The columns of names."""
_VALUES = {"turn": "int32", "value": "float64", "refused": "bool", "replicates": "object"}
_LABEL = "label: "


def label_column(label: str) -> str:
    """The name of the column of a label."""
    return f"{_LABEL}{label}"


def labels_in(observed: "pd.DataFrame") -> list[str]:
    """The labels that observations have columns of."""
    columns = map(str, observed.columns)
    return [name.removeprefix(_LABEL) for name in columns if name.startswith(_LABEL)]


def models_in(observed: "pd.DataFrame") -> list[str]:
    """The models that have observations, in order of name."""
    return sorted(observed["model"].unique())


def of_models(observed: "pd.DataFrame") -> "pd.DataFrame":
    """The observations of models, without those of baselines and ablations."""
    return observed[observed["model"].isin(list(filter(is_model, models_in(observed))))]


def joined(frames: Sequence["pd.DataFrame"]) -> "pd.DataFrame":
    """Join observations into one frame, in which equal names are equal categories.

    Args:
        frames: Observations; names and labels may be texts or categories.

    Returns:
        The observations in the order of the frames. Categories are in alphabetical order.
    """
    import pandas as pd

    frames = frames or [pd.DataFrame(columns=[*NAMES, *_VALUES])]
    columns = list(dict.fromkeys(str(column) for frame in frames for column in frame))
    names = [
        name
        for name in columns
        if name in NAMES or name.startswith(_LABEL) or frames[0].dtypes.get(name) == "category"
    ]
    types = {name: _names_in(frames, name) for name in names}
    return pd.concat(
        [frame.reindex(columns=columns).astype({**types, **_VALUES}) for frame in frames],
        ignore_index=True,
    )


def _names_in(frames: Sequence["pd.DataFrame"], column: str) -> "pd.CategoricalDtype":
    import pandas as pd

    names = {
        name for frame in frames if column in frame for name in frame[column].dropna().unique()
    }
    return pd.CategoricalDtype(sorted(names))
