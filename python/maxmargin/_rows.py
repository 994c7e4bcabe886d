"""Rows of numbers with one label, or a set of labels, each."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from . import _maxmargin as native
from ._attributes import AttributeNames
from ._base import BaseSVM, Prepared, group_bounds, total
from ._inputs import fill_rows, is_frame, is_tokens, row_parts
from ._labels import Labels, as_classes, loaded_classes


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


class RowSVM(AttributeNames, BaseSVM):
    """What models of rows share."""

    def _matrix(self, X: Any, y: Any = "no_validation", *, reset: bool) -> Any:
        """A matrix that has been looked through, and y along with it if given."""
        return validate_data(
            self, X, y, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32]
        )

    def _alphabet_for(self, X: Any, y: Any) -> tuple[Any, Any, native.Alphabet, bool]:
        """Rows and labels to train on, and names for their attributes."""
        if by_name(X):
            rows = row_parts(X)
            return rows, y, self._new_attributes(None, None), True
        self.__dict__.pop("feature_names_in_", None)
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
        return fill_rows(
            X,
            labels,
            ends,
            self._labels.alphabet(),
            self._attributes(),
            grow=False,
            columns=columns,
            weights=weights,
        )

    def _restore(self, model: native.Model, meta: dict[str, Any]) -> None:
        self._labels = Labels(loaded_classes(model.labels().list()))
        self.classes_ = self._labels.classes
        self._restore_attributes(model, meta)
        self._restore_spec(meta["spec"])

    def _restore_spec(self, spec: dict[str, Any]) -> None:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class OneLabelSVM(ClassifierMixin, RowSVM):
    """What models with one label per row share."""

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, validation: Any = None
    ) -> OneLabelSVM:
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
        prepared = self._prepare(X, y, sample_weight)
        self._run(prepared, self._prepare_validation(validation))
        return self

    def _prepare(self, X: Any, y: Any, sample_weight: Any = None, **extra: Any) -> Prepared:
        X, y, attributes, grow = self._alphabet_for(X, y)
        y = self._targets(y)
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(
                sample_weight, X if not grow else np.zeros((len(X), 1)), dtype=np.float64
            )
            if (weights < 0).any():
                raise ValueError("sample_weight must not be negative")
            kept = weights > 0
            if not kept.all():
                X = X[kept] if not grow else [row for row, on in zip(X, kept, strict=True) if on]
                y, weights = y[kept], weights[kept]
        self._labels = Labels(as_classes(y.tolist()))
        self.classes_ = np.unique(y) if y.dtype != object else self._labels.classes
        self._check_classes(y)
        count = X.shape[0] if not grow else len(X)
        _, whole = total(weights, count)
        names = self._labels.alphabet()
        data = fill_rows(
            X, self._labels.encode(y), None, names, attributes, grow=grow, weights=weights
        )
        return Prepared(self._spec(len(attributes)), data, names, attributes, "libsvm", whole)

    def _targets(self, y: Any) -> np.ndarray:
        """Labels as a one-dimensional array."""
        try:
            array = np.asarray(y)
        except ValueError:
            array = None
        if array is None or array.ndim > 2 or (array.ndim == 2 and array.shape[1] != 1):
            if not isinstance(y, np.ndarray) and all(hasattr(label, "__hash__") for label in y):
                array = np.empty(len(y), dtype=object)
                array[:] = list(y)
                return array
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
                f"one class: {self.classes_[0]!r}"
            )

    def _spec(self, attributes: int) -> dict[str, Any]:
        raise NotImplementedError

    def _bias(self) -> float | None:
        return float(self.intercept_scaling) if self.fit_intercept else None

    def _examples(self, X: Any, y: Any = None, **extra: Any) -> native.RowData:
        if y is None:
            return self._rows(X)
        labels = self._labels.encode(np.asarray(y).tolist(), strict=False)
        weights = extra.get("sample_weight")
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
        return self._model.scores(self._examples(X))

    def predict(self, X: Any) -> np.ndarray:
        """The best label of each row."""
        best = np.argmax(self._scores(X), axis=1)
        return self.classes_[best]

    def decision_function(self, X: Any) -> np.ndarray:
        """The scores of the labels (rows × labels); with two labels, how much the second one is
        ahead."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict_nbest(self, X: Any, n: int = 5) -> list[list[tuple[Any, float]]]:
        """The ``n`` best labels of each row with their scores, best first."""
        if n < 1:
            raise ValueError(f"n is {n}; it must be at least 1")
        scores = self._scores(X)
        order = np.argsort(-scores, axis=1, kind="stable")[:, :n]
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


class MulticlassSVM(OneLabelSVM):
    """Predicts one of several labels (Crammer and Singer's SVM).

    Parameters
    ----------
    lam, C, tol, max_passes, solver, order, direction, cache, max_seconds, validation, patience, \
n_jobs, random_state, warm_start, verbose, callback, options
        As in :class:`ChainSVM`.
    costs : array-like of shape (classes, classes), optional
        What it costs to take one class (row) for another (column), in the order of ``classes_``; 1 by
        default.
    rescaling : {"margin", "slack"}, default="margin"
        How costs enter.
    fit_intercept : bool, default=True
        Whether there is a constant attribute.
    intercept_scaling : float, default=1.0
        Its value; larger ones are regularised less.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    coef_ : ndarray of shape (classes, features)
        The weights.
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
    """

    _kind: ClassVar[str] = "multiclass"

    def __init__(
        self,
        lam: float | None = None,
        *,
        C: float | None = None,
        tol: float = 0.01,
        max_passes: int = 1000,
        solver: str = "auto",
        order: str | None = None,
        direction: str | None = None,
        cache: str | None = None,
        costs: Any = None,
        rescaling: str = "margin",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        max_seconds: float | None = None,
        validation: float | None = None,
        patience: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
        callback: Any = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.lam = lam
        self.C = C
        self.tol = tol
        self.max_passes = max_passes
        self.solver = solver
        self.order = order
        self.direction = direction
        self.cache = cache
        self.costs = costs
        self.rescaling = rescaling
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.max_seconds = max_seconds
        self.validation = validation
        self.patience = patience
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.callback = callback
        self.options = options

    def _spec(self, attributes: int) -> dict[str, Any]:
        loss: Any = "zero-one"
        if self.costs is not None:
            loss = {"costs": np.asarray(self.costs, dtype=np.float64).tolist()}
        shape = {"classes": len(self.classes_), "attributes": attributes, "bias": self._bias()}
        return {"kind": "multiclass", "shape": shape, "loss": loss, "rescaling": self.rescaling}

    def _set_weights(self) -> None:
        groups = self._groups()
        self.coef_ = groups["weights"].T.copy()
        self.intercept_ = np.zeros(len(self.classes_))
        if self.fit_intercept:
            self.intercept_ = groups["bias"] * self.intercept_scaling

    def _weight_names(self) -> list[str]:
        labels = self._labels.names()
        names = [f"{a} → {label}" for a in self._attributes().list() for label in labels]
        return names + [f"(bias) {label}" for label in labels if self.fit_intercept]

    def _restore_spec(self, spec: dict[str, Any]) -> None:
        self._restore_bias(spec["shape"])
        self.rescaling = spec["rescaling"]
        self.costs = spec["loss"]["costs"] if isinstance(spec["loss"], dict) else None


class BinarySVM(OneLabelSVM):
    """Predicts one of two labels: the linear SVM with hinge loss.

    Parameters
    ----------
    lam, C, tol, max_passes, solver, order, direction, cache, max_seconds, validation, patience, \
n_jobs, random_state, warm_start, verbose, callback, options
        As in :class:`ChainSVM`.
    rescaling : {"margin", "slack"}, default="margin"
        How the loss enters.
    fit_intercept : bool, default=True
        Whether there is a constant attribute.
    intercept_scaling : float, default=1.0
        Its value; larger ones are regularised less.

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
        lam: float | None = None,
        *,
        C: float | None = None,
        tol: float = 0.01,
        max_passes: int = 1000,
        solver: str = "auto",
        order: str | None = None,
        direction: str | None = None,
        cache: str | None = None,
        rescaling: str = "margin",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        max_seconds: float | None = None,
        validation: float | None = None,
        patience: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
        callback: Any = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.lam = lam
        self.C = C
        self.tol = tol
        self.max_passes = max_passes
        self.solver = solver
        self.order = order
        self.direction = direction
        self.cache = cache
        self.rescaling = rescaling
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.max_seconds = max_seconds
        self.validation = validation
        self.patience = patience
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.callback = callback
        self.options = options

    def _check_classes(self, y: np.ndarray) -> None:
        super()._check_classes(y)
        if len(self.classes_) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass."
            )

    def _spec(self, attributes: int) -> dict[str, Any]:
        shape = {"attributes": attributes, "bias": self._bias()}
        return {"kind": "binary", "shape": shape, "positive": 1, "rescaling": self.rescaling}

    def _set_weights(self) -> None:
        groups = self._groups()
        self.coef_ = groups["weights"].reshape(1, -1).copy()
        self.intercept_ = np.zeros(1)
        if self.fit_intercept:
            self.intercept_ = groups["bias"] * self.intercept_scaling

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


class MultilabelSVM(RowSVM):
    """Predicts sets of labels, with weights for pairs of labels that go together or do not.

    Parameters
    ----------
    lam, C, tol, max_passes, solver, order, direction, cache, bounds, max_seconds, validation, \
patience, n_jobs, random_state, warm_start, verbose, callback, options
        As in :class:`ChainSVM`; the groups for ``bounds`` are ``single`` and ``pairs``.
    pairs : {"complete", "tree", "none"}, default="complete"
        Which pairs of labels have a weight: all, those of a tree, or none.
    inference : str, default="auto"
        How sets are found in training: ``"auto"``, ``"enumerate"``, ``"max-sum"``, ``"roof-duality"``, …
    loss : {"normalised", "hamming"}, default="normalised"
        Labels that are wrong, divided by the number of labels, or not.
    fit_intercept : bool, default=True
        Whether labels have a constant weight each.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    coef_ : ndarray of shape (labels, features)
        The weights of labels.
    intercept_ : ndarray of shape (labels,)
        Their constants.
    pairs_ : ndarray of shape (pairs, 2)
        The pairs that have a weight, by the numbers of their labels.
    pair_coef_ : ndarray of shape (pairs,)
        Their weights.
    certificate_, history_, status_, n_iter_
        As in :class:`ChainSVM`.

    Examples
    --------
    Labels come as sets, or as a matrix of zeros and ones, and go the same way:

    >>> import numpy as np
    >>> from maxmargin import MultilabelSVM
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> model = MultilabelSVM(lam=0.01).fit(X, [{"red"}, {"round"}, {"red", "round"}])
    >>> model.predict([[1.0, 1.0]])
    [('red', 'round')]
    """

    _kind: ClassVar[str] = "multilabel"

    def __init__(
        self,
        lam: float | None = None,
        *,
        C: float | None = None,
        tol: float = 0.01,
        max_passes: int = 1000,
        solver: str = "auto",
        order: str | None = None,
        direction: str | None = None,
        cache: str | None = None,
        pairs: str = "complete",
        inference: str = "auto",
        loss: str = "normalised",
        fit_intercept: bool = True,
        bounds: Any = None,
        max_seconds: float | None = None,
        validation: float | None = None,
        patience: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
        callback: Any = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.lam = lam
        self.C = C
        self.tol = tol
        self.max_passes = max_passes
        self.solver = solver
        self.order = order
        self.direction = direction
        self.cache = cache
        self.pairs = pairs
        self.inference = inference
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.bounds = bounds
        self.max_seconds = max_seconds
        self.validation = validation
        self.patience = patience
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.callback = callback
        self.options = options

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, validation: Any = None
    ) -> MultilabelSVM:
        """Trains on rows with sets of labels.

        Parameters
        ----------
        X : matrix or list of dicts
            A row per example.
        y : matrix of zeros and ones, or list of sets
            The labels of each row.
        sample_weight : array-like, optional
            A positive weight for each row.
        validation : tuple (X, y), optional
            Data to measure the error on while training, instead of a part held out.

        Returns
        -------
        self
        """
        prepared = self._prepare(X, y, sample_weight)
        self._run(prepared, self._prepare_validation(validation))
        return self

    def _prepare(self, X: Any, y: Any, sample_weight: Any = None, **extra: Any) -> Prepared:
        if by_name(X):
            rows: Any = row_parts(X)
            attributes, grow = self._new_attributes(None, None), True
            count = len(rows)
        else:
            self.__dict__.pop("feature_names_in_", None)
            rows = self._matrix(X, reset=True)
            names = getattr(self, "feature_names_in_", None)
            names = None if names is None else [str(name) for name in names]
            attributes, grow = self._new_attributes(rows.shape[1], names), False
            count = rows.shape[0]
        self._indicator = is_indicator(y)
        if self._indicator:
            classes = np.arange(y.shape[1])
        else:
            classes = as_classes(label for own in y for label in sorted_if_possible(own))
        self._labels = Labels(classes)
        self.classes_ = classes
        weights, whole = total(sample_weight, count)
        labels, ends = self._sets(y, strict=True)
        if len(ends) != count:
            raise ValueError(f"X has {count} rows and y has {len(ends)}")
        label_names = self._labels.alphabet()
        constant = None
        if self.fit_intercept:
            constant = len(attributes)
            attributes = native.Alphabet([*attributes.list(), CONSTANT])
            self._attribute_cache = attributes
        data = fill_rows(
            rows,
            labels,
            ends,
            label_names,
            attributes,
            grow=grow,
            weights=weights,
            constant=constant,
        )
        shape = {
            "labels": len(classes),
            "attributes": len(attributes),
            "pairs": self._pairs(data, len(classes)),
        }
        if self.loss not in ("normalised", "hamming"):
            raise ValueError(f"loss is {self.loss!r}; known are 'normalised' and 'hamming'")
        spec = {
            "kind": "multilabel",
            "shape": shape,
            "loss": {"normalised": self.loss == "normalised", "label_weights": []},
            "inference": self.inference,
            "partial": False,
        }
        return Prepared(
            spec, data, label_names, attributes, "multilabel", whole, group_bounds(self.bounds)
        )

    def _pairs(self, data: native.RowData, labels: int) -> list[Sequence[int]]:
        if self.pairs == "complete":
            return [(i, j) for j in range(labels) for i in range(j)]
        if self.pairs == "tree":
            return [list(pair) for pair in data.tree(labels)]
        if self.pairs == "none":
            return []
        raise ValueError(f"pairs is {self.pairs!r}; known are 'complete', 'tree' and 'none'")

    def _sets(self, y: Any, *, strict: bool) -> tuple[np.ndarray, np.ndarray]:
        """The labels of all rows one after the other, and where those of each row end."""
        if self._indicator:
            if y.shape[1] != len(self.classes_):
                raise ValueError(f"y has {y.shape[1]} columns, not {len(self.classes_)}")
            matrix = sp.csr_matrix(y)
            matrix.sum_duplicates()
            matrix.eliminate_zeros()
            return matrix.indices.astype(np.uint32), matrix.indptr[1:].astype(np.int64)
        sets = [self._labels.encode(sorted_if_possible(own), strict=strict) for own in y]
        if not strict:
            sets = [own[own < len(self.classes_)] for own in sets]
        ends = np.cumsum([len(own) for own in sets]).astype(np.int64)
        return np.concatenate([np.empty(0, np.uint32), *sets]).astype(np.uint32), ends

    def _examples(self, X: Any, y: Any = None, **extra: Any) -> native.RowData:
        if y is None:
            return self._constant_rows(X)
        labels, ends = self._sets(y, strict=False)
        weights, _ = total(extra.get("sample_weight"), len(ends))
        return self._constant_rows(X, labels, ends, weights)

    def _constant_rows(
        self,
        X: Any,
        labels: np.ndarray | None = None,
        ends: np.ndarray | None = None,
        weights: np.ndarray | None = None,
    ) -> native.RowData:
        if not self.fit_intercept:
            return self._rows(X, labels, ends, weights)
        grow = by_name(X)
        rows: Any = row_parts(X) if grow else self._matrix(X, reset=False)
        if not grow:
            self._columns_of(rows.shape[1])
        return fill_rows(
            rows,
            labels,
            ends,
            self._labels.alphabet(),
            self._attributes(),
            grow=False,
            weights=weights,
            constant=self._attributes().get(CONSTANT),
        )

    def _columns_of(self, width: int | None) -> np.ndarray | None:
        if width is not None and width != getattr(self, "n_features_in_", width):
            raise ValueError(
                f"X has {width} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input"
            )
        return None if self.fit_intercept else super()._columns_of(width)

    def _set_weights(self) -> None:
        groups = self._groups()
        single = groups["single"].T
        attributes = self._attributes()
        self.pair_coef_ = groups["pairs"]
        self.intercept_ = np.zeros(len(self.classes_))
        self.coef_ = single.copy()
        at = attributes.get(CONSTANT)
        if self.fit_intercept and at is not None:
            self.intercept_ = single[:, at].copy()
            self.coef_ = np.delete(single, at, axis=1)
        shape = json.loads(self._model.meta())["spec"]["shape"]
        self.pairs_ = np.array(shape["pairs"], dtype=np.int64).reshape(-1, 2)

    def _weight_names(self) -> list[str]:
        labels = self._labels.names()
        names = [f"{a} → {label}" for a in self._attributes().list() for label in labels]
        return names + [f"{labels[i]} & {labels[j]}" for i, j in self.pairs_]

    def predict(self, X: Any) -> Any:
        """The best set of labels of each row: a matrix of zeros and ones if the model was trained on
        one, else tuples of labels."""
        check_is_fitted(self, "certificate_")
        sets = self._model.predict_sets(self._examples(X))
        if self._indicator:
            matrix = np.zeros((len(sets), len(self.classes_)), dtype=np.int64)
            for row, own in zip(matrix, sets, strict=True):
                row[own] = 1
            return matrix
        return [tuple(self.classes_[own].tolist()) for own in sets]

    def decision_function(self, X: Any) -> np.ndarray:
        """The scores of single labels (rows × labels), without those of pairs."""
        check_is_fitted(self, "certificate_")
        if by_name(X):
            raise ValueError("decision_function needs a matrix")
        X = self._matrix(X, reset=False)
        return np.asarray(X @ self.coef_.T) + self.intercept_

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows and labels that are right (1 − Hamming loss)."""
        labels, ends = self._sets(y, strict=False)
        predicted = self._model.predict_sets(self._examples(X))
        weights, whole = total(sample_weight, len(predicted))
        wrong = 0.0
        for at, own in enumerate(predicted):
            truth = set(labels[ends[at - 1] if at else 0 : ends[at]].tolist())
            weight = 1.0 if weights is None else float(weights[at])
            wrong += weight * len(truth.symmetric_difference(own))
        return 1.0 - wrong / (whole * len(self.classes_))

    def _restore_spec(self, spec: dict[str, Any]) -> None:
        self._indicator = False
        self.fit_intercept = self._attributes().get(CONSTANT) is not None
        if self.fit_intercept:
            self.n_features_in_ = len(self._attributes()) - 1
        self.loss = "normalised" if spec["loss"]["normalised"] else "hamming"
        self.inference = spec["inference"]
        labels = spec["shape"]["labels"]
        found = len(spec["shape"]["pairs"])
        self.pairs = {0: "none", labels * (labels - 1) // 2: "complete"}.get(found, "tree")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags


#: The name of the constant attribute of multi-label models, which have no weights for it otherwise.
CONSTANT = "(constant)"


def is_indicator(y: Any) -> bool:
    """Whether labels come as a matrix of zeros and ones."""
    return bool(sp.issparse(y) or (hasattr(y, "ndim") and y.ndim == 2))


def sorted_if_possible(labels: Any) -> list[Any]:
    """A set in a fixed order, where it has one."""
    try:
        return sorted(set(labels))
    except TypeError:
        return list(dict.fromkeys(labels))
