"""Chains, assignments, trees and labelled graphs as structured hinge losses need them, for any library of arrays.

Outputs are found by :mod:`maxmargin.decode`. Here are their scores, written once in the few operations that
libraries of arrays spell differently (:class:`Arrays`); :mod:`maxmargin.torch` and :mod:`maxmargin.jax` bring these.
"""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

import numpy as np

from . import decode as decoders
from .decode._arrays import Loss, cost_of


class Arrays(Protocol):
    """What a library of arrays spells in its own way. ``like`` is an array whose device the result has."""

    def array(self, value: Any, like: Any) -> Any:
        """A value as an array; floats have the type of ``like`` if that has floats."""

    def places(self, count: int, like: Any) -> Any:
        """0, 1, …, count − 1."""

    def where(self, condition: Any, yes: Any, no: Any) -> Any:
        """One of two values, by a condition; either may be a number."""

    def take(self, values: Any, at: Any) -> Any:
        """``values[…, at[…, j]]`` for each j."""

    def spread(self, value: Any, shape: tuple[int, ...]) -> Any:
        """The value, repeated to a shape."""

    def at_least(self, value: Any, least: int) -> Any:
        """The larger of both."""


def check_hinge(structure: Any, reduction: str) -> None:
    """Refuses arguments of a loss that mean nothing."""
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"reduction is {reduction!r}; known are 'mean', 'sum' and 'none'")
    for method in ("decode", "score", "loss"):
        if isinstance(structure, type) or not callable(getattr(structure, method, None)):
            raise TypeError(
                f"the structure has no method {method}; give Chain(), Assignment(), Tree(), Potts() or an "
                "object like them"
            )


class _Structure:
    """A loss of mistakes, and threads for the decoder."""

    _arrays: ClassVar[Arrays]

    def __init__(self, loss: Loss = "hamming", n_jobs: int | None = -1) -> None:
        cost_of(loss)
        self.cost = loss
        self.n_jobs = n_jobs

    def __repr__(self) -> str:
        return f"{type(self).__name__}(loss={self.cost!r})"

    def _given(self, truth: Any) -> dict[str, Any]:
        """Arguments of the decoder."""
        given: dict[str, Any] = {"n_jobs": self.n_jobs}
        return given if truth is None else given | {"truth": truth, "loss": self.cost}

    def _mistakes(self, truth: Any, output: Any, present: Any) -> Any:
        """The loss of an output whose places are ``present``: its number of mistakes, their share, or what a table
        says."""
        xp = self._arrays
        truth = xp.array(truth, output)
        cost, is_share = cost_of(self.cost)
        if cost is None:
            table = xp.array(np.asarray(self.cost, dtype=np.float64), output)
            own = table[xp.where(present, truth, 0), xp.where(present, output, 0)]
            total = xp.where(present, own, 0.0).sum(-1)
        else:
            total = cost * xp.where((truth != output) & present, 1.0, 0.0).sum(-1)
        return total / xp.at_least(present.sum(-1), 1) if is_share else total


class _Labelled(_Structure):
    """A structure whose output is a label for each place."""

    def loss(self, truth: Any, output: Any, **parts: Any) -> Any:
        """The loss of labels: their number of mistakes, their share, or what a table says."""
        return self._mistakes(truth, output, self._present(output, parts))

    def _present(self, like: Any, parts: dict[str, Any]) -> Any:
        """Which places exist, of an output."""
        xp = self._arrays
        if parts.get("mask") is not None:
            return xp.array(parts["mask"], like)
        places = xp.places(like.shape[-1], like)
        if parts.get("lengths") is not None:
            return places < xp.array(parts["lengths"], like)[..., None]
        return xp.spread(places >= 0, tuple(like.shape))

    def _labels(self, scores: Any, output: Any, parts: dict[str, Any]) -> tuple[Any, Any]:
        """Labels, with 0 at places that do not exist, and which places exist."""
        labels = self._arrays.array(output, scores)
        present = self._present(labels, parts)
        return self._arrays.where(present, labels, 0), present

    def _own(self, scores: Any, labels: Any, present: Any) -> Any:
        """The sum of the scores of labels."""
        own = self._arrays.take(scores, labels[..., None])[..., 0]
        return self._arrays.where(present, own, 0.0).sum(-1)

    def _at(self, table: Any, labels: Any, places: int | None) -> tuple[Any, ...]:
        """Indices into the dimensions of tables before the last two: items, and places if these have tables of their
        own."""
        found: list[Any] = []
        if table.ndim - 2 - (places is not None):
            found.append(self._arrays.places(labels.shape[0], labels)[:, None])
        if places is not None:
            found.append(self._arrays.places(places, labels))
        return tuple(found)


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

    def score(self, scores: Any, output: Any, **parts: Any) -> Any:
        """The score of labels."""
        xp = self._arrays
        labels, present = self._labels(scores, output, parts)
        total = self._own(scores, labels, present)
        if parts.get("transitions") is not None:
            transitions = xp.array(parts["transitions"], scores)
            per_step = transitions.ndim == scores.ndim + 1
            steps = max(labels.shape[-1] - 1, 0)
            at = self._at(transitions, labels, steps if per_step else None)
            both = transitions[(*at, labels[..., :-1], labels[..., 1:])]
            total = total + xp.where(present[..., 1:], both, 0.0).sum(-1)
        length = present.sum(-1)
        for name, place in (("start", 0 * length), ("end", xp.at_least(length - 1, 0))):
            if parts.get(name) is not None and labels.shape[-1]:
                more = xp.array(parts[name], scores)
                label = xp.take(labels, place[..., None])
                own = more[label] if more.ndim == 1 else xp.take(more, label)
                total = total + xp.where(length > 0, own[..., 0], 0.0)
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

    def score(self, scores: Any, output: Any, **parts: Any) -> Any:
        """The score of labels."""
        xp = self._arrays
        labels, present = self._labels(scores, output, parts)
        transitions = xp.array(parts["transitions"], scores)
        parents = xp.spread(xp.array(parts["parents"], labels), tuple(labels.shape))
        exists = (parents >= 0) & present & (parents < present.sum(-1)[..., None])
        above = xp.take(labels, xp.where(exists, parents, 0))
        at = self._at(transitions, labels, labels.shape[-1] if transitions.ndim > 2 else None)
        both = transitions[(*at, above, labels)]
        return self._own(scores, labels, present) + xp.where(exists, both, 0.0).sum(-1)


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

    def score(self, scores: Any, output: Any, **parts: Any) -> Any:
        """The score of labels."""
        xp = self._arrays
        labels, present = self._labels(scores, output, parts)
        edges = xp.array(parts["edges"], labels)
        ends = xp.spread(edges, (*labels.shape[:-1], *edges.shape[-2:]))
        exists = (ends >= 0).all(-1) & (ends < present.sum(-1)[..., None, None]).all(-1)
        a, b = (xp.take(labels, xp.where(exists, ends[..., side], 0)) for side in (0, 1))
        costs = xp.spread(xp.array(parts["costs"], scores), tuple(exists.shape))
        cut = xp.where(exists & (a != b), costs, 0.0)
        return self._own(scores, labels, present) - cut.sum(-1)


class Assignment(_Structure):
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
        super().__init__(loss, n_jobs)

    def decode(self, scores: Any, truth: Any, **parts: Any) -> Any:
        """The best columns of all rows."""
        return decoders.assignment(scores, **parts, **self._given(truth)).labels

    def score(self, scores: Any, output: Any, **parts: Any) -> Any:
        """The score of the columns of all rows."""
        xp = self._arrays
        chosen = xp.array(output, scores)
        sizes = xp.array(np.array(scores.shape[-2:]), chosen)
        if parts.get("lengths") is not None:
            sizes = xp.array(parts["lengths"], chosen)
        rows, columns = (xp.places(scores.shape[side], chosen) for side in (-2, -1))
        row_is_there, column_is_there = rows < sizes[..., :1], columns < sizes[..., 1:]
        linked = (chosen >= 0) & row_is_there
        at = xp.where(linked, chosen, 0)
        if parts.get("mask") is not None:
            scores = xp.where(xp.array(parts["mask"], chosen), scores, -np.inf)
        if scores.shape[-1]:
            total = xp.where(linked, xp.take(scores, at[..., None])[..., 0], 0.0).sum(-1)
        else:
            total = scores.sum((-2, -1))
        nulls = parts.get("nulls")
        if nulls is None or isinstance(nulls, str):
            return total
        of_rows, of_columns = (xp.array(null, scores) for null in nulls)
        total = total + xp.where(row_is_there & ~linked, of_rows, 0.0).sum(-1)
        used = (linked[..., None] & (at[..., None] == columns)).any(-2)
        return total + xp.where(column_is_there & ~used, of_columns, 0.0).sum(-1)

    def loss(self, truth: Any, output: Any, **parts: Any) -> Any:
        """The loss of the columns of all rows."""
        rows = self._arrays.places(output.shape[-1], output)
        present = self._arrays.spread(rows >= 0, tuple(output.shape))
        if parts.get("lengths") is not None:
            present = rows < self._arrays.array(parts["lengths"], output)[..., :1]
        return self._mistakes(truth, output, present)
