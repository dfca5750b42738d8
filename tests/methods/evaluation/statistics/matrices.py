"""Matrices of values (models x units, some missing) with clusters, for property tests."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

NAN = np.nan
VALUE = st.one_of(st.integers(1, 10).map(float), st.just(NAN))


@st.composite
def matrices(draw, max_models=4, max_units=24, max_clusters=5):
    """(values, clusters)."""
    n_models = draw(st.integers(1, max_models))
    n_units = draw(st.integers(1, max_units))
    values = draw(arrays(float, (n_models, n_units), elements=VALUE))
    clusters = draw(arrays(np.int64, n_units, elements=st.integers(0, max_clusters - 1)))
    return values, clusters
