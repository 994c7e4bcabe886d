"""Chains, assignments, trees and labelled graphs as :class:`StructuredHingeLoss` needs them."""

from __future__ import annotations

from typing import Any

import torch

from .. import _hinge


class _Tensors:
    """PyTorch's spelling of what structures need of arrays; see :class:`maxmargin._hinge.Arrays`."""

    def array(self, value: Any, like: torch.Tensor) -> torch.Tensor:
        found = torch.as_tensor(value, device=like.device)
        both_float = found.is_floating_point() and like.is_floating_point()
        return found.to(like.dtype) if both_float else found

    def places(self, count: int, like: torch.Tensor) -> torch.Tensor:
        return torch.arange(count, device=like.device)

    def where(self, condition: torch.Tensor, yes: Any, no: Any) -> torch.Tensor:
        if not isinstance(yes, torch.Tensor):
            yes = torch.full((), yes, dtype=torch.float64, device=condition.device)
        if not isinstance(no, torch.Tensor):
            no = torch.full((), no, dtype=yes.dtype, device=condition.device)
        return torch.where(condition, yes, no)

    def take(self, values: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
        return values.gather(-1, at)

    def spread(self, value: torch.Tensor, shape: tuple[int, ...]) -> torch.Tensor:
        return value.expand(shape)

    def at_least(self, value: torch.Tensor, least: int) -> torch.Tensor:
        return value.clamp(min=least)


class Chain(_hinge.Chain):
    __doc__ = _hinge.Chain.__doc__
    _arrays = _Tensors()


class Tree(_hinge.Tree):
    __doc__ = _hinge.Tree.__doc__
    _arrays = _Tensors()


class Potts(_hinge.Potts):
    __doc__ = _hinge.Potts.__doc__
    _arrays = _Tensors()


class Assignment(_hinge.Assignment):
    __doc__ = _hinge.Assignment.__doc__
    _arrays = _Tensors()
