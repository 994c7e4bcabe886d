"""The structured hinge loss of scores that a network makes."""

from __future__ import annotations

from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from .._hinge import check_hinge


class JaxStructure(Protocol):
    """What :func:`structured_hinge_loss` has to know of a structure.

    ``parts`` are the keyword arguments of the loss: further scores, lengths, edges, whatever the structure
    needs. A batch has a dimension in front, and scores and losses are then of shape (B,).
    """

    def decode(self, scores: np.ndarray, truth: Any, **parts: Any) -> Any:
        """The best output at these scores, plus the loss of a truth unless that is None: labels of the shape of the
        scores without their last dimension. All arrays are NumPy's."""

    def score(self, scores: jax.Array, output: jax.Array, **parts: Any) -> jax.Array:
        """The score of an output, or of the truth, differentiable in the scores and parts."""

    def loss(self, truth: jax.Array, output: jax.Array, **parts: Any) -> jax.Array:
        """What it costs to predict an output for a truth; 0 for the truth itself."""


def structured_hinge_loss(
    structure: JaxStructure, scores: Any, truth: Any, reduction: str = "mean", **parts: Any
) -> jax.Array:
    """The structured hinge loss max_ŷ [score(ŷ) + loss(y, ŷ)] − score(y), with exact subgradients.

    The best ŷ is found by a decoder, on the CPU and in double precision; the scores of ŷ and of the truth y are then
    taken from the arrays. So gradients are those of the two outputs' scores. It can be used inside ``jax.jit``,
    ``jax.grad`` and ``jax.value_and_grad``; give batches rather than ``jax.vmap``.

    Parameters
    ----------
    structure : JaxStructure
        :class:`Chain`, :class:`Assignment`, :class:`Tree`, :class:`Potts`, or an object of your own with the methods of
        :class:`JaxStructure`.
    scores : array
        What the structure scores: (T, K) or (B, T, K) for chains, (R, C) or (B, R, C) for assignments, (N, K) or
        (B, N, K) for trees and graphs.
    truth : array
        True labels, or columns, of shape (T,) or (B, T).
    reduction : {"mean", "sum", "none"}, default="mean"
        What becomes of the losses of a batch.
    **parts
        Further arguments of the decoder in :mod:`maxmargin.decode`: ``transitions``, ``lengths``, ``mask``, ``edges``,
        …; those that are scores get gradients too.

    Examples
    --------
    >>> import jax, jax.numpy as jnp
    >>> from maxmargin.jax import Chain, structured_hinge_loss
    >>> def loss(scores):
    ...     return structured_hinge_loss(Chain(), scores, jnp.array([[0, 1, 0]]), lengths=jnp.array([2]))
    >>> value, slope = jax.value_and_grad(loss)(jnp.zeros((1, 3, 2)))
    >>> float(value), slope[0].tolist()
    (2.0, [[-1.0, 1.0], [1.0, -1.0], [0.0, 0.0]])
    """
    check_hinge(structure, reduction)
    scores, truth = widened(jnp.asarray(scores)), jnp.asarray(truth)
    found = labels_of(structure, scores, truth, parts)
    hinge = (
        structure.score(scores, found, **parts)
        + structure.loss(truth, found, **parts)
        - structure.score(scores, truth, **parts)
    )
    # Rounding, or a heuristic decoder, may leave less than the truth itself reaches.
    hinge = jnp.maximum(hinge, 0.0)
    if reduction == "none":
        return hinge
    return hinge.mean() if reduction == "mean" else hinge.sum()


def decode(structure: JaxStructure, scores: Any, **parts: Any) -> jax.Array:
    """The best outputs at these scores, without a loss.

    >>> import jax.numpy as jnp
    >>> from maxmargin.jax import Chain, decode
    >>> decode(Chain(), jnp.array([[[0.0, 1.0], [2.0, 0.0]]])).tolist()
    [[1, 0]]
    """
    return labels_of(structure, widened(jnp.asarray(scores)), None, parts)


def labels_of(
    structure: JaxStructure, scores: jax.Array, truth: Any, parts: dict[str, Any]
) -> jax.Array:
    """What a decoder finds, as a constant: a callback that JAX calls with NumPy's arrays."""
    arrays = {name: own for name, own in parts.items() if is_array(own)}
    others = {name: own for name, own in parts.items() if name not in arrays}

    def call(scores: Any, truth: Any, arrays: Any) -> np.ndarray:
        own = jax.tree_util.tree_map(np.asarray, arrays)
        labels = None if truth is None else np.asarray(truth)
        found = structure.decode(np.asarray(scores), labels, **own, **others)
        return np.asarray(found, dtype=np.int32)

    shape = jax.ShapeDtypeStruct(scores.shape[:-1], np.int32)
    still = jax.lax.stop_gradient((scores, truth, arrays))
    return jax.pure_callback(call, shape, *still)


def is_array(value: Any) -> bool:
    """Whether it is an array, or a tuple of arrays, which a callback takes."""
    if isinstance(value, (tuple, list)):
        return all(is_array(part) for part in value)
    return isinstance(value, (jax.Array, np.ndarray, float, int)) and not isinstance(value, bool)


def widened(scores: jax.Array) -> jax.Array:
    """Scores of half precision in single precision, since their sums would be too coarse."""
    return scores.astype(jnp.float32) if scores.dtype.itemsize < 4 else scores
