"""Structured hinge losses for JAX.

=================================  =================================================================
:func:`structured_hinge_loss`       the loss of scores, with exact subgradients, under ``jit`` and ``grad``
:class:`Chain`                      … of chains, :class:`Assignment`, :class:`Tree`, :class:`Potts`
=================================  =================================================================

It needs JAX: ``pip install maxmargin[jax]``. Outputs are decoded on the CPU, by a callback.
"""

from __future__ import annotations

try:
    import jax as _jax  # noqa: F401
except ImportError as error:
    raise ImportError("maxmargin.jax needs JAX: pip install 'maxmargin[jax]'") from error

from ._hinge import JaxStructure, decode, structured_hinge_loss
from ._structures import Assignment, Chain, Potts, Tree

__all__ = [
    "Assignment",
    "Chain",
    "JaxStructure",
    "Potts",
    "Tree",
    "decode",
    "structured_hinge_loss",
]
