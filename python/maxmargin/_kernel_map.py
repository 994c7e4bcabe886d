"""Kernels for every model, by inputs whose inner products are kernel values."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from . import _maxmargin as native
from ._kernels import KERNELS
from ._settings import as_json, number, whole_number


class KernelMap(TransformerMixin, BaseEstimator):
    """Maps inputs to vectors whose inner products are kernel values, so that any linear model has a kernel.

    Graphs, grids, trees and matchings, soft training and structures of your own are trained on the mapped inputs
    of their nodes or pairs as they are on others, and their certificates are about the model with the
    kernel. Nothing is approximated unless ``tol`` or ``max_features`` leave something out;
    ``left_over_`` says how much that is. (:class:`ChainSVM`, :class:`MulticlassSVM` and
    :class:`MultilabelSVM` have a parameter ``kernel``, which takes less memory.)

    Parameters
    ----------
    kernel : {"rbf", "poly", "linear"}, default="rbf"
        exp(−γ‖a − b‖²), (γ⟨a, b⟩ + coef0)^degree, or ⟨a, b⟩.
    gamma : float or "scale", default="scale"
        γ; ``"scale"`` is 1 divided by the number of attributes and their variance, as in scikit-learn.
    degree : int, default=3
        Of ``"poly"``.
    coef0 : float, default=1.0
        Of ``"poly"``.
    tol : float, default=1e-12
        Directions are left out once what is left of every input of ``fit`` is at most this share of the largest
        kernel value.
    max_features : int, optional
        The most directions. Mapped inputs have as many attributes.

    Attributes
    ----------
    n_features_out_ : int
        The number of attributes of mapped inputs.
    left_over_ : float
        Inner products of mapped inputs of ``fit`` differ from kernel values by at most this.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import KernelMap, PottsSVM
    >>> places = np.arange(-4.0, 5.0)[:, None]  # a chain of nodes; those at 2 and 3 from the middle are inside
    >>> inside = ((abs(places) > 1) & (abs(places) < 4)).ravel().astype(int)
    >>> edges = np.array([[v, v + 1] for v in range(8)])
    >>> mapped = KernelMap(gamma=0.5).fit_transform(places)
    >>> model = PottsSVM(lam=1e-4).fit([(mapped, edges)], [inside])
    >>> bool((model.predict([(mapped, edges)])[0] == inside).all())
    True
    """

    def __init__(
        self,
        kernel: str = "rbf",
        *,
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        tol: float = 1e-12,
        max_features: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.max_features = max_features

    def fit(self, X: Any, y: Any = None) -> KernelMap:
        """Makes the map of inputs: rows of an array, or a list of such arrays, one for each example.

        Returns
        -------
        self
        """
        rows = as_rows(X)
        if self.kernel not in KERNELS:
            raise ValueError(f"kernel is {self.kernel!r}; known are {list(KERNELS)}")
        parameters: dict[str, Any] = {}
        if "gamma" in KERNELS[self.kernel]:
            if isinstance(self.gamma, str) and self.gamma == "scale":
                spread = float(rows.var()) * rows.shape[1]
                parameters["gamma"] = 1.0 / spread if spread > 0.0 else 1.0
            else:
                parameters["gamma"] = number("gamma", self.gamma)
        if self.kernel == "poly":
            parameters["degree"] = whole_number("degree", self.degree, 1)
            parameters["constant"] = number("coef0", self.coef0)
        name = "polynomial" if self.kernel == "poly" else self.kernel
        kernel = as_json("kernel", {name: parameters} if parameters else name)
        most = (
            2**32
            if self.max_features is None
            else whole_number("max_features", self.max_features, 1)
        )
        self._map = native.KernelMap(rows, kernel, number("tol", self.tol), most)
        self.n_features_in_: int = rows.shape[1]
        self.n_features_out_: int = self._map.features()
        self.left_over_: float = self._map.left_over()
        self._fitted_on = (rows, kernel, number("tol", self.tol), most)
        return self

    def transform(self, X: Any) -> Any:
        """The mapped rows, or a list of them for a list of arrays."""
        check_is_fitted(self, "n_features_out_")
        if isinstance(X, list) and X and np.ndim(X[0]) == 2:
            return [self._map.map(as_rows(own)) for own in X]
        return self._map.map(as_rows(X))

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("_map", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "_fitted_on" in self.__dict__:
            self._map = native.KernelMap(*self._fitted_on)


def as_rows(X: Any) -> np.ndarray:
    """Rows of numbers, of one array or of several."""
    if isinstance(X, list) and X and (np.ndim(X[0]) == 2 or sp.issparse(X[0])):
        return np.vstack([as_rows(own) for own in X])
    rows = np.ascontiguousarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
    if rows.ndim != 2:
        raise ValueError(f"inputs need two dimensions, and these have {rows.ndim}")
    wrong = np.argwhere(~np.isfinite(rows))
    if len(wrong):
        raise ValueError(
            f"input {wrong[0][0]} has the value {rows[tuple(wrong[0])]}; it must be finite"
        )
    return rows
