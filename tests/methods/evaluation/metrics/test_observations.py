"""Observations and units in columns are the sequences that they were made of."""

from hypothesis import given
from hypothesis import strategies as st

from methods.evaluation.metrics import ScoredObservation, Unit
from methods.evaluation.metrics.observations import Observations
from methods.evaluation.metrics.units import Units

texts = st.sampled_from(["a", "b", "c"])
values = st.none() | st.integers(1, 10).map(float)
observations = st.lists(
    st.builds(
        ScoredObservation,
        *(texts, texts, texts, st.integers(1, 15), texts, values),
        status=texts,
        refused=st.booleans(),
        labels=st.dictionaries(texts, texts, max_size=2),
        part=texts,
        replicates=st.just(()) | st.just((1.0, 2.0)),
    )
)


@given(observations)
def test_observations_are_those_they_were_made_of(scored: list[ScoredObservation]) -> None:
    columns = Observations.from_scored(scored)
    assert list(columns) == scored and len(columns) == len(scored)
    assert list(columns.take(columns.has_value)) == [one for one in scored if one.value is not None]
    assert list(columns[1:3]) == scored[1:3]


@given(st.lists(st.builds(Unit, st.tuples(texts, st.integers(1, 3)), texts, values, texts)))
def test_units_are_those_they_were_made_of(units: list[Unit]) -> None:
    columns = Units.from_units(units)
    assert list(columns) == units
    assert list(columns.valued()) == [unit for unit in units if unit.value is not None]
    by_stratum = {name: [units[row] for row in rows] for name, rows in columns.of_strata()}
    assert list(by_stratum) == list(dict.fromkeys(unit.stratum for unit in units))
    assert sum(by_stratum.values(), []) == [
        unit for name in by_stratum for unit in units if unit.stratum == name
    ]
