"""Unit vectors for tests: by angle, at random, in clusters, with copies, with opposites."""

import numpy as np


def unit(rows) -> np.ndarray:
    vectors = np.asarray(rows, dtype=np.float64)
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def at_angles(*degrees: float) -> np.ndarray:
    """Unit vectors of the plane; two of them have the cosine of the angle between."""
    return unit([[np.cos(np.radians(d)), np.sin(np.radians(d))] for d in degrees])


def random_vectors(seed: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    return unit(generator.normal(size=(generator.integers(2, 80), generator.integers(2, 7))))


def clustered_vectors(seed: int, n: int = 90, dimensions: int = 16) -> np.ndarray:
    generator = np.random.default_rng(seed)
    centres = generator.normal(size=(max(5, n // 20), dimensions))
    noise = generator.normal(size=(n, dimensions)) * generator.uniform(0.2, 1.2)
    return unit(centres[generator.integers(0, len(centres), size=n)] + noise)


def duplicated_vectors(seed: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    vectors = random_vectors(seed)
    return vectors[generator.integers(0, len(vectors), size=2 * len(vectors))]


def antipodal_vectors(seed: int) -> np.ndarray:
    vectors = clustered_vectors(seed)
    return np.concatenate([vectors, -vectors])


def tiny_inputs(seed: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    return unit(generator.normal(size=(generator.integers(1, 4), generator.integers(1, 3))))


KINDS = (
    random_vectors,
    clustered_vectors,
    duplicated_vectors,
    antipodal_vectors,
    tiny_inputs,
)


def is_clear_of(vectors: np.ndarray, tau: float) -> bool:
    """Whether no pair is so near tau that the rounding of float32 decides."""
    exact = vectors.astype(np.float64) @ vectors.T.astype(np.float64)
    return bool(np.abs(exact - tau).min() > 1e-6)
