"""Rows of numbers with one label each."""

from __future__ import annotations

import json
import warnings
from collections.abc import Hashable, Mapping
from numbers import Number
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from . import _maxmargin as native
from ._attributes import AttributeNames
from ._base import BaseSVM, Prepared, check_n, total
from ._class_weight import class_weights
from ._inputs import fill_rows, is_arrow_table, is_frame, is_tokens, row_parts
from ._kernels import kernel_part, restore_kernel, set_support, weighted_names
from ._labels import Labels, as_classes, from_arrow, loaded_classes, plain_label
from ._settings import group_bounds, number, rescaling_name, threads
from ._types import (
    Cache,
    Callback,
    ClassWeight,
    Direction,
    Kernel,
    Lam,
    Measure,
    OnInterrupt,
    Order,
    Rescaling,
    Solver,
)


def by_name(X: Any) -> bool:
    """Whether rows are attributes by name, rather than numbers."""
    if sp.issparse(X) or is_frame(X):
        return False
    if isinstance(X, np.ndarray) and (X.ndim != 1 or X.dtype != object):
        return False
    if not hasattr(X, "__len__") or len(X) == 0:
        return False
    first = row_parts(X)[0] if not isinstance(X, (list, tuple)) else X[0]
    return isinstance(first, Mapping) or (is_tokens(first) and len(first) > 0)


def is_odd(y: Any) -> bool:
    """Whether labels are of types that NumPy would change: neither all texts nor all numbers.

    >>> is_odd(["a", "b"]), is_odd([1, 2.5]), is_odd([("a", 1), None]), is_odd([True, "yes"])
    (False, False, True, True)
    """
    if not isinstance(y, (list, tuple)) or not all(isinstance(label, Hashable) for label in y):
        return False
    kinds = {type(label) for label in y}
    is_text = all(issubclass(kind, str) for kind in kinds)
    return not is_text and not all(issubclass(kind, (Number, np.generic)) for kind in kinds)


class RowSVM(AttributeNames, BaseSVM):
    """What models of rows share."""

    def _matrix(self, X: Any, y: Any = "no_validation", *, reset: bool) -> Any:
        """A matrix that has been looked through, and y along with it if given."""
        if is_arrow_table(X) and not hasattr(X, "to_batches"):
            # scikit-learn sees the names of a table, but not those of a batch.
            import pyarrow

            X = pyarrow.Table.from_batches([X])
        return validate_data(
            self, X, y, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32]
        )

    def _alphabet_for(self, X: Any, y: Any) -> tuple[Any, Any, native.Alphabet, bool]:
        """Rows and labels to train on, and names for their attributes."""
        if by_name(X):
            rows = row_parts(X)
            return rows, y, self._new_attributes(None, None), True
        self.__dict__.pop("feature_names_in_", None)
        if is_odd(y):
            # scikit-learn knows labels that are numbers or texts.
            X = self._matrix(X, reset=True)
            check_consistent_length(X, y)
        else:
            X, y = self._matrix(X, y, reset=True)
        given = getattr(self, "feature_names_in_", None)
        names = None if given is None else [str(name) for name in given]
        return X, y, self._new_attributes(X.shape[1], names), False

    def _rows(
        self,
        X: Any,
        labels: np.ndarray | None = None,
        ends: np.ndarray | None = None,
        weights: np.ndarray | None = None,
    ) -> native.RowData:
        """Rows for the fitted names."""
        columns = None
        if by_name(X):
            X = row_parts(X)
        else:
            X = self._matrix(X, reset=False)
            columns = self._columns_of(X.shape[1])
        data = fill_rows(
            X,
            labels,
            ends,
            self._labels.alphabet(),
            self._attributes(),
            grow=False,
            columns=columns,
            weights=weights,
        )
        self._check_known(data.unknown)
        return data

    def _restore(self, model: native.Model, meta: dict[str, Any]) -> None:
        self._labels = Labels(loaded_classes(model.labels().list()))
        self.classes_ = self._labels.classes
        self._restore_attributes(model.attributes())
        self._restore_spec(meta["spec"])

    def _restore_spec(self, spec: dict[str, Any]) -> None:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


Own = TypeVar("Own", bound="OneLabelSVM")


class OneLabelSVM(ClassifierMixin, RowSVM):
    """What models with one label per row share."""

    #: What classes have counted in training.
    _class_weights: np.ndarray | None = None

    def fit(
        self: Own, X: Any, y: Any = None, sample_weight: Any = None, *, validation: Any = None
    ) -> Own:
        """Trains on labelled rows.

        Parameters
        ----------
        X : matrix or list of dicts
            A matrix (NumPy, SciPy sparse, pandas) with a row per example, or a list of dictionaries
            of attributes.
        y : array-like
            The label of each row, of any hashable type.
        sample_weight : array-like, optional
            A weight for each row; rows of weight 0 are left out.
        validation : tuple (X, y), optional
            Data to measure the error on while training, instead of a part held out.

        Returns
        -------
        self
        """
        self._fit(X, y, sample_weight, validation)
        return self

    def _prepare(self, X: Any, y: Any, sample_weight: Any = None, **extra: Any) -> Prepared:
        X, y, attributes, grow = self._alphabet_for(X, from_arrow(y))
        y = self._targets(y)
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(
                sample_weight, X if not grow else np.zeros((len(X), 1)), dtype=np.float64
            )
            if (weights < 0).any():
                raise ValueError("sample_weight must not be negative")
            X, y, weights = kept_rows(X, y, weights)
        self._labels = Labels(as_classes([*y.tolist(), *self._ahead()]))
        self.classes_ = self._labels.classes
        if y.dtype != object and not self._ahead():
            self.classes_ = np.unique(y)
        self._check_classes(y)
        before = float(len(y)) if weights is None else float(weights.sum())
        self._class_weights = None
        weights = self._by_class(y, weights)
        factor = 1.0 if weights is None else before / max(float(weights.sum()), 1e-300)
        if weights is not None:
            X, y, weights = kept_rows(X, y, weights)
        count = X.shape[0] if not grow else len(X)
        _, whole = total(weights, count)
        names = self._labels.alphabet()
        data = fill_rows(
            X, self._labels.encode(y), None, names, attributes, grow=grow, weights=weights
        )
        spec = self._spec(len(attributes)) | self._kernel_part(data, len(attributes))
        spec["shape"]["bias"] = self._bias(data)
        bounds = group_bounds(self.bounds)
        return Prepared(
            spec, data, names, attributes, "libsvm", whole, bounds, lambda_factor=factor
        )

    def _by_class(self, y: Any, weights: np.ndarray | None) -> np.ndarray | None:
        """The weights of rows, times those of their classes, which all rows of the training tell."""
        numbers = self._labels.encode(y, strict=False)
        own = self._class_weights
        if own is None:
            own = class_weights(self.class_weight, self._labels, numbers)
        if own is None:
            return weights
        self._class_weights = own
        each = np.append(own, 1.0)[np.minimum(numbers, len(own))]
        return each if weights is None else each * weights

    def _check_more(self, X: Any) -> None:
        if not by_name(X):
            self._matrix(X, reset=False)

    def _kernel_part(self, data: native.RowData, attributes: int) -> dict[str, Any]:
        """What a model file says of the kernel, if there is one."""
        return {}

    def _targets(self, y: Any) -> np.ndarray:
        """Labels as a one-dimensional array."""
        array: Any
        if is_odd(y):
            array = np.empty(len(y), dtype=object)
            array[:] = list(y)
            return array
        array = np.asarray(y)
        if array.ndim > 2 or (array.ndim == 2 and array.shape[1] != 1):
            raise ValueError("y should be a 1d array, one label per row")
        if array.ndim == 2:
            warnings.warn(
                "A column-vector y was passed when a 1d array was expected.",
                DataConversionWarning,
                stacklevel=4,
            )
            array = array.ravel()
        if array.dtype != object or all(isinstance(label, str) for label in array):
            check_classification_targets(array)
        return array

    def _check_classes(self, y: np.ndarray) -> None:
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs labels of at least 2 classes, but the data have "
                f"one class: {plain_label(self.classes_[0])!r}"
            )

    def _spec(self, attributes: int) -> dict[str, Any]:
        raise NotImplementedError

    def _bias(self, data: native.RowData | None = None) -> float | None:
        """The value of the constant attribute, which may follow the length of those of ``data``."""
        if not self.fit_intercept:
            return None
        if self.intercept_scaling != "auto":
            return number("intercept_scaling", self.intercept_scaling)
        return data.bias_value() if data is not None and self._fits_constants() else 1.0

    def _fits_constants(self) -> bool:
        """Whether the value of the constant attribute follows the length of others."""
        plain = self.bounds is None and getattr(self, "kernel", None) is None
        return plain and bool(self.fit_intercept) and self.intercept_scaling == "auto"

    def _bias_value(self) -> float:
        """The value of the constant attribute of the model."""
        return float(json.loads(self._model.meta())["spec"]["shape"]["bias"] or 1.0)

    def _examples(self, X: Any, y: Any = None, **extra: Any) -> native.RowData:
        if y is None:
            return self._rows(X)
        check_consistent_length(X, y)
        labels = self._labels.encode(y if is_odd(y) else np.asarray(y), strict=False)
        weights = extra.get("sample_weight")
        if extra.get("labelled"):
            # As in training, where classes count differently.
            weights = self._by_class(y if is_odd(y) else np.asarray(y), weights)
        if weights is None:
            return self._rows(X, labels)
        weights = np.asarray(weights, dtype=np.float64)
        kept = weights > 0  # as in training
        if by_name(X):
            X = [row for row, on in zip(row_parts(X), kept, strict=True) if on]
        else:
            X = self._matrix(X, reset=False)[kept]
        return self._rows(X, labels[kept], None, weights[kept])

    def _scores(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "certificate_")
        return self._model.scores(self._examples(X), threads(self.n_jobs))

    def predict(self, X: Any) -> np.ndarray:
        """The best label of each row."""
        best = np.argmax(self._scores(X), axis=1)
        return self.classes_[best]

    def decision_function(self, X: Any) -> np.ndarray:
        """The scores of the labels (rows × labels); with two labels, how much the second one is
        ahead."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose label is right."""
        if not is_odd(y):
            return float(super().score(X, y, sample_weight))
        found = self.predict(X)
        check_consistent_length(found, y)
        right = [own == label for own, label in zip(found, y, strict=True)]
        return float(np.average(right, weights=sample_weight))

    def predict_nbest(self, X: Any, n: int = 5) -> list[list[tuple[Any, float]]]:
        """The ``n`` best labels of each row with their scores, best first."""
        scores = self._scores(X)
        order = np.argsort(-scores, axis=1, kind="stable")[:, : check_n(n)]
        return [
            [(self.classes_[at], float(row[at])) for at in best]
            for row, best in zip(scores, order, strict=True)
        ]

    def predict_confidence(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """The best label of each row, and how far its score is ahead of the next one."""
        scores = self._scores(X)
        two = np.sort(scores, axis=1)[:, -2:]
        return self.classes_[np.argmax(scores, axis=1)], two[:, 1] - two[:, 0]

    def _restore_bias(self, shape: dict[str, Any]) -> None:
        self.fit_intercept = shape["bias"] is not None
        self.intercept_scaling = shape["bias"] or 1.0


def kept_rows(X: Any, y: np.ndarray, weights: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
    """Rows, labels and weights without those of weight 0."""
    kept = weights > 0
    if kept.all():
        return X, y, weights
    if not kept.any():
        raise ValueError("all rows have the weight 0")
    X = [row for row, on in zip(X, kept, strict=True) if on] if isinstance(X, list) else X[kept]
    return X, y[kept], weights[kept]


class MulticlassSVM(OneLabelSVM):
    """Predicts one of several labels (Crammer and Singer's SVM).

    Parameters
    ----------
    lam, C, tol, max_passes, solver, order, direction, cache, bounds, max_seconds, validation, \
patience, n_jobs, random_state, warm_start, backend, verbose, callback, on_interrupt, options
        As in :class:`ChainSVM`; the groups for ``bounds`` are ``weights`` and ``bias``.
    costs : array-like of shape (classes, classes), optional
        What it costs to take one class (row) for another (column), in the order of ``classes_``; 1 by
        default.
    rescaling : {"margin", "slack"}, default="margin"
        How costs enter.
    class_weight : dict or "balanced", optional
        What rows count by their label, besides ``sample_weight``; 1 for labels that are not named. ``"balanced"``
        gives n/(k count) to a label that ``count`` of n rows have, with k labels.
    fit_intercept : bool, default=True
        Whether there is a constant attribute.
    intercept_scaling : float or "auto", default="auto"
        Its value; larger ones are regularised less. ``"auto"`` follows the length of attributes, so that it
        does not depend on units; it is 1 with a kernel or bounds.
    standardise : bool or "auto", default="auto"
        Whether attributes are divided by their typical size before training; ``coef_`` stays in the units
        of ``X``. ``"auto"`` does so with dense rows whose attributes differ tenfold in size or lie far from 0, and
        where a few attributes are so large that they hide others. Means of those far from 0 are subtracted before, if
        there is a constant.
    kernel, gamma, degree, coef0, kernel_bytes
        As in :class:`ChainSVM`, on rows.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    coef_ : ndarray of shape (classes, features)
        The weights; there are none with a kernel.
    support_vectors_ : sparse matrix of shape (inputs, features)
        With a kernel only: the inputs that the model is a sum over.
    dual_coef_ : ndarray of shape (classes, inputs)
        With a kernel only: their coefficients.
    intercept_ : ndarray of shape (classes,)
        The constants.
    certificate_, history_, status_, n_iter_
        As in :class:`ChainSVM`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import MulticlassSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MulticlassSVM(lam=0.01, tol=0.01).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    >>> MulticlassSVM(lam=0.001, kernel="rbf").fit(X, y).score(X, y) > 0.95
    True
    """

    _kind: ClassVar[str] = "multiclass"

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
        costs: Any = None,
        rescaling: Rescaling = "margin",
        class_weight: ClassWeight = None,
        fit_intercept: bool = True,
        intercept_scaling: float | Literal["auto"] = "auto",
        kernel: Kernel | None = None,
        gamma: float | Literal["scale"] | None = None,
        degree: int | None = None,
        coef0: float | None = None,
        kernel_bytes: int | None = None,
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

    def _spec(self, attributes: int) -> dict[str, Any]:
        loss: Any = "zero-one"
        if self.costs is not None:
            loss = {"costs": cost_matrix(self.costs, len(self.classes_))}
        shape = {"classes": len(self.classes_), "attributes": attributes, "bias": self._bias()}
        return {
            "kind": "multiclass",
            "shape": shape,
            "loss": loss,
            "rescaling": rescaling_name(self.rescaling),
        }

    def _kernel_part(self, data: native.RowData, attributes: int) -> dict[str, Any]:
        return kernel_part(self, data, attributes)

    def _set_weights(self) -> None:
        groups = self._groups()
        if not set_support(self, len(self._attributes())):
            self.coef_ = groups["weights"].T.copy()
        self.intercept_ = np.zeros(len(self.classes_))
        if self.fit_intercept:
            self.intercept_ = groups["bias"] * self._bias_value()

    def _weight_names(self) -> list[str]:
        labels = self._labels.names()
        names = [f"{a} → {label}" for a in weighted_names(self) for label in labels]
        return names + [f"(bias) {label}" for label in labels if self.fit_intercept]

    def _restore_spec(self, spec: dict[str, Any]) -> None:
        self._restore_bias(spec["shape"])
        self.rescaling = spec["rescaling"]
        self.costs = spec["loss"]["costs"] if isinstance(spec["loss"], dict) else None
        restore_kernel(self, spec)


def cost_matrix(costs: Any, classes: int) -> list[list[float]]:
    """What mistakes cost, one row per true class."""
    try:
        matrix = np.asarray(costs, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            "costs must be a matrix of numbers with a row and a column per class"
        ) from None
    if matrix.shape != (classes, classes):
        raise ValueError(f"costs has the shape {matrix.shape}, but there are {classes} classes")
    if not np.isfinite(matrix).all():
        raise ValueError("costs must be finite numbers")
    return matrix.tolist()
