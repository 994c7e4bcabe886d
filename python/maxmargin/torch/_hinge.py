"""The structured hinge loss of scores that a network makes."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import torch

from .._hinge import check_hinge


class TorchStructure(Protocol):
    """What :class:`StructuredHingeLoss` has to know of a structure.

    ``parts`` are the keyword arguments of the loss: further scores, lengths, edges, whatever the structure
    needs. A batch has a dimension in front, and scores and losses are then of shape (B,).
    """

    def decode(self, scores: np.ndarray, truth: Any, **parts: Any) -> Any:
        """The best output at these scores, plus the loss of a truth unless that is None. All tensors
        come as NumPy arrays. The result is an array, or a tuple of arrays."""

    def score(self, scores: torch.Tensor, output: Any, **parts: Any) -> torch.Tensor:
        """The score of an output, or of the truth, differentiable in the scores and parts."""

    def loss(self, truth: Any, output: Any, **parts: Any) -> torch.Tensor:
        """What it costs to predict an output for a truth; 0 for the truth itself."""


class StructuredHingeLoss(torch.nn.Module):
    """The structured hinge loss max_ŷ [score(ŷ) + loss(y, ŷ)] − score(y), with exact subgradients.

    The best ŷ is found by a decoder, on the CPU and in double precision; the scores of ŷ and of the truth
    y are then taken from the tensors. So gradients are those of the two outputs' scores: exactly 1 and −1
    where only one of them has a part, on any device. Scores of half precision are summed in single
    precision.

    Parameters
    ----------
    structure : TorchStructure
        :class:`Chain`, :class:`Assignment`, :class:`Tree`, :class:`Potts`, or an object of your own with
        the methods of :class:`TorchStructure`.
    reduction : {"mean", "sum", "none"}, default="mean"
        What becomes of the losses of a batch.

    Examples
    --------
    >>> import torch
    >>> from maxmargin.torch import Chain, StructuredHingeLoss
    >>> hinge = StructuredHingeLoss(Chain())
    >>> scores = torch.zeros(1, 3, 2, requires_grad=True)
    >>> loss = hinge(scores, torch.tensor([[0, 1, 0]]), lengths=torch.tensor([2]))
    >>> loss.backward()
    >>> float(loss), scores.grad[0].tolist()
    (2.0, [[-1.0, 1.0], [1.0, -1.0], [0.0, 0.0]])
    >>> hinge.decode(scores, lengths=torch.tensor([2])).tolist()
    [[0, 0, -1]]
    """

    def __init__(self, structure: TorchStructure, reduction: str = "mean") -> None:
        super().__init__()
        check_hinge(structure, reduction)
        self.structure = structure
        self.reduction = reduction

    def forward(self, scores: torch.Tensor, truth: Any, **parts: Any) -> torch.Tensor:
        """The loss of scores.

        Parameters
        ----------
        scores : tensor
            What the structure scores: (T, K) or (B, T, K) for chains, (R, C) or (B, R, C) for
            assignments, (N, K) or (B, N, K) for trees and graphs.
        truth : tensor
            True labels, or columns, of shape (T,) or (B, T).
        **parts
            Further arguments of the decoder in :mod:`maxmargin.decode`: ``transitions``, ``lengths``,
            ``mask``, ``edges``, …; those that are tensors get gradients too.

        Returns
        -------
        tensor
            A number, or with ``reduction="none"`` a number for each item.
        """
        # Sums of half precision would be too coarse.
        scores, parts = widened(scores), {name: widened(value) for name, value in parts.items()}
        found = self._decode(scores, truth, parts)
        score, loss = self.structure.score, self.structure.loss
        cost = torch.as_tensor(
            loss(truth, found, **parts), dtype=scores.dtype, device=scores.device
        )
        true_score = score(scores, truth, **parts)
        if not bool(torch.isfinite(true_score).all()):
            at = torch.nonzero(~torch.isfinite(true_score.detach().reshape(-1)))[0].item()
            raise ValueError(f"the score of the truth of item {at} is not finite: is it forbidden?")
        # Rounding, or a heuristic decoder, may leave less than the truth itself reaches.
        hinge = (score(scores, found, **parts) + cost - true_score).clamp(min=0)
        if self.reduction == "none":
            return hinge
        return hinge.mean() if self.reduction == "mean" else hinge.sum()

    def decode(self, scores: torch.Tensor, **parts: Any) -> Any:
        """The best outputs at these scores, without a loss, as tensors on the device of the scores."""
        return self._decode(scores, None, parts)

    def _decode(self, scores: torch.Tensor, truth: Any, parts: dict[str, Any]) -> Any:
        with torch.no_grad():
            arrays = {name: on_host(value) for name, value in parts.items()}
            found = self.structure.decode(on_host(scores), on_host(truth), **arrays)

        def back(array: Any) -> torch.Tensor:
            return torch.as_tensor(array).to(scores.device)

        return tuple(map(back, found)) if isinstance(found, tuple) else back(found)


def on_host(value: Any) -> Any:
    """Tensors, also in tuples, as NumPy arrays of single or double precision; one transfer each."""
    if isinstance(value, tuple):
        return tuple(on_host(part) for part in value)
    if not isinstance(value, torch.Tensor):
        return value
    return widened(value.detach()).cpu().numpy()


def widened(value: Any) -> Any:
    """Tensors of half precision, also in tuples, in single precision; anything else as it is."""
    if isinstance(value, tuple):
        return tuple(widened(part) for part in value)
    if isinstance(value, torch.Tensor) and value.dtype in (torch.float16, torch.bfloat16):
        return value.float()
    return value
