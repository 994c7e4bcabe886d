"""Chains, assignments, trees and labelled graphs as :func:`structured_hinge_loss` needs them. What is decoded, and by
what, is in :mod:`maxmargin.decode`; here are the scores of outputs, in JAX's arrays."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .. import decode as decoders
from ..decode._arrays import Loss, cost_of


class _Labelled:
    """A structure whose output is a label for each place."""

    def __init__(self, loss: Loss = "hamming", n_jobs: int | None = -1) -> None:
        cost_of(loss)
        self.cost = loss
        self.n_jobs = n_jobs

    def __repr__(self) -> str:
        return f"{type(self).__name__}(loss={self.cost!r})"

    def _given(self, truth: Any) -> dict[str, Any]:
        given: dict[str, Any] = {"n_jobs": self.n_jobs}
        return given if truth is None else given | {"truth": truth, "loss": self.cost}

    def loss(self, truth: jax.Array, output: jax.Array, **parts: Any) -> jax.Array:
        """The loss of labels: their number of mistakes, their share, or what a table says."""
        present = _present(output, parts)
        cost, is_share = cost_of(self.cost)
        if cost is None:
            table = jnp.asarray(np.asarray(self.cost, dtype=np.float64))
            own = table[jnp.where(present, truth, 0), jnp.where(present, output, 0)]
            total = jnp.where(present, own, 0.0).sum(-1)
        else:
            total = cost * ((truth != output) & present).sum(-1)
        return total / jnp.maximum(present.sum(-1), 1) if is_share else total


class Chain(_Labelled):
    """Chains, decoded by :func:`maxmargin.decode.viterbi`.

    Their further arguments are ``transitions``, ``start``, ``end``, ``lengths`` and ``mask``.

    Parameters
    ----------
    loss : {"hamming", "normalised"}, number or array of shape (K, K), default="hamming"
        The loss of labels, as in :func:`maxmargin.decode.viterbi`.
    n_jobs : int, default=-1
        Threads among which a batch is divided.
    """

    def decode(self, scores: Any, truth: Any, **parts: Any) -> Any:
        """The best labels."""
        return decoders.viterbi(scores, **parts, **self._given(truth)).labels

    def score(self, scores: jax.Array, output: jax.Array, **parts: Any) -> jax.Array:
        """The score of labels."""
        labels, present = _labels(output, parts)
        total = _own(scores, labels, present)
        transitions, start, end = (parts.get(name) for name in ("transitions", "start", "end"))
        if transitions is not None:
            transitions = jnp.asarray(transitions)
            per_step = transitions.ndim == scores.ndim + 1
            at = _at(transitions, labels, labels.shape[-1] - 1 if per_step else None)
            both = transitions[(*at, labels[..., :-1], labels[..., 1:])]
            total = total + jnp.where(present[..., 1:], both, 0.0).sum(-1)
        length = present.sum(-1)
        for more, place in ((start, jnp.zeros_like(length)), (end, jnp.maximum(length - 1, 0))):
            if more is not None and labels.shape[-1]:
                more = jnp.asarray(more)
                label = jnp.take_along_axis(labels, place[..., None], -1)
                own = more[label] if more.ndim == 1 else jnp.take_along_axis(more, label, -1)
                total = total + jnp.where(length > 0, own[..., 0], 0.0)
        return total


class Tree(_Labelled):
    """Trees, decoded by :func:`maxmargin.decode.tree`.

    Their further arguments are ``parents``, ``transitions``, ``lengths`` and ``mask``.

    Parameters
    ----------
    loss, n_jobs
        As in :class:`Chain`.
    """

    def decode(self, scores: Any, truth: Any, **parts: Any) -> Any:
        """The best labels."""
        return decoders.tree(scores, **parts, **self._given(truth)).labels

    def score(self, scores: jax.Array, output: jax.Array, **parts: Any) -> jax.Array:
        """The score of labels."""
        labels, present = _labels(output, parts)
        transitions = jnp.asarray(parts["transitions"])
        parents = jnp.broadcast_to(jnp.asarray(parts["parents"]), labels.shape)
        exists = (parents >= 0) & present & (parents < present.sum(-1, keepdims=True))
        above = jnp.take_along_axis(labels, jnp.where(exists, parents, 0), -1)
        at = _at(transitions, labels, labels.shape[-1] if transitions.ndim > 2 else None)
        both = transitions[(*at, above, labels)]
        return _own(scores, labels, present) + jnp.where(exists, both, 0.0).sum(-1)


class Potts(_Labelled):
    """Labelled graphs, decoded by :func:`maxmargin.decode.potts`.

    Their further arguments are ``edges``, ``costs``, ``lengths`` and ``mask``. With two labels and costs ≥ 0 the loss
    and its subgradient are exact; where decoding is a heuristic the loss is a lower bound.

    Parameters
    ----------
    loss, n_jobs
        As in :class:`Chain`.
    inference : str, default="auto"
        As in :func:`maxmargin.decode.potts`.
    """

    def __init__(
        self, loss: Loss = "hamming", n_jobs: int | None = -1, inference: str = "auto"
    ) -> None:
        super().__init__(loss, n_jobs)
        self.inference = inference

    def decode(self, scores: Any, truth: Any, **parts: Any) -> Any:
        """Good labels."""
        given = self._given(truth) | {"inference": self.inference}
        return decoders.potts(scores, **parts, **given).labels

    def score(self, scores: jax.Array, output: jax.Array, **parts: Any) -> jax.Array:
        """The score of labels."""
        labels, present = _labels(output, parts)
        edges = jnp.asarray(parts["edges"])
        ends = jnp.broadcast_to(edges, (*labels.shape[:-1], *edges.shape[-2:]))
        exists = (ends >= 0).all(-1) & (ends < present.sum(-1)[..., None, None]).all(-1)
        a, b = (
            jnp.take_along_axis(labels, jnp.where(exists, ends[..., side], 0), -1)
            for side in (0, 1)
        )
        costs = jnp.broadcast_to(jnp.asarray(parts["costs"]), exists.shape)
        cut = jnp.where(exists & (a != b), costs, 0.0)
        return _own(scores, labels, present) - cut.sum(-1)


class Assignment:
    """Assignments, decoded by :func:`maxmargin.decode.assignment`.

    Their further arguments are ``nulls``, ``lengths`` and ``mask``; the truth is the column of each row, −1 for none.

    Parameters
    ----------
    loss : {"hamming", "normalised"} or number, default="hamming"
        The number of rows whose column is wrong, their share, or a number for each such row.
    n_jobs : int, default=-1
        Threads among which a batch is divided.
    """

    def __init__(self, loss: str | float = "hamming", n_jobs: int | None = -1) -> None:
        if cost_of(loss)[0] is None:
            raise ValueError("loss is an array; add it to the scores")
        self.cost = loss
        self.n_jobs = n_jobs

    def __repr__(self) -> str:
        return f"Assignment(loss={self.cost!r})"

    def decode(self, scores: Any, truth: Any, **parts: Any) -> Any:
        """The best columns of all rows."""
        given: dict[str, Any] = {"n_jobs": self.n_jobs}
        if truth is not None:
            given |= {"truth": truth, "loss": self.cost}
        return decoders.assignment(scores, **parts, **given).labels

    def score(self, scores: jax.Array, output: jax.Array, **parts: Any) -> jax.Array:
        """The score of the columns of all rows."""
        columns = jnp.asarray(output)
        rows, width = _sizes(scores, parts)
        row_is_there = jnp.arange(scores.shape[-2]) < rows
        linked = (columns >= 0) & row_is_there
        at = jnp.where(linked, columns, 0)
        if parts.get("mask") is not None:
            scores = jnp.where(jnp.asarray(parts["mask"]), scores, -jnp.inf)
        if scores.shape[-1]:
            own = jnp.take_along_axis(scores, at[..., None], -1)[..., 0]
            total = jnp.where(linked, own, 0.0).sum(-1)
        else:
            total = scores.sum((-2, -1))
        nulls = parts.get("nulls")
        if nulls is None or isinstance(nulls, str):
            return total
        of_rows, of_columns = (jnp.asarray(null) for null in nulls)
        total = total + jnp.where(row_is_there & ~linked, of_rows, 0.0).sum(-1)
        places = jnp.arange(scores.shape[-1])
        used = (linked[..., None] & (at[..., None] == places)).any(-2)
        return total + jnp.where((places < width) & ~used, of_columns, 0.0).sum(-1)

    def loss(self, truth: jax.Array, output: jax.Array, **parts: Any) -> jax.Array:
        """The loss of the columns of all rows."""
        present = jnp.ones(output.shape, dtype=bool)
        if parts.get("lengths") is not None:
            rows = jnp.asarray(parts["lengths"])[..., :1]
            present = jnp.arange(output.shape[-1]) < rows
        cost, is_share = cost_of(self.cost)
        assert cost is not None
        total = cost * ((truth != output) & present).sum(-1)
        return total / jnp.maximum(present.sum(-1), 1) if is_share else total


def _present(like: jax.Array, parts: dict[str, Any]) -> jax.Array:
    """Which places exist, of an output."""
    if parts.get("mask") is not None:
        return jnp.asarray(parts["mask"])
    if parts.get("lengths") is not None:
        return jnp.arange(like.shape[-1]) < jnp.asarray(parts["lengths"])[..., None]
    return jnp.ones(like.shape, dtype=bool)


def _labels(output: Any, parts: dict[str, Any]) -> tuple[jax.Array, jax.Array]:
    """Labels, with 0 at places that do not exist, and which places exist."""
    labels = jnp.asarray(output)
    present = _present(labels, parts)
    return jnp.where(present, labels, 0), present


def _own(scores: jax.Array, labels: jax.Array, present: jax.Array) -> jax.Array:
    """The sum of the scores of labels."""
    own = jnp.take_along_axis(scores, labels[..., None], -1)[..., 0]
    return jnp.where(present, own, 0.0).sum(-1)


def _at(table: jax.Array, labels: jax.Array, places: int | None) -> tuple[jax.Array, ...]:
    """Indices into the dimensions of tables before the last two: items, and places if these have tables of their
    own."""
    found: list[jax.Array] = []
    if table.ndim - 2 - (places is not None):
        found.append(jnp.arange(labels.shape[0])[:, None])
    if places is not None:
        found.append(jnp.arange(places))
    return tuple(found)


def _sizes(scores: jax.Array, parts: dict[str, Any]) -> tuple[jax.Array, jax.Array]:
    """Numbers of rows and columns, with a dimension to compare places with."""
    lengths = parts.get("lengths")
    sizes = jnp.asarray(scores.shape[-2:] if lengths is None else lengths)
    return sizes[..., :1], sizes[..., 1:]
