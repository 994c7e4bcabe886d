"""Links between the items of two lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from . import _maxmargin as native
from ._base import BaseSVM, Prepared, check_n, lead, total
from ._inputs import as_matrix, native_matrix, one_each
from ._settings import group_bounds, number, rescaling_name, threads, whole_number
from ._types import Cache, Callback, Direction, Lam, Measure, OnInterrupt, Order, Rescaling, Solver

#: The name of the attribute that all links have.
CONSTANT = "(constant)"


class MatchingSVM(BaseSVM):
    """Links the items of two lists: words of a sentence with those of its translation, records of one
    table with those of another.

    The score of a set of links is the sum over its links of ⟨w, x_rc⟩; items may have at most so many
    links each, and whatever is not worth a positive score stays alone. The best set is found exactly.

    Parameters
    ----------
    lam, C, tol, max_passes, solver, order, direction, cache, bounds, max_seconds, validation, \
patience, n_jobs, random_state, warm_start, backend, verbose, callback, on_interrupt, options
        As in :class:`ChainSVM`; ``bounds`` are for all weights.
    most_per_row, most_per_column : int, default=1
        How many links an item of the first and of the second list may have in predictions. True links
        may be more.
    wrong, missing : float, default=1.0
        What a wrong link costs, and a sure one that is missing.
    normalise : bool, default=True
        Whether the loss is divided by the number of sure links, so that long lists count no more than
        short ones.
    fit_intercept : bool, default=True
        Whether all links have a constant weight: what a link must be worth to be made.
    rescaling : {"margin", "slack"}, default="margin"
        As in :class:`ChainSVM`.

    Attributes
    ----------
    link_coef_ : ndarray of shape (features,)
        The weights of features.
    intercept_ : float
        The constant.
    n_features_in_ : int
        Number of features.
    coef_, certificate_, history_, status_, n_iter_
        As in :class:`ChainSVM`.

    Examples
    --------
    A pair of lists is an array (rows × columns × features), and its truth a list of links:

    >>> import numpy as np
    >>> from maxmargin import MatchingSVM
    >>> def alike(left, right):
    ...     return -np.abs(np.subtract.outer(left, right))[:, :, None]
    >>> X = [alike([1.0, 5.0], [5.2, 0.9]), alike([2.0, 3.0, 9.0], [3.1, 2.1])]
    >>> y = [[(0, 1), (1, 0)], [(0, 1), (1, 0)]]
    >>> model = MatchingSVM(lam=0.01).fit(X, y)
    >>> model.predict([alike([4.0, 7.0], [7.1, 4.1])])[0].tolist()
    [[0, 1], [1, 0]]
    """

    _kind: ClassVar[str] = "matching"

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
        most_per_row: int = 1,
        most_per_column: int = 1,
        wrong: float = 1.0,
        missing: float = 1.0,
        normalise: bool = True,
        fit_intercept: bool = True,
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
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        possible: Any = None,
        link_weight: Any = None,
        validation: Any = None,
    ) -> MatchingSVM:
        """Trains on pairs of lists whose links are known.

        Parameters
        ----------
        X : list
            For each pair an array (rows × columns × features), or (rows × columns) if there is one
            feature. Or, where few links are candidates, a tuple ``((rows, columns), links, features)``
            with a row (r, c) and a row of features, dense or sparse, for each candidate; others are
            never predicted.
        y : list
            For each pair its sure links, rows (r, c); or a dictionary of ``"sure"`` and ``"possible"``
            links.
        sample_weight : array-like, optional
            A positive weight for each pair.
        possible : list, optional
            For each pair the links that may be there or not: they cost nothing either way.
        link_weight : list of arrays, optional
            For each pair what a mistake at each link counts: rows × columns, or one number for each
            candidate.
        validation : tuple (X, y), optional
            Data to measure the error on while training, instead of a part held out.

        Returns
        -------
        self
        """
        self._fit(X, y, sample_weight, validation, possible=possible, link_weight=link_weight)
        return self

    def _prepare(self, X: Any, y: Any, sample_weight: Any = None, **extra: Any) -> Prepared:
        X = list(X)
        if not X:
            raise ValueError("there are no pairs")
        self.n_features_in_ = Pair(X[0], 0).features.shape[1]
        weights, whole = total(sample_weight, len(X))
        data = self._fill(X, y, weights, extra)
        names = [str(at + 1) for at in range(self.n_features_in_)]
        names += [CONSTANT] if self.fit_intercept else []
        spec = {
            "kind": "matching",
            "rescaling": rescaling_name(self.rescaling),
            "shape": {
                "attributes": len(names),
                "most_per_row": whole_number("most_per_row", self.most_per_row),
                "most_per_column": whole_number("most_per_column", self.most_per_column),
            },
            "loss": {
                "wrong": number("wrong", self.wrong),
                "missing": number("missing", self.missing),
                "normalise": bool(self.normalise),
            },
            "features": None,
        }
        return Prepared(
            spec,
            data,
            native.Alphabet(),
            native.Alphabet(names),
            "alignment",
            whole,
            group_bounds(self.bounds),
        )

    def _fill(
        self, X: list[Any], y: Any, weights: np.ndarray | None, extra: dict[str, Any]
    ) -> native.PairData:
        """Everything in the form that training takes, pair by pair."""
        truth = one_each("pairs", len(X), "y", y)
        free = one_each("pairs", len(X), "possible", extra.get("possible"))
        costs = one_each("pairs", len(X), "link_weight", extra.get("link_weight"))
        data = native.PairData()
        for at, x in enumerate(X):
            pair = Pair(x, at)
            try:
                pair.check(self.n_features_in_)
                gold = pair.gold(truth[at], free[at] if free else None) if truth else None
                data.add(
                    pair.size,
                    pair.links,
                    native_matrix(pair.features),
                    self.n_features_in_,
                    gold,
                    pair.by_link(costs[at]) if costs else None,
                    bool(self.fit_intercept),
                    1.0 if weights is None else float(weights[at]),
                )
            except (TypeError, ValueError) as error:
                raise type(error)(f"pair {at}: {error}") from None
        return data

    def _examples(self, X: Any, y: Any = None, **extra: Any) -> native.PairData:
        X = list(X)
        weights, _ = total(extra.get("sample_weight"), len(X))
        return self._fill(X, y, weights, extra)

    def _restore(self, model: native.Model, meta: dict[str, Any]) -> None:
        self.rescaling = meta["spec"].get("rescaling", "margin")
        shape, loss = meta["spec"]["shape"], meta["spec"]["loss"]
        constant = model.attributes().get(CONSTANT) is not None
        self.set_params(
            most_per_row=shape["most_per_row"],
            most_per_column=shape["most_per_column"],
            wrong=loss["wrong"],
            missing=loss["missing"],
            normalise=loss["normalise"],
            fit_intercept=constant,
        )
        self.n_features_in_ = shape["attributes"] - int(constant)

    def _set_weights(self) -> None:
        self.coef_ = self._model.weights()
        self.link_coef_ = self.coef_[: self.n_features_in_]
        self.intercept_ = float(self.coef_[-1]) if self.fit_intercept else 0.0

    def _weight_names(self) -> list[str]:
        return self._model.attributes().list()

    def predict(self, X: Any) -> list[np.ndarray]:
        """The best links of each pair, rows (r, c) in increasing order."""
        check_is_fitted(self, "certificate_")
        found = self._model.predict_pairs(self._examples(X), 1, threads(self.n_jobs))
        return [best[0][0] for best in found]

    def predict_nbest(self, X: Any, n: int = 5) -> list[list[tuple[np.ndarray, float]]]:
        """The ``n`` best sets of links of each pair with their scores, best first; with one link per
        item only."""
        check_is_fitted(self, "certificate_")
        return self._model.predict_pairs(self._examples(X), check_n(n), threads(self.n_jobs))

    def predict_confidence(self, X: Any) -> list[tuple[np.ndarray, float]]:
        """The best links of each pair, and how far their score is ahead of the next best set of links;
        with one link per item only."""
        return [(best[0][0], lead(best)) for best in self.predict_nbest(X, 2)]

    def decision_function(self, X: Any) -> list[np.ndarray]:
        """For each pair the scores of links (rows × columns); −∞ where there is no candidate."""
        check_is_fitted(self, "certificate_")
        tables = []
        for at, x in enumerate(X):
            pair = Pair(x, at)
            pair.check(self.n_features_in_)
            table = np.full(pair.size, -np.inf)
            scores = np.asarray(pair.features @ self.link_coef_).ravel() + self.intercept_
            table[pair.links[:, 0], pair.links[:, 1]] = scores
            tables.append(table)
        return tables

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, possible: Any = None) -> float:
        """1 − the alignment error rate: the share of predicted links that are sure or possible and of
        sure links that are predicted, taken together; F1 where no link is merely possible."""
        predicted = self.predict(X)
        truth = one_each("pairs", len(predicted), "y", y)
        free = one_each("pairs", len(predicted), "possible", possible)
        weights, _ = total(sample_weight, len(predicted))
        hits = whole = 0.0
        for at, found in enumerate(predicted):
            weight = 1.0 if weights is None else float(weights[at])
            sure, maybe = (set(map(tuple, links.tolist())) for links in split(truth[at], free, at))
            links = set(map(tuple, found.tolist()))
            hits += weight * (len(links & sure) + len(links & (sure | maybe)))
            whole += weight * (len(links) + len(sure))
        return hits / whole if whole else 1.0


def as_links(links: Any) -> np.ndarray:
    """Links as rows of two whole numbers."""
    rows = np.asarray(list(links) if isinstance(links, (set, frozenset)) else links)
    if rows.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if rows.ndim != 2 or rows.shape[1] != 2 or rows.dtype.kind not in "iu":
        raise ValueError(
            f"links are rows of two whole numbers (r, c), not an array of the shape {rows.shape} "
            f"and type {rows.dtype}"
        )
    return rows.astype(np.int64)


def split(truth: Any, free: list[Any], at: int) -> tuple[np.ndarray, np.ndarray]:
    """Sure and possible links."""
    if isinstance(truth, Mapping):
        unknown = set(truth) - {"sure", "possible"}
        if unknown:
            raise ValueError(f"links are 'sure' or 'possible', not {sorted(unknown)}")
        sure, possible = truth.get("sure", ()), truth.get("possible", ())
    else:
        sure, possible = truth, ()
    if free:
        possible = [*as_links(possible).tolist(), *as_links(free[at]).tolist()]
    return as_links(sure), as_links(possible)


class Pair:
    """A pair of lists as it comes, in arrays: its size, its candidate links in increasing order, and
    their features."""

    def __init__(self, pair: Any, at: int) -> None:
        try:
            if isinstance(pair, tuple):
                self._read_candidates(pair)
            else:
                self._read_table(pair)
        except (TypeError, ValueError) as error:
            raise type(error)(f"pair {at}: {error}") from None

    def _read_table(self, table: Any) -> None:
        table = np.asarray(table)
        if table.ndim == 2:
            table = table[:, :, None]
        if table.ndim != 3:
            raise ValueError(
                f"expected an array of rows × columns × features, not of {table.ndim} axes"
            )
        rows, columns, width = table.shape
        self.size = (rows, columns)
        self.links = np.indices((rows, columns)).reshape(2, -1).T.astype(np.int64)
        self.features: Any = as_matrix(table.reshape(-1, width))
        self.order: np.ndarray | None = None

    def _read_candidates(self, pair: tuple[Any, ...]) -> None:
        if len(pair) != 3 or np.ndim(pair[0]) != 1 or len(pair[0]) != 2:
            raise ValueError("a tuple has three parts: ((rows, columns), links, features)")
        self.size = (int(pair[0][0]), int(pair[0][1]))
        links = as_links(pair[1])
        features = as_matrix(pair[2])
        if features.shape[0] != len(links):
            raise ValueError(
                f"there are {len(links)} candidates and features of {features.shape[0]}"
            )
        self.order = np.lexsort((links[:, 1], links[:, 0]))
        self.links = np.ascontiguousarray(links[self.order])
        self.features = features[self.order]
        if sp.issparse(self.features):
            self.features.sort_indices()

    def check(self, width: int) -> None:
        """Refuses another number of features."""
        if self.features.shape[1] != width:
            raise ValueError(
                f"links have {self.features.shape[1]} features, and {width} were expected"
            )

    def gold(self, truth: Any, free: Any) -> np.ndarray:
        """What is said of each candidate: 0 wrong, 1 possible, 2 sure."""
        sure, possible = split(truth, [] if free is None else [free], 0)
        gold = np.zeros(len(self.links), dtype=np.int64)
        keys = self.links[:, 0] * self.size[1] + self.links[:, 1]
        for links, value in ((possible, 1), (sure, 2)):
            outside = (links < 0).any(axis=1) | (links >= np.array(self.size)).any(axis=1)
            if outside.any():
                r, c = links[outside][0]
                raise ValueError(
                    f"the link ({r}, {c}) has an end outside of {self.size[0]} × {self.size[1]}"
                )
            wanted = links[:, 0] * self.size[1] + links[:, 1]
            places = np.searchsorted(keys, wanted)
            known = places < len(keys)
            known[known] = keys[places[known]] == wanted[known]
            if value == 2 and not known.all():
                r, c = links[~known][0]
                raise ValueError(f"the sure link ({r}, {c}) is not among the candidates")
            gold[places[known]] = value
        return gold

    def by_link(self, values: Any) -> np.ndarray:
        """Numbers for each candidate, in their order."""
        array = np.asarray(values, dtype=np.float64)
        expected = self.size if self.order is None else (len(self.links),)
        if array.shape != expected:
            raise ValueError(f"link_weight has the shape {array.shape}, not {expected}")
        return array.ravel() if self.order is None else array[self.order]
