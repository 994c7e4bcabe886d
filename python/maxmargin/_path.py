"""Regularization paths: good weights for every λ."""

from __future__ import annotations

import os
from typing import Any, Generic, TypeVar

import numpy as np

from . import _maxmargin as native
from ._base import BaseSVM
from ._certificate import Certificate
from ._html import facts
from ._load import estimator_of
from ._oracle import Adapter
from ._settings import as_json, group_bounds, number
from ._structure import StructuredSVM
from ._types import PathLike

#: What estimators learn from data besides weights.
LEARNED = (
    "_labels",
    "classes_",
    "n_features_in_",
    "n_edge_features_in_",
    "n_edge_types_in_",
    "n_segment_features_in_",
    "longest_",
    "feature_names_in_",
    "_indicator",
    "_shape",
    "_form",
)


Fitted = TypeVar("Fitted", bound=BaseSVM)


class RegularizationPath(Generic[Fitted]):
    """Weights that are good to ``epsilon`` at every λ; made by :func:`regularization_path`.

    Attributes
    ----------
    lambdas : ndarray
        The breakpoints, from the largest λ down.
    breakpoints : structured ndarray
        What is known of them: lambda, primal, dual, gap, oracle_calls, seconds, changes.
    epsilon : float
        The duality gap that holds at every λ.
    """

    def __init__(self, path: native.Path, estimator: Fitted) -> None:
        self._path = path
        self._estimator = estimator
        columns = path.columns()
        kinds = [(name, np.float64) for name in columns]
        self.breakpoints = np.empty(len(columns["lambda"]), dtype=kinds)
        for name, values in columns.items():
            self.breakpoints[name] = values
        self.lambdas: np.ndarray = self.breakpoints["lambda"].copy()
        self.epsilon: float = path.epsilon

    def __len__(self) -> int:
        return len(self.lambdas)

    def __repr__(self) -> str:
        return f"RegularizationPath({len(self)} breakpoints, epsilon={self.epsilon:g})"

    @property
    def is_guaranteed(self) -> bool:
        """Whether ``epsilon`` is proven: not on a heuristic path, nor where a limit ended it."""
        return self._path.is_guaranteed

    @property
    def lowest(self) -> float:
        """The smallest λ there are weights for; 0 if the last ones are good for all below."""
        return self._path.lowest

    def coef_at(self, lam: float) -> np.ndarray:
        """All weights at λ, one after the other."""
        return self._path.weights_at(float(lam))

    def certificate_at(self, lam: float) -> Certificate:
        """Primal, dual and gap at λ, without any work."""
        primal, dual, gap, quality = self._path.certificate_at(float(lam))
        return Certificate(float(lam), primal, dual, gap, quality)

    def estimator_at(self, lam: float) -> Fitted:
        """A fitted estimator at λ. It states the gap that the path proves, but has no dual point to
        verify it with."""
        from sklearn.base import clone

        estimator: Any = clone(self._estimator)
        estimator.set_params(lam=float(lam), C=None)
        for name in LEARNED:
            if hasattr(self._estimator, name):
                setattr(estimator, name, getattr(self._estimator, name))
        if isinstance(estimator, StructuredSVM):
            estimator._coef = self.coef_at(lam)
            estimator.certificate_ = self.certificate_at(lam)
            return estimator
        model = self._path.model_at(float(lam))
        if hasattr(estimator, "_new_attributes"):
            estimator._column_cache = {}
        estimator._adopt(model, model.history())
        return estimator

    def scores(self, X: Any, y: Any, **extra: Any) -> np.ndarray:
        """The score of the estimator at each breakpoint."""
        return np.array([self.estimator_at(lam).score(X, y, **extra) for lam in self.lambdas])

    def best(self, X: Any, y: Any, **extra: Any) -> Fitted:
        """The fitted estimator with the best score on these data; of equals, that with the largest
        λ."""
        return self.estimator_at(float(self.lambdas[int(np.argmax(self.scores(X, y, **extra)))]))

    def _repr_html_(self) -> str:
        rows = [
            ("breakpoints", str(len(self))),
            (
                "gap at every λ",
                f"{self.epsilon:g}" + ("" if self.is_guaranteed else " (not proven)"),
            ),
            ("from λ", f"{self.lambdas[0]:.4g}" if len(self) else "none"),
            ("down to λ", f"{self.lowest:.4g}"),
        ]
        return facts("Regularization path", rows)

    def plot(self, ax: Any = None, scores: Any = None) -> Any:
        """Draws primal and dual over λ, and scores at the breakpoints if they are given."""
        from ._plots import path

        return path(self, ax, scores)

    @classmethod
    def load(cls, path: PathLike) -> RegularizationPath[Any]:
        """Reads a path that :meth:`save`, or ``maxmargin path -p``, has written."""
        found = native.Path.load(os.fspath(path))
        largest = float(found.columns()["lambda"][0])
        return cls(found, estimator_of(found.model_at(largest)))

    def save(self, path: PathLike) -> None:
        """Writes the path to a file that the command line reads (``maxmargin pick``)."""
        self._path.save(os.fspath(path))


def regularization_path(
    estimator: Fitted,
    X: Any,
    y: Any,
    epsilon: float = 0.1,
    *,
    sample_weight: Any = None,
    kappa: float | None = None,
    lambda_min: float = 1e-5,
    heuristic: bool = False,
    **extra: Any,
) -> RegularizationPath[Fitted]:
    """Follows the regularization path: weights whose duality gap is at most ``epsilon`` at every λ.

    Parameters
    ----------
    estimator : BaseSVM
        Says what is trained and how; its ``lam``, ``C`` and ``tol`` do not matter. It is not changed.
    X, y, sample_weight
        As in its ``fit``.
    epsilon : float, default=0.1
        The duality gap.
    kappa : float, optional
        The share of it to which each breakpoint is solved.
    lambda_min : float, default=1e-5
        Where the path may end.
    heuristic : bool, default=False
        Whether to save oracle calls and guarantee nothing.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import MulticlassSVM, regularization_path
    >>> X, y = load_iris(return_X_y=True)
    >>> path = regularization_path(MulticlassSVM(), X, y, epsilon=0.1, lambda_min=1e-3)
    >>> path.certificate_at(0.05).gap <= 0.1
    True
    >>> path.best(X, y).score(X, y) > 0.9
    True
    """
    from sklearn.base import clone

    estimator = clone(estimator)
    if getattr(estimator, "kernel", None) is not None or getattr(
        estimator, "training", None
    ) not in (None, "exact", "lp"):
        raise ValueError(
            "paths are of weights and one problem at all λ: they go neither with a kernel nor with soft "
            "training; fit with one lam after the other, or leave these out"
        )
    training = estimator.settings()
    for name in ("lambda", "tolerance", "patience"):
        training.pop(name, None)
    settings = {
        "epsilon": number("epsilon", epsilon),
        "kappa": None if kappa is None else number("kappa", kappa),
        "lambda_min": number("lambda_min", lambda_min),
        "heuristic": bool(heuristic),
        "training": training,
    }
    if isinstance(estimator, StructuredSVM):
        X, y, weights, _ = estimator._split(list(X), list(y), sample_weight, ())
        adapter = Adapter(estimator.structure, X, y)
        truths = adapter.truths()
        found = native.follow_structure_path(
            adapter,
            truths,
            weights.tolist(),
            adapter.dim,
            as_json("settings", settings),
            bounds=estimator._bound_arrays(adapter.dim),
            quality=getattr(estimator.structure, "quality", "exact"),
            rescaling=estimator.rescaling,
        )
        return RegularizationPath(found, estimator)
    prepared = estimator._prepare(X, y, sample_weight, **extra)
    bounds = as_json("bounds", prepared.bounds or group_bounds(None))
    found = native.follow_path(*prepared.task(), as_json("settings", settings), bounds)
    return RegularizationPath(found, estimator)
