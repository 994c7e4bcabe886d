"""Rows of numbers with one of two labels each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from ._rows import OneLabelSVM
from ._settings import rescaling_name
from ._types import (
    Cache,
    Callback,
    ClassWeight,
    Direction,
    Lam,
    Measure,
    OnInterrupt,
    Order,
    Rescaling,
    Solver,
)


class BinarySVM(OneLabelSVM):
    """Predicts one of two labels: the linear SVM with hinge loss.

    Parameters
    ----------
    lam, C, tol, max_passes, solver, order, direction, cache, bounds, max_seconds, validation, \
patience, n_jobs, random_state, warm_start, backend, verbose, callback, on_interrupt, options
        As in :class:`ChainSVM`; the groups for ``bounds`` are ``weights`` and ``bias``.
    rescaling : {"margin", "slack"}, default="margin"
        How the loss enters.
    class_weight : dict or "balanced", optional
        What rows count by their label, besides ``sample_weight``; 1 for labels that are not named. ``"balanced"``
        gives n/(k count) to a label that ``count`` of n rows have, with k labels.
    fit_intercept : bool, default=True
        Whether there is a constant attribute.
    intercept_scaling : float or "auto", default="auto"
        Its value; larger ones are regularised less. ``"auto"`` follows the length of attributes, so that it
        does not depend on units; it is 1 with a kernel or bounds.
    standardise : bool or "auto", default="auto"
        As in :class:`MulticlassSVM`.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; the second one has positive scores.
    coef_ : ndarray of shape (1, features)
        The weights.
    intercept_ : ndarray of shape (1,)
        The constant.
    certificate_, history_, status_, n_iter_
        As in :class:`ChainSVM`.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import BinarySVM
    >>> X = np.array([[-2.0], [-1.0], [1.0], [3.0]])
    >>> model = BinarySVM(lam=0.1).fit(X, ["no", "no", "yes", "yes"])
    >>> model.predict([[2.0], [-3.0]]).tolist()
    ['yes', 'no']
    """

    _kind: ClassVar[str] = "binary"

    def __init__(
        self,
        lam: Lam = "scale",
        *,
        C: float | None = None,
        measure: Measure | None = None,
        tol: float | str = "1%",
        max_passes: int = 1000,
        solver: Solver = "auto",
        order: Order | None = None,
        direction: Direction | None = None,
        cache: Cache | None = None,
        rescaling: Rescaling = "margin",
        class_weight: ClassWeight = None,
        fit_intercept: bool = True,
        intercept_scaling: float | Literal["auto"] = "auto",
        standardise: bool | Literal["auto"] = "auto",
        bounds: Any = None,
        max_seconds: float | None = None,
        validation: float | None = None,
        patience: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        backend: Any = None,
        verbose: int = 0,
        callback: Callback | None = None,
        on_interrupt: OnInterrupt = "raise",
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self._keep(locals())

    def _check_classes(self, y: np.ndarray) -> None:
        super()._check_classes(y)
        if len(self.classes_) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass."
            )

    def _spec(self, attributes: int) -> dict[str, Any]:
        shape = {"attributes": attributes, "bias": self._bias()}
        return {
            "kind": "binary",
            "shape": shape,
            "positive": 1,
            "rescaling": rescaling_name(self.rescaling),
        }

    def _set_weights(self) -> None:
        groups = self._groups()
        self.coef_ = groups["weights"].reshape(1, -1).copy()
        self.intercept_ = np.zeros(1)
        if self.fit_intercept:
            self.intercept_ = groups["bias"] * self._bias_value()

    def decision_function(self, X: Any) -> np.ndarray:
        """The score of each row; positive ones stand for the second label."""
        return self._scores(X)[:, 1]

    def predict(self, X: Any) -> np.ndarray:
        """The better label of each row."""
        best = (self.decision_function(X) > 0).astype(int)
        return self.classes_[best]

    def _weight_names(self) -> list[str]:
        return self._attributes().list() + ["(bias)"] * bool(self.fit_intercept)

    def _restore_spec(self, spec: dict[str, Any]) -> None:
        self._restore_bias(spec["shape"])
        self.rescaling = spec["rescaling"]
        if spec["positive"] == 0:
            raise ValueError(
                "the model has its first label positive; train it with --positive SECOND"
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
