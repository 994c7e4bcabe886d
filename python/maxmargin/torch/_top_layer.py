"""The last layer of a network, trained by Frank-Wolfe with a certificate."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ._hinge import on_host

if TYPE_CHECKING:
    from .._chain import ChainSVM


def features_of(body: Callable[[Any], torch.Tensor], X: Iterable[Any]) -> list[np.ndarray]:
    """What a network says of inputs, without gradients and in evaluation mode.

    Parameters
    ----------
    body : callable
        The network without its last layer. It takes one input and returns a tensor of shape (T, D).
    X : iterable
        Inputs, one sequence each.

    Returns
    -------
    list of ndarray
        One of shape (T, D) for each input, in double precision.
    """
    training = getattr(body, "training", False)
    if isinstance(body, torch.nn.Module):
        body.eval()
    try:
        with torch.no_grad():
            found = [np.asarray(on_host(body(x)), dtype=np.float64) for x in X]
    finally:
        if isinstance(body, torch.nn.Module):
            body.train(training)
    for i, rows in enumerate(found):
        if rows.ndim != 2:
            raise ValueError(
                f"the features of input {i} have the shape {rows.shape}; expected (T, D)"
            )
        if not np.isfinite(rows).all():
            raise ValueError(f"the features of input {i} are not all finite")
    return found


def fit_top_layer(
    body: Callable[[Any], torch.Tensor],
    head: torch.nn.Linear,
    X: Iterable[Any],
    y: Iterable[Any],
    *,
    transitions: torch.Tensor | None = None,
    start: torch.Tensor | None = None,
    end: torch.Tensor | None = None,
    **settings: Any,
) -> ChainSVM:
    """Trains the last layer of a network to its optimum, with a proof.

    The network stays as it is: its last hidden layer makes the features of a :class:`maxmargin.ChainSVM`,
    whose training is a convex problem. Its weights are written into ``head`` and the other tensors, and
    its certificate bounds how far they are from the best weights there are for these features.

    Parameters
    ----------
    body : callable
        The network without its last layer. It takes one input and returns a tensor of shape (T, D).
    head : torch.nn.Linear
        The last layer, from D features to K labels.
    X, y : iterables
        Inputs, and the labels of each as whole numbers from 0 to K − 1. Each label must occur.
    transitions : tensor of shape (K, K), optional
        Scores of neighbouring labels, as in :class:`Chain`; without it there are none.
    start, end : tensor of shape (K,), optional
        Scores of the first and of the last label.
    **settings
        Parameters of :class:`maxmargin.ChainSVM`, such as ``lam``, ``tol`` or ``n_jobs``.

    Returns
    -------
    ChainSVM
        The fitted model. Its ``certificate_`` is the proof; ``verify(features_of(body, X), y)`` computes
        it again.
    """
    from .._chain import ChainSVM

    features = features_of(body, X)
    truth = [np.asarray(on_host(labels)).tolist() for labels in y]
    count, width = head.weight.shape
    _check(features, truth, count, width)
    tensors = {"bias": head.bias, "transition": transitions, "first": start, "last": end}
    for name, tensor in tensors.items():
        shape = (count, count) if name == "transition" else (count,)
        if tensor is not None and tuple(tensor.shape) != shape:
            raise ValueError(
                f"the scores {name} have the shape {tuple(tensor.shape)}; expected {shape}"
            )
    left_out = [name for name, tensor in tensors.items() if tensor is None]
    # The certificate is about the weights of the layer themselves.
    given = {"without": left_out, "transition_scale": 1.0, "standardise": False, **settings}
    model = ChainSVM(**given).fit(features, truth)
    groups = model.weights_
    with torch.no_grad():
        _write(head.weight, groups["emission"].T)
        for name, tensor in tensors.items():
            if tensor is not None:
                _write(tensor, groups[name])
    return model


def _check(features: list[np.ndarray], truth: list[Any], count: int, width: int) -> None:
    """Whether features and labels are those of the layer."""
    if len(features) != len(truth):
        raise ValueError(f"X has {len(features)} inputs and y has {len(truth)}")
    for i, (rows, labels) in enumerate(zip(features, truth, strict=True)):
        if rows.shape[1] != width:
            raise ValueError(f"input {i} has {rows.shape[1]} features; the layer takes {width}")
        wrong = [label for label in labels if not (isinstance(label, int) and 0 <= label < count)]
        if wrong:
            raise ValueError(
                f"input {i} has the label {wrong[0]!r}; labels go from 0 to {count - 1}"
            )
    missing = set(range(count)).difference(*truth)
    if missing:
        raise ValueError(f"the label {min(missing)} does not occur in y")


def _write(to: torch.Tensor, values: np.ndarray) -> None:
    to.copy_(torch.as_tensor(np.ascontiguousarray(values)).to(to.device, to.dtype))
