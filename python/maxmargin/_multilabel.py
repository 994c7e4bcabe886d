"""Rows with a set of labels each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from . import _maxmargin as native
from ._base import Prepared, check_n, total
from ._class_weight import class_weights
from ._hard import hard_training, restore_training, soft_result
from ._inputs import column_names, fill_rows, row_parts, sparse_parts
from ._kernels import kernel_part, restore_kernel, set_support, weighted_names
from ._labels import Labels, as_classes, from_arrow
from ._rows import RowSVM, by_name
from ._settings import group_bounds, rescaling_name, threads
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


class MultilabelSVM(RowSVM):
    """Predicts sets of labels, with weights for pairs of labels that go together or do not.

    Parameters
    ----------
    lam, C, tol, max_passes, solver, order, direction, cache, bounds, max_seconds, validation, \
patience, n_jobs, random_state, warm_start, backend, verbose, callback, on_interrupt, options
        As in :class:`ChainSVM`; the groups for ``bounds`` are ``single`` and ``pairs``.
    pairs : {"auto", "complete", "tree", "none"} or array of shape (pairs, 2), default="auto"
        Which pairs of labels have a weight: all, those of a tree, or none. ``"auto"`` takes all up to 15 labels,
        a tree up to 100, and none beyond. An array, or a list of pairs, has the two labels of each pair;
        where ``y`` is a matrix of zeros and ones these are numbers of columns.
    standardise : bool or "auto", default="auto"
        As in :class:`MulticlassSVM`.
    inference : str, default="auto"
        How sets are found in training: ``"auto"``, ``"enumerate"``, ``"max-sum"``, ``"roof-duality"``, …
    loss : {"normalised", "hamming"}, default="normalised"
        Labels that are wrong, divided by the number of labels, or not.
    class_weight : dict or "balanced", optional
        What a mistake costs by label; 1 for those that are not named. ``"balanced"`` gives n/(k count) to a label
        that ``count`` rows have, where all rows have n labels together, of k.
    fit_intercept : bool, default=True
        Whether labels have a constant weight each: an attribute of the value 1 in all rows, which a
        kernel sees like any other.
    kernel, gamma, degree, coef0, kernel_bytes
        As in :class:`ChainSVM`, on rows.
    training : {None, "exact", "lp", "soft"}, default=None
        How weights are found: with the decoder that ``inference`` names; the same, but refused if it may
        be wrong; over the LP relaxation; or over the LP relaxation with soft constraints.
    rho : float, optional
        How soft the constraints of ``"soft"`` are: small is hard and slow; by default 1.
    rho_scale : {"example", "sum"}, optional
        Whether the penalty on messages is inside the mean over examples, the default, or a sum over all of
        them. A sum makes messages the more expensive the more examples there are.
    rho_schedule : sequence of float, optional
        ``"soft"`` with one rho after the other, each from where the last one ended.
    multipliers : int, optional
        ``"soft"`` in up to so many rounds, after each of which messages become multipliers: in the limit
        the constraints hold at any rho.
    smooth : float, optional
        Smooths every maximum of ``"soft"`` by so much.
    rescaling : {"margin", "slack"}, default="margin"
        As in :class:`ChainSVM`. Where there are few enough outputs, all are tried and nothing is missed.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    coef_ : ndarray of shape (labels, features)
        The weights of labels; there are none with a kernel.
    intercept_ : ndarray of shape (labels,)
        Their constants.
    pairs_ : ndarray of shape (pairs, 2)
        The pairs that have a weight, by the numbers of their labels.
    pair_coef_ : ndarray of shape (pairs,)
        Their weights.
    support_vectors_ : sparse matrix of shape (inputs, features)
        With a kernel only: the inputs that the model is a sum over.
    dual_coef_ : ndarray of shape (labels, inputs)
        With a kernel only: their coefficients.
    soft_ : dict or None
        After ``training="soft"``: its ``rho`` and ``rho_scale``, the ``hard_objective`` over the LP relaxation
        (an upper bound of its optimum), and the ``violation`` of the constraints.
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

    Many labels have too many sets to try out; soft constraints go over a relaxation instead:

    >>> y = [{"red"}, {"round"}, {"red", "round"}]
    >>> soft = MultilabelSVM(lam=0.1, training="soft", rho=0.01, tol=0.001).fit(X, y)
    >>> soft.soft_["hard_objective"] <= soft.certificate_.primal
    True
    """

    _kind: ClassVar[str] = "multilabel"

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
        pairs: Any = "auto",
        inference: str = "auto",
        loss: Literal["hamming", "normalised"] = "normalised",
        class_weight: ClassWeight = None,
        fit_intercept: bool = True,
        kernel: Kernel | None = None,
        gamma: float | Literal["scale"] | None = None,
        degree: int | None = None,
        coef0: float | None = None,
        kernel_bytes: int | None = None,
        training: str | None = None,
        rho: float | None = None,
        rho_scale: str | None = None,
        rho_schedule: Sequence[float] | None = None,
        multipliers: int | None = None,
        smooth: float | None = None,
        standardise: bool | Literal["auto"] = "auto",
        bounds: Any = None,
        rescaling: Rescaling = "margin",
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

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, validation: Any = None
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
        self._fit(X, y, sample_weight, validation)
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
        y = from_arrow(y)
        self._indicator = is_indicator(y)
        if self._indicator:
            names = column_names(y)
            classes = np.arange(y.shape[1]) if names is None else np.array(names)
        else:
            y = label_sets(y)
            classes = as_classes(label for own in y for label in own)
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
        hard = hard_training(self)
        own = class_weights(self.class_weight, self._labels, labels)
        costs = [] if own is None else own.tolist()
        spec = {
            "kind": "multilabel",
            "shape": shape,
            "loss": {"normalised": self.loss == "normalised", "label_weights": costs},
            "partial": False,
            "rescaling": rescaling_name(self.rescaling),
            **hard.fields,
            **kernel_part(self, data, len(attributes)),
        }
        bounds = group_bounds(self.bounds)
        return Prepared(
            spec,
            data,
            label_names,
            attributes,
            "multilabel",
            whole,
            bounds,
            hard.rounds,
            hard.exact,
        )

    def _pairs(self, data: native.RowData, labels: int) -> list[Sequence[int]]:
        if not isinstance(self.pairs, str):
            return self._own_pairs()
        pairs = native.label_pairs(labels) if self.pairs == "auto" else self.pairs
        if pairs == "complete":
            return [(i, j) for j in range(labels) for i in range(j)]
        if pairs == "tree":
            return [list(pair) for pair in data.tree(labels)]
        if pairs == "none":
            return []
        raise ValueError(
            f"pairs is {self.pairs!r}; known are 'auto', 'complete', 'tree', 'none', and an array with "
            "the two labels of each pair"
        )

    def _own_pairs(self) -> list[Sequence[int]]:
        """Pairs that were given, by the numbers of their labels, the smaller one first."""
        given: Any = self.pairs.tolist() if hasattr(self.pairs, "tolist") else self.pairs
        try:
            ends = [(a, b) for a, b in given]
        except (TypeError, ValueError):
            raise ValueError("pairs has two labels for each pair, in rows of two") from None
        found: dict[tuple[int, int], None] = {}
        for pair in ends:
            i, j = sorted(int(number) for number in self._labels.encode(list(pair)))
            if i == j:
                raise ValueError(f"pairs has the label {pair[0]!r} with itself")
            if (i, j) in found:
                raise ValueError(f"pairs has the labels {pair[0]!r} and {pair[1]!r} twice")
            found[i, j] = None
        return list(found)

    def _sets(self, y: Any, *, strict: bool) -> tuple[np.ndarray, np.ndarray]:
        """The labels of all rows one after the other, and where those of each row end."""
        if self._indicator:
            if y.shape[1] != len(self.classes_):
                raise ValueError(f"y has {y.shape[1]} columns, not {len(self.classes_)}")
            # A copy, because the arrays would be those of the caller.
            matrix = sp.csr_matrix(y.to_numpy() if hasattr(y, "to_numpy") else y, copy=True)
            sparse_parts(matrix)
            matrix.sum_duplicates()
            matrix.eliminate_zeros()
            wrong = matrix.data[matrix.data != 1]
            if len(wrong):
                raise ValueError(f"y has the value {wrong[0]}; a matrix of labels has 0 and 1 only")
            return matrix.indices.astype(np.uint32), matrix.indptr[1:].astype(np.int64)
        sets = [self._labels.encode(own, strict=strict) for own in label_sets(from_arrow(y))]
        if not strict:
            sets = [own[own < len(self.classes_)] for own in sets]
        ends = np.cumsum([len(own) for own in sets]).astype(np.int64)
        return np.concatenate([np.empty(0, np.uint32), *sets]).astype(np.uint32), ends

    def _examples(self, X: Any, y: Any = None, **extra: Any) -> native.RowData:
        if y is None:
            return self._constant_rows(X)
        check_consistent_length(X, y)
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
        data = fill_rows(
            rows,
            labels,
            ends,
            self._labels.alphabet(),
            self._attributes(),
            grow=False,
            weights=weights,
            constant=self._attributes().get(CONSTANT),
        )
        self._check_known(data.unknown)
        return data

    def _columns_of(self, width: int | None, names: list[str] | None = None) -> np.ndarray | None:
        if width is not None and width != getattr(self, "n_features_in_", width):
            raise ValueError(
                f"X has {width} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input"
            )
        return None if self.fit_intercept else super()._columns_of(width, names)

    def _set_weights(self) -> None:
        groups = self._groups()
        spec = json.loads(self._model.meta())["spec"]
        self.pairs_ = np.array(spec["shape"]["pairs"], dtype=np.int64).reshape(-1, 2)
        self.pair_coef_ = groups["pairs"]
        self.soft_ = soft_result(spec)
        self.intercept_ = np.zeros(len(self.classes_))
        if set_support(self, len(self._attributes())):
            return
        single = groups["single"].T
        self.coef_ = single.copy()
        at = self._attributes().get(CONSTANT)
        if self.fit_intercept and at is not None:
            self.intercept_ = single[:, at].copy()
            self.coef_ = np.delete(single, at, axis=1)

    def _weight_names(self) -> list[str]:
        labels = self._labels.names()
        names = [f"{a} → {label}" for a in weighted_names(self) for label in labels]
        return names + [f"{labels[i]} & {labels[j]}" for i, j in self.pairs_]

    def predict(self, X: Any) -> Any:
        """The best set of labels of each row: a matrix of zeros and ones if the model was trained on
        one, else tuples of labels."""
        check_is_fitted(self, "certificate_")
        sets = self._model.predict_sets(self._examples(X), threads(self.n_jobs))
        if self._indicator:
            matrix = np.zeros((len(sets), len(self.classes_)), dtype=np.int64)
            for row, own in zip(matrix, sets, strict=True):
                row[own] = 1
            return matrix
        return [tuple(self.classes_[own].tolist()) for own in sets]

    def predict_nbest(self, X: Any, n: int = 5) -> list[list[tuple[tuple[Any, ...], float]]]:
        """The ``n`` best sets of labels of each row with their scores, best first; all sets are tried
        out, so there may be 20 labels at most.

        Examples
        --------
        >>> from maxmargin import MultilabelSVM
        >>> model = MultilabelSVM(lam=0.1).fit([[1.0], [-1.0]], [{"up"}, {"down"}])
        >>> [labels for labels, _ in model.predict_nbest([[2.0]], 1)[0]]
        [('up',)]
        """
        return [
            [(tuple(self.classes_[own].tolist()), score) for own, score in best]
            for best, _ in self._ranked(X, check_n(n))
        ]

    def predict_confidence(self, X: Any) -> list[tuple[tuple[Any, ...], np.ndarray]]:
        """The best set of labels of each row, and for each label of ``classes_`` how much the score of
        the whole would fall at least if it were on instead of off, or off instead of on; 20 labels at
        most."""
        return [
            (tuple(self.classes_[best[0][0]].tolist()), np.abs(margins))
            for best, margins in self._ranked(X, 1)
        ]

    def _ranked(self, X: Any, n: int) -> Any:
        check_is_fitted(self, "certificate_")
        return self._model.rank_sets(self._examples(X), n, threads(self.n_jobs))

    def decision_function(self, X: Any) -> np.ndarray:
        """The scores of single labels (rows × labels), without those of pairs."""
        check_is_fitted(self, "certificate_")
        return self._model.scores(self._examples(X), threads(self.n_jobs))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows and labels that are right (1 − Hamming loss)."""
        check_is_fitted(self, "certificate_")
        labels, ends = self._sets(y, strict=False)
        predicted = self._model.predict_sets(self._examples(X), threads(self.n_jobs))
        if len(ends) != len(predicted):
            raise ValueError(f"X has {len(predicted)} rows and y has {len(ends)}")
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
        self.rescaling = spec.get("rescaling", "margin")
        restore_kernel(self, spec)
        restore_training(self, spec)
        labels, names = spec["shape"]["labels"], self._labels.names()
        found = len(spec["shape"]["pairs"])
        known = {labels - 1: "tree", labels * (labels - 1) // 2: "complete", 0: "none"}
        own = [(names[i], names[j]) for i, j in spec["shape"]["pairs"]]
        self.pairs = known.get(found, own)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.estimator_type = "classifier"
        tags.classifier_tags = ClassifierTags(multi_label=True)
        return tags


#: The name of the constant attribute of multi-label models, which have no weights for it otherwise.
CONSTANT = "(constant)"


def is_indicator(y: Any) -> bool:
    """Whether labels come as a matrix of zeros and ones."""
    return bool(sp.issparse(y) or (hasattr(y, "ndim") and y.ndim == 2))


def label_sets(y: Any) -> list[list[Any]]:
    """Sets of labels, each in a fixed order where its labels have one."""
    if y is None:
        raise ValueError("y is None; the labels of each row are needed")
    found = []
    for at, own in enumerate(y):
        if isinstance(own, (str, bytes)) or not hasattr(own, "__iter__"):
            raise ValueError(
                f"row {at} has {own!r} in place of a set of labels; y is a list of sets, or a matrix of "
                "0 and 1"
            )
        labels = list(own)
        distinct = dict.fromkeys(labels)
        if len(distinct) < len(labels):
            raise ValueError(
                f"row {at} has a label twice; y is a list of sets, or a matrix (an array) of 0 and 1"
            )
        try:
            found.append(sorted(distinct))
        except TypeError:
            found.append(labels)
    return found
