"""Chains, assignments, trees and labelled graphs as :func:`structured_hinge_loss` needs them."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from .. import _hinge


class _JaxArrays:
    """JAX's spelling of what structures need of arrays; see :class:`maxmargin._hinge.Arrays`."""

    def array(self, value: Any, like: jax.Array) -> jax.Array:
        del like  # JAX moves arrays by itself, and promotes their types
        return jnp.asarray(value)

    def places(self, count: int, like: jax.Array) -> jax.Array:
        del like
        return jnp.arange(count)

    def where(self, condition: jax.Array, yes: Any, no: Any) -> jax.Array:
        return jnp.where(condition, yes, no)

    def take(self, values: jax.Array, at: jax.Array) -> jax.Array:
        return jnp.take_along_axis(values, at, -1)

    def spread(self, value: jax.Array, shape: tuple[int, ...]) -> jax.Array:
        return jnp.broadcast_to(value, shape)

    def at_least(self, value: jax.Array, least: int) -> jax.Array:
        return jnp.maximum(value, least)


class Chain(_hinge.Chain):
    __doc__ = _hinge.Chain.__doc__
    _arrays = _JaxArrays()


class Tree(_hinge.Tree):
    __doc__ = _hinge.Tree.__doc__
    _arrays = _JaxArrays()


class Potts(_hinge.Potts):
    __doc__ = _hinge.Potts.__doc__
    _arrays = _JaxArrays()


class Assignment(_hinge.Assignment):
    __doc__ = _hinge.Assignment.__doc__
    _arrays = _JaxArrays()
