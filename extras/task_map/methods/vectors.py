"""Task vectors: how fine-tuning on a task moves weights (MMIU, C.1; Ilharco et al. 2023).

    v(t) = weights after fine-tuning on t - weights before        one number for each weight
    d(s, t) = 1 - v(s) . v(t) / (|v(s)| |v(t)|)                   cosine distance, 0 to 2

All distances follow from the products of every two vectors, and these are sums over tensors: the
products of one tensor, or of a part of it, can be computed at a time and added up.
"""

from collections.abc import Sequence

import numpy as np

from extras.task_map.methods.clustering import Floats
from methods.errors import UserError


class ZeroTaskVectorError(UserError):
    """A task vector is zero, so that it has no angle to any other."""


def low_rank_products(ups: Sequence[Floats], downs: Sequence[Floats]) -> Floats:
    """Compute the products of every two of k changes B A of one module, without computing any B A.

    As <B A, B' A'> = sum_ij (B^T B')_ij (A A'^T)_ij, this costs (k r)^2 (in + out) multiply-adds in
    place of k^2 in x out, and memory for k r (in + out + r) numbers.

    Args:
        ups: The matrices B, out x r; the rank r may differ from task to task.
        downs: The matrices A, r x in.

    Returns:
        The products, k x k.
    """
    up, down = np.concatenate(ups, axis=1), np.concatenate(downs, axis=0)
    ranks = [len(factor) for factor in downs]
    starts = np.cumsum([0, *ranks[:-1]])
    rows = [
        np.add.reduceat(((of_task.T @ up) * (to_task @ down.T)).sum(axis=0), starts)
        for of_task, to_task in zip(ups, downs, strict=True)
    ]
    return np.array(rows)


def cosine_distances(products: Floats, tasks: Sequence[str]) -> Floats:
    """Compute the cosine distance of every two vectors from their products.

    Args:
        products: The products, k x k.
        tasks: The names of the vectors, for messages.

    Returns:
        The distances, k x k.

    Raises:
        ZeroTaskVectorError: A vector is zero.
    """
    lengths = np.sqrt(np.diag(products))
    for task, length in zip(tasks, lengths, strict=True):
        if length == 0:
            raise ZeroTaskVectorError(
                f"The weights of {task} are those of the base, so it has no direction: fine-tune it, "
                "or take it away."
            )
    cosines = (products + products.T) / 2 / np.outer(lengths, lengths)
    distances: Floats = np.clip(1 - cosines, 0, 2)
    np.fill_diagonal(distances, 0)
    return distances
