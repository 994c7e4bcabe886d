"""Structured hinge losses for PyTorch, and certified top layers of networks.

=============================  =====================================================================
:class:`StructuredHingeLoss`    the loss of scores that a network makes, with exact subgradients
:class:`Chain`                  … of chains, :class:`Assignment`, :class:`Tree`, :class:`Potts`
:func:`fit_top_layer`           trains the last layer of a frozen network by Frank-Wolfe, with a proof
=============================  =====================================================================

It needs PyTorch 1.13 or later: ``pip install maxmargin[torch]``.
"""

from __future__ import annotations

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError("maxmargin.torch needs PyTorch: pip install 'maxmargin[torch]'") from error

from ._hinge import StructuredHingeLoss, TorchStructure
from ._structures import Assignment, Chain, Potts, Tree
from ._top_layer import features_of, fit_top_layer

__all__ = [
    "Assignment",
    "Chain",
    "Potts",
    "StructuredHingeLoss",
    "TorchStructure",
    "Tree",
    "features_of",
    "fit_top_layer",
]
