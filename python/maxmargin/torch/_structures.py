"""Chains, assignments, trees and labelled graphs as :class:`StructuredHingeLoss` needs them."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

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

    def loss(self, truth: Any, output: torch.Tensor, **parts: Any) -> torch.Tensor:
        """The loss of labels: their number of mistakes, their share, or what a table says."""
        truth = torch.as_tensor(truth, device=output.device)
        present = _present(output, parts)
        cost, is_share = cost_of(self.cost)
        if cost is None:
            table = torch.as_tensor(np.asarray(self.cost, dtype=np.float64), device=output.device)
            at = torch.where(present, truth, 0), torch.where(present, output, 0)
            total = torch.where(present, table[at], 0.0).sum(-1)
        else:
            total = cost * ((truth != output) & present).sum(-1).double()
        return total / present.sum(-1).clamp(min=1) if is_share else total


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

    def score(self, scores: torch.Tensor, output: Any, **parts: Any) -> torch.Tensor:
        """The score of labels."""
        labels, present = _labels(scores, output, parts)
        total = _own(scores, labels, present)
        transitions, start, end = (parts.get(name) for name in ("transitions", "start", "end"))
        if transitions is not None:
            per_step = transitions.dim() == scores.dim() + 1
            steps = range(labels.shape[-1] - 1)
            at = _at(transitions, labels, None if not per_step else steps)
            both = transitions[(*at, labels[..., :-1], labels[..., 1:])]
            total = total + torch.where(present[..., 1:], both, 0.0).sum(-1)
        length = present.sum(-1)
        for more, place in ((start, torch.zeros_like(length)), (end, (length - 1).clamp(min=0))):
            if more is not None and labels.shape[-1]:
                label = labels.gather(-1, place.unsqueeze(-1)).squeeze(-1)
                own = (
                    more[label]
                    if more.dim() == 1
                    else more.gather(-1, label.unsqueeze(-1)).squeeze(-1)
                )
                total = total + torch.where(length > 0, own, 0.0)
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

    def score(self, scores: torch.Tensor, output: Any, **parts: Any) -> torch.Tensor:
        """The score of labels."""
        labels, present = _labels(scores, output, parts)
        transitions = parts["transitions"]
        parents = torch.as_tensor(parts["parents"], device=scores.device).expand(labels.shape)
        exists = (parents >= 0) & present & (parents < present.sum(-1, keepdim=True))
        above = labels.gather(-1, torch.where(exists, parents, 0))
        at = _at(transitions, labels, range(labels.shape[-1]) if transitions.dim() > 2 else None)
        both = transitions[(*at, above, labels)]
        return _own(scores, labels, present) + torch.where(exists, both, 0.0).sum(-1)


class Potts(_Labelled):
    """Labelled graphs, decoded by :func:`maxmargin.decode.potts`.

    Their further arguments are ``edges``, ``costs``, ``lengths`` and ``mask``. With two labels and costs
    ≥ 0 the loss and its subgradient are exact; where decoding is a heuristic the loss is a lower bound.

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

    def score(self, scores: torch.Tensor, output: Any, **parts: Any) -> torch.Tensor:
        """The score of labels."""
        labels, present = _labels(scores, output, parts)
        edges = torch.as_tensor(parts["edges"], device=scores.device)
        ends = edges.expand(*labels.shape[:-1], *edges.shape[-2:])
        exists = (ends >= 0).all(-1) & (ends < present.sum(-1)[..., None, None]).all(-1)
        a, b = (labels.gather(-1, torch.where(exists, ends[..., side], 0)) for side in (0, 1))
        costs = torch.as_tensor(parts["costs"], dtype=scores.dtype, device=scores.device)
        cut = torch.where(exists & (a != b), costs.expand(exists.shape), 0.0)
        return _own(scores, labels, present) - cut.sum(-1)


class Assignment:
    """Assignments, decoded by :func:`maxmargin.decode.assignment`.

    Their further arguments are ``nulls``, ``lengths`` and ``mask``; the truth is the column of each row,
    −1 for none.

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

    def score(self, scores: torch.Tensor, output: Any, **parts: Any) -> torch.Tensor:
        """The score of the columns of all rows."""
        columns = torch.as_tensor(output, device=scores.device)
        rows, width = _sizes(scores, parts)
        row_is_there = torch.arange(scores.shape[-2], device=scores.device) < rows
        linked = (columns >= 0) & row_is_there
        at = torch.where(linked, columns, 0)
        mask = parts.get("mask")
        if mask is not None:
            never = torch.full((), -torch.inf, dtype=scores.dtype, device=scores.device)
            scores = torch.where(torch.as_tensor(mask, device=scores.device), scores, never)
        if scores.shape[-1]:
            own = scores.gather(-1, at.unsqueeze(-1)).squeeze(-1)
            total = torch.where(linked, own, 0.0).sum(-1)
        else:
            total = scores.sum((-2, -1))
        nulls = parts.get("nulls")
        if nulls is None or isinstance(nulls, str):
            return total
        of_rows, of_columns = (
            torch.as_tensor(null, dtype=scores.dtype, device=scores.device) for null in nulls
        )
        total = total + torch.where(row_is_there & ~linked, of_rows, 0.0).sum(-1)
        used = torch.zeros(scores.shape[:-2] + scores.shape[-1:], device=scores.device)
        used = used.scatter_add(-1, at, linked.to(used.dtype)) > 0
        column_is_there = torch.arange(scores.shape[-1], device=scores.device) < width
        return total + torch.where(column_is_there & ~used, of_columns, 0.0).sum(-1)

    def loss(self, truth: Any, output: torch.Tensor, **parts: Any) -> torch.Tensor:
        """The loss of the columns of all rows."""
        truth = torch.as_tensor(truth, device=output.device)
        lengths = parts.get("lengths")
        present = torch.ones_like(output, dtype=torch.bool)
        if lengths is not None:
            rows = torch.as_tensor(lengths, device=output.device)[..., :1]
            present = torch.arange(output.shape[-1], device=output.device) < rows
        cost, is_share = cost_of(self.cost)
        assert cost is not None
        total = cost * ((truth != output) & present).sum(-1).double()
        return total / present.sum(-1).clamp(min=1) if is_share else total


def _present(like: torch.Tensor, parts: dict[str, Any]) -> torch.Tensor:
    """Which places exist, of an output or of scores without their last dimension."""
    if parts.get("mask") is not None:
        return torch.as_tensor(parts["mask"], device=like.device)
    places = torch.arange(like.shape[-1], device=like.device)
    if parts.get("lengths") is not None:
        return places < torch.as_tensor(parts["lengths"], device=like.device).unsqueeze(-1)
    return torch.ones(like.shape, dtype=torch.bool, device=like.device)


def _labels(
    scores: torch.Tensor, output: Any, parts: dict[str, Any]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Labels, with 0 at places that do not exist, and which places exist."""
    labels = torch.as_tensor(output, device=scores.device)
    present = _present(labels, parts)
    return torch.where(present, labels, 0), present


def _own(scores: torch.Tensor, labels: torch.Tensor, present: torch.Tensor) -> torch.Tensor:
    """The sum of the scores of labels."""
    own = scores.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
    return torch.where(present, own, 0.0).sum(-1)


def _at(
    table: torch.Tensor, labels: torch.Tensor, places: range | None
) -> tuple[torch.Tensor, ...]:
    """Indices into the dimensions of tables before the last two: items, and places if these have tables
    of their own."""
    before = table.dim() - 2 - (places is not None)
    found: list[torch.Tensor] = []
    if before:
        found.append(torch.arange(labels.shape[0], device=labels.device).unsqueeze(-1))
    if places is not None:
        found.append(torch.arange(len(places), device=labels.device))
    return tuple(found)


def _sizes(scores: torch.Tensor, parts: dict[str, Any]) -> tuple[torch.Tensor, torch.Tensor]:
    """Numbers of rows and columns, with a dimension to compare places with."""
    lengths = parts.get("lengths")
    if lengths is None:
        sizes = torch.tensor(scores.shape[-2:], device=scores.device)
    else:
        sizes = torch.as_tensor(lengths, device=scores.device)
    return sizes[..., :1], sizes[..., 1:]
